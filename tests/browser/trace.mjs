// A small trace with one of each: nested and begun slices of a thread, slices of another, an arrow, a counter. And
// traces as files.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const event = (ph, tid, ts, more) => ({ ph, pid: 7, tid, ts, ...more });

/** In Trace Event JSON; times are microseconds. */
export const TRACE = {
  traceEvents: [
    { ph: "M", pid: 7, name: "process_name", args: { name: "trainer" } },
    { ph: "M", pid: 7, tid: 1, name: "thread_name", args: { name: "main" } },
    { ph: "M", pid: 7, tid: 2, name: "thread_name", args: { name: "loader" } },
    event("B", 1, 100, { name: "step", args: { batch: 32 } }),
    event("X", 1, 110, { dur: 30, name: "forward" }),
    event("X", 1, 115, { dur: 10, name: "gemm" }),
    event("X", 1, 150, { dur: 40, name: "backward" }),
    event("E", 1, 200, { name: "step" }),
    event("X", 2, 120, { dur: 10, name: "read" }),
    event("X", 2, 160, { dur: 20, name: "decode" }),
    event("s", 2, 125, { id: 1, cat: "data", name: "batch" }),
    event("f", 1, 155, { id: 1, cat: "data", name: "batch", bp: "e" }),
    event("C", undefined, 100, { name: "queue", args: { depth: 1 } }),
    event("C", undefined, 150, { name: "queue", args: { depth: 4 } }),
    event("C", undefined, 180, { name: "queue", args: { depth: 2 } }),
  ],
};

/** Gives the page of profiles a file through its button, as a user does. */
export async function chooseFile(page, name, text) {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Ingest files" }).click();
  await (await chooser).setFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
}

/** Each trace as a file of its own in a folder that ends with the test. */
export async function traces(t, ...all) {
  const folder = await mkdtemp(join(tmpdir(), "nprof-trace-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const paths = all.map((_, at) => join(folder, `rank-${at}.json`));
  await Promise.all(all.map((trace, at) => writeFile(paths[at], JSON.stringify(trace))));
  return paths;
}

// A job of two AIUs with a table of their compiler: tracks, tables, the summary, and their operations as those of all ranks.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ask, eventually, picture, rowOf, scaleOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const CALLS = 6;
const STEP_US = 1_000;
const KERNEL_US = 100;
/** How much longer the kernels of rank 1 take. */
const LATE_US = 80;
const CYCLES_PER_US = 560;
/** Cycles of a kernel if the arrays are always busy, at 1,100 MHz. */
const IDEAL_CYCLES = 44_000;

/** A slice of the runtime, whose counters rise at the `step` of an operation that its name tells. */
function op(name, at, us, charge, more = {}) {
  const step = name.endsWith("DmaI") ? 2 : name.endsWith("DmaO") ? 5 : 4;
  const counter = (number) => [`TS${number}`, String(Math.round((number < step ? at : at + us) * CYCLES_PER_US))];
  const attr = { ...Object.fromEntries([1, 2, 3, 4, 5].map(counter)), Power: String(charge), ...more };
  return { ph: "X", name, pid: 0, tid: 1, ts: at, dur: us, attr };
}

/** What a rank writes: in each step a kernel and its part of an all-reduce, in which rank 0 sends. */
function traceOf(rank) {
  const group = "AllReduce_all_reduce_4";
  const slices = [];
  for (let call = 0; call < CALLS; call++) {
    const at = 10_000 + call * STEP_US;
    const takes = KERNEL_US + rank * LATE_US;
    slices.push(op("add_1 Cmpt Exec", at, takes, 1_000 + 100_000 * call));
    const sync = `sync=${group}_s0_r1_0`;
    const [name, Type] = rank === 0 ? [`SenRDMASend_7 [4096B] [${sync}] DmaO`, "SingleCast"] : [`SenRDMAReceive_9 [4096B] [${sync}] DmaI`, "WDone Barrier"];
    const start = at + takes + 10;
    slices.push(op(name, start, at + 400 - start, 50_000 + 100_000 * call, { CollGroup: group, Peer: String(1 - rank), Bytes: "4096", Type }));
  }
  return slices;
}

const LOG = `   PREFILL
~~~~ Ideal/Total Cycles ~~~~
add_1-opCatScalar     ${IDEAL_CYCLES}
Total	${IDEAL_CYCLES}
====== Perf Summary End ======
`;

async function jobOf(t) {
  const folder = await mkdtemp(join(tmpdir(), "nprof-aiu-"));
  t.after(() => rm(folder, { recursive: true }));
  const traces = [0, 1].map((rank) => join(folder, `job_rank_${rank}.json`));
  await Promise.all(traces.map((file, rank) => writeFile(file, JSON.stringify(traceOf(rank)))));
  const log = join(folder, "compiler.log");
  await writeFile(log, LOG);
  const { url } = await serve(t, "view", ...traces, "-c", log);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  return { url, slug };
}

test("a job of AIUs with a table of the compiler", async (t) => {
  const { url, slug } = await jobOf(t);
  const open = async (t, path) => {
    const { page, problems } = await openPage(t);
    await page.goto(`${url}/profile/${slug}${path}`);
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };

  await t.test("the tracks of a device", async (t) => {
    const rank = `profiles/${slug}/ranks/1`;
    const { tracks, entry } = await ask(url, rank);
    const page = await open(t, `?v=2&rank=1&from=${entry.start_ps}&to=${entry.end_ps}`);
    for (const name of ["Compute", "Collectives", "Power"]) await rowOf(page, name).waitFor();
    const { id } = tracks.find(({ name }) => name === "Compute");
    const { slices } = await ask(url, `${rank}/events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${id}&limit=100`);
    assert.equal(slices.length, CALLS);
    const [kernel] = slices;
    const [scale, row] = [await scaleOf(page), await rowOf(page, "Compute").boundingBox()];
    await page.mouse.click(scale.x(kernel.start_ps + kernel.duration_ps / 2), row.y + 12);
    await eventually(() => assert.equal(viewOf(page).selected, kernel.row, page.url()));
    const details = page.getByRole("article", { name: "Details" });
    await details.getByRole("heading", { name: "add_1 Cmpt Exec" }).waitFor();
    await details.getByText(`${KERNEL_US + LATE_US} µs`).first().waitFor();
  });

  await t.test("the use of the arrays by category, as a table and in the summary", async (t) => {
    const page = await open(t, "/data?v=2&rank=0&table=aiu_category");
    const row = page.getByRole("grid").locator("tbody tr").filter({ hasText: "Scalar" });
    const text = (await row.innerText()).replace(/\s+/g, " ");
    // 6 kernels of 100 µs, each 44,000 cycles at 1,100 MHz: 40 µs.
    for (const part of [`${(CALLS * KERNEL_US)} µs`, " 6 ", "240 µs", "264,000 cycles", "40 %"]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    await page.getByRole("link", { name: "Summary" }).or(page.getByRole("button", { name: "Summary" })).first().click();
    const card = page.locator(".metric-card").filter({ hasText: "PT utilization by category" });
    assert.match((await card.innerText()).replace(/\s+/g, " "), /Scalar 40 %/);
  });

  await t.test("its operations are those of all ranks, and the late rank is named", async (t) => {
    const page = await open(t, "?v=2&rank=all");
    await rowOf(page, "all-reduce · ranks 0, 1").waitFor();
    const all = `profiles/${slug}/ranks/all`;
    const { tracks, entry } = await ask(url, all);
    const { id } = tracks.find(({ name, rank }) => name === "Rank 0" && rank === 0);
    const { slices } = await ask(url, `${all}/events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${id}&limit=100`);
    const waits = slices.filter(({ name }) => name === "wait for rank 1");
    assert.equal(waits.length, CALLS);
    for (const wait of waits) assert.ok(Math.abs(wait.duration_ps / 1e6 - LATE_US) < 1, `${wait.duration_ps} ps`);
  });

  await t.test("a send leads to the row of the rank that waits for it, and the algorithm is told", async (t) => {
    const all = `profiles/${slug}/ranks/all`;
    const { tracks, entry } = await ask(url, all);
    const { id } = tracks.find(({ name, rank }) => name === "Rank 1" && rank === 1);
    const { slices } = await ask(url, `${all}/events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${id}&limit=100`);
    const call = slices[2];
    const [from, to] = [call.start_ps - 200_000_000, call.start_ps + 400_000_000];
    const page = await open(t, `?v=2&rank=all&from=${from}&to=${to}`);
    await rowOf(page, "Rank 1").waitFor();
    const { transfers } = await ask(url, `${all}/slices/${call.row}`);
    assert.deepEqual(transfers.map((one) => [one.from, one.to]), [[0, 1]]);
    const { x } = await scaleOf(page);
    const [upper, lower] = [await rowOf(page, "Rank 0").first().boundingBox(), await rowOf(page, "Rank 1").first().boundingBox()];
    // Between the bars of both ranks, only the arrow is as dark as text.
    const left = x(transfers[0].sent_ps);
    const gap = { x: left + 4, y: upper.y + upper.height + 2, width: x(transfers[0].received_ps) - left - 8, height: lower.y - upper.y - upper.height - 2 };
    const dark = async () => {
      const { png } = await picture(page, gap);
      let count = 0;
      for (let at = 0; at < png.data.length; at += 4) count += png.data.subarray(at, at + 3).every((part) => part < 70) ? 1 : 0;
      return count;
    };
    assert.equal(await dark(), 0);
    const at = { x: x(call.start_ps + call.duration_ps / 2), y: lower.y + 12 };
    await page.mouse.move(at.x, at.y);
    await eventually(async () => assert.ok((await dark()) > 4, `${await dark()} dark pixels`));
    await page.getByRole("tooltip").getByText("Algorithm").waitFor();
    await page.getByRole("tooltip").getByText("chain", { exact: true }).waitFor();
    await page.mouse.click(at.x, at.y);
    const details = page.getByRole("article", { name: "Details" });
    await details.getByText("Algorithm", { exact: true }).waitFor();
    await details.getByText("chain", { exact: true }).waitFor();
    await page.mouse.move(5, 5);
    await eventually(async () => assert.ok((await dark()) > 4, `${await dark()} dark pixels of the selected operation`));
    await page.goto(`${url}/profile/${slug}/data?v=2&rank=all&table=operation`);
    const heading = page.getByRole("grid").getByRole("columnheader", { name: /algorithm/i }).first();
    await heading.waitFor();
    await page.getByRole("grid").getByText("chain", { exact: true }).first().waitFor();
  });
});

// How long the page takes from the address to the first slices on the screen: on a simulated profile of two ranks, in an
// HTML file or a site of `nprof export`, or at an address of a server that runs. Of a site also how much was sent until then, and in how many answers.
//
//     node benches/first_picture.mjs [EVENTS]        1,000,000 events a rank unless told otherwise
//     node benches/first_picture.mjs FILE.html
//     node benches/first_picture.mjs FOLDER
//     node benches/first_picture.mjs http://127.0.0.1:PORT/profile/…
//
// Needs what scripts/test.sh installs for the browser tests. NPROF_BIN names the binary (target/release/nprof unless
// told otherwise), NPROF_CHROMIUM the browser. WebGL runs in software here: a graphics card is faster.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { host } from "../tests/browser/host.mjs";
import { demo, openBrowser } from "./demo.mjs";

const subject = process.argv[2] ?? "1000000";
const RUNS = 9;

/**
 * An HTML file, a site on a web host, or a profile of so many events a rank on a server of its own: its address, what to
 * end, and the answers of the host.
 */
async function opened() {
  if (subject.startsWith("http:")) return { address: subject, end: async () => {} };
  if (subject.endsWith(".html")) return { address: pathToFileURL(subject).href, end: async () => {} };
  if (existsSync(subject)) {
    const site = await host({ after: () => {} }, subject);
    return { address: `${site.url}/`, end: site.stop, served: site.served };
  }
  const store = await mkdtemp(join(tmpdir(), "nprof-first-picture-"));
  const server = await demo(store, "--events", subject);
  const end = async () => {
    server.stop();
    await rm(store, { recursive: true, force: true });
  };
  return { address: server.address, end };
}

const { address, end, served = [] } = await opened();
const browser = await openBrowser();
const times = [];
const sent = [];
for (let run = 0; run < RUNS; run += 1) {
  // A context of its own: nothing is cached.
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  served.length = 0;
  await page.exposeFunction("nprofPictured", () => sent.push([...served]));
  await page.addInitScript(() => {
    const told = new PerformanceObserver((list) => list.getEntriesByName("first-picture").length && globalThis.nprofPictured());
    told.observe({ type: "mark" });
  });
  await page.goto(address);
  const mark = () => performance.getEntriesByName("first-picture")[0]?.startTime;
  times.push(await (await page.waitForFunction(mark)).jsonValue());
  await context.close();
}
await browser.close();
await end();
times.sort((a, b) => a - b);
const ms = (at) => times[at].toFixed(0);
const what = subject.endsWith(".html") ? "one HTML file" : existsSync(subject) ? "a site" : subject.startsWith("http:") ? "a server" : `${subject} events a rank`;
console.log(`first picture, ${what}: ${ms(0)} / ${ms(RUNS >> 1)} / ${ms(RUNS - 1)} ms (fastest, median, slowest of ${RUNS})`);
if (served.length > 0) {
  const most = sent.sort((a, b) => b.length - a.length)[0];
  const bytes = most.reduce((sum, answer) => sum + answer.bytes, 0);
  console.log(`sent until then: ${(bytes / 1e6).toFixed(2)} MB in ${most.length} answers (the run with the most)`);
}

// How long the page takes from the address to the first slices on the screen, on a simulated profile of two ranks or in
// an HTML file of `nprof export`.
//
//     node benches/first_picture.mjs [EVENTS]        1,000,000 events a rank unless told otherwise
//     node benches/first_picture.mjs FILE.html
//
// Needs what scripts/test.sh installs for the browser tests. NPROF_BIN names the binary (target/release/nprof unless
// told otherwise), NPROF_CHROMIUM the browser. WebGL runs in software here: a graphics card is faster.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { demo, openBrowser } from "./demo.mjs";

const subject = process.argv[2] ?? "1000000";
const RUNS = 9;

/** An HTML file, or a profile of so many events a rank on a server of its own: its address, and what to end. */
async function opened() {
  if (subject.endsWith(".html")) return { address: pathToFileURL(subject).href, end: async () => {} };
  const store = await mkdtemp(join(tmpdir(), "nprof-first-picture-"));
  const server = await demo(store, subject);
  const end = async () => {
    server.stop();
    await rm(store, { recursive: true, force: true });
  };
  return { address: server.address, end };
}

const { address, end } = await opened();
const browser = await openBrowser();
const times = [];
for (let run = 0; run < RUNS; run += 1) {
  // A context of its own: nothing is cached.
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  await page.goto(address);
  const mark = () => performance.getEntriesByName("first-picture")[0]?.startTime;
  times.push(await (await page.waitForFunction(mark)).jsonValue());
  await context.close();
}
await browser.close();
await end();
times.sort((a, b) => a - b);
const ms = (at) => times[at].toFixed(0);
const what = subject.endsWith(".html") ? "one HTML file" : `${subject} events a rank`;
console.log(`first picture, ${what}: ${ms(0)} / ${ms(RUNS >> 1)} / ${ms(RUNS - 1)} ms (fastest, median, slowest of ${RUNS})`);

// How long the page takes from the address to the first slices on the screen, on a simulated profile of two ranks or in
// an HTML file of `nprof export`.
//
//     node benches/first_picture.mjs [EVENTS]        1,000,000 events a rank unless told otherwise
//     node benches/first_picture.mjs FILE.html
//
// Needs what scripts/test.sh installs for the browser tests. NPROF_BIN names the binary (target/release/nprof unless
// told otherwise), NPROF_CHROMIUM the browser. WebGL runs in software here: a graphics card is faster.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(join(root, "tests/browser/package.json"))("playwright-core");
const subject = process.argv[2] ?? "1000000";
const binary = process.env.NPROF_BIN ?? join(root, "target/release/nprof");
const RUNS = 9;

/** An HTML file, or a profile of so many events a rank on a server of its own: its address, and what to end. */
async function opened() {
  if (subject.endsWith(".html")) return { address: pathToFileURL(subject).href, end: async () => {} };
  const store = await mkdtemp(join(tmpdir(), "nprof-first-picture-"));
  const server = spawn(binary, ["--store", store, "demo", "--events", subject, "--port", "0"]);
  const address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /View profile at (\S+)/.exec(text);
      if (found) resolve(found[1].replace("localhost", "127.0.0.1"));
    });
    server.on("exit", (code) => reject(new Error(`nprof ended with ${code}`)));
  });
  const end = async () => {
    server.removeAllListeners("exit");
    server.kill("SIGTERM");
    await rm(store, { recursive: true, force: true });
  };
  return { address, end };
}

const { address, end } = await opened();
const browser = await chromium.launch({
  executablePath: process.env.NPROF_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
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

// How much script a frame takes while its user moves and zooms without a pause.
//
//     node benches/frames.mjs [EVENTS [RANKS]]       1,000,000 events in each of 2 ranks unless told otherwise
//
// Every group is open, so that all tracks count. Each frame gets one turn of the wheel: for SECONDS the window moves at
// each of several widths, then it zooms from the whole rank down to microseconds and back. Told is the time that the
// page's main thread spends in script for a frame (its event, its animation frame, and the answers that arrive between),
// from the browser's own trace: the processor's time, and the clock's.
//
// WebGL runs in software here and would leave a frame in several tenths of a second, so the two calls that paint do nothing
// unless NPROF_PAINT is 1; everything up to them is done. NPROF_BIN names the binary (target/release/nprof unless told otherwise), NPROF_CHROMIUM the browser, NPROF_STORE a
// store that is kept: a large demo is simulated only once. With NPROF_SOURCE=html the page is an HTML file of the profile.
// With NPROF_COLLECTIVES=N a job of N collective operations is simulated instead, the page shows all ranks together, and
// sorting their rows is measured too. With NPROF_PINS=N, N tracks of all ranks are pinned, so the timeline has two areas.
// With NPROF_TAB=findings the findings are drawn, with NPROF_TAB=path the critical path, and their panel is open.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { binary, demo, openBrowser } from "./demo.mjs";

const [events, ranks] = [process.argv[2] ?? "1000000", process.argv[3] ?? "2"];
const SECONDS = 12;
const SIZE = { width: 2560, height: 1440 };
const BUDGET_MS = 8;

/** Everything that runs script on a page's main thread, as the trace names it. */
const SCRIPT = new Set([
  "EvaluateScript", "EventDispatch", "FireAnimationFrame", "FunctionCall", "RunMicrotasks", "TimerFire", "v8.callFunction",
]);

/** The time in script of each frame, in milliseconds: a frame ends with its animation callbacks. */
function frames(trace, clock) {
  const perThread = new Map();
  for (const event of trace.filter((event) => event.ph === "X" && SCRIPT.has(event.name))) {
    const thread = `${event.pid}:${event.tid}`;
    if (!perThread.has(thread)) perThread.set(thread, []);
    perThread.get(thread).push(event);
  }
  const count = (all) => all.filter((event) => event.name === "FireAnimationFrame").length;
  const main = [...perThread.values()].reduce((best, all) => (count(all) > count(best) ? all : best));
  main.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
  const times = [];
  let [spent, end] = [0, 0];
  for (const event of main) {
    // What runs inside of another one is counted with it.
    if (event.ts >= end) {
      spent += event[clock] ?? event.dur;
      end = event.ts + event.dur;
      if (event.name === "FireAnimationFrame") {
        times.push(spent / 1000);
        spent = 0;
      }
    }
  }
  return times;
}

function quantiles(times) {
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}

/** Runs in the page: one turn of the wheel in each frame, for so many seconds. */
function turn({ seconds, dx, dy }) {
  const canvas = document.querySelector(".timeline-above");
  const box = canvas.getBoundingClientRect();
  const start = performance.now();
  return new Promise((resolve) => {
    const step = () => {
      const now = performance.now() - start;
      if (now > seconds * 1000) return resolve();
      // There and back again: half of the time in each direction.
      const sign = now < (seconds * 1000) / 2 ? 1 : -1;
      canvas.dispatchEvent(
        new WheelEvent("wheel", {
          deltaX: sign * dx, deltaY: -sign * dy, ctrlKey: dy !== 0, bubbles: true, cancelable: true,
          clientX: box.x + box.width * 0.4, clientY: box.y + 60,
        }),
      );
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

const given = process.env.NPROF_STORE;
const store = given ?? (await mkdtemp(join(tmpdir(), "nprof-frames-")));
const paints = process.env.NPROF_PAINT === "1";
const collectives = process.env.NPROF_COLLECTIVES;
const job = collectives ? ["--collectives", collectives, "--straggler", "17"] : ["--events", events];
const server = await demo(store, ...job, "--ranks", ranks);
process.on("exit", () => server.stop());
const { address } = server;
const { origin, pathname } = new URL(address);
const profile = pathname.split("/").at(-1);

/** Where the page is opened: on the server, or in a file beside the store. */
function pageOf(source) {
  if (source !== "html") return (place) => origin + place;
  const file = join(store, `${profile}.html`);
  execFileSync(binary, ["--store", store, "export", profile, "--format", "html", "-o", file]);
  return (place) => `${pathToFileURL(file).href}#${place}`;
}
const source = process.env.NPROF_SOURCE ?? "server";
const addressOf = pageOf(source);
const browser = await openBrowser();

const page = await (await browser.newContext({ viewport: SIZE })).newPage();
if (!paints) {
  await page.addInitScript(() => {
    for (const call of ["drawArraysInstanced", "clear"]) WebGL2RenderingContext.prototype[call] = () => {};
  });
}
await page.goto(addressOf(collectives ? pathname : `${pathname}?v=2&rank=0`));
const closed = page.locator('.track-group[aria-expanded="false"]');
await page.locator(".track-group").first().waitFor();
// Opening one brings others into sight, so the first is opened again and again.
while ((await closed.count()) > 0) await closed.first().click();
const pins = Number(process.env.NPROF_PINS ?? 0);
for (let at = 0; at < pins; at++) {
  const row = page.getByRole("list", { name: "Tracks", exact: true }).getByRole("listitem").filter({ hasNot: page.locator(".track-group") });
  await row.first().hover({ position: { x: 60, y: 8 } });
  await row.first().getByRole("button", { name: "Show this track of all ranks" }).click();
  await page.waitForURL((url) => (url.searchParams.get("pin") ?? "").split(",").filter(Boolean).length > at);
}
const whole = (await (await fetch(`${origin}/api/profiles/${profile}`)).json()).ranks[0];
// The tab of all ranks is the first one, but an address with a window names its tab.
const rank = collectives ? "&rank=all" : "";
const panel = process.env.NPROF_TAB ? `&tab=${process.env.NPROF_TAB}` : "";
const tab = rank + panel;
const kept = ["open", "pin"].map((name) => new RegExp(`[?&]${name}=[^&]*`).exec(page.url())?.[0].slice(1));
const shown = kept.filter(Boolean).map((part) => `&${part}`).join("");
const each = collectives ? `${collectives} operations of` : `${events} events in each of`;
console.log(`${source}: ${each} ${ranks} ranks, ${SIZE.width} x ${SIZE.height}, ${pins ? `${pins} tracks of all ranks pinned, ` : ""}${SECONDS} s each; budget ${BUDGET_MS} ms (p99)${paints ? ", painted" : ""}`);

async function measure(name, share, wheel) {
  const middle = Math.round((whole.start_ps + whole.end_ps) / 2);
  const half = Math.round(((whole.end_ps - whole.start_ps) * share) / 2);
  // A file of which only the fragment changes would not be loaded anew.
  await page.goto("about:blank");
  await page.goto(addressOf(`${pathname}?v=2${tab}&from=${middle - half}&to=${middle + half}${shown}`));
  await page.waitForFunction(() => performance.getEntriesByName("first-picture").length > 0);
  // A summary of many events takes its time.
  await page.waitForLoadState("networkidle", { timeout: 300_000 });
  await browser.startTracing(page, { categories: ["devtools.timeline", "v8"] });
  await page.evaluate(turn, { seconds: SECONDS, dx: 0, dy: 0, ...wheel });
  const trace = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
  const [cpu, wall] = [frames(trace, "tdur"), frames(trace, "dur")];
  const told = ({ p50, p99, most }) => `${p50} / ${p99} / ${most} ms`;
  console.log(`${name}: ${told(quantiles(cpu))} of processor, ${told(quantiles(wall))} of clock (p50 / p99 / most of ${cpu.length} frames)`);
}

/** Sorting all rows: the script until the next frame, from the longest of several. */
async function measureSorting() {
  await page.goto("about:blank");
  await page.goto(addressOf(`${pathname}?v=2${tab}`));
  const menu = page.getByRole("combobox", { name: "Order of the ranks" }).first();
  await menu.waitFor();
  await page.waitForLoadState("networkidle", { timeout: 300_000 });
  await menu.selectOption("Latest first");
  await page.waitForTimeout(2_000);
  for (const order of ["By number", "Latest first", "Longest wait first"]) {
    await browser.startTracing(page, { categories: ["devtools.timeline", "v8"] });
    await menu.selectOption(order);
    await page.waitForTimeout(1_000);
    const trace = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
    console.log(`sorting, ${order}: ${Math.max(...frames(trace, "tdur")).toFixed(2)} ms in the longest frame`);
  }
}

await measure("moving at half of the rank", 0.5, { dx: 40 });
await measure("moving at 1 %", 0.01, { dx: 40 });
await measure("moving at 10 µs", 1e7 / (whole.end_ps - whole.start_ps), { dx: 40 });
await measure("zooming from all to µs", 1, { dy: 40 });
if (collectives) await measureSorting();
await browser.close();
server.stop();
if (!given) await rm(store, { recursive: true, force: true });

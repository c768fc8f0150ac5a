// Makes the pictures of docs/images again, from the demo:
//
//     NPROF_BIN=target/release/nprof NPROF_CHROMIUM=/path/to/chromium node --test tests/browser/pictures.mjs
//
// Each picture is made in both themes, denser than on a usual screen. It is written only if it differs from the
// present one by more than the renderings of two machines do.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { PNG } from "pngjs";
import { addressOf, ask, difference, eventually, rowOf } from "./picture.mjs";
import { isQuiet, openPage, serve } from "./stage.mjs";

const FOLDER = join(import.meta.dirname, "../../docs/images");
const SIZE = { width: 1400, height: 860, deviceScaleFactor: 1.5 };
/** Pixels that may differ before a picture counts as another one. */
const SAME_PX = 50;

/** Writes what the page shows, in both themes. `there` waits for what must be in the picture. */
async function take(t, name, address, there) {
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await openPage(t, { ...SIZE, colorScheme });
    await page.goto(address);
    await there(page);
    // Nothing is pointed at, and nothing is on its way.
    await page.mouse.move(0, 0);
    await eventually(() => {
      if (!isQuiet(page)) throw new Error("requests are in flight");
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const file = join(FOLDER, `${name}-${colorScheme}.png`);
    const bytes = PNG.sync.write(PNG.sync.read(await page.screenshot()), { colorType: 2, deflateLevel: 9 });
    const before = await readFile(file).catch(() => null);
    if (before === null || !isSame(PNG.sync.read(before), PNG.sync.read(bytes))) await writeFile(file, bytes);
    await page.context().close();
  }
}

function isSame(one, other) {
  return one.width === other.width && one.height === other.height && difference(one, other, 16) <= SAME_PX;
}

test("a rank, zoomed to a few matrix multiplications", async (t) => {
  const { url } = await serve(t, "demo", "--events", "100000", "--ranks", "2", "--db-bucket", "demo");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { hits } = await ask(url, `profiles/${slug}/ranks/0/search?q=MATMUL&limit=200`);
  const { row, start_ps: start } = hits[100].slice;
  const address = addressOf(url, slug, [start - 900_000, start + 3_100_000], `&rank=0&sel=${row}`);
  await take(t, "timeline", address, async (page) => {
    await rowOf(page, "Tensor").waitFor();
    await page.getByRole("article", { name: "Details" }).waitFor();
  });
});

test("63 of 64 ranks wait for one", async (t) => {
  const args = ["--ranks", "64", "--straggler", "17", "--db-bucket", "job"];
  const { url } = await serve(t, "demo", ...args);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const all = `profiles/${slug}/ranks/all`;
  const { columns } = await ask(url, `${all}/tables/operation`);
  const [starts, lasts, spreads] = ["start", "last_rank", "spread"].map((name) => columns.find((column) => column.name === name));
  // The operation that rank 17 delayed most.
  const transfers = starts.values.ints.filter((_, at) => lasts.present.some[at]);
  const late = transfers.map((end, at) => ({ end, rank: lasts.values.ints[at], spread: spreads.values.ints[at] }));
  const [{ end, spread }] = late.filter(({ rank }) => rank === 17).sort((one, other) => other.spread - one.spread);
  const window = [end - 2 * spread, end + 1.6 * spread].map(Math.round);
  const { slices } = await ask(url, `${all}/events?start_ps=${end}&end_ps=${end + 1}&limit=1000`);
  const { tracks } = await ask(url, all);
  const track = tracks.find(({ rank, kind }) => rank === 17 && kind === "slices");
  const { row } = slices.find((slice) => slice.track === track.id);
  await take(t, "collectives", addressOf(url, slug, window, `&rank=all&sel=${row}`), async (page) => {
    await rowOf(page, "Rank 17").waitFor();
    await page.getByRole("article", { name: "Details" }).waitFor();
  });
});

test("the critical path of a job with a rank that pauses", async (t) => {
  const faults = ["--fault", "slow-rank=1", "--fault", "pause=2"];
  const { url } = await serve(t, "demo", "--ranks", "4", "--events", "20000", ...faults, "--db-bucket", "job");
  const { start_ps, length_ps } = await ask(url, "profiles/job/critical-path");
  const window = [start_ps, start_ps + Math.round(length_ps / 2)];
  await take(t, "path", addressOf(url, "job", window, "&rank=1&tab=path&drawer_px=200"), async (page) => {
    await rowOf(page, "Tensor").waitFor();
    await page.getByRole("article", { name: "Critical path" }).getByRole("heading").waitFor();
  });
});

test("waits of a rank whose loads come late", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "20000", "--fault", "dma-late=3", "--db-bucket", "job");
  const { waits } = await ask(url, "profiles/job/waits?ranks=0&waits=100000");
  const { start_ps, end_ps } = waits.reduce((a, b) => (b.end_ps - b.start_ps > a.end_ps - a.start_ps ? b : a));
  const window = [start_ps - 2 * (end_ps - start_ps), end_ps + 3 * (end_ps - start_ps)];
  await take(t, "waits", addressOf(url, "job", window, "&rank=0&tab=waits&drawer_px=240"), async (page) => {
    await rowOf(page, "Tensor").waitFor();
    await page.getByRole("article", { name: "Waits" }).getByRole("heading").waitFor();
  });
});

test("the summary of a rank that spills and waits", async (t) => {
  const faults = ["--fault", "spill", "--fault", "pause=0"];
  const { url } = await serve(t, "demo", "--events", "100000", "--ranks", "1", ...faults, "--db-bucket", "demo");
  await take(t, "summary", `${url}/profile/demo/summary?v=2&rank=0`, async (page) => {
    await page.locator(".advice button.finding").first().waitFor();
    await page.locator(".step-bar").first().waitFor();
  });
});

test("two runs, of which the second one is throttled and waits for a late load", async (t) => {
  const run = (name, ...faults) => ["demo", "--ranks", "1", "--events", "20000", ...faults, "--db-bucket", name];
  const { url, store } = await serve(t, ...run("run-7", "--fault", "none"));
  const slower = run("run-8", "--fault", "throttle", "--fault", "dma-late=5");
  await promisify(execFile)(process.env.NPROF_BIN, [...slower, "--ingest-only", "--store", store]);
  await take(t, "compare", `${url}/compare/run-7/run-8/compare`, async (page) => {
    await page.locator(".paired-track").first().waitFor();
    await page.locator(".compare-findings li").first().waitFor();
  });
});

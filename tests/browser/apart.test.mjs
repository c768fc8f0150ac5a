// No cell lies over another, in any table of the page, however wide its panel is.

import assert from "node:assert/strict";
import test from "node:test";
import { overlapsIn } from "./apart.mjs";
import { ask, eventually } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

/** Widths of the window. With a dock of 384 px beside it, the drawer has from 900 to 1,280 px. */
const WIDTHS = [360, 440, 520, 600, 700, 800, 900, 1000, 1100, 1200, 1280, 1300, 1340, 1366, 1400, 1440, 1480, 1600];

test("no cell lies over another", async (t) => {
  const { url } = await serve(t, "demo", "--events", "4000", "--ranks", "4");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const rank = `profiles/${slug}/ranks/0`;
  const { entry } = await ask(url, rank);
  const { hits } = await ask(url, `${rank}/search?q=MATMUL&limit=1`);
  const { row } = hits[0].slice;
  const mark = `mark=${entry.start_ps}..${entry.end_ps}`;
  const address = (more) => `${url}/profile/${slug}?v=2&drawer_px=400&${more}`;
  const panel = (page, name) => page.getByRole("tabpanel", { name });
  const states = {
    "a span of one rank": [address(`rank=0&${mark}&tab=selection`), (page) => panel(page, "Selection").getByRole("table").first()],
    "a span of two ranks": [address(`rank=0&ranks=0,1&${mark}&tab=selection`), (page) => panel(page, "Selection").getByText("In rank 1").first()],
    "a span of four ranks, with details": [
      address(`rank=0&ranks=0,1,2,3&${mark}&sel=${row}&tab=selection`),
      (page) => panel(page, "Selection").getByRole("table").filter({ hasText: /In rank 3|Self/ }).first(),
    ],
    hits: [address("rank=0&q=MATMUL&tab=search"), (page) => page.getByRole("list", { name: "Hits" })],
    "hits with details": [address(`rank=0&q=MATMUL&sel=${row}&tab=search`), (page) => page.getByRole("list", { name: "Hits" })],
    plots: [address("rank=all&tab=plots"), (page) => page.getByRole("region", { name: "Duration by kind and size" }).locator("tbody tr").first()],
    summary: [`${url}/profile/${slug}/summary?v=2&rank=0`, (page) => page.locator(".all-metrics").getByRole("heading", { name: "Tensor engine" })],
    "a table": [`${url}/profile/${slug}/data?v=2&rank=0&table=instruction`, (page) => page.getByRole("grid", { name: "Instruction" }).getByRole("gridcell").first()],
    "the list of profiles": [url, (page) => page.getByRole("link", { name: "Demo: 4 simulated ranks" })],
  };
  for (const [name, [path, there]] of Object.entries(states)) {
    await t.test(name, { skip: process.env.NPROF_SOURCE === "html" && path === url }, async (t) => {
      const { page, problems } = await openPage(t, { width: 1600, height: 900 });
      await page.goto(path);
      await there(page).waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await eventually(async () => assert.deepEqual(await overlapsIn(page.locator("body")), [], `${width} px`));
      }
      assert.deepEqual(problems, []);
    });
  }

  await t.test("columns give way in their order, and come back", async (t) => {
    const { page } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(address(`rank=0&ranks=0,1&${mark}&tab=selection`));
    const table = panel(page, "Selection").getByRole("table").first();
    const titles = () => table.getByRole("columnheader").allInnerTexts();
    await table.getByText("In rank 1").waitFor();
    await eventually(async () => assert.equal((await titles()).length, 8));
    const seen = [];
    for (const width of [1600, 1000, 900, 800, 700, 600, 500, 420, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await eventually(async () => assert.deepEqual(await overlapsIn(panel(page, "Selection")), []));
      seen.push((await titles()).map((title) => title.trim()));
    }
    const order = ["Total", "Union", "Longest", "Count", "In rank 1"];
    for (const titles of seen) {
      const left = order.filter((title) => titles.includes(title));
      assert.deepEqual(left, order.slice(order.length - left.length), `${titles}`);
      assert.ok(["Self", "Difference"].every((title) => titles.includes(title)), `${titles}`);
    }
    // In a narrow panel both tables stand below each other, and this one is wider again.
    assert.ok(seen.some((titles) => titles.length < 6) && seen.at(-1).length < 8, "nothing gave way");
    await page.setViewportSize({ width: 1600, height: 900 });
    await eventually(async () => assert.equal((await titles()).length, 8));
  });
});

// The cards of the Summary place: collective operations as points, waiting beside the median rank, and the slowest step.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { promisify } from "node:util";
import { writeJob } from "./job.mjs";
import { ask, eventually, parametersOf, reload } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

const placeOf = (page) => page.getByRole("main", { name: "Summary" });
const cardOf = (page, title) => placeOf(page).locator(".summary-card").filter({ has: page.getByRole("heading", { name: title }) });
const legendOf = (page) => cardOf(page, "Collective operations").getByRole("group", { name: "Kinds" });

/** The rows of a table of a summary, as objects by column. */
function rowsOf({ tables }, key) {
  const { columns, rows } = tables.find((table) => table.key === key);
  const value = (of) => (of === null ? null : Object.values(of)[0]);
  return rows.map(({ name, values }) => ({ name, ...Object.fromEntries(columns.map((column, at) => [column.name, value(values[at])])) }));
}

test("cards show operations as points and ranks beside the median", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--ranks", "4", "--events", "20000", "--fault", "slow-rank=2", "--db-bucket", "job");
  const ofAll = await ask(url, "profiles/job/ranks/all/summary");

  for (const rank of ["all", "0"]) {
    await t.test(`each operation is a point, and the legend filters, rank ${rank}`, async (t) => {
      const summary = rank === "all" ? ofAll : await ask(url, `profiles/job/ranks/${rank}/summary`);
      const count = rowsOf(summary, "collective_spreads").reduce((sum, of) => sum + of.count, 0);
      const kinds = [...new Set(rowsOf(summary, "collective_spreads").map(({ kind }) => kind))];
      const { page, problems } = await openPage(t, { width: 1440, height: 900, first: null });
      await page.goto(`${url}/profile/job/summary?v=2&rank=${rank}`);
      const card = cardOf(page, "Collective operations");
      await eventually(async () => assert.deepEqual(await legendOf(page).getByRole("button").allInnerTexts(), kinds));
      const said = (await card.locator("figcaption").innerText()).replace(/[^\d;]/g, "").split(";")[1];
      assert.ok(said.endsWith(String(count)), `${said}, ${count}`);
      const dots = () => card.locator(".collectives-dots path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d").split("M").length - 1));
      const outliers = rowsOf(summary, "collective_points").filter(({ outlier }) => outlier);
      const drawn = async () => (await dots()).reduce((sum, of) => sum + of, 0) + (await card.locator("circle").count());
      assert.equal(await drawn(), rowsOf(summary, "collective_points").length);
      assert.equal(await card.locator("circle").count(), outliers.length);
      await legendOf(page).getByRole("button", { name: kinds[0], exact: true }).click();
      await eventually(async () => assert.equal((await dots()).length, kinds.length - 1));
      await eventually(() => assert.equal(parametersOf(page).get("hide_kinds"), kinds[0], page.url()));
      await reload(page);
      await eventually(async () => assert.equal((await dots()).length, kinds.length - 1));
      await legendOf(page).getByRole("button", { name: kinds[0], exact: true }).click();
      await eventually(async () => assert.equal((await dots()).length, kinds.length));
      assert.deepEqual(problems, []);
    });
  }

  await t.test("each rank has the waiting for it, beside the median rank", async (t) => {
    const { metrics } = ofAll.groups.find(({ key }) => key === "job_awaited");
    assert.deepEqual(metrics.map(({ name }) => name).sort(), ["median rank", "rank 0", "rank 1", "rank 2", "rank 3"]);
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    const lines = cardOf(page, "Where waiting began").locator(".metrics > div");
    await eventually(async () => assert.deepEqual(await lines.locator("dt").allInnerTexts(), metrics.map(({ name }) => name)));
    const longest = Math.max(...metrics.map(({ value }) => value.float));
    const bars = await lines.evaluateAll((all) => all.map(({ style }) => [style.getPropertyValue("--share"), style.getPropertyValue("--mark")].map(Number)));
    const median = metrics.at(-1).value.float / longest;
    bars.forEach(([share, mark], at) => {
      assert.ok(Math.abs(share - metrics[at].value.float / longest) < 1e-6 && Math.abs(mark - median) < 1e-6, `${bars}`);
    });
  });

  await t.test("the slowest step is named, and is the region after a click", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=0`);
    const strip = placeOf(page).getByRole("region", { name: "Steps", exact: true });
    await strip.getByText(/median .*, deviation /).waitFor();
    const slowest = strip.getByRole("paragraph").getByRole("button");
    const name = (await slowest.innerText()).split(",")[0];
    await slowest.click();
    await eventually(() => assert.equal(parametersOf(page).get("region"), name, page.url()));
  });

  await t.test("the command prints the same points", async () => {
    const all = ["summary", "job", "--store", store, "--ranks", "0", "--output-format", "json"];
    const { stdout } = await promisify(execFile)(process.env.NPROF_BIN, all, { maxBuffer: 1 << 28 });
    const printed = Object.values(JSON.parse(stdout)).find((of) => of?.tables?.collective_points);
    const expected = rowsOf(await ask(url, "profiles/job/ranks/0/summary"), "collective_points");
    assert.deepEqual(printed.tables.collective_points, expected);
  });
});

test("an outlier is named, and leads to its slice", SERVED, async (t) => {
  const folder = await writeJob(t, [0, 0, 0, 0], { long: { call: 17, us: 300 } });
  const { url } = await serve(t, "view", folder, "--db-bucket", "job");
  const summary = await ask(url, "profiles/job/ranks/all/summary");
  const [outlier, ...others] = rowsOf(summary, "collective_points");
  assert.deepEqual([outlier.outlier, outlier.of_usual], [true, 6]);
  assert.ok(others.every(({ outlier }) => !outlier));
  assert.deepEqual(rowsOf(summary, "collective_spreads").map(({ count, outliers }) => [count, outliers]), [[40, 1]]);
  const { page, problems } = await openPage(t, { width: 1440, height: 900, first: null });
  // Findings that arrive move the cards.
  await page.goto(`${url}/profile/job/summary?v=2&rank=all`, { waitUntil: "networkidle" });
  const card = cardOf(page, "Collective operations");
  const circle = card.locator("circle");
  await circle.waitFor();
  const middle = async () => {
    const { x, y, width, height } = await circle.boundingBox({ timeout: 1000 });
    return [x + width / 2, y + height / 2];
  };
  await eventually(async () => {
    await page.mouse.move(...(await middle()));
    const text = await card.locator("figcaption").innerText();
    assert.ok(text.includes(`${outlier.name}: 360 µs, 6.0 × usual`), text);
  });
  await card.getByRole("button", { name: outlier.name, exact: true }).click();
  await eventually(() => assert.equal(parametersOf(page).get("sel"), String(outlier.row), page.url()));
  await page.goBack();
  await circle.waitFor();
  await eventually(async () => {
    if (parametersOf(page).get("sel") === null) await page.mouse.click(...(await middle()));
    assert.equal(parametersOf(page).get("sel"), String(outlier.row), page.url());
  });
  assert.deepEqual(problems, []);
});

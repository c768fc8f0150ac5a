// The Summary place: a newcomer begins there, all of it fits one screen, and its numbers are those of the API.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, reload, rowOf, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";
import { TRACE, traces } from "./trace.mjs";

const FAULTS = ["--fault", "slow-rank=1", "--fault", "pause=2"];
const placeOf = (page) => page.getByRole("main", { name: "Summary" });
const findingsOf = (page) => placeOf(page).locator(".advice button.finding");

/** How far what a newcomer sees first reaches down. */
const depth = (page) => page.evaluate(() => {
  const parts = [".advice", ".time-card", ".summary-cards"].map((part) => document.querySelector(part));
  return Math.max(...parts.map((part) => part.getBoundingClientRect().bottom));
});

/** A simulated job of several ranks. */
async function jobOf(t) {
  const { url, store } = await serve(t, "demo", "--ranks", "4", "--events", "20000", ...FAULTS, "--db-bucket", "job");
  const found = await ask(url, "profiles/job/findings");
  return { url, store, rows: found.findings.filter(({ state }) => state === "found"), found };
}

test("a profile opens with what to do, on one screen", SERVED, async (t) => {
  const { url, store, found, rows } = await jobOf(t);

  for (const [width, height] of [[1440, 900], [1280, 800]]) {
    await t.test(`a bare link opens the summary, ${width} × ${height}`, async (t) => {
      const { page, problems } = await openPage(t, { width, height, first: null });
      await page.goto(`${url}/profile/job`);
      await placeOf(page).getByRole("heading", { name: found.answer }).waitFor();
      assert.equal(new URL(page.url()).pathname, "/profile/job/summary");
      for (const rank of ["all", "0"]) {
        await page.goto(`${url}/profile/job/summary?v=2&rank=${rank}`);
        await placeOf(page).getByRole("heading", { name: found.answer }).waitFor();
        await placeOf(page).locator(".summary-cards").waitFor();
        await eventually(async () => assert.ok((await depth(page)) <= height, `${await depth(page)} px`));
      }
      assert.deepEqual(problems, []);
    });
  }

  await t.test("the place that a user goes to is the first one of the next profile", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job`);
    await placeOf(page).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await rowOf(page, "Rank 1").first().waitFor();
    await page.goto(`${url}/profile/job`);
    await rowOf(page, "Rank 1").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await placeOf(page).waitFor();
    await page.goto(`${url}/profile/job`);
    await placeOf(page).waitFor();
  });

  await t.test("the time sums up, and its parts are those of the API", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=0`);
    const { groups } = await ask(url, "profiles/job/ranks/0/summary");
    const time = groups.find(({ key }) => key === "time").metrics;
    const total = groups.find(({ key }) => key.startsWith("overall")).metrics.find(({ name }) => name === "total_time");
    const sum = time.reduce((sum, { value }) => sum + value.float, 0);
    assert.ok(Math.abs(sum - total.value.float) < 1e-11, `${sum} of ${total.value.float}`);
    const active = sum - time[0].value.float - time[5].value.float;
    const entries = placeOf(page).locator(".time-legend li");
    const compute = time.find(({ name }) => name === "time_computing").value.float;
    const share = `${((compute / active) * 100).toFixed(1)} %`;
    await eventually(async () => assert.match(await entries.filter({ hasText: "compute" }).innerText(), new RegExp(share)));
    assert.equal(await entries.count(), time.filter(({ value }) => value.float > 0).length);
  });

  await t.test("the ranks are beside each other, by name", async (t) => {
    const { page, problems } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    const { names } = await ask(url, "profiles/job/balance");
    assert.equal(names[0].rank, 1, "the planted slow rank");
    const table = placeOf(page).getByRole("region", { name: "Work by name, beside the median of the other ranks" });
    const first = table.locator("tbody tr").first();
    await first.waitFor();
    const text = await first.innerText();
    assert.ok(text.includes(`rank 1: ${names[0].name}`), text);
    assert.deepEqual(problems, []);
  });

  await t.test("a finding leads to its place in one step, and N and B go on", async (t) => {
    const { page, problems } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    await findingsOf(page).first().waitFor();
    const shown = rows.slice(0, 3).map(({ rule }) => rule);
    const texts = await findingsOf(page).allInnerTexts();
    shown.forEach((rule, at) => assert.ok(texts[at].includes(rule), texts[at]));
    const at = rows.findIndex(({ start_ps, end_ps }) => end_ps > start_ps);
    assert.ok(at >= 0 && at < 3, JSON.stringify(rows));
    await findingsOf(page).nth(at).click();
    const isThere = ({ start_ps, end_ps }) => eventually(() => {
      const view = viewOf(page);
      assert.ok(view.from <= start_ps && end_ps <= view.to, page.url());
    });
    await isThere(rows[at]);
    const notice = page.locator(".timeline-followed");
    await notice.getByText(rows[at].rule).first().waitFor();
    const before = page.url();
    await page.keyboard.press("n");
    await eventually(() => assert.notEqual(page.url(), before));
    await page.keyboard.press("b");
    await isThere(rows[at]);
    await page.getByRole("button", { name: "Close the notice about the finding" }).click();
    await notice.waitFor({ state: "hidden" });
    assert.deepEqual(problems, []);
  });

  await t.test("N asks for the findings where none were shown, and Back leads to the view before", async (t) => {
    const { page, problems } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job?v=2&rank=0`);
    await page.locator(".timeline-rows, canvas").first().waitFor();
    const before = viewOf(page);
    await page.keyboard.press("n");
    const notice = page.locator(".timeline-followed");
    await notice.getByRole("button", { name: "Back", exact: true }).click();
    await notice.waitFor({ state: "hidden" });
    await eventually(() => assert.deepEqual([viewOf(page).rank, viewOf(page).from], [before.rank, before.from], page.url()));
    assert.deepEqual(problems, []);
  });

  await t.test("a muted finding stays muted after a reload, and can be shown again", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    await findingsOf(page).first().waitFor();
    const [first] = await findingsOf(page).allInnerTexts();
    await placeOf(page).locator(".advice li").first().hover();
    await placeOf(page).locator(".advice li").first().getByRole("button", { name: "mute", exact: true }).click();
    await eventually(async () => assert.notEqual((await findingsOf(page).allInnerTexts())[0], first));
    await eventually(() => assert.ok(parametersOf(page).get("mute"), page.url()));
    await reload(page);
    await placeOf(page).getByText("1 muted").waitFor();
    await placeOf(page).getByRole("heading", { name: "beside the muted ones" }).waitFor();
    assert.notEqual((await findingsOf(page).allInnerTexts())[0], first);
    await placeOf(page).getByRole("button", { name: "show them again" }).click();
    await eventually(async () => assert.equal((await findingsOf(page).allInnerTexts())[0], first));
  });

  await t.test("a region is the scope of the numbers, and is in the address", async (t) => {
    const { page } = await openPage(t, { first: null });
    const { regions } = await ask(url, "profiles/job/ranks/0/regions");
    assert.ok(regions.length > 1);
    const { name, start_ps, end_ps } = regions[1];
    const { groups } = await ask(url, `profiles/job/ranks/0/summary?start_ps=${start_ps}&end_ps=${end_ps}`);
    const total = groups[0].metrics.find(({ name }) => name === "total_time").value.float;
    await page.goto(`${url}/profile/job/summary?v=2&rank=0`);
    await placeOf(page).getByRole("combobox", { name: "Region" }).selectOption(name);
    await eventually(() => assert.equal(parametersOf(page).get("region"), name));
    await reload(page);
    const line = placeOf(page).locator(".all-metrics .metrics > div").filter({ hasText: "Total time" }).first();
    await eventually(async () => {
      const shown = (await line.innerText()).replace(/[^\d.]/g, "");
      assert.ok(Math.abs(Number(shown) / (total * 1e6) - 1) < 1e-3, `${shown} ${total}`);
    });
    await page.goto(`${url}/profile/job/summary?v=2&rank=0&region=none`);
    await placeOf(page).getByText("This rank has no region of this name").waitFor();
  });

  await t.test("a metric is found by a word of its definition", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=0`);
    await placeOf(page).getByRole("searchbox", { name: "Find a metric" }).fill("spill");
    const labels = placeOf(page).locator(".all-metrics .metrics");
    await eventually(async () => assert.match((await labels.allInnerTexts()).join(), /[Ss]pill/));
    assert.equal(await placeOf(page).locator(".all-metrics h3", { hasText: "System" }).count(), 0);
    await placeOf(page).getByRole("searchbox", { name: "Find a metric" }).fill("nothing like this");
    await placeOf(page).getByText("No metric has these words.").waitFor();
  });

  await t.test("a file opens with the same", async (t) => {
    const file = await exported(store, "job");
    const { page } = await openPage(t, { width: 1440, height: 900, first: null });
    await page.goto(file);
    await placeOf(page).getByRole("heading", { name: found.answer }).waitFor();
    await eventually(async () => assert.ok((await depth(page)) <= 900));
    await findingsOf(page).first().click();
    await page.locator("canvas").first().waitFor();
  });
});

test("any trace has a summary", SERVED, async (t) => {
  const [path] = await traces(t, TRACE);
  const { url } = await serve(t, "view", path, "--db-bucket", "small");
  const { page, problems } = await openPage(t, { first: null });
  await page.goto(`${url}/profile/small`);
  await placeOf(page).locator(".time-legend").getByText("compute").waitFor();
  await placeOf(page).locator(".summary-card").first().waitFor();
  assert.deepEqual(problems, []);
});

// The panel of findings: the sentences are those of the API, and each finding leads to its place, by the mouse and by
// keys, on a server and in a file.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, picture, rowOf, scaleOf, settled, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

const panelOf = (page) => page.getByRole("article", { name: "Findings" });
/** A text of the API as the page shows it: names between backticks are set as code. */
const asShown = (text) => text.replaceAll("`", "");
const itemsOf = (page) => panelOf(page).locator("button.finding");

/** A simulated job with two causes of lost time, and its findings. */
async function jobOf(t) {
  const faults = ["--fault", "slow-rank=1", "--fault", "pause=2"];
  const { url, store } = await serve(t, "demo", "--ranks", "4", "--events", "20000", ...faults, "--db-bucket", "job");
  const found = await ask(url, "profiles/job/findings");
  const rows = found.findings.filter(({ state }) => state === "found");
  assert.ok(rows.length > 1, JSON.stringify(found));
  return { url, store, found, rows };
}

/** The page shows the place of a finding. */
async function isAt(page, finding) {
  const { rank, row, start_ps, end_ps } = finding;
  await eventually(() => {
    const view = viewOf(page);
    if (rank !== null) assert.equal(view.rank, rank, page.url());
    if (row !== null) assert.equal(view.selected, row, page.url());
    if (start_ps !== null) assert.ok(view.from <= start_ps && end_ps <= view.to, `${start_ps}..${end_ps} ${page.url()}`);
    if (start_ps !== null) assert.ok(view.to - view.from <= 2 * (end_ps - start_ps) + 2_000, page.url());
  });
}

const withSpan = (rows) => rows.findIndex(({ start_ps, end_ps, rank, row }) => end_ps > start_ps && rank !== null && row !== null);

test("findings are listed and lead to their places", async (t) => {
  const { url, store, found, rows } = await jobOf(t);
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const at = withSpan(rows);
  assert.ok(at >= 0, JSON.stringify(rows));

  await t.test("G F opens the list, which says what the API says", async () => {
    await page.goto(`${url}/profile/job?v=2&rank=0`);
    await rowOf(page, "Tensor").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await panelOf(page).getByRole("heading", { name: found.answer }).waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("tab"), "findings"));
    const texts = await itemsOf(page).allTextContents();
    assert.equal(texts.length, rows.length);
    rows.forEach(({ rule, text }, index) => assert.ok(texts[index].includes(`${rule}: ${asShown(text)}`), texts[index]));
    // Names stand between backticks in the API, and are code in the page.
    assert.ok(rows.some(({ text }) => text.includes("`")));
    const saved = rows.map(({ saving_ps }) => saving_ps?.middle ?? -1);
    assert.deepEqual(saved, [...saved].sort((a, b) => b - a), "the largest saving is first");
    await panelOf(page).getByText(found.coverage.text).waitFor();
    const nothing = found.findings.filter(({ state }) => state === "nothing").map(({ rule }) => rule);
    await panelOf(page).getByText(`nothing found: ${nothing.join(", ")}`).waitFor();
    for (const { rule, reason } of found.findings.filter(({ state }) => state === "cannot-tell")) {
      await panelOf(page).getByText(`cannot tell ${rule}: ${asShown(reason)}`).waitFor();
    }
  });

  await t.test("a click leads to the place, and the list stays", async () => {
    await itemsOf(page).nth(at).click();
    await isAt(page, rows[at]);
    await page.getByRole("article", { name: "Details" }).getByRole("heading").first().waitFor();
    await panelOf(page).getByRole("heading", { name: found.answer }).waitFor();
    assert.equal(await panelOf(page).locator("[aria-current=true]").count(), 1);
    await page.goBack();
    await eventually(() => assert.equal(viewOf(page).selected, null, page.url()));
  });

  await t.test("arrow keys and Enter lead there, too", async () => {
    await itemsOf(page).first().focus();
    const selected = () => viewOf(page).selected;
    for (let step = 0; step < rows.length; step += 1) await page.keyboard.press("ArrowDown");
    await itemsOf(page).last().and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Home");
    for (let step = 0; step < at; step += 1) await page.keyboard.press("ArrowDown");
    await itemsOf(page).nth(at).and(page.locator(":focus")).waitFor();
    assert.equal(selected(), null, "the timeline takes no arrow keys meanwhile");
    await page.keyboard.press("Enter");
    await isAt(page, rows[at]);
  });

  await t.test("a late rank without a slice leads to what it did", async () => {
    const late = rows.findIndex(({ rule, row, start_ps }) => rule === "late-rank" && row === null && start_ps === null);
    assert.ok(late >= 0, JSON.stringify(rows));
    await itemsOf(page).nth(late).click();
    await eventually(() => assert.equal(viewOf(page).rank, rows[late].rank, page.url()));
    await panelOf(page).getByRole("heading", { name: found.answer }).waitFor();
  });

  await t.test("a narrow window shows the list below the timeline", async () => {
    await page.setViewportSize({ width: 420, height: 900 });
    await itemsOf(page).first().waitFor();
    const [panel, item] = [await page.getByRole("tabpanel").boundingBox(), await itemsOf(page).first().boundingBox()];
    assert.ok(item.x >= panel.x && item.x + item.width <= panel.x + panel.width + 1, JSON.stringify({ panel, item }));
  });

  await t.test("a file has the same list", SERVED, async (t) => {
    const file = await exported(store, "job");
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=0&tab=findings`);
    await panelOf(page).getByRole("heading", { name: found.answer }).waitFor();
    assert.equal(await itemsOf(page).count(), rows.length);
    await itemsOf(page).nth(at).click();
    await isAt(page, rows[at]);
    assert.deepEqual(problems, []);
  });
  assert.deepEqual(problems, []);
});

/** Of the boxes, as in frontend/src/draw/overlay.rs. */
const BOX = { light: [138, 75, 0], dark: [240, 179, 90] };

/** Number of points of a line along the upper edge of a row that have the colour of a box. */
async function boxPoints(page, track, finding, theme) {
  const [scale, { at }] = [await scaleOf(page), await picture(page)];
  const row = await rowOf(page, track).first().boundingBox();
  const [left, right] = [scale.x(finding.start_ps), scale.x(finding.end_ps)];
  const isBox = (x, y) => at(x, y).every((part, index) => Math.abs(part - BOX[theme][index]) < 30);
  const points = Array.from({ length: 40 }, (_, step) => left + ((right - left) * (step + 0.5)) / 40);
  return points.filter((x) => [0, 1, 2].some((y) => isBox(x, row.y + y))).length;
}

test("boxes over the rows show where findings are", async (t) => {
  const faults = ["--fault", "pause=1", "--fault", "slow-link=2"];
  const { url } = await serve(t, "demo", "--ranks", "4", "--events", "20000", ...faults, "--db-bucket", "job");
  const { findings } = await ask(url, "profiles/job/findings");
  const finding = findings.find(({ state, track, start_ps }) => state === "found" && track !== null && start_ps !== null);
  const length = finding.end_ps - finding.start_ps;
  const address = `${url}/profile/job?v=2&rank=${finding.rank}&from=${finding.start_ps - length}&to=${finding.end_ps + length}`;

  for (const theme of ["light", "dark"]) {
    await t.test(`over the track of the place, ${theme}`, async (t) => {
      const { page, problems } = await openPage(t, { width: 1600, height: 900, colorScheme: theme });
      await page.goto(`${address}&tab=findings`);
      await itemsOf(page).first().waitFor();
      await settled(page);
      await eventually(async () => assert.ok((await boxPoints(page, finding.track, finding, theme)) > 20, "no box"));
      assert.deepEqual(problems, []);
    });
  }

  await t.test("the saving on its corner says the sentence, and a click selects the finding", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${address}&tab=findings`);
    await itemsOf(page).first().waitFor();
    await settled(page);
    const [scale, row] = [await scaleOf(page), await rowOf(page, finding.track).first().boundingBox()];
    const corner = [scale.x(finding.start_ps) + 8, row.y + 1];
    await eventually(async () => {
      await page.mouse.move(10, 10);
      await page.mouse.move(...corner);
      await page.getByRole("tooltip").getByText(`${finding.rule}: ${finding.text}`).waitFor({ timeout: 1_000 });
    });
    await page.mouse.click(...corner);
    await isAt(page, finding);
    await panelOf(page).locator("[aria-current=true]").waitFor();
    assert.ok((await panelOf(page).locator("[aria-current=true]").innerText()).includes(finding.rule));
    assert.deepEqual(problems, []);
  });

  await t.test("a muted finding has no box", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${address}&tab=findings`);
    await itemsOf(page).first().waitFor();
    await settled(page);
    await eventually(async () => assert.ok((await boxPoints(page, finding.track, finding, "light")) > 20, "no box"));
    await page.getByRole("button", { name: `all ${finding.rule}` }).first().click();
    await settled(page);
    await eventually(async () => assert.ok((await boxPoints(page, finding.track, finding, "light")) < 10, "a box"));
    assert.deepEqual(problems, []);
  });
});

test("the panel says that it waits, and a closed panel ends the work", SERVED, async (t) => {
  // So large that only the panel asks for the findings.
  const { url } = await serve(t, "demo", "--ranks", "1", "--events", "2100000", "--db-bucket", "job");
  const { page, problems } = await openPage(t);
  const held = [];
  await page.route("**/api/profiles/*/findings**", (route) => held.push(route));
  await page.goto(`${url}/profile/job?v=2&rank=0&tab=findings`);
  await page.getByText("The findings are being computed …").waitFor();
  await eventually(() => assert.equal(held.length, 1));
  const cancelled = page.waitForEvent("requestfailed", (request) => request.url().includes("/findings"));
  await page.getByRole("tab", { name: "Selection" }).click();
  await cancelled;
  await page.unroute("**/api/profiles/*/findings**");
  await page.getByRole("tab", { name: "Findings" }).click();
  await itemsOf(page).first().waitFor();
  assert.deepEqual(problems, []);
});

test("the timeline of a small profile shows the places of findings without being asked", async (t) => {
  const { url, store, rows } = await jobOf(t);
  const { page, problems } = await openPage(t);
  for (const base of [url, await exported(store, "job")]) {
    await page.goto(url === base ? `${url}/profile/job?v=2&rank=0` : `${base}#/profile/job?v=2&rank=0`);
    const name = new RegExp(`^(${rows.map(({ rule }) => rule).join("|")}): `);
    await page.getByRole("group", { name: "Findings" }).getByRole("button", { name }).first().waitFor();
  }
  assert.deepEqual(problems, []);
});

test("a file with some ranks has no list, and says why", SERVED, async (t) => {
  const { store } = await serve(t, "demo", "--ranks", "4", "--events", "2000", "--db-bucket", "job");
  const { page, problems } = await openPage(t);
  const file = await exported(store, "job", "--ranks", "0");
  await page.goto(`${file}#/profile/job?v=2&tab=findings`);
  await page.getByText(/^ranks or tracks are left out of this file/).waitFor();
  assert.equal(await itemsOf(page).count(), 0);
  assert.deepEqual(problems, []);
});

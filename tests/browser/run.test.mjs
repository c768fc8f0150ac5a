// The run as a whole: its critical path through the timeline, and what it would take if work took another time. All
// answers are those of the API.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, picture, rowOf, scaleOf, settled, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

/** Of the path, as in frontend/src/draw/overlay.rs. */
const PATH = { light: [196, 18, 126], dark: [255, 92, 184] };

const FAULTS = ["--fault", "slow-rank=1", "--fault", "pause=2"];

/** A simulated job with a slow rank and one that pauses, and its critical path. */
async function jobOf(t) {
  const { url, store } = await serve(t, "demo", "--ranks", "4", "--events", "20000", ...FAULTS, "--db-bucket", "job");
  return { url, store, path: await ask(url, "profiles/job/critical-path?parts=100000") };
}

const panelOf = (page) => page.getByRole("article", { name: "Critical path" });
const partsOf = (page) => panelOf(page).getByRole("grid", { name: "Parts of the path in the window" }).locator("tbody tr:not(.space)");

/** A long part of the path on a rank, with the window around it. */
function longest(path, rank) {
  const of = path.parts.filter((part) => part.rank === rank && part.kind === "work" && part.row !== null);
  const part = of.reduce((a, b) => (b.end_ps - b.start_ps > a.end_ps - a.start_ps ? b : a));
  const length = part.end_ps - part.start_ps;
  return { part, from: part.start_ps - length, to: part.end_ps + length };
}

/** Whether the path is drawn below a part: some pixels of its colour in the middle of the part. */
async function isDrawn(page, part, theme) {
  const [scale, { at }] = [await scaleOf(page), await picture(page)];
  const x = scale.x((part.start_ps + part.end_ps) / 2);
  const row = await rowOf(page, part.track_name).first().boundingBox();
  const isPath = (y) => at(x, y).every((value, index) => Math.abs(value - PATH[theme][index]) < 24);
  return Array.from({ length: Math.floor(row.height) }, (_, y) => row.y + y).some(isPath);
}

/** The colours in the middle of a part, and left of it in all rows. */
async function dimmed(page, part) {
  const [scale, { at }] = [await scaleOf(page), await picture(page)];
  const row = await rowOf(page, part.track_name).first().boundingBox();
  const x = scale.x(part.start_ps) - 6;
  return {
    part: at(scale.x((3 * part.start_ps + part.end_ps) / 4), row.y + 5),
    others: Array.from({ length: 200 }, (_, y) => at(x, row.y - 100 + y)),
  };
}

test("the critical path is listed and drawn", async (t) => {
  const { url, store, path } = await jobOf(t);
  const rank = Number(path.by_rank[0].name);
  const { part, from, to } = longest(path, rank);

  for (const theme of ["light", "dark"]) {
    await t.test(`through the slices that it leads through, ${theme}`, async (t) => {
      const { page, problems } = await openPage(t, { width: 1600, height: 900, colorScheme: theme });
      await page.goto(`${url}/profile/job?v=2&rank=${rank}&from=${from}&to=${to}`);
      await settled(page);
      assert.ok(!(await isDrawn(page, part, theme)), "nothing is drawn before anybody asks");
      await page.keyboard.press("g");
      await page.keyboard.press("l");
      await panelOf(page).getByRole("heading", { name: path.answer }).waitFor();
      await eventually(() => assert.equal(parametersOf(page).get("tab"), "path"));
      await settled(page);
      await eventually(async () => assert.ok(await isDrawn(page, part, theme), "the path is not drawn"));
      await page.keyboard.press("q");
      await eventually(async () => assert.ok(!(await isDrawn(page, part, theme)), "a closed panel still draws"));
      assert.deepEqual(problems, []);
    });
  }

  await t.test("slices that are not on the path are dimmer", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=${rank}&from=${from}&to=${to}`);
    await settled(page);
    const before = await dimmed(page, part);
    await page.goto(`${url}/profile/job?v=2&rank=${rank}&from=${from}&to=${to}&tab=path`);
    await partsOf(page).first().waitFor();
    await settled(page);
    await eventually(async () => {
      const after = await dimmed(page, part);
      assert.deepEqual(after.part, before.part, "the part itself stays");
      assert.notDeepEqual(after.others, before.others, "everything else is dim");
    });
    assert.deepEqual(problems, []);
  });

  await t.test("the tooltip says the slack of a slice while the tab is open", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=${rank}&from=${from}&to=${to}`);
    await settled(page);
    const asked = [];
    page.on("request", (request) => request.url().includes("/slack?") && asked.push(request.url()));
    const point = async () => {
      const [scale, row] = [await scaleOf(page), await rowOf(page, part.track_name).first().boundingBox()];
      await page.mouse.move(10, 10);
      await page.mouse.move(scale.x((part.start_ps + part.end_ps) / 2), row.y + 10);
      await page.getByRole("tooltip").getByText(part.name).first().waitFor();
    };
    await point();
    await page.waitForTimeout(300);
    assert.deepEqual(asked, [], "nothing is asked while the tab is closed");
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await partsOf(page).first().waitFor();
    await settled(page);
    await point();
    const { answer } = await ask(url, `profiles/job/critical-path/slack?rank=${rank}&row=${part.row}`);
    assert.equal(answer, "none: it is on the critical path");
    await page.getByRole("tooltip").getByText(answer).waitFor();
    assert.equal(new Set(asked).size, 1, asked.join(" "));
    assert.deepEqual(problems, []);
  });

  await t.test("a part leads to its slice, and the list stays", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=${rank}&from=${from}&to=${to}&tab=path`);
    await partsOf(page).first().waitFor();
    const shown = path.parts.filter(({ start_ps, end_ps }) => end_ps > from && start_ps < to);
    await eventually(async () => assert.ok((await partsOf(page).count()) >= Math.min(3, shown.length)));
    await partsOf(page).getByRole("button", { name: part.name }).first().click();
    await eventually(() => assert.ok(shown.some(({ row }) => row === viewOf(page).selected), page.url()));
    await page.getByRole("article", { name: "Details" }).getByRole("heading").first().waitFor();
    await panelOf(page).getByRole("heading", { name: path.answer }).waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("names and ranks on the path have their shares", async (t) => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=all&tab=path`);
    const names = panelOf(page).getByRole("list", { name: "Path by name" }).getByRole("listitem");
    const ranks = panelOf(page).getByRole("list", { name: "Ranks on the path" }).getByRole("listitem");
    await names.first().waitFor();
    const share = ({ ps }) => `${((100 * ps) / path.length_ps).toFixed(1)} %`;
    const [name, text] = [path.by_name[0], await names.first().innerText()];
    assert.ok(text.includes(name.name) && text.includes(share(name)), text);
    const first = await ranks.first().innerText();
    assert.ok(first.includes(`rank ${path.by_rank[0].name}`) && first.includes(share(path.by_rank[0])), first);
    for (const by of ["engine", "layer", "kind"]) {
      await panelOf(page).getByRole("combobox", { name: "Path by" }).selectOption(by);
      const rows = panelOf(page).getByRole("list", { name: `Path by ${by}` }).getByRole("listitem");
      const of = path[`by_${by}`][0];
      await eventually(async () => assert.ok((await rows.first().innerText()).includes(share(of)), by));
    }
    assert.deepEqual(problems, []);
  });

  await t.test("a file has the path, too", SERVED, async (t) => {
    const file = await exported(store, "job");
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=${rank}&from=${from}&to=${to}&tab=path`);
    await panelOf(page).getByRole("heading", { name: path.answer }).waitFor();
    await settled(page);
    await eventually(async () => assert.ok(await isDrawn(page, part, "light"), "the path is not drawn"));
    assert.deepEqual(problems, []);
  });
});

const whatIfOf = (page) => page.getByRole("region", { name: "What if" });

test("a slider tells what another duration would change", async (t) => {
  const { url, store, path } = await jobOf(t);
  const rank = Number(path.by_rank[0].name);
  const { part } = longest(path, rank);
  const answerOf = async (edit) => (await ask(url, `profiles/job/whatif?edits=${encodeURIComponent(edit)}`)).answer;
  const shows = (page, text) => whatIfOf(page).getByText(text[0].toUpperCase() + text.slice(1)).or(whatIfOf(page).getByText(text)).first().waitFor();
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/job?v=2&rank=${rank}&sel=${part.row}`);
  const begin = () => page.getByRole("button", { name: "Replay the run with another duration" });
  const slider = () => whatIfOf(page).getByRole("slider");
  const choice = () => whatIfOf(page).getByRole("combobox", { name: "Work that changes" });

  await t.test("of all work of a name", async () => {
    await begin().click();
    await shows(page, await answerOf(`kernel:${part.name}=0.5`));
    await slider().fill("25");
    await shows(page, await answerOf(`kernel:${part.name}=0.25`));
    await whatIfOf(page).getByText("25 %").waitFor();
  });

  await t.test("arrow keys move the slider, not the timeline", async () => {
    await slider().focus();
    await page.keyboard.press("ArrowRight");
    await shows(page, await answerOf(`kernel:${part.name}=0.3`));
    assert.equal(viewOf(page).selected, part.row);
  });

  await t.test("of the rank, which can be as fast as the median one", async () => {
    await choice().selectOption({ label: `rank ${rank}, as on the median rank` });
    const text = await answerOf(`rank:${rank}=median`);
    await shows(page, text);
    assert.equal(await slider().count(), 0, "there is no share to choose");
  });

  await t.test("a choice stays with the next slice", async () => {
    await choice().selectOption({ label: `all work of rank ${rank}` });
    await shows(page, await answerOf(`rank:${rank}=0.3`));
    await page.locator(".timeline-rows").focus();
    await page.keyboard.press("ArrowRight");
    await eventually(() => assert.notEqual(viewOf(page).selected, part.row));
    await shows(page, await answerOf(`rank:${rank}=0.3`));
  });

  await t.test("a file says which command answers", SERVED, async (t) => {
    const file = await exported(store, "job");
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=${rank}&sel=${part.row}`);
    await page.getByRole("button", { name: "Replay the run with another duration" }).click();
    await whatIfOf(page).getByText("nprof whatif job").waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("a file with the graph answers itself", SERVED, async (t) => {
    const file = await exported(store, "job", "--what-if");
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=${rank}&sel=${part.row}`);
    await page.getByRole("button", { name: "Replay the run with another duration" }).click();
    await shows(page, await answerOf(`kernel:${part.name}=0.5`));
    await whatIfOf(page).getByRole("slider").fill("20");
    await shows(page, await answerOf(`kernel:${part.name}=0.2`));
    await whatIfOf(page).getByRole("combobox").selectOption({ label: `rank ${rank}, as on the median rank` });
    await shows(page, await answerOf(`rank:${rank}=median`));
    assert.deepEqual(problems, []);
  });
  assert.deepEqual(problems, []);
});

const waitsOf = (page) => page.getByRole("article", { name: "Waits" });
const rowsOf = (page) => waitsOf(page).getByRole("grid", { name: "Who waited for whom" }).locator("tbody tr:not(.space)");

/** Number of rows of pixels in a column that have another colour than the ground beside the tracks. */
async function inkAt(page, x, name) {
  const { at } = await picture(page);
  const row = await rowOf(page, name).first().boundingBox();
  const ground = at(x, row.y + 2);
  const isInk = (y) => at(x, y).some((value, index) => Math.abs(value - ground[index]) > 24);
  return Array.from({ length: Math.floor(row.height) - 4 }, (_, y) => row.y + 2 + y).filter(isInk).length;
}

test("waits are listed and hatched", async (t) => {
  const { url, store } = await jobOf(t);
  const waits = await ask(url, "profiles/job/waits?ranks=1&waits=100000");
  const answer = waits.table.answer[0].toUpperCase() + waits.table.answer.slice(1);
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const tracks = (await ask(url, "profiles/job/ranks/1")).tracks;
  // The longest wait between the work of an engine.
  const engine = tracks.find(({ name }) => name === "Vector");
  const gaps = waits.waits.filter(({ track, is_within, awaited }) => track === engine.id && !is_within && awaited);
  const gap = gaps.reduce((a, b) => (b.end_ps - b.start_ps > a.end_ps - a.start_ps ? b : a));
  const length = gap.end_ps - gap.start_ps;
  const window = `from=${gap.start_ps - length}&to=${gap.end_ps + length}`;

  /** Ink along the wait, without the text in its middle. */
  const hatches = async () => {
    const scale = await scaleOf(page);
    const places = Array.from({ length: 12 }, (_, step) => scale.x(gap.start_ps) + 2 + step);
    const ink = [];
    for (const x of places) ink.push(await inkAt(page, x, "Vector"));
    return ink.filter((count) => count > 0).length;
  };

  await t.test("while their tab is open", async () => {
    await page.goto(`${url}/profile/job?v=2&rank=1&${window}`);
    await settled(page);
    assert.equal(await hatches(), 0, "nothing is drawn before anybody asks");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitsOf(page).getByRole("heading", { name: answer }).waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("tab"), "waits"));
    await settled(page);
    await eventually(async () => assert.ok((await hatches()) > 4, "the wait is not hatched"));
    await page.keyboard.press("q");
    await eventually(async () => assert.equal(await hatches(), 0, "a closed panel still draws"));
  });

  await t.test("a row leads to the work that waited longest", async () => {
    await page.goto(`${url}/profile/job?v=2&rank=1&tab=waits`);
    const first = waits.table.rows[0];
    await rowsOf(page).first().getByRole("button").click();
    await eventually(() => assert.equal(viewOf(page).selected, first.row));
    await waitsOf(page).getByRole("heading", { name: answer }).waitFor();
  });

  await t.test("of all ranks together without a picture", async () => {
    await page.goto(`${url}/profile/job?v=2&rank=all&tab=waits`);
    const of = await ask(url, "profiles/job/waits?waits=0");
    await waitsOf(page).getByRole("heading", { name: of.table.answer[0].toUpperCase() + of.table.answer.slice(1) }).waitFor();
    await waitsOf(page).getByRole("columnheader", { name: "Rank" }).waitFor();
  });

  await t.test("in a file, too", SERVED, async (t) => {
    const file = await exported(store, "job");
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=1&tab=waits`);
    await waitsOf(page).getByRole("heading", { name: answer }).waitFor();
    await rowsOf(page).first().waitFor();
    assert.deepEqual(problems, []);
  });
  assert.deepEqual(problems, []);
});

// The tab of changes: those that would shorten the run most, and the run under one of them below the recorded one. All
// answers are those of the API.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

const panelOf = (page) => page.getByRole("article", { name: "What if" });
const changesOf = (page) => panelOf(page).getByRole("list", { name: "Changes, the largest saving first" }).getByRole("button");
const pictureOf = (page) => panelOf(page).getByRole("region", { name: "Recorded and predicted" });

/** A simulated job with a slow rank, and its sweep. */
async function jobOf(t) {
  const faults = ["--fault", "slow-rank=1"];
  const { url, store } = await serve(t, "demo", "--ranks", "2", "--events", "20000", ...faults, "--db-bucket", "job");
  return { url, store, sweep: (await ask(url, "profiles/job/whatif/sweep")).sweep };
}

test("changes of the run are listed, and the run under one is drawn", async (t) => {
  const { url, store, sweep } = await jobOf(t);
  const begins = (text) => new RegExp(`^${text.slice(0, 20).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "i");
  const tracks = (edits, rank) => ask(url, `profiles/job/whatif/tracks?rank=${rank}&edits=${encodeURIComponent(edits)}`);

  await t.test("by the keyboard, and the first one is shown", async (t) => {
    const { page, problems } = await openPage(t, { width: 1440, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=1`);
    await page.locator(".timeline-rows").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await panelOf(page).getByRole("heading", { name: begins(sweep[0].answer) }).waitFor();
    assert.equal(await changesOf(page).first().getAttribute("aria-pressed"), "true");
    const of = await tracks(sweep[0].edits[0], 1);
    await pictureOf(page).getByText(of.answer).waitFor();
    assert.equal(await pictureOf(page).locator(".paired-track").count(), of.tracks.length);
    const { x, width } = await pictureOf(page).boundingBox();
    assert.ok(x + width <= 1440, "the picture ends in sight");
    await changesOf(page).nth(1).click();
    await panelOf(page).getByRole("heading", { name: begins(sweep[1].answer) }).waitFor();
    assert.equal(await changesOf(page).nth(1).getAttribute("aria-pressed"), "true");
    assert.deepEqual(problems, []);
  });

  await t.test("a change of the details is drawn, too", async (t) => {
    const { part } = { part: (await ask(url, "profiles/job/critical-path?parts=100000")).parts.find(({ kind, row }) => kind === "work" && row !== null) };
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(`${url}/profile/job?v=2&rank=${part.rank}&sel=${part.row}`);
    await page.getByRole("button", { name: "Replay the run with another duration" }).click();
    const section = page.getByRole("region", { name: "What if" });
    await section.getByRole("slider").fill("25");
    await section.getByRole("button", { name: "Show the predicted run" }).click();
    const edit = `kernel:${part.name}=0.25`;
    const { answer } = await ask(url, `profiles/job/whatif?edits=${encodeURIComponent(edit)}`);
    await panelOf(page).getByRole("heading", { name: begins(answer) }).waitFor();
    await changesOf(page).filter({ hasText: "in 25 % of its time" }).and(page.locator("[aria-pressed=true]")).waitFor();
    await pictureOf(page).locator(".paired-track").first().waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("the picture follows the window and leads to it", async (t) => {
    const { page, problems } = await openPage(t, { width: 1440, height: 900 });
    const { a } = await tracks("", 0);
    const [from, to] = [a.start_ps + Math.round(a.length_ps / 4), a.start_ps + Math.round(a.length_ps / 2)];
    await page.goto(`${url}/profile/job?v=2&rank=0&from=${from}&to=${to}&tab=what-if`);
    await pictureOf(page).getByRole("button", { name: "Zoom in" }).click();
    await pictureOf(page).getByRole("button", { name: "Show in the timeline" }).click();
    await eventually(() => {
      const { from: left, to: right } = viewOf(page);
      assert.ok(left > from && right < to, page.url());
    });
    assert.deepEqual(problems, []);
  });

  await t.test("a file with the graph has both", SERVED, async (t) => {
    const file = await exported(store, "job", "--what-if");
    const { page, problems } = await openPage(t, { width: 1440, height: 900 });
    await page.goto(`${file}#/profile/job?v=2&rank=1&tab=what-if`);
    await panelOf(page).getByRole("heading", { name: begins(sweep[0].answer) }).waitFor();
    await pictureOf(page).locator(".paired-track").first().waitFor();
    assert.deepEqual(problems, []);
  });
});

// The menu of a slice: by the right button and by keys, with what a replay says about the run.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, rowOf, scaleOf, settled, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const menuOf = (page) => page.getByRole("menu", { name: "Slice" });
const entryOf = (page, name) => menuOf(page).getByRole("menuitem", { name });
const whatIfOf = (page) => page.getByRole("region", { name: "What if" });

/** A served job, with a long piece of work on the critical path of its rank. */
async function jobOf(t, ranks) {
  const { url } = await serve(t, "demo", "--ranks", String(ranks), "--events", "20000", "--db-bucket", "job");
  const { parts } = await ask(url, "profiles/job/critical-path?parts=100000");
  // Queues of transfers start closed.
  const work = parts.filter(({ kind, row, track_name }) => kind === "work" && row !== null && !track_name.includes(" · "));
  const part = work.reduce((a, b) => (b.end_ps - b.start_ps > a.end_ps - a.start_ps ? b : a));
  const length = part.end_ps - part.start_ps;
  const address = `${url}/profile/job?v=2&rank=${part.rank}&from=${part.start_ps - length}&to=${part.end_ps + length}`;
  return { url, part, address };
}

/** The middle of a slice on the page. */
async function placeOf(page, part) {
  const [scale, row] = [await scaleOf(page), await rowOf(page, part.track_name).first().boundingBox()];
  return [scale.x((part.start_ps + part.end_ps) / 2), row.y + 12];
}

test("the menu of a slice", async (t) => {
  const { url, part, address } = await jobOf(t, 4);
  const open = async (t, more = "") => {
    const { page, problems } = await openPage(t, { width: 1600, height: 900 });
    await page.goto(address + more);
    await settled(page);
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };
  const half = `all work named ${part.name} takes half of its time`;
  const shows = (page, text) => whatIfOf(page).getByText(text).or(whatIfOf(page).getByText(text[0].toUpperCase() + text.slice(1))).first().waitFor();

  await t.test("a right click selects the slice, and says what could change", async (t) => {
    const page = await open(t);
    await page.mouse.click(...(await placeOf(page, part)), { button: "right" });
    await entryOf(page, half).waitFor();
    assert.equal(viewOf(page).selected, part.row);
    const entries = await menuOf(page).getByRole("menuitem").allInnerTexts();
    for (const text of ["takes no time", "as on the median rank", `no other rank waits for rank ${part.rank}`, "Zoom to the selected slice", "Copy a link"]) {
      assert.ok(entries.some((entry) => entry.includes(text)), `${text}: ${entries.join(" | ")}`);
    }
    await entryOf(page, half).click();
    await menuOf(page).waitFor({ state: "detached" });
    await shows(page, (await ask(url, `profiles/job/whatif?edits=${encodeURIComponent(`kernel:${part.name}=0.5`)}`)).answer);
    assert.equal(await whatIfOf(page).getByRole("slider").inputValue(), "50");
  });

  await t.test("the choice replaces the one before", async (t) => {
    const page = await open(t);
    for (const [words, edit] of [[half, `kernel:${part.name}=0.5`], [/no other rank waits/, `wait:rank ${part.rank}=0`], [/takes no time/, `kernel:${part.name}=0`]]) {
      await page.mouse.click(...(await placeOf(page, part)), { button: "right" });
      await entryOf(page, words).click();
      await shows(page, (await ask(url, `profiles/job/whatif?edits=${encodeURIComponent(edit)}`)).answer);
    }
  });

  await t.test("keys open it, lead through it and close it", async (t) => {
    const page = await open(t, `&sel=${part.row}`);
    await page.getByRole("article", { name: "Details" }).getByRole("heading").first().waitFor();
    await page.mouse.click(...(await placeOf(page, part)));
    await page.keyboard.press("Shift+F10");
    await entryOf(page, half).waitFor();
    const focused = () => page.locator(":focus").innerText();
    const entries = await menuOf(page).getByRole("menuitem").allInnerTexts();
    await eventually(async () => assert.equal(await focused(), entries[0]));
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), entries[1]);
    await page.keyboard.press("End");
    assert.equal(await focused(), entries.at(-1));
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), entries[0]);
    await page.keyboard.press("Escape");
    await menuOf(page).waitFor({ state: "detached" });
    assert.equal(parametersOf(page).get("sel"), `${part.row}`, "the selection stays");
    await page.keyboard.press("Shift+F10");
    await entryOf(page, half).waitFor();
    await entryOf(page, half).focus();
    await page.keyboard.press("Enter");
    await whatIfOf(page).getByRole("slider").waitFor();
  });

  await t.test("a press outside closes it", async (t) => {
    const page = await open(t);
    await page.mouse.click(...(await placeOf(page, part)), { button: "right" });
    await menuOf(page).waitFor();
    await page.mouse.click(20, 300);
    await menuOf(page).waitFor({ state: "detached" });
  });
});

test("a run of one rank has no changes of ranks", async (t) => {
  const { part, address } = await jobOf(t, 1);
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(address);
  await settled(page);
  await page.mouse.click(...(await placeOf(page, part)), { button: "right" });
  await entryOf(page, /takes no time/).waitFor();
  assert.equal(await menuOf(page).getByRole("menuitem", { name: /rank/ }).count(), 0);
  assert.deepEqual(problems, []);
});

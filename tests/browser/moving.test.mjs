// How one moves: the wheel with its keys and its setting, drags with the middle button and the space bar, keys that are
// held, the slices around a slice, and undo and redo as the browser's back and forward.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, rowOf, scaleOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";
import { TRACE, traces } from "./trace.mjs";

/** More than the rest that ends a step of the history. */
const REST_MS = 900;

function viewWhere(page, holds) {
  return eventually(() => {
    const view = viewOf(page);
    assert.ok(holds(view), page.url());
    return view;
  });
}

const rowsOf = (page) => page.locator(".timeline-rows").last();
const scrolled = (page) => rowsOf(page).evaluate((rows) => rows.scrollTop);

/** Runs a command of the palette. */
async function run(page, words) {
  const palette = page.getByRole("dialog", { name: "Commands" });
  await eventually(async () => {
    if (!(await palette.isVisible())) await page.keyboard.press("Control+k");
    assert.ok(await palette.isVisible());
  });
  await palette.getByRole("combobox", { name: "Find a command" }).fill(words);
  await palette.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await palette.waitFor({ state: "hidden" });
}

test("moving", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const middle = Math.round((entry.start_ps + entry.end_ps) / 2);
  const window = [middle, middle + 8_000_000];
  const width = window[1] - window[0];
  const open = async (t) => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window));
    await rowOf(page, "Tensor").waitFor();
    const { box } = await scaleOf(page);
    t.after(() => assert.deepEqual(problems, []));
    const at = { x: box.x + 300, y: box.y + 60 };
    await page.mouse.move(at.x, at.y);
    return { page, at };
  };
  const isWindow = (view) => view.from === window[0] && view.to === window[1];

  await t.test("the wheel scrolls the tracks, moves in time with Shift, and zooms with Ctrl or Alt", async (t) => {
    const { page } = await open(t);
    await page.mouse.wheel(0, 40);
    await eventually(async () => assert.equal(await scrolled(page), 40));
    assert.ok(isWindow(viewOf(page)), page.url());
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 100);
    await page.keyboard.up("Shift");
    const moved = await viewWhere(page, (view) => view.from > window[0]);
    assert.ok(Math.abs(moved.to - moved.from - width) <= 2, "moving changed the width");
    await page.mouse.wheel(-100, 0);
    await viewWhere(page, (view) => Math.abs(view.from - window[0]) <= 2);
    for (const key of ["Control", "Alt", "Meta"]) {
      const before = viewOf(page);
      await page.keyboard.down(key);
      await page.mouse.wheel(0, -100);
      await page.keyboard.up(key);
      await viewWhere(page, (view) => view.to - view.from < (before.to - before.from) * 0.9);
    }
    assert.equal(await scrolled(page), 40);
  });

  await t.test("the wheel zooms over the ruler", async (t) => {
    const { page } = await open(t);
    const { x, y, width: wide, height } = await page.locator(".ruler").boundingBox();
    await page.mouse.move(x + wide / 2, y + height / 2);
    await page.mouse.wheel(0, -100);
    await viewWhere(page, (view) => view.to - view.from < width * 0.9);
  });

  await t.test("a setting lets the wheel zoom, also after a reload", async (t) => {
    const { page, at } = await open(t);
    await run(page, "let the wheel");
    await page.getByText("The wheel zooms. With Shift it scrolls the tracks.").waitFor();
    await page.reload();
    await rowOf(page, "Tensor").waitFor();
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -100);
    await viewWhere(page, (view) => view.to - view.from < width * 0.9);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 60);
    await page.keyboard.up("Shift");
    await eventually(async () => assert.equal(await scrolled(page), 60));
    await run(page, "let the wheel");
    await page.getByText("The wheel scrolls the tracks. With Ctrl it zooms.").waitFor();
  });

  for (const way of ["the middle button", "the space bar"]) {
    await t.test(`a drag with ${way} moves time and tracks`, async (t) => {
      const { page, at } = await open(t);
      const { psPerPx } = await scaleOf(page);
      await page.mouse.wheel(0, 100);
      await eventually(async () => assert.equal(await scrolled(page), 100));
      const button = way === "the middle button" ? "middle" : "left";
      if (button === "left") await page.keyboard.down("Space");
      await page.mouse.down({ button });
      await page.mouse.move(at.x + 120, at.y + 40, { steps: 4 });
      await page.mouse.up({ button });
      await page.keyboard.up("Space");
      const expected = window[0] - 120 * psPerPx;
      await viewWhere(page, (view) => Math.abs(view.from - expected) <= psPerPx);
      await eventually(async () => assert.equal(await scrolled(page), 60));
      assert.equal(viewOf(page).selected, null, "a drag selects nothing");
    });
  }

  await t.test("a held key glides until it is released, a short press is one step", async (t) => {
    const { page } = await open(t);
    await page.keyboard.press("d");
    await page.waitForTimeout(500);
    const step = viewOf(page).from - window[0];
    assert.ok(Math.abs(step - width * 0.15) <= width * 0.01, `${step / width} windows`);
    await page.waitForTimeout(REST_MS);
    // The second press without a release is a repeat of the keyboard.
    await page.keyboard.down("d");
    await page.keyboard.down("d");
    await viewWhere(page, (view) => view.from > window[0] + width * 0.8);
    await page.keyboard.up("d");
    let last = null;
    const rested = await eventually(async () => {
      const before = last;
      last = viewOf(page).from;
      await page.waitForTimeout(400);
      assert.equal(last, before, "it still glides");
      return last;
    });
    // The whole glide is one step of the history.
    await page.keyboard.press("Backspace");
    await viewWhere(page, (view) => Math.abs(view.from - window[0] - step) <= 2);
    await page.keyboard.press("Shift+Backspace");
    await viewWhere(page, (view) => view.from === rested);
  });

  await t.test("undo and redo are back and forward", async (t) => {
    const { page } = await open(t);
    await page.keyboard.press("w");
    const zoomed = await viewWhere(page, (view) => view.to - view.from < width * 0.8);
    await page.waitForTimeout(REST_MS);
    const { box } = await scaleOf(page);
    await page.mouse.move(box.x + 200, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const closer = await viewWhere(page, (view) => view.to - view.from < (zoomed.to - zoomed.from) * 0.5);
    const isZoomed = (view) => view.from === zoomed.from && view.to === zoomed.to;
    await page.keyboard.press("Backspace");
    await viewWhere(page, isZoomed);
    await page.goBack();
    await viewWhere(page, isWindow);
    // The page does not go to the place before the profile.
    await page.keyboard.press("Backspace");
    await page.waitForTimeout(300);
    assert.ok(isWindow(viewOf(page)), page.url());
    await page.keyboard.press("Shift+Backspace");
    await viewWhere(page, isZoomed);
    await page.reload();
    await rowOf(page, "Tensor").waitFor();
    await page.keyboard.press("Backspace");
    await viewWhere(page, isWindow);
    await page.keyboard.press("Shift+Backspace");
    await viewWhere(page, isZoomed);
    await page.goForward();
    await viewWhere(page, (view) => view.from === closer.from && view.to === closer.to);
  });
});

test("F fits the slice, then the slices around it", async (t) => {
  const { url } = await serve(t, "view", ...(await traces(t, TRACE)), "--db-bucket", "nested");
  const { page, problems } = await openPage(t);
  const { total, hits } = await ask(url, "profiles/nested/ranks/0/search?q=gemm");
  assert.equal(total, 1, JSON.stringify(hits));
  const { row, start_ps, duration_ps } = hits[0].slice;
  await page.goto(addressOf(url, "nested", [start_ps - duration_ps, start_ps + 2 * duration_ps], `&rank=0&sel=${row}`));
  await page.getByRole("article", { name: "Details" }).getByRole("heading", { name: "gemm" }).waitFor();
  // A quarter of the slice on both sides: gemm takes 10 µs, forward 30 µs, step and the whole trace 100 µs.
  const isOf = (us) => (view) => view.from === null || Math.abs((view.to - view.from) / 1_000_000 - us) < 0.1;
  for (const us of [15, 45, 100]) {
    await page.keyboard.press("f");
    await viewWhere(page, isOf(us));
  }
  await page.keyboard.press("f");
  await page.getByText("There is no slice around this one").waitFor({ state: "attached" });
  // From another window, the slice itself comes first.
  await page.keyboard.press("w");
  await page.keyboard.press("f");
  await viewWhere(page, isOf(15));
  assert.equal(viewOf(page).selected, row);
  assert.deepEqual(problems, []);
});

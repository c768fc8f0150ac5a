// Fingers on the timeline: real touches of the browser, not events made up by the page.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, middleOf, rowOf, scaleOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const STEPS = 5;

/** Fingers of a page. `move` takes each finger from where it is to its next place, in small steps. */
async function fingersOf(page) {
  const browser = await page.context().newCDPSession(page);
  let at = [];
  const send = (type) =>
    browser.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: at.map(({ x, y }, id) => ({ x, y, id })),
    });
  return {
    press: (...places) => ((at = places), send("touchStart")),
    move: async (...places) => {
      const from = at;
      for (let step = 1; step <= STEPS; step += 1) {
        const between = (a, b) => a + ((b - a) * step) / STEPS;
        at = places.map(({ x, y }, id) => ({ x: between(from[id].x, x), y: between(from[id].y, y) }));
        await send("touchMove");
      }
    },
    lift: () => ((at = []), send("touchEnd")),
  };
}

test("fingers", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry, tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const products = tracks.find((track) => track.name === "TensorMatrix").id;
  const question = `events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${products}&limit=200`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/0/${question}`);
  const matmul = slices.filter((slice) => slice.name === "MATMUL" && slice.duration_ps > 100_000)[20];
  const window = [matmul.start_ps - 1_000_000, matmul.start_ps + 2_000_000];

  const open = async (t) => {
    // So low that the rows scroll, also without those that have nothing in the window.
    const { page, problems } = await openPage(t, { hasTouch: true, height: 600 });
    await page.goto(addressOf(url, slug, window));
    await rowOf(page, "Tensor").waitFor();
    t.after(() => assert.deepEqual(problems, []));
    return { page, fingers: await fingersOf(page), scale: await scaleOf(page) };
  };
  const scrolled = (page) => page.locator(".timeline-rows").evaluate((rows) => rows.scrollTop);
  const settled = (page, check) =>
    eventually(() => {
      const view = viewOf(page);
      check(view);
      return view;
    });

  await t.test("two fingers zoom about their middle, and move with it", async (t) => {
    const { page, fingers, scale } = await open(t);
    const y = scale.box.y + 60;
    const [left, right] = [scale.box.x + 300, scale.box.x + 500];
    await fingers.press({ x: left, y }, { x: right, y });
    await fingers.move({ x: left - 100, y }, { x: right + 100, y });
    const width = scale.to - scale.from;
    const middle = scale.time((left + right) / 2);
    const zoomed = await settled(page, (view) =>
      assert.ok(Math.abs(view.to - view.from - width / 2) <= 2 * scale.psPerPx, page.url()),
    );
    const after = await scaleOf(page);
    assert.ok(Math.abs(after.time((left + right) / 2) - middle) <= 2 * scale.psPerPx, "the middle moved");
    // The same two fingers, both to the right: the zoom stays, the moment goes with them.
    await fingers.move({ x: left - 50, y }, { x: right + 150, y });
    await settled(page, (view) => {
      assert.ok(Math.abs(view.from - (zoomed.from - 50 * after.psPerPx)) <= 2 * scale.psPerPx, page.url());
      assert.ok(Math.abs(view.to - view.from - width / 2) <= 2 * scale.psPerPx, page.url());
    });
    await fingers.lift();
    assert.equal(viewOf(page).selected, null, "a pinch selects nothing");
  });

  await t.test("one finger moves in time and scrolls the rows", async (t) => {
    const { page, fingers, scale } = await open(t);
    const [x, y] = [scale.box.x + 500, scale.box.y + 200];
    await fingers.press({ x, y });
    await fingers.move({ x: x - 150, y: y - 40 });
    await settled(page, (view) =>
      assert.ok(Math.abs(view.from - (scale.from + 150 * scale.psPerPx)) <= 2 * scale.psPerPx, page.url()),
    );
    assert.ok(Math.abs((await scrolled(page)) - 40) <= 1, `scrolled by ${await scrolled(page)}`);
    await fingers.move({ x: x - 150, y: y + 400 });
    assert.equal(await scrolled(page), 0);
    await fingers.lift();
    assert.equal(viewOf(page).selected, null, "a drag selects nothing");
  });

  await t.test("a tap selects", async (t) => {
    const { page, fingers } = await open(t);
    await eventually(async () => {
      // Details that open move the slice.
      await fingers.press(await middleOf(page, "TensorMatrix", matmul));
      await fingers.lift();
      await page.getByRole("article", { name: "Details" }).getByRole("heading", { name: "MATMUL" }).waitFor({ timeout: 1_000 });
      assert.equal(viewOf(page).selected, matmul.row);
    });
  });
});

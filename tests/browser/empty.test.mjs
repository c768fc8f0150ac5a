// Rows without anything in the window are low, once the window rests; nothing moves before.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, isBar, picture, rowOf, scaleOf, viewOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";
import { chooseFile } from "./trace.mjs";

/** Sizes of frontend/src/view/rows/layout/mod.rs. */
const [USUAL_PX, EMPTY_PX, REST_MS] = [24, 6, 300];
const THREADS = 40;

/** Thread `n` works in the first half of the trace if `n` is even, else in the second. Each has a slice for each step. */
function trace() {
  const traceEvents = [];
  for (let tid = 1; tid <= THREADS; tid += 1) {
    traceEvents.push({ ph: "M", pid: 7, tid, name: "thread_name", args: { name: `thread ${tid}` } });
    for (let step = 0; step < 50; step += 1) {
      const ts = 1000 + (tid % 2) * 10_000 + step * 200;
      traceEvents.push({ ph: "X", pid: 7, tid, ts, dur: 150, name: "work" });
    }
  }
  return { traceEvents };
}

test("rows without anything in the window are low", SERVED, async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t, { width: 1280, height: 500 });
  await page.goto(url);
  await chooseFile(page, "halves.json", JSON.stringify(trace()));
  const [{ slug }] = await eventually(async () => {
    const { profiles } = await ask(url, "profiles");
    assert.equal(profiles.length, 1);
    return profiles;
  });
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { start_ps: start } = entry;
  const us = 1_000_000;
  const heights = async () =>
    Promise.all(["thread 2", "thread 4", "thread 1", "thread 3"].map(async (name) => (await rowOf(page, name).boundingBox()).height));
  const become = (expected) => eventually(async () => assert.deepEqual(await heights(), expected));

  await t.test("half of them in the first half", async () => {
    await page.goto(addressOf(url, slug, [start, start + 5_000 * us]));
    await become([USUAL_PX, USUAL_PX, EMPTY_PX, EMPTY_PX]);
    // Slices are drawn where their rows are now.
    const box = await rowOf(page, "thread 4").boundingBox();
    const scale = await scaleOf(page);
    await eventually(async () => assert.ok(isBar((await picture(page)).at(scale.x(start + 75 * us), box.y + 5))));
    // A low row tells its name to whoever points at it.
    const low = rowOf(page, "thread 1").locator(".track-label");
    assert.equal(await low.evaluate((label) => getComputedStyle(label).opacity), "0");
    await rowOf(page, "thread 1").hover({ position: { x: 40, y: 3 } });
    await eventually(async () => assert.equal(await low.evaluate((label) => getComputedStyle(label).opacity), "1"));
  });

  await t.test("no row moves while the window does", async () => {
    const tops = () =>
      page.locator(".timeline-rows .track").evaluateAll((rows) => rows.map((row) => `${row.style.top} ${row.style.height}`));
    const before = await tops();
    for (let step = 0; step < 6; step += 1) {
      await page.keyboard.press("d");
      assert.deepEqual(await tops(), before, `step ${step}`);
      await new Promise((resolve) => setTimeout(resolve, REST_MS / 6));
    }
    await eventually(() => assert.ok(viewOf(page).from > start + 4_000 * us));
  });

  await t.test("nor under a pressed button", async () => {
    await page.goto(addressOf(url, slug, [start, start + 5_000 * us]));
    await become([USUAL_PX, USUAL_PX, EMPTY_PX, EMPTY_PX]);
    const box = await page.locator(".timeline-above").boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + 900, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + 100, { steps: 5 });
    await new Promise((resolve) => setTimeout(resolve, 3 * REST_MS));
    assert.deepEqual(await heights(), [USUAL_PX, USUAL_PX, EMPTY_PX, EMPTY_PX]);
    await page.mouse.up();
    await page.keyboard.up("Shift");
  });

  await t.test("the others in the second half", async () => {
    await page.goto(addressOf(url, slug, [start + 11_000 * us, start + 15_000 * us]));
    await become([EMPTY_PX, EMPTY_PX, USUAL_PX, USUAL_PX]);
  });

  await t.test("none where all have something", async () => {
    await page.keyboard.press("0");
    await become([USUAL_PX, USUAL_PX, USUAL_PX, USUAL_PX]);
  });

  await t.test("the first row in sight stays there", async () => {
    const rows = page.locator(".timeline-rows");
    await page.setViewportSize({ width: 1280, height: 320 });
    await rows.evaluate((element) => element.scrollTo(0, 98));
    const top = async () => {
      const edge = (await rows.boundingBox()).y;
      const all = await page.locator(".timeline-rows .track").all();
      for (const row of all) {
        const box = await row.boundingBox();
        if (box && box.y + box.height > edge + 1) return (await row.locator(".track-name").innerText()).trim();
      }
      return null;
    };
    const first = await top();
    assert.ok(first, "no row is in sight");
    const parameters = await eventually(() => {
      const row = new URL(page.url()).searchParams.get("row");
      assert.ok(row, page.url());
      return row;
    });
    await page.goto(`${addressOf(url, slug, [start, start + 5_000 * us])}&row=${encodeURIComponent(parameters)}`);
    await eventually(async () => assert.equal((await rowOf(page, "thread 1").or(rowOf(page, "thread 9")).first().boundingBox())?.height, EMPTY_PX));
    await eventually(async () => assert.equal(await top(), first));
  });
  assert.deepEqual(problems, []);
});

// The timeline without WebGL2: drawn on a 2-D canvas, pixel by pixel as with it. Where there is no
// canvas either, the page says so for as long as it is open.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, checkLane, difference, eventually, laneTop, isBar, picture, rowOf, tracksOf } from "./picture.mjs";
import { isQuiet, openPage, serve } from "./stage.mjs";

const NO_GRAPHICS = { flags: ["--disable-3d-apis"] };

/** What the rows look like once they no longer change. */
async function settled(page) {
  let before = null;
  return eventually(async () => {
    const { png } = await picture(page, await tracksOf(page).boundingBox());
    const last = before;
    before = png;
    assert.ok(isQuiet(page) && last && difference(last, png) === 0, "the picture still changes");
    return png;
  });
}

test("without WebGL2", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const products = tracks.find((track) => track.name === "TensorMatrix");
  const slicesIn = async ([from, to], limit) => {
    const question = `events?start_ps=${from}&end_ps=${to}&tracks=${products.id}&limit=${limit}`;
    return (await ask(url, `profiles/${slug}/ranks/0/${question}`)).slices;
  };
  const all = await slicesIn([entry.start_ps, entry.end_ps], 400);
  const matmul = all.filter((slice) => slice.name === "MATMUL" && slice.duration_ps > 100_000)[20];
  const window = [matmul.start_ps - 1_000_000, matmul.start_ps + 2_000_000];
  const slices = await slicesIn(window, 10_000);

  await t.test("every slice is drawn where it is", async (t) => {
    const { page, problems } = await openPage(t, NO_GRAPHICS);
    await page.goto(addressOf(url, slug, window));
    assert.equal(await page.evaluate(() => document.createElement("canvas").getContext("webgl2")), null);
    await rowOf(page, "TensorMatrix").waitFor();
    await settled(page);
    const seen = { bar: 0, ground: 0 };
    const { at } = await picture(page);
    for (let lane = 0; lane < products.lanes; lane += 1) {
      const { bar, ground } = await checkLane(page, at, "TensorMatrix", lane, slices);
      seen.bar += bar;
      seen.ground += ground;
    }
    // The products of the simulated device follow each other closely.
    assert.ok(seen.bar > 100 && seen.ground > 20, JSON.stringify(seen));
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.deepEqual(problems, []);
  });

  await t.test("the picture is the same as with it", async (t) => {
    for (const address of [`${url}/profile/${slug}?v=2`, addressOf(url, slug, window)]) {
      const shots = [];
      for (const options of [{}, NO_GRAPHICS]) {
        const { page } = await openPage(t, options);
        await page.goto(address);
        await rowOf(page, "TensorMatrix").waitFor();
        shots.push(await settled(page));
      }
      const [one, other] = shots;
      const share = difference(one, other, 24) / (one.width * one.height);
      assert.ok(share < 0.002, `${(share * 100).toFixed(2)} % of the pixels differ at ${address}`);
    }
  });

  await t.test("a lost graphics card leaves the picture, and its return too", async (t) => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window));
    await rowOf(page, "TensorMatrix").waitFor();
    const before = await settled(page);
    await page.evaluate(() => {
      const card = document.querySelector(".timeline-sight canvas").getContext("webgl2");
      window.lost = card.getExtension("WEBGL_lose_context");
      window.lost.loseContext();
    });
    const y = (await laneTop(page, "TensorMatrix")) + 2;
    const box = await tracksOf(page).boundingBox();
    const isDrawn = async () => {
      const { at } = await picture(page);
      const bars = Array.from({ length: Math.floor(box.width) - 2 }, (_, x) => isBar(at(box.x + 1 + x, y)));
      assert.ok(bars.some(Boolean), "no bars are drawn");
    };
    await eventually(isDrawn);
    assert.ok(difference(before, await settled(page), 24) < 2_000);
    await page.evaluate(() => window.lost.restoreContext());
    await eventually(isDrawn);
    assert.ok(difference(before, await settled(page), 24) < 2_000);
    assert.deepEqual(problems, []);
  });

  await t.test("where nothing can be drawn on, the page says what is missing, and goes on saying it", async (t) => {
    const { page } = await openPage(t);
    await page.addInitScript(() => {
      const original = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        const isOverlay = this.matches(".ruler, .minimap canvas, .timeline-above");
        return kind === "2d" && isOverlay ? original.call(this, kind, ...more) : null;
      };
    });
    await page.goto(`${url}/profile/${slug}?v=2`);
    const alert = page.getByRole("alert");
    await alert.getByText("WebGL2").waitFor();
    await page.mouse.move(700, 300);
    await page.keyboard.press("w");
    await page.waitForTimeout(1_500);
    assert.equal(await alert.getByText("WebGL2").count(), 1);
    // Ruler and minimap need no more than a 2-D canvas.
    for (const selector of [".ruler", ".minimap canvas"]) {
      const inked = await page.locator(selector).evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.some((part) => part > 0);
      });
      assert.ok(inked, `${selector} is empty`);
    }
  });
});

// How the page tells time: from the profile's first event, with the digits that the window needs;
// and how it tells counters.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { addressOf, ask, eventually, laneTop, middleOf, rowOf, scaleOf, settledAddress, tracksOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const US = 1_000_000;
const MS = 1_000 * US;
/** Wall clock of the first event, in microseconds since 1970. */
const FIRST_US = 1_712_170_000_000_000;
const LATER_US = 150_000;

/** A rank of a job whose two ranks start 150 ms apart. */
function traceOf(rank) {
  const start = FIRST_US + rank * LATER_US;
  const slice = (ts, dur, name) => ({ ph: "X", pid: 7, tid: 1, ts, dur, name, cat: "kernel" });
  const counter = (ts, value) => ({ ph: "C", pid: 7, ts, name: "memory", args: { bytes: value } });
  return JSON.stringify({
    distributedInfo: { rank, world_size: 2 },
    traceEvents: [
      { ph: "M", pid: 7, tid: 1, name: "thread_name", args: { name: "stream" } },
      slice(start, 1_000, "forward"),
      slice(start + 200_000, 0.25, "tiny"),
      slice(start + 200_000.5, 0.25, "next"),
      counter(start, 100),
      counter(start + 100_000, 300),
      slice(start + 399_000, 1_000, "backward"),
    ],
  });
}

test("times and counters", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nprof-ranks-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const rank of [0, 1]) await writeFile(join(folder, `rank-${rank}.json`), traceOf(rank));
  const { url } = await serve(t, "view", "-d", folder);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const profile = await ask(url, `profiles/${slug}`);
  const zero = profile.start_ps;
  const all = [profile.start_ps, profile.end_ps];

  const slicesOf = async (rank) => {
    const question = `events?start_ps=${all[0]}&end_ps=${all[1]}&limit=100`;
    const { slices } = await ask(url, `profiles/${slug}/ranks/${rank}/${question}`);
    return Object.fromEntries(slices.map((slice) => [slice.name, slice]));
  };
  const open = async (t, address, options) => {
    const { page, problems } = await openPage(t, options);
    await page.goto(address);
    await rowOf(page, "stream 1").first().waitFor();
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };
  const details = (page) => page.getByRole("article", { name: "Details" });
  const line = async (page, name) => {
    const row = details(page).locator("dl > div").filter({ has: page.getByText(name, { exact: true }) }).first();
    return (await row.locator("dd").innerText()).replace(/\s+/g, " ").trim();
  };

  await t.test("zero is the first event of all ranks, also on the one that starts later", async (t) => {
    const { forward } = await slicesOf(1);
    const page = await open(t, `${url}/profile/${slug}?rank=1&sel=${forward.row}`);
    await eventually(async () => assert.match(await line(page, "Start"), /^150 ms 150,000,000 ns$/));
    const title = await page.locator(".timeline-base").getAttribute("title");
    assert.match(title, /2024-04-03 18:46:40\.000000 UTC/);
  });

  await t.test("another rank is shown at the same time on the same scale", async (t) => {
    const page = await open(t, `${url}/profile/${slug}?rank=0`);
    await page.keyboard.press("]");
    await eventually(() => assert.equal(viewOf(page).rank, 1));
    const { forward } = await slicesOf(1);
    // The whole profile, with its margins of one per cent: rank 1 does not begin at the left edge.
    const box = await tracksOf(page).boundingBox();
    const margin = (all[1] - all[0]) * 0.01;
    const share = (forward.start_ps + forward.duration_ps / 2 - (all[0] - margin)) / (all[1] - all[0] + 2 * margin);
    await eventually(async () => {
      // The rows of the rank before stand until those of the next one are here.
      const y = (await laneTop(page, "stream 1")) + 8;
      await page.mouse.move(box.x + share * box.width + 1, y + Math.random());
      await page.getByRole("tooltip").getByText("forward", { exact: true }).waitFor({ timeout: 500 });
    });
  });

  await t.test("tooltips and details have the digits of the window, in the ruler's form", async (t) => {
    const { tiny, next } = await slicesOf(0);
    const window = [tiny.start_ps - US / 2, tiny.start_ps + 2 * US];
    const page = await open(t, addressOf(url, slug, window));
    const starts = [];
    for (const slice of [tiny, next]) {
      const { x, y } = await middleOf(page, "stream 1", slice);
      await eventually(async () => {
        await page.mouse.move(x, y + Math.random());
        await page.getByRole("tooltip").getByText(slice.name, { exact: true }).waitFor({ timeout: 500 });
      });
      const rows = await page.getByRole("tooltip").locator("dl").innerText();
      starts.push(rows.match(/Start\s+(.+)/)[1]);
    }
    assert.notEqual(starts[0], starts[1]);
    const base = await page.locator(".timeline-base").innerText();
    assert.ok(starts.every((start) => start.startsWith(base)), `${starts} do not begin with ${base}`);
    // The base lies a microsecond before the first of them.
    assert.equal(starts[1].split(" + ")[1], "1.5 µs");
    const { x, y } = await middleOf(page, "stream 1", next);
    await page.mouse.click(x, y);
    await eventually(async () => assert.ok((await line(page, "Start")).startsWith(starts[1])));
    // All at once, the same moment has fewer digits.
    await page.keyboard.press("0");
    await eventually(async () => assert.match(await line(page, "Start"), /^200 ms /));
  });

  await t.test("a counter is named once, and a click tells value, change and the window's values", async (t) => {
    const page = await open(t, addressOf(url, slug, [zero, zero + 200 * MS]));
    const counter = (await ask(url, `profiles/${slug}/ranks/0`)).tracks.find(({ kind }) => kind === "counter");
    const row = await rowOf(page, counter.name).boundingBox();
    const scale = await scaleOf(page);
    const [x, y] = [scale.x(zero + 150 * MS), row.y + row.height / 2];
    await eventually(async () => {
      await page.mouse.move(x, y + Math.random());
      await page.getByRole("tooltip").getByText("Value").waitFor({ timeout: 500 });
    });
    const tip = await page.getByRole("tooltip").innerText();
    assert.equal(tip.split(counter.name).length, 2, tip);
    await page.mouse.click(x, y);
    await details(page).getByRole("heading", { name: counter.name }).waitFor();
    assert.match(await line(page, "Value"), /^300/);
    assert.match(await line(page, "Change"), /^\+200/);
    // 200 more within 100 ms.
    assert.match(await line(page, "Change per second"), /^\+2,?000|^\+2 k/);
    assert.equal(await line(page, "Since"), "100 ms");
    assert.match(await line(page, "Smallest"), /^100/);
    assert.match(await line(page, "Largest"), /^300/);
    assert.match(await line(page, "Mean"), /^200/);
    const address = await settledAddress(page);
    assert.match(address, /counter=/);
    await page.goto(address);
    await details(page).getByRole("heading", { name: counter.name }).waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => assert.ok(!page.url().includes("reading"), page.url()));
  });

  await t.test("a pointer that moves over the tracks repaints nothing below it", async (t) => {
    const { page } = await openPage(t);
    await page.addInitScript(() => {
      window.painted = { rectangles: 0, ruler: 0, above: 0 };
      const count = (prototype, name, key) => {
        const original = prototype[name];
        prototype[name] = function (...of) {
          window.painted[key(this.canvas)] += 1;
          return original.apply(this, of);
        };
      };
      count(WebGL2RenderingContext.prototype, "drawArraysInstanced", () => "rectangles");
      count(WebGL2RenderingContext.prototype, "clear", () => "rectangles");
      const kind = (canvas) => (canvas.matches(".ruler") ? "ruler" : "above");
      count(CanvasRenderingContext2D.prototype, "clearRect", kind);
    });
    await page.goto(addressOf(url, slug, [zero, zero + 3 * MS]));
    await rowOf(page, "stream 1").first().waitFor();
    const painted = () => page.evaluate(() => ({ ...window.painted }));
    const before = await eventually(async () => {
      const one = await painted();
      await page.waitForTimeout(300);
      const other = await painted();
      assert.ok(other.rectangles > 0);
      assert.deepEqual(one, other, "the page still paints");
      return other;
    });
    const box = await tracksOf(page).boundingBox();
    await page.mouse.move(box.x + 100, box.y + 20);
    for (let step = 1; step <= 30; step += 1) await page.mouse.move(box.x + 100 + step * 20, box.y + 20 + step);
    await page.waitForTimeout(200);
    const after = await painted();
    assert.ok(after.above >= before.above + 5, JSON.stringify([before, after]));
    assert.deepEqual([after.rectangles, after.ruler], [before.rectangles, before.ruler]);
    await page.keyboard.press("d");
    await eventually(async () => {
      const moved = await painted();
      assert.ok(moved.rectangles > after.rectangles && moved.ruler > after.ruler, JSON.stringify(moved));
    });
  });
});

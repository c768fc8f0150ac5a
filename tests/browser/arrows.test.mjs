// Arrows of the selected slice, as they reach the screen: solid between slices in sight and to closed groups, dashed
// with a tag to slices out of sight.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { addressOf, ask, eventually, rowOf, scaleOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const US = 1_000_000;
/** The accent colour of the light theme. */
const ACCENT = [52, 81, 198];

const event = (ph, pid, ts, more) => ({ ph, pid, tid: 1, ts, ...more });
const TRACE = {
  traceEvents: [
    event("M", 7, 0, { name: "process_name", args: { name: "trainer" } }),
    event("M", 8, 0, { name: "process_name", args: { name: "loader" } }),
    event("M", 7, 0, { name: "thread_name", args: { name: "main" } }),
    event("M", 8, 0, { name: "thread_name", args: { name: "reader" } }),
    event("X", 7, 100, { dur: 10, name: "forward" }),
    event("X", 7, 150, { dur: 40, name: "backward" }),
    event("X", 8, 120, { dur: 10, name: "read" }),
    event("X", 8, 190, { dur: 10, name: "read" }),
    event("s", 8, 125, { id: 1, cat: "data", name: "batch" }),
    event("f", 7, 155, { id: 1, cat: "data", name: "batch", bp: "e" }),
  ],
};

/** How many accent pixels the canvas above the tracks has in each column of a rectangle. */
function inked(page, [left, top, width, height]) {
  return page.locator(".timeline-above").evaluate(
    (canvas, { part: [left, top, width, height], accent }) => {
      const box = canvas.getBoundingClientRect();
      const at = [left - box.x, top - box.y, width, height].map(Math.round);
      const { data } = canvas.getContext("2d").getImageData(...at);
      const columns = new Array(at[2]).fill(0);
      for (let pixel = 0; pixel < data.length / 4; pixel += 1) {
        const [red, green, blue, alpha] = data.subarray(pixel * 4, pixel * 4 + 4);
        const isNear = [red, green, blue].every((part, of) => Math.abs(part - accent[of]) < 24);
        if (alpha > 90 && isNear) columns[pixel % at[2]] += 1;
      }
      return columns;
    },
    { part: [left, top, width, height], accent: ACCENT },
  );
}

test("arrows reach the screen", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nprof-arrows-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "flow.json");
  await writeFile(file, JSON.stringify(TRACE));
  const { url } = await serve(t, "view", file);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { row, start_ps } = (await ask(url, `profiles/${slug}/ranks/0/search?q=backward`)).hits[0].slice;
  // `backward` starts 150 µs on the trace's clock.
  const time = (us) => start_ps + (us - 150) * US;
  const open = async (t, window, more = "") => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window, `&sel=${row}${more}`));
    await rowOf(page, "main 1").waitFor();
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };
  /** The columns with ink between two times, over the height of the tracks. */
  const between = async (page, [from, to]) => {
    const scale = await scaleOf(page);
    const [left, right] = [Math.ceil(scale.x(from)), Math.floor(scale.x(to))];
    const { y, height } = scale.box;
    return inked(page, [left, y, right - left, height]);
  };

  await t.test("solid between slices in sight", async (t) => {
    const page = await open(t, [entry.start_ps, entry.end_ps]);
    await eventually(async () => {
      const columns = await between(page, [time(131), time(149)]);
      assert.ok(columns.length > 100 && columns.every((count) => count > 0), `${columns}`);
      // Nothing after the arrow's tip.
      assert.ok((await between(page, [time(152), time(200)])).every((count) => count === 0));
    });
  });

  await t.test("solid to a closed group, at its heading", async (t) => {
    const group = tracks.find(({ kind, name }) => kind === "group" && name.startsWith("loader"));
    const page = await open(t, [entry.start_ps, entry.end_ps], `&groups=${group.id}`);
    const heading = page.getByRole("button", { name: group.name, exact: true });
    await eventually(async () => {
      assert.equal(await heading.getAttribute("aria-expanded"), "false");
      const columns = await between(page, [time(131), time(149)]);
      assert.ok(columns.every((count) => count > 0), `${columns}`);
      const { y, height } = await page.getByRole("listitem").filter({ has: heading }).boundingBox();
      const scale = await scaleOf(page);
      const atStart = await inked(page, [scale.x(time(130)) + 1, y, 6, height]);
      assert.ok(atStart.every((count) => count > 0), `${atStart}`);
    });
  });

  await t.test("dashed with a tag to a slice out of sight", async (t) => {
    const page = await open(t, [time(140), time(200)]);
    await eventually(async () => {
      const columns = await between(page, [time(144), time(149)]);
      const [inkless, all] = [columns.filter((count) => count === 0).length, columns.length];
      assert.ok(inkless > all * 0.1 && inkless < all * 0.8, `${inkless} of ${all}: ${columns}`);
      // The tag: a filled rectangle at the edge.
      const tag = (await between(page, [time(140), time(144)])).filter((count) => count >= 12).length;
      assert.ok(tag > 25, `${tag} columns of a tag`);
    });
  });
});

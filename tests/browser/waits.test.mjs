// Waits cannot be taken for work, whatever their colours: work fills the height of its lane, a wait is a thin hatched
// band at half height. Both ways of drawing do so.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { addressOf, ask, eventually, laneTop, picture, rowOf, scaleOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const US = 1_000_000;
const BAR_PX = 16;

const slice = (ts, dur, name) => ({ ph: "X", pid: 1, tid: 1, ts, dur, name });
/** From 200 µs on, a wait takes half of each step, and there are several steps a pixel. */
const NARROW = Array.from({ length: 2_000 }, (_, at) => slice(200 + at * 0.05, 0.025, "wait"));
const TRACE = {
  traceEvents: [
    { ph: "M", pid: 1, tid: 1, name: "thread_name", args: { name: "main" } },
    slice(0, 100, "cudaStreamSynchronize"),
    slice(100, 90, "gemm"),
    ...NARROW,
  ],
};

test("waits are not drawn as work", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nprof-waits-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "waits.json");
  await writeFile(file, JSON.stringify(TRACE));
  const { url } = await serve(t, "view", file);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);

  for (const [painter, flags] of [["WebGL2", []], ["a 2-D canvas", ["--disable-3d-apis"]]]) {
    for (const colorScheme of ["light", "dark"]) {
      await t.test(`by ${painter}, ${colorScheme}`, async (t) => {
        const { page, problems } = await openPage(t, { flags, colorScheme });
        await page.goto(addressOf(url, slug, [entry.start_ps, entry.end_ps]));
        await rowOf(page, "main 1").waitFor();
        await eventually(async () => {
          const [{ at }, scale, top] = [await picture(page), await scaleOf(page), await laneTop(page, "main 1")];
          const ground = at(scale.x(entry.start_ps + 195 * US), top + BAR_PX / 2);
          const isInked = (x, y) => at(x, y).some((part, of) => Math.abs(part - ground[of]) > 24);
          /** The share of inked pixels in each row of the lane between two times. */
          const rows = ([from, to]) => {
            const [left, right] = [from, to].map((us) => Math.round(scale.x(entry.start_ps + us * US)));
            return Array.from({ length: BAR_PX }, (_, row) => {
              const line = Array.from({ length: right - left }, (_, x) => isInked(left + x, Math.round(top) + row));
              return line.filter(Boolean).length / line.length;
            });
          };
          // Beside the names of the slices.
          const [wait, work, narrow] = [rows([60, 95]), rows([140, 185]), rows([220, 280])];
          assert.ok(work.every((share) => share > 0.97), `work: ${work}`);
          const band = wait.slice(5, 11);
          assert.ok(band.every((share) => share > 0.4 && share < 0.6), `hatched: ${wait}`);
          const beside = [...wait.slice(0, 5), ...wait.slice(11)];
          assert.ok(beside.every((share) => share < 0.05), `half height: ${wait}`);
          // Narrow waits are a band at the same height, as high as their share of the time.
          const high = narrow.filter((share) => share > 0.3).length;
          assert.ok(high >= 2 && high <= 4, `narrow: ${narrow}`);
          const outside = [...narrow.slice(0, 5), ...narrow.slice(11)];
          assert.ok(outside.every((share) => share < 0.05), `narrow: ${narrow}`);
        });
        assert.deepEqual(problems, []);
      });
    }
  }
});

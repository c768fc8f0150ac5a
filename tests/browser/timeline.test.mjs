// The timeline is drawn where it should be: the pixels of whole lanes are compared with what the API tells of them.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { addressOf, ask, checkLane, contrast, eventually, isBar, laneTop, picture, rowOf, scaleOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";
import { chooseFile, TRACE } from "./trace.mjs";

const ENGINES = ["Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"];
const ROOT = join(import.meta.dirname, "../..");
const REAL_TRACE = join(ROOT, "../shared/data/kineto/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz");

/** The slices of a window, by the names of their tracks. */
async function slicesOf(url, slug, rank, [from, to]) {
  const { tracks } = await ask(url, `profiles/${slug}/ranks/${rank}`);
  const { slices, truncated } = await ask(
    url,
    `profiles/${slug}/ranks/${rank}/events?start_ps=${from}&end_ps=${to}&limit=100000`,
  );
  assert.equal(truncated, false);
  return (name) => {
    const track = tracks.find((candidate) => candidate.name === name);
    assert.ok(track, `no track ${name}`);
    return { track, slices: slices.filter((slice) => slice.track === track.id) };
  };
}

test("the demo", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const middle = Math.round((entry.start_ps + entry.end_ps) / 2);

  await t.test("opens whole: every track has a name, every engine is drawn", async (t) => {
    const { page, problems } = await openPage(t);
    await page.goto(`${url}/profile/${slug}?v=2`);
    const tracks = page.getByRole("list", { name: "Tracks" });
    await tracks.waitFor();
    const tree = await tracks.ariaSnapshot();
    for (const name of ENGINES) assert.match(tree, new RegExp(`${name}: [\\d,]+ slices`));
    for (const group of ["Engines", "DMA"]) {
      assert.equal(await tracks.getByRole("button", { name: group, exact: true }).getAttribute("aria-expanded"), "true");
    }
    const box = await page.locator(".timeline-above").boundingBox();
    await eventually(async () => {
      const { at } = await picture(page);
      for (const name of ENGINES) {
        const y = (await laneTop(page, name)) + 14;
        const columns = Array.from({ length: Math.floor(box.width) - 2 }, (_, column) => box.x + 1 + column);
        const share = columns.filter((x) => isBar(at(x, y))).length / columns.length;
        assert.ok(share > 0.05 && share < 0.95, `${name} covers ${share} of its row`);
      }
    });
    assert.deepEqual(problems, []);
  });

  await t.test("a window is told in words once it rests", async (t) => {
    const { page } = await openPage(t);
    await page.goto(addressOf(url, slug, [entry.start_ps + 200_000_000, entry.start_ps + 600_000_000]));
    await rowOf(page, "Tensor").waitFor();
    const spoken = page.locator(".timeline > p[aria-live]:not([role])");
    assert.equal(await spoken.textContent(), "", "what a link shows is told as the page, not as a change");
    await page.keyboard.press("w");
    await page.keyboard.press("w");
    // The window became 9/16 of itself, around its middle.
    await spoken.filter({ hasText: /^288 to 513 µs, 225 µs$/ }).waitFor({ state: "attached" });
    await page.keyboard.press("a");
    await spoken.filter({ hasText: /^254 to 479 µs, 225 µs$/ }).waitFor({ state: "attached" });
    // A step is told as its slice.
    const before = await spoken.textContent();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.locator('.timeline > [role="status"].unseen').filter({ hasText: /^Selected/ }).waitFor({ state: "attached" });
    await new Promise((resolve) => setTimeout(resolve, 800));
    assert.equal(await spoken.textContent(), before);
  });

  await t.test("overview, ruler and tracks end where the scrollbar begins", async (t) => {
    const { page } = await openPage(t);
    await page.goto(`${url}/profile/${slug}?v=2`);
    const rows = page.getByRole("list", { name: "Tracks" });
    await rows.waitFor();
    const scroller = page.locator(".timeline-rows");
    const room = await scroller.evaluate((element) => element.offsetWidth - element.clientWidth);
    assert.ok(room > 0, "scrollbars take room in this browser");
    const right = async (part) => {
      const { x, width } = await page.locator(part).first().boundingBox();
      return Math.round(x + width);
    };
    const ends = await Promise.all([".minimap", ".ruler", ".timeline-above"].map(right));
    assert.deepEqual(ends, Array(3).fill((await right(".timeline-rows")) - room));
    // The widest window fills the overview: both have the same span.
    await page.keyboard.press("0");
    await eventually(async () => {
      const [overview, frame] = await Promise.all([".minimap", ".minimap-window"].map((part) => page.locator(part).boundingBox()));
      assert.ok(Math.abs(frame.x - overview.x) < 2 && Math.abs(frame.width - overview.width) < 2, `${frame.width} of ${overview.width}`);
    });
  });

  await t.test("a closed group shows where it is busy, and its tracks once it is open", async (t) => {
    const { page, problems } = await openPage(t);
    await page.goto(`${url}/profile/${slug}?v=2`);
    const group = page.getByRole("button", { name: /^qSyncIn0/ });
    await group.waitFor();
    assert.equal(await group.getAttribute("aria-expanded"), "false");
    const { tracks } = await ask(url, `profiles/${slug}/ranks/0`);
    const id = tracks.find(({ name }) => name.startsWith("qSyncIn0")).id;
    const below = tracks.filter(({ parent }) => parent === id).map((track) => track.id);
    // A moment in which its queue does something, and one in which it does nothing for a while.
    const asked = `events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${below.join(",")}&limit=100000`;
    const all = (await ask(url, `profiles/${slug}/ranks/0/${asked}`)).slices;
    const slices = all.filter((slice) => slice.duration_ps > 100_000).sort((a, b) => a.start_ps - b.start_ps);
    const room = 2_000_000;
    const gap = slices.findIndex((slice, at) => at > 0 && slice.start_ps - slices[at - 1].start_ps > 4 * room);
    assert.ok(gap > 0, "the queue is never idle");
    const start = slices[gap].start_ps;
    await page.goto(addressOf(url, slug, [start - room, start + room]));
    await eventually(async () => {
      const { at } = await picture(page);
      const [scale, row] = [await scaleOf(page), await page.getByRole("listitem").filter({ has: group }).boundingBox()];
      const y = row.y + row.height / 2;
      const [busy, idle] = [start + room / 4, start - room / 2].map((time) => at(scale.x(time), y));
      assert.ok(!isBar(idle), "a band where the queue does nothing");
      // The colour is as strong as the share of the queue's engines that work.
      assert.ok(Math.hypot(...busy.map((part, index) => part - idle[index])) > 12, `rgb(${busy}) where the queue is busy`);
    });
    await group.click();
    await rowOf(page, "Transfers").first().waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("the names with the most time have clearly different colours", async (t) => {
    const { page } = await openPage(t);
    const found = await ask(url, `profiles/${slug}/ranks/0/selection?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`);
    const engines = (await ask(url, `profiles/${slug}/ranks/0`)).tracks.filter(({ name }) => ENGINES.includes(name));
    const asked = `events?start_ps=${middle}&end_ps=${entry.end_ps}&tracks=${engines.map(({ id }) => id).join(",")}&limit=100000`;
    const { slices } = await ask(url, `profiles/${slug}/ranks/0/${asked}`);
    const colours = new Map();
    for (const { name } of found.by_name.slice(0, 12)) {
      const slice = slices.find((slice) => slice.name === name && slice.duration_ps > 50_000);
      if (!slice) continue;
      const track = engines.find(({ id }) => id === slice.track).name;
      await page.goto(addressOf(url, slug, [slice.start_ps - slice.duration_ps, slice.start_ps + 2 * slice.duration_ps]));
      await rowOf(page, track).waitFor();
      const colour = await eventually(async () => {
        const { at } = await picture(page);
        const x = (await scaleOf(page)).x(slice.start_ps + slice.duration_ps * 0.8);
        const colour = at(x, (await laneTop(page, track, slice.lane)) + 2);
        assert.ok(isBar(colour), `${name}: rgb(${colour})`);
        return colour;
      });
      colours.set(name, colour);
    }
    assert.ok(colours.size >= 4, [...colours.keys()].join());
    for (const [one, a] of colours) {
      for (const [other, b] of colours) {
        if (one === other) continue;
        const distance = Math.hypot(...a.map((part, at) => part - b[at]));
        assert.ok(distance > 40, `${one} rgb(${a}) and ${other} rgb(${b}) look alike`);
      }
    }
  });

  for (const colorScheme of ["light", "dark"]) {
    await t.test(`stands to the pixel where the API says, ${colorScheme}`, async (t) => {
      const { page, problems } = await openPage(t, { colorScheme });
      // A window with several slices of the Tensor engine, and gaps between them.
      const around = await slicesOf(url, slug, 0, [entry.start_ps, middle]);
      const anchor = around("TensorMatrix").slices.find((slice) => slice.name === "MATMUL" && slice.duration_ps > 100_000);
      const window = [anchor.start_ps - 1_000_000, anchor.start_ps + 4_000_000];
      await page.goto(addressOf(url, slug, window));
      const of = await slicesOf(url, slug, 0, window);
      await eventually(async () => {
        const seen = { bar: 0, ground: 0 };
        const { at } = await picture(page);
        for (const name of ENGINES) {
          const { track, slices } = of(name);
          for (let lane = 0; lane < track.lanes; lane += 1) {
            const { bar, ground } = await checkLane(page, at, name, lane, slices);
            seen.bar += bar;
            seen.ground += ground;
          }
        }
        assert.ok(seen.bar > 300 && seen.ground > 300, JSON.stringify(seen));
      });
      const { at } = await picture(page);
      const [scale, top] = [await scaleOf(page), await laneTop(page, "TensorMatrix", anchor.lane)];
      const bar = at(scale.x(anchor.start_ps) + 3, top + 2);
      const ground = at(scale.box.x + 2, (await laneTop(page, "Sync")) - 3 + 1);
      assert.ok(contrast(bar, ground) > 1.5, `a bar rgb(${bar}) on rgb(${ground})`);
      assert.deepEqual(problems, []);
    });
  }

  await t.test("can be read in both schemes", async (t) => {
    const { page } = await openPage(t);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}/profile/${slug}?v=2`);
      await rowOf(page, "Tensor").waitFor();
      // A page that is open already follows the system a moment later: an HTML file is not loaded anew.
      await eventually(async () => {
        const colours = await page.evaluate(() => {
          const style = getComputedStyle(document.documentElement);
          const rgb = (name) => style.getPropertyValue(name).trim().match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16));
          const pairs = ["--text", "--text-muted", "--accent"].map((name) => [name, rgb(name), rgb("--surface")]);
          return { theme: document.documentElement.dataset.theme, pairs };
        });
        assert.equal(colours.theme, colorScheme);
        for (const [name, text, ground] of colours.pairs) {
          assert.ok(contrast(text, ground) >= 4.5, `${name} in ${colorScheme}: ${contrast(text, ground)}`);
        }
        // The letters on the screen: the brightest and the darkest pixel of a track's name.
        const { png } = await picture(page, await rowOf(page, "Tensor").locator(".track-name").boundingBox());
        const pixels = Array.from({ length: png.data.length / 4 }, (_, at) => [...png.data.subarray(at * 4, at * 4 + 3)]);
        pixels.sort((a, b) => a[1] - b[1]);
        const seen = contrast(pixels[0], pixels.at(-1));
        assert.ok(seen >= 4.5, `a name in ${colorScheme} has a contrast of ${seen}`);
      });
    }
  });
});

test("a trace of threads, counters and flows", SERVED, async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  await chooseFile(page, "small.json", JSON.stringify(TRACE));
  await page.getByRole("link", { name: "Open small.json" }).click();
  await rowOf(page, "main 1").waitFor();
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  // The widest: a hundredth of the trace on either side.
  const window = [99_000_000, 201_000_000];
  await page.goto(addressOf(url, slug, window));

  // Written down here, not asked: the page must agree with the trace itself.
  const us = (lane, start, duration) => ({ lane, start_ps: start * 1e6, duration_ps: duration * 1e6 });
  const main = [us(0, 100, 100), us(1, 110, 30), us(1, 150, 40), us(2, 115, 10)];
  const loader = [us(0, 120, 10), us(0, 160, 20)];
  await t.test("slices stand at their times, one lane for each level of calls", () =>
    eventually(async () => {
      const { at } = await picture(page);
      for (const lane of [0, 1, 2]) {
        const { bar, ground } = await checkLane(page, at, "main 1", lane, main);
        assert.ok(bar > 60 && ground > 10, `lane ${lane}: ${bar} and ${ground} pixels`);
      }
      await checkLane(page, at, "loader 2", 0, loader);
    }),
  );

  await t.test("slices of one name have one colour, neighbours have others", async () => {
    const { at } = await picture(page);
    const scale = await scaleOf(page);
    const colour = async (name, lane, time) => at(scale.x(time * 1e6), (await laneTop(page, name, lane)) + 2);
    assert.deepEqual(await colour("main 1", 1, 112), await colour("main 1", 1, 138));
    assert.notDeepEqual(await colour("main 1", 1, 112), await colour("main 1", 0, 112));
  });

  await t.test("counters are areas as high as their values", async () => {
    const { at } = await picture(page);
    const scale = await scaleOf(page);
    const row = await rowOf(page, "queue").boundingBox();
    const height = (time) => {
      const x = scale.x(time * 1e6);
      const rows = Array.from({ length: Math.floor(row.height) - 2 }, (_, line) => row.y + 1 + line);
      return rows.filter((y) => isBar(at(x, y))).length;
    };
    const [one, four, two] = [height(125), height(165), height(190)];
    assert.ok(four >= 30, `${four} pixels for the largest value`);
    assert.ok(Math.abs(one - four / 4) <= 2 && Math.abs(two - four / 2) <= 2, `${one}, ${two} of ${four} pixels`);
    assert.equal(height(99.5), 0, "nothing before the first sample");
  });
  assert.deepEqual(problems, []);
});

test("a trace of a real job", { skip: existsSync(REAL_TRACE) ? false : "../shared/data/kineto is not here" }, async (t) => {
  const { url } = await serve(t, "view", REAL_TRACE);
  const [{ slug, events }] = (await ask(url, "profiles")).profiles;
  assert.ok(events > 10_000);
  const { page, problems } = await openPage(t);
  const { ranks } = await ask(url, `profiles/${slug}`);
  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/${ranks[0].rank}`);
  // The longest slice of the track that has the most of them.
  const busiest = tracks.reduce((best, track) => (track.kind === "slices" && track.rows > best.rows ? track : best));
  const question = `events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${busiest.id}&limit=100000`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/${ranks[0].rank}/${question}`);
  const anchor = slices.reduce((best, slice) => (slice.duration_ps > best.duration_ps ? slice : best));
  const room = Math.round(anchor.duration_ps / 20);
  const window = [
    Math.max(entry.start_ps, anchor.start_ps - room),
    Math.min(entry.end_ps, anchor.start_ps + anchor.duration_ps + room),
  ];
  await page.goto(addressOf(url, slug, window, `&sel=${anchor.row}`));
  await page.getByRole("article", { name: "Details" }).getByRole("heading", { name: anchor.name }).waitFor();
  await eventually(async () => {
    const { at } = await picture(page);
    const scale = await scaleOf(page);
    const y = (await laneTop(page, busiest.name, anchor.lane)) + 3;
    for (const share of [0.1, 0.5, 0.9]) {
      const x = scale.x(anchor.start_ps + anchor.duration_ps * share);
      assert.ok(isBar(at(x, y)), `${anchor.name} at ${x}, ${y}: rgb(${at(x, y)})`);
    }
  });
  assert.deepEqual(problems, []);
});

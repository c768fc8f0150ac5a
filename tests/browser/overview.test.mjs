// From afar the picture must be as true as from near: the height of a lane is the share of the time in which
// something is done, whatever tiles tell of it; names, colours and labels are those of the rank that is shown.

import assert from "node:assert/strict";
import test from "node:test";
import {
  addressOf, ask, eventually, isBar, laneTop, parametersOf, picture, rowOf, scaleOf, tracksOf, viewOf,
} from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";
import { traces } from "./trace.mjs";

const LANE_PX = 18;

const named = (pid, tid, name) => ({ ph: "M", pid, tid, name: tid === undefined ? "process_name" : "thread_name", args: { name } });

/** How many pixels of each column of a lane are a bar's, without the first and the last of the trace. */
async function heights(page, top, [from, to]) {
  const { at } = await picture(page);
  const scale = await scaleOf(page);
  const [left, right] = [Math.ceil(scale.x(from)) + 3, Math.floor(scale.x(to)) - 3];
  return Array.from({ length: right - left }, (_, column) => {
    const rows = Array.from({ length: LANE_PX }, (_, row) => Math.floor(top) + row);
    return rows.filter((y) => isBar(at(left + column, y))).length;
  });
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** The parameter that mutes all findings: their boxes are no bars. */
async function withoutBoxes(url, slug) {
  const { findings } = await ask(url, `profiles/${slug}/findings`);
  return `&mute=${findings.map(({ rule }) => rule).join(",")}`;
}

test("a constant load is drawn constant over every edge of a tile", async (t) => {
  // Two to three slices a pixel: full tiles bring cells, the last one, of which the trace fills a part, slices.
  const [count, period] = [2500, 110];
  const load = (tid, share) =>
    Array.from({ length: count }, (_, at) => ({ ph: "X", pid: 1, tid, ts: at * period, dur: period * share, name: "work" }));
  const traceEvents = [named(1, 1, "fifth"), named(1, 2, "hundredth"), ...load(1, 0.2), ...load(2, 0.01)];
  const [file] = await traces(t, { traceEvents });
  const { url } = await serve(t, "view", file);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry, tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const muted = await withoutBoxes(url, slug);
  for (const width of [1000, 1280, 1440, 1600, 1920]) {
    await t.test(`${width} pixels wide`, async (t) => {
      const { page, problems } = await openPage(t, { width });
      await page.goto(addressOf(url, slug, [entry.start_ps, entry.end_ps], muted));
      await rowOf(page, "fifth 1").waitFor();
      await eventually(async () => {
        const fifth = await heights(page, await laneTop(page, "fifth 1"), [entry.start_ps, entry.end_ps]);
        const parts = Array.from({ length: 10 }, (_, part) => fifth.slice((part * fifth.length) / 10, ((part + 1) * fifth.length) / 10));
        // A fifth of the 16 pixels of a lane's bars, the same everywhere.
        const means = parts.map(mean);
        assert.ok(means.every((height) => Math.abs(height - 3.2) < 0.8), `${means}`);
        assert.ok(Math.max(...means) - Math.min(...means) < 0.5, `${means}`);
        assert.ok(Math.max(...fifth) <= 7, `${Math.max(...fifth)} of ${LANE_PX} pixels for a fifth`);
        const hundredth = await heights(page, await laneTop(page, "hundredth 2"), [entry.start_ps, entry.end_ps]);
        assert.ok(Math.max(...hundredth) <= 2, `${Math.max(...hundredth)} pixels for a hundredth`);
        assert.ok(mean(hundredth) > 1, "what is there is seen");
      });
      assert.deepEqual(problems, []);
    });
  }
  await t.test("a closed group is as high as its lanes work, and tells so", async (t) => {
    const { page, problems } = await openPage(t);
    const group = tracks.find(({ kind }) => kind === "group");
    await page.goto(addressOf(url, slug, [entry.start_ps, entry.end_ps], `&groups=${group.id}${muted}`));
    const heading = page.getByRole("button", { name: group.name });
    await heading.waitFor();
    assert.equal(await heading.getAttribute("aria-expanded"), "false");
    // A link of version 1 names the group by its number. The page goes on with its path.
    await eventually(() => assert.equal(parametersOf(page).get("closed"), group.name));
    assert.equal(parametersOf(page).get("groups"), null);
    const row = await page.getByRole("listitem").filter({ has: heading }).boundingBox();
    await page.mouse.move(640, row.y + row.height - 4);
    const tip = page.getByRole("tooltip");
    await tip.getByText(/0\.2 of 2 lanes/).waitFor();
    await page.mouse.click(640, row.y + row.height - 4);
    await rowOf(page, "fifth 1").waitFor();
    assert.deepEqual(problems, []);
  });
});

test("a closed group is as high as its lanes work, to the pixel", async (t) => {
  // One more of four threads ends at each step. A wait is no work, and no annotation is.
  const slice = (tid, dur, name = "work", ts = 0) => ({ ph: "X", pid: 1, tid, ts, dur, name });
  const work = [800, 400, 200, 100].map((dur, at) => slice(at + 1, dur));
  const annotation = { ...slice(1, 1_000, "step"), cat: "gpu_user_annotation" };
  const traceEvents = [named(1, undefined, "host"), ...work, slice(1, 200, "wait", 800), annotation];
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents })));
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry, tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const group = tracks.find(({ kind }) => kind === "group");
  const { page, problems } = await openPage(t);
  await page.goto(addressOf(url, slug, [entry.start_ps, entry.end_ps], `&groups=${group.id}${await withoutBoxes(url, slug)}`));
  const heading = page.getByRole("button", { name: group.name });
  await heading.waitFor();
  await eventually(async () => {
    const row = await page.getByRole("listitem").filter({ has: heading }).boundingBox();
    const { at } = await picture(page);
    const scale = await scaleOf(page);
    // A closed group has a bar of 18 pixels for all of its lanes.
    for (const [us, share] of [[50, 1], [150, 0.75], [300, 0.5], [600, 0.25], [900, 0]]) {
      const x = scale.x(entry.start_ps + us * 1e6);
      const rows = Array.from({ length: Math.round(row.height) }, (_, y) => isBar(at(x, row.y + y)));
      const high = rows.filter(Boolean).length;
      assert.ok(Math.abs(high - share * 18) <= 1, `${high} pixels at ${us} µs, where ${share} of the lanes work`);
      // From the bottom up, without a gap.
      assert.equal(rows.lastIndexOf(true) - rows.indexOf(true) + (high > 0), high, `${rows}`);
    }
  });
  assert.deepEqual(problems, []);
});

test("a trace of waits opens where it works, and shows all on request", async (t) => {
  // As on a Neuron core: engines wait for 1.8 ms, and then work for 12 µs.
  const slice = (tid, ts, dur, name) => ({ ph: "X", pid: 1, tid, ts, dur, name });
  const engine = (tid) => [
    slice(tid, 0, 1_800, "EVENT_SEMAPHORE"),
    ...Array.from({ length: 12 }, (_, at) => slice(tid, 1_800 + at, 1, "MATMUL")),
  ];
  const traceEvents = [named(1, 1, "Tensor"), named(1, 2, "Vector"), ...engine(1), ...engine(2)];
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents })));
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2`);
  await page.getByText("Showing the active").waitFor();
  const { width } = await tracksOf(page).boundingBox();
  /** Pixels of a line of a lane that are a bar's. */
  const bars = async () => {
    const box = await tracksOf(page).boundingBox();
    const y = (await laneTop(page, "Tensor 1")) + 2;
    const { at } = await picture(page);
    return Array.from({ length: Math.floor(box.width) }, (_, x) => at(box.x + x, y)).filter(isBar).length;
  };
  // The work fills most of the width. No window is in the address, so a link shows this part too.
  await eventually(async () => assert.ok((await bars()) > width * 0.6, `${await bars()} of ${width}`));
  assert.equal(viewOf(page).from, null);
  await page.getByRole("button", { name: "Show all", exact: true }).click();
  await page.getByText("Showing the active").waitFor({ state: "detached" });
  await eventually(async () => {
    const { from, to } = viewOf(page);
    assert.ok(from <= entry.start_ps && to >= entry.end_ps, page.url());
    // The work is less than a hundredth now. The waits are not drawn as work.
    const count = await bars();
    assert.ok(count > 2 && count < width * 0.02, `${count} of ${width}`);
  });
  assert.deepEqual(problems, []);
});

test("a lone instant after all slices does not widen the first view", async (t) => {
  const step = (_, at) => ({ ph: "X", pid: 1, tid: 1, ts: 100 + at * 50, dur: 40, name: "step" });
  const end = { ph: "i", pid: "", tid: "", ts: 2_000, s: "g", name: "Record Window End" };
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents: [...Array.from({ length: 20 }, step), end] })));
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${(await ask(url, "profiles")).profiles[0].slug}?v=2`);
  // From 100 to 1,090 µs.
  await page.getByText("Showing the active 990 µs of 1.9 ms").waitFor();
  assert.deepEqual(problems, []);
});

test("labels and colours are those of the rank that is shown", async (t) => {
  const rank = (rank, thread, names) => ({
    distributedInfo: { rank },
    traceEvents: [
      named(1, thread, `worker`),
      ...names.map((name, at) => ({ ph: "X", pid: 1, tid: thread, ts: at * 100, dur: 90 - at, name })),
      { ph: "C", pid: 1, ts: 0, name: "power", args: { W: 100 + rank } },
    ],
  });
  const files = await traces(t, rank(0, 11, ["alpha", "beta", "gamma"]), rank(1, 12, ["gamma", "beta", "delta"]));
  const { url } = await serve(t, "view", ...files);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  const tree = () => page.getByRole("list", { name: "Tracks" }).ariaSnapshot();
  const window = [0, 300_000_000];
  await page.goto(addressOf(url, slug, window, "&rank=0"));
  await rowOf(page, "worker 11").waitFor();
  const colour = async (track, at) => {
    const { at: pixel } = await picture(page);
    return pixel((await scaleOf(page)).x(at * 1e6), (await laneTop(page, track)) + 2);
  };
  const shown = await eventually(async () => {
    const seen = { beta: await colour("worker 11", 150), gamma: await colour("worker 11", 250) };
    assert.ok(isBar(seen.beta) && isBar(seen.gamma));
    return seen;
  });
  await page.keyboard.press("]");
  await rowOf(page, "worker 12").waitFor();
  const switched = await tree();
  await page.goto(addressOf(url, slug, window, "&rank=1"));
  await rowOf(page, "worker 12").waitFor();
  assert.equal(switched, await tree(), "after a switch as after a reload");
  await eventually(async () => {
    assert.deepEqual(await colour("worker 12", 150), shown.beta);
    assert.deepEqual(await colour("worker 12", 50), shown.gamma);
  });
  assert.deepEqual(problems, []);
});

test("a trace without events says so", async (t) => {
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents: [] })));
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2`);
  await page.getByText("This trace has no events.").waitFor();
  await page.goto(`${url}/profile/${slug}/summary?v=2`);
  await page.getByRole("heading", { name: "Overall" }).waitFor();
  // A card without a metric is left out.
  assert.equal(await page.getByRole("heading", { name: "Busy share by track" }).count(), 0);
  assert.deepEqual(problems, []);
});

test("the notice about the active part can be closed", async (t) => {
  const slice = (ts) => ({ ph: "X", pid: 1, tid: 1, name: "step", ts, dur: 900 });
  const busy = Array.from({ length: 20 }, (_, at) => slice(10_000_000 + at * 1_000));
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents: [slice(0), ...busy] })));
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  const notice = page.getByText("Showing the active");
  await page.goto(`${url}/profile/${slug}?v=2`);
  await notice.waitFor();
  await page.getByRole("button", { name: "Close the notice" }).click();
  await notice.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "Show all", exact: true }).count(), 0);
  assert.deepEqual(problems, []);
});

// What is looked at: how gestures and keys change it, and that the address holds all of it.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, barPixels, difference, eventually, isBar, laneTop, middleOf, parametersOf, picture, reload, rowOf, scaleOf, settledAddress, tracksOf, viewOf } from "./picture.mjs";
import { isQuiet, openPage, serve } from "./stage.mjs";
import { traces } from "./trace.mjs";

/** Waits until bars are drawn, nothing is on its way and the picture of the timeline stays the same; returns that. */
async function drawn(page) {
  await rowOf(page, "Tensor").waitFor();
  let before = null;
  return eventually(async () => {
    const { png } = await picture(page, await tracksOf(page).boundingBox());
    const last = before;
    before = png;
    assert.ok(isQuiet(page), "something is still on its way");
    assert.ok(barPixels(png) > 500, "no bars are drawn");
    assert.ok(last && difference(last, png) === 0, "the picture still changes");
    return png;
  });
}

/** Waits until the timeline looks as in this picture. */
function shows(page, png) {
  return eventually(async () => {
    const count = difference(png, await drawn(page));
    assert.ok(count < 20, `${count} pixels differ`);
  });
}

/** Waits until the timeline no longer looks as in this picture. */
function showsOther(page, png) {
  return eventually(async () => assert.ok(difference(png, await drawn(page)) > 200, "the picture is the same"));
}

/** The details of the slice with this name. */
async function detailsOf(page, name) {
  const details = page.getByRole("article", { name: "Details" });
  await details.getByRole("heading", { name, exact: true }).waitFor();
  return details;
}

/** Waits until the address bar shows a view that `holds`, and returns it. */
function viewWhere(page, holds) {
  return eventually(() => {
    const view = viewOf(page);
    assert.ok(holds(view), page.url());
    return view;
  });
}

async function press(page, key, times = 1) {
  for (let count = 0; count < times; count += 1) await page.keyboard.press(key);
}

test("the view", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry, tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const products = tracks.find((track) => track.name === "TensorMatrix").id;
  const question = `events?start_ps=${entry.start_ps}&end_ps=${entry.end_ps}&tracks=${products}&limit=400`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/0/${question}`);
  // One with something before and after it that it is connected to.
  const details = slices
    .filter((slice) => slice.name === "MATMUL" && slice.duration_ps > 100_000)
    .slice(20, 60)
    .map((slice) => ask(url, `profiles/${slug}/ranks/0/slices/${slice.row}`));
  const detail = (await Promise.all(details)).find(({ predecessors }) => predecessors.length > 0);
  assert.ok(detail, "no MATMUL has a predecessor");
  const matmul = detail.slice;
  const window = [matmul.start_ps - 1_000_000, matmul.start_ps + 2_000_000];

  const open = async (t, more = "") => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window, more));
    await drawn(page);
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };
  const click = async (page, slice) => {
    const { x, y } = await middleOf(page, "TensorMatrix", slice);
    await page.mouse.click(x, y);
  };

  await t.test("a drag zooms into its span, to the pixel", async (t) => {
    const page = await open(t);
    const scale = await scaleOf(page);
    const [left, right] = [scale.box.x + 200, scale.box.x + 600];
    const y = scale.box.y + 60;
    await page.mouse.move(left, y);
    await page.mouse.down();
    await page.mouse.move(left + 150, y + 5, { steps: 3 });
    await page.mouse.move(right, y, { steps: 3 });
    await page.mouse.up();
    const { from, to } = await viewWhere(page, (view) => view.from !== scale.from);
    assert.ok(Math.abs(from - scale.time(left)) <= scale.psPerPx, `${from} for ${scale.time(left)}`);
    assert.ok(Math.abs(to - scale.time(right)) <= scale.psPerPx, `${to} for ${scale.time(right)}`);
    await page.goBack();
    await viewWhere(page, (view) => view.from === scale.from && view.to === scale.to);
    await page.goForward();
    await viewWhere(page, (view) => view.from === from && view.to === to);
  });

  await t.test("the wheel with Ctrl zooms at the pointer, shift and a drag move", async (t) => {
    const page = await open(t);
    const scale = await scaleOf(page);
    const [x, y] = [scale.box.x + 300, scale.box.y + 60];
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    const zoomed = await viewWhere(page, (view) => view.to - view.from < scale.to - scale.from);
    const after = await scaleOf(page);
    assert.ok(Math.abs(after.time(x) - scale.time(x)) <= scale.psPerPx, "the moment under the pointer moved");
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(x + 100, y, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const expected = zoomed.from - 100 * after.psPerPx;
    await viewWhere(page, (view) => Math.abs(view.from - expected) <= after.psPerPx);
    const moved = viewOf(page);
    assert.ok(Math.abs(moved.to - moved.from - (zoomed.to - zoomed.from)) <= 2, "moving changed the width");
  });

  await t.test("the tooltip names what is under the pointer", async (t) => {
    const page = await open(t);
    const { x, y } = await middleOf(page, "TensorMatrix", matmul);
    await page.mouse.move(x, y);
    const tip = page.getByRole("tooltip");
    await tip.getByText("MATMUL", { exact: true }).waitFor();
    assert.match(await tip.innerText(), /Engines › TensorMatrix/);
    await page.mouse.move(10, 10);
    await tip.waitFor({ state: "hidden" });
  });

  await t.test("a click shows all fields, a link leads on, back leads back", async (t) => {
    const page = await open(t);
    await click(page, matmul);
    await viewWhere(page, (view) => view.selected === matmul.row);
    const shown = await detailsOf(page, "MATMUL");
    // Fields are labelled for people; their own names are in the explanations. What is empty is left out.
    const names = await shown.locator("dt [aria-description]").evaluateAll((labels) =>
      labels.map((label) => label.getAttribute("aria-description").split("\n")[0]),
    );
    const isEmpty = ({ value }) => value.text === "" || value.json === "";
    assert.deepEqual(
      names.toSorted(),
      detail.fields.filter((field) => !isEmpty(field)).map(({ name }) => name).toSorted(),
    );
    assert.equal(await page.getByRole("status").filter({ hasText: "Selected: MATMUL on TensorMatrix" }).count(), 1);

    const { slice } = detail.predecessors[0];
    const before = shown.getByRole("listitem").getByRole("button", { name: slice.name }).first();
    await before.click();
    const view = await viewWhere(page, (view) => view.selected === slice.row);
    assert.ok(view.from <= slice.start_ps && view.to >= slice.start_ps + slice.duration_ps, page.url());
    await detailsOf(page, slice.name);
    await page.goBack();
    await viewWhere(page, (view) => view.selected === matmul.row);
    await detailsOf(page, "MATMUL");
  });

  await t.test("a link to a slice out of sight moves the window and draws the slice", async (t) => {
    const page = await open(t, `&sel=${matmul.row}`);
    await detailsOf(page, "MATMUL");
    await press(page, "d", 12);
    await viewWhere(page, (view) => view.from > matmul.start_ps + matmul.duration_ps);
    const { slice } = detail.predecessors[0];
    await page.getByRole("listitem").getByRole("button", { name: slice.name }).first().click();
    await viewWhere(page, (view) => view.from <= slice.start_ps && view.selected === slice.row);
    const track = tracks.find((track) => track.id === slice.track);
    await drawn(page);
    const scale = await scaleOf(page);
    const { at } = await picture(page);
    if (track.name === "Tensor") {
      const [x, y] = [scale.x(slice.start_ps + slice.duration_ps / 2), (await laneTop(page, "Tensor", slice.lane)) + 3];
      assert.ok(isBar(at(x, y)), `rgb(${at(x, y)}) at ${x}, ${y}`);
    }
  });

  await t.test("ranks change by click and by key, and the window stays", async (t) => {
    const page = await open(t);
    const tab = (number) => page.getByRole("tab", { name: `Rank ${number}`, exact: true });
    assert.equal(await tab(0).getAttribute("aria-selected"), "true");
    const first = await drawn(page);
    await tab(1).click();
    const view = await viewWhere(page, (view) => view.rank === 1);
    assert.deepEqual([view.from, view.to], window);
    await showsOther(page, first);
    await page.keyboard.press("ArrowLeft");
    await viewWhere(page, (view) => view.rank === 0);
    await shows(page, first);
    assert.equal(await tab(0).getAttribute("aria-selected"), "true");
    await page.locator("body").press("]");
    await viewWhere(page, (view) => view.rank === 1);
    await showsOther(page, first);
    await page.locator("body").press("[");
    await viewWhere(page, (view) => view.rank === 0);
    await shows(page, first);
  });

  await t.test("several ranks stand below each other, and a slice of another one can be selected", async (t) => {
    const page = await open(t);
    await drawn(page);
    await page.getByTitle("Show rank 1 below the others").click();
    const group = (name) => page.getByRole("button", { name, exact: true });
    const tensor = rowOf(page, "Tensor");
    await group("Rank 0").waitFor();
    assert.equal(parametersOf(page).get("ranks"), "0,1");
    // The same group closes in both ranks, so that they stay comparable.
    await group("Engines").first().click();
    await tensor.waitFor({ state: "detached" });
    await group("Rank 0").click();
    await group("Rank 1").waitFor();
    assert.equal(await group("Engines").getAttribute("aria-expanded"), "false");
    await group("Engines").click();
    await tensor.waitFor();
    await drawn(page);

    const { slices } = await ask(url, `profiles/${slug}/ranks/1/events?start_ps=${window[0]}&end_ps=${window[1]}&limit=1000`);
    const { tracks } = await ask(url, `profiles/${slug}/ranks/1`);
    const number = tracks.find((track) => track.name === "Tensor").id;
    const ofTensor = slices.filter((slice) => slice.track === number && slice.lane === 0);
    const wanted = ofTensor.reduce((a, b) => (b.duration_ps > a.duration_ps ? b : a));
    const scale = await scaleOf(page);
    const row = await tensor.boundingBox();
    await page.mouse.click(scale.x(wanted.start_ps + wanted.duration_ps / 2), row.y + 10);
    await detailsOf(page, wanted.name);
    await viewWhere(page, (view) => view.rank === 1 && view.selected === wanted.row);
    assert.equal(parametersOf(page).get("ranks"), "0,1");
    assert.match(await page.getByRole("article", { name: "Details" }).innerText(), /Rank 1 › .*Tensor/);

    await reload(page);
    await detailsOf(page, wanted.name);
    await group("Rank 0").waitFor();
    await group("Rank 1").waitFor();
    await page.getByTitle("Hide rank 1").click();
    await group("Rank 1").waitFor({ state: "detached" });
    await tensor.waitFor();
    await viewWhere(page, (view) => view.rank === 0 && view.selected === null);
    assert.equal(parametersOf(page).get("ranks"), null);
  });

  await t.test(
    "the last of several quick changes of the rank is shown",
    async (t) => {
      const page = await open(t);
      const first = await drawn(page);
      for (let turn = 0; turn < 4; turn += 1) {
        await page.locator("body").press("]");
        await page.locator("body").press("[");
        await viewWhere(page, (view) => view.rank === 0);
        assert.equal(difference(first, await drawn(page)), 0);
      }
    },
  );

  await t.test("the address brings back the same view", async (t) => {
    const page = await open(t);
    await click(page, matmul);
    await detailsOf(page, "MATMUL");
    await page.getByRole("button", { name: "DMA", exact: true }).click();
    await eventually(() => assert.match(page.url(), /closed=DMA/));
    await press(page, "w", 2);
    await viewWhere(page, (view) => view.from > window[0]);
    await page.mouse.move(5, 5);
    const address = await settledAddress(page);
    const fields = () => page.getByRole("article", { name: "Details" }).getByRole("definition").allInnerTexts();
    const details = await fields();
    assert.ok(details.length >= 10, `${details.length} fields`);
    const before = await drawn(page);
    await reload(page);
    await detailsOf(page, "MATMUL");
    await drawn(page);
    // How far the rows are scrolled is no part of the address.
    await page.locator(".timeline-rows").evaluate((rows) => rows.scrollTo(0, 0));
    await shows(page, before);
    assert.equal(page.url(), address);
    assert.deepEqual(await fields(), details);
    assert.equal(await page.getByRole("button", { name: "DMA", exact: true }).getAttribute("aria-expanded"), "false");
  });

  await t.test("a link of another version of the profile selects nothing, and says so", async (t) => {
    const page = await open(t);
    await click(page, matmul);
    await detailsOf(page, "MATMUL");
    const of = await eventually(() => {
      const [segment] = entry.content.split("v");
      assert.equal(parametersOf(page).get("of"), segment);
      return segment;
    });
    const other = page.url().replace(of, "0".repeat(16)).replace("v=2", "v=2&q=MATMUL");
    assert.notEqual(other, page.url());
    const { page: next } = await openPage(t);
    await next.goto(other);
    await next.getByText("another version of this profile").waitFor();
    await viewWhere(next, (view) => view.selected === null && view.from === window[0]);
    assert.equal(parametersOf(next).get("of"), null);
    assert.equal(parametersOf(next).get("q"), "MATMUL");
    await rowOf(next, "Tensor").waitFor();
  });

  await t.test(
    "a selected slice that is in sight anyway does not scroll the rows",
    async (t) => {
      const page = await open(t, `&sel=${matmul.row}`);
      for (let load = 0; load < 4; load += 1) {
        await reload(page);
        await detailsOf(page, "MATMUL");
        await drawn(page);
        assert.equal(await page.locator(".timeline-rows").evaluate((rows) => rows.scrollTop), 0);
      }
    },
  );

  // The rank is held back until `answer` has come; a page that asks for that only after the rank gets it at last.
  const openWithLateRank = async (t, more, answer) => {
    const { page } = await openPage(t);
    let release = null;
    const isReleased = new Promise((resolve) => (release = resolve));
    await page.route(`**/api/profiles/${slug}/ranks/0`, async (route) => {
      await isReleased;
      await route.continue();
    });
    const early = page.waitForResponse((response) => response.url().includes(answer), { timeout: 2_000 });
    await page.goto(addressOf(url, slug, window, more));
    await early.catch(() => null);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    release();
    await drawn(page);
    return page;
  };

  await t.test(
    "details tell the track also when they arrive before the rank",
    async (t) => {
      const page = await openWithLateRank(t, `&sel=${matmul.row}`, `/slices/${matmul.row}`);
      const shown = await detailsOf(page, "MATMUL");
      assert.equal(await shown.getByText("Engines › TensorMatrix", { exact: true }).count(), 1);
    },
  );

  await t.test(
    "the totals of a span tell the tracks also when they arrive before the rank",
    async (t) => {
      const page = await openWithLateRank(t, `&mark=${window.join("..")}`, "/selection?");
      const totals = page.getByRole("tabpanel", { name: "Selection" });
      await totals.getByText("MATMUL", { exact: true }).waitFor();
      assert.equal(await totals.getByText("Engines › TensorMatrix", { exact: true }).count(), 1);
    },
  );

  await t.test("a drag on the ruler marks a span and adds it up", async (t) => {
    const page = await open(t);
    const scale = await scaleOf(page);
    const y = (await page.locator(".ruler").boundingBox()).y + 10;
    const [left, right] = [scale.box.x + 100, scale.box.x + 500];
    await page.mouse.move(left, y);
    await page.mouse.down();
    await page.mouse.move(right, y, { steps: 4 });
    await page.mouse.up();
    const mark = await eventually(() => {
      const mark = parametersOf(page).get("mark");
      assert.ok(mark, page.url());
      return mark.split("..").map(Number);
    });
    // The ruler's canvas has a border of a pixel.
    for (const [at, x] of [left, right].entries()) {
      assert.ok(Math.abs(mark[at] - scale.time(x)) <= 2 * scale.psPerPx, `${mark[at]} for ${scale.time(x)}`);
    }
    const totals = page.getByRole("tabpanel", { name: "Selection" });
    const { count } = await ask(url, `profiles/${slug}/ranks/0/selection?start_ps=${mark[0]}&end_ps=${mark[1]}`);
    await totals.getByRole("definition").getByText(String(count), { exact: true }).waitFor();
    await totals.getByText("Engines › Tensor", { exact: true }).waitFor();
    await totals.getByRole("button", { name: "Clear" }).click();
    await eventually(() => assert.ok(!page.url().includes("mark"), page.url()));
  });

  await t.test("a group closes and opens", async (t) => {
    const page = await open(t);
    const group = page.getByRole("button", { name: "Engines", exact: true });
    await group.click();
    await rowOf(page, "Tensor").waitFor({ state: "detached" });
    assert.equal(await group.getAttribute("aria-expanded"), "false");
    await group.click();
    await rowOf(page, "Tensor").waitFor();
  });

  await t.test("keys zoom, move, step and explain themselves", async (t) => {
    const page = await open(t);
    const width = window[1] - window[0];
    await page.keyboard.press("w");
    await viewWhere(page, (view) => Math.abs(view.to - view.from - width * 0.75) < 10);
    await page.keyboard.press("s");
    await viewWhere(page, (view) => Math.abs(view.to - view.from - width) < 10);
    await page.keyboard.press("d");
    await viewWhere(page, (view) => Math.abs(view.from - window[0] - width * 0.15) < 10);
    await page.keyboard.press("a");
    await viewWhere(page, (view) => Math.abs(view.from - window[0]) < 10);

    await click(page, matmul);
    await detailsOf(page, "MATMUL");
    const next = await ask(url, `profiles/${slug}/ranks/0/slices/${matmul.row}/step?direction=next`);
    await page.keyboard.press("ArrowRight");
    await viewWhere(page, (view) => view.selected === next.slice.row);
    await detailsOf(page, next.slice.name);
    await page.keyboard.press("ArrowLeft");
    await viewWhere(page, (view) => view.selected === matmul.row);
    const below = await ask(url, `profiles/${slug}/ranks/0/slices/${matmul.row}/step?direction=down`);
    await page.keyboard.press("ArrowDown");
    await viewWhere(page, (view) => view.selected === below.slice.row);
    await page.keyboard.press("Escape");
    await viewWhere(page, (view) => view.selected === null);
    await page.keyboard.press("0");
    await viewWhere(page, (view) => view.from === null && view.to === null);

    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByText("Zoom into a span").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
  });
});

test("a place inside a tall track is kept", async (t) => {
  // A thread that is higher than the view, below another one.
  const slice = (tid, ts, dur) => ({ ph: "X", pid: 1, tid, ts, dur, name: `call ${ts}` });
  const deep = Array.from({ length: 120 }, (_, depth) => slice(2, depth, 1_000 - 2 * depth));
  const { url } = await serve(t, "view", ...(await traces(t, { traceEvents: [slice(1, 0, 900), ...deep] })));
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(addressOf(url, slug, [0, 1_000_000_000]));
  await rowOf(page, "Thread 2").first().waitFor();
  const rows = page.locator(".timeline-rows");
  const scrolled = () => rows.evaluate((rows) => rows.scrollTop);
  const place = () => `${parametersOf(page).get("row")} ${parametersOf(page).get("lane")}`;
  const scroll = async (px) => {
    await rows.evaluate((rows, px) => rows.scrollTo(0, px), px);
    await eventually(() => assert.match(place(), px > 0 ? /Thread 2 [1-9]/ : /^null null$/));
  };
  await scroll(700);
  const [kept, before_px] = [place(), await scrolled()];
  const isThere = () =>
    eventually(async () => {
      const px = await scrolled();
      // To the top of the first visible lane.
      assert.ok(px > before_px - 20 && px <= before_px, `${px} pixels, before ${before_px}`);
      assert.equal(place(), kept);
    });
  await reload(page);
  await rowOf(page, "Thread 2").first().waitFor();
  await isThere();
  // Back leads to the place where a zoom began.
  await page.keyboard.press("w");
  await page.waitForTimeout(900);
  await scroll(0);
  await page.goBack();
  await isThere();
  assert.deepEqual(problems, []);
});

// What a timeline shows: where a slice must stand on the screen, and the pixels that stand there.
//
// The sizes are those of frontend/src/view/rows/layout/mod.rs; the rest comes from the page itself: its address tells the
// window, its accessible list of tracks tells the rows, and a screenshot tells what is really seen.

import assert from "node:assert/strict";
import { PNG } from "pngjs";

const PADDING_PX = 3;
const LANE_PX = 18;
const WAIT_MS = 30_000;
const RETRY_MS = 40;
/** More than the time after which the page writes its address. */
const SETTLED_MS = 500;
/** Bars are coloured; ground, grid lines and texts are nearly grey. */
const LEAST_CHROMA = 28;

/** Repeats `check` until it throws no longer, and returns what it returns; its last error is the test's. */
export async function eventually(check) {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** The answer of the API to `path`, as JSON. */
export async function ask(url, path) {
  const response = await fetch(`${url}/api/${path}`, { headers: { accept: "application/json" } });
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.json();
}

/** The address of a profile that shows the picoseconds from `from` to `to`. */
export function addressOf(url, slug, [from, to], more = "") {
  return `${url}/profile/${slug}?v=1&from=${from}&to=${to}${more}`;
}

/** The address when it has stopped to change: the page writes it a third of a second after a step, not at each one. */
export function settledAddress(page) {
  return eventually(async () => {
    const address = page.url();
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    assert.equal(page.url(), address, "the address still changes");
    return address;
  });
}

/** Reloads the page once its address tells what it shows. Returns that address. */
export async function reload(page) {
  const address = await settledAddress(page);
  await page.reload();
  return address;
}

/** The view's parameters in the address bar. An HTML file has them behind its path. */
export function parametersOf(page) {
  return new URL(page.url().replace(/^file:[^#]*#/, "file://")).searchParams;
}

/** The view's parameters in the address bar, numbers as numbers. */
export function viewOf(page) {
  const parameters = parametersOf(page);
  const number = (name) => (parameters.has(name) ? Number(parameters.get(name)) : null);
  return { rank: number("rank"), from: number("from"), to: number("to"), selected: number("sel") };
}

/** The canvas on which the pointer acts: as wide as the tracks. */
export function tracksOf(page) {
  return page.locator(".timeline-above");
}

/** A row of the accessible list of tracks. `name` is the track's, without what is said about it. */
export function rowOf(page, name) {
  return page.getByRole("list", { name: "Tracks" }).getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });
}

/**
 * Waits until the rows of tracks stand where they stay. They move up once, when the first tiles show which lanes are
 * empty in the window.
 */
export async function settled(page) {
  await page.waitForFunction(() => performance.getEntriesByName("first-picture").length > 0);
  const places = () =>
    page.getByRole("list", { name: "Tracks" }).getByRole("listitem").evaluateAll((rows) =>
      rows.map((row) => `${row.innerText} ${row.getBoundingClientRect().y} ${row.getBoundingClientRect().height}`).join("\n"),
    );
  let [last, looks] = [await places(), 0];
  await eventually(async () => {
    const now = await places();
    looks = now === last ? looks + 1 : 0;
    last = now;
    assert.ok(looks >= 4, "rows are moving");
  });
}

/** How times and lanes of the opened view lie on the screen, in pixels of the page. */
export async function scaleOf(page) {
  const box = await tracksOf(page).boundingBox();
  const { from, to } = viewOf(page);
  assert.ok(from !== null && to !== null, `no window in ${page.url()}`);
  const pxPerPs = box.width / (to - from);
  return {
    box,
    from,
    to,
    psPerPx: 1 / pxPerPs,
    x: (ps) => box.x + (ps - from) * pxPerPs,
    time: (x) => from + (x - box.x) / pxPerPs,
  };
}

/** The upper edge of a lane's bars. */
export async function laneTop(page, name, lane = 0) {
  const row = await rowOf(page, name).first().boundingBox();
  return row.y + PADDING_PX + lane * LANE_PX;
}

/** The middle of a slice's bar. */
export async function middleOf(page, name, slice) {
  const scale = await scaleOf(page);
  const x = scale.x(slice.start_ps + slice.duration_ps / 2);
  return { x, y: (await laneTop(page, name, slice.lane)) + LANE_PX / 2 };
}

/**
 * What stands on the screen now, or in a part of it: `png` has its pixels, `at(x, y)` is the colour at a place of the
 * page as `[red, green, blue]`.
 */
export async function picture(page, part = null) {
  const [left, top] = part ? [Math.floor(part.x), Math.floor(part.y)] : [0, 0];
  const clip = part && { x: left, y: top, width: Math.floor(part.width), height: Math.floor(part.height) };
  const png = PNG.sync.read(await page.screenshot(clip ? { clip } : {}));
  return {
    png,
    at: (x, y) => {
      const [column, row] = [Math.floor(x) - left, Math.floor(y) - top];
      const isInside = column >= 0 && row >= 0 && column < png.width && row < png.height;
      assert.ok(isInside, `${x}, ${y} is outside of the picture`);
      const first = (row * png.width + column) * 4;
      return [...png.data.subarray(first, first + 3)];
    },
  };
}

/** Whether a colour is a bar's. */
export function isBar([red, green, blue]) {
  return Math.max(red, green, blue) - Math.min(red, green, blue) >= LEAST_CHROMA;
}

/** How many pixels of a picture are those of bars. */
export function barPixels(png) {
  let count = 0;
  for (let at = 0; at < png.data.length; at += 4) {
    if (isBar([png.data[at], png.data[at + 1], png.data[at + 2]])) count += 1;
  }
  return count;
}

/**
 * Checks a whole lane, pixel by pixel: bars where these slices are, ground where none is. Edges may lie a pixel
 * beside where they are expected; returns how many pixels of bars and of ground were checked. `at` is a picture's.
 */
export async function checkLane(page, at, name, lane, slices) {
  const [scale, top] = [await scaleOf(page), await laneTop(page, name, lane)];
  const span = (slice) => [scale.x(slice.start_ps), scale.x(slice.start_ps + slice.duration_ps)];
  const ofLane = slices.filter((slice) => slice.lane === lane);
  const spans = ofLane.map(span);
  // Waits are drawn lower than the line that is looked at.
  const bars = ofLane.filter(({ name }) => name !== "EVENT_SEMAPHORE").map(span);
  // Above the letters on the bars.
  const y = Math.ceil(top) + 1;
  const seen = { bar: 0, ground: 0 };
  for (let x = Math.ceil(scale.box.x) + 1; x < scale.box.x + scale.box.width - 1; x += 1) {
    const middle = x + 0.5;
    const isInside = bars.some(([left, right]) => middle > left + 1 && middle < right - 2);
    const isOutside = spans.every(([left, right]) => middle < left - 1 || middle > right + 1);
    if (!isInside && !isOutside) continue;
    const colour = at(x, y);
    const what = `${name}, lane ${lane}, at ${x}, ${y}: rgb(${colour})`;
    assert.equal(isBar(colour), isInside, `${what} where ${isInside ? "a slice" : "nothing"} should be`);
    seen[isInside ? "bar" : "ground"] += 1;
  }
  return seen;
}

/** How many pixels of two pictures of the same size differ by more than `tolerance` in a colour. */
export function difference(one, other, tolerance = 2) {
  assert.deepEqual([one.width, one.height], [other.width, other.height]);
  if (one.data.equals(other.data)) return 0;
  let count = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    let most = 0;
    for (let part = at; part < at + 3; part += 1) most = Math.max(most, Math.abs(one.data[part] - other.data[part]));
    if (most > tolerance) count += 1;
  }
  return count;
}

/** The contrast of two colours (WCAG 2.2). */
export function contrast(one, other) {
  const luminance = (colour) => {
    const [red, green, blue] = colour
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

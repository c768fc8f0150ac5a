// Pinned tracks have an area of their own, which leaves half of the timeline to all others.

import assert from "node:assert/strict";
import test from "node:test";
import { writeJob } from "./job.mjs";
import { ask, eventually, isBar, parametersOf, picture, reload, scaleOf, tracksOf, viewOf } from "./picture.mjs";
import { openPage, SERVED, serve } from "./stage.mjs";

const RANKS = 12;
const PS_PER_US = 1_000_000;
/** A heading, and a row of each rank, for two tracks. */
const PINNED_PX = 2 * (1 + RANKS) * 24;

const listOf = (page, name) => page.getByRole("list", { name, exact: true });
const pinsOf = (page) => page.getByRole("group", { name: "Pinned tracks over time", exact: true });
const othersOf = (page) => page.getByRole("group", { name: "Tracks over time", exact: true });
const scrolled = (part) => part.evaluate((rows) => rows.scrollTop);

test("pinned tracks scroll by themselves above the others", async (t) => {
  const job = await writeJob(t, Array(RANKS).fill(0));
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const calls = tracks.find(({ name }) => /^stream 20/.test(name));
  const events = (rank, id) => ask(url, `profiles/${slug}/ranks/${rank}/events?start_ps=0&end_ps=${1e12}&tracks=${id}&limit=100`);
  const call = (await events(0, calls.id)).slices[20];
  const end = call.start_ps + call.duration_ps;
  const window = `&from=${end - 300 * PS_PER_US}&to=${end + 300 * PS_PER_US}`;
  const { page, problems } = await openPage(t, { width: 1280, height: 900 });
  await page.goto(`${url}/profile/${slug}?v=2&rank=0${window}`);
  const rowOf = (list, name) => listOf(page, list).getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });
  const pin = async (name) => {
    const row = rowOf("Tracks", name);
    await row.hover({ position: { x: 60, y: 8 } });
    await row.getByRole("button", { name: "Show this track of all ranks" }).click();
    await rowOf("Pinned tracks", name).waitFor();
  };
  const boxes = async () => Promise.all([pinsOf(page), othersOf(page), tracksOf(page)].map((part) => part.boundingBox()));
  /** Whether a row is as a whole within its part. */
  const isInSight = async (row, part) => {
    const [row_box, box] = await Promise.all([row.boundingBox(), part.boundingBox()]);
    return row_box.y >= box.y - 1 && row_box.y + row_box.height <= box.y + box.height + 1;
  };

  await t.test("they take half of the timeline at most, and a new one comes into sight", async () => {
    assert.equal((await boxes())[0].height, 0);
    await pin(calls.name);
    await eventually(async () => assert.equal((await boxes())[0].height, PINNED_PX / 2));
    const other = tracks.find(({ name }) => /^stream 7/.test(name)).name;
    await pin(other);
    await eventually(async () => {
      const [pins, others, canvas] = await boxes();
      assert.ok(pins.height <= canvas.height / 2 && pins.height > canvas.height / 2 - 2, `${pins.height} of ${canvas.height}`);
      assert.ok(Math.abs(others.y - pins.y - pins.height) < 1 && others.height >= canvas.height / 2 - 1, `${others.height}`);
      assert.ok(await isInSight(rowOf("Pinned tracks", other), pinsOf(page)), "the new one");
    });
    assert.ok(await isInSight(rowOf("Tracks", "Rank 0"), othersOf(page)), "the rank below");
  });

  await t.test("each part scrolls alone, with bars, hovers and clicks in their places", async () => {
    const [pins, others, canvas] = await boxes();
    await page.mouse.move(canvas.x + 300, pins.y + 50);
    await page.mouse.wheel(0, 2_000);
    const end_px = PINNED_PX - pins.height;
    await eventually(async () => assert.ok(Math.abs((await scrolled(pinsOf(page))) - end_px) <= 1));
    assert.equal(await scrolled(othersOf(page)), 0);
    const last = rowOf("Pinned tracks", `Rank ${RANKS - 1}`).last();
    assert.ok(await isInSight(last, pinsOf(page)), "the last pinned row");
    // Right before the end of a collective each rank has a bar, and nobody right after it. Nothing reaches into the
    // other part.
    const { x } = await scaleOf(page);
    const { y } = await last.boundingBox();
    const bars = async () => {
      const seen = await picture(page);
      return [-10, 20].map((us) => isBar(seen.at(x(end + us * PS_PER_US), y + 12)));
    };
    const paths = parametersOf(page).get("pin").split(",");
    const isOfCalls = /stream 20/.test(paths.at(-1));
    if (isOfCalls) await eventually(async () => assert.deepEqual(await bars(), [true, false]));
    await page.mouse.click(x(end - (isOfCalls ? 10 : 200) * PS_PER_US), y + 12);
    await eventually(() => {
      assert.equal(viewOf(page).rank, RANKS - 1);
      assert.ok(viewOf(page).selected !== null, page.url());
    });
    // The panel of details makes the timeline lower, and the selection stays in sight.
    await eventually(async () => assert.ok(await isInSight(rowOf("Pinned tracks", `Rank ${RANKS - 1}`).last(), pinsOf(page))));
    await page.mouse.move(others.x + 20, others.y + others.height - 10);
  });

  await t.test("a link brings back both scrolls", async () => {
    await page.goto(`${url}/profile/${slug}?v=2&rank=0${window}&pin=${encodeURIComponent(parametersOf(page).get("pin"))}`);
    await listOf(page, "Pinned tracks").waitFor();
    await eventually(async () => assert.ok((await boxes())[0].height > 200));
    await pinsOf(page).evaluate((rows) => rows.scrollTo(0, 110));
    await eventually(() => assert.match(parametersOf(page).get("pin_row") ?? "", /stream/));
    assert.equal(parametersOf(page).get("row"), null);
    await reload(page);
    await eventually(async () => {
      const px = await scrolled(pinsOf(page));
      assert.ok(px > 110 - 24 && px <= 110, `${px}`);
    });
    assert.equal(await scrolled(othersOf(page)), 0);
  });

  await t.test("a link finds its place when its ranks come late, and then follows the user", SERVED, async () => {
    const link = page.url();
    // The row of the link is here before those below it, so the list cannot scroll to it yet.
    const isLate = (address) => Number(address.pathname.match(/\/ranks\/(\d+)$/)?.[1]) > 6;
    const hold = async (route) => {
      await rowOf("Pinned tracks", "Rank 6").first().waitFor();
      await page.waitForTimeout(300);
      await route.continue();
    };
    await page.route(isLate, hold);
    await page.goto("about:blank");
    await page.goto(link.replace(/pin_row=\d+:GPU%20\d+/, "pin_row=6:GPU%206"));
    await rowOf("Pinned tracks", "Rank 6").first().waitFor();
    const isOnTop = async () => {
      const [row, pins] = await Promise.all([rowOf("Pinned tracks", "Rank 6").first().boundingBox(), pinsOf(page).boundingBox()]);
      assert.ok(Math.abs(row.y - pins.y) <= 1, `${row.y} ${pins.y}`);
    };
    await rowOf("Pinned tracks", "Rank 11").first().waitFor();
    await eventually(isOnTop);
    assert.match(parametersOf(page).get("pin_row"), /^6:/);
    await page.unroute(isLate, hold);
    const brought_px = await scrolled(pinsOf(page));
    for (const [px, row] of [[brought_px - 48, /^4:/], [brought_px, /^6:/]]) {
      await pinsOf(page).evaluate((rows, px) => rows.scrollTo(0, px), px);
      await eventually(() => assert.match(parametersOf(page).get("pin_row"), row));
    }
  });

  await t.test("keys lead from one part to the other", async () => {
    const last = { rank: RANKS - 1, call: (await events(RANKS - 1, calls.id)).slices[20] };
    const paths = parametersOf(page).get("pin").split(",");
    const below = encodeURIComponent([...paths.filter((path) => !/stream 20/.test(path)), ...paths.filter((path) => /stream 20/.test(path))].join(","));
    await page.goto(`${url}/profile/${slug}?v=2&rank=${last.rank}&sel=${last.call.row}${window}&pin=${below}`);
    await rowOf("Pinned tracks", `Rank ${last.rank}`).first().waitFor();
    await page.locator(".panel").getByText(calls.name).first().waitFor();
    const selected = async () => {
      const { rank, selected } = viewOf(page);
      const { slice } = await ask(url, `profiles/${slug}/ranks/${rank}/slices/${selected}`);
      return { rank, track: slice.track };
    };
    assert.deepEqual(await selected(), { rank: last.rank, track: calls.id });
    // The last pinned row is above the rank's own first row with slices.
    await page.locator("body").press("ArrowDown");
    await eventually(async () => {
      const { track } = await selected();
      assert.ok(!/^stream (20|7) /.test(tracks.find(({ id }) => id === track).name), `${track}`);
    });
    await page.locator("body").press("ArrowUp");
    await eventually(async () => assert.deepEqual(await selected(), { rank: last.rank, track: calls.id }));
  });

  await t.test("without pins there is one part", async () => {
    await page.goto(`${url}/profile/${slug}?v=2&rank=0${window}`);
    await listOf(page, "Tracks").waitFor();
    await eventually(async () => {
      const [pins, others, canvas] = await boxes();
      assert.deepEqual([pins.height, others.height], [0, canvas.height]);
    });
  });
  assert.deepEqual(problems, []);
});

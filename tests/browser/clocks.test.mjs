// Ranks whose clocks differ stand on one clock, unless the user wants the times of the traces.

import assert from "node:assert/strict";
import test from "node:test";
import { STEP_MORE_US, writeJob } from "./job.mjs";
import { ask, eventually, isBar, parametersOf, picture, reload, rowOf, scaleOf, settledAddress, tracksOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const OFFSETS_US = [0, 5_300, -4_700];
const PS_PER_US = 1_000_000;
const STREAM = /^stream 20/;

/** The names and rows of collectives of a rank, on the rank's own clock. */
async function callsOf(url, slug, rank) {
  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/${rank}`);
  const track = tracks.find(({ name }) => STREAM.test(name));
  const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/${rank}/events?${whole}&tracks=${track.id}&limit=1000`);
  return { slices, track: track.name };
}

/** Whether a bar of each shown rank's stream covers this time, from the upper rank to the lower one. Looks above labels. */
async function areBars(page, track, ps) {
  const { x } = await scaleOf(page);
  const seen = await picture(page);
  const rows = await rowOf(page, track).all();
  const places = await Promise.all(rows.map((row) => row.boundingBox()));
  return places.sort((a, b) => a.y - b.y).map(({ y }) => isBar(seen.at(x(ps), y + 6)));
}

test("ranks below each other are on one clock, or on their own when the user wants that", async (t) => {
  const job = await writeJob(t, OFFSETS_US);
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { ranks } = await ask(url, `profiles/${slug}`);
  const found = new Map(ranks.map(({ rank, found }) => [rank, found]));
  assert.ok(Math.abs(found.get(1).offset_ps + 5_300 * PS_PER_US) <= found.get(1).bound_ps, JSON.stringify(found.get(1)));
  const { slices, track } = await callsOf(url, slug, 0);
  const call = slices[20];
  const end = call.start_ps + call.duration_ps;
  // All leave a collective together: right before its end, each rank has a bar.
  const inside = end - 10 * PS_PER_US;
  const window = `&from=${call.start_ps - 200 * PS_PER_US}&to=${end + 200 * PS_PER_US}`;

  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const aligned = page.getByRole("switch", { name: "aligned" });
  const raw = page.getByRole("switch", { name: "raw times" });
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&ranks=0,1,2${window}`);
  await aligned.waitFor();

  await t.test("the same collective stands at the same place", async () => {
    await eventually(async () => assert.deepEqual(await areBars(page, track, inside), [true, true, true]));
    await eventually(async () => assert.deepEqual(await areBars(page, track, end + 20 * PS_PER_US), [false, false, false]));
  });

  await t.test("raw times set them apart, and a reload and a link keep that", async () => {
    await page.locator("body").press("c");
    await raw.waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("clock"), "raw"));
    const apart = () => eventually(async () => assert.deepEqual(await areBars(page, track, inside), [true, false, false]));
    // The calls of ranks 1 and 2 are some steps away, where their ranks compute.
    await apart();
    await reload(page);
    await raw.waitFor();
    await apart();
    const { page: other } = await openPage(t, { width: 1600, height: 900 });
    await other.goto(await settledAddress(page));
    await eventually(async () => assert.deepEqual(await areBars(other, track, inside), [true, false, false]));
    await raw.click();
    await aligned.waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("clock"), null));
    await eventually(async () => assert.deepEqual(await areBars(page, track, inside), [true, true, true]));
  });

  await t.test("the badge says how the current rank is aligned", async () => {
    await page.getByRole("tab", { name: "Rank 1", exact: true }).click();
    const badge = page.getByRole("switch", { name: /^aligned by −5.3 ms ± / });
    await badge.waitFor();
    assert.match(await badge.getAttribute("title"), /as the collectives of all ranks show/);
    // The window is the same moment of the job in each tab, so nothing moved.
    assert.deepEqual(await areBars(page, track, inside), [true, true, true]);
  });

  await t.test("what the current rank shows stays in its place when the clock changes", async () => {
    const before = await scaleOf(page);
    await page.locator("body").press("c");
    await page.getByRole("switch", { name: "raw times" }).waitFor();
    await eventually(async () => {
      const { from } = await scaleOf(page);
      assert.equal(from - before.from, -found.get(1).offset_ps);
    });
    await page.locator("body").press("c");
    await eventually(async () => assert.equal((await scaleOf(page)).from, before.from));
  });
  assert.deepEqual(problems, []);
});

test("ranks whose clocks agree show no switch", async (t) => {
  const job = await writeJob(t, [0, 0]);
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2&rank=1`);
  await tracksOf(page).waitFor();
  await page.getByRole("tab", { name: "Rank 1", exact: true }).waitFor();
  assert.equal(await page.getByRole("switch").count(), 0);
  await page.locator("body").press("c");
  await page.waitForTimeout(300);
  assert.equal(parametersOf(page).get("clock"), null);
  assert.deepEqual(problems, []);
});

test("a marked step is compared with the steps of the same name in other ranks", async (t) => {
  const job = await writeJob(t, OFFSETS_US);
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const NAME = "ProfilerStep#20";
  const stepOf = async (rank) => {
    const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/${rank}`);
    const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
    const all = tracks.filter(({ kind }) => kind === "slices").map(({ id }) => id);
    const { slices } = await ask(url, `profiles/${slug}/ranks/${rank}/events?${whole}&tracks=${all}&limit=1000`);
    return slices.find(({ name }) => name === NAME);
  };
  const [own, other] = [await stepOf(0), await stepOf(2)];
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const there = `start_ps=${other.start_ps}&end_ps=${other.start_ps + other.duration_ps}`;
  const { by_name } = await ask(url, `profiles/${slug}/ranks/2/selection?${there}`);
  const more = 2 * STEP_MORE_US;
  const said = new RegExp(`${NAME} of each rank: .* here; .* in rank 2 \\(${more} µs longer, starts ${more} µs earlier\\)`);

  await page.goto(`${url}/profile/${slug}?v=2&rank=0&ranks=0,2&sel=${own.row}`);
  await page.getByRole("article", { name: "Details" }).getByRole("heading", { name: NAME }).waitFor();
  await page.locator("body").press("m");
  const panel = page.getByRole("tabpanel", { name: "Selection" });
  await panel.getByText(said).waitFor();
  await eventually(() => assert.equal(parametersOf(page).get("marked"), NAME));
  const table = panel.getByRole("table").first();
  await eventually(async () => {
    // Names on devices and names on host threads have a table each.
    const tables = panel.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "In rank 2" }) });
    const names = await tables.getByRole("row").filter({ hasText: /gemm_|ProfilerStep/ }).allInnerTexts();
    const expected = by_name.filter(({ name }) => /gemm_|ProfilerStep/.test(name)).map(({ name }) => name);
    assert.deepEqual(names.map((text) => text.split(/\s/)[0]).sort(), expected.sort());
  });
  // On the clocks of the traces the steps are 4.7 ms apart, and still the same step.
  await page.locator("body").press("c");
  await panel.getByText(/ProfilerStep#20 of each rank: .* in rank 2 \(14 µs longer, starts 4\.71\d* ms earlier\)/).waitFor();
  await page.locator("body").press("c");
  await panel.getByText(said).waitFor();
  await reload(page);
  await panel.getByText(said).waitFor();
  // A span of the ruler is the same span of all ranks.
  const marked = `${own.start_ps}..${own.start_ps + own.duration_ps}`;
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&ranks=0,2&mark=${marked}&tab=selection`);
  await table.getByRole("columnheader", { name: "In rank 2" }).waitFor();
  assert.equal(await panel.getByText(`${NAME} of each rank`).count(), 0);
  assert.deepEqual(problems, []);
});

test("a track is pinned in all ranks, in those that were latest, and unpinned", async (t) => {
  const RANKS = 12;
  const offsets = Array.from({ length: RANKS }, (_, rank) => (rank % 2) * 5_300);
  const LATE = 7;
  const job = await writeJob(t, offsets, { slow: { rank: LATE, us: 300 } });
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { slices, track } = await callsOf(url, slug, 0);
  const call = slices[20];
  const end = call.start_ps + call.duration_ps;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const rows = () => rowsOf(page);
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&from=${end - 200 * PS_PER_US}&to=${end + 100 * PS_PER_US}`);
  const row = rowOf(page, track);
  await row.hover({ position: { x: 60, y: 8 } });
  await row.getByRole("button", { name: "Show this track of all ranks" }).click();
  const all = Array.from({ length: RANKS }, (_, rank) => `Rank ${rank}`);
  await eventually(async () => assert.deepEqual((await rows()).slice(1, RANKS + 1), all));
  await eventually(() => assert.match(parametersOf(page).get("pin"), /stream 20/));
  // All of them on one clock: right before the end of a collective each has a bar.
  await eventually(async () => assert.ok((await barsOfRanks(page, end - 10 * PS_PER_US)).every(Boolean)));
  await eventually(async () => assert.ok(!(await barsOfRanks(page, end + 20 * PS_PER_US)).some(Boolean)));

  const choice = page.getByRole("combobox", { name: "Ranks of the pinned tracks" });
  await choice.selectOption("of the 8 latest");
  await eventually(async () => assert.equal((await rows())[1], `Rank ${LATE}`));
  await eventually(() => assert.equal(parametersOf(page).get("pin_ranks"), "latest"));
  await eventually(async () => assert.equal((await rows()).filter((name) => /^Rank \d+$/.test(name)).length, 8 + 1));
  await reload(page);
  await eventually(async () => assert.equal((await rows())[1], `Rank ${LATE}`));

  await page.getByRole("button", { name: "Unpin this track" }).click();
  await eventually(() => assert.equal(parametersOf(page).get("pin"), null));
  await rowOf(page, track).waitFor();
  // Keys do the same for the track of the selected slice.
  await page.goto(`${url}/profile/${slug}?v=2&rank=0&sel=${call.row}`);
  await page.getByRole("article", { name: "Details" }).getByRole("heading").first().waitFor();
  await page.locator("body").press("p");
  await eventually(async () => assert.deepEqual((await rows()).slice(1, RANKS + 1), all));
  await page.locator("body").press("p");
  await eventually(() => assert.equal(parametersOf(page).get("pin"), null));
  assert.deepEqual(problems, []);
});

/** The names of all rows in sight, from top to bottom. */
async function rowsOf(page) {
  const rows = await page.getByRole("list", { name: "Tracks" }).getByRole("listitem").all();
  const placed = await Promise.all(rows.map(async (row) => [(await row.boundingBox()).y, (await row.locator(".track-name").innerText()).trim()]));
  return placed.sort((a, b) => a[0] - b[0]).map(([, name]) => name);
}

/** Whether a bar of each pinned row covers this time. */
async function barsOfRanks(page, ps) {
  const { x } = await scaleOf(page);
  const seen = await picture(page);
  const rows = await page.getByRole("list", { name: "Tracks" }).getByRole("listitem").filter({ hasText: /^Rank \d+/ }).all();
  const places = (await Promise.all(rows.map((row) => row.boundingBox()))).sort((a, b) => a.y - b.y).slice(0, -1);
  return places.map(({ y }) => isBar(seen.at(x(ps), y + 12)));
}

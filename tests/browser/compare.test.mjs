// Two profiles in one timeline: their ranks stand beside each other, and begin together.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ask, barPixels, eventually, parametersOf, picture, reload, rowOf, scaleOf, tracksOf } from "./picture.mjs";
import { openPage, SERVED, serve } from "./stage.mjs";

const EVENTS = "5000";
const PADDING_PX = 3;
const LANE_PX = 18;

/** A server with the profiles "before" and "after", which are different jobs. */
async function bothIn(t) {
  const { url, store } = await serve(t, "demo", "--events", EVENTS, "--db-bucket", "before");
  const other = ["demo", "--ingest-only", "--events", EVENTS, "--seed", "7", "--db-bucket", "after", "--store", store];
  await promisify(execFile)(process.env.NPROF_BIN, other);
  return { url, store };
}

async function serveBoth(t) {
  return (await bothIn(t)).url;
}

function heading(page, rank, profile) {
  return page.getByRole("button", { name: `Rank ${rank} · ${profile}`, exact: true });
}

function rows(page) {
  return page.getByRole("list", { name: "Tracks" }).getByRole("listitem");
}

/** The longest slice of the engine Tensor of rank 0 in the middle of the profile, and the start of the profile. */
async function longSlice(url, slug) {
  const { start_ps } = await ask(url, `profiles/${slug}`);
  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { id } = tracks.find((track) => track.name === "Tensor");
  const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/0/events?${whole}&tracks=${id}&limit=2000`);
  const middle = slices.slice(slices.length / 4, (slices.length * 3) / 4);
  const slice = middle.reduce((a, b) => (b.lane === 0 && b.duration_ps > a.duration_ps ? b : a));
  return { slice, start_ps };
}

test("rank 0 of two profiles stands in one sheet", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { page, problems } = await openPage(t, { height: 1600 });
  await page.goto(`${url}/profile/before?v=2&rank=0`);
  await rowOf(page, "Tensor").waitFor();
  const alone = await rows(page).count();

  const tiles = new Set();
  page.on("response", (response) => {
    const profile = response.url().match(/\/api\/profiles\/(\w+)\/ranks\/0\/tiles\//)?.[1];
    if (profile && response.ok()) tiles.add(profile);
  });
  await page.goto(`${url}/compare/before/after`);
  await page.getByRole("main", { name: "Compare" }).waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await heading(page, 0, "before").waitFor();
  await heading(page, 0, "after").waitFor();
  // Both ranks have the same tracks, each below a heading.
  await eventually(async () => assert.equal(await rows(page).count(), 2 * (alone + 1)));
  await eventually(() => assert.deepEqual([...tiles].sort(), ["after", "before"]));
  for (const place of [0, 1]) {
    const row = await rowOf(page, "Tensor").nth(place).boundingBox();
    const box = await tracksOf(page).boundingBox();
    const part = { x: box.x, y: row.y, width: box.width, height: row.height };
    await eventually(async () => assert.ok(barPixels((await picture(page, part)).png) > 500, `row ${place} is empty`));
  }
  assert.deepEqual(problems, []);
});

test("a slice of the second profile shows its details, also after a reload", SERVED, async (t) => {
  const url = await serveBoth(t);
  const [{ start_ps: first_ps }, { slice, start_ps }] = await Promise.all([
    ask(url, "profiles/before"),
    longSlice(url, "after"),
  ]);
  // Both profiles begin together.
  const shown_ps = slice.start_ps - start_ps + first_ps;
  const [from, to] = [shown_ps - slice.duration_ps, shown_ps + 2 * slice.duration_ps];
  const { page, problems } = await openPage(t, { height: 1600 });
  await page.goto(`${url}/compare/before/after?v=2&rank=0&from=${from}&to=${to}`);
  await heading(page, 0, "after").waitFor();
  await eventually(async () => {
    // Rows move up when those that are empty here have become low.
    const [row, scale] = [await rowOf(page, "Tensor").nth(1).boundingBox(), await scaleOf(page)];
    const x = scale.x(shown_ps + slice.duration_ps / 2);
    const y = row.y + PADDING_PX + slice.lane * LANE_PX + LANE_PX / 2;
    await page.mouse.move(x + Math.random(), y);
    await page.getByRole("tooltip").getByText(slice.name).waitFor({ timeout: 500 });
    await page.mouse.click(x, y);
    const parameters = parametersOf(page);
    assert.deepEqual([parameters.get("rank"), parameters.get("sel")], ["0.1", String(slice.row)], page.url());
  });
  const details = page.getByRole("article", { name: "Details" });
  const ns = ((slice.start_ps - start_ps) / 1000).toLocaleString("en-US", { maximumFractionDigits: 3 });
  const check = async () => {
    await details.getByRole("heading", { name: slice.name }).waitFor();
    await details.getByText(`${ns} ns`, { exact: true }).first().waitFor();
    await details.getByText("Rank 0 · after › Engines › Tensor", { exact: true }).waitFor();
  };
  await check();
  await reload(page);
  await check();
  await heading(page, 0, "before").waitFor();
  assert.deepEqual(problems, []);
});

test("a marked span is added up in both profiles", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { start_ps, end_ps } = await ask(url, "profiles/before");
  const { page, problems } = await openPage(t);
  const span = `${start_ps}..${Math.floor((start_ps + end_ps) / 2)}`;
  await page.goto(`${url}/compare/before/after?v=2&rank=0&mark=${span}&tab=selection`);
  const panel = page.getByRole("tabpanel");
  await panel.getByRole("columnheader", { name: "In rank 0 of after" }).first().waitFor();
  await panel.getByRole("columnheader", { name: "Difference" }).first().waitFor();
  assert.deepEqual(problems, []);
});

test("the list leads to a comparison of two profiles", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { page, problems } = await openPage(t, { width: 1280, height: 1000 });
  await page.goto(url);
  const compare = (name) => page.getByRole("button", { name: `Compare ${name}`, exact: true });
  await compare("before").click();
  await eventually(async () => assert.equal(await compare("before").getAttribute("aria-pressed"), "true"));
  assert.equal(await compare("after").getAttribute("title"), "Compare with before");
  await compare("after").click();
  await page.getByRole("main", { name: "Compare" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/compare/before/after/compare");
  await page.getByRole("link", { name: "Timeline" }).click();
  await heading(page, 0, "after").waitFor();
  assert.equal(new URL(page.url()).pathname, "/compare/before/after");
  // A tab shows its rank of both.
  await page.getByRole("tab", { name: "Rank 1", exact: true }).click();
  await heading(page, 1, "before").waitFor();
  await heading(page, 1, "after").waitFor();
  await eventually(() => assert.equal(parametersOf(page).get("rank"), "1"));
  assert.deepEqual(problems, []);
});

test("a profile that is missing is named", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { page } = await openPage(t);
  await page.goto(`${url}/compare/before/aftr`);
  await page.getByText("No profile named “aftr”").waitFor();
  // The other profile stays.
  await page.getByRole("link", { name: "after", exact: true }).click();
  await page.getByRole("main", { name: "Compare" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/compare/before/after/compare");
  await page.goto(`${url}/compare/before`);
  await page.getByText("a comparison names 2 to 8 profiles").waitFor();
});

test("the place Compare says what differs, as the API does", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  const found = await ask(url, "profiles/before/comparison?with=after");
  await page.goto(`${url}/compare/before/after`);
  await page.getByRole("link", { name: "Compare", exact: true }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  const place = page.getByRole("main", { name: "Compare" });
  await place.getByRole("heading", { name: found.answer }).waitFor();
  for (const doubt of found.doubts) await place.getByText(doubt).waitFor();
  const first = place.getByRole("grid").getByRole("row").nth(1);
  await eventually(async () => assert.ok((await first.textContent()).includes(found.rows[0].name)));
  const overflow = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
  assert.ok(overflow <= 0, "the page scrolls");

  await place.getByRole("combobox", { name: "What a row is about" }).selectOption("layer");
  const byLayer = await ask(url, "profiles/before/comparison?with=after&by=layer");
  await eventually(async () => assert.ok((await first.textContent()).includes(byLayer.rows[0].name)));
  await reload(page);
  await eventually(async () => assert.ok((await first.textContent()).includes(byLayer.rows[0].name)));

  await page.keyboard.press("x");
  const swapped = await ask(url, "profiles/after/comparison?with=before&by=layer");
  await place.getByRole("heading", { name: swapped.answer }).waitFor();
  await page.goBack();
  await place.getByRole("heading", { name: byLayer.answer }).waitFor();
  assert.deepEqual(problems, []);
});

test("both timelines stand one above the other, and open above the same work", SERVED, async (t) => {
  const job = (fault, name) => ["demo", "--ranks", "1", "--events", "20000", "--fault", fault, "--db-bucket", name];
  const { url, store } = await serve(t, ...job("none", "sound"));
  await promisify(execFile)(process.env.NPROF_BIN, [...job("dma-late=3", "late"), "--ingest-only", "--store", store]);
  const found = await ask(url, "profiles/sound/comparison/tracks?with=late");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/compare/sound/late`);
  const both = page.getByRole("region", { name: "Both timelines" });
  await both.getByText(found.answer).waitFor();
  assert.equal(await both.locator(".paired-track").count(), found.tracks.length);
  // The band of a track leads from the first to the last moment of both runs.
  const [track] = found.tracks;
  for (const [run, key] of [["a", "a_length_ps"], ["b", "b_length_ps"]]) {
    assert.equal(track.stretches.reduce((sum, stretch) => sum + stretch[key], 0), found[run].length_ps);
  }

  // A place leads to itself, keys to its neighbours, and back to all.
  const picture = both.locator(".paired-area svg").first();
  const sight = async () => (await picture.getAttribute("viewBox")).split(" ").map(Number);
  const whole = await sight();
  const places = both.getByRole("group", { name: "Places that differ most" }).getByRole("button");
  await places.first().click();
  await eventually(async () => assert.ok((await sight())[2] < whole[2] / 2));
  const near = await sight();
  await both.getByRole("group", { name: /Tracks of A/ }).focus();
  await page.keyboard.press("-");
  await eventually(async () => assert.ok((await sight())[2] > near[2]));
  await page.keyboard.press("Home");
  await eventually(async () => assert.deepEqual(await sight(), whole));

  // A drag shows what it goes over.
  const area = await both.locator(".paired-area").first().boundingBox();
  await page.mouse.move(area.x + area.width * 0.25, area.y + 28);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.5, area.y + 28, { steps: 3 });
  await page.mouse.up();
  await eventually(async () => assert.ok(Math.abs((await sight())[2] / whole[2] - 0.25) < 0.01));

  // The timeline puts the same work of both one above the other, also after a reload. Behind the
  // loss, the second run is late by all of it.
  await page.mouse.dblclick(area.x + area.width * 0.5, area.y + 5);
  await eventually(async () => assert.deepEqual(await sight(), whole));
  await page.mouse.click(area.x + area.width * 0.93, area.y + 28);
  await eventually(async () => assert.ok((await sight())[2] < whole[2] / 2));
  await both.getByRole("button", { name: "Open in the timeline" }).click();
  await heading(page, 0, "late").waitFor();
  const lost = found.b.length_ps - found.a.length_ps;
  assert.ok(Math.abs(Number(parametersOf(page).get("later")) + lost) < lost / 100, page.url());
  const together = page.getByRole("button", { name: "Begin together" });
  await together.waitFor();
  await reload(page);
  await together.click();
  await eventually(() => assert.equal(parametersOf(page).get("later"), null));
  assert.deepEqual(problems, []);
});

test("two ranks and two layers of one profile are compared, and swapped", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "20000", "--fault", "pause=1", "--db-bucket", "run");
  const comparison = (query) => ask(url, `profiles/run/comparison?with=run&${query}`);
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/profile/run/summary?v=2&rank=0`);
  await page.getByRole("main", { name: "Summary" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  const place = page.getByRole("main", { name: "Compare" });
  await place.getByText("Choose another rank or region for B").waitFor();
  await place.getByRole("combobox", { name: "Ranks of A" }).selectOption("rank 0");
  await place.getByRole("combobox", { name: "Ranks of B" }).selectOption("rank 1");
  const ranks = await comparison("ranks=0&with_ranks=1");
  await place.getByRole("heading", { name: ranks.answer }).waitFor();

  // The durations of each row are those of the API.
  const durations = ranks.rows.filter((row) => row.durations);
  assert.ok(durations.length > 0);
  for (const row of durations) {
    const sum = (counts) => counts.reduce((a, b) => a + b, 0);
    assert.deepEqual([sum(row.durations.a), sum(row.durations.b)], [row.a_count, row.b_count], row.name);
  }
  await eventually(async () => assert.ok((await place.getByRole("img", { name: /A: .* to .*, B: / }).count()) > 0));

  await reload(page);
  await place.getByRole("heading", { name: ranks.answer }).waitFor();
  await page.keyboard.press("x");
  const swapped = await comparison("ranks=1&with_ranks=0");
  await place.getByRole("heading", { name: swapped.answer }).waitFor();

  // Layers of one rank, by the names that the choice offers.
  await place.getByRole("combobox", { name: "Ranks of A" }).selectOption("rank 0");
  const { regions } = await ask(url, "profiles/run/ranks/0/regions");
  const [first, second] = regions.filter((region) => /\/mlp$/.test(region.name)).map((region) => region.name);
  assert.ok(second, "the demo has layers");
  const offered = place.locator(`#compare-regions-B option[value="${second}"]`);
  await offered.waitFor({ state: "attached" });
  for (const [side, name] of [["A", first], ["B", second]]) {
    const region = place.getByRole("combobox", { name: `Region of ${side}` });
    await region.fill(name);
    await region.press("Enter");
  }
  const layers = await comparison(`ranks=0&with_ranks=0&region=${encodeURIComponent(first)}&with_region=${encodeURIComponent(second)}`);
  await place.getByRole("heading", { name: layers.answer }).waitFor();
  assert.deepEqual(problems, []);
});

test("a finding about a late rank leads to its comparison with a usual one", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "4", "--events", "40000", "--straggler", "2", "--db-bucket", "job");
  const { findings } = await ask(url, "profiles/job/findings");
  const late = findings.find(({ rule, state }) => rule === "late-rank" && state === "found");
  assert.equal(late.rank, 2);
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
  const row = page.getByRole("list", { name: "Findings" }).getByRole("listitem").filter({ hasText: "late-rank" }).first();
  await row.hover();
  await row.getByRole("button", { name: "why" }).click();
  const ranks = `ranks=${late.usual_rank}&with_ranks=2`;
  const found = await ask(url, `profiles/job/comparison?with=job&${ranks}`);
  await page.getByRole("main", { name: "Compare" }).getByRole("heading", { name: found.answer }).waitFor();
  const both = page.getByRole("region", { name: "Both timelines" });
  await both.getByText(/B began .* (after|before) A/).waitFor();
  const tracks = await ask(url, `profiles/job/comparison/tracks?with=job&${ranks}`);
  assert.equal(tracks.a.repetition, tracks.b.repetition, "both ranks did it together");
  assert.deepEqual(problems, []);
});

test("a single profile says how to compare it", SERVED, async (t) => {
  const url = await serveBoth(t);
  const { page, problems } = await openPage(t, {});
  await page.goto(`${url}/profile/before/compare`);
  await page.getByText("One profile is open.").waitFor();
  assert.deepEqual(problems, []);
});

test("one file has both profiles, and opens with their comparison", SERVED, async (t) => {
  const { url, store } = await bothIn(t);
  const file = join(store, "diff.html");
  await promisify(execFile)(process.env.NPROF_BIN, ["diff", "before", "after", "--report", file, "--store", store]);
  const found = await ask(url, "profiles/before/comparison?with=after");
  const { page, problems } = await openPage(t, { width: 1440, height: 1600, first: null });
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  const place = page.getByRole("main", { name: "Compare" });
  await place.getByRole("heading", { name: found.answer }).waitFor();
  const first = place.getByRole("grid").getByRole("row").nth(1);
  await eventually(async () => assert.ok((await first.textContent()).includes(found.rows[0].name)));
  await place.getByRole("combobox", { name: "What a row is about" }).selectOption("layer");
  const byLayer = await ask(url, "profiles/before/comparison?with=after&by=layer");
  await eventually(async () => assert.ok((await first.textContent()).includes(byLayer.rows[0].name)));
  await page.keyboard.press("x");
  const swapped = await ask(url, "profiles/after/comparison?with=before&by=layer");
  await place.getByRole("heading", { name: swapped.answer }).waitFor();
  await page.keyboard.press("x");
  await place.getByRole("heading", { name: byLayer.answer }).waitFor();

  const tracks = await ask(url, "profiles/before/comparison/tracks?with=after");
  await place.getByRole("region", { name: "Both timelines" }).getByText(tracks.answer).waitFor();

  // Both timelines, each rank from its own segment.
  await page.getByRole("link", { name: "Timeline" }).click();
  await heading(page, 0, "before").waitFor();
  await heading(page, 0, "after").waitFor();
  const of = (profile) => ask(url, `profiles/${profile}/ranks/0/summary`);
  assert.notDeepEqual((await of("before")).groups, (await of("after")).groups);

  // Each profile alone has its own findings.
  for (const profile of ["before", "after"]) {
    const { answer } = await ask(url, `profiles/${profile}/findings`);
    await page.goto(`${pathToFileURL(file).href}#/profile/${profile}/summary?v=2&rank=0`);
    await page.getByRole("main", { name: "Summary" }).getByRole("heading", { name: answer }).waitFor();
  }
  const isInside = (address) => /^(file|blob|data):/.test(address);
  assert.deepEqual(requests.filter((address) => !isInside(address)), []);
  assert.deepEqual(problems, []);
});

test("one file has two parts of a profile, and opens with their comparison", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--ranks", "3", "--events", "20000", "--db-bucket", "job");
  const { regions } = await ask(url, "profiles/job/ranks/0/regions");
  const [first, second] = regions.filter(({ kind }) => kind === "layer").map(({ name }) => name);
  const parts = [
    [["--ranks", "0", "--b-ranks", "1,2"], "ranks=0&with_ranks=1,2", "with_ranks=0&ranks=1,2"],
    [
      ["--ranks", "1", "--region", first, "--b-region", second],
      `ranks=1&with_ranks=1&region=${encodeURIComponent(first)}&with_region=${encodeURIComponent(second)}`,
      `ranks=1&with_ranks=1&region=${encodeURIComponent(second)}&with_region=${encodeURIComponent(first)}`,
    ],
  ];
  const { page, problems } = await openPage(t, { width: 1440, height: 900, first: null });
  for (const [at, [choice, asked, swapped]] of parts.entries()) {
    const file = join(store, `parts-${at}.html`);
    await promisify(execFile)(process.env.NPROF_BIN, ["diff", "job", ...choice, "--report", file, "--store", store]);
    await page.goto(pathToFileURL(file).href);
    const place = page.getByRole("main", { name: "Compare" });
    const answer = async (of) => (await ask(url, `profiles/job/comparison?with=job&${of}`)).answer;
    await place.getByRole("heading", { name: await answer(asked) }).waitFor();
    const tracks = await ask(url, `profiles/job/comparison/tracks?with=job&${asked}`);
    await place.getByRole("region", { name: "Both timelines" }).getByText(tracks.answer).waitFor();
    await page.keyboard.press("x");
    await place.getByRole("heading", { name: await answer(swapped) }).waitFor();
  }
  assert.deepEqual(problems, []);
});

test("the place Compare names findings that came and went", SERVED, async (t) => {
  const job = (fault, name) => ["demo", "--ranks", "1", "--events", "50000", "--fault", fault, "--db-bucket", name];
  const { url, store } = await serve(t, ...job("none", "sound"));
  await promisify(execFile)(process.env.NPROF_BIN, [...job("spill", "spilling"), "--ingest-only", "--store", store]);
  const { findings } = await ask(url, "profiles/spilling/findings");
  const spill = findings.find(({ rule }) => rule === "spill");
  assert.equal(spill.state, "found");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  const changed = page.getByRole("list", { name: "Findings that changed" }).getByRole("listitem").filter({ hasText: spill.text });
  await page.goto(`${url}/compare/sound/spilling`);
  await changed.filter({ hasText: /^new/ }).waitFor();
  await page.keyboard.press("x");
  await changed.filter({ hasText: /^gone/ }).waitFor();
  await page.goto(`${url}/compare/sound/sound`);
  await page.getByText("Both runs have the same findings.").waitFor();
  assert.deepEqual(problems, []);
});

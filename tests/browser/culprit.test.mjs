// From the view of all ranks to the culprit: members of an operation, its arrival front, what the late rank did instead.
// Everything is found by clicking.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, parametersOf, picture, rowOf, scaleOf, settled, tracksOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const RANKS = 64;
const STRAGGLER = 17;
const ACCENT = { light: [52, 81, 198], dark: [142, 168, 255] };
/** Most difference of a part of a colour. */
const TOLERANCE = 40;
/** Of a front under the pointer, as in frontend/src/draw/overlay.rs. */
const POINTED_STRENGTH = 0.75;

/** A served job with a late rank, and what its operations are. */
async function jobOf(t) {
  const job = ["--ranks", String(RANKS), "--straggler", String(STRAGGLER), "--collectives", "60"];
  const { url } = await serve(t, "demo", ...job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const all = `profiles/${slug}/ranks/all`;
  const { tracks, entry } = await ask(url, all);
  const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
  const slicesOf = async (track) => (await ask(url, `${all}/events?${whole}&tracks=${track}&limit=10000`)).slices;
  const sliceOf = (row) => ask(url, `${all}/slices/${row}`);
  const wait = `wait for rank ${STRAGGLER}`;
  const rowsOfKinds = tracks.filter((track) => track.kind === "slices" && track.rank === null);
  const rowOfRank = (rank) => tracks.find((track) => track.rank === rank && track.kind === "slices").id;
  return { url, slug, tracks, slicesOf, sliceOf, wait, rowsOfKinds, rowOfRank };
}

/** The waits of a rank for the straggler, the longest first. */
async function waitsOf({ slicesOf, rowOfRank, wait }, rank) {
  const waits = (await slicesOf(rowOfRank(rank))).filter((slice) => slice.name === wait);
  return waits.sort((a, b) => b.duration_ps - a.duration_ps);
}

/** A window in which an operation takes a third. */
function around(members) {
  const from = Math.min(...members.map((one) => one.start_ps));
  const to = Math.max(...members.map((one) => one.end_ps));
  return [2 * from - to, 2 * to - from];
}

/** The members of those rows of ranks that are in sight, each with the middle of its row. */
async function placesOf(page, members) {
  const box = await tracksOf(page).boundingBox();
  const items = await page.getByRole("list", { name: "Tracks" }).getByRole("listitem").filter({ hasText: /^Rank \d/ }).all();
  const named = await Promise.all(items.map(async (item) => [Number((await item.innerText()).match(/\d+/)[0]), await item.boundingBox()]));
  const places = named.map(([rank, row]) => ({ member: members.find((one) => one.rank === rank), y: row.y + 10 }));
  return places.filter(({ member, y }) => member && y > box.y + 4 && y < box.y + box.height - 4);
}

/** How many of these places have the front's colour at a time. On light ground it can be weaker. */
async function crossed(page, places, time, theme = "light", strength = 1) {
  const [scale, { at }] = [await scaleOf(page), await picture(page)];
  const isFront = (x, y) => at(x, y).every((part, index) => Math.abs(part - strength * ACCENT[theme][index] - (1 - strength) * 255) <= TOLERANCE);
  return places.filter(({ member, y }) => [-1, 0, 1].some((step) => isFront(scale.x(time(member)) + step, y))).length;
}

const details = (page) => page.getByRole("article", { name: "Details" });

test("a planted straggler is found by clicking", async (t) => {
  const job = await jobOf(t);
  const { url, slug, sliceOf } = job;
  const [longest, other] = await waitsOf(job, 3);
  const { members } = await sliceOf(longest.row);
  assert.equal(members.length, RANKS);
  assert.deepEqual(members.filter((one) => one.is_awaited).map((one) => one.rank), [STRAGGLER]);
  const late = members.find((one) => one.is_awaited);
  const first_ps = Math.min(...members.map((one) => one.start_ps));
  const { page, problems } = await openPage(t);
  const open = async () => {
    await page.goto(addressOf(url, slug, around(members), "&rank=all"));
    await settled(page);
  };
  const click = async (slice) => {
    const [scale, row] = [await scaleOf(page), await rowOf(page, "Rank 3").boundingBox()];
    await page.mouse.click(scale.x(slice.start_ps + slice.duration_ps / 2), row.y + 12);
    await eventually(() => assert.equal(viewOf(page).selected, slice.row, page.url()));
  };
  const rows = details(page).getByRole("grid", { name: "Arrivals of ranks" }).locator("tbody tr:not(.space)");

  await t.test("the first picture names the late rank, and leads to what it did", async () => {
    await page.goto(`${url}/profile/${slug}?v=2&rank=all`);
    const notice = page.getByRole("status").filter({ hasText: "Most waiting began at" });
    await notice.getByText(`rank ${STRAGGLER}`, { exact: true }).waitFor();
    // A file has the findings, and with them the time that the run would save.
    await notice.getByText(/: (.*s, summed over the ranks|the run would be .*s shorter without it \(.* %\))$/).waitFor();
    await notice.getByRole("button", { name: "Show what it did" }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    await eventually(() => assert.ok(parametersOf(page).get("sel"), page.url()));
    await page.goBack();
    await notice.getByRole("button", { name: /^Close/ }).click();
    await notice.waitFor({ state: "detached" });
  });

  await t.test("a click on a wait shows the arrival front", async () => {
    await open();
    const places = await placesOf(page, members);
    assert.ok(places.length > 8, `${places.length} rows in sight`);
    assert.equal(await crossed(page, places, (member) => member.start_ps), 0);
    await click(longest);
    await rows.first().waitFor();
    await eventually(async () => {
      // The outline of the selected wait covers the front in the wait's own row.
      const seen = (await placesOf(page, members)).filter(({ member }) => member.rank !== 3);
      assert.equal(await crossed(page, seen, (member) => member.start_ps), seen.length);
    });
  });

  await t.test("the arrivals are listed, the latest first, and sorted on request", async () => {
    await details(page).getByRole("heading", { name: `Arrivals (${RANKS})` }).waitFor();
    assert.match(await rows.first().innerText(), new RegExp(`^${STRAGGLER}\\s+last\\s`));
    assert.ok((await rows.count()) < 30, "only rows in sight are in the page");
    const [offset] = (await rows.first().locator("td").nth(1).innerText()).split(/\s/);
    assert.ok(Number(offset) > 0, offset);
    const heading = details(page).getByRole("columnheader", { name: /^Rank\b/ });
    await heading.getByRole("button").click();
    await heading.getByRole("button").click();
    await eventually(async () => assert.match(await rows.first().innerText(), /^0\s/));
    await details(page).getByRole("columnheader", { name: "Arrival" }).getByRole("button").click();
    await eventually(async () => assert.match(await rows.first().innerText(), new RegExp(`^${STRAGGLER}\\s`)));
  });

  await t.test("the last one leads to its call in its rank", async () => {
    await rows.first().getByRole("button", { name: String(STRAGGLER) }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    const tab = page.getByRole("tab", { name: `Rank ${STRAGGLER}`, exact: true });
    assert.equal(await tab.getAttribute("aria-selected"), "true");
    await eventually(() => {
      const { from, to, selected } = viewOf(page);
      assert.equal(selected, late.call);
      assert.ok(from <= late.start_ps && late.start_ps <= to, page.url());
    });
    await details(page).getByRole("heading").first().waitFor();
    await page.goBack();
    await rows.first().waitFor();
  });

  await t.test("a button leads to what it did instead", async () => {
    await details(page).getByRole("button", { name: `What rank ${STRAGGLER} did` }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    await eventually(() => assert.ok(viewOf(page).selected !== null, page.url()));
    const { from, to, selected } = viewOf(page);
    assert.ok(from <= first_ps && late.start_ps <= to, page.url());
    const rank = `profiles/${slug}/ranks/${STRAGGLER}`;
    const { tracks } = await ask(url, rank);
    const isWork = new Set(tracks.filter((track) => !track.is_auxiliary).map((track) => track.id));
    const { slices } = await ask(url, `${rank}/events?start_ps=${first_ps}&end_ps=${late.start_ps}&limit=20000`);
    const inside = (slice) => Math.min(slice.start_ps + slice.duration_ps, late.start_ps) - Math.max(slice.start_ps, first_ps);
    const most = Math.max(...slices.filter((slice) => isWork.has(slice.track)).map(inside));
    const own = slices.find((slice) => slice.row === selected);
    assert.ok(own && isWork.has(own.track), `row ${selected}`);
    assert.equal(inside(own), most);
    await details(page).getByRole("heading", { name: own.name }).first().waitFor();
    await page.goBack();
    await rows.first().waitFor();
  });

  await t.test("the front of an operation under the pointer shows after a rest", async () => {
    const { members } = await sliceOf(other.row);
    await page.goto(addressOf(url, slug, around(members), "&rank=all"));
    await settled(page);
    const pointed = async () => {
      const seen = await placesOf(page, members);
      const lines = await crossed(page, seen, (member) => member.start_ps, "light", POINTED_STRENGTH);
      return { lines, rows: seen.length };
    };
    await eventually(async () => {
      const [scale, row] = [await scaleOf(page), await rowOf(page, "Rank 3").boundingBox()];
      await page.mouse.move(scale.x(other.start_ps + other.duration_ps / 2) + Math.random(), row.y + 12);
      await page.getByRole("tooltip").getByText(other.name).waitFor({ timeout: 500 });
      // The tooltip covers some rows.
      const { lines, rows } = await pointed();
      assert.ok(lines >= rows / 2, `${lines} of ${rows}`);
    });
    await page.mouse.move(5, 5);
    await eventually(async () => assert.equal((await pointed()).lines, 0));
    assert.equal(viewOf(page).selected, null);
  });
  assert.deepEqual(problems, []);
});

test("the front crosses strips of heat, also in the dark", async (t) => {
  const job = await jobOf(t);
  const { url, slug, sliceOf } = job;
  const [longest] = await waitsOf(job, 3);
  const { members } = await sliceOf(longest.row);
  const { page, problems } = await openPage(t, { width: 1280, height: 420, colorScheme: "dark" });
  await page.goto(addressOf(url, slug, around(members), `&rank=all&rows=fit&sel=${longest.row}&dock=closed`));
  await rowOf(page, "Rank 0").waitFor();
  await eventually(async () => {
    // Rows that have nothing in sight get low a moment later, and the others move up.
    const [from, to] = await Promise.all([rowOf(page, "Rank 0"), page.locator(".timeline-rows")].map((of) => of.boundingBox()));
    const step = Math.floor((to.y + to.height - from.y) / RANKS);
    assert.ok(step >= 1 && step < 3, `${step} pixels a row`);
    const seen = members.map((member) => ({ member, y: from.y + member.rank * step + step / 2 }));
    const count = await crossed(page, seen, (member) => member.start_ps, "dark");
    assert.ok(count > 0.8 * RANKS, `${count} rows`);
  });
  assert.deepEqual(problems, []);
});

test("keys and buttons step from operation to operation of a kind", async (t) => {
  const { url, slug, rowsOfKinds, slicesOf, sliceOf, rowOfRank } = await jobOf(t);
  const { page, problems } = await openPage(t);
  const numberOf = (slice) => slice.fields.find((field) => field.name === "operation").value.int;
  const check = async (track, isOf) => {
    const all = [];
    for (const { row } of await slicesOf(track)) {
      const slice = await sliceOf(row);
      if (!slice.slice.name.startsWith("wait ") && isOf(slice)) all.push({ row, number: numberOf(slice), members: slice.members });
    }
    all.sort((a, b) => a.number - b.number);
    const at = all.length >> 1;
    await page.goto(addressOf(url, slug, around(all[at].members), `&rank=all&sel=${all[at].row}`));
    await details(page).getByRole("button", { name: "Next operation of this kind" }).click();
    await eventually(() => assert.equal(viewOf(page).selected, all[at + 1].row));
    const { from, to } = viewOf(page);
    const { members } = all[at + 1];
    assert.ok(members.every((one) => from <= one.start_ps && one.end_ps <= to), "all of it is in sight");
    await details(page).getByRole("heading", { name: `Arrivals (${RANKS})` }).waitFor();
    await page.locator("body").press("b");
    await eventually(() => assert.equal(viewOf(page).selected, all[at].row));
    await details(page).getByRole("heading", { name: `Arrivals (${RANKS})` }).waitFor();
    await page.locator("body").press("b");
    await eventually(() => assert.equal(viewOf(page).selected, all[at - 1].row));
    await details(page).getByRole("heading", { name: `Arrivals (${RANKS})` }).waitFor();
    await page.locator("body").press("n");
    await eventually(() => assert.equal(viewOf(page).selected, all[at].row));
    await page.goto(addressOf(url, slug, around(all.at(-1).members), `&rank=all&sel=${all.at(-1).row}`));
    await details(page).getByRole("button", { name: "Next operation of this kind" }).click();
    await page.getByText("This is the last operation of its kind").waitFor({ state: "attached" });
    return all;
  };
  const [kind] = rowsOfKinds;
  const numbers = new Set();
  await t.test("on the row of the kind", async () => {
    (await check(kind.id, () => true)).forEach((one) => numbers.add(one.number));
  });
  await t.test("on the row of a rank", async () => {
    await check(rowOfRank(5), (slice) => numbers.has(numberOf(slice)));
  });
  assert.deepEqual(problems, []);
});

test("tables lead to the late rank", async (t) => {
  const { url, slug, tracks } = await jobOf(t);
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const open = async (table) => {
    await page.goto(`${url}/profile/${slug}/data?v=2&rank=all&table=${table}`);
    await page.getByRole("grid").waitFor();
  };
  const isAtStraggler = async () => {
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    await eventually(() => assert.ok(viewOf(page).selected !== null, page.url()));
    await details(page).getByRole("heading").first().waitFor();
  };
  const link = (name) => page.getByRole("grid").getByRole("button", { name, exact: true });

  for (const [table, name] of [["rank", String(STRAGGLER)], ["cause", `rank ${STRAGGLER}`], ["operation_size", String(STRAGGLER)]]) {
    await t.test(`from the table ${table}`, async () => {
      await open(table);
      await link(name).first().click();
      await isAtStraggler();
    });
  }

  await t.test("an operation has one row, and its number leads to it", async () => {
    await open("operation");
    const matches = page.locator(".table-matches");
    const count = async () => Number((await matches.innerText()).replaceAll(",", "").match(/^\d+/)[0]);
    const { tables } = await ask(url, `profiles/${slug}/ranks/all`);
    const slices = tables.find((of) => of.name === "operation").rows;
    const { columns } = await ask(url, `profiles/${slug}/ranks/all/tables/job`);
    const operations = columns.find((column) => column.name === "operations").values.ints[0];
    assert.ok(slices > operations, "there are waits");
    assert.equal(await count(), operations);
    const listed = page.locator(".table-entry[aria-current] .table-count");
    assert.equal(await listed.innerText(), operations.toLocaleString("en-US"));
    // With a filter, the count is of the rows that the table can show.
    const filter = page.getByRole("searchbox", { name: "Filter rows" });
    await filter.fill(`last_rank:${STRAGGLER}`);
    await matches.getByText(new RegExp(`^\\d+ of ${operations} rows$`)).waitFor();
    await filter.fill("");
    await eventually(async () => assert.equal(await count(), operations));
    await page.getByRole("button", { name: "With waits" }).click();
    await eventually(async () => assert.equal(await count(), slices));
    assert.equal(await listed.innerText(), slices.toLocaleString("en-US"));
    await eventually(() => assert.equal(parametersOf(page).get("waits"), "shown"));
    await page.getByRole("button", { name: "Without waits" }).click();
    await eventually(async () => assert.equal(await count(), operations));
    const late = page.getByRole("grid").getByTitle("Show what this rank did while others waited for it");
    await late.filter({ hasText: new RegExp(`^${STRAGGLER}$`) }).first().click();
    await isAtStraggler();
  });

  await t.test("a call leads to its operation", async () => {
    await open("call");
    await page.getByRole("grid").getByTitle("Show the operation").first().click();
    await eventually(() => assert.ok(viewOf(page).selected !== null, page.url()));
    await details(page).getByRole("heading", { name: `Arrivals (${RANKS})` }).waitFor();
    assert.ok(tracks.length > RANKS);
  });
  assert.deepEqual(problems, []);
});

// The view of all ranks: a planted straggler is found by clicking only.

import assert from "node:assert/strict";
import test from "node:test";
import { PNG } from "pngjs";
import { ask, eventually, parametersOf, reload, rowOf, tracksOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const STRAGGLER = 5;

test("the tab of all ranks leads to the rank that is late", async (t) => {
  const job = ["--ranks", "8", "--straggler", String(STRAGGLER), "--collectives", "100"];
  const { url } = await serve(t, "demo", ...job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}`);
  const tab = (name) => page.getByRole("tab", { name, exact: true });

  await t.test("a profile of several ranks opens with it", async () => {
    await rowOf(page, "Rank 7").waitFor();
    assert.equal(await tab("Collectives of all ranks").getAttribute("aria-selected"), "true");
    await eventually(() => assert.equal(parametersOf(page).get("rank"), "all", page.url()));
    const first = await page.getByRole("tab").first().getAttribute("aria-label");
    assert.equal(first, "Collectives of all ranks");
  });

  await t.test("a search without hits says so of collectives and of the ranks", async () => {
    const box = page.getByRole("searchbox", { name: "Search names and fields" });
    await box.fill("surely not in it");
    await page.getByText("No collective matches “surely not in it”.").waitFor();
    const byRank = page.getByRole("region", { name: "Hits by rank" });
    await byRank.getByText(/^None of \d+ ranks has such slices of its own\.$/).waitFor();
    await box.press("Escape");
    await eventually(() => assert.equal(parametersOf(page).get("q"), null, page.url()));
  });

  await t.test("the summary names the straggler first", async () => {
    await page.getByRole("link", { name: "Summary" }).click();
    const began = page.locator(".summary-cards").getByRole("heading", { name: "Where waiting began" });
    await began.waitFor();
    const card = page.locator(".summary-card").filter({ has: page.getByRole("heading", { name: "Where waiting began" }) });
    const text = await card.last().innerText();
    assert.match(text, new RegExp(`^Where waiting began\\s+rank ${STRAGGLER}\\s`));
    await card.last().getByRole("button", { name: `rank ${STRAGGLER}`, exact: true }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    await page.goBack();
    await began.waitFor();
  });

  await t.test("a wait leads to the late call, and that to the rank", async () => {
    await page.getByRole("link", { name: "Timeline" }).click();
    await rowOf(page, "Rank 7").waitFor();
    await page.getByRole("searchbox", { name: "Search names and fields" }).fill(`wait for rank ${STRAGGLER}`);
    await page.keyboard.press("Enter");
    const details = page.getByRole("article", { name: "Details" });
    await details.getByRole("heading", { name: `wait for rank ${STRAGGLER}` }).waitFor();
    // A wait of an operation is on the row of its kind; one of a call has an arrow.
    const late = details.getByRole("button", { name: new RegExp(`Ranks › Rank ${STRAGGLER}`) });
    for (let step = 0; step < 20 && (await late.count()) === 0; step++) {
      await page.keyboard.press("Enter");
      await page.waitForTimeout(300);
    }
    await late.click();
    await details.getByText(`Ranks › Rank ${STRAGGLER}`, { exact: true }).waitFor();
    await details.getByRole("button", { name: `Open in rank ${STRAGGLER}` }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), String(STRAGGLER), page.url()));
    assert.equal(await tab(`Rank ${STRAGGLER}`).getAttribute("aria-selected"), "true");
    await details.getByRole("heading").first().waitFor();
    await eventually(() => assert.ok(parametersOf(page).get("sel"), page.url()));
  });

  assert.deepEqual(problems, []);
});

/** The names of the rows of ranks, from top to bottom. */
async function rowsOfRanks(page) {
  const rows = await page.getByRole("list", { name: "Tracks" }).getByRole("listitem").all();
  const placed = await Promise.all(rows.map(async (row) => [(await row.boundingBox()).y, (await row.innerText()).split("\n")[0]]));
  return placed.sort((a, b) => a[0] - b[0]).map(([, name]) => name).filter((name) => /^Rank \d/.test(name));
}

test("rows of ranks are sorted by lateness, and steps follow them", async (t) => {
  const job = ["--ranks", "8", "--straggler", String(STRAGGLER), "--collectives", "100"];
  const { url } = await serve(t, "demo", ...job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2&rank=all`);
  await rowOf(page, "Rank 7").waitFor();
  const numbers = [0, 1, 2, 3, 4, 5, 6, 7].map((rank) => `Rank ${rank}`);
  assert.deepEqual(await rowsOfRanks(page), numbers);

  await t.test("the menu sorts them, and the address keeps it", async () => {
    const menu = page.getByRole("combobox", { name: "Order of the ranks" });
    assert.doesNotMatch(await menu.innerText(), /By host/, "all ranks are on one host");
    await menu.selectOption("Latest first");
    await eventually(async () => assert.equal((await rowsOfRanks(page))[0], `Rank ${STRAGGLER}`));
    await eventually(() => assert.equal(parametersOf(page).get("order"), "late"));
    // The row says why it is there.
    await rowOf(page, `Rank ${STRAGGLER}`).getByText(/others waited for it .*s/).waitFor({ state: "attached" });
    await reload(page);
    await eventually(async () => assert.equal((await rowsOfRanks(page))[0], `Rank ${STRAGGLER}`));
    await menu.selectOption("Longest wait first");
    // Nobody waits less than the straggler.
    await eventually(async () => assert.equal((await rowsOfRanks(page)).at(-1), `Rank ${STRAGGLER}`));
  });

  await t.test("a step down leads to the row below, and the last row is the last one", async () => {
    const order = (await rowsOfRanks(page)).map((name) => Number(name.slice("Rank ".length)));
    const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/all`);
    const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
    const track = tracks.find((track) => track.rank === order[5]).id;
    const { slices } = await ask(url, `profiles/${slug}/ranks/all/events?${whole}&tracks=${track}&limit=100`);
    const call = slices[slices.length >> 1];
    await page.goto(`${url}/profile/${slug}?v=2&rank=all&order=wait&sel=${call.row}`);
    const details = page.getByRole("article", { name: "Details" });
    const sorted = () => eventually(async () => assert.deepEqual(await rowsOfRanks(page), order.map((rank) => `Rank ${rank}`)));
    // Rows have the order of numbers until the waits are here.
    await sorted();
    for (const rank of order.slice(5)) {
      await details.getByText(`Ranks › Rank ${rank}`, { exact: true }).first().waitFor();
      await page.keyboard.press("ArrowDown");
    }
    await page.getByText("There is no track below").waitFor({ state: "attached" });
    // From the first row a step up leaves the ranks.
    await page.goto(`${url}/profile/${slug}?v=2&rank=all&order=wait&sel=${call.row}`);
    await sorted();
    for (const rank of order.slice(0, 6).reverse()) {
      await details.getByText(`Ranks › Rank ${rank}`, { exact: true }).first().waitFor();
      await page.keyboard.press("ArrowUp");
    }
    await details.getByText(/^Collectives › /).first().waitFor();
  });

  await t.test("a command sorts them again", async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("sort the ranks by number");
    await page.keyboard.press("Enter");
    await eventually(async () => assert.deepEqual(await rowsOfRanks(page), numbers));
    await eventually(() => assert.equal(parametersOf(page).get("order"), null));
  });
  assert.deepEqual(problems, []);
});

test("ranks of several hosts are sorted by host", async (t) => {
  const job = ["--ranks", "36", "--straggler", String(STRAGGLER), "--collectives", "20"];
  const { url } = await serve(t, "demo", ...job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1280, height: 1000 });
  await page.goto(`${url}/profile/${slug}?v=2&rank=all`);
  await rowOf(page, "Rank 7").waitFor();
  const menu = page.getByRole("combobox", { name: "Order of the ranks" }).first();
  // The hosts are known once the ranks are.
  await eventually(async () => assert.ok((await menu.innerText()).includes("By host")));
  await menu.selectOption("By host");
  await eventually(() => assert.equal(parametersOf(page).get("order"), "host"));
  await eventually(async () => assert.match(await rowOf(page, "Rank 7").innerText(), /host-0/));
  await reload(page);
  await eventually(async () => assert.match(await rowOf(page, "Rank 7").innerText(), /host-0/));
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("option", { name: /^Rank 0 on host-0/ }).waitFor();
  await page.getByPlaceholder("Go to rank").fill("17");
  await page.getByRole("option", { name: /^Rank 17 on host-1/ }).waitFor();
  assert.deepEqual(problems, []);
});

test("the list of ranks leads to each of many ranks", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "100", "--straggler", "77", "--collectives", "10");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}`);
  await rowOf(page, "Rank 3").waitFor();
  const field = page.getByRole("combobox", { name: "Go to the rank with this number" });
  const list = page.getByRole("listbox", { name: "Ranks" });
  const options = list.getByRole("option");
  const tab = (name) => page.getByRole("tab", { name, exact: true });

  await t.test("tabs are those beside the current rank", async () => {
    assert.equal(await page.getByRole("tablist", { name: "Ranks" }).getByRole("tab").count(), 33);
    await tab("Rank 31").waitFor();
  });

  await t.test("it holds only the rows in sight, and says how late each was", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await list.waitFor();
    await page.getByRole("combobox", { name: "Order of the ranks" }).first().selectOption("Latest first");
    await options.first().and(page.getByRole("option", { name: /^Rank 77 on \S+, others waited for it / })).waitFor();
    const count = await options.count();
    assert.ok(count > 8 && count < 50, `${count} rows`);
    assert.equal(await options.first().getAttribute("aria-setsize"), "100");
    await field.focus();
    await eventually(async () => {
      await page.keyboard.press("PageDown");
      const last = await options.last().getAttribute("aria-posinset");
      assert.equal(last, "100");
      const active = await field.getAttribute("aria-activedescendant");
      assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
    });
  });

  await t.test("a typed number leads to the rank", async () => {
    await field.fill("9");
    await options.first().and(page.getByRole("option", { name: /^Rank 9 on \S+,/ })).waitFor();
    assert.equal(await options.count(), 11);
    await field.fill("97");
    await field.press("Enter");
    await list.waitFor({ state: "detached" });
    await eventually(() => assert.equal(parametersOf(page).get("rank"), "97", page.url()));
    assert.equal(await tab("Rank 97").getAttribute("aria-selected"), "true");
    assert.equal(await tab("Rank 31").count(), 0);
    await field.fill("123");
    await page.getByText("There is no rank “123”.").waitFor();
    await field.press("Escape");
    await list.waitFor({ state: "detached" });
    assert.equal(parametersOf(page).get("rank"), "97");
  });

  await t.test("the pointer chooses, and Ctrl shows a rank below", async () => {
    await field.fill("77");
    await options.first().click({ modifiers: ["ControlOrMeta"] });
    await eventually(() => assert.equal(parametersOf(page).get("ranks"), "77,97", page.url()));
    await options.first().click();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), "77", page.url()));
  });
  assert.deepEqual(problems, []);
});

test("rows of all ranks fit into the view", async (t) => {
  const job = ["--ranks", "300", "--straggler", "77", "--collectives", "30"];
  const { url } = await serve(t, "demo", ...job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/${slug}`);
  await rowOf(page, "Rank 3").waitFor();
  const loads = page.getByRole("list", { name: "Tracks" }).getByTitle(/^Computation of Rank/);

  await t.test("computation stands below the calls of its rank", async () => {
    const load = page.getByTitle(/^Computation of Rank 3:/);
    const [of, box] = [await rowOf(page, "Rank 3").boundingBox(), await load.boundingBox()];
    assert.deepEqual([box.y, box.height], [of.y + of.height, 13]);
    assert.match(await load.innerText(), /samples, values from 0 % to \d+ %/);
    const { x, width } = await tracksOf(page).boundingBox();
    const share = async () => {
      const { data } = PNG.sync.read(await page.screenshot({ clip: { x, y: box.y, width, height: 10 } }));
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) dark += data[at] < 180 ? 1 : 0;
      return dark / (data.length / 4);
    };
    // The simulated job computes for most of its time, and not always.
    await eventually(async () => assert.ok((await share()) > 0.02 && (await share()) < 0.95, `${await share()}`));
  });

  await t.test("rows get low, and show waiting as a colour", async () => {
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    await eventually(() => assert.equal(parametersOf(page).get("rows"), "fit"));
    const rows = page.locator(".timeline-rows");
    await eventually(async () => {
      const [inner, outer] = await rows.evaluate((rows) => [rows.scrollHeight, rows.clientHeight]);
      assert.ok(inner <= outer, `${inner} of ${outer}`);
    });
    assert.equal(await loads.count(), 0);
    // Names stand at some of the rows. The straggler waits less than its neighbours.
    const items = await page.getByRole("list", { name: "Tracks" }).getByRole("listitem").filter({ hasText: /^Rank \d/ }).all();
    const named = await Promise.all(items.map(async (item) => [Number((await item.innerText()).match(/\d+/)[0]), (await item.boundingBox()).y]));
    const [[first, top], [last, foot]] = [named[0], named.at(-1)];
    const step = (foot - top) / (last - first);
    assert.ok(step >= 1 && step < 3, `${step} pixels a row`);
    const { x, width } = await tracksOf(page).boundingBox();
    const strength = async (rank) => {
      const clip = { x, y: top + step * (rank - first), width, height: step };
      const { data } = PNG.sync.read(await page.screenshot({ clip }));
      let sum = 0;
      for (let at = 0; at < data.length; at += 4) sum += Math.max(0, data[at] - data[at + 2]);
      return sum / data.length;
    };
    await eventually(async () => {
      const [late, before, after] = [await strength(77), await strength(70), await strength(90)];
      assert.ok(before > 2 * late && after > 2 * late, `${late} beside ${before} and ${after}`);
    });
    await page.locator("body").press("z");
    await eventually(() => assert.equal(parametersOf(page).get("rows"), null));
  });
  assert.deepEqual(problems, []);
});

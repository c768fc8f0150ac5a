// Plots of all ranks: the spread of durations by kind and size, and the waiting of each rank.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, reload, rowOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

test("plots filter by kind, and lead to operations and ranks", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "100", "--straggler", "77", "--collectives", "60");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/${slug}`);
  await rowOf(page, "Rank 3").waitFor();

  await t.test("each plot is named in a low panel, and its name leads to it", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    const list = page.getByRole("navigation", { name: "Plots" });
    const last = page.getByRole("region", { name: "Waiting by rank" });
    await last.waitFor({ state: "attached" });
    const panel = page.getByRole("tabpanel").last();
    const isSeen = async () => {
      const [inner, outer] = [await last.boundingBox(), await panel.boundingBox()];
      return inner.y < outer.y + outer.height - 20;
    };
    assert.equal(await isSeen(), false);
    await list.getByRole("button", { name: "By rank" }).click();
    await eventually(async () => assert.equal(await isSeen(), true));
    // The list stays in sight and covers no heading.
    const [names, heading] = [await list.boundingBox(), await last.getByRole("heading").boundingBox()];
    assert.ok(names.y + names.height <= heading.y + 1, `${names.y} + ${names.height} against ${heading.y}`);
    await list.getByRole("button", { name: "By kind and size" }).click();
    await eventually(async () => assert.equal(await isSeen(), false));
  });

  await t.test("a plot filters by kind and leads to an operation", async () => {
    const plot = page.getByRole("region", { name: "Duration by kind and size" });
    const rows = plot.locator("tbody tr");
    await rows.first().waitFor();
    const kinds = plot.getByRole("group", { name: "Kinds" }).getByRole("button");
    const [all, ofKinds] = [await rows.count(), await kinds.count()];
    await kinds.first().click();
    await eventually(async () => assert.ok((await rows.count()) < all));
    await kinds.first().click();
    await eventually(async () => assert.equal(await rows.count(), all));
    assert.ok(ofKinds >= 1);
    await plot.getByRole("button", { name: "Transfer" }).click();
    const longest = rows.first().getByRole("button");
    const time = await longest.innerText();
    await longest.click();
    const details = page.getByRole("article", { name: "Details" });
    await details.getByText(time, { exact: true }).first().waitFor();
    assert.ok(parametersOf(page).get("sel"));
  });

  const isAtRank77 = async () => {
    await eventually(() => assert.equal(parametersOf(page).get("rank"), "77", page.url()));
    await eventually(() => assert.ok(parametersOf(page).get("sel")));
  };

  await t.test("an outlier leads to what the late rank did", async () => {
    const plot = page.getByRole("region", { name: "Duration by kind and size" });
    await plot.getByRole("button", { name: "Waiting" }).click();
    await plot.locator("circle").first().click();
    await isAtRank77();
    await page.goBack();
    await plot.getByRole("button", { name: "Duration" }).waitFor();
  });

  await t.test("a line over time leads to what the late rank did", async () => {
    const all = `profiles/${slug}/ranks/all`;
    const { entry } = await ask(url, all);
    const { columns } = await ask(url, `${all}/tables/operation`);
    const [starts, lasts, spreads] = ["start", "last_rank", "spread"].map((name) => columns.find((column) => column.name === name));
    // Of an operation, the wait stands before the transfer, and only the transfer names the late rank.
    const transfers = starts.values.ints.filter((_, at) => lasts.present.some[at]);
    const late = transfers.map((end_ps, at) => ({ end_ps, rank: lasts.values.ints[at], spread_ps: spreads.values.ints[at] }));
    const [longest] = late.filter(({ rank }) => rank === 77).sort((one, other) => other.spread_ps - one.spread_ps);
    const late_ps = longest.end_ps - longest.spread_ps / 2;
    const share = (late_ps - entry.start_ps) / (entry.end_ps - entry.start_ps);
    const plot = page.getByRole("region", { name: "Waiting over time" });
    const lines = plot.locator(".plot-line:not(.plot-line-median)");
    await eventually(async () => assert.equal(await lines.count(), 8));
    const legend = plot.getByRole("group", { name: "Lines" });
    // The late rank has a line, also if there are many ranks.
    await legend.getByRole("button", { name: "Rank 77" }).waitFor();
    for (const [name, shape] of [["Median", ".plot-line-median"], ["Range of all ranks", ".plot-range"]]) {
      await legend.getByRole("button", { name }).click();
      await eventually(async () => assert.equal(await plot.locator(shape).count(), 0));
      await legend.getByRole("button", { name }).click();
      await eventually(async () => assert.equal(await plot.locator(shape).count(), 1));
    }
    const area = plot.getByRole("slider");
    const places = async () => {
      await area.scrollIntoViewIfNeeded();
      return area.boundingBox();
    };
    await eventually(async () => {
      const { x, y, width } = await places();
      // At the top is the line of a rank that waits most.
      await page.mouse.move(x + width * share + Math.random() / 2, y + 2);
      await plot.getByText(/^Rank \d+: .* % of .* from .*, all ranks .* % – .* %$/).waitFor({ timeout: 500 });
    });
    assert.match(await area.getAttribute("aria-valuetext"), /^Rank (?!77)/);
    const step = await area.getAttribute("aria-valuenow");
    await page.mouse.down();
    await page.mouse.up();
    await isAtRank77();
    await page.goBack();
    await eventually(async () => assert.equal(await lines.count(), 8));
    // Keys do the same.
    await area.press("ArrowRight");
    await area.press("ArrowDown");
    const before = await area.getAttribute("aria-valuetext");
    await area.press("ArrowUp");
    await eventually(async () => assert.notEqual(await area.getAttribute("aria-valuetext"), before));
    for (let left = 200; left > 0 && (await area.getAttribute("aria-valuenow")) !== step; left -= 1) {
      await area.press("ArrowRight");
    }
    await area.press("Enter");
    await isAtRank77();
    await page.goBack();
  });

  await t.test("a bar leads to its rank", async () => {
    const plot = page.getByRole("region", { name: "Waiting by rank" });
    await plot.getByRole("combobox", { name: "Order of the ranks" }).selectOption("Latest first");
    const bars = await plot.locator(".plot-ranks").boundingBox();
    await page.locator(".plot-ranks").scrollIntoViewIfNeeded();
    await eventually(async () => {
      const { x, y, height } = await plot.locator(".plot-ranks").boundingBox();
      await page.mouse.move(x + 2 + Math.random() / 2, y + height / 2);
      await plot.getByText(/^Rank 77: others waited for it .*s, waited for others /).waitFor({ timeout: 500 });
    });
    assert.ok(bars.width > 300);
    await page.mouse.down();
    await page.mouse.up();
    await eventually(() => assert.equal(parametersOf(page).get("rank"), "77"));
  });
  assert.deepEqual(problems, []);
});

test("the legend over time follows the ranks, also if their times come late", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "100", "--straggler", "77", "--collectives", "60");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  const legend = page.getByRole("group", { name: "Lines" });
  // The times of all ranks come once the legend has ranks without times.
  await page.route(/\/tables\/rank(\?|$)/, async (route) => {
    await legend.getByRole("button", { name: "Rank 0" }).waitFor();
    await route.continue();
  });
  await page.goto(`${url}/profile/${slug}?v=2&rank=all&tab=plots`);
  await legend.getByRole("button", { name: "Rank 77" }).waitFor();
  const colours = await legend.locator(".plot-dot").evaluateAll((dots) => dots.map((dot) => getComputedStyle(dot).backgroundColor));
  assert.equal(new Set(colours.slice(0, 8)).size, 8, colours.join(" "));
  assert.deepEqual(problems, []);
});

test("the choices of the plots are in the address", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "8", "--straggler", "3", "--collectives", "20");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/${slug}?v=2&rank=all&tab=plots`);
  const time = page.getByRole("group", { name: "Time" }).getByRole("button", { name: "Transfer" });
  const kind = page.getByRole("group", { name: "Kinds" }).getByRole("button").first();
  const line = page.getByRole("group", { name: "Lines" }).getByRole("button", { name: "Rank 3" });
  const pressed = () => Promise.all([time, kind, line].map((button) => button.getAttribute("aria-pressed")));
  await line.waitFor();
  assert.deepEqual(await pressed(), ["false", "true", "true"]);
  for (const button of [time, kind, line]) await button.click();
  await eventually(async () => assert.deepEqual(await pressed(), ["true", "false", "false"]));
  const rows = page.getByRole("region", { name: "Duration by kind and size" }).locator("tbody tr");
  const shown = await rows.allInnerTexts();
  await reload(page);
  await line.waitFor();
  await eventually(async () => assert.deepEqual(await pressed(), ["true", "false", "false"]));
  assert.deepEqual(await rows.allInnerTexts(), shown);
  assert.deepEqual(problems, []);
});

test("a rank has no plots, and leads to those of all ranks", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2&rank=1&tab=plots`);
  await page.getByRole("button", { name: "Open the tab Collectives" }).click();
  await page.getByRole("region", { name: "Waiting over time" }).waitFor();
  assert.equal(parametersOf(page).get("rank"), "all");
  assert.deepEqual(problems, []);
});

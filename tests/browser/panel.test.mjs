// The panel below the timeline: it closes to its tabs and gives its room to the tracks; what its
// tables show.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, rowOf, viewOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";
import { chooseFile } from "./trace.mjs";

const height = async (locator) => (await locator.boundingBox()).height;

test("the panel closes to its tabs and opens", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const open = async (t, size) => {
    const { page, problems } = await openPage(t, size);
    await page.goto(`${url}/profile/${slug}`);
    await rowOf(page, "Tensor").waitFor();
    t.after(() => assert.deepEqual(problems, []));
    const [tracks, body] = [page.locator(".timeline-rows"), page.getByRole("tabpanel")];
    const isOpen = () => body.waitFor();
    const isClosed = () => body.waitFor({ state: "detached" });
    return { page, tracks, isOpen, isClosed };
  };

  await t.test("by its button, by Q, by a double click and by Enter on its edge", async (t) => {
    const { page, tracks, isOpen, isClosed } = await open(t);
    await isOpen();
    const before = await height(tracks);
    await page.getByRole("button", { name: "Close the panel (Q)" }).click();
    await isClosed();
    const after = await height(tracks);
    assert.ok(after > before + 200, `the tracks had ${before} px, now ${after}`);
    // The picture has the room too.
    await eventually(async () => assert.ok((await height(page.locator(".timeline-above"))) > after - 2));
    await page.keyboard.press("q");
    await isOpen();
    const edge = page.getByRole("separator", { name: "Height of the panel" });
    const box = await edge.boundingBox();
    await page.mouse.dblclick(box.x + 300, box.y);
    await isClosed();
    await page.mouse.dblclick(box.x + 300, (await edge.boundingBox()).y);
    await isOpen();
    assert.equal(await height(tracks), before);
    await edge.focus();
    await page.keyboard.press("Enter");
    await isClosed();
    // A tab opens it.
    await page.getByRole("tab", { name: "Selection" }).click();
    await page.getByRole("tabpanel", { name: "Selection" }).waitFor();
  });

  await t.test("closed, it stays closed; a drag to the foot closes it", async (t) => {
    const { page, isOpen, isClosed } = await open(t);
    await isOpen();
    const edge = await page.getByRole("separator", { name: "Height of the panel" }).boundingBox();
    await page.mouse.move(edge.x + 300, edge.y);
    await page.mouse.down();
    await page.mouse.move(edge.x + 300, 795, { steps: 5 });
    await page.mouse.up();
    await isClosed();
    await page.reload();
    await rowOf(page, "Tensor").waitFor();
    await isClosed();
    await page.keyboard.press("q");
    await isOpen();
    await page.reload();
    await isOpen();
  });

  await t.test("by itself where the screen is low, and only there", async (t) => {
    const { page, tracks, isOpen, isClosed } = await open(t, { width: 640, height: 400 });
    await isClosed();
    assert.ok((await height(tracks)) > 180, `the tracks have ${await height(tracks)} px`);
    await page.getByRole("tab", { name: "Details" }).click();
    await isOpen();
    await page.setViewportSize({ width: 1280, height: 800 });
    await isOpen();
    assert.equal(await page.evaluate(() => localStorage.getItem("nprof.panel")), null);
  });
});

/** Calls in calls, one without a name, arguments that no one explains. */
const CALLS = {
  traceEvents: [
    { ph: "M", pid: 7, tid: 1, name: "thread_name", args: { name: "main" } },
    { ph: "X", pid: 7, tid: 1, ts: 1000, dur: 1000, name: "outer", cat: "cpu_op", args: { i: 3, cbid: 7 } },
    { ph: "X", pid: 7, tid: 1, ts: 1100, dur: 500, name: "outer" },
    { ph: "X", pid: 7, tid: 1, ts: 1200, dur: 300, name: "inner" },
    { ph: "X", pid: 7, tid: 1, ts: 2500, dur: 100, name: "" },
    { ph: "E", pid: 7, tid: 1, ts: 2550, name: "never begun" },
    { ph: "s", pid: 7, tid: 1, ts: 2300, id: 9, name: "from nowhere", cat: "c" },
  ],
};

test("a table of calls adds no time twice, names everything and cuts no unit", SERVED, async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  await chooseFile(page, "calls.json", JSON.stringify(CALLS));
  const [{ slug }] = await eventually(async () => {
    const { profiles } = await ask(url, "profiles");
    assert.equal(profiles.length, 1);
    return profiles;
  });
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const address = `${url}/profile/${slug}?v=1&mark=${entry.start_ps}..${entry.end_ps}`;
  await page.goto(address);
  const totals = page.getByRole("tabpanel", { name: "Selection" });
  const cells = async (name) => {
    const row = totals.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) });
    return (await row.getByRole("cell").allInnerTexts()).map((text) => text.trim());
  };
  await totals.getByRole("cell", { name: "outer", exact: true }).waitFor();
  assert.deepEqual(await cells("outer"), ["outer", "2", "700 µs", "1 ms", "1.5 ms", "1 ms"]);
  assert.deepEqual(await cells("inner"), ["inner", "1", "300 µs", "300 µs", "300 µs", "300 µs"]);
  assert.deepEqual((await cells("(no name)"))[0], "(no name)");
  const names = () => totals.getByRole("table").first().locator("tbody td:first-child").allInnerTexts();
  assert.deepEqual(await names(), ["outer", "inner", "(no name)", "never begun"]);
  await totals.getByRole("button", { name: "Count" }).click();
  await totals.getByRole("columnheader", { name: "Count" }).and(page.locator("[aria-sort=descending]")).waitFor();

  // Summary: the same numbers.
  await page.getByRole("link", { name: "Summary" }).click();
  const summary = page.getByRole("main", { name: "Summary" });
  await summary.getByRole("heading", { name: "Self time by name" }).waitFor();
  const line = summary.locator(".metrics > div").filter({ hasText: "outer" });
  assert.match(await line.innerText(), /700 µs/);
  await summary.getByText("(no name)").waitFor();

  // Details: keys of the trace as they are.
  const outer = (await ask(url, `profiles/${slug}/ranks/0/search?q=outer`)).hits[0].slice;
  await page.goto(`${url}/profile/${slug}?v=1&sel=${outer.row}`);
  const details = page.getByRole("article", { name: "Details" });
  await details.waitFor();
  const labels = await details.locator("dt").allInnerTexts();
  for (const label of ["i", "cbid", "Category"]) assert.ok(labels.includes(label), `${label}: ${labels}`);

  // Warnings: times as elsewhere, and they lead there.
  await page.getByRole("link", { name: /^Data/ }).click();
  await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: /^Warnings/ }).click();
  const warnings = page.getByRole("grid", { name: "Warnings" });
  await warnings.getByRole("gridcell").first().waitFor();
  assert.equal(await warnings.getByText(/\d ps\b/).count(), 0);
  // 2.3 ms on the trace's clock, whose first event is at 1 ms.
  await warnings.getByRole("button", { name: "1.3 ms", exact: true }).click();
  await eventually(() => {
    const { from, to } = viewOf(page);
    assert.match(page.url(), /\/profile\/[^/]+\?/);
    assert.ok(from <= 2_300_000_000 && 2_300_000_000 <= to && to - from < 100_000_000, page.url());
  });

  // Units, at the widths of a phone and of a small window.
  for (const width of [390, 700, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(address);
    await totals.getByRole("cell", { name: "outer", exact: true }).waitFor();
    const cut = await totals.locator("td.number").evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText),
    );
    assert.deepEqual(cut, [], `at ${width} px`);
    const wide = await page.locator(".panel-body").evaluate((body) => body.scrollWidth > body.clientWidth);
    assert.ok(!wide, `the tables are wider than the panel at ${width} px`);
  }
  assert.deepEqual(problems, []);
});

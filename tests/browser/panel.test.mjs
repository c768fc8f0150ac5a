// Dock and drawer: closed until they are used, they give their room to the tracks; what their tables
// show.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, middleOf, parametersOf, reload, rowOf, viewOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";
import { chooseFile } from "./trace.mjs";

const height = async (locator) => (await locator.boundingBox()).height;
const width = async (locator) => (await locator.boundingBox()).width;

test("the panels are closed until they are used", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { hits } = await ask(url, `profiles/${slug}/ranks/0/search?q=MATMUL&limit=1`);
  const open = async (t, size, more = "") => {
    const { page, problems } = await openPage(t, size);
    await page.goto(`${url}/profile/${slug}?v=2${more}`);
    await rowOf(page, "Tensor").waitFor();
    t.after(() => assert.deepEqual(problems, []));
    const [tracks, body] = [page.locator(".timeline-rows"), page.getByRole("tabpanel")];
    const isOpen = () => body.waitFor();
    const isClosed = () => body.waitFor({ state: "detached" });
    return { page, tracks, isOpen, isClosed };
  };
  const holds = (page, name, value) =>
    eventually(() => assert.equal(parametersOf(page).get(name), value, page.url()));
  const tabsAre = (side, expected) =>
    eventually(async () => assert.deepEqual(await side.getByRole("tab").allInnerTexts(), expected));
  const isWide = (part, px) => eventually(async () => assert.equal(await width(part), px));
  const wide = { width: 1600, height: 900 };

  await t.test("the drawer, by its button, by Q, by a double click and by Enter on its edge", async (t) => {
    const { page, tracks, isOpen, isClosed } = await open(t);
    await isClosed();
    const before = await height(tracks);
    await page.getByRole("button", { name: "Open the panel (Q)" }).click();
    await isOpen();
    const after = await height(tracks);
    assert.ok(after < before - 200, `the tracks had ${before} px, now ${after}`);
    // The picture has the room too.
    await eventually(async () => assert.ok(Math.abs((await height(page.locator(".timeline-above"))) - after) < 2));
    await page.getByRole("button", { name: "Close the panel (Q)" }).click();
    await isClosed();
    await page.keyboard.press("q");
    await isOpen();
    const edge = page.getByRole("separator", { name: "Height of the panel" });
    const box = await edge.boundingBox();
    await page.mouse.dblclick(box.x + 300, box.y);
    await isClosed();
    await page.mouse.dblclick(box.x + 300, (await edge.boundingBox()).y);
    await isOpen();
    assert.equal(await height(tracks), after);
    await edge.focus();
    await page.keyboard.press("Enter");
    await isClosed();
    // A tab opens it.
    await page.getByRole("tab", { name: "Selection" }).click();
    await page.getByRole("tabpanel", { name: "Selection" }).waitFor();
  });

  await t.test("size and state are in the address; a drag to the foot closes", async (t) => {
    const { page, isOpen, isClosed } = await open(t);
    await page.keyboard.press("q");
    await isOpen();
    const edge = page.getByRole("separator", { name: "Height of the panel" });
    const box = await edge.boundingBox();
    await page.mouse.move(box.x + 300, box.y);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y - 60, { steps: 5 });
    await page.mouse.up();
    await holds(page, "drawer_px", "340");
    await edge.focus();
    await page.keyboard.press("ArrowDown");
    await holds(page, "drawer_px", "316");
    await reload(page);
    await isOpen();
    assert.equal(await height(page.locator(".drawer")), 316);
    // Another view without a size has the remembered one.
    await page.goto(`${url}/profile/${slug}?v=2&drawer=open`);
    await holds(page, "drawer_px", "316");
    const top = (await edge.boundingBox()).y;
    await page.mouse.move(box.x + 300, top);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, 795, { steps: 5 });
    await page.mouse.up();
    await isClosed();
    await eventually(() => assert.ok(!page.url().includes("drawer=open"), page.url()));
    await reload(page);
    await rowOf(page, "Tensor").waitFor();
    await isClosed();
  });

  await t.test("a wide window has a dock for the details, and a drawer for the rest", async (t) => {
    const { page, tracks, isClosed } = await open(t, wide, `&mark=${entry.start_ps}..${entry.end_ps}`);
    const [dock, drawer] = [page.locator(".dock"), page.locator(".drawer")];
    await page.getByRole("tabpanel", { name: "Selection" }).waitFor();
    assert.equal(await dock.count(), 0);
    await tabsAre(drawer, ["Findings", "Critical path", "Waits", "What if", "Regions", "Selection", "Hits"]);
    const before = await width(tracks);
    // A step selects a slice, and that opens the dock.
    await eventually(async () => {
      await page.keyboard.press("ArrowRight");
      await page.getByRole("article", { name: "Details" }).waitFor({ timeout: 1_000 });
    });
    await tabsAre(dock, ["Details"]);
    await page.getByRole("tabpanel", { name: "Selection" }).waitFor();
    await isWide(tracks, before - (await width(dock)));
    await page.keyboard.press("i");
    await dock.waitFor({ state: "detached" });
    await holds(page, "dock", "closed");
    // Steps leave it closed, and it can be opened again.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.equal(await dock.count(), 0);
    await page.getByRole("button", { name: "Open the details (I)" }).click();
    // The focus goes into the dock with the next picture.
    await dock.locator(":focus").waitFor();
    const edge = page.getByRole("separator", { name: "Width of the details" });
    await edge.focus();
    await page.keyboard.press("ArrowLeft");
    await holds(page, "dock_px", "408");
    await isWide(dock, 408);
    const box = await edge.boundingBox();
    await page.mouse.move(box.x, 400);
    await page.mouse.down();
    await page.mouse.move(box.x - 92, 400, { steps: 4 });
    await page.mouse.up();
    await holds(page, "dock_px", "500");
    await reload(page);
    await dock.waitFor();
    await isWide(dock, 500);
    await page.getByRole("button", { name: "Close the details (I)" }).click();
    await page.getByRole("button", { name: "Open the details (I)" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("q");
    await isClosed();
    // A narrow window has one panel for all.
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await dock.waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
    await dock.waitFor({ state: "detached" });
    await tabsAre(drawer, ["Details", "Findings", "Critical path", "Waits", "What if", "Regions", "Selection", "Hits"]);
    await drawer.getByRole("article", { name: "Details" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("tabpanel", { name: "Hits" }).waitFor();
    await page.keyboard.press("i");
    await page.getByRole("tabpanel", { name: "Details" }).waitFor();
    await page.keyboard.press("i");
    await isClosed();
  });

  await t.test("a double click zooms to the slice that the first click selects, though the dock opens", async (t) => {
    const { page } = await open(t, wide, `&from=${hits[0].slice.start_ps - 500_000}&to=${hits[0].slice.start_ps + 800_000}`);
    const place = await eventually(async () => {
      const place = await middleOf(page, "TensorMatrix", hits[0].slice);
      await page.mouse.move(place.x, place.y);
      await page.getByRole("tooltip").getByText("MATMUL").waitFor({ timeout: 1_000 });
      return place;
    });
    // With a pause in which the page draws itself anew.
    await page.mouse.dblclick(place.x, place.y, { delay: 60 });
    await page.getByRole("article", { name: "Details" }).waitFor();
    await eventually(() => {
      const { from, to, selected } = viewOf(page);
      const { start_ps, duration_ps, row } = hits[0].slice;
      assert.equal(selected, row);
      assert.ok(from <= start_ps && to >= start_ps + duration_ps && to - from < 2 * duration_ps, page.url());
    });
  });

  await t.test("a slice stays in sight when the drawer opens", async (t) => {
    // A slice of the first track: the keys lead down from it.
    const { page, tracks, isOpen } = await open(t, { width: 1280, height: 620 }, `&sel=${hits[0].slice.row}`);
    await isOpen();
    // Down to the last track with slices, with the panel closed; then it opens over that track.
    await page.keyboard.press("q");
    const status = page.locator('.timeline > [role="status"].unseen');
    await eventually(async () => {
      await page.keyboard.press("ArrowDown");
      // The next key waits for what this one selects.
      await status.filter({ hasText: / on Throttling,/ }).waitFor({ state: "attached", timeout: 500 });
    });
    await page.keyboard.press("q");
    const details = page.getByRole("article", { name: "Details" });
    const track = await eventually(async () => (await details.locator("p").first().innerText()).split(" › ").at(-1));
    const row = rowOf(page, track);
    const rows = await tracks.boundingBox();
    await eventually(async () => {
      const box = await row.boundingBox();
      // A row without anything in the window is low.
      const end = box.y + Math.min(18, box.height);
      const said = `${track}: ${box.y} + ${box.height} in ${rows.y} + ${rows.height}`;
      assert.ok(box.y >= rows.y - 1 && end <= rows.y + rows.height + 1, said);
    });
  });

  await t.test("closed by itself where the screen is low, and only there", async (t) => {
    const { page, tracks, isOpen, isClosed } = await open(t, { width: 640, height: 400 }, `&sel=${hits[0].slice.row}`);
    await isClosed();
    assert.ok((await height(tracks)) > 180, `the tracks have ${await height(tracks)} px`);
    await page.getByRole("tab", { name: "Details" }).click();
    await isOpen();
    await page.keyboard.press("q");
    await isClosed();
    await page.setViewportSize({ width: 1280, height: 800 });
    await isOpen();
    assert.equal(parametersOf(page).get("dock"), null);
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
  const byCount = totals.getByRole("columnheader", { name: "Count" }).and(page.locator("[aria-sort=descending]"));
  await byCount.waitFor();
  await reload(page);
  await byCount.waitFor();

  // Summary: the same numbers.
  await page.getByRole("link", { name: "Summary" }).click();
  const summary = page.getByRole("main", { name: "Summary" });
  await summary.getByRole("heading", { name: "Self time by name" }).waitFor();
  const lists = [".summary-card", ".all-metrics"].map((list) => summary.locator(`${list} .metrics`));
  for (const list of lists) {
    assert.match(await list.locator("> div").filter({ hasText: "outer" }).first().innerText(), /700 µs/);
    await list.getByText("(no name)").first().waitFor();
  }

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

test("names of devices and of the host have a table each", SERVED, async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const labels = (pid, text) => ({ ph: "M", pid, name: "process_labels", args: { labels: text } });
  const slice = (pid, tid, dur, name) => ({ ph: "X", pid, tid, ts: 1000, dur, name });
  const traceEvents = [
    labels(1, "CPU"),
    labels(2, "GPU 0"),
    slice(1, 1, 900, "step"),
    slice(1, 1, 100, "launch"),
    slice(1, 2, 990, "cudaStreamSynchronize"),
    slice(2, 7, 500, "gemm"),
    slice(2, 7, 40, "step"),
  ];
  await chooseFile(page, "sides.json", JSON.stringify({ traceEvents }));
  const [{ slug }] = await eventually(async () => {
    const { profiles } = await ask(url, "profiles");
    assert.equal(profiles.length, 1);
    return profiles;
  });
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  await page.goto(`${url}/profile/${slug}?v=1&mark=${entry.start_ps}..${entry.end_ps}`);
  const tables = page.getByRole("tabpanel", { name: "Selection" }).getByRole("table");
  const names = (title) =>
    tables
      .filter({ has: page.getByRole("columnheader", { name: title }) })
      .locator("tbody td:first-child")
      .allInnerTexts();
  await eventually(async () => {
    assert.deepEqual(await names("Name on devices"), ["gemm", "step"]);
    assert.deepEqual(await names("Name on host threads"), ["step", "launch"]);
    // Waits are no work: they stand below the names.
    assert.deepEqual(await names("Wait on host threads"), ["cudaStreamSynchronize"]);
  });
  await page.getByRole("link", { name: "Summary" }).click();
  const summary = page.getByRole("main", { name: "Summary" });
  for (const [title, first] of [["devices", "gemm"], ["host threads", "step"]]) {
    const card = summary.locator(".metric-card").filter({ hasText: `Self time by name, ${title}` });
    assert.match(await card.locator("dt").first().innerText(), new RegExp(first));
    // Bars are shares of the longest time.
    const shares = await card.locator(".has-share").evaluateAll((rows) => rows.map((row) => Number(row.style.getPropertyValue("--share"))));
    assert.ok(shares.length > 1 && shares[0] === 1 && shares.slice(1).every((share) => share > 0 && share < 1), `${shares}`);
  }
  assert.deepEqual(problems, []);
});

// The places beside the timeline: all tables of a rank with order, filter and copies, and the summary.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { ask, eventually, parametersOf, reload, rowOf, viewOf } from "./picture.mjs";
import { IS_FILE, openPage, serve } from "./stage.mjs";

/** The column of an answer by its name, a value or null a row. */
function values(answer, name) {
  const { present, values } = answer.columns.find((column) => column.name === name);
  const [[kind, list]] = Object.entries(values);
  const all = kind === "texts" ? list.codes.map((code) => list.texts[code]) : list;
  if (present === "all") return all;
  const mask = present === "none" ? Array(answer.rows).fill(false) : present.some;
  let at = 0;
  return mask.map((here) => (here ? all[at++] : null));
}

const count = (number) => number.toLocaleString("en-US");

test("tables and summary", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const rank = `profiles/${slug}/ranks/0`;
  const nodes = await ask(url, `${rank}/tables/neff_node`);
  const open = async (t, path = "", options = {}) => {
    const { page, problems } = await openPage(t, options);
    await page.goto(`${url}/profile/${slug}${path || "?v=2"}`);
    t.after(() => assert.deepEqual(problems, []));
    const grid = page.getByRole("grid");
    const column = async (title) => {
      const titles = await grid.getByRole("columnheader").allInnerTexts();
      const at = titles.findIndex((text) => text.trim().toLowerCase() === title.toLowerCase());
      assert.ok(at >= 0, `${title} in ${titles}`);
      const cells = grid.locator(`tbody tr:not(.space) td:nth-child(${at + 1})`);
      return (await cells.allInnerTexts()).map((text) => text.trim());
    };
    return { page, grid, column, filter: page.getByRole("searchbox", { name: "Filter rows" }) };
  };

  await t.test("a table is found, sorted, filtered; a reload and back keep it", async (t) => {
    const { page, grid, column, filter } = await open(t);
    await rowOf(page, "Tensor").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    await eventually(() => assert.match(page.url(), /\/data\?/));
    const list = page.getByRole("navigation", { name: "Tables" });
    for (const heading of ["Model & NEFF", "Program", "Device", "Trace"]) {
      await list.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
    const { tables } = await ask(url, rank);
    const entries = list.getByRole("button");
    assert.equal(await entries.count(), tables.filter(({ rows }) => rows > 0).length);
    await list.getByRole("button", { name: /^NEFF node/ }).click();
    await page.getByText(tables.find(({ name }) => name === "neff_node").doc).waitFor();
    await page.getByText(`${nodes.total} rows`).first().waitFor();
    const title = (await grid.getByRole("columnheader").first().innerText()).trim();
    const key = nodes.columns.find(({ name }) => name.replace("_", " ") === title.toLowerCase())?.name ?? title;

    // Numbers from the largest, then from the smallest, then as they came.
    const sizes = values(nodes, "size").map(Number);
    const heading = grid.getByRole("columnheader", { name: "Size" });
    const shown = async () => (await column("Size")).slice(0, 8);
    // Rows that are there before the height of the table is measured.
    const first = (await column(title)).slice(0, 8);
    await heading.getByRole("button").click();
    await grid.locator('th[aria-sort="descending"]').waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("sort"), "-size"));
    const largest = await shown();
    await heading.getByRole("button").click();
    await grid.locator('th[aria-sort="ascending"]').waitFor();
    assert.notDeepEqual(await shown(), largest);
    await heading.getByRole("button").click();
    await eventually(async () => assert.deepEqual((await column(title)).slice(0, 8), first));
    assert.equal(await grid.locator('th[aria-sort$="ending"]').count(), 0);
    await heading.getByRole("button").click();

    const bound = Math.min(...sizes);
    const matches = sizes.filter((size) => size > bound).length;
    await page.keyboard.press("Tab");
    await filter.fill(`size>${bound}`);
    await page.getByText(`${matches} of ${nodes.total} rows`).waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("filter"), `size>${bound}`));
    await filter.fill("size>large");
    await page.getByRole("alert").getByText("needs a number").waitFor();
    await filter.fill(`size>${bound}`);

    await page.getByText("Columns", { exact: true }).first().click();
    await page.getByRole("checkbox", { name: title, exact: true }).uncheck();
    await eventually(() => assert.equal(parametersOf(page).get("hide"), key));
    await page.keyboard.press("Escape");
    const titles = await grid.getByRole("columnheader").allInnerTexts();
    assert.ok(!titles.map((text) => text.trim()).includes(title), titles.join());

    const sorted = await shown();
    const address = await reload(page);
    await page.getByText(`${matches} of ${nodes.total} rows`).waitFor();
    assert.equal(page.url(), address);
    assert.deepEqual(await shown(), sorted);
    await list.getByRole("button", { name: /^Model info/ }).click();
    await page.getByRole("grid", { name: "Model info" }).waitFor();
    await page.goBack();
    await page.getByText(`${matches} of ${nodes.total} rows`).waitFor();
    assert.equal(page.url(), address);
    assert.deepEqual(await shown(), sorted);
  });

  await t.test("rows are copied with tabs, and saved as CSV", async (t) => {
    const { page, grid } = await open(t, "/data?v=1&table=neff_node&sort=-size", { permissions: ["clipboard-read", "clipboard-write"] });
    await grid.locator("tbody tr:not(.space)").nth(5).waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), `${slug}-neff_node.csv`);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
    assert.equal(lines.length, nodes.total + 1);
    const names = lines[0].split(",");
    const at = names.indexOf("size (B)");
    assert.ok(at >= 0, lines[0]);
    const largest = values(nodes, "size").map(Number).sort((a, b) => b - a);
    assert.deepEqual(lines.slice(1, 6).map((line) => Number(line.split(",")[at])), largest.slice(0, 5));

    if (IS_FILE) return;
    // The keyboard marks three rows.
    await grid.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    assert.equal(await grid.locator('tr[aria-selected="true"]').count(), 3);
    await page.keyboard.press("Control+c");
    await page.getByText("Rows copied").waitFor();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).trimEnd().split("\n");
    assert.equal(copied.length, 4);
    assert.equal(copied[0].split("\t").length, names.length);
    assert.deepEqual(copied.slice(1).map((line) => Number(line.split("\t")[at])), largest.slice(1, 4));
  });

  await t.test("a slice opens in the timeline from its row", async (t) => {
    const { page, grid, filter } = await open(t, "/data?v=1&table=instruction");
    const all = await ask(url, `${rank}/tables/instruction?limit=100000`);
    const instructions = values(all, "name");
    await page.getByText(`${count(all.total)} rows`).first().waitFor();
    await filter.fill("name=MATMUL");
    const matches = instructions.filter((name) => name === "MATMUL").length;
    await page.getByText(`${count(matches)} of ${count(all.total)} rows`).waitFor();
    await grid.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    // Only the rows in sight are in the page.
    assert.ok((await grid.locator("tbody tr").count()) < 80);
    await grid.locator("tr.is-current").waitFor();
    await page.keyboard.press("Enter");
    const wanted = values(all, "row").filter((_, at) => instructions[at] === "MATMUL").at(-2);
    await eventually(() => assert.equal(viewOf(page).selected, wanted));
    await page.getByRole("article", { name: "Details" }).getByRole("heading", { name: "MATMUL" }).waitFor();
    await rowOf(page, "Tensor").waitFor();
    await page.goBack();
    await page.getByText(`${count(matches)} of ${count(all.total)} rows`).waitFor();
  });

  await t.test("events of the window are those that the timeline shows", async (t) => {
    const { entry } = await ask(url, rank);
    const [from, to] = [entry.start_ps, Math.round(entry.start_ps + (entry.end_ps - entry.start_ps) / 50)];
    const inside = await ask(url, `${rank}/tables/dma?start_ps=${from}&end_ps=${to}`);
    const { page } = await open(t, `/data?v=1&from=${from}&to=${to}&table=dma`);
    const all = await ask(url, `${rank}/tables/dma?limit=0`);
    assert.ok(inside.total < all.total);
    const status = page.getByRole("status");
    await status.getByText(`${count(all.total)} rows`).waitFor();
    await page.getByRole("button", { name: "Window" }).click();
    await status.getByText(`${count(inside.total)} ${inside.total === 1 ? "row" : "rows"}`, { exact: true }).waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("within"), "window"));
    await reload(page);
    await page.getByRole("button", { name: "Window", pressed: true }).waitFor();
    await page.getByRole("button", { name: "Whole" }).click();
    await status.getByText(`${count(all.total)} rows`).waitFor();
  });

  await t.test("a single row is a list of its fields", async (t) => {
    const { grid, column } = await open(t, "/data?v=1&table=metadata");
    await grid.waitFor();
    const header = await ask(url, `${rank}/tables/metadata`);
    const names = header.columns.filter(({ present }) => present === "all").map(({ name }) => name);
    const shown = await column("Exported name");
    assert.ok(shown.length > 3 && shown.every((name) => names.includes(name)), shown.join());
  });

  await t.test("the summary is a place with an address, by a key and from an old link", async (t) => {
    const { page } = await open(t);
    await rowOf(page, "Tensor").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    const summary = page.getByRole("main", { name: "Summary" });
    await summary.locator(".all-metrics").getByRole("heading", { name: "Tensor engine" }).waitFor();
    const { groups } = await ask(url, `${rank}/summary`);
    assert.deepEqual(await summary.locator(".all-metrics .cards h3").allInnerTexts(), groups.map(({ title }) => title));
    assert.ok(groups.length > 3);
    assert.equal(await page.getByRole("tab", { name: "Summary" }).count(), 0);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await rowOf(page, "Tensor").waitFor();
    await page.goBack();
    await summary.waitFor();
    await page.goto(`${url}/profile/${slug}?v=1&tab=summary`);
    await summary.waitFor();
    await page.goto(`${url}/profile/${slug}?v=1&tab=warnings`);
    await page.getByText("Every event of this rank's trace was read.").waitFor();
    await page.goto(`${url}/profile/${slug}/timeline?v=1`);
    await rowOf(page, "Tensor").waitFor();
  });
});

// Regions of users: a marked span is named, shown, chosen as the scope of numbers, and dropped again.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, reload, rowOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

test("the list of regions leads to them, and names a span that was typed", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "20000", "--db-bucket", "job");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  const { regions } = await ask(url, "profiles/job/ranks/0/regions");
  await page.goto(`${url}/profile/job?v=2&rank=0`);
  await rowOf(page, "Tensor").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  const panel = page.getByRole("article", { name: "Regions" });
  const layers = regions.filter(({ kind }) => kind === "layer");
  await panel.getByRole("heading", { name: `${layers.length} layers, no steps are known` }).waitFor();
  await eventually(() => assert.equal(parametersOf(page).get("tab"), "regions"));
  const rows = panel.getByRole("grid").getByRole("row");
  const [second] = layers.slice(1);
  await rows.getByRole("button", { name: second.name, exact: true }).first().click();
  await eventually(() => assert.equal(parametersOf(page).get("mark"), `${second.start_ps}..${second.end_ps}`));

  const keep = panel.getByRole("button", { name: "Keep" });
  await panel.getByRole("textbox", { name: "Name of the region" }).fill("typed");
  await panel.getByRole("textbox", { name: "From" }).fill("10us");
  await panel.getByRole("textbox", { name: "to" }).fill("5us");
  assert.ok(await keep.isDisabled(), "the end is before the start");
  await panel.getByRole("textbox", { name: "to" }).fill("30us");
  await keep.click();
  await rows.getByRole("button", { name: "typed", exact: true }).waitFor();
  const [kept] = (await ask(url, "profiles/job/notes")).regions;
  assert.ok(Math.abs(kept.end_ps - kept.start_ps - 20_000_000) <= 2_000, JSON.stringify(kept));

  // A region of the user gets another name, and goes again.
  const rowOfRegion = (name) => rows.filter({ has: page.getByRole("button", { name, exact: true }) }).first();
  await rowOfRegion("typed").getByRole("button", { name: "rename" }).click();
  await panel.getByRole("textbox", { name: "Region" }).fill("named");
  await panel.locator("form").getByRole("button", { name: "Rename" }).click();
  await rowOfRegion("named").waitFor();
  await keep.waitFor();
  assert.equal((await ask(url, "profiles/job/notes")).regions[0].name, "named");
  await rowOfRegion("named").getByRole("button", { name: "delete" }).click();
  await rowOfRegion("named").waitFor({ state: "detached" });
  assert.deepEqual((await ask(url, "profiles/job/notes")).regions, []);

  // Two regions of the list are compared. A second press on the first one takes it back.
  const [one, other] = layers.map(({ name }) => name);
  const compare = (name, text) => rowOfRegion(name).getByRole("button", { name: text, exact: true });
  await compare(one, "compare").click();
  await compare(one, "choose another one").click();
  await compare(other, "compare").click();
  await compare(one, `with ${other}`).click();
  const parts = `region=${encodeURIComponent(other)}&with_region=${encodeURIComponent(one)}`;
  const { answer } = await ask(url, `profiles/job/comparison?with=job&ranks=0&with_ranks=0&${parts}`);
  await page.getByRole("main", { name: "Compare" }).getByRole("heading", { name: answer }).waitFor();
  assert.deepEqual(problems, []);
});

test("a marked span becomes a region, and none again", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "5000", "--db-bucket", "job");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  const { entry } = await ask(url, "profiles/job/ranks/0");
  const from = entry.start_ps + 10_000_000;
  const to = from + 20_000_000;
  await page.goto(`${url}/profile/job?v=2&rank=0&mark=${from}..${to}&tab=selection`);
  await rowOf(page, "Tensor").waitFor();

  const name = page.getByRole("textbox", { name: "Region" });
  assert.ok(await page.getByRole("button", { name: "Keep" }).isDisabled());
  await name.fill("warm-up & more");
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByText("Region warm-up & more is kept").waitFor();
  const bands = page.getByRole("group", { name: "Named" });
  const band = bands.getByRole("button", { name: /^warm-up & more, / });
  await band.waitFor();
  await eventually(async () => {
    const { regions } = await ask(url, "profiles/job/notes");
    assert.equal(regions.length, 1);
    const [kept] = regions;
    assert.deepEqual([kept.name, kept.rank], ["warm-up & more", 0]);
    assert.ok(Math.abs(kept.start_ps - from) <= 2_000 && Math.abs(kept.end_ps - to) <= 2_000, JSON.stringify(kept));
  });

  // A click marks it, also in another session.
  await page.goto(`${url}/profile/job?v=2&rank=0&tab=selection`);
  await band.click();
  await eventually(() => assert.ok(parametersOf(page).get("mark"), page.url()));
  await page.locator(".region-name").getByText("warm-up & more").waitFor();

  await page.getByRole("link", { name: "Summary" }).click();
  await page.getByRole("combobox", { name: "Region" }).selectOption("warm-up & more");
  const total = page.locator(".all-metrics .metrics > div").filter({ hasText: "Total time" }).first();
  await eventually(async () => assert.match(await total.innerText(), /20 µs/));

  // The scope follows the region to its new name.
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator(".region-name").getByRole("button", { name: "rename" }).click();
  assert.equal(await name.inputValue(), "warm-up & more");
  await name.fill("first part");
  await name.press("Enter");
  await page.getByText("Region warm-up & more is now first part").waitFor();
  await page.locator(".region-name").getByText("first part").waitFor();
  await eventually(() => assert.equal(parametersOf(page).get("region"), "first part"));

  await page.locator(".region-name").getByRole("button", { name: "delete" }).click();
  await page.getByText("Region first part deleted").waitFor();
  await bands.waitFor({ state: "detached" });
  assert.deepEqual((await ask(url, "profiles/job/notes")).regions, []);
  assert.deepEqual(problems, []);
});

test("regions stand side by side on the summary, and lead to their comparison", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "1", "--events", "20000", "--db-bucket", "job");
  const { regions } = await ask(url, "profiles/job/ranks/0/regions");
  const [first, second, third] = regions.filter((region) => region.name.includes("/")).map((region) => region.name);
  assert.ok(third, "the demo has layers");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/profile/job/summary?v=2&rank=0&region=${encodeURIComponent(first)}`);
  const choice = page.getByRole("combobox", { name: "Beside it" });
  await choice.selectOption(second);
  const table = page.getByRole("region", { name: "Regions side by side" }).getByRole("table");
  const heads = async () => (await table.getByRole("columnheader").allInnerTexts()).map((text) => text.trim()).filter(Boolean);
  await eventually(async () => assert.deepEqual((await heads()).filter((text) => text !== "Compare"), [first, second]));
  // Each column has the numbers of its region.
  const length = async (name) => {
    const { start_ps, end_ps } = regions.find((region) => region.name === name);
    const { groups } = await ask(url, `profiles/job/ranks/0/summary?start_ps=${start_ps}&end_ps=${end_ps}`);
    return groups.find(({ key }) => key === "time").metrics.reduce((sum, { value }) => sum + Object.values(value)[0], 0);
  };
  const lengths = [await length(first), await length(second)];
  const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: /^length/ }) });
  await eventually(async () => {
    const cells = await row.getByRole("cell").allInnerTexts();
    cells.forEach((text, at) => {
      const [, number, unit] = text.match(/^([\d.,]+)\s*(\S+)/);
      const seconds = Number(number.replace(",", "")) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit];
      assert.ok(Math.abs(seconds / lengths[at] - 1) < 0.01, `${text} of ${lengths[at]}`);
    });
    assert.equal(cells.length, 2);
  });
  await choice.selectOption(third);
  await eventually(async () => assert.equal((await heads()).length, 3));
  await choice.waitFor({ state: "detached" });
  await reload(page);
  await eventually(async () => assert.equal((await heads()).length, 3));
  await table.getByRole("button", { name: "Leave the region out" }).last().click();
  await table.getByRole("button", { name: "Compare" }).click();
  const found = await ask(url, `profiles/job/comparison?with=job&ranks=0&with_ranks=0&region=${encodeURIComponent(first)}&with_region=${encodeURIComponent(second)}`);
  await page.getByRole("main", { name: "Compare" }).getByRole("heading", { name: found.answer }).waitFor();
  assert.deepEqual(problems, []);
});

test("regions stand beside a marked span", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "1", "--events", "20000", "--db-bucket", "job");
  const { regions } = await ask(url, "profiles/job/ranks/0/regions");
  const [first, second, third] = regions.filter((region) => region.name.includes("/"));
  assert.ok(third, "the demo has layers");
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/profile/job?v=2&rank=0&mark=${first.start_ps}..${first.end_ps}&tab=selection`);
  await page.getByRole("combobox", { name: "Beside it" }).selectOption(second.name);
  const panel = page.getByRole("tabpanel", { name: "Selection" });
  await panel.getByRole("columnheader", { name: `In ${second.name}` }).first().waitFor();
  // The column has the times of that region.
  const { by_name } = await ask(url, `profiles/job/ranks/0/selection?start_ps=${second.start_ps}&end_ps=${second.end_ps}`);
  const table = panel.getByRole("table").filter({ has: page.getByRole("columnheader", { name: `In ${second.name}` }) }).first();
  const shared = by_name.find((total) => !total.is_wait && !total.name.includes("layers.")).name;
  const titles = await table.getByRole("columnheader").allInnerTexts();
  const at = (title) => titles.findIndex((text) => text.trim().startsWith(title));
  await eventually(async () => {
    const cells = await table.locator("tbody tr").filter({ hasText: shared }).first().locator("td").allInnerTexts();
    const name = cells[at("Name")].trim();
    const [, number, unit] = cells[at(`In ${second.name}`)].match(/^([\d.,]+)\s*(\S+)/);
    const shown = Number(number.replace(",", "")) * { ms: 1e9, µs: 1e6, ns: 1e3 }[unit];
    const known = by_name.find((total) => total.name === name)?.self_ps ?? 0;
    assert.ok(Math.abs(shown - known) <= known / 100, `${name}: ${shown} of ${known}`);
  });
  await panel.getByText(`in ${second.name}`, { exact: false }).first().waitFor();
  await page.getByRole("combobox", { name: "Beside it" }).selectOption(third.name);
  await panel.getByRole("columnheader", { name: `In ${third.name}` }).first().waitFor();
  await reload(page);
  await panel.getByRole("columnheader", { name: `In ${third.name}` }).first().waitFor();
  for (const left of [1, 0]) {
    await panel.getByRole("button", { name: "Leave the region out" }).first().click();
    await eventually(async () => assert.equal(await panel.getByRole("button", { name: "Leave the region out" }).count(), left));
  }
  await eventually(async () => assert.equal(await panel.getByRole("columnheader", { name: /^In / }).count(), 0));
  assert.deepEqual(problems, []);
});

// Completions of the query in the search box, and its help.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

const boxOf = (page) => page.getByRole("searchbox", { name: "Search names and fields" });
const optionsOf = (page) => page.getByRole("listbox", { name: "Completions" }).getByRole("option");

test("a query is completed by the keyboard", async (t) => {
  const { url, store } = await serve(t, "demo", "--events", "20000", "--db-bucket", "run");
  const complete = async (query) => (await ask(url, `profiles/run/ranks/0/search/completions?q=${encodeURIComponent(query)}`)).completions;
  const { page, problems } = await openPage(t, { width: 1440, height: 900 });
  await page.goto(`${url}/profile/run?v=2&rank=0`);
  await boxOf(page).waitFor();

  await t.test("Tab completes what was typed", async () => {
    await boxOf(page).focus();
    await boxOf(page).pressSequentially("opc");
    await optionsOf(page).filter({ hasText: "opcode" }).first().waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await boxOf(page).inputValue(), "opcode:");
    const [first] = await complete("opcode:");
    const text = await optionsOf(page).first().innerText();
    assert.ok(text.includes(first.text) && text.includes(first.slices.toLocaleString("en")), text);
  });

  await t.test("arrows choose, and Enter takes", async () => {
    const [, second] = await complete("opcode:");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const active = await boxOf(page).getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
    await page.keyboard.press("Enter");
    assert.equal(await boxOf(page).inputValue(), `opcode:${second.text}`);
    await eventually(async () => {
      const query = `opcode:${second.text}`;
      const { total } = await ask(url, `profiles/run/ranks/0/search?syntax=query&q=${encodeURIComponent(query)}`);
      assert.ok((await page.locator(".search-count").innerText()).startsWith(total.toLocaleString("en")));
    });
  });

  await t.test("a question mark explains, with examples of the rank", async () => {
    await boxOf(page).fill("?");
    const help = page.getByRole("group", { name: "Forms of queries" });
    const [{ text }] = await complete("name:");
    await help.getByRole("button", { name: `name=${text}` }).click();
    assert.equal(await boxOf(page).inputValue(), `name=${text}`);
    await eventually(() => assert.ok(page.url().includes("name"), page.url()));
  });

  await t.test("Tab leaves an empty box", async () => {
    await boxOf(page).fill("");
    await page.keyboard.press("Tab");
    assert.ok(!(await boxOf(page).evaluate((box) => box === document.activeElement)));
    await eventually(async () => assert.equal(await optionsOf(page).count(), 0));
  });

  await t.test("a file completes, too", SERVED, async (t) => {
    const file = await exported(store, "run");
    const { page, problems } = await openPage(t, { width: 1440, height: 900 });
    await page.goto(`${file}#/profile/run?v=2&rank=0`);
    await boxOf(page).focus();
    await boxOf(page).pressSequentially("track:");
    await optionsOf(page).first().waitFor();
    assert.deepEqual(problems, []);
  });
  assert.deepEqual(problems, []);
});

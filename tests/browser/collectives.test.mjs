// The view of all ranks: a planted straggler is found by clicking only.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, rowOf } from "./picture.mjs";
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

  await t.test("the summary names the straggler first", async () => {
    await page.getByRole("link", { name: "Summary" }).click();
    await page.getByRole("heading", { name: "Where waiting began" }).waitFor();
    const card = page.locator("section, article, div").filter({ has: page.getByRole("heading", { name: "Where waiting began" }) });
    const text = await card.last().innerText();
    assert.match(text, new RegExp(`^Where waiting began\\s+rank ${STRAGGLER}\\s`));
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
    assert.ok(parametersOf(page).get("sel"), page.url());
  });

  assert.deepEqual(problems, []);
});

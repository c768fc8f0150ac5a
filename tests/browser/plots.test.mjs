// Plots of all ranks: the spread of durations by kind and size, and the waiting of each rank.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, rowOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

test("plots filter by kind, and lead to operations and ranks", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "100", "--straggler", "77", "--collectives", "60");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t, { width: 1600, height: 900 });
  await page.goto(`${url}/profile/${slug}`);
  await rowOf(page, "Rank 3").waitFor();

  await t.test("a plot filters by kind and leads to an operation", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("p");
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

// Searching: by query and by regular expression, what is wrong with one, what the address keeps.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, reload, rowOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

test("search", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const search = `profiles/${slug}/ranks/0/search?limit=1`;

  const open = async (t, more = "") => {
    const { page, problems } = await openPage(t);
    await page.goto(`${url}/profile/${slug}?v=1${more}`);
    await rowOf(page, "Tensor").waitFor();
    const box = page.getByRole("searchbox", { name: "Search names and fields" });
    const toggle = page.getByRole("button", { name: "Regular expression" });
    return { page, problems, box, toggle };
  };
  const hits = async (page, query) => {
    const { total } = await ask(url, `${search}&${query}`);
    assert.ok(total > 1, `${query}: ${total}`);
    await page.getByText(`${total.toLocaleString("en-US")} hits`).waitFor();
  };

  await t.test("a regular expression finds what its text does not", async (t) => {
    const { page, problems, box, toggle } = await open(t);
    assert.equal(await toggle.getAttribute("aria-pressed"), "false");
    await box.fill("^MAT.*L$");
    await page.getByText("Nothing in this rank matches “^MAT.*L$”.").waitFor();
    await toggle.click();
    assert.equal(await toggle.getAttribute("aria-pressed"), "true");
    await hits(page, `syntax=regex&q=${encodeURIComponent("^MAT.*L$")}`);
    await eventually(() => assert.match(page.url(), /[?&]search=regex(&|$)/));
    await box.fill("^surely not in it$");
    await page.getByText("Nothing in this rank matches “^surely not in it$”.").waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("the toggle is reached by keys and kept in the address", async (t) => {
    const { page, problems, box, toggle } = await open(t, "&search=regex");
    assert.equal(await toggle.getAttribute("aria-pressed"), "true");
    await page.keyboard.press("/");
    await page.keyboard.press("Tab");
    assert.ok(await toggle.evaluate((button) => button === document.activeElement), "Tab does not lead to the toggle");
    await page.keyboard.press("Space");
    assert.equal(await toggle.getAttribute("aria-pressed"), "false");
    await eventually(() => assert.ok(!page.url().includes("search="), page.url()));
    await box.press("Alt+r");
    assert.equal(await toggle.getAttribute("aria-pressed"), "true");
    await box.fill("mat|transpose");
    await hits(page, `syntax=regex&q=${encodeURIComponent("mat|transpose")}`);
    await eventually(() => assert.match(page.url(), /search=regex/));
    await reload(page);
    await rowOf(page, "Tensor").waitFor();
    assert.equal(await toggle.getAttribute("aria-pressed"), "true");
    assert.deepEqual(problems, []);
  });

  await t.test("a wrong pattern is explained under the box until it is right", async (t) => {
    const { page, problems, box } = await open(t, "&search=regex");
    const mistake = page.getByRole("alert").filter({ hasText: "the pattern is invalid at character 4: unclosed group" });
    await box.fill("MAT(MUL");
    await mistake.waitFor();
    const [above, below] = [await box.boundingBox(), await mistake.boundingBox()];
    assert.ok(below.y >= above.y + above.height, "it is not under the box");
    assert.equal(await box.getAttribute("aria-invalid"), "true");
    assert.equal(await box.getAttribute("aria-describedby"), await mistake.getAttribute("id"));
    // Once, and the panel does not say it again.
    assert.equal(await page.getByText("unclosed group").count(), 1);
    await page.getByText("Hits show here once the pattern is right.").waitFor();
    await box.fill("MAT(MUL)");
    await hits(page, `syntax=regex&q=${encodeURIComponent("MAT(MUL)")}`);
    await mistake.waitFor({ state: "detached" });
    // The hits stay while the pattern is wrong again.
    const list = page.getByRole("list", { name: "Hits" });
    const first = await list.getByRole("button").first().innerText();
    await box.fill("MAT(MUL)(");
    await page.getByRole("alert").filter({ hasText: "unclosed group" }).waitFor();
    assert.equal(await list.getByRole("button").first().innerText(), first);
    await page.locator(".hits.is-stale").waitFor();
    await box.fill("MAT(MUL)");
    await page.locator(".hits:not(.is-stale)").waitFor();
    assert.equal(await box.getAttribute("aria-invalid"), "false");
    // The browser itself reports the answer to the wrong one.
    assert.deepEqual(problems.filter((problem) => !/400/.test(problem)), []);
  });

  await t.test("a query has fields and numbers, and an unknown field is said with the nearest one", async (t) => {
    const { page, problems, box } = await open(t);
    assert.equal(await box.getAttribute("placeholder"), "Search: matmul dur>5us");
    const query = "opcode=MATMUL dur>200ns -track:nothing,Vector start>10us";
    await box.fill(query);
    const zero_ps = (await ask(url, `profiles/${slug}`)).ranks[0].start_ps;
    await hits(page, `syntax=query&zero_ps=${zero_ps}&q=${encodeURIComponent(query)}`);
    await eventually(() => assert.match(page.url(), /search=query/));
    const list = page.getByRole("list", { name: "Hits" });
    const first = await list.getByRole("button").first().innerText();
    await box.fill("opcde=MATMUL");
    const mistake = page.getByRole("alert").filter({ hasText: "character 1: no field is called opcde: did you mean opcode?" });
    await mistake.waitFor();
    assert.equal(await list.getByRole("button").first().innerText(), first, "the last hits stay");
    await box.fill("/^MAT.*L$/");
    await hits(page, `syntax=regex&q=${encodeURIComponent("^MAT.*L$")}`);
    await mistake.waitFor({ state: "detached" });
    // A link without a syntax is about a text, whatever its letters are.
    await page.goto(`${url}/profile/${slug}?v=2&q=${encodeURIComponent("no:field a")}`);
    await rowOf(page, "Tensor").waitFor();
    assert.equal(await box.inputValue(), '"no:field a"');
    assert.deepEqual(problems.filter((problem) => !/400/.test(problem)), []);
  });

  // Without that, the page would wait for the answer to the first question before it asks the next one.
  const isCalledOff = async (page, part, ask) => {
    await page.route((address) => address.href.includes(part), () => {}, { times: 1 });
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes(part));
    const asked = page.waitForRequest((request) => request.url().includes(part));
    await ask.first();
    await asked;
    await ask.next();
    assert.equal((await failed).failure().errorText, "net::ERR_ABORTED");
  };

  await t.test("a search that is replaced is called off", SERVED, async (t) => {
    const { page, problems, box } = await open(t);
    await isCalledOff(page, "q=slow", { first: () => box.fill("slow"), next: () => box.fill("MATMUL") });
    await hits(page, "q=MATMUL");
    assert.deepEqual(problems, []);
  });

  await t.test("adding up a span that is replaced is called off", SERVED, async (t) => {
    const { page, problems } = await open(t);
    const ruler = await page.locator(".ruler").boundingBox();
    const mark = async (from, to) => {
      await page.mouse.move(ruler.x + from, ruler.y + 10);
      await page.mouse.down();
      await page.mouse.move(ruler.x + to, ruler.y + 10);
      await page.mouse.up();
    };
    await isCalledOff(page, "/selection?", { first: () => mark(100, 300), next: () => mark(200, 700) });
    await page.getByRole("tabpanel", { name: "Selection" }).getByText("Engines › Tensor", { exact: true }).waitFor();
    assert.deepEqual(problems, []);
  });
});

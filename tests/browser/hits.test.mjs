// Going through the hits of a search in order of time, from where one is, over all tracks; and hits
// in links.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, parametersOf, reload, rowOf, viewOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

const number = (count) => count.toLocaleString("en-US");

test("hits", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const rank = `profiles/${slug}/ranks/0`;
  const { entry } = await ask(url, rank);
  const query = "MAT|EVENT|ACT|Reduce";
  const search = (more) => ask(url, `${rank}/search?q=${encodeURIComponent(query)}&syntax=regex&${more}`);
  // All of them, sorted by this test itself.
  const all = (await search("limit=100000")).hits.map(({ slice }) => slice);
  all.sort((a, b) => a.start_ps - b.start_ps || a.row - b.row);
  assert.ok(all.length > 2_000, `${all.length} hits`);
  assert.ok(new Set(all.map((slice) => slice.track)).size > 2, "the hits lie on too few tracks");
  const middle = Math.floor(all.length / 2);
  const window = [all[middle].start_ps - 1_000, all[middle].start_ps + 50_000_000];

  const open = async (t, more = "") => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window, `&search=regex${more}`));
    await rowOf(page, "Tensor").waitFor();
    t.after(() => assert.deepEqual(problems, []));
    return { page, box: page.getByRole("searchbox", { name: "Search names and fields" }) };
  };
  const isAt = async (page, at) => {
    await eventually(() => assert.equal(viewOf(page).selected, all[at].row, page.url()));
    await page.locator(".search-count").getByText(`${number(at + 1)} of ${number(all.length)}`).waitFor();
  };

  await t.test("Enter goes on from the start of the window, over all tracks", async (t) => {
    const { page, box } = await open(t);
    await box.fill(query);
    await page.locator(".search-count").getByText(`${number(all.length)} hits`).waitFor();
    for (const at of [0, 1, 2, 3]) {
      await box.press("Enter");
      await isAt(page, middle + at);
    }
    await box.press("Shift+Enter");
    await isAt(page, middle + 2);
    // The list is a page of the hits around here, and says what it leaves out.
    const list = page.getByRole("list", { name: "Hits" });
    assert.equal(await list.locator("[aria-current=true]").count(), 1);
    const [earlier, later] = [/^[\d,]+ earlier hits$/, /^[\d,]+ later hits$/].map((name) => page.getByRole("button", { name }));
    const counted = async (button) => Number((await button.innerText()).replace(/\D/g, ""));
    const shown = await list.getByRole("listitem").count();
    assert.equal((await counted(earlier)) + shown + (await counted(later)), all.length);
    const before = await counted(later);
    await later.click();
    await eventually(async () => assert.ok((await counted(later)) < before, "no later hits came"));
  });

  await t.test("each hit begins with its start, at any width", async (t) => {
    const { page, box } = await open(t);
    await box.fill(query);
    await page.locator(".search-count").getByText(`${number(all.length)} hits`).waitFor();
    const seen = (size, more) =>
      t.test(`${size.width} px${more ? ", with details" : ""}`, async () => {
        await page.setViewportSize(size);
        const first = page.getByRole("list", { name: "Hits" }).getByRole("button").first();
        if (more) await first.click();
        await eventually(async () => {
          const parts = await first.locator("> *").evaluateAll((parts) =>
            parts.map((part) => ({ text: part.textContent, width: part.offsetWidth, left: part.offsetLeft, class: part.className })),
          );
          assert.match(parts[0].text, /\d (ns|µs|ms|s)$/);
          assert.ok(parts[0].width > 0 && parts.every(({ left }) => left >= parts[0].left || size.width < 500), JSON.stringify(parts));
        });
      });
    for (const width of [390, 700, 1280, 1600]) await seen({ width, height: 900 }, false);
    await seen({ width: 1280, height: 900 }, true);
  });

  await t.test("a walk leaves the page of hits and comes around the ends with a word", async (t) => {
    const { page, box } = await open(t);
    await box.fill(query);
    await box.press("Shift+Enter");
    await isAt(page, middle - 1);
    // A hundred hits before the window are in the first page.
    const steps = 120;
    for (let step = 1; step <= steps; step += 1) {
      await box.press("Shift+Enter");
      await eventually(() => assert.equal(viewOf(page).selected, all[middle - 1 - step].row, `step ${step}`));
    }
    await isAt(page, middle - 1 - steps);

    await page.goto(addressOf(url, slug, [entry.start_ps, entry.end_ps], `&search=regex&q=${encodeURIComponent(query)}`));
    await page.locator(".search-count").getByText(`${number(all.length)} hits`).waitFor();
    await box.focus();
    await box.press("Shift+Enter");
    await isAt(page, all.length - 1);
    await page.getByText("Before the first hit: the last one again").waitFor();
    await box.press("Enter");
    await isAt(page, 0);
    await page.getByText("After the last hit: the first one again").waitFor();
    await box.press("Enter");
    await isAt(page, 1);
    assert.equal(await page.getByText("the first one again").count(), 0);
  });

  await t.test("Enter before the hits are here goes to the next one as soon as they are", async (t) => {
    const { page, box } = await open(t);
    await box.fill(query);
    await box.press("Enter");
    await isAt(page, middle);
    await box.fill("surely not in it");
    await page.getByText("Nothing in this rank matches “surely not in it”.").waitFor();
  });

  await t.test("Enter while the hits are in flight goes to the next one as soon as they are here", SERVED, async (t) => {
    const { page, box } = await open(t);
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(/\/search\?/, async (route) => {
      await held;
      await route.continue();
    });
    // The pause in typing ends, and the search starts by itself.
    const asked = page.waitForRequest(/\/search\?/);
    await box.fill(query);
    await asked;
    await box.press("Enter");
    answer();
    await isAt(page, middle);
  });

  await t.test("a link to one of many hits in the window marks it in the list", async (t) => {
    const { page } = await openPage(t);
    const { row } = all[middle];
    const whole = [entry.start_ps, entry.end_ps];
    await page.goto(addressOf(url, slug, whole, `&search=regex&tab=search&sel=${row}&q=${encodeURIComponent(query)}`));
    await isAt(page, middle);
    const marked = page.getByRole("list", { name: "Hits" }).locator("[aria-current=true]");
    await eventually(async () => {
      const [list, hit] = await Promise.all([page.locator(".hits").boundingBox(), marked.boundingBox()]);
      assert.ok(hit.y >= list.y && hit.y + hit.height <= list.y + list.height, "the hit is out of sight");
    });
  });

  await t.test("a link brings back the search, the tab and the scroll", async (t) => {
    const { page, box } = await open(t);
    await box.fill(query);
    await page.getByRole("list", { name: "Hits" }).waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("q"), query));
    assert.equal(parametersOf(page).get("tab"), "search");
    // A tab that suits nothing that is selected.
    await page.getByRole("tab", { name: "Selection" }).click();
    await page.locator(".timeline-rows").evaluate((rows) => rows.scrollTo(0, 260));
    const top = await eventually(() => {
      const top = parametersOf(page).get("row");
      assert.ok(top, page.url());
      return top;
    });
    const scrolled = () => page.locator(".timeline-rows").evaluate((rows) => rows.scrollTop);
    const before_px = await scrolled();
    await eventually(() => assert.equal(parametersOf(page).get("tab"), "selection"));

    await reload(page);
    await page.getByRole("tab", { name: "Selection", selected: true }).waitFor();
    assert.equal(await box.inputValue(), query);
    await page.locator(".search-count").getByText(`${number(all.length)} hits`).waitFor();
    await eventually(async () => {
      const px = await scrolled();
      // To the top of the first visible row, or of its first visible lane.
      assert.ok(px > before_px - 24 && px <= before_px, `${px} pixels, before ${before_px}`);
    });
    assert.equal(parametersOf(page).get("row"), top);
  });
});

// Narrow screens: nothing is cut off or wider than the screen, everything is still there, and
// fingers can hit it.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, rowOf } from "./picture.mjs";
import { IS_FILE, openPage, serve, SERVED } from "./stage.mjs";

/** WCAG 2.2, 2.5.8. */
const LEAST_TARGET_PX = 24;

/** What sticks out of the screen, or is cut off by the bar. */
function outside(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const found = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} px wide`] : [];
    for (const element of document.querySelectorAll("button, a, input, h1, .chip, td, th")) {
      const box = element.getBoundingClientRect();
      const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      // Tabs, the list of tables and wide tables scroll sideways in their own place.
      const scrolls = "[role=tablist], .table-list, .table-scroll, .metric-table .scroll";
      if (!isSeen || box.width < 2 || element.closest(`${scrolls}, .unseen`)) continue;
      if (box.left < -1 || box.right > width + 1) found.push(`${element.outerHTML.slice(0, 80)} at ${box.left} to ${box.right}`);
    }
    return found;
  });
}

function smallTargets(page, least) {
  return page.evaluate((least) => {
    const found = [];
    for (const element of document.querySelectorAll("button, a, input, [tabindex='0'], [role=tab]")) {
      const box = element.getBoundingClientRect();
      const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (!isSeen || box.width < 2 || element.closest(".unseen")) continue;
      const grown = getComputedStyle(element, "::after");
      const isGrown = grown.position === "absolute" && grown.content !== "none";
      const height = isGrown ? Math.max(box.height, parseFloat(grown.height)) : box.height;
      const target = element.closest(".field")?.getBoundingClientRect() ?? { height, width: Math.max(box.width, isGrown ? parseFloat(grown.width) : 0) };
      if (target.height < least - 0.5 || target.width < least - 0.5) {
        found.push(`${element.outerHTML.slice(0, 90)}: ${target.width} × ${target.height}`);
      }
    }
    return found;
  }, least);
}

test("narrow screens", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const span = `&mark=${entry.start_ps}..${entry.end_ps}`;
  const { hits } = await ask(url, `profiles/${slug}/ranks/0/search?q=MATMUL&limit=1`);

  for (const [width, height] of [[390, 844], [320, 640], [640, 400]]) {
    await t.test(`nothing is cut off at ${width} × ${height}`, SERVED, async (t) => {
      const { page, problems } = await openPage(t, { width, height, hasTouch: true, isMobile: true });
      await page.goto(url);
      await page.getByRole("link", { name: "Demo: 2 simulated ranks" }).waitFor();
      assert.deepEqual(await outside(page), [], "list");
      assert.deepEqual(await smallTargets(page, LEAST_TARGET_PX), [], "list");
      for (const more of ["", span, "&q=MATMUL", `&sel=${hits[0].slice.row}`]) {
        await page.goto(`${url}/profile/${slug}?v=1${more}`);
        await rowOf(page, "Engines").waitFor();
        const tab = page.getByRole("tab", { selected: true }).last();
        // Nothing is open that was not used, and where the screen is low, nothing at all.
        assert.equal(await page.getByRole("tabpanel").count(), more === "" || height < 480 ? 0 : 1);
        if (more === "" || height < 480) await tab.tap();
        await page.getByRole("tabpanel").waitFor();
        await page.waitForLoadState("networkidle");
        assert.deepEqual(await outside(page), [], more);
        assert.deepEqual(await smallTargets(page, LEAST_TARGET_PX), [], more);
      }
      const places = {
        summary: page.locator(".all-metrics").getByRole("heading", { name: "Tensor engine" }),
        "data?table=neff_node": page.getByRole("grid", { name: "NEFF node" }),
      };
      for (const [place, there] of Object.entries(places)) {
        await page.goto(`${url}/profile/${slug}/${place}${place.includes("?") ? "&" : "?"}v=2`);
        await there.waitFor();
        await page.waitForLoadState("networkidle");
        assert.deepEqual(await outside(page), [], place);
        assert.deepEqual(await smallTargets(page, LEAST_TARGET_PX), [], place);
      }
      assert.deepEqual(problems, []);
    });
  }

  await t.test("the tools of the ranks' heading are beside the tracks", async (t) => {
    const { page, problems } = await openPage(t, { width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(`${url}/profile/${slug}?v=2&rank=all`);
    const heading = rowOf(page, "Ranks").locator(".track-label");
    const fit = heading.getByRole("button", { name: "Fit", exact: true });
    await fit.waitFor();
    const [all, one] = [await heading.boundingBox(), await fit.boundingBox()];
    assert.ok(one.x + one.width <= all.x + all.width, `${one.x} + ${one.width} in ${all.x} + ${all.width}`);
    assert.deepEqual(problems, []);
  });

  await t.test("the search is an icon that opens over the bar, the actions are a menu", async (t) => {
    const { page, problems } = await openPage(t, { width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(`${url}/profile/${slug}?v=2`);
    await rowOf(page, "Engines").waitFor();
    const name = page.getByRole("heading", { name: "Demo: 2 simulated ranks" });
    const box = page.getByRole("searchbox", { name: "Search names and fields" });
    const isSeen = () => box.evaluate((input) => input.checkVisibility({ opacityProperty: true }));
    assert.equal(await isSeen(), false);
    await page.getByRole("button", { name: "Search", exact: true }).tap();
    assert.equal(await isSeen(), true);
    await box.fill("MATMUL");
    await page.getByRole("button", { name: "Next hit" }).tap();
    await page.getByText(/^1 of [\d,]+$/).waitFor();
    await page.getByRole("button", { name: "Close the search" }).tap();
    assert.equal(await isSeen(), false);
    await name.waitFor();

    const theme = page.getByRole("button", { name: "Switch to the dark theme" });
    assert.equal(await theme.isVisible(), false);
    await page.getByRole("button", { name: "More" }).tap();
    await theme.tap();
    await page.locator("html[data-theme=dark]").waitFor();
    await page.getByRole("button", { name: "Switch to the light theme" }).waitFor({ state: "hidden" });

    if (!IS_FILE) {
      await page.getByRole("button", { name: "More" }).tap();
      await page.getByRole("button", { name: "Download" }).tap();
      await page.getByRole("link", { name: "HTML file" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "HTML file" }).waitFor({ state: "hidden" });
    }
    assert.deepEqual(problems, []);
  });
});

// The pages pass axe-core in both themes, and borders of inputs can be seen.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import test from "node:test";
import { ask, contrast, rowOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2, 1.4.11. */
const LEAST_CONTRAST = 3;

async function violations(page) {
  // The page's policy refuses a script element without a known hash.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

test("axe finds nothing", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const { hits } = await ask(url, `profiles/${slug}/ranks/0/search?q=MATMUL&limit=1`);
  const profile = `${url}/profile/${slug}?v=1`;
  const states = {
    list: [url, (page) => page.getByRole("link", { name: "Demo: 2 simulated ranks" })],
    "a broken link": [`${profile}&from=5`, (page) => page.getByRole("heading", { name: "This link cannot be read" })],
    "no profile": [`${url}/profile/none`, (page) => page.getByRole("alert")],
    "a similar name": [`${url}/profile/${slug.slice(0, -1)}`, (page) => page.getByText("Did you mean")],
    timeline: [profile, (page) => rowOf(page, "Tensor")],
    summary: [`${url}/profile/${slug}/summary?v=2`, (page) => page.locator(".all-metrics").getByRole("heading", { name: "Tensor engine" })],
    "a table": [`${url}/profile/${slug}/data?table=neff_node`, (page) => page.getByRole("grid", { name: "NEFF node" })],
    "a record": [`${url}/profile/${slug}/data?table=metadata`, (page) => page.getByRole("grid", { name: "Metadata" })],
    "events without a match": [
      `${url}/profile/${slug}/data?table=dma&filter=zzz`,
      (page) => page.getByText("No row matches the filter."),
    ],
    details: [`${profile}&sel=${hits[0].slice.row}`, (page) => page.getByRole("article", { name: "Details" })],
    selection: [`${profile}&mark=${entry.start_ps}..${entry.end_ps}`, (page) => page.getByRole("table").first()],
    findings: [`${profile}&tab=findings`, (page) => page.getByRole("article", { name: "Findings" })],
    "critical path": [
      `${profile}&tab=path`,
      (page) => page.getByRole("article", { name: "Critical path" }).locator("tbody tr:not(.space)").first(),
    ],
    waits: [
      `${profile}&tab=waits`,
      (page) => page.getByRole("article", { name: "Waits" }).locator("tbody tr:not(.space)").first(),
    ],
    search: [`${profile}&q=MATMUL&tab=search`, (page) => page.getByRole("list", { name: "Hits" })],
    plots: [
      `${profile}&rank=all&tab=plots`,
      (page) => page.getByRole("region", { name: "Duration by kind and size" }).locator("tbody tr").first(),
    ],
    "a selection of two ranks": [
      `${profile}&rank=0&ranks=0,1&mark=${entry.start_ps}..${entry.end_ps}&tab=selection`,
      (page) => page.getByText("In rank 1").first(),
    ],
    "summary of all ranks": [
      `${url}/profile/${slug}/summary?v=2&rank=all`,
      (page) => page.getByRole("region", { name: "Ranks over time" }).getByRole("slider"),
    ],
    collectives: [`${profile}&rank=all`, (page) => rowOf(page, "Rank 1")],
    warnings: [`${profile}&tab=warnings`, (page) => page.getByText("Every event of this rank's trace was read.")],
  };
  for (const colorScheme of ["light", "dark"]) {
    await t.test(`no page, ${colorScheme}`, SERVED, async (t) => {
      const { page } = await openPage(t, { colorScheme });
      await page.goto(`${url}/nothing`);
      await page.getByRole("heading", { name: "Not found" }).waitFor();
      assert.deepEqual(await violations(page), []);
      const [red] = (await page.locator("body").evaluate((body) => getComputedStyle(body).color)).match(/\d+/g).map(Number);
      assert.equal(red > 128, colorScheme === "dark", "text follows the theme");
    });
    for (const [name, [address, there]] of Object.entries(states)) {
      await t.test(`${name}, ${colorScheme}`, async (t) => {
        const { page } = await openPage(t, { colorScheme });
        await page.goto(address);
        await there(page).waitFor();
        assert.deepEqual(await violations(page), []);
      });
    }
    await t.test(`keys, ${colorScheme}`, async (t) => {
      const { page } = await openPage(t, { colorScheme });
      await page.goto(profile);
      await rowOf(page, "Tensor").waitFor();
      await page.keyboard.press("?");
      const keys = page.getByRole("dialog", { name: "Keys" });
      await keys.getByText("Mark a span and add it up").waitFor();
      assert.deepEqual(await violations(page), []);
    });
    await t.test(`commands, ${colorScheme}`, async (t) => {
      const { page } = await openPage(t, { colorScheme });
      await page.goto(profile);
      await rowOf(page, "Tensor").waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: /^Zoom in/ }).waitFor();
      assert.deepEqual(await violations(page), []);
    });
    await t.test(`dock and drawer, ${colorScheme}`, async (t) => {
      const { page } = await openPage(t, { colorScheme, width: 1600, height: 900 });
      await page.goto(`${profile}&sel=${hits[0].slice.row}&q=MATMUL`);
      await page.getByRole("article", { name: "Details" }).waitFor();
      await page.getByRole("list", { name: "Hits" }).waitFor();
      assert.deepEqual(await violations(page), []);
    });
    await t.test(`downloads, ${colorScheme}`, SERVED, async (t) => {
      const { page } = await openPage(t, { colorScheme });
      await page.goto(profile);
      await rowOf(page, "Tensor").waitFor();
      await page.getByRole("button", { name: "Download" }).click();
      await page.getByRole("link", { name: "HTML file of this view" }).waitFor();
      assert.deepEqual(await violations(page), []);
    });
    await t.test(`inputs and buttons have borders that can be seen, ${colorScheme}`, async (t) => {
      const { page } = await openPage(t, { colorScheme });
      await page.goto(url);
      await page.getByRole("link", { name: "Demo: 2 simulated ranks" }).waitFor();
      const colours = await page.locator(".field").evaluate((field) => {
        const style = getComputedStyle(field);
        const parts = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number);
        return [parts(style.borderTopColor), parts(getComputedStyle(document.body).backgroundColor), parts(style.backgroundColor)];
      });
      const [border, ...grounds] = colours;
      for (const ground of grounds) {
        assert.ok(contrast(border, ground) >= LEAST_CONTRAST, `${border} on ${ground}: ${contrast(border, ground)}`);
      }
    });
  }
});

// The browser tells of a scroll and of a lost focus after the element has left the page, and answers come late too.

import assert from "node:assert/strict";
import test from "node:test";
import { writeJob } from "./job.mjs";
import { ask, rowOf } from "./picture.mjs";
import { openPage, SERVED, serve } from "./stage.mjs";

const RANKS = 40;

/** Focuses and scrolls an element, and leaves it before the browser has told the page of either. */
const scrollAndLeave = (scrolled, leave) =>
  scrolled.evaluate((element, leaving) => {
    element.focus();
    element.scrollTop = 40;
    if (element.scrollTop !== 40) throw new Error("nothing to scroll");
    leaving.click();
  }, leave);

test("late events of elements that are gone", async (t) => {
  const job = await writeJob(t, Array(RANKS).fill(0));
  const { url } = await serve(t, "view", "-d", job);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const open = async (t, path) => {
    const { page, problems } = await openPage(t, { width: 1280, height: 500 });
    await page.goto(`${url}/profile/${slug}${path}`);
    return { page, problems };
  };
  const rest = (page) => page.waitForTimeout(500);

  await t.test("the rows of the timeline", async (t) => {
    const { page, problems } = await open(t, "?v=2&rank=all");
    await rowOf(page, "Rank 3").waitFor();
    await scrollAndLeave(page.locator(".timeline-rows"), await page.getByRole("navigation", { name: "Places" }).getByRole("link", { name: "Data" }).elementHandle());
    await page.getByRole("grid").waitFor();
    await rest(page);
    assert.deepEqual(problems, []);
  });

  await t.test("an answer that leads to a slice", SERVED, async (t) => {
    const { page, problems } = await open(t, "?v=2&rank=all&tab=plots");
    const bars = page.locator(".plot-ranks");
    await bars.locator("path").first().waitFor({ state: "attached" });
    let answer;
    const asked = new Promise((resolve) => {
      page.route(/\/tables\/operation(\?|$)/, (route) => {
        answer = () => route.continue();
        resolve();
      });
    });
    await bars.click();
    await asked;
    await page.getByRole("link", { name: /nprof/ }).first().click();
    await page.getByRole("heading", { name: "Profiles" }).first().waitFor();
    await answer();
    await rest(page);
    assert.deepEqual(problems, []);
  });
});

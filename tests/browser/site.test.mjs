// A profile as a folder of a static web host: the page fetches the parts of segments that it needs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { host } from "./host.mjs";
import { ask, eventually, isBar, laneTop, picture, rowOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const run = promisify(execFile);
/** Files to the first picture: the page, two programs and parts of one segment. */
const MOST_REQUESTS = 12;

/** More than the time limit of frontend/boot/worker.js. */
const STALL_MS = 60_000;

/** Waits until slices are drawn in the row of a track. */
async function drawn(page, track) {
  await rowOf(page, track).waitFor();
  const box = await page.locator(".timeline-above").boundingBox();
  await eventually(async () => {
    const { at } = await picture(page);
    const y = (await laneTop(page, track)) + 14;
    const columns = Array.from({ length: Math.floor(box.width) - 2 }, (_, column) => box.x + 1 + column);
    assert.ok(columns.some((x) => isBar(at(x, y))));
  });
}

test("a site", async (t) => {
  const { url, store, stop } = await serve(t, "demo", "--events", "400000", "--ranks", "2");
  const [{ slug, display_name: name }] = (await ask(url, "profiles")).profiles;
  await stop();
  const folder = join(store, "web");
  const site = join(folder, "a profile");
  const args = ["export", slug, "--format", "site", "-o", site, "--store", store];
  await run("mkdir", [folder]);
  await run(process.env.NPROF_BIN, args);
  const names = await readdir(site);
  const segment = names.find((name) => name.startsWith("rank_0-"));

  await t.test("shows a profile of which it fetches parts", async (t) => {
    const { url, served } = await host(t, folder);
    const { page, problems } = await openPage(t);
    await page.goto(`${url}/a%20profile/#/profile/${slug}?v=2`);
    await drawn(page, "Tensor");
    assert.equal(await page.title(), `${name} · nprof`);
    const first = served.filter(({ path }) => path !== "/favicon.ico");
    assert.ok(first.length <= MOST_REQUESTS, JSON.stringify(first));
    assert.ok(first.every(({ path }) => !path.includes("rank_1")));
    const parts = first.filter(({ path }) => path.endsWith(".nseg"));
    assert.ok(parts.length > 0 && parts.every(({ status }) => status === 206));

    await page.keyboard.press("/");
    await page.keyboard.type("MATMUL");
    await page.keyboard.press("Enter");
    await page.getByRole("tabpanel").getByText("MATMUL").first().waitFor();
    await page.getByRole("tab", { name: /1/ }).first().click();
    await eventually(() => assert.match(page.url(), /#\/profile\/.*rank=1/));
    // The search leaves rows without hits dim.
    await drawn(page, "TensorMatrix");
    await page.getByRole("link", { name: "Summary" }).click();
    await page.getByText("Hardware flops").first().waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("says that its host serves no parts", async (t) => {
    const { url } = await host(t, folder, { hasRanges: false });
    const { page } = await openPage(t);
    await page.goto(`${url}/a%20profile/#/profile/${slug}?v=2`);
    await page.getByText("does not serve parts of files").first().waitFor();
  });

  await t.test("says that its host is gone, and goes on when it is back", async (t) => {
    const { url, stop } = await host(t, folder);
    const { page } = await openPage(t);
    await page.goto(`${url}/a%20profile/#/profile/${slug}?v=2`);
    await drawn(page, "Tensor");
    await stop();
    await page.keyboard.press("/");
    await page.keyboard.type("MATMUL");
    await page.keyboard.press("Enter");
    await page.getByText(/web host does not answer/).first().waitFor();
  });

  await t.test("says what is wrong with its files", async (t) => {
    const cases = {
      "answers with status 404": (copy) => rm(join(copy, segment)),
      "cannot be opened": (copy) => truncate(join(copy, segment), 600_000),
      "is damaged": async (copy) => {
        const bytes = await readFile(join(copy, segment));
        await writeFile(join(copy, segment), bytes.fill(0x55, 16, bytes.length - 50_000));
      },
    };
    for (const [expected, damage] of Object.entries(cases)) {
      const copy = join(folder, expected);
      await cp(site, copy, { recursive: true });
      await damage(copy);
      const { url } = await host(t, folder);
      const { page } = await openPage(t);
      await page.goto(`${url}/${encodeURIComponent(expected)}/#/profile/${slug}?v=2`);
      await page.getByText(expected).first().waitFor();
    }
  });

  await t.test("names what all ranks show together as such", async (t) => {
    const copy = join(folder, "job");
    await cp(site, copy, { recursive: true });
    await rm(join(copy, names.find((name) => name.startsWith("rank_all-"))));
    const { url } = await host(t, folder);
    const { page } = await openPage(t);
    await page.goto(`${url}/job/#/profile/${slug}?v=2&rank=all`);
    await page.getByText("the view of all ranks cannot be opened").first().waitFor();
    assert.equal(await page.getByText("4294967295").count(), 0);
  });

  await t.test("says that its host stalls", async (t) => {
    const { url } = await host(t, folder, { stalls: (path) => path.endsWith(".nseg") });
    const { page } = await openPage(t);
    await page.goto(`${url}/a%20profile/#/profile/${slug}?v=2`);
    await page.getByText(/web host does not answer.*reload the page/).first().waitFor({ timeout: STALL_MS });
  });

  await t.test("says on a disk that it needs a host", async (t) => {
    const { page } = await openPage(t);
    await page.goto(pathToFileURL(join(site, "index.html")).href);
    await page.getByText("has to come from a web host").waitFor();
  });

  await t.test("is never written over files", async () => {
    await assert.rejects(run(process.env.NPROF_BIN, args), /is not empty/);
    assert.deepEqual(await readdir(site), names);
  });
});

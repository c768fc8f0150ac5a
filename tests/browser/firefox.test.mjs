// A colleague opens a shared profile in any browser. These tests open the HTML file and the site in Firefox; all other
// tests run in Chromium.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pngjs from "pngjs";
import puppeteer from "puppeteer-core";
import { host } from "./host.mjs";
import { eventually } from "./picture.mjs";

const run = promisify(execFile);
const NPROF = process.env.NPROF_BIN;
const FIREFOX = process.env.NPROF_FIREFOX;
const WAIT_MS = 30_000;

/** How many colours a screenshot of an element has. */
async function coloursOf(page, selector) {
  const element = await page.waitForSelector(selector, { timeout: WAIT_MS });
  const { data } = pngjs.PNG.sync.read(Buffer.from(await element.screenshot()));
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) colours.add(data.readUInt32BE(at));
  return colours.size;
}

/** The rows of tracks, by name. */
async function waitForTrack(page, name) {
  await page.waitForSelector(`::-p-xpath(//*[contains(@class, "track-name") and contains(., "${name}")])`, { timeout: WAIT_MS });
}

test("in Firefox", { skip: !FIREFOX && "NPROF_FIREFOX names no Firefox" }, async (t) => {
  const store = await mkdtemp(join(tmpdir(), "nprof-firefox-"));
  t.after(() => rm(store, { recursive: true, force: true }));
  await run(NPROF, ["--store", store, "demo", "--events", "60000", "--ranks", "2", "--db-bucket", "job", "--ingest-only"]);
  const exported = async (format, output) => {
    await run(NPROF, ["--store", store, "export", "job", "--format", format, "-o", join(store, output)]);
    return join(store, output);
  };
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
  t.after(() => browser.close());

  const shows = async (t, address) => {
    const page = await browser.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(`${address}#/profile/job?rank=1`);
    await waitForTrack(page, "Tensor");
    await eventually(async () => assert.ok((await coloursOf(page, ".timeline-above")) > 8));
    assert.equal(await page.$eval('[role="tab"][aria-selected="true"]', (tab) => /1/.test(tab.textContent)), true);

    await page.keyboard.press("/");
    await page.keyboard.type("MATMUL");
    await page.keyboard.press("Enter");
    await page.waitForSelector('::-p-xpath(//*[@role="tabpanel"]//*[contains(., "MATMUL")])', { timeout: WAIT_MS });
    assert.deepEqual(problems, []);
    await page.close();
  };

  await t.test("an HTML file opens from a disk", async (t) => {
    await shows(t, pathToFileURL(await exported("html", "job.html")).href);
  });

  await t.test("a site opens from a web host", async (t) => {
    await exported("site", "site");
    const { url, served } = await host(t, join(store, "site"));
    await shows(t, `${url}/`);
    assert.ok(served.some(({ path, status }) => path.includes("rank_1") && status === 206));
  });
});

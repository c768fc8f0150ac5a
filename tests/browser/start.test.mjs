// The page that lies in the binary starts: its wasm runs, draws the list of profiles and finds every file it asks for.

import assert from "node:assert/strict";
import test from "node:test";
import { openPage, serve } from "./stage.mjs";

test("the page starts on an empty store without an error", async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  // Only the program draws a heading: the file itself has none.
  await page.getByRole("heading").first().waitFor();
  assert.match(await page.title(), /nprof/);
  assert.deepEqual(problems, []);
});

// A driver that draws in software tells how slow it is.
const OF_THE_DRIVER = /^\[\.WebGL-|GPU stall/;

test("the console stays empty while the pages load", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const { page } = await openPage(t);
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  await page.goto(url);
  await page.getByRole("link", { name: "Demo: 2 simulated ranks" }).click();
  await page.getByRole("list", { name: "Tracks" }).getByText("Rank 1", { exact: true }).waitFor();
  // The browser complains about unused preloads some seconds after the page has loaded.
  await page.waitForTimeout(5_000);
  assert.deepEqual(said.filter((text) => !OF_THE_DRIVER.test(text.replace(/^\w+: /, ""))), []);
});

test("the browser has what the timeline is drawn with", async (t) => {
  const { page } = await openPage(t);
  const version = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    return gl?.getParameter(gl.VERSION) ?? null;
  });
  assert.match(version ?? "none", /^WebGL 2\.0/);
});

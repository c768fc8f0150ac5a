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

test("the browser has what the timeline is drawn with", async (t) => {
  const { page } = await openPage(t);
  const version = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    return gl?.getParameter(gl.VERSION) ?? null;
  });
  assert.match(version ?? "none", /^WebGL 2\.0/);
});

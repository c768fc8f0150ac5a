// A trace of very many threads: the page has the rows in sight and no others, and answers.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ask, eventually, rowOf } from "./picture.mjs";
import { SERVED, openPage, serve } from "./stage.mjs";

const THREADS = Number(process.env.NPROF_THREADS ?? 100_000);
/** Elements of a page that shows a screen of rows, and some. */
const MOST_ELEMENTS = 2_000;

test(`a page of ${THREADS} threads has few elements`, SERVED, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nprof-many-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const events = Array.from({ length: THREADS }, (_, at) => ({ ph: "X", pid: 1, tid: at + 1, ts: at, dur: THREADS, name: "work" }));
  const file = join(folder, "many.json");
  await writeFile(file, JSON.stringify(events));
  const { url } = await serve(t, "view", file);
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
  await page.goto(`${url}/profile/${slug}`);
  await page.locator(".tracks .track").nth(3).waitFor({ timeout: 60_000 });
  assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);

  await t.test("it scrolls to the last thread", async () => {
    await page.locator(".tracks").evaluate((tracks) => {
      let box = tracks;
      while (box && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement;
      box.scrollTop = box.scrollHeight;
    });
    await rowOf(page, `Thread ${THREADS}`).waitFor({ timeout: 60_000 });
    assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);
  });

  await t.test("keys are answered", async () => {
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor({ timeout: 60_000 });
    await page.keyboard.press("Escape");
    await eventually(async () => assert.equal(await page.getByRole("dialog").count(), 0));
  });
  assert.deepEqual(problems, []);
});

// The token of the printed link. A browser of another user is played by a proxy's header, with which a server asks for the
// token, whoever sends it.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { host } from "./host.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

const STRANGER = { extraHTTPHeaders: { "x-forwarded-for": "10.0.0.9" } };

/** A server, and the links that it printed. */
async function served(t) {
  const { output } = await serve(t, "serve");
  const link = /View a list of profiles at (\S+)/.exec(output())[1];
  assert.match(link, /^http:\/\/localhost:\d+\/\?token=[0-9a-f]{32}$/);
  return { link, url: new URL("/", link).href };
}

/** Waits until the program has drawn the page. */
const drawn = (page) => page.waitForFunction(() => document.title.includes("nprof") && document.querySelector("main"));

test("the printed link admits a browser, and its token leaves the address", SERVED, async (t) => {
  const { link, url } = await served(t);
  const { page } = await openPage(t, STRANGER);
  assert.equal((await page.goto(url)).status(), 401);
  assert.match(await page.textContent("body"), /Not admitted[^]*open the link/);
  await page.goto(link);
  await drawn(page);
  assert.equal(page.url(), url);
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.value], [true, "Strict", link.split("=")[1]]);
  assert.equal((await page.goto(url)).status(), 200);
});

test("a link on another site leads an admitted browser to the page, and tells others what to do", SERVED, async (t) => {
  const { link, url } = await served(t);
  const folder = await mkdtemp(join(tmpdir(), "nprof-site-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "index.html"), `<a href="${url}?order=name">nprof</a> <a href="${link}">new</a>`);
  const site = await host(t, folder);
  const follow = async (page, name) => {
    await page.goto(`${site.url}/`);
    await page.getByText(name, { exact: true }).click();
  };
  const { page } = await openPage(t, STRANGER);
  await follow(page, "nprof");
  await page.getByText("Not admitted").waitFor();
  // The browser takes the cookie, but does not send it on the way from another site.
  await follow(page, "new");
  await page.waitForURL(url);
  await drawn(page);
  await follow(page, "nprof");
  await page.waitForURL(`${url}?order=name`);
  await drawn(page);
});

test("other sites cannot read answers, and the page's own policy holds nothing up", SERVED, async (t) => {
  const { link } = await served(t);
  const { page, problems } = await openPage(t);
  await page.goto(link);
  await drawn(page);
  assert.deepEqual(problems, []);
  const folder = await mkdtemp(join(tmpdir(), "nprof-site-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "index.html"), "<p>another site");
  await page.goto((await host(t, folder)).url);
  const asked = await page.evaluate(async (url) => {
    const image = await new Promise((resolve) => {
      const image = Object.assign(new Image(), { onload: () => resolve("loaded"), onerror: () => resolve("refused") });
      image.src = `${url}favicon.ico`;
    });
    const blind = await fetch(`${url}api/profiles`, { mode: "no-cors" }).then(() => "answered", () => "refused");
    return [image, blind];
  }, new URL("/", link).href);
  assert.deepEqual(asked, ["refused", "refused"]);
});

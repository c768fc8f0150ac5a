// A profile as one HTML file: it opens from a disk without any server and without a network, and shows what a served
// page shows. The other tests run over HTML files as well (NPROF_SOURCE=html); these are about the file itself.

import assert from "node:assert/strict";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { addressOf, ask, eventually, middleOf, rowOf, settledAddress, tracksOf, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

/** Opens a file with the network cut. `requests` fills with all that the page asks for. */
async function openFile(t, file, options) {
  const { page, problems } = await openPage(t, options);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.context().setOffline(true);
  await page.goto(file);
  return { page, problems, requests };
}

test("an HTML file", SERVED, async (t) => {
  const { url, store, stop } = await serve(t, "demo", "--events", "20000", "--ranks", "2");
  const [{ slug, display_name: name }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/1`);
  // Somewhere else, with the server off.
  const from = fileURLToPath(await exported(store, slug));
  await mkdir(join(store, "else where"));
  const file = join(store, "else where", "a profile.html");
  await rename(from, file);
  await stop();
  const address = pathToFileURL(file).href;
  const first = `${address}#/profile/${slug}?v=2`;

  await t.test("asks nobody for anything", async (t) => {
    const { page, problems, requests } = await openFile(t, address);
    await rowOf(page, "Rank 1").waitFor();
    await page.getByRole("tab", { name: "Rank 0", exact: true }).click();
    await rowOf(page, "Tensor").waitFor();
    assert.equal(await page.title(), `${name} · nprof`);
    await page.keyboard.press("/");
    await page.keyboard.type("MATMUL");
    await page.keyboard.press("Enter");
    await page.getByRole("tabpanel").getByText("MATMUL").first().waitFor();
    await page.getByRole("link", { name: "Summary" }).click();
    await page.getByText("Hardware flops").first().waitFor();
    const foreign = requests.filter((request) => !/^(file|blob|data):/.test(request));
    assert.deepEqual(foreign, []);
    assert.deepEqual(problems, []);
  });

  await t.test("has rank tabs, and its address brings a view back", async (t) => {
    const { page, problems } = await openFile(t, first);
    await page.getByRole("tab", { name: /1/ }).first().click();
    await eventually(() => assert.match(page.url(), /#\/profile\/.*rank=1/));
    await tracksOf(page).click({ position: { x: 400, y: 60 } });
    const seen = await settledAddress(page);
    const other = await openFile(t, seen);
    await rowOf(other.page, "Tensor").waitFor();
    assert.equal(other.page.url(), seen);
    assert.equal(await other.page.getByRole("tab", { selected: true }).first().textContent(), await page.getByRole("tab", { selected: true }).first().textContent());
    await page.goBack();
    await rowOf(page, "Tensor").waitFor();
    assert.deepEqual([...problems, ...other.problems], []);
    assert.ok(entry.events > 0);
  });

  await t.test("has nothing that needs a server", async (t) => {
    const { page } = await openFile(t, `${address}#/`);
    await rowOf(page, "Rank 1").waitFor();
    assert.equal(await page.getByRole("button", { name: "Download" }).count(), 0);
    await page.getByRole("link", { name: "nprof" }).click();
    await rowOf(page, "Rank 1").waitFor();
    await page.goto(`${address}#/profile/other`);
    await page.reload();
    await page.getByText("No profile named “other”").waitFor();
    await page.getByRole("link", { name: "The profile of this file" }).click();
    await rowOf(page, "Rank 1").waitFor();
  });

  await t.test("says what is wrong with a damaged file", async (t) => {
    const whole = await readFile(file, "utf8");
    const at = whole.indexOf('data-segment="0"');
    const inside = whole.indexOf(">", at) + 5_000;
    const cases = {
      "part of this file is damaged": `${whole.slice(0, inside)}!!!!${whole.slice(inside + 4)}`,
      "cannot be opened": `${whole.slice(0, inside)}${whole.slice(inside + 4_000)}`,
    };
    for (const [expected, text] of Object.entries(cases)) {
      const damaged = join(store, `${expected}.html`);
      await writeFile(damaged, text);
      const { page } = await openFile(t, `${pathToFileURL(damaged).href}#/profile/${slug}?v=2`);
      await page.getByText(expected).first().waitFor();
    }
    const cut = join(store, "cut.html");
    await writeFile(cut, whole.slice(0, inside));
    const { page } = await openFile(t, pathToFileURL(cut).href);
    await page.getByText("could not start").waitFor();
  });
});

test("a part of a profile in an HTML file", SERVED, async (t) => {
  const { url, store, stop } = await serve(t, "demo", "--events", "20000", "--ranks", "3");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const [from, to] = [400_000_000, 500_000_000];
  const question = `profiles/${slug}/ranks/2/events?start_ps=${from}&end_ps=${to}&limit=100000`;
  const { tracks } = await ask(url, `profiles/${slug}/ranks/2`);
  const tensor = tracks.find(({ name }) => name === "Tensor").id;
  const inSpan = (await ask(url, question)).slices.filter(({ track }) => track === tensor);
  const expected = inSpan.length;
  const [widest] = inSpan.slice(1, -1).sort((a, b) => b.duration_ps - a.duration_ps);
  assert.ok(expected > 5, `${expected} slices`);
  const { profile } = { profile: await ask(url, `profiles/${slug}`) };
  const time = (ps) => `${ps - profile.start_ps}ps`;
  const file = await exported(store, slug, "--ranks", "0,2", "--tracks", "Engines/*", "--from", time(from), "--to", time(to));
  await stop();
  const { page, problems } = await openFile(t, `${file}#/profile/${slug}?rank=2`);
  await rowOf(page, "Tensor").waitFor();
  const tree = await page.getByRole("list", { name: "Tracks" }).ariaSnapshot();
  assert.match(tree, new RegExp(`Tensor: ${expected} slices`));
  assert.doesNotMatch(tree, /DMA|Counters/);
  // Times count from the first event of the whole profile.
  await page.goto(`${file}#/profile/${slug}?v=2&rank=2&from=${from}&to=${to}`);
  const { x, y } = await middleOf(page, "Tensor", widest);
  await page.mouse.click(x, y);
  const start = page.getByText(`${((widest.start_ps - profile.start_ps) / 1000).toLocaleString("en")} ns`, { exact: true });
  await start.waitFor();
  assert.deepEqual(await page.getByRole("tablist", { name: /ranks/i }).getByRole("tab").allInnerTexts(), ["0", "2"]);
  await page.getByRole("link", { name: /Data/ }).click();
  await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: /Warnings/ }).click();
  await page.getByRole("grid", { name: "Warnings" }).getByText(/part of/i).first().waitFor();
  assert.deepEqual(problems, []);
});

test("names that look like markup are text", SERVED, async (t) => {
  const hostile = "</script><img src=x onerror=globalThis.hacked=1>";
  const event = (ts) => ({ ph: "X", pid: 1, tid: 1, ts, dur: 8, name: hostile, cat: hostile, args: { [hostile]: hostile } });
  const meta = ["process_name", "thread_name"].map((name) => ({ ph: "M", pid: 1, tid: 1, name, args: { name: hostile } }));
  const events = [...meta, ...Array.from({ length: 200 }, (_, at) => event(at * 10))];
  const { url, store } = await serve(t, "serve");
  const body = JSON.stringify({ traceEvents: events });
  const posted = await fetch(`${url}/api/profiles?name=${encodeURIComponent(`${hostile}.json`)}`, { method: "POST", body });
  assert.ok(posted.ok, await posted.text());
  const { profiles } = await eventually(async () => {
    const list = await ask(url, "profiles");
    assert.equal(list.profiles.length, 1);
    return list;
  });
  const { page, problems } = await openFile(t, await exported(store, profiles[0].slug));
  await rowOf(page, hostile).first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("onerror");
  await page.keyboard.press("Enter");
  await page.getByRole("tabpanel").getByText(hostile).first().waitFor();
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(problems, []);
});

test("a file can be downloaded from the page", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--events", "5000", "--ranks", "1");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry } = await ask(url, `profiles/${slug}/ranks/0`);
  const middle = Math.floor((entry.start_ps + entry.end_ps) / 2);
  const window = [middle, middle + Math.floor((entry.end_ps - entry.start_ps) / 20)];
  const { page, problems } = await openPage(t);
  await page.goto(addressOf(url, slug, window, "&tab=selection&mark=5..9"));
  await rowOf(page, "Tensor").waitFor();
  const take = async (name) => {
    const link = page.getByRole("link", { name });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert.equal(download.suggestedFilename(), `${slug}.html`);
    const file = join(store, `${name}.html`);
    await download.saveAs(file);
    return file;
  };
  const menu = () => page.getByRole("button", { name: "Download" }).click();
  await menu();
  const view = await take("HTML file of this view");
  await menu();
  await page.getByRole("checkbox", { name: /^Of this window only/ }).check();
  await page.getByRole("link", { name: "Perfetto trace of this window only" }).waitFor();
  const part = await take("HTML file of this window only");
  for (const file of [view, part]) {
    const opened = await openFile(t, pathToFileURL(file).href);
    await rowOf(opened.page, "Tensor").waitFor();
    await opened.page.getByRole("tabpanel", { name: "Selection" }).waitFor();
    // A step writes the address: it leads on from the window of the sender.
    await opened.page.keyboard.press("d");
    const step = Math.round((window[1] - window[0]) * 0.15);
    await eventually(() => {
      const { from, to } = viewOf(opened.page);
      assert.ok(Math.abs(from - window[0] - step) <= 1 && Math.abs(to - window[1] - step) <= 1, opened.page.url());
    });
    assert.deepEqual(opened.problems, []);
  }
  assert.ok((await stat(part)).size < (await stat(view)).size, "the part is as large as the whole");
  assert.deepEqual(problems, []);
});

test("the menu in the tab of all ranks has no file of one rank", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000", "--ranks", "2");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { formats } = await ask(url, "exports");
  const { page } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2&rank=all`);
  await rowOf(page, "Rank 1").waitFor();
  await page.getByRole("button", { name: "Download" }).click();
  const titles = () => page.getByRole("group", { name: "Formats" }).getByRole("link").locator("span").allInnerTexts();
  const title = ({ title, has_view: hasView }) => (hasView ? `${title} of this view` : title);
  const expected = formats.filter((format) => !format.is_per_rank).map(title);
  await eventually(async () => assert.deepEqual(await titles(), expected));
});

test("a copied link says that it opens on this machine only", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000", "--ranks", "1");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page } = await openPage(t, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${url}/profile/${slug}`);
  await rowOf(page, "Tensor").waitFor();
  await page.getByRole("button", { name: "Copy a link to this view" }).click();
  await page.getByText(/^Link to this view copied\. It opens on this machine only: .*HTML file/).waitFor();
});

test("the menu of downloads has all formats of the server", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--events", "5000", "--ranks", "2");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { formats } = await ask(url, "exports");
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=1&rank=1`);
  await rowOf(page, "Tensor").waitFor();
  const button = page.getByRole("button", { name: "Download" });
  const menu = page.getByRole("group", { name: "Formats" });
  const links = menu.getByRole("link");
  const focused = () => page.evaluate(() => document.activeElement.textContent);

  await t.test("keys open it, walk through it and close it", async () => {
    const address = await settledAddress(page);
    await button.focus();
    await page.keyboard.press("Enter");
    await links.first().waitFor();
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    const titles = await links.locator("span").allInnerTexts();
    const title = ({ title, is_per_rank: isPerRank, has_view: hasView }) =>
      `${title}${isPerRank ? " of rank 1" : ""}${hasView ? " of this view" : ""}`;
    assert.deepEqual(titles, formats.map(title));
    assert.equal(formats[0].key, "html");
    await page.keyboard.press("ArrowDown");
    assert.match(await focused(), /^HTML file/);
    await page.keyboard.press("ArrowDown");
    assert.match(await focused(), /^Perfetto trace/);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.match(await focused(), /^Metrics as text/);
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    assert.match(await focused(), /^Download/);
    assert.equal(page.url(), address, "the keys are not those of the timeline");
  });

  await t.test("each format is a file", async () => {
    for (const { title, extension, is_per_rank: isPerRank } of formats.slice(1)) {
      await button.click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        links.filter({ hasText: title }).click(),
      ]);
      const name = isPerRank ? `${slug}_rank_1.${extension}` : `${slug}.${extension}`;
      assert.equal(download.suggestedFilename(), name);
      assert.ok((await readFile(await download.path())).length > 0, name);
      await menu.waitFor({ state: "hidden" });
    }
  });

  await t.test("a click elsewhere closes it", async () => {
    await button.click();
    await links.first().waitFor();
    await page.getByRole("heading", { level: 1 }).click();
    await menu.waitFor({ state: "hidden" });
    assert.deepEqual(problems, []);
  });
});

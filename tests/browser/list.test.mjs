// The list of profiles: what it tells, and how profiles come in and go out.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, reload } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";
import { chooseFile, TRACE } from "./trace.mjs";

const NAME = "Demo: 2 simulated ranks";

test("the list shows the demo, filters it, and opens it", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const row = page.getByRole("row").filter({ hasText: NAME });
  await row.waitFor();
  const headings = await page.getByRole("columnheader").allInnerTexts();
  assert.deepEqual(headings.slice(0, 6), ["Name", "Source", "Ingested", "Ranks", "Events", "Size"]);
  const cells = (await row.getByRole("cell").allInnerTexts()).map((text) => text.trim());
  assert.deepEqual([cells[1], cells[3], cells[4]], ["neuron", "2", "4,000"]);
  // The lines below a name are those for which the screen has no column.
  assert.doesNotMatch(cells[0], /neuron|2 ranks/);

  const filter = page.getByRole("searchbox", { name: "Filter profiles" });
  await filter.fill("no such profile");
  await page.getByText("No profile matches “no such profile”.").waitFor();
  assert.equal(await row.count(), 0);
  await page.getByRole("button", { name: "Show all", exact: true }).click();
  await row.getByRole("link", { name: NAME }).click();
  await page.getByRole("heading", { name: NAME }).waitFor();
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  assert.equal(new URL(page.url()).pathname, `/profile/${slug}`);
  await page.goBack();
  await row.waitFor();
  assert.deepEqual(problems, []);
});

test("the list downloads a profile", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  await page.getByRole("button", { name: `Download ${NAME}` }).click();
  const dialog = page.getByRole("dialog", { name: `Download ${NAME}` });
  await dialog.getByRole("link", { name: "HTML file" }).waitFor();
  // A file of one rank needs to know which.
  assert.equal(await dialog.getByRole("link", { name: "CSV" }).count(), 0);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("link", { name: "HTML file" }).click(),
  ]);
  assert.match(file.suggestedFilename(), /\.html$/);
  await dialog.waitFor({ state: "hidden" });
  assert.deepEqual(problems, []);
});

test("a profile goes only after its deletion is confirmed", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const dialog = page.getByRole("dialog", { name: "Delete this profile?" });
  const remove = page.getByRole("button", { name: `Delete ${NAME}` });

  await remove.click();
  await dialog.getByText(NAME).waitFor();
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await dialog.waitFor({ state: "hidden" });
  assert.equal((await ask(url, "profiles")).profiles.length, 1);

  await remove.click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText(`${NAME} deleted`).waitFor();
  await page.getByRole("heading", { name: "No profiles yet" }).waitFor();
  assert.equal((await ask(url, "profiles")).profiles.length, 0);
  assert.deepEqual(problems, []);
});

test("a file that is no trace is refused with a reason, and the next one is taken", async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const uploads = page.getByRole("region", { name: "Uploads" });

  await chooseFile(page, "broken.json", "this is not a trace");
  await uploads.getByText("broken.json: this is not a trace that nprof can read").waitFor();
  await uploads.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal((await ask(url, "profiles")).profiles.length, 0);
  await chooseFile(page, "small.json", JSON.stringify(TRACE));
  await uploads.getByText("Ingested 9 events.").waitFor();
  await page.getByRole("row").filter({ hasText: "small.json" }).waitFor();
  await eventually(async () => assert.equal((await ask(url, "profiles")).profiles.length, 1));
  assert.deepEqual(problems, []);
});

test("a profile that is not there is said not to be there, and the nearest one is offered", async (t) => {
  const { url } = await serve(t, "demo", "--events", "2000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page } = await openPage(t);
  await page.goto(`${url}/profile/${slug}x?v=1`);
  await page.getByRole("heading", { name: `No profile named “${slug}x”` }).waitFor();
  await page.getByRole("link", { name: slug, exact: true }).click();
  await page.getByRole("heading", { name: NAME }).waitFor();
  await page.goto(`${url}/profile/something-else?v=1`);
  await page.getByRole("heading", { name: "No profile named “something-else”" }).waitFor();
  await page.getByRole("link", { name: "All profiles" }).click();
  await page.getByRole("row").filter({ hasText: NAME }).waitFor();
  await page.goto(`${url}/profile/${slug}?from=5`);
  await page.getByRole("heading", { name: "This link cannot be read" }).waitFor();
  await page.getByText('the parameter "to" should be given with "from": correct or remove it').waitFor();
});

test("filter and order stand in the address, and Back returns to the place in the list", async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t, { height: 500 });
  await page.goto(url);
  const names = Array.from({ length: 12 }, (_, at) => `trace-${String.fromCharCode(97 + at)}.json`);
  for (const [at, name] of names.entries()) {
    // As long as its number, so that each is a profile of its own.
    const traceEvents = TRACE.traceEvents.map((event) => (event.ph === "X" ? { ...event, dur: event.dur + at / 100 } : event));
    await fetch(`${url}/api/profiles?name=${name}`, { method: "POST", body: JSON.stringify({ traceEvents }) });
  }
  await eventually(async () => assert.equal((await ask(url, "profiles")).profiles.length, names.length));
  await page.getByRole("heading", { name: "Profiles 12" }).waitFor();
  await page.getByRole("button", { name: "Name" }).click();
  await page.getByRole("button", { name: "Name" }).click();
  await eventually(() => assert.equal(new URL(page.url()).search, "?sort=-name"));

  const rows = page.getByRole("row");
  await page.locator(".list-scroll").evaluate((list) => list.scrollTo(0, 200));
  await rows.nth(8).getByRole("link").click();
  await page.getByRole("list", { name: "Tracks" }).waitFor();
  await page.goBack();
  await rows.nth(8).waitFor();
  await eventually(async () => assert.equal(await page.locator(".list-scroll").evaluate((list) => list.scrollTop), 200));
  assert.equal(new URL(page.url()).search, "?sort=-name");
  const shown = async () => (await rows.getByRole("link").allInnerTexts()).map((text) => text.trim());
  assert.deepEqual(await shown(), [...names].reverse());

  await page.getByRole("searchbox", { name: "Filter profiles" }).fill("trace-c");
  await page.getByRole("heading", { name: "Profiles 1 of 12" }).waitFor();
  await eventually(() => assert.equal(new URL(page.url()).search, "?q=trace-c&sort=-name"));
  await reload(page);
  await page.getByRole("heading", { name: "Profiles 1 of 12" }).waitFor();
  assert.deepEqual(await shown(), ["trace-c.json"]);
  assert.deepEqual(problems, []);
});

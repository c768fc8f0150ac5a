// Several ranks in one timeline: they stand below each other, on the time that all ranks share.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { promisify } from "node:util";
import { addressOf, ask, eventually, parametersOf, rowOf, scaleOf, tracksOf, viewOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

const OFFSET_PS = 40_000_000;

test("a rank with a clock of its own stands at the time that all ranks share", async (t) => {
  const { url, store } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const clock = ["clock", slug, "--rank", "1", "--offset", `${OFFSET_PS}ps`, "--store", store];
  await promisify(execFile)(process.env.NPROF_BIN, clock);

  const { tracks, entry } = await ask(url, `profiles/${slug}/ranks/1`);
  assert.equal(entry.clock.offset_ps, OFFSET_PS);
  const number = tracks.find((track) => track.name === "Tensor").id;
  const whole = `start_ps=${entry.start_ps}&end_ps=${entry.end_ps}`;
  const { slices } = await ask(url, `profiles/${slug}/ranks/1/events?${whole}&tracks=${number}&limit=2000`);
  const own = slices.slice(500, 1500).reduce((a, b) => (b.lane === 0 && b.duration_ps > a.duration_ps ? b : a));
  const shared_ps = own.start_ps + OFFSET_PS;
  const window = [shared_ps - own.duration_ps, shared_ps + 2 * own.duration_ps];

  const { page, problems } = await openPage(t);
  await page.goto(addressOf(url, slug, window, "&rank=1"));
  await rowOf(page, "Tensor").waitFor();
  const scale = await scaleOf(page);
  const row = await rowOf(page, "Tensor").boundingBox();
  const middle = { x: scale.x(shared_ps + own.duration_ps / 2), y: row.y + 10 };
  await eventually(async () => {
    await page.mouse.move(middle.x + Math.random(), middle.y);
    await page.getByRole("tooltip").getByText(own.name).waitFor({ timeout: 500 });
  });
  await page.mouse.click(middle.x, middle.y);
  await eventually(() => assert.equal(viewOf(page).selected, own.row));
  // The details tell the same time as the ruler, since the first event of all ranks.
  const { start_ps } = await ask(url, `profiles/${slug}`);
  const exact = `${((shared_ps - start_ps) / 1000).toLocaleString("en-US", { maximumFractionDigits: 3 })} ns`;
  await page.getByRole("article", { name: "Details" }).getByText(exact).waitFor();

  // A link to the slice moves the window to its shared time.
  const { page: second } = await openPage(t);
  await second.goto(addressOf(url, slug, [shared_ps + 90_000_000, shared_ps + 91_000_000], `&rank=1&sel=${own.row}`));
  await second.getByRole("article", { name: "Details" }).getByText(exact).waitFor();
  await second.keyboard.press("f");
  await eventually(() => {
    const { from, to } = viewOf(second);
    assert.ok(from <= shared_ps && to >= shared_ps + own.duration_ps, second.url());
  });
  // A span of shared time holds the slice of this rank.
  const { page: third } = await openPage(t);
  await third.goto(addressOf(url, slug, window, `&rank=1&mark=${shared_ps}..${shared_ps + own.duration_ps}&tab=selection`));
  await third.getByRole("tabpanel").getByText(own.name, { exact: true }).first().waitFor();
  assert.deepEqual(problems, []);
});

test("all ranks show at once and one of them stays the current one", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "3", "--events", "5000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/${slug}?v=2&rank=1`);
  const heading = (rank) => page.getByRole("button", { name: `Rank ${rank}`, exact: true });
  await rowOf(page, "Tensor").waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await eventually(() => assert.equal(parametersOf(page).get("ranks"), "0,1,2"));
  assert.equal(parametersOf(page).get("rank"), "1");
  for (const rank of [0, 1, 2]) {
    await heading(rank).waitFor();
    await heading(rank).click();
  }
  // Closed ranks show how busy they are, and say so under the pointer.
  await eventually(async () => {
    // Rows move up while groups close.
    const row = await page.getByRole("listitem").filter({ has: heading(2) }).boundingBox();
    const { x, width } = await tracksOf(page).boundingBox();
    await page.mouse.move(x + width / 2 + Math.random() * 40, row.y + row.height - 4);
    await page.getByRole("tooltip").getByText(/lanes/).waitFor({ timeout: 500 });
  });
  await page.getByRole("button", { name: "All", exact: true }).click();
  await heading(0).waitFor({ state: "detached" });
  assert.equal(parametersOf(page).get("ranks"), null);
  // Keys do the same, one rank after the other.
  await page.locator("body").press("}");
  await eventually(() => assert.equal(parametersOf(page).get("ranks"), "1,2"));
  await page.locator("body").press("}");
  await eventually(() => assert.equal(parametersOf(page).get("ranks"), "0,1,2"));
  await page.locator("body").press("{");
  await eventually(() => assert.equal(parametersOf(page).get("ranks"), "0,1"));
  assert.deepEqual(problems, []);
});

// The light of a search: hits stay bright in all rows, all else is dim; only their tracks can be shown, and they can be
// added up.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { promisify } from "node:util";
import { addressOf, ask, eventually, laneTop, parametersOf, picture, reload, rowOf, scaleOf, settled } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";

const QUERY = "name:MATMUL,EVENT";
/** Bars that are narrower are left out: their edges may lie a pixel beside. */
const LEAST_PX = 6;
const number = (count) => count.toLocaleString("en-US");
const chroma = ([red, green, blue]) => Math.max(red, green, blue) - Math.min(red, green, blue);

test("the light of a search", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const rank = `profiles/${slug}/ranks/0`;
  const { entry, tracks } = await ask(url, rank);
  const from = Math.round((entry.start_ps + entry.end_ps) / 2);
  const window = [from, from + 20_000_000];
  const q = `q=${encodeURIComponent(QUERY)}&syntax=query`;
  const span = `start_ps=${window[0]}&end_ps=${window[1]}`;
  const light = await ask(url, `${rank}/search/light?${q}&${span}&cells=1000`);
  const { hits } = await ask(url, `${rank}/search?${q}&limit=100000`);
  const isHit = new Set(hits.map(({ slice }) => slice.row));
  const more = `&search=query&q=${encodeURIComponent(QUERY)}`;

  const open = async (t, more, window_ = window) => {
    const { page, problems } = await openPage(t);
    await page.goto(addressOf(url, slug, window_, more));
    await rowOf(page, "TensorMatrix").waitFor();
    await settled(page);
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };

  await t.test("hits keep their colours, and other slices get dim", async (t) => {
    const { slices } = await ask(url, `${rank}/events?${span}&limit=100000`);
    const [plain, lit] = [await open(t, ""), await open(t, more)];
    const seen = { hits: 0, others: 0 };
    await eventually(async () => {
      Object.assign(seen, { hits: 0, others: 0 });
      const [before, after] = [await picture(plain), await picture(lit)];
      const [scale, scaleOfLit] = [await scaleOf(plain), await scaleOf(lit)];
      for (const name of ["TensorMatrix", "Vector", "Scalar"]) {
        const { id } = tracks.find((track) => track.name === name);
        const tops = [await laneTop(plain, name), await laneTop(lit, name)];
        for (const slice of slices.filter(({ track, lane }) => track === id && lane === 0)) {
          const [left, right] = [scale.x(slice.start_ps), scale.x(slice.start_ps + slice.duration_ps)];
          if (right - left < LEAST_PX || left < scale.box.x || right > scale.box.x + scale.box.width) continue;
          const x = (left + right) / 2 - scale.box.x;
          const [own, other] = [before.at(scale.box.x + x, tops[0] + 3), after.at(scaleOfLit.box.x + x, tops[1] + 3)];
          if (chroma(own) < 40) continue;
          if (isHit.has(slice.row)) {
            assert.deepEqual(other, own, `${slice.name} is a hit`);
            seen.hits += 1;
          } else {
            assert.ok(chroma(other) < chroma(own) / 2, `${slice.name} is not dim: ${own} became ${other}`);
            seen.others += 1;
          }
        }
      }
    });
    assert.ok(seen.hits > 3 && seen.others > 3, JSON.stringify(seen));
  });

  await t.test("the box counts hits in the window and in all, and the overview marks them", async (t) => {
    const page = await open(t, more);
    assert.ok(light.in_span < light.total);
    await page.locator(".search-count").getByText(`${number(light.total)} hits · ${number(light.in_span)} in window`).waitFor();
    await page.locator(".minimap-hits path[d^=M]").waitFor();
  });

  await t.test("only tracks with hits are left, also after a reload", async (t) => {
    const page = await open(t, `${more}&tab=search`);
    const rows = page.getByRole("list", { name: "Tracks" }).getByRole("listitem");
    const all = await rows.count();
    await page.getByRole("searchbox", { name: "Search names and fields" }).press("Alt+Enter");
    await eventually(() => assert.equal(parametersOf(page).get("only"), "hits"));
    const lit = light.tracks.map(({ track }) => tracks.find(({ id }) => id === track).name);
    const check = () =>
      eventually(async () => {
        assert.ok((await rows.count()) < all, "no row is left out");
        for (const name of ["TensorMatrix", "Vector", "Sync"]) {
          assert.equal((await rowOf(page, name).count()) > 0, lit.includes(name), name);
        }
      });
    await check();
    await reload(page);
    await rowOf(page, "TensorMatrix").waitFor();
    await check();
    await page.getByRole("button", { name: "Only tracks with hits" }).click();
    await eventually(async () => assert.equal(await rows.count(), all));
  });

  await t.test("the hits are added up", async (t) => {
    const page = await open(t, more);
    await page.getByRole("searchbox", { name: "Search names and fields" }).press("Control+Enter");
    const panel = page.getByRole("tabpanel", { name: "Selection" });
    await panel.getByRole("button", { name: `Only hits of ${QUERY}` }).waitFor();
    const count = panel.locator(".stats > div").filter({ hasText: "Slices" }).locator("dd");
    await eventually(async () => assert.equal(await count.innerText(), number(light.total)));
    const names = panel.getByRole("table").first();
    assert.ok((await names.innerText()).includes("MATMUL"));
    assert.ok(!(await names.innerText()).includes("ACTIVATE"));
    await panel.getByRole("button", { name: `Only hits of ${QUERY}` }).click();
    await panel.getByText("Mark a span on the ruler").waitFor();
    await eventually(() => assert.equal(parametersOf(page).get("totals"), null));
  });
});

test("a search over all ranks", async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "3", "--events", "20000", "--db-bucket", "job");
  const totals = [];
  for (const rank of [0, 1, 2]) totals.push((await ask(url, `profiles/job/ranks/${rank}/search?q=MATMUL&limit=1`)).total);
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/job?v=2&rank=all&search=query&q=MATMUL&tab=search`);
  const list = page.getByRole("region", { name: "Hits by rank" });
  const rows = list.getByRole("button");
  await eventually(async () =>
    assert.deepEqual(
      (await rows.allInnerTexts()).map((text) => text.split(/\s{2,}|\n|\t/).join(", ").trim()),
      totals.map((total, rank) => `Rank ${rank}, ${number(total)} hits`),
    ),
  );
  const sum = number(totals.reduce((a, b) => a + b, 0));
  assert.match(await list.getByRole("paragraph").innerText(), new RegExp(`^${sum} hits in 3 of 3 ranks\\.`));
  await rows.nth(1).click();
  await page.locator(".search-count").getByText(`${number(totals[1])} hits`).waitFor();
  assert.equal(parametersOf(page).get("rank"), "1");
  assert.deepEqual(problems, []);
});

test("a region that a user named limits a query", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--events", "20000", "--db-bucket", "job");
  const { entry } = await ask(url, "profiles/job/ranks/0");
  const search = `profiles/job/ranks/0/search?syntax=query&limit=1&zero_ps=${entry.start_ps}`;
  const total = async (q) => (await ask(url, `${search}&q=${encodeURIComponent(q)}`)).total;
  const early = await total("MATMUL start<100us");
  const add = ["regions", "job", "--add", "early=0us..100us", "--store", store];
  await promisify(execFile)(process.env.NPROF_BIN, add);
  assert.ok(early > 0);
  assert.equal(await total("MATMUL in:early"), early);
  const { page, problems } = await openPage(t);
  await page.goto(`${url}/profile/job?v=2&rank=0&search=query&q=${encodeURIComponent("MATMUL in:early")}`);
  await page.locator(".search-count").getByText(`${number(early)} hits`).waitFor();
  assert.deepEqual(problems, []);
});

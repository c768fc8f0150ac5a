// The heat map of ranks over time on the Summary place of all ranks: what it says is what the API tells, and a cell leads
// to its rank.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, reload, viewOf } from "./picture.mjs";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

const STRAGGLER = 5;
const RANKS = 8;
const cardOf = (page) => page.getByRole("region", { name: "Ranks over time" });
const areaOf = (page) => cardOf(page).getByRole("slider");
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The ranks by their share of the whole time, the least one first. The last span can be shorter. */
function byShare({ start_ps, end_ps, step_ps, ranks }) {
  const length = (at) => Math.min(step_ps, end_ps - start_ps - at * step_ps);
  const whole = ({ shares }) => shares.reduce((sum, share, at) => sum + share * length(at), 0);
  return [...ranks].sort((a, b) => whole(a) - whole(b)).map(({ rank }) => rank);
}

/** The picture in pixels: one for each cell. */
const pixelsOf = (page) => cardOf(page).locator("canvas").evaluate((canvas) => {
  const { width, height } = canvas;
  return { width, height, data: [...canvas.getContext("2d").getImageData(0, 0, width, height).data] };
});

test("a heat map shows what ranks do over time", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--ranks", String(RANKS), "--straggler", String(STRAGGLER), "--collectives", "100", "--db-bucket", "job");
  const waits = await ask(url, "profiles/job/ranks/all/activity");
  const { page, problems } = await openPage(t, { width: 1440, height: 900, first: null });
  await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
  await areaOf(page).waitFor();

  await t.test("each cell is as strong as its share", async () => {
    assert.equal(waits.ranks.length, RANKS);
    const columns = waits.ranks[0].shares.length;
    await eventually(async () => {
      const { width, height, data } = await pixelsOf(page);
      assert.deepEqual([width, height], [columns, RANKS]);
      const top = Math.max(...waits.ranks.flatMap(({ shares }) => shares));
      const strength = (row) => mean([...Array(columns).keys()].map((column) => data[4 * (row * columns + column) + 3]));
      for (const { rank, shares } of waits.ranks) {
        const expected = mean(shares) * 255;
        assert.ok(strength(rank) >= expected - 1 && strength(rank) <= expected / top + 1, `${rank}: ${strength(rank)} ${expected}`);
      }
    });
  });

  await t.test("a screen reader hears the ranks that stand out", async () => {
    const [least, most] = [byShare(waits)[0], byShare(waits).at(-1)];
    assert.equal(least, STRAGGLER);
    assert.match(await areaOf(page).getAttribute("aria-label"), new RegExp(`Most wait: Rank ${most}, .*Least: Rank ${STRAGGLER}, `));
  });

  await t.test("the pointer and the arrow keys tell a cell", async () => {
    const box = await areaOf(page).boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * ((STRAGGLER + 0.5) / RANKS));
    await cardOf(page).getByText(new RegExp(`^Rank ${STRAGGLER}, .+ to .+: .+ % wait$`)).waitFor();
    await page.mouse.move(0, 0);
    await areaOf(page).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    await eventually(async () => assert.match(await areaOf(page).getAttribute("aria-valuetext"), /^Rank 1, /));
    assert.equal(await areaOf(page).getAttribute("aria-valuenow"), "1");
  });

  await t.test("the choice is in the address", async () => {
    const button = (name) => cardOf(page).getByRole("button", { name, exact: true });
    assert.equal(await button("Wait").getAttribute("aria-pressed"), "true");
    await button("Busy").focus();
    await page.keyboard.press("Enter");
    await eventually(() => assert.equal(parametersOf(page).get("heat"), "busy"));
    await reload(page);
    await eventually(async () => assert.equal(await button("Busy").getAttribute("aria-pressed"), "true"));
    const busy = await ask(url, "profiles/job/ranks/all/activity?quantity=busy");
    const most = byShare(busy).at(-1);
    await eventually(async () => assert.match(await areaOf(page).getAttribute("aria-label"), new RegExp(`Most busy: Rank ${most}, `)));
    await button("Wait").click();
  });

  await t.test("rows are in the order of the ranks", async () => {
    await page.goto(`${url}/profile/job/summary?v=2&rank=all&order=late`);
    await areaOf(page).waitFor();
    await eventually(async () => {
      const box = await areaOf(page).boundingBox();
      await page.mouse.move(box.x + 40, box.y + 2);
      assert.match(await cardOf(page).locator(".heat-said").innerText(), new RegExp(`^Rank ${STRAGGLER}, `));
    });
    assert.equal((await cardOf(page).locator(".heat-rows").innerText()).split("\n")[0], String(STRAGGLER));
  });

  await t.test("a cell leads to its rank at that time", async () => {
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    await areaOf(page).waitFor();
    const box = await areaOf(page).boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * (2.5 / RANKS));
    await eventually(() => {
      assert.equal(parametersOf(page).get("rank"), "2", page.url());
      assert.match(new URL(page.url()).pathname, /\/profile\/job$/);
      const { from, to } = viewOf(page);
      const middle = waits.start_ps + (waits.end_ps - waits.start_ps) / 2;
      assert.ok(from <= middle && middle <= to, `${from} ${middle} ${to}`);
      assert.ok(to - from <= 4 * waits.step_ps, `${to - from} of ${waits.step_ps}`);
    });
    assert.deepEqual(problems, []);
  });

  await t.test("a file draws the same", async (t) => {
    const served = await pixelsOfServed(page, url);
    const { page: other, problems } = await openPage(t, { width: 1440, height: 900, first: null });
    await other.goto(`${await exported(store, "job")}#/profile/job/summary?v=2&rank=all`);
    await areaOf(other).waitFor();
    await eventually(async () => assert.deepEqual(await pixelsOf(other), served));
    assert.deepEqual(problems, []);
  });
});

async function pixelsOfServed(page, url) {
  await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
  await areaOf(page).waitFor();
  let pixels;
  await eventually(async () => assert.equal((pixels = await pixelsOf(page)).height, RANKS));
  return pixels;
}

// Numbers of the Summary lead to their places, and the strip on top of it shows where they are.

import assert from "node:assert/strict";
import test from "node:test";
import { ask, eventually, parametersOf, viewOf } from "./picture.mjs";
import { openPage, serve, SERVED } from "./stage.mjs";
import { traces } from "./trace.mjs";

const placeOf = (page) => page.getByRole("main", { name: "Summary" });
const stripOf = (page) => placeOf(page).locator(".strip");

/** A kernel on a stream, launched by a call of the host, in the words of PyTorch. Times are microseconds. */
const KINETO = {
  schemaVersion: 1,
  deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3", numSms: 132 }],
  traceEvents: [
    { ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, ts: 100, dur: 20, args: { "External id": 1 } },
    { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: 105, dur: 5, args: { correlation: 1 } },
    { ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: 130, dur: 50, args: { stream: 7, correlation: 1 } },
    { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: 200, dur: 5, args: { correlation: 2 } },
    { ph: "X", cat: "kernel", name: "add", pid: 0, tid: 7, ts: 210, dur: 30, args: { stream: 7, correlation: 2 } },
  ],
};

/** The span that the strip shows: the active part if the profile opens with it, else the rank. */
async function shownSpan(url) {
  const { active_ps } = await ask(url, "profiles/job");
  const { start_ps, end_ps } = (await ask(url, "profiles/job/ranks/0")).entry;
  return active_ps ?? [start_ps, end_ps];
}

/** Pixels of the strip's picture that are not empty. */
const drawn = (page) => stripOf(page).locator("canvas").evaluate((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((alpha, at) => at % 4 === 3 && alpha > 0).length;
});

test("numbers of a rank lead to their places", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "20000", "--fault", "pause=1", "--db-bucket", "job");
  const summary = `${url}/profile/job/summary?v=2&rank=0`;
  const linkOf = (page, card, name) =>
    placeOf(page).locator(card).getByRole("button", { name, exact: true }).first();

  await t.test("all rows of cards are links", async (t) => {
    const { page } = await openPage(t, { first: null });
    for (const rank of ["0", "all"]) {
      await page.goto(`${url}/profile/job/summary?v=2&rank=${rank}`);
      // Below the points of collective operations, outliers are links of their own.
      const rows = placeOf(page).locator(".summary-card > .metrics > div");
      await rows.first().waitFor();
      const plain = [];
      for (const row of await rows.all()) {
        const isZero = /\s0( \S+)?\s*$/.test(await row.innerText());
        if (!isZero && (await row.locator(".number-link").count()) === 0) plain.push(await row.innerText());
      }
      // A number that the recording lacks leads nowhere, and neither does a median of ranks.
      assert.deepEqual(plain.filter((text) => !/^(MFU|median rank)/.test(text)), []);
    }
  });

  await t.test("an engine leads to its slices, by keyboard", async (t) => {
    const { page, problems } = await openPage(t, { first: null });
    await page.goto(summary);
    const link = linkOf(page, ".summary-card", "Tensor");
    await link.waitFor();
    assert.match(await link.getAttribute("title"), /of the active stretch, .* of the whole .*→ Shows the track/s);
    await link.focus();
    await page.keyboard.press("Enter");
    await eventually(() => assert.equal(parametersOf(page).get("q"), "track:Tensor", page.url()));
    assert.equal(new URL(page.url()).pathname, "/profile/job");
    await page.getByText(/^\d[\d,]* hits?$|of \d[\d,]*$/).first().waitFor();
    assert.deepEqual(problems, []);
  });

  await t.test("a part of the time leads to its stretch", async (t) => {
    const { page } = await openPage(t, { first: null });
    const { groups } = await ask(url, "profiles/job/ranks/0/summary");
    const { start_ps } = (await ask(url, "profiles/job/ranks/0")).entry;
    const time = groups.find(({ key }) => key === "time").metrics;
    const startUp = time.find(({ name }) => name === "time_starting_up").value.float * 1e12;
    await page.goto(summary);
    await linkOf(page, ".time-legend", "compute").click();
    const active = Math.round(start_ps + startUp);
    await eventually(() => assert.match(parametersOf(page).get("mark") ?? "", new RegExp(`^${active}\\.\\.`), page.url()));
    assert.equal(new URL(page.url()).pathname, "/profile/job");
  });

  await t.test("a table of the profile opens", async (t) => {
    const { page } = await openPage(t, { first: null });
    await page.goto(`${url}/profile/job/summary?v=2&rank=all`);
    await linkOf(page, ".all-metrics", "Imbalance").click();
    await eventually(() => assert.equal(parametersOf(page).get("table"), "rank", page.url()));
  });
});

test("the strip shows where numbers and findings are", SERVED, async (t) => {
  const { url } = await serve(t, "demo", "--ranks", "2", "--events", "20000", "--fault", "pause=1", "--db-bucket", "job");
  const { page, problems } = await openPage(t, { width: 1440, height: 900, first: null });
  await page.goto(`${url}/profile/job/summary?v=2&rank=0`);
  await eventually(async () => assert.ok((await drawn(page)) > 1_000));
  assert.equal((await stripOf(page).boundingBox()).height, 64);

  await t.test("a finding lights up", async () => {
    await page.locator(".strip-bracket").first().waitFor();
    const finding = placeOf(page).locator(".advice button.finding").first();
    await finding.hover();
    await stripOf(page).locator(".strip-span").first().waitFor();
    await page.mouse.move(5, 5);
    await stripOf(page).locator(".strip-span").first().waitFor({ state: "detached" });
    await finding.focus();
    await stripOf(page).locator(".strip-span").first().waitFor();
    await finding.blur();
  });

  await t.test("slices light up where they are", async () => {
    await placeOf(page).locator(".summary-card").getByRole("button", { name: "Vector", exact: true }).first().hover();
    const path = stripOf(page).locator(".strip-slices path");
    await path.waitFor({ state: "attached" });
    const bars = (await path.getAttribute("d")).split("M").length - 1;
    const [from, to] = await shownSpan(url);
    const question = `q=track:Vector&syntax=query&limit=0&cells=512&start_ps=${from}&end_ps=${to}`;
    const { density } = await ask(url, `profiles/job/ranks/0/search?${question}`);
    // The strip of an active part has a margin.
    const expected = density.filter((count) => count > 0).length;
    assert.ok(Math.abs(bars / expected - 1) < 0.15, `${bars} of ${expected}`);
    await page.mouse.move(5, 5);
    await path.waitFor({ state: "detached" });
  });

  await t.test("a click leads to the timeline there", async () => {
    const [start, end] = await shownSpan(url);
    const { x, y, width } = await stripOf(page).boundingBox();
    await page.mouse.click(x + 0.7 * width, y + 40);
    const middle = start + 0.7 * (end - start);
    await eventually(() => {
      const { from, to } = viewOf(page);
      assert.ok(from < middle && middle < to && to - from < (end - start) / 5, page.url());
    });
  });
  assert.deepEqual(problems, []);
});

test("the head names the device", SERVED, async (t) => {
  const [path] = await traces(t, KINETO);
  const { url } = await serve(t, "view", path, "--db-bucket", "kineto");
  const { page, problems } = await openPage(t, { first: null });
  await page.goto(`${url}/profile/kineto/summary`);
  await placeOf(page).locator(".summary-head").getByText("NVIDIA H100 80GB HBM3").waitFor();
  const kernel = placeOf(page).locator(".summary-card").getByRole("button", { name: "gemm", exact: true }).first();
  await kernel.click();
  await eventually(() => assert.equal(parametersOf(page).get("q"), "name=gemm", page.url()));
  assert.deepEqual(problems, []);
});

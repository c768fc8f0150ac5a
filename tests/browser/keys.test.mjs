// Keys, history and what they say: every row can be reached, every zoom can be undone.

import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, ask, eventually, picture, rowOf, scaleOf, tracksOf, viewOf, parametersOf } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";

/** More than the rest that ends a step of the history. */
const REST_MS = 900;

function viewWhere(page, holds) {
  return eventually(() => {
    const view = viewOf(page);
    assert.ok(holds(view), page.url());
    return view;
  });
}

/** Steps by key, one at a time: keys that are pressed faster than the page answers lead past tracks. */
function stepsOf(page) {
  const status = page.locator('.timeline > [role="status"].unseen');
  const heading = () => page.evaluate(() => document.activeElement?.closest(".track-group")?.innerText.trim());
  const state = async () => `${viewOf(page).selected} ${parametersOf(page).get("counter")} ${await heading()}`;
  /** Presses a key, and waits until the page has made the step or says that there is no further one. */
  const press = async (key, end) => {
    const before = await state();
    await page.keyboard.press(key);
    return eventually(async () => {
      const text = await status.innerText();
      assert.ok((await state()) !== before || text.includes(end), "nothing happened");
      return text;
    });
  };
  return { press, heading };
}

test("keys and history", async (t) => {
  const { url } = await serve(t, "demo", "--events", "20000");
  const [{ slug }] = (await ask(url, "profiles")).profiles;
  const { entry, tracks } = await ask(url, `profiles/${slug}/ranks/0`);
  const middle = Math.round((entry.start_ps + entry.end_ps) / 2);
  const window = [middle, middle + 8_000_000];
  const width = window[1] - window[0];

  const open = async (t, { at = addressOf(url, slug, window), ...options } = {}) => {
    const { page, problems } = await openPage(t, options);
    await page.goto(at);
    await rowOf(page, "Tensor").waitFor();
    await scaleOf(page).catch(() => null);
    t.after(() => assert.deepEqual(problems, []));
    return page;
  };
  const rested = (page) => page.waitForTimeout(REST_MS);

  await t.test("down leads through every track that is shown, and says where it ends", async (t) => {
    // So high that no row is out of sight: the list of tracks has those in sight only.
    const page = await open(t, { height: 3_000 });
    const closed = await page.locator('.track-group[aria-expanded="false"]').allInnerTexts();
    assert.ok(closed.length > 0, "no group is closed");
    const isShown = (track) => {
      for (let group = track.parent; group !== null; ) {
        const of = tracks.find(({ id }) => id === group);
        if (closed.some((name) => name.trim() === of.name)) return false;
        group = of.parent;
      }
      return track.kind === "group" ? closed.some((name) => name.trim() === track.name) : track.rows > 0;
    };
    const expected = tracks.filter(isShown).map(({ name }) => name);
    await eventually(async () => {
      await page.keyboard.press("ArrowRight");
      assert.ok(viewOf(page).selected !== null, "nothing is selected");
    });
    const status = page.locator('.timeline > [role="status"].unseen');
    const track = async () => (await status.innerText()).match(/^Counter (.*?)\u00a0?$|^Group (.*) is closed|^Selected.* on (.*), [^,]* after the start/)?.slice(1).find(Boolean);
    const { press, heading } = stepsOf(page);
    // Up to the first track, then down to the last one.
    const walk = async (key, end) => {
      const seen = [];
      for (let step = 0; step < 400; step += 1) {
        if ((await press(key, end)).includes(end)) return seen;
        const name = await eventually(async () => {
          const group = await heading();
          if (group) {
            assert.equal(await track(), group);
            return group;
          }
          const counter = parametersOf(page).get("counter");
          if (counter !== null) {
            assert.ok((await status.innerText()).startsWith("Counter "));
            const name = await track();
            assert.ok(counter.includes(`${name}@`), `${counter} is not ${name}`);
            return name;
          }
          const { slice } = await ask(url, `profiles/${slug}/ranks/0/slices/${viewOf(page).selected}`);
          assert.ok((await status.innerText()).includes(`Selected: ${slice.name}`));
          return track();
        });
        if (seen.at(-1) !== name) seen.push(name);
      }
      throw new Error(`${key} never ends: ${seen}`);
    };
    await walk("ArrowUp", "no track above");
    const first = parametersOf(page).get("sel");
    const top = await ask(url, `profiles/${slug}/ranks/0/slices/${first}`);
    const names = [tracks.find(({ id }) => id === top.slice.track).name, ...(await walk("ArrowDown", "no track below"))];
    assert.deepEqual(names.filter((name, at) => name !== names[at - 1]), expected);
    // Enter opens a group, and the next step leads into it. One step at a time: keys that are pressed faster than the
    // page answers would lead past the headings.
    let group = null;
    for (let step = 0; step < expected.length && !group; step += 1) {
      await press("ArrowUp", "no track above");
      group = await heading();
    }
    assert.ok(group, "no heading had the focus");
    await page.keyboard.press("Enter");
    await page.locator('.track-group[aria-expanded="true"]', { hasText: group }).waitFor();
    await eventually(async () => assert.equal(await heading(), group));
    await page.keyboard.press("ArrowDown");
    const { id } = tracks.find(({ name, kind }) => kind === "group" && name === group);
    const isIn = ({ parent }) => parent !== null && (parent === id || isIn(tracks.find((track) => track.id === parent)));
    await eventually(async () => {
      const name = await track();
      assert.ok(tracks.some((track) => track.name === name && isIn(track)), `${name} is not in ${group}`);
    });
  });

  await t.test("a counter that a key reads comes into sight, above the panel", async (t) => {
    const page = await open(t, { height: 560 });
    await eventually(async () => {
      await page.keyboard.press("ArrowRight");
      assert.ok(viewOf(page).selected !== null, "nothing is selected");
    });
    const { press } = stepsOf(page);
    while (!parametersOf(page).get("counter")) {
      const said = await press("ArrowDown", "no track below");
      assert.ok(!said.includes("no track below"), page.url());
    }
    const name = parametersOf(page).get("counter").split("@")[0].split("/").at(-1);
    await eventually(async () => {
      const [row, rows] = await Promise.all([rowOf(page, name), page.locator(".timeline-rows")].map((one) => one.boundingBox()));
      assert.ok(row.y >= rows.y && row.y + row.height <= rows.y + rows.height, JSON.stringify([row, rows]));
    });
  });

  await t.test("quick zooms are one entry of the history, a rest begins another", async (t) => {
    const page = await open(t);
    const length = () => page.evaluate(() => history.length);
    const before = await length();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press("w");
    await viewWhere(page, (view) => Math.abs(view.to - view.from - width * 0.75 ** 3) < 10);
    assert.equal(await length(), before + 1);
    await rested(page);
    await page.keyboard.press("d");
    const moved = await viewWhere(page, (view) => view.from > window[0] + width * 0.3);
    assert.equal(await length(), before + 2);
    await page.goBack();
    await viewWhere(page, (view) => view.from < moved.from && view.to - view.from < width * 0.5);
    await page.goBack();
    await viewWhere(page, (view) => view.from === window[0] && view.to === window[1]);
    assert.equal(await length(), before + 2);
  });

  await t.test("back after a zoom at once stays in the profile", async (t) => {
    const page = await open(t, { at: `${url}/profile/${slug}?v=2` });
    const { x, y, width, height } = await tracksOf(page).boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await viewWhere(page, (view) => view.from !== null);
    await page.goBack();
    await viewWhere(page, (view) => view.from === null);
    assert.ok(page.url().includes(`/profile/${slug}`));
  });

  await t.test("steps along a track make no entries", async (t) => {
    const page = await open(t);
    // The first step needs a slice in sight: tiles may still be on their way.
    await eventually(async () => {
      if (viewOf(page).selected === null) await page.keyboard.press("ArrowRight");
      assert.ok(viewOf(page).selected !== null, page.url());
    });
    const before = await page.evaluate(() => history.length);
    for (let step = 0; step < 4; step += 1) {
      const { selected } = viewOf(page);
      await page.keyboard.press("ArrowRight");
      await viewWhere(page, (view) => view.selected !== selected);
    }
    assert.equal(await page.evaluate(() => history.length), before);
  });

  await t.test("a drag on the minimap is one entry, and back undoes it", async (t) => {
    const page = await open(t);
    const length = () => page.evaluate(() => history.length);
    const before = await length();
    const { x, y, width: wide, height } = await page.locator(".minimap").boundingBox();
    await page.mouse.move(x + wide / 4, y + height / 2);
    await page.mouse.down();
    // Few steps, so that a slow machine makes no rest between them.
    await page.mouse.move(x + (3 * wide) / 4, y + height / 2, { steps: 4 });
    await page.mouse.up();
    const whole = entry.end_ps - entry.start_ps;
    const aim = entry.start_ps + whole * 0.75;
    const moved = await viewWhere(page, (view) => Math.abs((view.from + view.to) / 2 - aim) < whole / 50);
    assert.equal(Math.round((moved.to - moved.from) / width), 1);
    await rested(page);
    assert.equal(await length(), before + 1);
    await page.goBack();
    await viewWhere(page, (view) => view.from === window[0] && view.to === window[1]);
  });

  await t.test("backspace undoes zooms one by one", async (t) => {
    const page = await open(t);
    await page.keyboard.press("w");
    await page.keyboard.press("w");
    await rested(page);
    await page.keyboard.press("0");
    await viewWhere(page, (view) => view.from === null);
    await page.keyboard.press("Backspace");
    await viewWhere(page, (view) => view.from !== null && view.to - view.from < width * 0.6);
    await page.keyboard.press("Backspace");
    await viewWhere(page, (view) => view.from === window[0] && view.to === window[1]);
  });

  await t.test("a window beside the trace says so, and the address tells what is shown", async (t) => {
    const far = [entry.end_ps * 5, entry.end_ps * 5 + 1_000_000];
    const page = await open(t, { at: addressOf(url, slug, far) });
    await page.getByText("after the last event").waitFor();
    const view = await viewWhere(page, (view) => view.to < far[0]);
    assert.equal(view.to - view.from, far[1] - far[0]);
    await page.getByRole("button", { name: "Show all", exact: true }).click();
    await page.getByText("after the last event").waitFor({ state: "detached" });
    await viewWhere(page, (view) => view.from === null);
  });

  await t.test("the focus of the tracks is seen on all four sides", async (t) => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(t, { colorScheme });
      await page.locator(".splitter, [role=separator]").first().focus();
      const rows = page.locator(".timeline-rows");
      for (let tab = 0; tab < 80; tab += 1) {
        await page.keyboard.press("Shift+Tab");
        if (await rows.evaluate((rows) => rows === document.activeElement)) break;
      }
      assert.ok(await rows.evaluate((rows) => rows.matches(":focus-visible")), "the tracks have no focus");
      const box = await rows.boundingBox();
      const { at } = await picture(page);
      const accent = await page.evaluate(() => {
        const probe = document.createElement("i");
        probe.style.color = "var(--accent)";
        document.body.append(probe);
        return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
      });
      const isAccent = (x, y) => at(x, y).every((part, index) => Math.abs(part - accent[index]) < 12);
      const [right, bottom] = [box.x + box.width - 1, box.y + box.height - 1];
      const share = (places) => places.filter(([x, y]) => isAccent(x, y)).length / places.length;
      const across = Array.from({ length: Math.floor(box.width / 7) - 2 }, (_, index) => box.x + 3 + index * 7);
      const along = Array.from({ length: Math.floor(box.height / 7) - 2 }, (_, index) => box.y + 3 + index * 7);
      for (const [side, places] of Object.entries({
        top: across.map((x) => [x, box.y]),
        bottom: across.map((x) => [x, bottom]),
        left: along.map((y) => [box.x, y]),
        right: along.map((y) => [right, y]),
      })) {
        assert.ok(share(places) > 0.98, `${colorScheme}: ${share(places)} of the ${side} edge`);
      }
    }
  });

  await t.test("the palette leads to ranks, tracks, findings, tables and times", async (t) => {
    const page = await open(t);
    const palette = page.getByRole("dialog", { name: "Commands" });
    const field = palette.getByRole("combobox", { name: "Find a command" });
    const options = palette.getByRole("option");
    const seek = async (text) => {
      await eventually(async () => {
        if (!(await palette.isVisible())) await page.keyboard.press("Control+k");
        assert.ok(await palette.isVisible());
      });
      await field.fill(text);
    };
    await seek("@rank 1");
    assert.match(await options.first().innerText(), /^rank 1\s+rank$/);
    await page.keyboard.press("Enter");
    await viewWhere(page, (view) => view.rank === 1);
    await seek("@gpsimd");
    await options.filter({ hasText: /track$/ }).first().click();
    await eventually(() => assert.match(decodeURIComponent(page.url()), /GpSimd/));
    // A span fills the window, and a moment comes into the middle of a window of the same width.
    await seek(":20us..30us");
    assert.match(await options.first().innerText(), /^Show 20us\.\.30us, 10\.0 µs/);
    await page.keyboard.press("Enter");
    await viewWhere(page, (view) => Math.abs(view.to - view.from - 1e7) <= 2e3);
    const shown = viewOf(page);
    await seek(":100us");
    await page.keyboard.press("Enter");
    await viewWhere(page, (view) => Math.abs(view.from - shown.from - 7.5e7) <= 4e3 && Math.abs(view.to - view.from - 1e7) <= 2e3);
    await seek(":soon");
    await palette.getByText("A moment such as :12.5ms").waitFor();
    await seek("@no such place at all");
    await palette.getByText("No rank, track, region, finding or table has these letters.").waitFor();
    await seek("@semaphore");
    await options.filter({ hasText: /table$/ }).first().click();
    await page.getByRole("navigation", { name: "Tables" }).waitFor();
    // The command that was run last comes first.
    await seek("summary");
    await page.keyboard.press("Enter");
    await page.getByRole("main", { name: "Summary" }).waitFor();
    await seek("");
    assert.match(await options.first().innerText(), /ummary/);
  });

  await t.test("the palette finds every command of the help by its words, and runs it", async (t) => {
    const page = await open(t);
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByText("Zoom into a span").waitFor();
    const told = await help.locator("dl > div").evaluateAll((lines) =>
      lines.map((line) => [line.querySelector("dt").innerText, line.querySelector("dd").innerText]),
    );
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });

    const palette = page.getByRole("dialog", { name: "Commands" });
    const field = palette.getByRole("combobox", { name: "Find a command" });
    const options = palette.getByRole("option");
    // The page hears that the help is closed a moment after it is hidden, and takes no key before.
    await eventually(async () => {
      if (!(await palette.isVisible())) await page.keyboard.press("Control+k");
      assert.ok(await palette.isVisible());
    });
    await field.and(page.locator(":focus")).waitFor();
    const [whole, typed] = [await palette.boundingBox(), await field.boundingBox()];
    assert.ok(typed.width > 0.8 * whole.width, `the field is ${typed.width} px wide, the palette ${whole.width}`);
    const found = await options.evaluateAll((options) =>
      options.map((option) => [option.firstElementChild.firstChild.textContent, option.querySelector(".key-list").innerText]),
    );
    assert.ok(found.length > 25, `${found.length} commands`);
    for (const [what, keys] of found.filter(([, keys]) => keys !== "")) {
      assert.ok(told.some((line) => line[0] === what && line[1] === keys), `${what}: ${keys}`);
    }
    const needsSlice = options.filter({ hasText: "Zoom to the selected slice" });
    assert.equal(await needsSlice.getAttribute("aria-disabled"), "true");
    assert.match(await needsSlice.innerText(), /with a selected slice/);
    await field.fill("zo slice");
    assert.match(await options.first().innerText(), /^Zoom to the selected slice/);
    // What does not work now does nothing, and the palette stays.
    await page.keyboard.press("Enter");
    await field.fill("zoomin");
    assert.match(await options.first().innerText(), /^Zoom in/);
    assert.equal(await field.getAttribute("aria-activedescendant"), await options.first().getAttribute("id"));
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "hidden" });
    await viewWhere(page, (view) => Math.abs(view.to - view.from - width * 0.75) < 10);
    // From a field, by the arrow keys, and by a click.
    await page.keyboard.press("/");
    await page.keyboard.press("Control+k");
    await field.fill("summary");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("main", { name: "Summary" }).waitFor();
    await page.keyboard.press("Control+k");
    await field.fill("find nothing at all here");
    await palette.getByText("No command has these letters.").waitFor();
    await field.fill("rank");
    await options.filter({ hasText: "Next rank" }).click();
    await viewWhere(page, (view) => view.rank === 1);
    await page.keyboard.press("Control+k");
    await field.fill("/");
    await field.fill("search names");
    await page.keyboard.press("Enter");
    await page.getByRole("searchbox", { name: "Search names and fields" }).and(page.locator(":focus")).waitFor();
  });

  await t.test("keys lie alike on every keyboard", async (t) => {
    const page = await open(t);
    const press = (init) =>
      page.evaluate((init) => {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }));
      }, init);
    // French: Z lies where W lies elsewhere.
    await press({ key: "z", code: "KeyW" });
    await viewWhere(page, (view) => Math.abs(view.to - view.from - width * 0.75) < 10);
    // German: ] with AltGr, which some systems report as control with alt.
    await press({ key: "]", code: "Digit9", ctrlKey: true, altKey: true, modifierAltGraph: true });
    await viewWhere(page, (view) => view.rank === 1);
    // Mac: [ with option.
    await press({ key: "[", code: "Digit5", altKey: true });
    await viewWhere(page, (view) => view.rank === 0);
    await press({ key: ":", code: "Period", shiftKey: true });
    await viewWhere(page, (view) => view.rank === 1);
    await press({ key: ";", code: "Comma", shiftKey: true });
    await viewWhere(page, (view) => view.rank === 0);
  });
});

// How traces come in through the page: dropped on it, watched while they are sent and read, stopped, and opened.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { ask, eventually } from "./picture.mjs";
import { openPage, serve } from "./stage.mjs";
import { TRACE } from "./trace.mjs";

const BYTES_PER_S = 24e6;
const EVENTS = 1_000_000;

/** Chooses a trace that takes seconds to send and to read: a file, because a text of its size cannot be passed on. */
async function chooseLongTrace(t, page) {
  const folder = await mkdtemp(join(tmpdir(), "nprof-long-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "long.json");
  await writeFile(file, longTrace());
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Ingest files" }).click();
  await (await chooser).setFiles(file);
}

function longTrace() {
  const event = (at) =>
    `{"ph":"X","pid":1,"tid":${at % 8},"ts":${at},"dur":5,"name":"step ${at % 50}","args":{"at":${at}}}`;
  return `[${Array.from({ length: EVENTS }, (_, at) => event(at)).join(",\n")}]`;
}

test("a file that is dropped on the list becomes a profile", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nprof-drop-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "dropped.json");
  await writeFile(file, JSON.stringify(TRACE));
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  await page.getByRole("heading", { name: "No profiles yet" }).waitFor();
  // A drag from outside of the browser, with a file that lies on the disk.
  const browser = await page.context().newCDPSession(page);
  const drag = (type) =>
    browser.send("Input.dispatchDragEvent", {
      type,
      x: 400,
      y: 300,
      data: { items: [], files: [file], dragOperationsMask: 1 },
    });
  await drag("dragEnter");
  await drag("dragOver");
  await page.getByText("Drop to ingest").waitFor();
  await drag("drop");
  await page.getByText("Drop to ingest").waitFor({ state: "hidden" });
  await page.getByRole("region", { name: "Uploads" }).getByText("Ingested 9 events.").waitFor();
  await page.getByRole("row").filter({ hasText: "dropped.json" }).waitFor();
  await page.getByRole("link", { name: "Open dropped.json" }).click();
  await page.getByRole("heading", { name: "dropped.json" }).waitFor();
  assert.deepEqual(problems, []);
});

test("files that come together are grouped by what they are", async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const trace = (name) => Buffer.from(JSON.stringify(TRACE).replace("forward", name));
  const files = [
    { name: "frank5.json", mimeType: "", buffer: trace("alone") },
    { name: "rank_1.json.gz", mimeType: "", buffer: gzipSync(trace("one")) },
    { name: "rank_0", mimeType: "", buffer: trace("zero") },
    // A NEFF by its content, whatever its name; there is no NTFF, so the server refuses it.
    { name: "rank_2.json.gz", mimeType: "", buffer: gzipSync(neff()) },
  ];
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Ingest files" }).click();
  await (await chooser).setFiles(files);
  const uploads = page.getByRole("region", { name: "Uploads" });
  await uploads.getByText("rank_1.json.gz, rank_0", { exact: true }).waitFor();
  await uploads.getByText("frank5.json", { exact: true }).waitFor();
  await uploads.getByText("this NEFF is a program without its trace").waitFor();
  await uploads.getByText("Ingested 9 events.").waitFor();
  await uploads.getByText("Ingested 18 events.").waitFor();
  const { profiles } = await ask(url, "profiles");
  assert.deepEqual(profiles.map((profile) => profile.ranks).sort(), [1, 2]);
  assert.deepEqual(problems, []);
});

/** The header of a program: it states its own length. */
function neff() {
  const header = Buffer.alloc(1024);
  header.writeBigUInt64LE(2n, 0);
  header.writeBigUInt64LE(1024n, 8);
  return header;
}

test("an upload is watched, stopped and sent again", async (t) => {
  const { url } = await serve(t, "serve");
  const { page, problems } = await openPage(t);
  await page.goto(url);
  const browser = await page.context().newCDPSession(page);
  const network = { offline: false, latency: 0, downloadThroughput: -1 };
  const limit = (uploadThroughput) => browser.send("Network.emulateNetworkConditions", { ...network, uploadThroughput });
  await browser.send("Network.enable");
  await limit(BYTES_PER_S);
  const uploads = page.getByRole("region", { name: "Uploads" });
  const bar = (name) => uploads.getByRole("progressbar", { name });
  const cancel = uploads.getByRole("button", { name: "Cancel long.json" });
  /** Waits until the bar stands between its ends. */
  const isUnderWay = (name) =>
    eventually(async () => {
      const now = Number(await bar(name).getAttribute("aria-valuenow", { timeout: 1_000 }));
      assert.ok(now > 0 && now < 100, `${name}: ${now} %`);
    });

  await chooseLongTrace(t, page);
  await isUnderWay("Sending");
  assert.match(await uploads.innerText(), /Sending: [\d.]+ [KM]iB of [\d.]+ MiB/);
  await cancel.click();
  await uploads.getByText("Cancelled: nothing was kept").waitFor();

  await limit(-1);
  await uploads.getByRole("button", { name: "Try again" }).click();
  await isUnderWay("Reading the trace");
  await eventually(async () =>
    assert.match(await uploads.innerText(), /Reading the trace: [\d.]+ MiB of [\d.]+ MiB · [\d,]+ events/),
  );
  await cancel.click();
  await uploads.getByText("Cancelled: nothing was kept").waitFor();
  assert.equal((await ask(url, "profiles")).profiles.length, 0);

  await uploads.getByRole("button", { name: "Try again" }).click();
  await eventually(async () => assert.match(await uploads.innerText(), /[\d,]+ events · [\d,]+ events\/s/));
  await uploads.getByText(`Ingested ${EVENTS.toLocaleString("en")} events.`).waitFor({ timeout: 60_000 });
  assert.equal((await ask(url, "profiles")).profiles.length, 1);
  assert.equal(await uploads.getByRole("progressbar").count(), 0);
  await uploads.getByRole("button", { name: "Close long.json" }).click();
  await uploads.waitFor({ state: "detached" });
  assert.deepEqual(problems, []);
});

test("a server that ends while it reads is said to be gone", async (t) => {
  const { url, stop } = await serve(t, "serve");
  const { page } = await openPage(t);
  await page.goto(url);
  await chooseLongTrace(t, page);
  const uploads = page.getByRole("region", { name: "Uploads" });
  await uploads.getByRole("progressbar", { name: "Reading the trace" }).waitFor();
  await stop();
  await uploads.getByText("The server does not answer: check that nprof serve is running").waitFor({ timeout: 30_000 });
  await uploads.getByRole("button", { name: "Try again" }).waitFor();
});

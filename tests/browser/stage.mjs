// What each browser test stands on: an nprof server with a store of its own, and a page in Chromium that watches for
// errors. Both end with the test that started them.
//
// NPROF_BIN names the binary, NPROF_CHROMIUM the browser, NPROF_STORES a folder for simulated profiles that several tests
// look at; scripts/test.sh sets all three.
//
// With NPROF_SOURCE=html the same tests look at HTML files: an address of a profile leads to the same place in a file
// that is exported from the server's store. The server is asked what must be seen there, as ever.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const run = promisify(execFile);
const START_TIMEOUT_MS = 60_000;

// WebGL2 in software, no sandbox (CI runs as root) and nothing that looks for the network.
const CHROMIUM_ARGUMENTS = [
  "--no-sandbox",
  "--no-first-run",
  "--disable-quic",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  // Compositing by SwiftShader took a third of the time of a file of tests. WebGL draws as before.
  "--disable-gpu-compositing",
];

/** Whether pages are HTML files instead of served ones. */
export const IS_FILE = process.env.NPROF_SOURCE === "html";

/** For tests of what only a server can do. */
export const SERVED = { skip: IS_FILE && "an HTML file has no server" };

/** The store of each server by its address. */
const stores = new Map();
/** HTML files by store and profile. */
const files = new Map();

/** The HTML file of a profile in a store. */
export function exported(store, slug, ...args) {
  const key = [store, slug, ...args].join(" ");
  if (!files.has(key)) {
    const file = join(store, `${files.size}.html`);
    const all = ["export", slug, "--format", "html", "-o", file, "--store", store, ...args];
    files.set(key, run(required("NPROF_BIN"), all).then(() => pathToFileURL(file).href));
  }
  return files.get(key);
}

/** The address of the same view in an HTML file. */
async function addressInFile(address) {
  if (address.startsWith("file:")) return address;
  const { origin, pathname, search } = new URL(address);
  const slug = pathname.match(/^\/profile\/([^/]+)(\/(timeline|summary|data))?$/)?.[1];
  assert.ok(slug, `an HTML file has no page ${pathname}`);
  return `${await exported(stores.get(origin), decodeURIComponent(slug), "--what-if")}#${pathname}${search}`;
}

/** Counts the questions that a page's workers have not answered. Runs in the page. */
function watchWorkers() {
  let waiting = 0;
  const count = (step) => globalThis.nprofWaits?.((waiting += step));
  globalThis.Worker = class extends Worker {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => data.kind === "answer" && count(-1));
    }
    postMessage(message, ...more) {
      if (message.kind === "ask") count(1);
      super.postMessage(message, ...more);
    }
  };
}

function required(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run scripts/test.sh browser`);
  return value;
}

/** A port of the loopback interface that nothing listens on. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Puts the profile of `nprof demo ARGUMENTS…` into a store, from where an earlier test left it if one did. Segments never
 * change and other files are replaced as a whole, so stores can share them by hard links.
 */
async function simulateOnce(store, args) {
  const folder = process.env.NPROF_STORES;
  if (!folder) return;
  const shared = join(folder, args.join("_").replaceAll(/[^A-Za-z0-9_.-]/g, "-"));
  if (!existsSync(shared)) {
    const made = await mkdtemp(join(folder, "made-"));
    await run(required("NPROF_BIN"), [...args, "--ingest-only", "--store", made]);
    // A test of another file may have been quicker.
    await rename(made, shared).catch(() => rm(made, { recursive: true, force: true }));
  }
  await run("cp", ["-al", `${shared}/.`, store]);
}

/**
 * Runs `nprof ARGUMENTS… --store DIR --port PORT` until test `t` ends, and waits until it answers.
 * Returns the address of its list of profiles, the store's folder, the lines printed so far, and how to end it before.
 */
export async function serve(t, ...args) {
  const store = await mkdtemp(join(tmpdir(), "nprof-browser-"));
  if (args[0] === "demo") await simulateOnce(store, args);
  const port = await freePort();
  const child = spawn(required("NPROF_BIN"), [...args, "--store", store, "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = [];
  let ended = null;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => printed.push(text));
  }
  const exit = new Promise((resolve) => {
    child.on("error", (error) => resolve((ended = error.message)));
    child.on("exit", (code, signal) => resolve((ended = `ended with ${signal ?? code}`)));
  });
  const stop = async () => {
    if (ended === null) child.kill("SIGTERM");
    await exit;
  };
  t.after(async () => {
    await stop();
    await rm(store, { recursive: true, force: true });
  });

  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(url))) {
    assert.equal(ended, null, `nprof ${args.join(" ")}: ${printed.join("")}`);
    assert.ok(Date.now() < deadline, `nprof ${args.join(" ")} does not answer: ${printed.join("")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  stores.set(url, store);
  return { url, store, stop, output: () => printed.join("") };
}

async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

const browsers = new Map();
after(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});

/** One browser for all tests of a file with the same flags: starting it takes longer than most of them. */
function openBrowser(flags) {
  const key = flags.join(" ");
  if (!browsers.has(key)) {
    const args = [...CHROMIUM_ARGUMENTS, ...flags];
    // Users have scrollbars that take room.
    const ignoreDefaultArgs = ["--hide-scrollbars"];
    browsers.set(key, chromium.launch({ executablePath: required("NPROF_CHROMIUM"), args, ignoreDefaultArgs }));
  }
  return browsers.get(key);
}

/** How many answers each page waits for. */
const waiting = new WeakMap();

/** Whether a page has all that it asked for. */
export function isQuiet(page) {
  return waiting.get(page) === 0;
}

function remember(place) {
  // A page without an address has no storage.
  if (location.protocol !== "about:") localStorage.setItem("nprof.first-place", place);
}

/**
 * A page of `width` × `height` pixels, with cookies and storage of its own, until test `t` ends. `flags` are further
 * arguments of Chromium; `more` is passed to Playwright's context. `problems` fills with what the page could not do:
 * uncaught errors, errors on its console, requests that failed.
 */
export async function openPage(t, { width = 1280, height = 800, flags = [], first = "timeline", ...more } = {}) {
  const options = { viewport: { width, height }, colorScheme: "light", ...more };
  const context = await (await openBrowser(flags)).newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  // A user who went to this place last. A newcomer has none, and begins at the summary.
  if (first) await page.addInitScript(remember, first);
  waiting.set(page, 0);
  if (IS_FILE) {
    const goto = page.goto.bind(page);
    page.goto = async (address, options) => goto(await addressInFile(address), options);
    await page.exposeFunction("nprofWaits", (count) => waiting.set(page, count));
    await page.addInitScript(watchWorkers);
  }
  const count = (step) => () => waiting.set(page, waiting.get(page) + step);
  if (!IS_FILE) page.on("request", count(1)).on("requestfinished", count(-1)).on("requestfailed", count(-1));
  const problems = [];
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // The page itself takes back requests for what has left the screen.
    if (reason !== "net::ERR_ABORTED") problems.push(`${reason}: ${request.url()}`);
  });
  return { page, problems };
}

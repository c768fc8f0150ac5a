// A server and the workers of an HTML file give the same answers: every question of the API, asked over HTTP and of a
// worker, has the same bytes. The other tests need not look at all of the page twice for this reason.

import assert from "node:assert/strict";
import test from "node:test";
import { decompress } from "fzstd";
import { exported, openPage, serve, SERVED } from "./stage.mjs";

const MESSAGE = "application/x-nprof";
const LIMIT_MS = 60_000;

/** Makes the page's workers known to `askWorker`. Runs in the page before its scripts. */
function keepWorkers() {
  globalThis.nprofKept = [];
  globalThis.Worker = class extends Worker {
    constructor(...all) {
      super(...all);
      globalThis.nprofKept.push(this);
    }
  };
}

/** The answer of the page's first worker, as base64. Runs in the page. */
async function askWorker([url, limitMs]) {
  const [worker] = globalThis.nprofKept;
  // The page counts its own questions from 0.
  const number = (globalThis.nprofAsked = (globalThis.nprofAsked ?? 1_000_000) + 1);
  const { ok, bytes } = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer to ${url}`)), limitMs);
    worker.addEventListener("message", ({ data }) => data.kind === "answer" && data.number === number && resolve(data));
    worker.postMessage({ kind: "ask", number, url });
  });
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { ok, base64: btoa(text) };
}

/** The path of every question about a profile, by the template of the API's description. */
function questions(profile, { row, counter, table, content, group, span }) {
  const of = (rank) => ({
    "": "",
    "/tiles/{content}/{group}/{level}/{index}": `/tiles/${content[rank]}/${group}/20/0`,
    "/slices/{row}": `/slices/${row[rank]}`,
    "/slices/{row}/step": `/slices/${row[rank]}/step?direction=next`,
    "/tables/{table}": `/tables/${table[rank]}?limit=50`,
    "/counters/{track}": `/counters/${counter}?at_ps=${span.at}&${span.query}`,
    "/events": `/events?${span.query}&limit=50`,
    "/search": "/search?q=a&limit=20",
    "/search/completions": "/search/completions?q=a&limit=20",
    "/search/light": `/search/light?q=a&cells=64&${span.query}`,
    "/selection": `/selection?${span.query}`,
    "/summary": "/summary",
    "/regions": "/regions",
    "/waits": `/waits?${span.query}&steps=16`,
    "/activity": "/activity?quantity=busy",
  });
  const all = { "/api/profiles": ["/api/profiles"], "/api/profiles/{slug}": [`/api/profiles/${profile}`] };
  all["/api/profiles/{slug}/notes"] = [`/api/profiles/${profile}/notes`];
  all["/api/profiles/{slug}/findings"] = [`/api/profiles/${profile}/findings`, `/api/profiles/${profile}/findings?limit=1`];
  all["/api/profiles/{slug}/critical-path"] = [`/api/profiles/${profile}/critical-path`];
  all["/api/profiles/{slug}/graph"] = [`/api/profiles/${profile}/graph`];
  all["/api/profiles/{slug}/balance"] = [`/api/profiles/${profile}/balance`, `/api/profiles/${profile}/balance?limit=2`];
  all["/api/profiles/{slug}/waits"] = [`/api/profiles/${profile}/waits?ranks=0&waits=9`];
  for (const rank of ["0", "all"]) {
    for (const [template, path] of Object.entries(of(rank))) {
      // Only a rank of its own has counters, and only all ranks together have waits over time.
      if ((template.startsWith("/counters") && rank === "all") || (template === "/waits" && rank !== "all")) continue;
      const key = `/api/profiles/{slug}/ranks/{rank}${template}`;
      (all[key] ??= []).push(`/api/profiles/${profile}/ranks/${rank}${path}`);
      // Metrics of a window are not those that the file keeps.
      if (template === "/summary") all[key].push(`/api/profiles/${profile}/ranks/${rank}/summary?${span.query}`);
    }
  }
  return all;
}

test("a server and a file give the same answers to every question", SERVED, async (t) => {
  const { url, store } = await serve(t, "demo", "--ranks", "2", "--events", "3000", "--db-bucket", "job");
  const json = async (path) => (await fetch(`${url}${path}`)).json();
  const known = { row: {}, table: {}, content: {} };
  for (const rank of ["0", "all"]) {
    const detail = await json(`/api/profiles/job/ranks/${rank}`);
    const { start_ps, end_ps, content } = detail.entry;
    known.span ??= { at: start_ps, query: `start_ps=${start_ps}&end_ps=${end_ps}` };
    known.group ??= detail.groups[0].id;
    known.counter ??= detail.tracks.find(({ kind }) => kind === "counter").id;
    known.content[rank] = content;
    known.table[rank] = detail.tables[0].name;
    const { slices } = await json(`/api/profiles/job/ranks/${rank}/events?${known.span.query}&limit=1`);
    known.row[rank] = slices[0].row;
  }
  const asked = questions("job", known);
  const { paths } = await json("/api/openapi.json");
  // Exports, regions of all ranks and changes of notes are for programs: no page asks for them.
  const isForPrograms = (path) => /\/profiles\/\{slug\}\/(export|regions|notes\/.*)$/.test(path);
  // A replay reads the segments of all ranks, which the page gives its worker first: run.test.mjs compares it.
  const needsReplay = (path) => /\/(whatif(\/(subjects|sweep|tracks))?|critical-path\/slack)$/.test(path);
  // A file of one profile compares nothing; compare.test.mjs opens one of two.
  const needsTwo = (path) => /\/comparison(\/tracks)?$/.test(path);
  const isAsked = (path) => path.startsWith("/api/profiles") && !isForPrograms(path) && !needsReplay(path) && !needsTwo(path);
  const described = Object.keys(paths).filter(isAsked);
  assert.deepEqual(Object.keys(asked).sort(), described.sort(), "every question of the API is asked here");

  const file = await exported(store, "job");
  for (const rank of ["0", "all"]) {
    const { page } = await openPage(t);
    await page.addInitScript(keepWorkers);
    await page.goto(`${file}#/profile/job?v=2&rank=${rank}`);
    await page.waitForFunction(() => globalThis.nprofKept?.length > 0);
    // The page gives its worker a rank before its own first question about it.
    await page.getByRole("tab", { selected: true }).first().waitFor();
    await page.locator("canvas").first().waitFor();
    const ofRank = (path) => rank === "0" ? !path.includes("/ranks/all") : path.includes("/ranks/all");
    for (const path of Object.values(asked).flat().filter(ofRank)) {
      const isTile = path.includes("/tiles/");
      const answer = await fetch(`${url}${path}`, { headers: { accept: isTile ? `${MESSAGE}+zstd` : MESSAGE } });
      const sent = new Uint8Array(await answer.arrayBuffer());
      const { ok, base64 } = await page.evaluate(askWorker, [path, LIMIT_MS]);
      assert.equal(ok, answer.ok, path);
      const served = isTile && answer.ok ? decompress(sent) : sent;
      assert.equal(base64, Buffer.from(served).toString("base64"), path);
    }
  }
});

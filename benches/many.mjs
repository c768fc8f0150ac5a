// What a store of many profiles costs its server: open files, memory, time to list, while every profile is looked at.
//
//     node benches/many.mjs [PROFILES] [EVENTS]        500 profiles of 1,000 events unless told otherwise
//
// Linux only: memory and open files are read from /proc. NPROF_BIN names the binary (target/release/nprof unless told
// otherwise).

import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const binary = process.env.NPROF_BIN ?? join(root, "target/release/nprof");
const profiles = Number(process.argv[2] ?? 500);
const events = process.argv[3] ?? "1000";
const LISTS = 100;

const store = await mkdtemp(join(tmpdir(), "nprof-many-"));
const started = performance.now();
for (let seed = 1; seed <= profiles; seed += 1) {
  const demo = ["demo", "--ingest-only", "--ranks", "1", "--events", events, "--seed", `${seed}`];
  await promisify(execFile)(binary, ["--store", store, ...demo, "--db-bucket", `run-${seed}`]);
}
const seconds = (performance.now() - started) / 1000;
console.log(`${profiles} profiles of ${events} events ingested in ${seconds.toFixed(1)} s`);

const server = spawn(binary, ["--store", store, "serve", "--port", "0"]);
const address = await new Promise((resolve, reject) => {
  let text = "";
  server.stdout.on("data", (chunk) => {
    text += chunk;
    const found = /http:\/\/\S+:(\d+)/.exec(text);
    if (found) resolve(`http://127.0.0.1:${found[1]}/api/profiles`);
  });
  server.on("exit", (code) => reject(new Error(`nprof ended with ${code}`)));
});

const ask = async (path) => {
  const answer = await fetch(address + path);
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body}`);
  return body;
};

const line = (name, value) => console.log(`${name.padEnd(34)} ${value}`);
const ms = (time) => `${time.toFixed(2)} ms`;

async function timed(name, path, times) {
  const all = [];
  for (let at = 0; at < times; at += 1) {
    const before = performance.now();
    await ask(path(at));
    all.push(performance.now() - before);
  }
  const first = all[0];
  all.sort((a, b) => a - b);
  line(name, `first ${ms(first)}, p50 ${ms(all[times >> 1])}, p99 ${ms(all[Math.floor(times * 0.99)])}`);
}

async function costs(name) {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8");
  const mib = (key) => (Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)[1]) / 1024).toFixed(1);
  const files = (await readdir(`/proc/${server.pid}/fd`)).length;
  const maps = await readFile(`/proc/${server.pid}/maps`, "utf8");
  const segments = new Set(maps.match(/\S+\.nseg/g)).size;
  const memory = `${mib("VmRSS")} MiB resident (${mib("VmHWM")} at its peak)`;
  line(name, `${files} open files, ${segments} segments mapped, ${memory}`);
}

// The first connection costs the asking side more than the answer.
await fetch(address.replace("profiles", "health"));
await costs("started");
await timed("list", () => "", LISTS);
await costs("listed");
const list = JSON.parse(await ask("")).profiles;
if (list.length !== profiles) throw new Error(`${list.length} profiles are listed`);
const rank = (at) => `/${list[at].slug}/ranks/0`;
await timed("a rank's tracks, each profile", rank, profiles);
for (let at = 0; at < profiles; at += 1) {
  const detail = JSON.parse(await ask(rank(at)));
  for (const group of detail.groups.slice(0, 4)) {
    await ask(`${rank(at)}/tiles/${detail.entry.content}/${group.id}/14/0`);
  }
  await ask(`${rank(at)}/search?q=layers.1`);
  await ask(`${rank(at)}/summary`);
}
await costs("all looked at");
await timed("list", () => "", LISTS);
server.removeAllListeners("exit");
server.kill("SIGTERM");
await rm(store, { recursive: true, force: true });

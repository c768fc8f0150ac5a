// Runs the wasm side of `cargo bench -p nprof-benches --bench page`, which starts this script.
//
//     node page.mjs WASM FRAME SEGMENT        prints a line of JSON: what was answered, and milliseconds by question

import { readFile } from "node:fs/promises";

const RUN_FOR_MS = 1000;
const [wasm, frame, segment] = await Promise.all(process.argv.slice(2, 5).map((path) => readFile(path)));
const { instance } = await WebAssembly.instantiate(wasm, {});
const { memory, reserve, open, unpack_tile, select_all } = instance.exports;

for (const [place, bytes] of [frame, segment].entries()) {
  const at = reserve(place, bytes.length);
  // Only now: making room may have moved the memory.
  new Uint8Array(memory.buffer, at >>> 0, bytes.length).set(bytes);
}
if (open() !== 1) throw new Error("the segment cannot be opened");

const figures = {};
for (const [name, ask] of Object.entries({ unpack_tile, select_all })) {
  const times = [];
  const begin = performance.now();
  let answer = 0;
  while (performance.now() - begin < RUN_FOR_MS || times.length < 5) {
    const start = performance.now();
    answer = ask();
    times.push(performance.now() - start);
  }
  if (answer < 0) throw new Error(`${name} failed`);
  figures[name] = { answer, times_ms: times };
}
figures.memory_mib = memory.buffer.byteLength / 1024 / 1024;
console.log(JSON.stringify(figures));

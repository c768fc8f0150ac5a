// Traces of a job of several ranks whose clocks differ, as PyTorch writes them.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BASE_NS = 1_700_000_000_000_000_000;
const FIRST_US = 20_000;
const STEP_US = 1_000;
/** What a rank computes before a collective, and how long the transfer takes. */
const TRANSFER_US = 60;
/** How much earlier the steps of each further rank begin. */
export const STEP_MORE_US = 7;
const computeUs = (rank, call) => 300 + ((rank * 131 + call * 17) % 200);

/**
 * The trace of rank `rank` of `offsetsUs.length`, whose clock is ahead by `offsetsUs[rank]`: a kernel and an all-reduce
 * in each of `calls` steps. `slow` is how much longer the kernels of a rank take, `long` how much longer the transfer of
 * a call.
 */
function traceOf(rank, offsetsUs, { calls, slow, long }) {
  const ranks = offsetsUs.map((_, number) => number);
  const takes = (one, call) => computeUs(one, call) + (one === slow.rank ? slow.us : 0);
  const events = [];
  const slice = (cat, name, pid, tid, start, dur, args) =>
    events.push({ ph: "X", cat, name, pid, tid, ts: start + offsetsUs[rank], dur, args });
  for (let call = 0; call < calls; call++) {
    const start = FIRST_US + call * STEP_US;
    const arrivals = ranks.map((one) => start + takes(one, call));
    const end = Math.max(...arrivals) + TRANSFER_US + (call === long.call ? long.us : 0);
    const device = { device: rank, stream: 7, correlation: 2 * call };
    slice("kernel", `gemm_${call}`, rank, 7, start, takes(rank, call), device);
    slice("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", rank, 20, arrivals[rank], end - arrivals[rank], {
      ...device,
      stream: 20,
      correlation: 2 * call + 1,
      "Collective name": "allreduce",
      "In msg nelems": 1024,
      "Out msg nelems": 1024,
      "Group size": ranks.length,
      dtype: "BFloat16",
      "Process Group Name": "0",
      "Process Group Ranks": `[${ranks.join(", ")}]`,
      Seq: call,
    });
    slice("user_annotation", `ProfilerStep#${call}`, 1000 + rank, 1000 + rank, start - 20 - STEP_MORE_US * rank, end - start + 10 + STEP_MORE_US * rank, {});
  }
  const name = (pid, label) => [
    { ph: "M", name: "process_name", pid, tid: 0, args: { name: "python3" } },
    { ph: "M", name: "process_labels", pid, tid: 0, args: { labels: label } },
  ];
  const stream = (tid) => ({ ph: "M", name: "thread_name", pid: rank, tid, args: { name: `stream ${tid} ` } });
  const config = { pg_name: "0", pg_desc: "default_pg", backend_config: "cuda:nccl", pg_size: ranks.length, ranks };
  return {
    schemaVersion: 1,
    distributedInfo: { backend: "nccl", rank, world_size: ranks.length, pg_count: 1, pg_config: [config] },
    displayTimeUnit: "ms",
    baseTimeNanoseconds: BASE_NS,
    traceEvents: [...name(1000 + rank, "CPU"), ...name(rank, `GPU ${rank}`), stream(7), stream(20), ...events],
  };
}

/** Writes the traces of a job into a folder until test `t` ends. Returns the folder. */
export async function writeJob(t, offsetsUs, { calls = 40, slow = { rank: -1, us: 0 }, long = { call: -1, us: 0 } } = {}) {
  const parent = await mkdtemp(join(tmpdir(), "nprof-job-"));
  t.after(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, "job");
  await mkdir(folder);
  for (const [rank] of offsetsUs.entries()) {
    const trace = traceOf(rank, offsetsUs, { calls, slow, long });
    await writeFile(join(folder, `rank_${rank}.json`), JSON.stringify(trace));
  }
  return folder;
}

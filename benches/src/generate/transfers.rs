//! Writes the transfers, queue after queue, and the counters that follow from them.

use std::io::Result;
use std::path::Path;

use super::files::ColumnWriter;
use super::random::{Purpose, RandomStream};
use super::text::{FIRST_LOCAL_TENSOR, LAYERS, MEMORIES, TENSORS_PER_LAYER};
use super::timing::jittered;
use super::{GeneratorSettings, Meta};

/// Number of queues of a core.
pub const QUEUES: usize = 16;
/// Sizes of transfers and how often each occurs.
const SIZES_BYTES: [i64; 7] = [512, 2048, 4096, 8192, 16384, 65536, 262_144];
const SIZE_WEIGHTS: [f64; 7] = [0.15, 0.3, 0.2, 0.15, 0.12, 0.06, 0.02];
/// Latency of a transfer before its first byte, and its bytes per nanosecond after that.
const LATENCY_NS: i64 = 1400;
const BYTES_PER_NS: f64 = 14.0;
/// Number of transfers that a queue gets at once, and their distance as a share of the layer.
const BURST: usize = 8;
const BURST_STEP: f64 = 0.0003;
/// Share of the layer before which all its transfers start.
const LAST_START: f64 = 0.97;
/// Time per sample of each counter.
const SAMPLE_NS: i64 = 1000;
/// Identifiers of a queue's transfers start at a multiple of this number.
const QUEUE_IDS: u32 = 0x100_0000;

/// One transfer of a layer.
struct LayerTransfer {
    /// Start as a share of the layer.
    position: f64,
    size_bytes: i64,
    src: u8,
    dst: u8,
    tensor: u16,
}

struct TransferColumns {
    start: ColumnWriter<u64>,
    duration: ColumnWriter<u32>,
    size: ColumnWriter<u32>,
    src: ColumnWriter<u8>,
    dst: ColumnWriter<u8>,
    tensor: ColumnWriter<u16>,
    id: ColumnWriter<u32>,
}

impl TransferColumns {
    fn create(directory: &Path) -> Result<Self> {
        Ok(Self {
            start: ColumnWriter::create(directory, "dma.start")?,
            duration: ColumnWriter::create(directory, "dma.duration")?,
            size: ColumnWriter::create(directory, "dma.size")?,
            src: ColumnWriter::create(directory, "dma.src")?,
            dst: ColumnWriter::create(directory, "dma.dst")?,
            tensor: ColumnWriter::create(directory, "dma.tensor")?,
            id: ColumnWriter::create(directory, "dma.dma_id")?,
        })
    }

    fn finish(self) -> Result<()> {
        self.start.finish()?;
        self.duration.finish()?;
        self.size.finish()?;
        self.src.finish()?;
        self.dst.finish()?;
        self.tensor.finish()?;
        self.id.finish()
    }
}

/// The two counters, with a sample per microsecond.
struct QueueCounters {
    start_ns: i64,
    /// Transfers begun minus transfers finished, per sample.
    begun: Vec<i32>,
    /// Bytes of the transfers that finished, per sample.
    finished_bytes: Vec<u32>,
}

impl QueueCounters {
    fn new(start_ns: i64, end_ns: i64) -> Self {
        let samples = ((end_ns - start_ns) / SAMPLE_NS) as usize + 1;
        Self { start_ns, begun: vec![0; samples], finished_bytes: vec![0; samples] }
    }

    fn add(&mut self, start_ns: i64, duration_ns: i64, size_bytes: i64) {
        let last = self.begun.len() - 1;
        let sample = |time: i64| (((time - self.start_ns) / SAMPLE_NS) as usize).min(last);
        let (first, end) = (sample(start_ns), sample(start_ns + duration_ns));
        self.begun[first] += 1;
        self.begun[end] -= 1;
        self.finished_bytes[end] += size_bytes as u32;
    }

    fn write(self, directory: &Path) -> Result<()> {
        let mut starts = ColumnWriter::<u64>::create(directory, "counter.start")?;
        let mut pending = ColumnWriter::<u16>::create(directory, "counter.pending_dma")?;
        let mut throughput = ColumnWriter::<u32>::create(directory, "counter.dma_throughput")?;
        let mut under_way = 0;
        for (sample, (begun, bytes)) in self.begun.iter().zip(self.finished_bytes).enumerate() {
            under_way += begun;
            starts.push((self.start_ns + sample as i64 * SAMPLE_NS) as u64)?;
            pending.push(under_way as u16)?;
            throughput.push(bytes)?;
        }
        starts.finish()?;
        pending.finish()?;
        throughput.finish()
    }
}

/// Writes `per_layer` transfers for each layer in `starts`, and the counters. The last entry of
/// `starts` is the profile's end.
pub(super) fn write(
    directory: &Path,
    settings: &GeneratorSettings,
    per_layer: usize,
    starts: &[i64],
    meta: &mut Meta,
) -> Result<()> {
    let plan = plan(settings.seed, per_layer);
    let mut counters = QueueCounters::new(starts[0], starts[starts.len() - 1]);
    let mut columns = TransferColumns::create(directory)?;
    for (queue, transfers) in plan.iter().enumerate() {
        let mut queue_writer =
            QueueState { settings, transfers, number: queue, before_ns: 0, rows: 0, order: Vec::new() };
        for (run, span) in starts.windows(2).enumerate() {
            queue_writer.write_layer(run, span[0], span[1], &mut columns, &mut counters)?;
        }
        meta.dmas.push(u64::from(queue_writer.rows));
    }
    columns.finish()?;
    meta.samples = counters.begun.len() as u64;
    counters.write(directory)
}

/// State while one queue is written.
struct QueueState<'a> {
    settings: &'a GeneratorSettings,
    transfers: &'a [LayerTransfer],
    number: usize,
    /// Start of the previous transfer.
    before_ns: i64,
    rows: u32,
    /// Start, duration and plan position of a layer's transfers.
    order: Vec<(i64, i64, usize)>,
}

impl QueueState<'_> {
    fn write_layer(
        &mut self,
        run: usize,
        start_ns: i64,
        end_ns: i64,
        columns: &mut TransferColumns,
        counters: &mut QueueCounters,
    ) -> Result<()> {
        let mut random = RandomStream::stream(self.settings.seed, Purpose::Transfers, run, self.number);
        self.order.clear();
        for (at, of) in self.transfers.iter().enumerate() {
            let late = if random.chance(0.5) { 0 } else { random.geometric(0.05) };
            let start = start_ns + (of.position * (end_ns - start_ns) as f64 * LAST_START) as i64 + late;
            let usual = LATENCY_NS + (of.size_bytes as f64 / BYTES_PER_NS) as i64;
            let duration =
                jittered(usual, self.settings.jitter, &mut random) + random.exponential(120.0) as i64;
            self.order.push((start, duration, at));
        }
        self.order.sort_by_key(|(start, ..)| *start);
        for &(start, duration, at) in &self.order {
            // A queue starts one transfer at a time.
            let start = start.max(self.before_ns + 1);
            self.before_ns = start;
            let of = &self.transfers[at];
            columns.start.push(start as u64)?;
            columns.duration.push(duration as u32)?;
            columns.size.push(of.size_bytes as u32)?;
            columns.src.push(of.src)?;
            columns.dst.push(of.dst)?;
            columns.tensor.push(of.tensor + (run % LAYERS * TENSORS_PER_LAYER) as u16)?;
            columns.id.push(self.number as u32 * QUEUE_IDS + self.rows)?;
            counters.add(start, duration, of.size_bytes);
            self.rows += 1;
        }
        Ok(())
    }
}

/// The transfers of a layer by queue, in the order of starts.
fn plan(seed: u64, count: usize) -> Vec<Vec<LayerTransfer>> {
    let mut random = RandomStream::stream(seed, Purpose::TransferPlan, 0, 0);
    let mut counts = [0; QUEUES];
    for _ in 0..count {
        counts[random.between(0, QUEUES as i64) as usize] += 1;
    }
    counts.iter().map(|&count| queue_plan(count, &mut random)).collect()
}

fn queue_plan(count: usize, random: &mut RandomStream) -> Vec<LayerTransfer> {
    let bursts = count / BURST;
    let mut positions: Vec<f64> = (0..bursts)
        .flat_map(|_| {
            let at = random.unit();
            (0..BURST).map(move |step| at + step as f64 * BURST_STEP)
        })
        .collect();
    positions.extend((positions.len()..count).map(|_| random.unit()));
    positions.sort_by(f64::total_cmp);
    positions.into_iter().map(|position| transfer(position, random)).collect()
}

fn transfer(position: f64, random: &mut RandomStream) -> LayerTransfer {
    let tensor = random.between(0, TENSORS_PER_LAYER as i64);
    let src = if tensor < FIRST_LOCAL_TENSOR { 0 } else { random.between(0, 3) as u8 };
    let dst = if src == 0 { 1 } else { random.between(0, MEMORIES.len() as i64) as u8 };
    let size_bytes = SIZES_BYTES[random.weighted(&SIZE_WEIGHTS)];
    LayerTransfer { position, size_bytes, src, dst, tensor: tensor as u16 }
}

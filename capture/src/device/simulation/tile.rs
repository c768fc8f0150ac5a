//! One tile: its transfer, its multiplications and the work of the other engines on the result.
//!
//! Times are in ninths of the tile's time. The Tensor engine multiplies in eight ninths, one after
//! another. The engines behind it lag by up to three ninths, into the next tile. There they meet
//! only their own later work.

use nprof_engine::base::time::{PS_PER_NS, PS_PER_S};
use nprof_engine::base::{Interval, Result};
use nprof_engine::model::{FieldId, Sink, SliceKey, TrackId, Value};

use super::device_tracks::DMA_ENGINES;
use super::program::{
    ACTIVATIONS, FIRST_ACTIVATION, FIRST_TRIGGER, FIRST_VECTOR, GPSIMD, MATMULS, QUEUES, QueuePlan, VECTORS,
    WAIT,
};
use super::rig::Rig;
use super::schedule::{LayerPart, RankPhase};
use nprof_engine::makers::neuron::schema::{Dma, dma_name};

/// Highest and lowest rate of a DMA engine, in bytes a second.
const FASTEST: i64 = 27_000_000_000;
const SLOWEST: i64 = 18_000_000_000;

/// Time and place of the work on a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileWork {
    body: usize,
    start: i64,
    /// A ninth of the tile's time.
    ninth: i64,
    step: i64,
}

/// A transfer with the planned times of its packets.
struct PlannedTransfer {
    start: i64,
    end: i64,
    packets: [Interval; DMA_ENGINES as usize],
}

impl TileWork {
    /// The tile of a phase, worked on from `start` for `duration`.
    pub(super) fn new(phase: &RankPhase, start: i64, duration: i64, step: i64) -> Self {
        Self { body: body_of(phase), start, ninth: duration / 9, step }
    }

    pub(super) fn emit(&self, rig: &mut Rig<'_>, sink: &mut dyn Sink) -> Result<()> {
        let waited_for = rig.loaded.take();
        let loaded = self.load(rig, sink)?;
        let sums = self.multiply(waited_for, rig, sink)?;
        self.finish(sums, rig, sink)?;
        rig.loaded = Some(loaded);
        Ok(())
    }

    /// Time this many hundredths of a ninth after the tile's start.
    fn at(&self, hundredths: i64) -> i64 {
        self.start + self.ninth * hundredths / 100
    }

    /// Loads the next tile: the Sync engine triggers the transfer and waits for its end.
    fn load(&self, rig: &mut Rig<'_>, sink: &mut dyn Sink) -> Result<SliceKey> {
        let queue = usize::try_from(self.step).unwrap_or(0) % QUEUES.len();
        let trigger_ps = rig.random.part(self.ninth, 60, 100);
        let trigger =
            rig.op(self.body, FIRST_TRIGGER + queue, Interval::lasting(self.at(5), trigger_ps), 0, sink)?;
        rig.sample(rig.tracks.pending, self.at(5), 1.0, &[], sink)?;

        let transfer = self.plan(rig, queue, self.at(5) + trigger_ps);
        let key = self.transfer(rig, queue, &transfer, sink)?;
        sink.link(trigger, key, rig.links.trigger)?;

        let semaphore = rig.tables.semaphore;
        rig.instant(rig.tracks.semaphore, transfer.end, &[(semaphore.value, Value::Int(16))], sink)?;
        rig.sample(rig.tracks.pending, transfer.end, 0.0, &[], sink)?;
        let wait = Interval::lasting(self.at(820), rig.random.part(self.ninth, 20, 60));
        let waited = rig.op(self.body, WAIT, wait, (transfer.end - self.at(100)).max(0), sink)?;
        sink.link(key, waited, rig.links.completion)?;
        rig.instant(rig.tracks.semaphore, wait.end.0, &[(semaphore.value, Value::Int(0))], sink)?;
        Ok(key)
    }

    /// Plans the start and the duration of each packet.
    fn plan(&self, rig: &mut Rig<'_>, queue: usize, from: i64) -> PlannedTransfer {
        let bytes = QUEUES[queue].bytes / i64::from(DMA_ENGINES);
        let latency = rig.random.part(self.ninth, 150, 250);
        let mut packets = [Interval::default(); DMA_ENGINES as usize];
        for packet in &mut packets {
            let start = from + latency + rig.random.part(self.ninth, 0, 600);
            let rate = SLOWEST + rig.random.part(FASTEST - SLOWEST, 0, 1000);
            *packet = Interval::lasting(start, duration_ps(bytes, rate));
        }
        let start = packets.iter().map(|packet| packet.start.0).min().unwrap_or(from);
        let end = packets.iter().map(|packet| packet.end.0).max().unwrap_or(from);
        PlannedTransfer { start, end, packets }
    }

    fn transfer(
        &self,
        rig: &mut Rig<'_>,
        number: usize,
        transfer: &PlannedTransfer,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        let queue = &QUEUES[number];
        let tensor = rig.bodies[self.body].tensors.get(number).map_or("", String::as_str);
        let name = sink.name(dma_name(tensor, queue.queue_type))?;
        let span = Interval::new(transfer.start, transfer.end);
        let rate = bytes_per_second(queue.bytes, span.duration_ps());
        let (id, dma) = (rig.id(), rig.tables.dma);

        let throughput = rig.tables.throughput;
        rig.total_bytes += queue.bytes;
        let total = [(throughput.total_transfer_bytes, Value::Int(rig.total_bytes))];
        rig.sample(rig.tracks.throughput, transfer.start, ratio(rate, 1), &total, sink)?;
        rig.sample(rig.tracks.throughput, transfer.end, 0.0, &total, sink)?;

        let mut fields = std::mem::take(&mut rig.scratch);
        fields.clear();
        fields.extend(of_both(&dma, queue, tensor, queue.bytes, rate));
        fields.extend([
            (dma.id, id),
            (dma.subgroup, Value::Text(queue.name)),
            (dma.aggregated, Value::Text("yes")),
            (dma.source, Value::Json(queue.source)),
            (dma.dest, Value::Json(queue.dest)),
            (dma.block_id, Value::Int(self.step)),
            (dma.trigger, Value::Int(self.at(5) / PS_PER_NS)),
        ]);
        let key = rig.slice(rig.queues[number].transfers, span, name, &fields, sink)?;

        let bytes = queue.bytes / i64::from(DMA_ENGINES);
        let subgroups = &rig.subgroups[number];
        for (index, (engine, &span)) in ENGINES.iter().zip(&transfer.packets).enumerate() {
            fields.clear();
            fields.extend(of_both(&dma, queue, tensor, bytes, bytes_per_second(bytes, span.duration_ps())));
            fields.extend([
                (dma.id, rig.id()),
                (dma.packet_aggregation_id, id),
                (dma.packet_idx, Value::Int(i64::try_from(index).unwrap_or(0))),
                (dma.aggregated, Value::Text("no")),
                (dma.subgroup, Value::Text(&subgroups[index])),
                (dma.dma_engine, Value::Text(engine)),
            ]);
            let track = rig.queues[number].packets[index];
            rig.slice(track, span, name, &fields, sink)?;
        }
        fields.clear();
        rig.scratch = fields;
        Ok(key)
    }

    /// The Tensor engine's work. Each multiplication follows its weights, which are loaded while
    /// the one before still runs.
    fn multiply(
        &self,
        waited_for: Option<SliceKey>,
        rig: &mut Rig<'_>,
        sink: &mut dyn Sink,
    ) -> Result<[SliceKey; MATMULS]> {
        let mut sums = [SliceKey { track: TrackId(0), arrival: 0 }; MATMULS];
        let mut start = self.start;
        for (index, sum) in sums.iter_mut().enumerate() {
            let load = rig.random.part(self.ninth, 200, 240);
            let multiply = rig.random.part(self.ninth, 800, 970);
            let begin = self.at(30 + 100 * i64::try_from(index).unwrap_or(0));
            let weights = begin - self.ninth / 4;
            let loading = Interval::lasting(weights, load);
            let loaded = rig.op(self.body, 2 * index, loading, (weights - start).max(0), sink)?;
            if let Some(transfer) = waited_for.filter(|_| index == 0) {
                sink.link(transfer, loaded, rig.links.completion)?;
            }
            let multiplying = Interval::lasting(begin, multiply);
            *sum = rig.op(self.body, 2 * index + 1, multiplying, begin - loading.end.0, sink)?;
            sink.link(loaded, *sum, rig.links.dependence)?;
            start = multiplying.end.0;
        }
        Ok(sums)
    }

    /// The work of the other engines, and samples of memory use.
    fn finish(&self, sums: [SliceKey; MATMULS], rig: &mut Rig<'_>, sink: &mut dyn Sink) -> Result<()> {
        for index in 0..ACTIVATIONS {
            let start = self.at(230 + 200 * i64::try_from(index).unwrap_or(0));
            let wait = rig.random.part(self.ninth, 0, 300);
            let span = Interval::lasting(start, rig.random.part(self.ninth, 1200, 1800));
            let key = rig.op(self.body, FIRST_ACTIVATION + index, span, wait, sink)?;
            sink.link(sums[2 * index + 1], key, rig.links.dependence)?;
        }
        for index in 0..VECTORS {
            let start = self.at(240 + 150 * i64::try_from(index).unwrap_or(0));
            let span = Interval::lasting(start, rig.random.part(self.ninth, 700, 1400));
            rig.op(self.body, FIRST_VECTOR + index, span, 0, sink)?;
        }
        let span = Interval::lasting(self.at(300), rig.random.part(self.ninth, 2000, 4000));
        rig.op(self.body, GPSIMD, span, 0, sink)?;
        self.memories(rig, sink)
    }

    /// Samples of memory use. The state buffer fills during a phase; the partial-sum buffer's banks
    /// are used in turn.
    fn memories(&self, rig: &mut Rig<'_>, sink: &mut dyn Sink) -> Result<()> {
        /// Steps of the longest phase. No more tiles are ever in the state buffer together.
        const FULL: i64 = 32;
        let (usage, tracks) = (rig.tables.usage, (rig.tracks.sbuf, rig.tracks.psum));
        let share = ratio(self.step + 4, FULL);
        let fields = [
            (usage.kind, Value::Text("sb")),
            (usage.partition_0_usage, Value::Float(share)),
            (usage.partition_32_usage, Value::Float(share)),
            (usage.partition_64_usage, Value::Float(share)),
            (usage.partition_96_usage, Value::Float(share)),
        ];
        rig.sample(tracks.0, self.start, share, &fields, sink)?;
        let (first, second) = if self.step % 2 == 0 { (1.0, 0.5) } else { (0.5, 1.0) };
        let fields = [
            (usage.kind, Value::Text("psum")),
            (usage.bank_0_usage, Value::Float(first)),
            (usage.bank_1_usage, Value::Float(second)),
        ];
        // Two of the eight banks are in use.
        rig.sample(tracks.1, self.start, (first + second) / 8.0, &fields, sink)
    }
}

/// Index of the body that a phase runs.
pub(super) fn body_of(phase: &RankPhase) -> usize {
    let layer = usize::try_from(phase.layer).unwrap_or(0);
    layer * LayerPart::ALL.len() + usize::from(phase.part == LayerPart::Mlp)
}

/// Fields that a transfer's row and the rows of its packets share.
fn of_both<'a>(
    dma: &Dma,
    queue: &QueuePlan,
    tensor: &'a str,
    bytes: i64,
    rate: i64,
) -> [(FieldId, Value<'a>); 9] {
    [
        (dma.variable, Value::Text(tensor)),
        (dma.op, Value::Text("copy")),
        (dma.transfer_size, Value::Int(bytes)),
        (dma.read_size, Value::Int(bytes)),
        (dma.write_size, Value::Int(bytes)),
        (dma.transfer_rate, Value::Int(rate)),
        (dma.is_cc_dma, Value::Text("no")),
        (dma.dma_queue, Value::Text(queue.number_text)),
        (dma.queue_type, Value::Text(queue.queue_type)),
    ]
}

/// Picoseconds for these bytes at this rate in bytes a second.
fn duration_ps(bytes: i64, rate: i64) -> i64 {
    // Rates in kilobytes a second keep the product within 64 bits for transfers up to 9 GB.
    bytes * (PS_PER_S / 1000) / (rate / 1000).max(1)
}

/// Rate in bytes a second that moves these bytes in this time.
pub(super) fn bytes_per_second(bytes: i64, duration_ps: i64) -> i64 {
    let rate = i128::from(bytes) * i128::from(PS_PER_S) / i128::from(duration_ps.max(1));
    i64::try_from(rate).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "both are small")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

/// Numbers of the DMA engines as text.
static ENGINES: [&str; DMA_ENGINES as usize] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

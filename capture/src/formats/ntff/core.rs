//! What the readers of all segments share: one core's program and clocks, and the way out.

use nprof_engine::model::{Sink, TrackId, WarningKind};
use rustc_hash::FxHashSet;

use super::clock::Clocks;
use super::program::Program;
use super::proto;
use super::record::RECORD_LEN;
use crate::formats::Error;
use crate::formats::room::Room;
use nprof_engine::vendor::neuron::schema::Queue;
use nprof_engine::vendor::neuron::{CounterTrack, Engine, Tracks, name_on_core};

/// What one physical core ran, ready for look-up.
#[derive(Debug)]
pub struct Core<'a> {
    /// Counted within the file.
    pub number: u32,
    /// As the file describes it.
    pub subgraph: &'a proto::Subgraph,
    /// E.g. `sg00`.
    pub name: String,
    /// By [`Engine::index`].
    pub programs: [Program<'a>; Engine::ALL.len()],
    /// The clocks.
    pub clocks: Clocks,
    /// Time zero of the profile on the clocks' axis.
    pub origin_ps: i64,
}

impl<'a> Core<'a> {
    /// From its description; time zero is set once all cores are known.
    #[must_use]
    pub fn new(number: u32, subgraph: &'a proto::Subgraph) -> Self {
        Self {
            number,
            subgraph,
            name: super::container::text(&subgraph.name).into_owned(),
            programs: Engine::ALL.map(|engine| Program::new(subgraph, engine)),
            clocks: subgraph.clocks.as_ref().map(Clocks::new).unwrap_or_default(),
            origin_ps: 0,
        }
    }

    /// As rows name it.
    #[must_use]
    pub fn qualified_name(&self) -> String {
        format!("/{}", self.name)
    }

    /// A name that tells this core's tracks from those of the others.
    #[must_use]
    pub fn own(&self, name: &str) -> String {
        name_on_core(name, self.number)
    }
}

/// The way out: the sink, the tracks defined so far, and who waits for progress.
pub struct Output<'s> {
    /// Takes everything.
    pub sink: &'s mut dyn Sink,
    /// The tree of tracks.
    pub tracks: Tracks,
    /// Storage of the next row's fields.
    pub(crate) room: Room,
    progress: &'s mut dyn FnMut(u64),
    /// Bytes of the parts that are done, and those done of the part at hand.
    done_bytes: u64,
    part_bytes: u64,
    reported_bytes: u64,
    /// Tracks whose rows come in order.
    in_order: FxHashSet<TrackId>,
}

/// Progress is told every so many bytes.
const REPORT_BYTES: u64 = 1 << 20;
/// Bytes of a record that count as done when it has been read; the others do when its row has been written, which is most
/// of the work.
const READ_BYTES: u64 = 4;

impl<'s> Output<'s> {
    /// A new one.
    pub fn new(sink: &'s mut dyn Sink, progress: &'s mut dyn FnMut(u64)) -> Self {
        Self {
            sink,
            tracks: Tracks::default(),
            room: Room::new(),
            progress,
            done_bytes: 0,
            part_bytes: 0,
            reported_bytes: 0,
            in_order: FxHashSet::default(),
        }
    }

    /// Says that a record has been read.
    pub fn record_read(&mut self) {
        self.advance(READ_BYTES);
    }

    /// Says that so many records have been read.
    pub fn records_read(&mut self, records: u64) {
        self.advance(records * READ_BYTES);
    }

    /// Says that the row of so many records that were read before has been written.
    pub fn row_written(&mut self, records: u64) {
        self.advance(records * (RECORD_LEN as u64 - READ_BYTES));
    }

    fn advance(&mut self, bytes: u64) {
        self.part_bytes += bytes;
        if self.done_bytes + self.part_bytes >= self.reported_bytes + REPORT_BYTES {
            self.report();
        }
    }

    /// Says that a part of the file is done, whatever was said of its records.
    pub fn part_done(&mut self, bytes: u64) {
        self.done_bytes += bytes;
        self.part_bytes = 0;
        self.report();
    }

    fn report(&mut self) {
        self.reported_bytes = self.done_bytes + self.part_bytes;
        (self.progress)(self.reported_bytes);
    }

    /// Promises that a track's rows come in order, once.
    ///
    /// # Errors
    /// The sink's own.
    pub fn in_order(&mut self, track: TrackId) -> Result<TrackId, Error> {
        if self.in_order.insert(track) {
            self.sink.in_order(track)?;
        }
        Ok(track)
    }

    /// Counts a record that says something impossible.
    pub fn damaged(&mut self, what: &str, segment: &str, record: u64) {
        self.sink
            .warn(WarningKind::DamagedRecord, what, &|| format!("record {record} of the {segment} segment"));
    }

    /// The track of a counter of this core; its samples must come in order.
    ///
    /// # Errors
    /// The sink's own.
    pub fn counter(&mut self, core: &Core<'_>, counter: CounterTrack) -> Result<TrackId, Error> {
        let track = self.tracks.counter(self.sink, core.number, counter)?;
        self.in_order(track)
    }

    /// The track of a DMA engine's packets for a queue of this core; they must come in order.
    ///
    /// # Errors
    /// The sink's own.
    pub fn packets(&mut self, core: &Core<'_>, name: &str, number: u8, engine: u8) -> Result<TrackId, Error> {
        let queue = Queue { name, number: Some(u32::from(number)) };
        let track = self.tracks.dma_packets(self.sink, core.number, queue, Some(u32::from(engine)))?;
        self.in_order(track)
    }

    /// The track of a queue's transfers of this core; they must come in order.
    ///
    /// # Errors
    /// The sink's own.
    pub fn transfers(&mut self, core: &Core<'_>, name: &str, number: u8) -> Result<TrackId, Error> {
        let queue = Queue { name, number: Some(u32::from(number)) };
        let track = self.tracks.dma_transfers(self.sink, core.number, queue)?;
        self.in_order(track)
    }
}

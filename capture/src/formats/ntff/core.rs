//! State that the readers of all segments share: one core's program and clocks, and the output.

use nprof_engine::model::{Sink, TrackId, WarningKind};
use rustc_hash::FxHashSet;

use super::clock::CoreClocks;
use super::program::EngineProgram;
use super::proto;
use super::record::RECORD_LEN;
use crate::error::Error;
use crate::formats::room::FieldBuffer;
use nprof_engine::makers::neuron::schema::Queue;
use nprof_engine::makers::neuron::{CounterTrack, Engine, NeuronTracks, name_on_core};

/// Program and clocks of one physical core, ready for look-up.
#[derive(Debug)]
pub struct CoreProgram<'a> {
    /// Number of the core within the file.
    pub number: u32,
    /// The file's description of the core.
    pub subgraph: &'a proto::Subgraph,
    /// Name of the subgraph, e.g. `sg00`.
    pub name: String,
    /// The programs, by [`Engine::index`].
    pub programs: [EngineProgram<'a>; Engine::ALL.len()],
    /// The clocks of the core.
    pub clocks: CoreClocks,
    /// Time zero of the profile on the clocks' axis.
    pub origin_ps: i64,
}

impl<'a> CoreProgram<'a> {
    /// Reads the description of a core. Time zero is set once all cores are known.
    #[must_use]
    pub fn new(number: u32, subgraph: &'a proto::Subgraph) -> Self {
        Self {
            number,
            subgraph,
            name: super::container::text(&subgraph.name).into_owned(),
            programs: Engine::ALL.map(|engine| EngineProgram::new(subgraph, engine)),
            clocks: subgraph.clocks.as_ref().map(CoreClocks::new).unwrap_or_default(),
            origin_ps: 0,
        }
    }

    /// The core's name in rows.
    #[must_use]
    pub fn qualified_name(&self) -> String {
        format!("/{}", self.name)
    }

    /// A track name that is unique to this core.
    #[must_use]
    pub fn own(&self, name: &str) -> String {
        name_on_core(name, self.number)
    }
}

/// The output: the sink, the tracks defined so far, and the receiver of progress.
pub struct NtffOutput<'s> {
    /// The receiver of all events.
    pub sink: &'s mut dyn Sink,
    /// The tree of tracks.
    pub tracks: NeuronTracks,
    /// Buffer for the next row's fields.
    pub(crate) room: FieldBuffer,
    progress: &'s mut dyn FnMut(u64),
    /// Bytes of the finished parts. The next field counts those of the current part.
    done_bytes: u64,
    part_bytes: u64,
    reported_bytes: u64,
    /// Tracks whose rows are promised to be ordered.
    in_order: FxHashSet<TrackId>,
}

/// Bytes between two reports of progress.
const REPORT_BYTES: u64 = 1 << 20;
/// Bytes of a record that count as done when it has been read. The others count when its row has
/// been written, which is most of the work.
const READ_BYTES: u64 = 4;

impl<'s> NtffOutput<'s> {
    /// An output without tracks.
    pub fn new(sink: &'s mut dyn Sink, progress: &'s mut dyn FnMut(u64)) -> Self {
        Self {
            sink,
            tracks: NeuronTracks::default(),
            room: FieldBuffer::new(),
            progress,
            done_bytes: 0,
            part_bytes: 0,
            reported_bytes: 0,
            in_order: FxHashSet::default(),
        }
    }

    /// Notes that a record has been read.
    pub fn record_read(&mut self) {
        self.advance(READ_BYTES);
    }

    /// Notes that this many records have been read.
    pub fn records_read(&mut self, records: u64) {
        self.advance(records * READ_BYTES);
    }

    /// Notes that a row has been written, which was made of this many records.
    pub fn row_written(&mut self, records: u64) {
        self.advance(records * (RECORD_LEN as u64 - READ_BYTES));
    }

    fn advance(&mut self, bytes: u64) {
        self.part_bytes += bytes;
        if self.done_bytes + self.part_bytes >= self.reported_bytes + REPORT_BYTES {
            self.report();
        }
    }

    /// Notes that a part of the file of `bytes` bytes is done, whatever was noted for its records.
    pub fn part_done(&mut self, bytes: u64) {
        self.done_bytes += bytes;
        self.part_bytes = 0;
        self.report();
    }

    fn report(&mut self) {
        self.reported_bytes = self.done_bytes + self.part_bytes;
        (self.progress)(self.reported_bytes);
    }

    /// Promises once that a track's rows are ordered by time.
    pub fn in_order(&mut self, track: TrackId) -> Result<TrackId, Error> {
        if self.in_order.insert(track) {
            self.sink.in_order(track)?;
        }
        Ok(track)
    }

    /// Counts a record with impossible contents.
    pub fn damaged(&mut self, what: &str, segment: &str, record: u64) {
        self.sink
            .warn(WarningKind::DamagedRecord, what, &|| format!("record {record} of the {segment} segment"));
    }

    /// Track of a counter of this core. Its samples must be ordered by time.
    pub fn counter(&mut self, core: &CoreProgram<'_>, counter: CounterTrack) -> Result<TrackId, Error> {
        let track = self.tracks.counter(self.sink, core.number, counter)?;
        self.in_order(track)
    }

    /// Track of a DMA engine's packets for a queue of this core. The packets must be ordered by
    /// time.
    pub fn packets(
        &mut self,
        core: &CoreProgram<'_>,
        name: &str,
        number: u8,
        engine: u8,
    ) -> Result<TrackId, Error> {
        let queue = Queue { name, number: Some(u32::from(number)) };
        let track = self.tracks.dma_packets(self.sink, core.number, queue, Some(u32::from(engine)))?;
        self.in_order(track)
    }

    /// Track of a queue's transfers of this core. The transfers must be ordered by time.
    pub fn transfers(&mut self, core: &CoreProgram<'_>, name: &str, number: u8) -> Result<TrackId, Error> {
        let queue = Queue { name, number: Some(u32::from(number)) };
        let track = self.tracks.dma_transfers(self.sink, core.number, queue)?;
        self.in_order(track)
    }
}

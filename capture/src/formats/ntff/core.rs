//! What the readers of all segments share: one core's program and clocks, and the way out.

use nprof_engine::model::track::Initially;
use nprof_engine::model::{Sink, TrackId, TrackSpec, Unit, WarningKind};

use super::clock::Clocks;
use super::engine::Engine;
use super::program::Program;
use super::proto;
use super::record::RECORD_LEN;
use crate::formats::Error;
use crate::formats::neuron::schema::{
    CounterTrack, DMA_THROUGHPUT, INSTRUCTION_USAGE, PENDING_DMA, Queue, Tracks,
};
use crate::formats::room::Room;

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
        if self.number == 0 { name.to_owned() } else { format!("{name} · core {}", self.number) }
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
    done_bytes: u64,
    records: u64,
    /// Counters' group of each core after the first.
    counter_groups: Vec<(u32, TrackId)>,
}

/// Progress is told every so many records.
const RECORDS_PER_REPORT: u64 = 1 << 16;

impl<'s> Output<'s> {
    /// A new one.
    pub fn new(sink: &'s mut dyn Sink, progress: &'s mut dyn FnMut(u64)) -> Self {
        Self {
            sink,
            tracks: Tracks::default(),
            room: Room::new(),
            progress,
            done_bytes: 0,
            records: 0,
            counter_groups: Vec::new(),
        }
    }

    /// Says that so many bytes have been read.
    pub fn advance(&mut self, bytes: u64) {
        self.done_bytes += bytes;
        (self.progress)(self.done_bytes);
    }

    /// Says that a record has been read.
    pub fn record_done(&mut self) {
        self.records += 1;
        if self.records == RECORDS_PER_REPORT {
            self.segment_done();
        }
    }

    /// Says that what has been read so far may be shown.
    pub fn segment_done(&mut self) {
        let bytes = std::mem::take(&mut self.records) * RECORD_LEN as u64;
        self.advance(bytes);
    }

    /// Counts a record that says something impossible.
    pub fn damaged(&mut self, what: &str, segment: &str, record: u64) {
        self.sink
            .warn(WarningKind::DamagedRecord, what, &|| format!("record {record} of the {segment} segment"));
    }

    /// The track of a counter of this core.
    ///
    /// # Errors
    /// The sink's own.
    pub fn counter(&mut self, core: &Core<'_>, counter: CounterTrack) -> Result<TrackId, Error> {
        if core.number == 0 {
            return Ok(self.tracks.counter(self.sink, counter)?);
        }
        let (name, table, unit) = match counter {
            CounterTrack::PendingDmas => ("Pending DMAs", &PENDING_DMA, Unit::Count),
            CounterTrack::DmaThroughput => ("DMA throughput", &DMA_THROUGHPUT, Unit::BytesPerSecond),
            CounterTrack::SbufUsage => ("SBUF usage", &INSTRUCTION_USAGE, Unit::Ratio),
            CounterTrack::PsumUsage => ("PSUM usage", &INSTRUCTION_USAGE, Unit::Ratio),
            CounterTrack::HbmUsage => {
                return Err(nprof_engine::base::Error::Invalid { what: "HBM usage has no cores" }.into());
            }
        };
        let known = self.counter_groups.iter().find(|(number, _)| *number == core.number);
        let group = match known {
            Some(&(_, group)) => group,
            None => {
                let spec = TrackSpec::group(&core.own("Counters"), None, 4);
                let group = self.sink.track(TrackSpec { initially: Initially::Closed, ..spec })?;
                self.counter_groups.push((core.number, group));
                group
            }
        };
        let table = self.sink.table(table.spec())?;
        Ok(self.sink.track(TrackSpec::counter(name, Some(group), table, unit, counter as i64))?)
    }

    /// The track of a DMA engine's packets for a queue of this core.
    ///
    /// # Errors
    /// The sink's own.
    pub fn packets(&mut self, core: &Core<'_>, name: &str, number: u8, engine: u8) -> Result<TrackId, Error> {
        let name = if name.is_empty() { String::new() } else { core.own(name) };
        let queue = Queue { name: &name, number: Some(u32::from(number)) };
        Ok(self.tracks.dma_packets(self.sink, queue, Some(u32::from(engine)))?)
    }
}

//! The tree of tracks that all Neuron profiles share.

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::model::track::Initially;
use crate::model::{Identity, Nesting, Role, Sink, TrackId, TrackSpec, Unit};

use super::EngineTrack;
use super::schema::{
    CC_INSTRUCTION, CC_OPS, DMA, DMA_THROUGHPUT, ERROR, HAM, HBM_USAGE, INSTRUCTION, INSTRUCTION_USAGE,
    PENDING_DMA, Queue, SBUF_ALLOCATION, SCRATCHPAD_ALLOCATION, SEMAPHORE_UPDATE, TableSchema,
};

/// A counter that any Neuron profile can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterTrack {
    /// Transfers that were started and not completed; table `pending_dma`.
    PendingDmas,
    /// Bytes per second of all packets in flight; table `dma_throughput`.
    DmaThroughput,
    /// Share of the state buffer in use; table `instruction_usage`.
    SbufUsage,
    /// Share of the partial-sum buffer in use; table `instruction_usage`.
    PsumUsage,
    /// Bytes of device memory in use; table `hbm_usage`.
    HbmUsage,
}

/// A memory whose ranges are in use for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NeuronMemory {
    /// The state buffer on the chip; table `sbuf_allocation`.
    StateBuffer,
    /// The scratchpad in device memory; table `scratchpad_allocation`.
    Scratchpad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NeuronTrackGroup {
    Engines,
    Dma,
    Collectives,
    Semaphores,
    Counters,
    Memory,
}

impl NeuronTrackGroup {
    /// Name, position among the groups, and whether the group starts open.
    fn heading(self) -> (&'static str, i64, Initially) {
        match self {
            Self::Engines => ("Engines", 0, Initially::Open),
            Self::Dma => ("DMA", 1, Initially::Open),
            Self::Collectives => ("Collectives", 2, Initially::Open),
            Self::Counters => ("Counters", 4, Initially::Open),
            Self::Semaphores => ("Semaphores", 5, Initially::Closed),
            Self::Memory => ("Memory", 6, Initially::Closed),
        }
    }
}

/// Defines the tracks of one rank on first use.
#[derive(Debug, Default)]
pub struct NeuronTracks {
    groups: FxHashMap<NeuronTrackGroup, TrackId>,
    /// Tracks by physical core, then by engine.
    engines: FxHashMap<u32, FxHashMap<String, TrackId>>,
    /// Tracks by core and number, then by name.
    queues: FxHashMap<(u32, Option<u32>), FxHashMap<String, QueueTracks>>,
    throttling: FxHashMap<u32, TrackId>,
    semaphores: FxHashMap<u32, FxHashMap<String, TrackId>>,
    counters: FxHashMap<(u32, CounterTrack), TrackId>,
    /// Counter groups of the cores after the first.
    counter_groups: FxHashMap<u32, TrackId>,
    streams: FxHashMap<Option<u32>, TrackId>,
    cc_cores: FxHashMap<u32, TrackId>,
    memories: FxHashMap<NeuronMemory, TrackId>,
    errors: Option<TrackId>,
}

#[derive(Debug)]
struct QueueTracks {
    group: TrackId,
    transfers: Option<TrackId>,
    packets: FxHashMap<Option<u32>, TrackId>,
}

/// A name that separates the items of a physical core from those of other cores. The first core has
/// no suffix.
#[must_use]
pub fn name_on_core(name: &str, core: u32) -> String {
    match (core, name) {
        (0, name) => name.to_owned(),
        (core, "") => format!("core {core}"),
        (core, name) => format!("{name} · core {core}"),
    }
}

/// Identity of a track of a physical core.
fn on_core(role: Role, core: u32, number: Option<u32>) -> Identity {
    Identity { core: Some(core), number, ..Identity::of(role) }
}

/// Groups sort their tracks by number. Named tracks come after them, from this position on.
const AFTER_NUMBERS: i64 = 1 << 32;

impl NeuronTracks {
    /// The track for the instructions of an engine, by a row's `label`. Matrix products have a
    /// track of their own with the role of the Tensor engine: they overlap the instructions that
    /// load the next weights. `core` is the physical core within the logical one.
    pub fn engine(&mut self, sink: &mut dyn Sink, label: &str, core: u32) -> Result<TrackId> {
        let name = if label.is_empty() { "Unknown engine" } else { label };
        if let Some(&track) = self.engines.get(&core).and_then(|engines| engines.get(name)) {
            return Ok(track);
        }
        let place = EngineTrack::ALL.iter().position(|track| track.name() == name);
        let sort = i64::from(core) * 16 + i64::try_from(place.unwrap_or(EngineTrack::ALL.len())).unwrap_or(0);
        let role =
            EngineTrack::from_label(name).map_or(Role::Unknown, |track| Role::Engine(track.engine().kind()));
        let shown = name_on_core(name, core);
        let track = self.slices(
            sink,
            &INSTRUCTION,
            NeuronTrackGroup::Engines,
            &shown,
            sort,
            on_core(role, core, None),
        )?;
        self.engines.entry(core).or_default().insert(name.to_owned(), track);
        Ok(track)
    }

    /// The track for the packets that one DMA engine moved for a queue of a physical core.
    pub fn dma_packets(
        &mut self,
        sink: &mut dyn Sink,
        core: u32,
        queue: Queue<'_>,
        engine: Option<u32>,
    ) -> Result<TrackId> {
        let tracks = self.queue(sink, core, queue)?;
        if let Some(&track) = tracks.packets.get(&engine) {
            return Ok(track);
        }
        let name = engine.map_or_else(|| "Unknown engine".to_owned(), |engine| format!("E{engine}"));
        let sort = engine.map_or(AFTER_NUMBERS, i64::from);
        let table = sink.table(DMA.spec())?;
        let spec = TrackSpec::slices(&name, Some(tracks.group), table, Nesting::Concurrent, sort);
        let track = sink.track(spec.showing(on_core(Role::Queue, core, queue.number)))?;
        tracks.packets.insert(engine, track);
        Ok(track)
    }

    /// The track for whole transfers of a queue of a physical core, each made of packets.
    pub fn dma_transfers(&mut self, sink: &mut dyn Sink, core: u32, queue: Queue<'_>) -> Result<TrackId> {
        let tracks = self.queue(sink, core, queue)?;
        if let Some(track) = tracks.transfers {
            return Ok(track);
        }
        let table = sink.table(DMA.spec())?;
        let spec = TrackSpec::slices("Transfers", Some(tracks.group), table, Nesting::Concurrent, -1);
        let track = sink.track(spec.showing(on_core(Role::Queue, core, queue.number)))?;
        tracks.transfers = Some(track);
        Ok(track)
    }

    fn queue(&mut self, sink: &mut dyn Sink, core: u32, queue: Queue<'_>) -> Result<&mut QueueTracks> {
        let key = (core, queue.number);
        let known = self.queues.get(&key).is_some_and(|names| names.contains_key(queue.name));
        let group = if known { None } else { Some(self.group(sink, NeuronTrackGroup::Dma)?) };
        let names = self.queues.entry(key).or_default();
        if let Some(parent) = group {
            let sort = queue.number.map_or(AFTER_NUMBERS, i64::from);
            let title = Queue { name: &name_on_core(queue.name, core), ..queue }.title();
            let group = sink.track(TrackSpec::group(&title, Some(parent), sort))?;
            let tracks = QueueTracks { group, transfers: None, packets: FxHashMap::default() };
            names.insert(queue.name.to_owned(), tracks);
        }
        names.get_mut(queue.name).ok_or(crate::base::Error::Invalid { what: "a queue without tracks" })
    }

    /// The track for throttled periods of a physical core.
    pub fn throttling(&mut self, sink: &mut dyn Sink, core: u32) -> Result<TrackId> {
        if let Some(&track) = self.throttling.get(&core) {
            return Ok(track);
        }
        let table = sink.table(HAM.spec())?;
        let name = name_on_core("Throttling", core);
        let spec = TrackSpec::slices(&name, None, table, Nesting::Concurrent, 3);
        let track = sink.track(spec.showing(on_core(Role::Throttling, core, None)))?;
        self.throttling.insert(core, track);
        Ok(track)
    }

    /// The track for the changes of one semaphore of a physical core, named as in a row's `id`.
    pub fn semaphore(&mut self, sink: &mut dyn Sink, core: u32, id: &str) -> Result<TrackId> {
        if let Some(&track) = self.semaphores.get(&core).and_then(|semaphores| semaphores.get(id)) {
            return Ok(track);
        }
        let digits = id.trim_start_matches("S[").split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        let number = digits.parse::<u32>().ok();
        let sort = number.map_or(AFTER_NUMBERS, i64::from);
        // The number alone, if the trace tells no owner.
        let is_bare = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        let title = if is_bare { format!("S[{id}]") } else { id.to_owned() };
        let (shown, identity) = (name_on_core(&title, core), on_core(Role::Semaphore, core, number));
        let track =
            self.slices(sink, &SEMAPHORE_UPDATE, NeuronTrackGroup::Semaphores, &shown, sort, identity)?;
        self.semaphores.entry(core).or_default().insert(id.to_owned(), track);
        Ok(track)
    }

    /// The track for a counter of a physical core. Counters of the first core stand with those that
    /// all cores share.
    pub fn counter(&mut self, sink: &mut dyn Sink, core: u32, counter: CounterTrack) -> Result<TrackId> {
        if let Some(&track) = self.counters.get(&(core, counter)) {
            return Ok(track);
        }
        let (name, table, unit, sort) = match counter {
            CounterTrack::PendingDmas => ("Pending DMAs", &PENDING_DMA, Unit::Count, 0),
            CounterTrack::DmaThroughput => ("DMA throughput", &DMA_THROUGHPUT, Unit::BytesPerSecond, 1),
            CounterTrack::SbufUsage => ("SBUF usage", &INSTRUCTION_USAGE, Unit::Ratio, 2),
            CounterTrack::PsumUsage => ("PSUM usage", &INSTRUCTION_USAGE, Unit::Ratio, 3),
            CounterTrack::HbmUsage => ("HBM usage", &HBM_USAGE, Unit::Bytes, 4),
        };
        let parent = self.counters_of(sink, core)?;
        let table = sink.table(table.spec())?;
        let identity = Identity { core: Some(core), ..Identity::default() };
        let track =
            sink.track(TrackSpec::counter(name, Some(parent), table, unit, sort).showing(identity))?;
        self.counters.insert((core, counter), track);
        Ok(track)
    }

    fn counters_of(&mut self, sink: &mut dyn Sink, core: u32) -> Result<TrackId> {
        if core == 0 {
            return self.group(sink, NeuronTrackGroup::Counters);
        }
        if let Some(&group) = self.counter_groups.get(&core) {
            return Ok(group);
        }
        let (name, sort, _) = NeuronTrackGroup::Counters.heading();
        let spec = TrackSpec::group(&name_on_core(name, core), None, sort);
        let group = sink.track(TrackSpec { initially: Initially::Closed, ..spec })?;
        self.counter_groups.insert(core, group);
        Ok(group)
    }

    /// The track for collective operations on a stream.
    pub fn collective_ops(&mut self, sink: &mut dyn Sink, stream: Option<u32>) -> Result<TrackId> {
        if let Some(&track) = self.streams.get(&stream) {
            return Ok(track);
        }
        let name = stream.map_or_else(|| "Operations".to_owned(), |stream| format!("Stream {stream}"));
        let identity = Identity { number: stream, ..Identity::of(Role::Collectives) };
        let sort = stream.map_or(-1, i64::from);
        let track = self.slices(sink, &CC_OPS, NeuronTrackGroup::Collectives, &name, sort, identity)?;
        self.streams.insert(stream, track);
        Ok(track)
    }

    /// The track for the steps of one core for collective communication.
    pub fn cc_core(&mut self, sink: &mut dyn Sink, core: u32) -> Result<TrackId> {
        if let Some(&track) = self.cc_cores.get(&core) {
            return Ok(track);
        }
        let (name, sort) = (format!("CC-core {core}"), AFTER_NUMBERS + i64::from(core));
        let identity = on_core(Role::CollectiveCore, core, None);
        let track =
            self.slices(sink, &CC_INSTRUCTION, NeuronTrackGroup::Collectives, &name, sort, identity)?;
        self.cc_cores.insert(core, track);
        Ok(track)
    }

    /// The track for ranges of a memory that are in use for a time.
    pub fn memory(&mut self, sink: &mut dyn Sink, memory: NeuronMemory) -> Result<TrackId> {
        if let Some(&track) = self.memories.get(&memory) {
            return Ok(track);
        }
        let (name, table, sort) = match memory {
            NeuronMemory::StateBuffer => ("SBUF", &SBUF_ALLOCATION, 0),
            NeuronMemory::Scratchpad => ("Scratchpad", &SCRATCHPAD_ALLOCATION, 1),
        };
        let track = self.slices(sink, table, NeuronTrackGroup::Memory, name, sort, Identity::default())?;
        self.memories.insert(memory, track);
        Ok(track)
    }

    /// The track for errors of the hardware.
    pub fn errors(&mut self, sink: &mut dyn Sink) -> Result<TrackId> {
        if let Some(track) = self.errors {
            return Ok(track);
        }
        let table = sink.table(ERROR.spec())?;
        let track = sink.track(TrackSpec::slices("Errors", None, table, Nesting::Concurrent, 7))?;
        self.errors = Some(track);
        Ok(track)
    }

    fn slices(
        &mut self,
        sink: &mut dyn Sink,
        table: &TableSchema,
        group: NeuronTrackGroup,
        name: &str,
        sort: i64,
        identity: Identity,
    ) -> Result<TrackId> {
        let parent = self.group(sink, group)?;
        let table = sink.table(table.spec())?;
        let spec = TrackSpec::slices(name, Some(parent), table, Nesting::Concurrent, sort);
        sink.track(spec.showing(identity))
    }

    fn group(&mut self, sink: &mut dyn Sink, group: NeuronTrackGroup) -> Result<TrackId> {
        if let Some(&track) = self.groups.get(&group) {
            return Ok(track);
        }
        let (name, sort, initially) = group.heading();
        let track = sink.track(TrackSpec { initially, ..TrackSpec::group(name, None, sort) })?;
        self.groups.insert(group, track);
        Ok(track)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Recorder;
    use crate::model::EngineKind;

    use super::*;

    #[test]
    fn each_track_is_defined_once_and_stands_in_its_group() {
        let mut sink = Recorder::default();
        let mut tracks = NeuronTracks::default();
        let queue = Queue { name: "qSyncIO0", number: Some(1) };
        let mut paths = Vec::new();
        for _ in 0..2 {
            let defined = [
                tracks.engine(&mut sink, "TensorMatrix", 0).unwrap(),
                tracks.engine(&mut sink, "Tensor", 1).unwrap(),
                tracks.dma_packets(&mut sink, 0, queue, Some(3)).unwrap(),
                tracks.dma_transfers(&mut sink, 1, queue).unwrap(),
                tracks.throttling(&mut sink, 0).unwrap(),
                tracks.semaphore(&mut sink, 0, "S[8] (qSyncIO0)").unwrap(),
                tracks.semaphore(&mut sink, 0, "9").unwrap(),
                tracks.counter(&mut sink, 0, CounterTrack::PendingDmas).unwrap(),
                tracks.counter(&mut sink, 1, CounterTrack::PendingDmas).unwrap(),
                tracks.collective_ops(&mut sink, None).unwrap(),
                tracks.cc_core(&mut sink, 8).unwrap(),
                tracks.memory(&mut sink, NeuronMemory::StateBuffer).unwrap(),
                tracks.memory(&mut sink, NeuronMemory::Scratchpad).unwrap(),
                tracks.errors(&mut sink).unwrap(),
            ];
            paths.push(defined.map(|track| sink.path(track)));
        }
        assert_eq!(paths[0], paths[1]);
        assert_eq!(
            paths[0],
            [
                "Engines/TensorMatrix",
                "Engines/Tensor · core 1",
                "DMA/qSyncIO0 · Q1/E3",
                "DMA/qSyncIO0 · core 1 · Q1/Transfers",
                "Throttling",
                "Semaphores/S[8] (qSyncIO0)",
                "Semaphores/S[9]",
                "Counters/Pending DMAs",
                "Counters · core 1/Pending DMAs",
                "Collectives/Operations",
                "Collectives/CC-core 8",
                "Memory/SBUF",
                "Memory/Scratchpad",
                "Errors",
            ]
        );
        assert_eq!(sink.tracks.iter().filter(|track| track.name == "Engines").count(), 1);
    }

    #[test]
    fn a_track_says_what_it_shows() {
        let mut sink = Recorder::default();
        let mut tracks = NeuronTracks::default();
        let queue = Queue { name: "qSyncIO0", number: Some(7) };
        let matrix = tracks.engine(&mut sink, "TensorMatrix", 1).unwrap();
        let packets = tracks.dma_packets(&mut sink, 0, queue, Some(3)).unwrap();
        let semaphore = tracks.semaphore(&mut sink, 0, "S[8] (qSyncIO0)").unwrap();
        let stranger = tracks.engine(&mut sink, "Sparse", 0).unwrap();
        let identity = |track: TrackId| sink.tracks[track.0 as usize].identity;
        let tensor = Role::Engine(EngineKind::Tensor);
        assert_eq!(identity(matrix), Identity { core: Some(1), ..Identity::of(tensor) });
        assert_eq!(identity(packets), on_core(Role::Queue, 0, Some(7)));
        assert_eq!(identity(semaphore), on_core(Role::Semaphore, 0, Some(8)));
        assert_eq!(identity(stranger), on_core(Role::Unknown, 0, None));
    }
}

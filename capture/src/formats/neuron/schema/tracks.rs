//! The tree of tracks that all Neuron profiles share.

use std::collections::HashMap;

use nprof_engine::base::Result;
use nprof_engine::model::track::Initially;
use nprof_engine::model::{Nesting, Sink, TrackId, TrackSpec, Unit};

use super::{
    CC_INSTRUCTION, CC_OPS, DMA, DMA_THROUGHPUT, HAM, HBM_USAGE, INSTRUCTION, INSTRUCTION_USAGE, PENDING_DMA,
    Queue, SEMAPHORE_UPDATE, Table,
};

/// A counter that every Neuron profile may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterTrack {
    /// Transfers that have been set off and not completed; table `pending_dma`.
    PendingDmas,
    /// Bytes a second of all packets in flight; table `dma_throughput`.
    DmaThroughput,
    /// Share of the state buffer in use; table `instruction_usage`.
    SbufUsage,
    /// Share of the partial-sum buffer in use; table `instruction_usage`.
    PsumUsage,
    /// Bytes of device memory in use; table `hbm_usage`.
    HbmUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Group {
    Engines,
    Dma,
    Collectives,
    Semaphores,
    Counters,
}

/// Defines the tracks of one rank on first use.
#[derive(Debug, Default)]
pub struct Tracks {
    groups: HashMap<Group, TrackId>,
    /// By physical core, then by engine.
    engines: HashMap<u32, HashMap<String, TrackId>>,
    /// By number, then by name.
    queues: HashMap<Option<u32>, HashMap<String, QueueTracks>>,
    throttling: HashMap<u32, TrackId>,
    semaphores: HashMap<String, TrackId>,
    counters: HashMap<CounterTrack, TrackId>,
    streams: HashMap<Option<u32>, TrackId>,
    cc_cores: HashMap<u32, TrackId>,
}

#[derive(Debug)]
struct QueueTracks {
    group: TrackId,
    transfers: Option<TrackId>,
    packets: HashMap<Option<u32>, TrackId>,
}

/// Tracks below the groups that are sorted by a number come in its order; names come after them.
const AFTER_NUMBERS: i64 = 1 << 32;

impl Tracks {
    /// For the instructions of an engine, by a row's `label` (matrix multiplications are the Tensor engine's) and the
    /// physical core within the logical one.
    ///
    /// # Errors
    /// The sink's own.
    pub fn engine(&mut self, sink: &mut dyn Sink, label: &str, core: u32) -> Result<TrackId> {
        let name = match label {
            "TensorMatrix" => "Tensor",
            "" => "Unknown engine",
            name => name,
        };
        if let Some(&track) = self.engines.get(&core).and_then(|engines| engines.get(name)) {
            return Ok(track);
        }
        let order = ["Tensor", "Vector", "Scalar", "GpSimd", "Sync"];
        let place = order.iter().position(|known| *known == name).unwrap_or(order.len());
        let sort = i64::from(core) * 16 + i64::try_from(place).unwrap_or(0);
        let shown = if core == 0 { name.to_owned() } else { format!("{name} · core {core}") };
        let track = self.slices(sink, &INSTRUCTION, Group::Engines, &shown, sort)?;
        self.engines.entry(core).or_default().insert(name.to_owned(), track);
        Ok(track)
    }

    /// For the packets that one DMA engine moved for a queue.
    ///
    /// # Errors
    /// The sink's own.
    pub fn dma_packets(
        &mut self,
        sink: &mut dyn Sink,
        queue: Queue<'_>,
        engine: Option<u32>,
    ) -> Result<TrackId> {
        let tracks = self.queue(sink, queue)?;
        if let Some(&track) = tracks.packets.get(&engine) {
            return Ok(track);
        }
        let name = engine.map_or_else(|| "Unknown engine".to_owned(), |engine| format!("E{engine}"));
        let sort = engine.map_or(AFTER_NUMBERS, i64::from);
        let table = sink.table(DMA.spec())?;
        let spec = TrackSpec::slices(&name, Some(tracks.group), table, Nesting::Concurrent, sort);
        let track = sink.track(spec)?;
        tracks.packets.insert(engine, track);
        Ok(track)
    }

    /// For a queue's whole transfers, each made of packets.
    ///
    /// # Errors
    /// The sink's own.
    pub fn dma_transfers(&mut self, sink: &mut dyn Sink, queue: Queue<'_>) -> Result<TrackId> {
        let tracks = self.queue(sink, queue)?;
        if let Some(track) = tracks.transfers {
            return Ok(track);
        }
        let table = sink.table(DMA.spec())?;
        let spec = TrackSpec::slices("Transfers", Some(tracks.group), table, Nesting::Concurrent, -1);
        let track = sink.track(spec)?;
        tracks.transfers = Some(track);
        Ok(track)
    }

    fn queue(&mut self, sink: &mut dyn Sink, queue: Queue<'_>) -> Result<&mut QueueTracks> {
        let known = self.queues.get(&queue.number).is_some_and(|names| names.contains_key(queue.name));
        let group = if known { None } else { Some(self.group(sink, Group::Dma)?) };
        let names = self.queues.entry(queue.number).or_default();
        if let Some(parent) = group {
            let sort = queue.number.map_or(AFTER_NUMBERS, i64::from);
            let group = sink.track(TrackSpec::group(&queue.title(), Some(parent), sort))?;
            let tracks = QueueTracks { group, transfers: None, packets: HashMap::new() };
            names.insert(queue.name.to_owned(), tracks);
        }
        names.get_mut(queue.name).ok_or(nprof_engine::base::Error::Invalid { what: "a queue without tracks" })
    }

    /// For the periods in which a physical core limited itself.
    ///
    /// # Errors
    /// The sink's own.
    pub fn throttling(&mut self, sink: &mut dyn Sink, core: u32) -> Result<TrackId> {
        if let Some(&track) = self.throttling.get(&core) {
            return Ok(track);
        }
        let name = if core == 0 { "Throttling".to_owned() } else { format!("Throttling · core {core}") };
        let table = sink.table(HAM.spec())?;
        let track = sink.track(TrackSpec::slices(&name, None, table, Nesting::Concurrent, 3))?;
        self.throttling.insert(core, track);
        Ok(track)
    }

    /// For the changes of one semaphore, by its name as in a row's `id`.
    ///
    /// # Errors
    /// The sink's own.
    pub fn semaphore(&mut self, sink: &mut dyn Sink, id: &str) -> Result<TrackId> {
        if let Some(&track) = self.semaphores.get(id) {
            return Ok(track);
        }
        let digits = id.trim_start_matches("S[").split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        let sort = digits.parse::<u32>().map_or(AFTER_NUMBERS, i64::from);
        let track = self.slices(sink, &SEMAPHORE_UPDATE, Group::Semaphores, id, sort)?;
        self.semaphores.insert(id.to_owned(), track);
        Ok(track)
    }

    /// For a counter.
    ///
    /// # Errors
    /// The sink's own.
    pub fn counter(&mut self, sink: &mut dyn Sink, counter: CounterTrack) -> Result<TrackId> {
        if let Some(&track) = self.counters.get(&counter) {
            return Ok(track);
        }
        let (name, table, unit, sort) = match counter {
            CounterTrack::PendingDmas => ("Pending DMAs", &PENDING_DMA, Unit::Count, 0),
            CounterTrack::DmaThroughput => ("DMA throughput", &DMA_THROUGHPUT, Unit::BytesPerSecond, 1),
            CounterTrack::SbufUsage => ("SBUF usage", &INSTRUCTION_USAGE, Unit::Ratio, 2),
            CounterTrack::PsumUsage => ("PSUM usage", &INSTRUCTION_USAGE, Unit::Ratio, 3),
            CounterTrack::HbmUsage => ("HBM usage", &HBM_USAGE, Unit::Bytes, 4),
        };
        let parent = self.group(sink, Group::Counters)?;
        let table = sink.table(table.spec())?;
        let track = sink.track(TrackSpec::counter(name, Some(parent), table, unit, sort))?;
        self.counters.insert(counter, track);
        Ok(track)
    }

    /// For collective operations, by the stream that they run on.
    ///
    /// # Errors
    /// The sink's own.
    pub fn collective_ops(&mut self, sink: &mut dyn Sink, stream: Option<u32>) -> Result<TrackId> {
        if let Some(&track) = self.streams.get(&stream) {
            return Ok(track);
        }
        let name = stream.map_or_else(|| "Operations".to_owned(), |stream| format!("Stream {stream}"));
        let track = self.slices(sink, &CC_OPS, Group::Collectives, &name, stream.map_or(-1, i64::from))?;
        self.streams.insert(stream, track);
        Ok(track)
    }

    /// For the steps of one core for collective communication.
    ///
    /// # Errors
    /// The sink's own.
    pub fn cc_core(&mut self, sink: &mut dyn Sink, core: u32) -> Result<TrackId> {
        if let Some(&track) = self.cc_cores.get(&core) {
            return Ok(track);
        }
        let (name, sort) = (format!("CC-core {core}"), AFTER_NUMBERS + i64::from(core));
        let track = self.slices(sink, &CC_INSTRUCTION, Group::Collectives, &name, sort)?;
        self.cc_cores.insert(core, track);
        Ok(track)
    }

    fn slices(
        &mut self,
        sink: &mut dyn Sink,
        table: &Table,
        group: Group,
        name: &str,
        sort: i64,
    ) -> Result<TrackId> {
        let parent = self.group(sink, group)?;
        let table = sink.table(table.spec())?;
        sink.track(TrackSpec::slices(name, Some(parent), table, Nesting::Concurrent, sort))
    }

    fn group(&mut self, sink: &mut dyn Sink, group: Group) -> Result<TrackId> {
        if let Some(&track) = self.groups.get(&group) {
            return Ok(track);
        }
        let (name, sort, initially) = match group {
            Group::Engines => ("Engines", 0, Initially::Open),
            Group::Dma => ("DMA", 1, Initially::Open),
            Group::Collectives => ("Collectives", 2, Initially::Open),
            Group::Counters => ("Counters", 4, Initially::Open),
            Group::Semaphores => ("Semaphores", 5, Initially::Closed),
        };
        let track = sink.track(TrackSpec { initially, ..TrackSpec::group(name, None, sort) })?;
        self.groups.insert(group, track);
        Ok(track)
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;

    use super::*;

    #[test]
    fn each_track_is_defined_once_and_stands_in_its_group() {
        let mut sink = Recorder::default();
        let mut tracks = Tracks::default();
        let queue = Queue { name: "qSyncIO0", number: Some(1) };
        let mut paths = Vec::new();
        for _ in 0..2 {
            let defined = [
                tracks.engine(&mut sink, "TensorMatrix", 0).unwrap(),
                tracks.engine(&mut sink, "Tensor", 1).unwrap(),
                tracks.dma_packets(&mut sink, queue, Some(3)).unwrap(),
                tracks.dma_transfers(&mut sink, queue).unwrap(),
                tracks.throttling(&mut sink, 0).unwrap(),
                tracks.semaphore(&mut sink, "S[8] (qSyncIO0)").unwrap(),
                tracks.counter(&mut sink, CounterTrack::PendingDmas).unwrap(),
                tracks.collective_ops(&mut sink, None).unwrap(),
                tracks.cc_core(&mut sink, 8).unwrap(),
            ];
            paths.push(defined.map(|track| sink.path(track)));
        }
        assert_eq!(paths[0], paths[1]);
        assert_eq!(
            paths[0],
            [
                "Engines/Tensor",
                "Engines/Tensor · core 1",
                "DMA/qSyncIO0 · Q1/E3",
                "DMA/qSyncIO0 · Q1/Transfers",
                "Throttling",
                "Semaphores/S[8] (qSyncIO0)",
                "Counters/Pending DMAs",
                "Collectives/Operations",
                "Collectives/CC-core 8",
            ]
        );
        assert_eq!(sink.tracks.iter().filter(|track| track.name == "Engines").count(), 1);
    }
}

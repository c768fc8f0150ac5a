//! Tracks of the transfers, of the semaphores and of the collective operations of a rank.

use nprof_engine::base::Result;
use nprof_engine::makers::neuron::NeuronTracks;
use nprof_engine::makers::neuron::schema::{CcInstruction, CcOps, Queue};
use nprof_engine::model::{NameId, Sink, TrackId};

use super::queue::{DMA_ENGINES, QueuePlan};
use super::semaphore::Semaphore;

/// Numbers of the cores for collective communication.
pub(super) const CORES: [u32; 4] = [8, 9, 10, 11];

/// Number of steps in which a core moves its part of the data.
pub(super) const ADVANCES: i64 = 3;

/// The tracks of a queue and the texts of its rows.
#[derive(Debug)]
pub(super) struct RingTracks {
    pub(super) transfers: TrackId,
    pub(super) packets: Vec<TrackId>,
}

impl RingTracks {
    pub(super) fn new(queue: &QueuePlan, tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        let of = Queue { name: queue.name, number: Some(queue.number) };
        let transfers = tracks.dma_transfers(sink, 0, of)?;
        let packets = (0..DMA_ENGINES).map(|engine| tracks.dma_packets(sink, 0, of, Some(engine)));
        Ok(Self { transfers, packets: packets.collect::<Result<_>>()? })
    }
}

/// The track of a semaphore, and the name of its updates.
#[derive(Debug, Clone, Copy)]
pub(super) struct SemaphoreTrack {
    pub(super) track: TrackId,
    pub(super) name: NameId,
}

impl SemaphoreTrack {
    pub(super) fn new(of: Semaphore, tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        let id = of.id();
        Ok(Self { track: tracks.semaphore(sink, 0, &id)?, name: sink.name(&id)? })
    }
}

/// The tracks of collective operations, with the tables and names of their rows.
#[derive(Debug)]
pub(super) struct CollectiveTracks {
    pub(super) ranks: i64,
    pub(super) replica_group: String,
    pub(super) stream: TrackId,
    pub(super) cores: Vec<(u32, TrackId)>,
    pub(super) ops: CcOps,
    pub(super) steps: CcInstruction,
    pub(super) wait: NameId,
    pub(super) advance: NameId,
}

impl CollectiveTracks {
    pub(super) fn new(ranks: u32, tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<Self> {
        let members: Vec<String> = (0..ranks).map(|rank| rank.to_string()).collect();
        let stream = tracks.collective_ops(sink, Some(0))?;
        let cores = CORES.iter().map(|&core| Ok((core, tracks.cc_core(sink, core)?)));
        let cores = cores.collect::<Result<_>>()?;
        Ok(Self {
            ranks: i64::from(ranks),
            replica_group: format!("[[{}]]", members.join(", ")),
            stream,
            cores,
            ops: CcOps::define(sink)?,
            steps: CcInstruction::define(sink)?,
            wait: sink.name("WAIT_FOR_RANKS")?,
            advance: sink.name("DMA_ADVANCE")?,
        })
    }
}

//! Names of the parts of a device that wait and are awaited: engines with all their lines, DMA
//! queues on all their engines.

use crate::makers::neuron::schema::Queue;
use crate::makers::neuron::{Engine, name_on_core};
use crate::model::{EdgeReason, RankWork, Role, TrackId, WorkQueue};
use crate::segment::{Bytes, Segment};
use rustc_hash::FxHashMap;

/// For each queue the name of its party.
pub(super) fn names<B: Bytes>(segment: &Segment<B>, work: &RankWork) -> Vec<String> {
    let spec = |track: TrackId| &segment.footer().tracks[track.0 as usize].spec;
    let group_of = |queue: &WorkQueue| spec(queue.track).parent.unwrap_or(queue.track);
    // The trace gives the queues of transfers that are set up during the run only a number. The
    // names of the semaphores that they change have their name.
    let mut by_semaphore: FxHashMap<TrackId, &str> = FxHashMap::default();
    for edge in work.edges.iter().filter(|edge| edge.reason == EdgeReason::Transfer) {
        let node = work.nodes.get(edge.from as usize);
        let queue = node.map(|node| work.queue_of(node)).filter(|queue| queue.identity.role == Role::Queue);
        let semaphore = work.semaphores.get(edge.semaphore as usize);
        let name = semaphore.and_then(|of| Some(of.name.split_once(" (")?.1.split_once(')')?.0));
        if let (Some(queue), Some(name)) = (queue, name) {
            by_semaphore.entry(group_of(queue)).or_insert(name);
        }
    }
    let name = |(queue, of_track): (&WorkQueue, &String)| {
        let core = queue.identity.core.unwrap_or(0);
        match queue.identity.role {
            Role::Engine(kind) => {
                let engine = Engine::ALL.into_iter().find(|engine| engine.kind() == kind);
                engine.map_or_else(|| of_track.clone(), |engine| name_on_core(engine.name(), core))
            }
            Role::Queue => {
                let group = group_of(queue);
                let title = &spec(group).name;
                match by_semaphore.get(&group).filter(|name| !title.contains(**name)) {
                    Some(name) => {
                        let name = name_on_core(name, core);
                        Queue { name: &name, number: queue.identity.number }.title()
                    }
                    None => title.clone(),
                }
            }
            _ => of_track.clone(),
        }
    };
    work.queues.iter().zip(&work.queue_names).map(name).collect()
}

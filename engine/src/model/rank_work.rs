//! The work of one rank in words of no vendor: what ran on which queue, and which call of the host
//! launched it. [`crate::makers::work`] reads it, and [`crate::insight`] replays it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::edge_list::EdgeList;
use super::stated_edge::{NOBODY, StatedEdge, WaitCounts};
use super::{Identity, MachineSide, TrackId};
use crate::base::{ClockFit, Result, Time};
use crate::exec::{Exec, sort_by_key};
use crate::spill::{Shelf, Shelved};

/// [`RankWork::launches`] of work whose launch is not known.
pub const NO_LAUNCH: u32 = u32::MAX;

/// A slice that runs as one piece: a kernel, a transfer, an instruction, or a call of the host that
/// launches or awaits such work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct WorkNode {
    /// Start in picoseconds.
    pub start_ps: i64,
    /// Duration in picoseconds; not negative.
    pub duration_ps: i64,
    /// Position in [`RankWork::classes`].
    pub class: u32,
    /// Row in the segment.
    pub row: u32,
}

impl WorkNode {
    /// End in picoseconds.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.start_ps.saturating_add(self.duration_ps)
    }
}

/// [`WorkClass::layer`] of work without a layer.
pub const NO_LAYER: u32 = u32::MAX;

/// Nodes of one name and layer on one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkClass {
    /// Position in [`RankWork::queues`].
    pub queue: u32,
    /// Number of the name in the segment.
    pub name: u32,
    /// Number of the layer's name in the segment, or [`NO_LAYER`].
    pub layer: u32,
}

/// One non-overlapping line of a track: its nodes run one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkQueue {
    /// The track.
    pub track: TrackId,
    /// Number of the line in the track.
    pub lane: u32,
    /// The part of the machine that the track shows.
    pub identity: Identity,
    /// The side of the machine on which the nodes run. The threads of a job without a device are
    /// its device.
    pub side: MachineSide,
}

/// A semaphore that work waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSemaphore {
    /// Its number.
    pub number: u32,
    /// Its name for people, with the number.
    pub name: String,
}

/// A call of the host, with the work of its thread before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct HostWork {
    /// Time in which the thread worked since the call before, in picoseconds.
    pub busy_ps: i64,
    /// Position of the node of the call. It has eight bytes, as the time has.
    node: u64,
}

impl HostWork {
    /// The work before the call that is the node at this position.
    #[must_use]
    pub fn new(node: u32, busy_ps: i64) -> Self {
        Self { busy_ps, node: u64::from(node) }
    }

    /// Position of the node.
    #[must_use]
    pub fn node(&self) -> u32 {
        self.node as u32
    }
}

/// The work of a rank, in the order of starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankWork {
    /// All queues.
    pub queues: Vec<WorkQueue>,
    /// All classes.
    pub classes: Vec<WorkClass>,
    /// All nodes, ascending by start, then by row.
    pub nodes: Shelved<WorkNode>,
    /// For each node the position of the node that launched it, or [`NO_LAUNCH`]. Empty if no
    /// launch is known.
    pub launches: Shelved<u32>,
    /// The calls of the host, ascending by node.
    pub host: Shelved<HostWork>,
    /// The name of the track of each queue.
    pub queue_names: Vec<String>,
    /// For each queue the name of the part of the machine that waits and is awaited: an engine with
    /// all its lines, a queue on all its engines. Empty if it is the track.
    pub parties: Vec<String>,
    /// For each queue whether [`Self::edges`] has all that its work waits for. Empty if nothing is
    /// stated for any queue.
    pub is_stated: Vec<bool>,
    /// Edges that the recording states, by node.
    pub edges: EdgeList,
    /// The semaphores of edges.
    pub semaphores: Vec<WorkSemaphore>,
    /// Counts of the waits that the recording states.
    pub waits: WaitCounts,
    /// The names of the classes and layers by their numbers.
    pub names: FxHashMap<u32, String>,
}

impl RankWork {
    /// The text of a name.
    #[must_use]
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(&number).map(String::as_str)
    }

    /// The position of the node that launched another one.
    #[must_use]
    pub fn launch(&self, node: u32) -> Option<u32> {
        self.launches.get(node as usize).copied().filter(|launch| *launch != NO_LAUNCH)
    }

    /// The node that launched another one.
    #[must_use]
    pub fn launching(&self, node: u32) -> Option<&WorkNode> {
        self.nodes.get(self.launch(node)? as usize)
    }

    /// Notes that a node was launched by another one.
    pub fn set_launch(&mut self, node: u32, by: u32) {
        let (nodes, launches) = (self.nodes.len(), self.launches.make_mut());
        launches.resize(nodes.max(launches.len()), NO_LAUNCH);
        launches[node as usize] = by;
    }

    /// Puts all long lists on a shelf, the edges beside the others.
    pub fn shelve(&mut self, shelf: &dyn Shelf, exec: &dyn Exec) -> Result<()> {
        let Self { nodes, launches, host, edges, .. } = self;
        let (mut of_edges, mut of_others) = (Ok(()), Ok(()));
        exec.beside(&mut || of_edges = edges.shelve(shelf), &mut || {
            of_others =
                nodes.shelve(shelf).and_then(|()| launches.shelve(shelf)).and_then(|()| host.shelve(shelf));
        });
        of_edges.and(of_others)
    }

    /// The name of the track of a queue.
    #[must_use]
    pub fn track_name(&self, queue: u32) -> &str {
        self.queue_names[queue as usize].trim()
    }

    /// The queue of a node.
    #[must_use]
    pub fn queue_of(&self, node: &WorkNode) -> &WorkQueue {
        &self.queues[self.classes[node.class as usize].queue as usize]
    }

    /// The name of the party of a queue.
    #[must_use]
    pub fn party(&self, queue: u32) -> &str {
        let names = if self.parties.is_empty() { &self.queue_names } else { &self.parties };
        names.get(queue as usize).map_or("", |name| name.trim())
    }

    /// Whether any work ran on a device.
    #[must_use]
    pub fn has_device(&self) -> bool {
        self.queues.iter().any(|queue| queue.side == MachineSide::Device)
    }

    /// Whether the recording states all that the work of a queue waits for.
    #[must_use]
    pub fn states_waits(&self, queue: u32) -> bool {
        self.is_stated.get(queue as usize).copied().unwrap_or(false)
    }

    /// Moves all times from the clock of a segment to that of all ranks.
    pub fn to_shared_clock(&mut self, clock: &ClockFit) {
        let shared = |time_ps: i64| clock.to_shared(Time(time_ps)).0;
        for node in self.nodes.make_mut() {
            let (start_ps, end_ps) = (shared(node.start_ps), shared(node.end_ps()));
            (node.start_ps, node.duration_ps) = (start_ps, end_ps.saturating_sub(start_ps).max(0));
        }
        self.edges.change(|edge| StatedEdge {
            since_ps: edge.since_ps.map(shared),
            met_ps: shared(edge.met_ps),
            ..edge
        });
    }

    /// Sorts the nodes by start, and keeps their links.
    pub fn sort(&mut self, exec: &dyn Exec) {
        let key = |node: &WorkNode| (node.start_ps, node.row);
        if !self.nodes.is_sorted_by_key(key) {
            // Tracks come one after the other, each in its order: a stable sort merges them.
            let keyed = (0_u32..).zip(&self.nodes).map(|(at, node)| (node.start_ps, node.row, at));
            let mut keyed: Vec<(i64, u32, u32)> = keyed.collect();
            sort_by_key(exec, &mut keyed, |key| *key);
            let order: Vec<u32> = keyed.into_iter().map(|(_, _, at)| at).collect();
            self.reorder(&order, exec);
        }
        self.edges.sort(exec);
    }

    /// Puts the nodes into an order of their positions.
    fn reorder(&mut self, order: &[u32], exec: &dyn Exec) {
        let mut places = vec![0_u32; order.len()];
        for (place, &at) in (0_u32..).zip(order) {
            places[at as usize] = place;
        }
        let place = |at: u32| places.get(at as usize).copied().unwrap_or(NO_LAUNCH);
        let (nodes, edges) = (&self.nodes[..], &mut self.edges);
        let mut moved = Shelved::default();
        exec.beside(
            &mut || {
                edges.change(|edge| StatedEdge {
                    node: place(edge.node),
                    from: places.get(edge.from as usize).copied().unwrap_or(NOBODY),
                    ..edge
                });
            },
            &mut || moved = order.iter().map(|&at| nodes[at as usize]).collect(),
        );
        self.nodes = moved;
        if !self.launches.is_empty() {
            // Nodes that came later have no launch.
            let launch = |&at: &u32| self.launches.get(at as usize).map_or(NO_LAUNCH, |by| place(*by));
            self.launches = order.iter().map(launch).collect();
        }
        let host = self.host.make_mut();
        for call in &mut *host {
            *call = HostWork::new(place(call.node()), call.busy_ps);
        }
        host.sort_unstable_by_key(|call| call.node);
    }
}

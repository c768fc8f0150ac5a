//! Reads the work of a rank track by track.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::call_columns::first_row;
use crate::base::Result;
use crate::exec::{Cancel, Exec};
use crate::model::rank_work::NO_LAYER;
use crate::model::{
    MachineSide, NameId, RankWork, Role, SliceForm, TableId, TrackId, WorkClass, WorkNode, WorkQueue, is_wait,
};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Whether slices of this role are work of a device that a replay moves.
pub(super) fn is_device_work(role: Role) -> bool {
    matches!(role, Role::Engine(_) | Role::Queue | Role::Kernels | Role::CollectiveCore)
}

/// A slice that ran to its end. Times are in picoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedSlice {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    pub(super) name: u32,
    pub(super) lane: u32,
    pub(super) row: u32,
    /// Number of the layer's name, or [`NO_LAYER`].
    pub(super) layer: u32,
    /// Position in its block.
    pub(super) at: usize,
}

/// Collects nodes with their queues and classes.
pub(super) struct WorkReader<'s, B> {
    pub(super) segment: &'s Segment<B>,
    pub(super) cancel: Cancel<'s>,
    pub(super) work: RankWork,
    classes: FxHashMap<WorkClass, u32>,
    queues: FxHashMap<WorkQueue, u32>,
    /// The queue of the last node: many nodes of one queue follow each other.
    last_queue: Option<(WorkQueue, u32)>,
    /// Whether a name is that of a wait.
    waits: FxHashMap<u32, bool>,
}

impl<'s, B: Bytes> WorkReader<'s, B> {
    pub(super) fn new(segment: &'s Segment<B>, cancel: Cancel<'s>) -> Self {
        Self {
            segment,
            cancel,
            work: RankWork::default(),
            classes: FxHashMap::default(),
            queues: FxHashMap::default(),
            last_queue: None,
            waits: FxHashMap::default(),
        }
    }

    /// The slices of a block that ran to their ends, in the order of starts.
    pub(super) fn slices(&self, table: TableId, block: usize) -> Result<Vec<EndedSlice>> {
        self.cancel.check()?;
        let mut core = BlockReader::new(self.segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = core.core_ints(ColumnRole::Name)?;
        let lanes = core.core_ints(ColumnRole::Lane)?;
        let forms = core.core_ints(ColumnRole::Form)?;
        let first = first_row(self.segment, table, block)?;
        let mut slices = Vec::with_capacity(starts.len());
        for (at, row) in (0..starts.len()).zip(first..) {
            if forms[at] != i64::from(SliceForm::Complete.code()) {
                continue;
            }
            slices.push(EndedSlice {
                start_ps: starts[at],
                end_ps: starts[at].saturating_add(durations[at].max(0)),
                name: u32::try_from(names[at]).unwrap_or_default(),
                lane: u32::try_from(lanes[at]).unwrap_or_default(),
                row,
                layer: NO_LAYER,
                at,
            });
        }
        Ok(slices)
    }

    /// Adds a node, and returns its position for the time being.
    pub(super) fn add(&mut self, slice: EndedSlice, track: TrackId, side: MachineSide) -> u32 {
        let identity = self.segment.footer().tracks[track.0 as usize].spec.identity;
        let queue = WorkQueue { track, lane: slice.lane, identity, side };
        let queue = match self.last_queue {
            Some((last, at)) if last == queue => at,
            _ => self.queue(queue),
        };
        let class = self.class(WorkClass { queue, name: slice.name, layer: slice.layer });
        let duration_ps = slice.end_ps.saturating_sub(slice.start_ps);
        let node = WorkNode { start_ps: slice.start_ps, duration_ps, class, row: slice.row };
        push(self.work.nodes.make_mut(), node)
    }

    fn queue(&mut self, queue: WorkQueue) -> u32 {
        let queues = &mut self.work.queues;
        let at = *self.queues.entry(queue).or_insert_with(|| push(queues, queue));
        self.last_queue = Some((queue, at));
        at
    }

    fn class(&mut self, class: WorkClass) -> u32 {
        let classes = &mut self.work.classes;
        *self.classes.entry(class).or_insert_with(|| push(classes, class))
    }

    /// Adds the nodes of another reader, which has no edges, behind all nodes so far. Returns the
    /// position of the first one.
    pub(super) fn append(&mut self, other: Self) -> u32 {
        let first = crate::base::narrow(self.work.nodes.len());
        let RankWork { queues, classes, nodes, .. } = other.work;
        let queues: Vec<u32> = queues.into_iter().map(|queue| self.queue(queue)).collect();
        let class = |class: WorkClass| WorkClass { queue: queues[class.queue as usize], ..class };
        let classes: Vec<u32> = classes.into_iter().map(|of| self.class(class(of))).collect();
        let moved = nodes.iter().map(|node| WorkNode { class: classes[node.class as usize], ..*node });
        self.work.nodes.make_mut().extend(moved);
        first
    }

    /// The work, in order and with its names.
    pub(super) fn finish(mut self, exec: &dyn Exec) -> Result<RankWork> {
        for class in &self.work.classes {
            for name in [class.name, class.layer].into_iter().filter(|name| *name != NO_LAYER) {
                if let Entry::Vacant(place) = self.work.names.entry(name) {
                    place.insert(self.segment.text(NameId(name))?.to_owned());
                }
            }
        }
        self.work.queue_names = self.queue_names();
        self.work.sort(exec);
        Ok(self.work)
    }

    /// The names of the tracks of all queues. Tracks of one name have that of the group above them
    /// before it.
    fn queue_names(&self) -> Vec<String> {
        let tracks = &self.segment.footer().tracks;
        let spec = |track: TrackId| &tracks[track.0 as usize].spec;
        let mut of_name: FxHashMap<&str, FxHashSet<TrackId>> = FxHashMap::default();
        for queue in &self.work.queues {
            of_name.entry(&spec(queue.track).name).or_default().insert(queue.track);
        }
        let name = |queue: &WorkQueue| {
            let own = spec(queue.track);
            match own.parent.filter(|_| of_name[own.name.as_str()].len() > 1) {
                Some(group) => format!("{} / {}", spec(group).name, own.name),
                None => own.name.clone(),
            }
        };
        self.work.queues.iter().map(name).collect()
    }

    /// Whether the slices of a name wait.
    pub(super) fn is_wait(&mut self, name: u32) -> Result<bool> {
        if let Some(known) = self.waits.get(&name) {
            return Ok(*known);
        }
        let is_wait = is_wait(self.segment.text(NameId(name))?);
        self.waits.insert(name, is_wait);
        Ok(is_wait)
    }
}

/// Appends a value and returns its position.
fn push<T>(list: &mut Vec<T>, value: T) -> u32 {
    list.push(value);
    crate::base::narrow(list.len() - 1)
}

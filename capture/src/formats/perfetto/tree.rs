//! The tree of tracks, made when all descriptors are known: processes with their threads, and the
//! tracks that name a parent.
//!
//! Siblings of one name are one track, as Perfetto's page shows them: writers give each operation
//! that overlaps others a track of its own. Siblings that state different ranks stay apart.

use std::collections::BTreeMap;

use nprof_engine::base::{Result, signed};
use nprof_engine::model::{
    FieldSpec, Identity, Nesting, Role, Sink, TableId, TableSpec, TrackId, TrackSpec, Value,
};
use rustc_hash::FxHashMap;

use super::track::{CounterFacts, MAX_DEPTH, Ordering, PerfettoTracks, Person, ThreadIds, TrackKey};

/// Place of a track's events in the sink.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackPlace {
    pub(super) slices: Option<TrackId>,
    pub(super) samples: Option<TrackId>,
    pub(super) counter: CounterFacts,
    /// Last time on the track, in nanoseconds.
    pub(super) last_ns: i64,
}

/// Identity of a track of slices. Tracks with equal identities are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TrackMerge {
    Thread(ThreadIds),
    Process(i64),
    Named(Option<u64>, String, Option<i64>),
    Own(usize),
}

/// A track of slices with its members.
#[derive(Debug)]
struct TreeLeaf {
    /// Index of the first member.
    first: usize,
    members: usize,
    on_device: bool,
    has_annotations: bool,
    has_work: bool,
    last_ns: i64,
    id: Option<TrackId>,
}

impl TreeLeaf {
    /// A track with this first member, without any member yet.
    fn new(first: usize) -> Self {
        Self {
            first,
            members: 0,
            on_device: false,
            has_annotations: false,
            has_work: false,
            last_ns: i64::MIN,
            id: None,
        }
    }
}

/// Makes the tracks. Returns the places of all tracks of the trace, by their index.
pub(super) fn build(
    tracks: &PerfettoTracks,
    sink: &mut dyn Sink,
    tables: [TableId; 2],
) -> Result<Vec<TrackPlace>> {
    let mut tree = TrackTree {
        tracks,
        sink,
        tables,
        groups: vec![None; tracks.all.len()],
        levels: BTreeMap::new(),
        has_children: vec![false; tracks.all.len()],
        processes: BTreeMap::new(),
        by_name: positions(tracks, |at| tracks.all[at].name.as_str()),
        by_time: positions(tracks, |at| tracks.all[at].first_ns),
        origins: Vec::new(),
    };
    tree.mark_parents();
    let (mut leaves, leaf_of) = tree.leaves();
    for leaf in &mut leaves {
        leaf.id = Some(tree.slices(leaf)?);
    }
    let mut placed = Vec::with_capacity(tracks.all.len());
    for (at, track) in tracks.all.iter().enumerate() {
        let leaf = leaf_of[at].and_then(|leaf| leaves.get(leaf));
        placed.push(TrackPlace {
            slices: leaf.and_then(|leaf| leaf.id),
            samples: if track.has_samples { Some(tree.samples(at)?) } else { None },
            counter: track.counter.unwrap_or_default(),
            last_ns: leaf.map_or(track.last_ns, |leaf| leaf.last_ns),
        });
    }
    tree.rows()?;
    Ok(placed)
}

/// Positions of all tracks by a key.
fn positions<K: Ord>(tracks: &PerfettoTracks, key: impl Fn(usize) -> K) -> Vec<i64> {
    let mut order: Vec<usize> = (0..tracks.all.len()).collect();
    order.sort_by_key(|&at| (key(at), at));
    let mut positions = vec![0; order.len()];
    for (position, at) in (0..).zip(order) {
        positions[at] = position;
    }
    positions
}

/// Process, thread and counter of a track, as the trace names them.
type TrackOrigin = (TrackId, Option<i64>, Option<i64>, Option<String>);

struct TrackTree<'t> {
    tracks: &'t PerfettoTracks,
    sink: &'t mut dyn Sink,
    tables: [TableId; 2],
    groups: Vec<Option<TrackId>>,
    /// Number of groups above a group that is not at the top.
    levels: BTreeMap<TrackId, usize>,
    has_children: Vec<bool>,
    processes: BTreeMap<i64, TrackId>,
    by_name: Vec<i64>,
    by_time: Vec<i64>,
    origins: Vec<TrackOrigin>,
}

/// Place of the events of a track above the tracks below it.
const FIRST: i64 = i64::MIN / 2;

impl TrackTree<'_> {
    /// Index of the parent, if it has a descriptor.
    fn parent(&self, at: usize) -> Option<usize> {
        self.tracks.of_uuid(self.tracks.all[at].parent?)
    }

    fn mark_parents(&mut self) {
        for at in 0..self.tracks.all.len() {
            let track = &self.tracks.all[at];
            if !track.has_slices && !track.has_samples {
                continue;
            }
            let mut next = self.parent(at);
            while let Some(parent) = next.filter(|&parent| !self.has_children[parent]) {
                self.has_children[parent] = true;
                next = self.parent(parent);
            }
        }
    }

    /// The tracks of slices, and the one of each track.
    fn leaves(&self) -> (Vec<TreeLeaf>, Vec<Option<usize>>) {
        let (mut leaves, mut by_identity) = (Vec::<TreeLeaf>::new(), FxHashMap::default());
        let mut leaf_of = vec![None; self.tracks.all.len()];
        for (at, track) in self.tracks.all.iter().enumerate() {
            if !track.has_slices {
                continue;
            }
            let leaf = *by_identity.entry(self.merge(at)).or_insert(leaves.len());
            if leaf == leaves.len() {
                leaves.push(TreeLeaf::new(at));
            }
            leaves[leaf].members += 1;
            leaves[leaf].on_device |= track.on_device;
            leaves[leaf].has_annotations |= track.has_annotations;
            leaves[leaf].has_work |= track.has_work;
            leaves[leaf].last_ns = leaves[leaf].last_ns.max(track.last_ns);
            leaf_of[at] = Some(leaf);
        }
        (leaves, leaf_of)
    }

    fn merge(&self, at: usize) -> TrackMerge {
        let track = &self.tracks.all[at];
        match (track.thread, track.process, &track.key) {
            (Some(thread), ..) => TrackMerge::Thread(thread),
            (None, Some(pid), _) => TrackMerge::Process(pid),
            (None, None, TrackKey::Uuid(uuid)) if *uuid != 0 && !track.is_alone && !self.has_children[at] => {
                // The name of the first event is the track's, so further events can differ.
                TrackMerge::Named(track.parent, self.name(at), track.rank)
            }
            _ => TrackMerge::Own(at),
        }
    }

    /// Makes a track of slices.
    fn slices(&mut self, leaf: &TreeLeaf) -> Result<TrackId> {
        let at = leaf.first;
        let track = &self.tracks.all[at];
        let (parent, sort) = if self.has_children[at] && track.process.is_none() {
            (self.group(at, 0)?, FIRST)
        } else {
            (self.above(at, 0)?, self.sort(at))
        };
        let several = leaf.members > 1 && track.thread.is_none();
        let nesting = match track.key {
            TrackKey::Async(..) | TrackKey::More => Nesting::Concurrent,
            _ if several => Nesting::Concurrent,
            _ => Nesting::Calls,
        };
        let role = match (leaf.on_device, track.thread) {
            _ if leaf.has_annotations && !leaf.has_work => Role::Annotations,
            (true, _) => Role::Kernels,
            (false, Some(_)) => Role::HostThread,
            (false, None) => Role::Unknown,
        };
        let number = track.thread.and_then(|thread| u32::try_from(thread.tid).ok());
        let name = match track.process {
            Some(_) if track.name.is_empty() => "Process events".to_owned(),
            _ => self.name(at),
        };
        let spec = TrackSpec::slices(&name, parent, self.tables[0], nesting, sort)
            .showing(Identity { number, ..Identity::of(role) });
        let id = self.sink.track(spec)?;
        self.note(id, at, None);
        Ok(id)
    }

    /// Makes the track of a counter.
    fn samples(&mut self, at: usize) -> Result<TrackId> {
        let track = &self.tracks.all[at];
        let parent = match self.has_children[at] {
            true => self.group(at, 0)?,
            false => self.above(at, 0)?,
        };
        let unit = track.counter.unwrap_or_default().unit;
        let name = self.name(at);
        let id = self.sink.track(TrackSpec::counter(&name, parent, self.tables[1], unit, self.sort(at)))?;
        self.note(id, at, Some(name));
        Ok(id)
    }

    /// Remembers the process and the thread of a track for the side table.
    fn note(&mut self, id: TrackId, at: usize, counter: Option<String>) {
        let track = &self.tracks.all[at];
        let of_key = match track.key {
            TrackKey::Async(pid, _) | TrackKey::Counter(pid, _) => pid,
            _ => track.parent.and_then(|uuid| self.tracks.process_of(uuid)),
        };
        let pid = track.thread.map(|thread| thread.pid).or(track.process).or(of_key);
        let tid = track.thread.map(|thread| thread.tid);
        if pid.is_some() || counter.is_some() {
            self.origins.push((id, pid, tid, counter));
        }
    }

    /// The group that a track is in.
    fn above(&mut self, at: usize, depth: usize) -> Result<Option<TrackId>> {
        let track = &self.tracks.all[at];
        let of_key = match track.key {
            TrackKey::Async(pid, _) | TrackKey::Counter(pid, _) => pid,
            _ => None,
        };
        let pid = track.thread.map(|thread| thread.pid).or(track.process).or(of_key);
        match (pid, self.parent(at)) {
            (Some(pid), _) => self.process(pid).map(Some),
            (None, Some(parent)) => self.group(parent, depth + 1),
            (None, None) => Ok(None),
        }
    }

    /// The group of the tracks below a track. `None` above a circle.
    fn group(&mut self, at: usize, depth: usize) -> Result<Option<TrackId>> {
        if self.groups[at].is_some() || depth > MAX_DEPTH {
            return Ok(self.groups[at]);
        }
        let track = &self.tracks.all[at];
        let group = match track.process.filter(|_| track.thread.is_none()) {
            Some(pid) => self.process(pid)?,
            None => {
                let parent = self.above(at, depth)?;
                // A circle has made the group meanwhile.
                if self.groups[at].is_some() {
                    return Ok(self.groups[at]);
                }
                self.new_group(at, parent)?
            }
        };
        self.groups[at] = Some(group);
        Ok(Some(group))
    }

    /// Makes the group of the tracks below a track. Beyond [`MAX_DEPTH`] it is the group above.
    fn new_group(&mut self, at: usize, parent: Option<TrackId>) -> Result<TrackId> {
        let level = parent.map_or(0, |parent| 1 + self.levels.get(&parent).copied().unwrap_or_default());
        if let Some(parent) = parent.filter(|_| level >= MAX_DEPTH) {
            return Ok(parent);
        }
        let group = self.sink.track(TrackSpec::group(&self.name(at), parent, self.sort(at)))?;
        if level > 0 {
            self.levels.insert(group, level);
        }
        Ok(group)
    }

    fn process(&mut self, pid: i64) -> Result<TrackId> {
        if let Some(&group) = self.processes.get(&pid) {
            return Ok(group);
        }
        let nameless = Person::default();
        let process = self.tracks.processes.get(&pid).unwrap_or(&nameless);
        let mut name = numbered(process.name.trim(), "Process", pid);
        if !process.labels.trim().is_empty() {
            name = format!("{name} · {}", process.labels.trim());
        }
        let sort = process.sort.unwrap_or(signed(self.processes.len()));
        let group = self.sink.track(TrackSpec::group(&name, None, sort))?;
        self.processes.insert(pid, group);
        Ok(group)
    }

    /// Sort key among the siblings: the rank, or the position by the parent's order.
    fn sort(&self, at: usize) -> i64 {
        let track = &self.tracks.all[at];
        let position = signed(at);
        if let Some(ids) = track.thread {
            let sort = self.tracks.threads.get(&ids).and_then(|thread| thread.sort);
            return sort.unwrap_or(if ids.pid == ids.tid { -1 } else { position });
        }
        if track.process.is_some() {
            return FIRST;
        }
        let ordering = self.parent(at).map_or(Ordering::Unknown, |parent| self.tracks.all[parent].ordering);
        track.rank.unwrap_or(match ordering {
            Ordering::Names => self.by_name[at],
            Ordering::Times => self.by_time[at],
            Ordering::Ranks | Ordering::Unknown => position,
        })
    }

    fn name(&self, at: usize) -> String {
        let track = &self.tracks.all[at];
        if let Some(ids) = track.thread {
            let (tid, threads) = (ids.tid, &self.tracks.threads);
            let named = threads.get(&ids).filter(|thread| !thread.name.is_empty());
            let thread = named.or_else(|| threads.get(&ThreadIds { pid: 0, tid }));
            let name = thread.map_or("", |thread| thread.name.trim());
            return numbered(if name.is_empty() { track.name.trim() } else { name }, "Thread", tid);
        }
        let names = [&track.name, &track.first_name];
        if let Some(name) = names.into_iter().find(|name| !name.is_empty()) {
            return name.clone();
        }
        match (track.process, &track.key) {
            (Some(pid), _) => {
                numbered(self.tracks.processes.get(&pid).map_or("", |of| of.name.trim()), "Process", pid)
            }
            (None, TrackKey::Uuid(0)) => "Global".to_owned(),
            (None, TrackKey::Uuid(uuid)) => format!("Track {uuid:#x}"),
            (None, _) => "Unnamed".to_owned(),
        }
    }

    /// Writes the processes, threads and counters of the tracks.
    fn rows(&mut self) -> Result<()> {
        let table =
            self.sink.table(TableSpec::side("track", "Process, and thread or counter, of each track."))?;
        let mut ids = Vec::new();
        for name in ["track", "pid", "tid", "counter"] {
            ids.push(self.sink.field(table, FieldSpec::named(name))?);
        }
        for (track, pid, tid, counter) in &self.origins {
            let [pid, tid] = [pid, tid].map(|id| id.map(|id| id.to_string()));
            let texts =
                [pid.as_deref(), tid.as_deref(), counter.as_deref()].map(|text| text.map(Value::Text));
            let values = [Some(Value::Int(i64::from(track.0)))].into_iter().chain(texts);
            let row: Vec<_> = ids.iter().zip(values).filter_map(|(&id, value)| Some((id, value?))).collect();
            self.sink.row(table, &row)?;
        }
        Ok(())
    }
}

/// A name with the number of its process or thread, unless the name has it.
fn numbered(name: &str, kind: &str, id: i64) -> String {
    let id = id.to_string();
    match name {
        "" => format!("{kind} {id}"),
        name if name.contains(&id) => name.to_owned(),
        name => format!("{name} {id}"),
    }
}

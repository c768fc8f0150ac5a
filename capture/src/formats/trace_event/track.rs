//! Tracks: processes with their threads, asynchronous slices and counters below.
//!
//! The first event of a track makes it, with the facts known by then. Names and order are in
//! metadata events, often at the trace's end. Both go to the sink after the last event.

use nprof_engine::base::{Result, signed};
use nprof_engine::model::{self, Identity, Nesting, Sink, TableId, TrackId, TrackSpec, Unit};
use rustc_hash::FxHashMap;

use super::allowance::TrackAllowance;
use super::description::{Description, ProcessIndex, TraceProcess, TraceTrack, device_number};
use super::naming::{Alike, process_name, track_name};
use super::order::{compare_processes, compare_tracks};
pub(super) use super::role::{Id, TrackRole};

/// A track of the trace, as its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TrackIndex(usize);

/// A time on a track.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeOnTrack {
    pub(super) track: TrackIndex,
    pub(super) time_ps: i64,
}

/// Tables of the tracks.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrackTables {
    /// Table of threads and instants.
    pub(super) slice: TableId,
    /// Table of asynchronous slices.
    pub(super) asynchronous: TableId,
    /// Table of counters.
    pub(super) counter: TableId,
}

/// Most asynchronous names of a process with a track each. Later names share one track per
/// category.
const MAX_ASYNC_NAMES: usize = 256;

/// Id of the process that stands for all further ones.
const MORE: &str = "More processes";

#[derive(Debug)]
pub(super) struct TraceTracks {
    tables: TrackTables,
    processes: Vec<TraceProcess>,
    process_by_id: FxHashMap<Id, ProcessIndex>,
    tracks: Vec<TraceTrack>,
    by_role: FxHashMap<(ProcessIndex, TrackRole), TrackIndex>,
    async_names: FxHashMap<ProcessIndex, usize>,
    threads: FxHashMap<(Id, Id), TrackIndex>,
    global: Option<TrackIndex>,
    allowance: TrackAllowance,
    /// The process of the tracks that several processes share.
    more: Option<ProcessIndex>,
}

impl TraceTracks {
    /// No tracks yet.
    pub(super) fn new(tables: TrackTables) -> Self {
        Self {
            tables,
            processes: Vec::new(),
            process_by_id: FxHashMap::default(),
            tracks: Vec::new(),
            by_role: FxHashMap::default(),
            async_names: FxHashMap::default(),
            threads: FxHashMap::default(),
            global: None,
            allowance: TrackAllowance::default(),
            more: None,
        }
    }

    /// The tracks. No tracks are left here.
    pub(super) fn take(&mut self) -> Self {
        let tables = self.tables;
        std::mem::replace(self, Self::new(tables))
    }

    /// The memory of all processes and tracks.
    pub(super) fn allowance(&mut self) -> &mut TrackAllowance {
        &mut self.allowance
    }

    /// Whether the events of a track can belong to other processes and threads than the track.
    pub(super) fn is_shared(&self, track: TrackIndex) -> bool {
        self.more.is_some_and(|more| self.tracks[track.0].process == more)
    }

    /// The process that stands for all further ones.
    fn more(&mut self) -> ProcessIndex {
        let next = ProcessIndex(self.processes.len());
        let more = *self.more.get_or_insert(next);
        if more == next {
            self.processes.push(TraceProcess::new(Id::Text(MORE.into())));
        }
        more
    }

    /// The process with this id, which is made if it is new.
    pub(super) fn process(&mut self, id: &Id) -> ProcessIndex {
        if let Some(&known) = self.process_by_id.get(id) {
            return known;
        }
        if !self.allowance.takes(id.text_bytes()) {
            return self.more();
        }
        let index = ProcessIndex(self.processes.len());
        self.processes.push(TraceProcess::new(id.clone()));
        self.process_by_id.insert(id.clone(), index);
        index
    }

    /// The track of a thread, which is made if it is new.
    pub(super) fn thread(&mut self, pid: Id, tid: Id, nesting: Nesting) -> TrackIndex {
        let key = (pid, tid);
        if let Some(&known) = self.threads.get(&key) {
            return known;
        }
        let process = self.process(&key.0);
        let track = self.track(process, TrackRole::Thread(key.1.clone()), nesting);
        if !self.is_shared(track) {
            self.threads.insert(key, track);
        }
        track
    }

    /// The track of the annotations of a stream, which is made if it is new.
    pub(super) fn annotations(&mut self, pid: &Id, tid: Id) -> TrackIndex {
        let process = self.process(pid);
        self.track(process, TrackRole::Annotations(tid), Nesting::Calls)
    }

    /// The track of asynchronous slices with this category and name, which is made if it is new.
    pub(super) fn asynchronous(&mut self, pid: &Id, cat: &str, name: &str) -> TrackIndex {
        let process = self.process(pid);
        let role = TrackRole::Async { cat: cat.into(), name: name.into() };
        if let Some(&known) = self.by_role.get(&(process, role.clone())) {
            return known;
        }
        let names = self.async_names.entry(process).or_default();
        *names += 1;
        let role = if *names > MAX_ASYNC_NAMES {
            TrackRole::Async { cat: cat.into(), name: "".into() }
        } else {
            role
        };
        self.track(process, role, Nesting::Concurrent)
    }

    /// The track of instants that concern all processes.
    pub(super) fn global(&mut self) -> TrackIndex {
        if let Some(known) = self.global {
            return known;
        }
        // The global track stands beside the processes, not below one. Its process is never shown.
        let described = Description { name: "Global".to_owned(), ..Description::default() };
        let process = ProcessIndex(usize::MAX);
        let track =
            TraceTrack { described, ..TraceTrack::new(process, TrackRole::Process, Nesting::Concurrent) };
        let index = self.push(track);
        self.global = Some(index);
        index
    }

    /// The track of a process with this role, which is made if it is new.
    pub(super) fn track(&mut self, process: ProcessIndex, role: TrackRole, nesting: Nesting) -> TrackIndex {
        if let Some(&known) = self.by_role.get(&(process, role.clone())) {
            return known;
        }
        if self.more != Some(process) && !self.allowance.takes(role.text_bytes()) {
            let more = self.more();
            return self.track(more, role, nesting);
        }
        let (role, nesting) = match self.more == Some(process) {
            true => (role.alike(), Nesting::Concurrent),
            false => (role, nesting),
        };
        if let Some(&known) = self.by_role.get(&(process, role.clone())) {
            return known;
        }
        let index = self.push(TraceTrack::new(process, role.clone(), nesting));
        self.by_role.insert((process, role), index);
        index
    }

    /// The track of a counter whose values have a unit.
    pub(super) fn counter(&mut self, process: ProcessIndex, role: TrackRole, unit: Unit) -> TrackIndex {
        let index = self.track(process, role, Nesting::Concurrent);
        self.tracks[index.0].unit = unit;
        index
    }

    fn push(&mut self, track: TraceTrack) -> TrackIndex {
        self.tracks.push(track);
        TrackIndex(self.tracks.len() - 1)
    }

    /// Properties of a process, to be changed. `None` for one that stands for several.
    pub(super) fn describe_process(
        &mut self,
        process: ProcessIndex,
    ) -> Option<(&mut Description, &mut TrackAllowance)> {
        let is_shared = self.more == Some(process);
        (!is_shared).then(|| (&mut self.processes[process.0].described, &mut self.allowance))
    }

    /// Properties of a track, to be changed. `None` for one that stands for several.
    pub(super) fn describe(&mut self, track: TrackIndex) -> Option<(&mut Description, &mut TrackAllowance)> {
        let is_shared = self.is_shared(track);
        (!is_shared).then(|| (&mut self.tracks[track.0].described, &mut self.allowance))
    }

    /// Notes that a track has work of the host.
    pub(super) fn on_host(&mut self, track: TrackIndex) {
        self.tracks[track.0].on_host = true;
    }

    /// Notes that a track has work of a device.
    pub(super) fn on_device(&mut self, track: TrackIndex) {
        self.tracks[track.0].on_device = true;
    }

    /// Notes the time of an event on a track.
    pub(super) fn reach(&mut self, track: TrackIndex, end_ps: i64) {
        let last = &mut self.tracks[track.0].last_ps;
        *last = (*last).max(end_ps);
    }

    /// Latest time of an event on a track.
    pub(super) fn last_ps(&self, track: TrackIndex) -> i64 {
        self.tracks[track.0].last_ps
    }

    /// The sink's id of a track. A new track is defined first.
    pub(super) fn id(&mut self, sink: &mut dyn Sink, track: TrackIndex) -> Result<TrackId> {
        if let Some(id) = self.tracks[track.0].id {
            return Ok(id);
        }
        let parent = self.parent(sink, track)?;
        let spec = self.spec(track, parent, 0, Alike::Several);
        let id = sink.track(spec)?;
        self.tracks[track.0].id = Some(id);
        Ok(id)
    }

    /// The heading above a track.
    fn parent(&mut self, sink: &mut dyn Sink, track: TrackIndex) -> Result<Option<TrackId>> {
        let TraceTrack { process, role, .. } = &self.tracks[track.0];
        let Some(process) = self.processes.get_mut(process.0) else { return Ok(None) };
        let group = match process.group {
            Some(group) => group,
            None => {
                let group = sink.track(TrackSpec::group(&process_name(process, false), None, 0))?;
                *process.group.insert(group)
            }
        };
        let (heading, name) = match role {
            TrackRole::Process | TrackRole::Annotations(_) | TrackRole::Thread(_) => return Ok(Some(group)),
            TrackRole::Counter { .. } => (&mut process.counters, "Counters"),
            TrackRole::Async { .. } => (&mut process.asyncs, "Asynchronous"),
        };
        if heading.is_none() {
            *heading = Some(sink.track(TrackSpec::group(name, Some(group), 0))?);
        }
        Ok(*heading)
    }

    fn spec(&self, index: TrackIndex, parent: Option<TrackId>, sort: i64, alike: Alike) -> TrackSpec {
        let track = &self.tracks[index.0];
        let name = track_name(track, alike);
        match track.role {
            TrackRole::Counter { .. } => {
                TrackSpec::counter(&name, parent, self.tables.counter, track.unit, sort)
            }
            TrackRole::Async { .. } => {
                TrackSpec::slices(&name, parent, self.tables.asynchronous, track.nesting, sort)
            }
            TrackRole::Process | TrackRole::Annotations(_) | TrackRole::Thread(_) => {
                TrackSpec::slices(&name, parent, self.tables.slice, track.nesting, sort)
                    .showing(self.identity(track))
            }
        }
    }

    /// Identity of a track. A thread of a device's process is a stream if none of its work is known
    /// as the host's.
    fn identity(&self, track: &TraceTrack) -> Identity {
        let Some(id) = track.role.thread() else { return Identity::default() };
        let number = match id {
            Id::Number(number) => u32::try_from(*number).ok(),
            Id::Text(_) | Id::Absent => None,
        };
        let labels = self.processes.get(track.process.0).map(|process| &process.described.labels);
        let chip = labels.and_then(|labels| device_number(labels)).and_then(|chip| u32::try_from(chip).ok());
        let is_annotated = matches!(track.role, TrackRole::Annotations(_));
        match track.on_device || (chip.is_some() && !track.on_host) {
            _ if is_annotated => Identity { chip, number, ..Identity::of(model::Role::Annotations) },
            true => Identity { chip, number, ..Identity::of(model::Role::Kernels) },
            false => Identity { number, ..Identity::of(model::Role::HostThread) },
        }
    }

    /// Gives annotations the name and the place of their stream.
    fn describe_annotations(&mut self) {
        for at in 0..self.tracks.len() {
            let TrackRole::Annotations(id) = &self.tracks[at].role else { continue };
            let stream = (self.tracks[at].process, TrackRole::Thread(id.clone()));
            let Some(&TrackIndex(stream)) = self.by_role.get(&stream) else { continue };
            let (described, on_device) =
                (self.tracks[stream].described.clone(), self.tracks[stream].on_device);
            (self.tracks[at].described, self.tracks[at].on_device) = (described, on_device);
        }
    }

    /// Whether all threads of a process are streams with work of a device, for each process.
    fn are_devices(&self) -> Vec<bool> {
        let mut are_devices: Vec<Option<bool>> = vec![None; self.processes.len()];
        for track in self.tracks.iter().filter(|track| matches!(track.role, TrackRole::Thread(_))) {
            if let Some(known) = are_devices.get_mut(track.process.0) {
                *known = Some(known.unwrap_or(true) && track.on_device);
            }
        }
        are_devices.into_iter().map(|known| known == Some(true)).collect()
    }

    /// Sends the names and the order of all tracks with events to the sink.
    pub(super) fn describe_all(&mut self, sink: &mut dyn Sink) -> Result<()> {
        self.describe_annotations();
        let mut processes: Vec<usize> = (0..self.processes.len()).collect();
        let mut is_host: Vec<bool> =
            self.processes.iter().map(|process| device_number(&process.described.labels).is_none()).collect();
        for track in self.tracks.iter().filter(|track| track.on_device) {
            is_host[track.process.0] = false;
        }
        let is_device = self.are_devices();
        processes.sort_by(|&a, &b| {
            let order = || compare_processes(&self.processes[a], &self.processes[b]);
            is_host[a].cmp(&is_host[b]).then_with(order)
        });
        let mut place_of = vec![0_i64; self.processes.len()];
        for (&index, place) in processes.iter().zip(1..) {
            place_of[index] = place;
            let process = &self.processes[index];
            let Some(group) = process.group else { continue };
            let name = process_name(process, is_device[index]);
            sink.describe_track(group, TrackSpec::group(&name, None, place))?;
            // Order of the headings: counters above the threads (which start at 1), asynchronous
            // slices below.
            let headings = [(process.counters, "Counters", -1), (process.asyncs, "Asynchronous", i64::MAX)];
            for (heading, name, sort) in headings {
                if let Some(heading) = heading {
                    sink.describe_track(heading, TrackSpec::group(name, Some(group), sort))?;
                }
            }
        }
        let mut alike: FxHashMap<_, usize> = FxHashMap::default();
        for track in self.tracks.iter().filter(|track| track.id.is_some()) {
            *alike.entry((track.process, track.given_name())).or_default() += 1;
        }
        let mut tracks: Vec<usize> = (0..self.tracks.len()).collect();
        tracks.sort_by(|&a, &b| compare_tracks(&self.tracks[a], &self.tracks[b]));
        let below = signed(processes.len()).saturating_add(1);
        for (&index, place) in tracks.iter().zip(1..) {
            let track = &self.tracks[index];
            let Some(id) = track.id else { continue };
            let (parent, sort) = match self.processes.get(track.process.0) {
                // Devices and hosts come first: the global track has few instants.
                None => (None, below),
                Some(process) => match track.role {
                    TrackRole::Process => (process.group, 0),
                    TrackRole::Annotations(_) | TrackRole::Thread(_) => (process.group, place),
                    TrackRole::Counter { .. } => (process.counters, place),
                    TrackRole::Async { .. } => (process.asyncs, place),
                },
            };
            let is_only = alike.get(&(track.process, track.given_name())) == Some(&1);
            let alike = if is_only { Alike::One } else { Alike::Several };
            sink.describe_track(id, self.spec(TrackIndex(index), parent, sort, alike))?;
        }
        Ok(())
    }

    /// The process and the thread that a track stands for. A thread has both, another track below a
    /// process has that process, the global one has neither.
    pub(super) fn owner(&self, track: TrackIndex) -> (Option<&Id>, Option<&Id>) {
        let track = &self.tracks[track.0];
        (self.processes.get(track.process.0).map(|process| &process.id), track.role.thread())
    }

    /// All tracks that the sink knows, with their properties in the trace: the keys `pid`, `tid`,
    /// `counter`, `counter_id` and `series`, if they apply.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TrackId, Vec<(&'static str, String)>)> {
        self.tracks.iter().filter_map(|track| {
            let process = self.processes.get(track.process.0)?;
            let mut origin = Vec::new();
            let mut add = |key, id: &Id| {
                if *id != Id::Absent {
                    origin.push((key, id.to_string()));
                }
            };
            add("pid", &process.id);
            match &track.role {
                TrackRole::Annotations(tid) | TrackRole::Thread(tid) => add("tid", tid),
                TrackRole::Counter { name, id, series } => {
                    origin.push(("counter", name.to_string()));
                    let further = [("counter_id", id), ("series", series)];
                    let given = further.into_iter().filter(|(_, text)| !text.is_empty());
                    origin.extend(given.map(|(key, text)| (key, text.to_string())));
                }
                TrackRole::Process | TrackRole::Async { .. } => {}
            }
            Some((track.id?, origin))
        })
    }
}

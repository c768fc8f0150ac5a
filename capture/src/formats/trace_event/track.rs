//! Tracks: processes with their threads, asynchronous slices and counters below.
//!
//! Tracks are made when the first event needs them, with what is known by then; names and order come with metadata
//! events, often at the trace's end, and are told to the sink when all has been read.

use std::cmp::Ordering;

use nprof_engine::base::Result;
use nprof_engine::model::{Nesting, Sink, TableId, TrackId, TrackSpec, Unit};
use rustc_hash::FxHashMap;

use super::event::text_of;
use super::number::Number;
use super::tokens::{Kind, Raw};

/// A process or thread as the trace names it. A text that is an integer is that integer: traces write the same thread
/// both ways.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Id {
    /// A number of up to 64 bits, with sign or without.
    Number(i128),
    /// Anything else.
    Text(Box<str>),
    /// The event does not say.
    Absent,
}

impl Id {
    /// From its token.
    pub(super) fn new(raw: Raw, bytes: &[u8]) -> Self {
        match raw.kind() {
            Kind::Absent | Kind::Null => Self::Absent,
            Kind::Number | Kind::Text => match Number::parse(raw.of(bytes)) {
                Some(Number::Int(int)) => Self::Number(i128::from(int)),
                Some(Number::Uint(uint)) => Self::Number(i128::from(uint)),
                _ => Self::Text(text_of(bytes, raw).into()),
            },
            _ => Self::Text(text_of(bytes, raw).into()),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Absent => f.write_str("not given"),
        }
    }
}

/// What a track below a process is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Role {
    /// Instants of the process as a whole.
    Process,
    /// Samples of one series of a counter.
    Counter {
        /// The counter.
        name: Box<str>,
        /// Which of those with this name; empty for the only one.
        id: Box<str>,
        /// The series.
        series: Box<str>,
    },
    /// A thread or a device's stream.
    Thread(Id),
    /// Asynchronous slices of this category and name.
    Async {
        /// Category.
        cat: Box<str>,
        /// Name of the outermost slice.
        name: Box<str>,
    },
}

/// A process of the trace, as its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ProcessIndex(usize);

/// A track of the trace, as its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TrackIndex(usize);

/// What metadata events say of a process or a thread.
#[derive(Debug, Default)]
pub(super) struct Described {
    /// Its name.
    pub(super) name: String,
    /// What else it is called (`GPU 0`).
    pub(super) labels: String,
    /// Its place among its siblings.
    pub(super) sort: Option<i64>,
}

#[derive(Debug)]
struct Process {
    id: Id,
    described: Described,
    /// The headings, once something stands below them.
    group: Option<TrackId>,
    counters: Option<TrackId>,
    asyncs: Option<TrackId>,
}

#[derive(Debug)]
struct Track {
    process: ProcessIndex,
    role: Role,
    described: Described,
    /// `None` until the sink knows of it.
    id: Option<TrackId>,
    nesting: Nesting,
    /// The last moment that anything happened.
    last_ps: i64,
}

/// The tables that tracks are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tables {
    /// Of threads and instants.
    pub(super) slice: TableId,
    /// Of asynchronous slices.
    pub(super) asynchronous: TableId,
    /// Of counters.
    pub(super) counter: TableId,
}

/// Asynchronous names of a process that get a track each; what comes after shares one per category.
const MAX_ASYNC_NAMES: usize = 256;

/// All tracks.
#[derive(Debug)]
pub(super) struct Tracks {
    tables: Tables,
    processes: Vec<Process>,
    process_by_id: FxHashMap<Id, ProcessIndex>,
    tracks: Vec<Track>,
    by_role: FxHashMap<(ProcessIndex, Role), TrackIndex>,
    async_names: FxHashMap<ProcessIndex, usize>,
    threads: FxHashMap<(Id, Id), TrackIndex>,
    global: Option<TrackIndex>,
}

impl Tracks {
    /// None yet.
    pub(super) fn new(tables: Tables) -> Self {
        Self {
            tables,
            processes: Vec::new(),
            process_by_id: FxHashMap::default(),
            tracks: Vec::new(),
            by_role: FxHashMap::default(),
            async_names: FxHashMap::default(),
            threads: FxHashMap::default(),
            global: None,
        }
    }

    /// The process of an event.
    pub(super) fn process(&mut self, id: &Id) -> ProcessIndex {
        if let Some(&known) = self.process_by_id.get(id) {
            return known;
        }
        let index = ProcessIndex(self.processes.len());
        let described = Described::default();
        let process = Process { id: id.clone(), described, group: None, counters: None, asyncs: None };
        self.processes.push(process);
        self.process_by_id.insert(id.clone(), index);
        index
    }

    /// The thread of an event.
    pub(super) fn thread(&mut self, pid: Id, tid: Id, nesting: Nesting) -> TrackIndex {
        let key = (pid, tid);
        if let Some(&known) = self.threads.get(&key) {
            return known;
        }
        let process = self.process(&key.0);
        let track = self.track(process, Role::Thread(key.1.clone()), nesting);
        self.threads.insert(key, track);
        track
    }

    /// The track of asynchronous slices.
    pub(super) fn asynchronous(&mut self, pid: &Id, cat: &str, name: &str) -> TrackIndex {
        let process = self.process(pid);
        let role = Role::Async { cat: cat.into(), name: name.into() };
        if let Some(&known) = self.by_role.get(&(process, role.clone())) {
            return known;
        }
        let names = self.async_names.entry(process).or_default();
        *names += 1;
        let role =
            if *names > MAX_ASYNC_NAMES { Role::Async { cat: cat.into(), name: "".into() } } else { role };
        self.track(process, role, Nesting::Concurrent)
    }

    /// The track of instants that concern all processes.
    pub(super) fn global(&mut self) -> TrackIndex {
        if let Some(known) = self.global {
            return known;
        }
        // It stands beside the processes, not below one: its process is never shown.
        let described = Described { name: "Global".to_owned(), ..Described::default() };
        let process = ProcessIndex(usize::MAX);
        let index = self.push(Track {
            process,
            role: Role::Process,
            described,
            id: None,
            nesting: Nesting::Concurrent,
            last_ps: i64::MIN,
        });
        self.global = Some(index);
        index
    }

    /// Any track.
    pub(super) fn track(&mut self, process: ProcessIndex, role: Role, nesting: Nesting) -> TrackIndex {
        if let Some(&known) = self.by_role.get(&(process, role.clone())) {
            return known;
        }
        let described = Described::default();
        let track = Track { process, role: role.clone(), described, id: None, nesting, last_ps: i64::MIN };
        let index = self.push(track);
        self.by_role.insert((process, role), index);
        index
    }

    fn push(&mut self, track: Track) -> TrackIndex {
        self.tracks.push(track);
        TrackIndex(self.tracks.len() - 1)
    }

    /// What is known of a process, to say more.
    pub(super) fn describe_process(&mut self, process: ProcessIndex) -> &mut Described {
        &mut self.processes[process.0].described
    }

    /// What is known of a track, to say more.
    pub(super) fn describe(&mut self, track: TrackIndex) -> &mut Described {
        &mut self.tracks[track.0].described
    }

    /// Notes that something happened on a track.
    pub(super) fn reach(&mut self, track: TrackIndex, end_ps: i64) {
        let last = &mut self.tracks[track.0].last_ps;
        *last = (*last).max(end_ps);
    }

    /// The last moment that anything happened on a track.
    pub(super) fn last_ps(&self, track: TrackIndex) -> i64 {
        self.tracks[track.0].last_ps
    }

    /// The sink's number of a track, which is made where it is new.
    pub(super) fn id(&mut self, sink: &mut dyn Sink, track: TrackIndex) -> Result<TrackId> {
        if let Some(id) = self.tracks[track.0].id {
            return Ok(id);
        }
        let parent = self.parent(sink, track)?;
        let spec = self.spec(track, parent, 0, Series::Named);
        let id = sink.track(spec)?;
        self.tracks[track.0].id = Some(id);
        Ok(id)
    }

    /// The heading above a track.
    fn parent(&mut self, sink: &mut dyn Sink, track: TrackIndex) -> Result<Option<TrackId>> {
        let Track { process, role, .. } = &self.tracks[track.0];
        let Some(process) = self.processes.get_mut(process.0) else { return Ok(None) };
        let group = match process.group {
            Some(group) => group,
            None => {
                let group = sink.track(TrackSpec::group(&process_name(process), None, 0))?;
                *process.group.insert(group)
            }
        };
        let (heading, name) = match role {
            Role::Process | Role::Thread(_) => return Ok(Some(group)),
            Role::Counter { .. } => (&mut process.counters, "Counters"),
            Role::Async { .. } => (&mut process.asyncs, "Asynchronous"),
        };
        if heading.is_none() {
            *heading = Some(sink.track(TrackSpec::group(name, Some(group), 0))?);
        }
        Ok(*heading)
    }

    fn spec(&self, index: TrackIndex, parent: Option<TrackId>, sort: i64, series: Series) -> TrackSpec {
        let track = &self.tracks[index.0];
        let name = track_name(track, series);
        match track.role {
            Role::Counter { .. } => TrackSpec::counter(&name, parent, self.tables.counter, Unit::None, sort),
            Role::Async { .. } => {
                TrackSpec::slices(&name, parent, self.tables.asynchronous, track.nesting, sort)
            }
            Role::Process | Role::Thread(_) => {
                TrackSpec::slices(&name, parent, self.tables.slice, track.nesting, sort)
            }
        }
    }

    /// Tells the sink the names and the order of all tracks that have anything to show.
    pub(super) fn describe_all(&self, sink: &mut dyn Sink) -> Result<()> {
        let mut processes: Vec<usize> = (0..self.processes.len()).collect();
        processes.sort_by(|&a, &b| compare_processes(&self.processes[a], &self.processes[b]));
        let mut place_of = vec![0_i64; self.processes.len()];
        for (&index, place) in processes.iter().zip(1..) {
            place_of[index] = place;
            let process = &self.processes[index];
            let Some(group) = process.group else { continue };
            sink.describe_track(group, TrackSpec::group(&process_name(process), None, place))?;
            // Headings: counters above the threads (which start at 1), asynchronous slices below.
            let headings = [(process.counters, "Counters", -1), (process.asyncs, "Asynchronous", i64::MAX)];
            for (heading, name, sort) in headings {
                if let Some(heading) = heading {
                    sink.describe_track(heading, TrackSpec::group(name, Some(group), sort))?;
                }
            }
        }
        let mut series: FxHashMap<(ProcessIndex, &str, &str), usize> = FxHashMap::default();
        for track in &self.tracks {
            if let Role::Counter { name, id, .. } = &track.role {
                *series.entry((track.process, name, id)).or_default() += 1;
            }
        }
        let mut tracks: Vec<usize> = (0..self.tracks.len()).collect();
        tracks.sort_by(|&a, &b| compare_tracks(&self.tracks[a], &self.tracks[b]));
        for (&index, place) in tracks.iter().zip(1..) {
            let track = &self.tracks[index];
            let Some(id) = track.id else { continue };
            let (parent, sort) = match self.processes.get(track.process.0) {
                None => (None, 0),
                Some(process) => match track.role {
                    Role::Process => (process.group, 0),
                    Role::Thread(_) => (process.group, place),
                    Role::Counter { .. } => (process.counters, place),
                    Role::Async { .. } => (process.asyncs, place),
                },
            };
            let several = match &track.role {
                Role::Counter { name, id, .. }
                    if series.get(&(track.process, &**name, &**id)) == Some(&1) =>
                {
                    Series::Only
                }
                _ => Series::Named,
            };
            sink.describe_track(id, self.spec(TrackIndex(index), parent, sort, several))?;
        }
        Ok(())
    }

    /// All tracks that the sink knows, with the process and the thread they are of.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TrackId, &Id, Option<&Id>)> {
        self.tracks.iter().filter_map(|track| {
            let process = self.processes.get(track.process.0)?;
            let thread = match &track.role {
                Role::Thread(tid) => Some(tid),
                _ => None,
            };
            Some((track.id?, &process.id, thread))
        })
    }
}

/// Whether a counter has several series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Series {
    /// The series is named.
    Named,
    /// There is one: the counter's name is enough.
    Only,
}

/// By the trace's own order, devices after hosts where it gives none, then by number.
fn compare_processes(a: &Process, b: &Process) -> Ordering {
    place(a).cmp(&place(b)).then_with(|| a.id.cmp(&b.id))
}

fn place(process: &Process) -> i64 {
    /// Where PyTorch puts devices among processes.
    const FIRST_DEVICE: i64 = 5_000_000;
    let device =
        || device_number(&process.described.labels).map(|number| FIRST_DEVICE.saturating_add(number));
    process.described.sort.or_else(device).unwrap_or(0)
}

/// The number of the device that a label such as `GPU 0` names.
fn device_number(label: &str) -> Option<i64> {
    let (kind, number) = label.trim().rsplit_once(' ')?;
    let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_kind { number.parse().ok().filter(|number| *number >= 0) } else { None }
}

fn compare_tracks(a: &Track, b: &Track) -> Ordering {
    let key = |track: &Track| (track.process.0, track.described.sort.unwrap_or(0));
    key(a).cmp(&key(b)).then_with(|| a.role.cmp(&b.role))
}

/// `name pid · labels`; devices by their label, which is what they are known by.
fn process_name(process: &Process) -> String {
    let Described { name, labels, .. } = &process.described;
    let (name, labels) = (name.trim(), labels.trim());
    let id = process.id.to_string();
    let named = match (name.is_empty(), &process.id) {
        (true, Id::Absent) => "No process".to_owned(),
        (true, Id::Number(_)) => format!("Process {id}"),
        (true, Id::Text(text)) if text.is_empty() => "No process".to_owned(),
        (true, Id::Text(_)) => id,
        (false, _) if name.contains(&id) || process.id == Id::Absent => name.to_owned(),
        (false, _) => format!("{name} {id}"),
    };
    match device_number(labels) {
        Some(_) if name == labels || name.is_empty() => labels.to_owned(),
        Some(_) => format!("{labels} · {name}"),
        None if labels.is_empty() => named,
        None => format!("{named} · {labels}"),
    }
}

fn track_name(track: &Track, series: Series) -> String {
    let name = track.described.name.trim();
    match &track.role {
        Role::Process if name.is_empty() => "Process events".to_owned(),
        Role::Process => name.to_owned(),
        Role::Thread(id) => match (name.is_empty(), id) {
            (true, Id::Absent) => "No thread".to_owned(),
            (true, Id::Text(text)) if text.is_empty() => "No thread".to_owned(),
            (true, Id::Number(_)) => format!("Thread {id}"),
            (true, Id::Text(text)) => text.to_string(),
            (false, Id::Absent) => name.to_owned(),
            (false, _) if name.contains(&id.to_string()) => name.to_owned(),
            (false, _) => format!("{name} {id}"),
        },
        Role::Async { cat, name } => match (cat.is_empty(), name.is_empty()) {
            (true, true) => "Unnamed".to_owned(),
            (true, false) => name.to_string(),
            (false, true) => cat.to_string(),
            (false, false) => format!("{name} · {cat}"),
        },
        Role::Counter { name, id, series: own } => {
            let mut whole = name.to_string();
            if !id.is_empty() {
                whole.push_str(&format!(" [{id}]"));
            }
            if series == Series::Named && !own.is_empty() {
                whole.push_str(&format!(" · {own}"));
            }
            whole
        }
    }
}

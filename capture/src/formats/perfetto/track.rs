//! Tracks of the trace: descriptors by number, processes and threads, and the facts that a
//! descriptor can state late. The sink gets its tracks after the last packet.

use nprof_engine::model::Unit;
use rustc_hash::FxHashMap;

use super::record::{EventPlace, TrackEffect};
use crate::formats::trace_event::allowance::TrackAllowance;
use crate::protobuf::{MessageDamage, MessageFields};

/// Most tracks above one. Parents that form a circle end here.
pub(super) const MAX_DEPTH: usize = 32;

/// Identity of a track in the trace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum TrackKey {
    /// The number of its descriptor.
    Uuid(u64),
    /// A thread of a process, in older events.
    Thread(ThreadIds),
    /// A process, in older events.
    Process(i64),
    /// Asynchronous slices of a process by their label, in older events.
    Async(Option<i64>, Box<str>),
    /// A series of a counter of a process, in older events.
    Counter(Option<i64>, Box<str>),
    /// The track of all that do not fit into memory.
    More,
}

/// A thread and its process. The number of a thread occurs once on a machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct ThreadIds {
    pub(super) pid: i64,
    pub(super) tid: i64,
}

/// Order of the tracks below one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ordering {
    /// As they appear in the trace.
    #[default]
    Unknown,
    /// By name.
    Names,
    /// By the first event.
    Times,
    /// By the rank that each states.
    Ranks,
}

/// A counter's values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct CounterFacts {
    pub(super) unit: Unit,
    /// Factor from stated to real values.
    pub(super) multiplier: Option<i64>,
    /// Whether values are differences.
    pub(super) is_incremental: bool,
}

/// A track.
#[derive(Debug)]
pub(super) struct PerfettoTrack {
    pub(super) key: TrackKey,
    pub(super) parent: Option<u64>,
    pub(super) name: String,
    /// Name of the first event.
    pub(super) first_name: String,
    pub(super) process: Option<i64>,
    pub(super) thread: Option<ThreadIds>,
    pub(super) counter: Option<CounterFacts>,
    pub(super) ordering: Ordering,
    pub(super) rank: Option<i64>,
    /// Whether siblings of the same name are other tracks.
    pub(super) is_alone: bool,
    pub(super) has_slices: bool,
    pub(super) has_samples: bool,
    pub(super) on_device: bool,
    pub(super) has_annotations: bool,
    /// Whether it has slices or instants that are no annotations.
    pub(super) has_work: bool,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
}

/// A process or a thread, as several packets describe it.
#[derive(Debug, Default)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) labels: String,
    pub(super) sort: Option<i64>,
}

/// All tracks.
#[derive(Debug, Default)]
pub(super) struct PerfettoTracks {
    pub(super) all: Vec<PerfettoTrack>,
    by_key: FxHashMap<TrackKey, u32>,
    pub(super) processes: FxHashMap<i64, Person>,
    pub(super) threads: FxHashMap<ThreadIds, Person>,
    pub(super) allowance: TrackAllowance,
}

impl PerfettoTracks {
    /// The track with this key, which is made if it is new. Tracks that do not fit into memory
    /// share one, with a stack for each.
    pub(super) fn place(&mut self, key: TrackKey) -> EventPlace {
        if let Some(&track) = self.by_key.get(&key) {
            return EventPlace { track, stack: 0 };
        }
        let text = match &key {
            TrackKey::Async(_, text) | TrackKey::Counter(_, text) => text.len(),
            _ => 0,
        };
        let next = u32::try_from(self.all.len()).ok().filter(|_| self.allowance.takes(text));
        match next {
            Some(track) => {
                self.push(key, track);
                EventPlace { track, stack: 0 }
            }
            None => {
                use std::hash::{Hash, Hasher};
                let mut hasher = rustc_hash::FxHasher::default();
                key.hash(&mut hasher);
                let stack = hasher.finish().max(1);
                EventPlace { track: self.more(), stack }
            }
        }
    }

    fn more(&mut self) -> u32 {
        if let Some(&track) = self.by_key.get(&TrackKey::More) {
            return track;
        }
        let track = u32::try_from(self.all.len()).unwrap_or(u32::MAX - 1);
        self.push(TrackKey::More, track);
        self.all[track as usize].name = "More tracks".to_owned();
        track
    }

    fn push(&mut self, key: TrackKey, track: u32) {
        self.by_key.insert(key.clone(), track);
        self.all.push(PerfettoTrack {
            thread: match key {
                TrackKey::Thread(thread) => Some(thread),
                _ => None,
            },
            process: match key {
                TrackKey::Process(pid) => Some(pid),
                _ => None,
            },
            counter: matches!(key, TrackKey::Counter(..)).then(CounterFacts::default),
            name: match &key {
                TrackKey::Async(_, text) | TrackKey::Counter(_, text) => text.to_string(),
                _ => String::new(),
            },
            key,
            parent: None,
            first_name: String::new(),
            ordering: Ordering::default(),
            rank: None,
            is_alone: false,
            has_slices: false,
            has_samples: false,
            on_device: false,
            has_annotations: false,
            has_work: false,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
        });
    }

    /// The index of a descriptor's track, if it has one.
    pub(super) fn of_uuid(&self, uuid: u64) -> Option<usize> {
        self.by_key.get(&TrackKey::Uuid(uuid)).map(|&track| track as usize)
    }

    /// Notes the name of an event. It names a track without a name.
    pub(super) fn note_name(&mut self, track: u32, name: &str) {
        let track = &mut self.all[track as usize];
        // The track of all has events of any kind.
        let is_global = track.key == TrackKey::Uuid(0);
        if !is_global && track.name.is_empty() && track.first_name.is_empty() && !name.is_empty() {
            let _ = self.allowance.renames(&mut track.first_name, name);
        }
    }

    /// Notes an event on a track.
    pub(super) fn reach(&mut self, track: u32, act: &TrackEffect, ns: i64) {
        let track = &mut self.all[track as usize];
        let end = match *act {
            TrackEffect::Complete(duration) => ns.saturating_add(duration.max(0)),
            _ => ns,
        };
        track.first_ns = track.first_ns.min(ns);
        track.last_ns = track.last_ns.max(end);
        match act {
            TrackEffect::Sample { .. } => track.has_samples = true,
            _ => track.has_slices = true,
        }
    }

    /// The process of a track, as far as it is known by now.
    pub(super) fn process_of(&self, uuid: u64) -> Option<i64> {
        let mut next = Some(uuid);
        for _ in 0..MAX_DEPTH {
            let track = &self.all[self.of_uuid(next?)?];
            let own = track.process.or(track.thread.map(|thread| thread.pid));
            if own.is_some() {
                return own;
            }
            next = track.parent;
        }
        None
    }

    /// Names a process.
    pub(super) fn name_process(&mut self, pid: i64, name: &str, labels: &str, sort: Option<i64>) {
        if !self.processes.contains_key(&pid) && !self.allowance.takes(0) {
            return;
        }
        let process = self.processes.entry(pid).or_default();
        if !name.is_empty() {
            let _ = self.allowance.renames(&mut process.name, name);
        }
        if !labels.is_empty() {
            let _ = self.allowance.renames(&mut process.labels, labels);
        }
        process.sort = sort.or(process.sort);
    }

    /// Names a thread.
    pub(super) fn name_thread(&mut self, ids: ThreadIds, name: &str, sort: Option<i64>) {
        if !self.threads.contains_key(&ids) && !self.allowance.takes(0) {
            return;
        }
        let thread = self.threads.entry(ids).or_default();
        if !name.is_empty() {
            let _ = self.allowance.renames(&mut thread.name, name);
        }
        thread.sort = sort.or(thread.sort);
    }

    /// Takes a descriptor.
    pub(super) fn describe(&mut self, bytes: &[u8]) -> Result<(), MessageDamage> {
        let mut described = DescriptorParts::default();
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            described.take(self, number, value)?;
        }
        let place = self.place(TrackKey::Uuid(described.uuid));
        if place.stack != 0 {
            return Ok(());
        }
        let track = &mut self.all[place.track as usize];
        if let Some(mut name) = described.name {
            if let Some(symbol) = described.symbol {
                name.push_str(&format!(" [{symbol}]"));
            }
            let _ = self.allowance.renames(&mut track.name, &name);
        }
        track.parent = described.parent.or(track.parent);
        track.process = described.process.or(track.process);
        track.thread = described.thread.or(track.thread);
        track.counter = described.counter.or(track.counter);
        track.ordering = described.ordering.unwrap_or(track.ordering);
        track.rank = described.rank.or(track.rank);
        track.is_alone |= described.is_alone;
        Ok(())
    }

    /// Takes a description of a process. Returns its id.
    pub(super) fn process_descriptor(&mut self, bytes: &[u8]) -> Result<i64, MessageDamage> {
        let (mut pid, mut name, mut command, mut sort) = (0, String::new(), String::new(), None);
        let mut labels: Vec<String> = Vec::new();
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => pid = value.signed(),
                2 if command.is_empty() => command = text(value.bytes()),
                3 => sort = Some(value.signed()),
                6 => name = text(value.bytes()),
                8 => labels.push(text(value.bytes())),
                _ => {}
            }
        }
        let name = if name.is_empty() { command } else { name };
        self.name_process(pid, &name, &labels.join(", "), sort);
        Ok(pid)
    }

    /// Takes a description of a thread. Returns its ids, and the time that older events count from,
    /// in microseconds.
    pub(super) fn thread_descriptor(
        &mut self,
        bytes: &[u8],
    ) -> Result<(ThreadIds, Option<i64>), MessageDamage> {
        let (mut pid, mut tid, mut name, mut sort, mut reference_us) = (0, 0, String::new(), None, None);
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => pid = value.signed(),
                2 => tid = value.signed(),
                3 => sort = Some(value.signed()),
                5 => name = text(value.bytes()),
                6 => reference_us = Some(value.signed()),
                _ => {}
            }
        }
        let ids = ThreadIds { pid, tid };
        self.name_thread(ids, &name, sort);
        Ok((ids, reference_us))
    }

    /// Takes the processes and threads of the machine.
    pub(super) fn process_tree(&mut self, bytes: &[u8]) -> Result<(), MessageDamage> {
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            let (mut ids, mut name) = ([0; 3], String::new());
            let mut parts = MessageFields::new(value.bytes());
            while let Some((part, value)) = parts.next()? {
                match (number, part) {
                    (1, 1) | (2, 1 | 3) => ids[part as usize - 1] = value.signed(),
                    (1, 3) if name.is_empty() => name = text(value.bytes()),
                    (2, 2) => name = text(value.bytes()),
                    _ => {}
                }
            }
            match number {
                1 => self.name_process(ids[0], name.rsplit('/').next().unwrap_or(&name), "", None),
                2 => self.name_thread(ThreadIds { pid: ids[2], tid: ids[0] }, &name, None),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Parts of a descriptor.
#[derive(Debug, Default)]
struct DescriptorParts {
    uuid: u64,
    parent: Option<u64>,
    name: Option<String>,
    process: Option<i64>,
    thread: Option<ThreadIds>,
    counter: Option<CounterFacts>,
    ordering: Option<Ordering>,
    rank: Option<i64>,
    is_alone: bool,
    /// A unit that nprof does not know.
    symbol: Option<String>,
}

impl DescriptorParts {
    fn take(
        &mut self,
        tracks: &mut PerfettoTracks,
        number: u32,
        value: crate::protobuf::WireValue<'_>,
    ) -> Result<(), MessageDamage> {
        match number {
            1 => self.uuid = value.number(),
            2 | 10 | 13 => self.name = Some(text(value.bytes())),
            3 => self.process = Some(tracks.process_descriptor(value.bytes())?),
            4 => self.thread = Some(tracks.thread_descriptor(value.bytes())?.0),
            5 => self.parent = Some(value.number()).filter(|&parent| parent != 0),
            8 => self.counter = Some(counter(value.bytes(), &mut self.name, &mut self.symbol)?),
            11 => {
                self.ordering = Some(match value.number() {
                    1 => Ordering::Names,
                    2 => Ordering::Times,
                    3 => Ordering::Ranks,
                    _ => Ordering::Unknown,
                });
            }
            12 => self.rank = Some(value.signed()),
            // Merging by a key of the writer is not known; such tracks stay apart.
            15 => self.is_alone = value.number() >= 2,
            _ => {}
        }
        Ok(())
    }
}

/// Facts about a counter. One of the built-in kinds names the track, unless it has a name.
fn counter(
    bytes: &[u8],
    name: &mut Option<String>,
    unknown: &mut Option<String>,
) -> Result<CounterFacts, MessageDamage> {
    let mut facts = CounterFacts::default();
    let mut fields = MessageFields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        match (number, value.number()) {
            (1, kind @ (1 | 2)) => {
                let (unit, given) = match kind {
                    1 => (Unit::Nanoseconds, "thread time"),
                    _ => (Unit::Count, "thread instructions"),
                };
                facts.unit = unit;
                name.get_or_insert_with(|| given.to_owned());
            }
            (3, 1) => facts.unit = Unit::Nanoseconds,
            (3, 2) => facts.unit = Unit::Count,
            (3, 3) => facts.unit = Unit::Bytes,
            (4, _) => facts.multiplier = Some(value.signed()).filter(|&factor| factor > 1),
            (5, is) => facts.is_incremental = is != 0,
            (6, _) => {
                let symbol = text(value.bytes());
                let known = Unit::ALL.into_iter().find(|unit| !symbol.is_empty() && unit.symbol() == symbol);
                facts.unit = known.unwrap_or(facts.unit);
                *unknown = known.is_none().then_some(symbol).filter(|symbol| !symbol.is_empty());
            }
            _ => {}
        }
    }
    Ok(facts)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

//! Joins the traces of a run that something says to be of one job.

use std::collections::{BTreeMap, HashMap};

use nprof_engine::base::order::{sort_by, sort_by_key};

use super::cycle;
use super::name_order::pattern;
use crate::probe::process::{ClockKind, EventSpan};

/// The traces of one process.
#[derive(Debug, Clone)]
pub(super) struct ProcessTraces {
    /// Positions of the files in the list.
    pub(super) files: Vec<usize>,
    pub(super) rank: Option<u32>,
    /// Whether the content states the rank.
    pub(super) is_stated: bool,
    pub(super) span: Option<EventSpan>,
    pub(super) whole: Option<usize>,
    /// Path of the first file.
    pub(super) path: String,
    /// See [`cycle::machine`].
    pub(super) machine: String,
}

/// Whether the contents of traces name their job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    Stated,
    Unknown,
}

/// The jobs of these traces, each in the order of its first trace.
///
/// Joined are the traces of one directory or archive, traces that tell ranks, traces whose times
/// overlap, and traces whose names count from 0. Names with different texts around their ranks are
/// of one job unless their times say that they are not.
pub(super) fn joined(units: Vec<ProcessTraces>, evidence: Evidence) -> Vec<Vec<ProcessTraces>> {
    let mut sets = Sets::new(units.len());
    let mut wholes: HashMap<usize, usize> = HashMap::new();
    for (at, unit) in units.iter().enumerate() {
        if let Some(whole) = unit.whole {
            sets.join(at, *wholes.entry(whole).or_insert(at));
        }
    }
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.rank.is_some()) {
        let key = if evidence == Evidence::Stated { String::new() } else { pattern(&unit.path) };
        alike.entry(key).or_default().push(at);
    }
    let mut unknown = None;
    for files in alike.into_values() {
        files.iter().for_each(|&at| sets.join(at, files[0]));
        if !files.iter().any(|&at| telling(&units[at]).is_some()) {
            sets.join(files[0], *unknown.get_or_insert(files[0]));
        }
    }
    if let (Some(at), Some(first)) = (unknown, units.iter().position(|unit| unit.rank.is_some())) {
        sets.join(at, first);
    }
    join_overlapping(&units, &mut sets);
    for counted in counted(&units) {
        counted.iter().for_each(|&at| sets.join(at, counted[0]));
    }
    let mut jobs: BTreeMap<usize, Vec<ProcessTraces>> = BTreeMap::new();
    for (at, unit) in units.into_iter().enumerate() {
        jobs.entry(sets.first(at)).or_default().push(unit);
    }
    jobs.into_values().collect()
}

/// The span of a trace, if its clock tells programs apart.
fn telling(unit: &ProcessTraces) -> Option<EventSpan> {
    unit.span.filter(|span| span.clock != ClockKind::NearZero)
}

/// Joins traces whose times overlap.
fn join_overlapping(units: &[ProcessTraces], sets: &mut Sets) {
    let mut spans: Vec<(EventSpan, usize)> =
        units.iter().enumerate().filter_map(|(at, unit)| Some((telling(unit)?, at))).collect();
    sort_by_key(&mut spans, |(span, at)| (span.clock, span.first_ns, *at));
    let mut before: Option<(EventSpan, usize)> = None;
    for (span, at) in spans {
        before = match before {
            Some((covered, first)) if covered.overlaps(&span) => {
                sets.join(at, first);
                Some((covered.cover(span), first))
            }
            _ => Some((span, at)),
        };
    }
}

/// Traces without a rank whose names differ by one number that counts from 0, if their clocks do
/// not tell programs apart.
fn counted(units: &[ProcessTraces]) -> Vec<Vec<usize>> {
    let is_it = |unit: &ProcessTraces| unit.rank.is_none() && unit.whole.is_none() && telling(unit).is_none();
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate().filter(|(_, unit)| is_it(unit)) {
        alike.entry(cycle::of_process(&unit.path)).or_default().push(at);
    }
    let counts = |files: &Vec<usize>| {
        let numbers = |at: &usize| cycle::numbers(&units[*at].path).map(|(_, number)| number).collect();
        let all: Vec<Vec<&str>> = files.iter().map(numbers).collect();
        let differs = |place: &usize| all.iter().any(|numbers| numbers[*place] != all[0][*place]);
        let places: Vec<usize> = (0..all[0].len()).filter(differs).collect();
        let [place] = places[..] else { return false };
        let mut values: Vec<Option<usize>> = all.iter().map(|numbers| numbers[place].parse().ok()).collect();
        sort_by(&mut values, Ord::cmp);
        values.iter().enumerate().all(|(at, value)| *value == Some(at))
    };
    alike.into_values().filter(|files| files.len() > 1 && counts(files)).collect()
}

/// Disjoint sets.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The first member of a set.
    fn first(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }
}

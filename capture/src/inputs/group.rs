//! Grouping of files that arrive together into profiles: which traces are of one job.
//!
//! Ranks, world sizes and ids of jobs in the contents decide first, then times, then names. Traces
//! of a directory or an archive are of one job unless something contradicts. Traces that were named
//! one by one are of one job only if something says so. Cost: the sum of sorts of the files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nprof_engine::base::order::{gathered, sort_by, sort_by_key};

use super::joins::{Evidence, ProcessTraces, joined};
use super::name_order::pattern;
use super::{Candidate, FileKind, cycle, rank_of, ranks, settled};
use crate::importer::{Belonging, FileRole, Importer, TABLE};
use crate::probe::process::{ClockKind, EventSpan};

/// Wall clocks of one job are at most this far apart: a day.
const MAX_APART_NS: i64 = 86_400_000_000_000;

/// The profiles of files that arrived together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// The profiles.
    pub groups: Vec<FileGroup>,
    /// Reason for several profiles.
    pub apart: Option<Apart>,
}

/// The files of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileGroup {
    /// Positions of the files in the list, ascending.
    pub files: Vec<usize>,
    /// Reason for one profile.
    pub why: GroupReason,
}

/// Reason why traces are ranks of one profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupReason {
    /// There is one trace.
    Alone,
    /// The format's traces belong together.
    Format,
    /// The traces state the same id of a job.
    Job,
    /// The traces state ranks of a job of this size.
    WorldSize(u32),
    /// The traces are cycles of one process.
    Cycles,
    /// Names tell the ranks.
    Names,
    /// Times overlap, or the names count from 0.
    Times,
    /// The traces came in one directory or archive.
    Whole,
    /// The user asked for one profile.
    Asked,
}

/// Reason why traces are not ranks of one profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apart {
    /// The traces state different jobs, or different numbers of ranks.
    Jobs,
    /// Traces of one rank, or of days that are far apart, follow one another: several runs.
    Runs,
    /// Several traces tell one rank at the same time, or at unknown times.
    SameRank(u32),
    /// Nothing says that they belong together.
    Nothing,
}

/// Facts that traces of one job have in common: the format, if it has sessions, the job and the
/// number of ranks.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Realm {
    session: Option<&'static str>,
    job: Option<String>,
    world_size: Option<u32>,
}

/// The files of each profile, by their index in the list. See [`groups`].
#[must_use]
pub fn profiles(candidates: &[Candidate]) -> Vec<Vec<usize>> {
    groups(candidates).groups.into_iter().map(|group| group.files).collect()
}

/// Groups files into profiles. Each profile alone plans the same ranks as in the whole list.
///
/// A file that goes with traces is in the profile of these traces. If they are in several profiles,
/// a program is in the one with its name, else in each that has none of its name.
#[must_use]
pub fn groups(candidates: &[Candidate]) -> Groups {
    let candidates = &settled(candidates);
    let ranks = ranks(candidates);
    let mut groups = Groups::default();
    let mut realms: BTreeMap<Realm, Vec<ProcessTraces>> = BTreeMap::new();
    for files in cycle::units(candidates, &ranks) {
        let first = &candidates[files[0]];
        match first.found {
            FileKind::Claimed(claim) if claim.role != FileRole::Trace => {}
            FileKind::Claimed(claim) if claim.importer.belonging == Belonging::All => {}
            _ => {
                let unit = ProcessTraces {
                    rank: ranks[files[0]],
                    span: cycle::span(candidates, &files),
                    whole: first.whole,
                    path: first.path.clone(),
                    machine: cycle::machine(first),
                    is_stated: first.facts.rank.is_some(),
                    files,
                };
                realms.entry(Realm::of(first)).or_default().push(unit);
            }
        }
    }
    let realms = assigned(realms);
    if realms.keys().filter(|realm| !realm.is_unknown()).count() > 1 {
        groups.tell(Apart::Jobs);
    }
    for (realm, units) in realms {
        let evidence = if realm.is_unknown() { Evidence::Unknown } else { Evidence::Stated };
        for run in groups.runs(units, evidence) {
            for part in groups.parts(run) {
                for units in joined(part, evidence) {
                    let why = why(&realm, &units);
                    let files = units.into_iter().flat_map(|unit| unit.files).collect();
                    groups.groups.push(FileGroup { files, why });
                }
            }
        }
    }
    groups.with_sessions(candidates);
    groups.finish(candidates, &ranks)
}

impl Realm {
    fn of(candidate: &Candidate) -> Self {
        let claim = candidate.claim(FileRole::Trace);
        let session = claim.map(|claim| claim.importer).filter(|importer| is_session(importer));
        Self {
            session: session.map(|importer| importer.name),
            job: candidate.facts.job.clone(),
            world_size: candidate.facts.world_size,
        }
    }

    /// Whether the traces state nothing about their job.
    fn is_unknown(&self) -> bool {
        self.job.is_none() && self.world_size.is_none()
    }
}

/// Whether a format's traces have other files beside them.
fn is_session(importer: &Importer) -> bool {
    importer.takes.len() > 1
}

/// Moves traces that state nothing about their job to the only job that others state, if they came
/// with one of its traces, or tell a rank and are named like one.
fn assigned(mut realms: BTreeMap<Realm, Vec<ProcessTraces>>) -> BTreeMap<Realm, Vec<ProcessTraces>> {
    let known: Vec<&Realm> = realms.keys().filter(|realm| !realm.is_unknown()).collect();
    let ([job], Some(units)) = (&known[..], realms.get(&Realm::default())) else { return realms };
    let job = (*job).clone();
    let wholes: BTreeSet<usize> = gathered(realms[&job].iter().filter_map(|unit| unit.whole));
    let patterns: BTreeSet<String> = gathered(realms[&job].iter().map(|unit| pattern(&unit.path)));
    let is_of_job = |unit: &ProcessTraces| {
        let is_named_like = unit.rank.is_some() && patterns.contains(&pattern(&unit.path));
        is_named_like || unit.whole.is_some_and(|whole| wholes.contains(&whole))
    };
    let (moved, stay): (Vec<ProcessTraces>, Vec<ProcessTraces>) = units.iter().cloned().partition(is_of_job);
    if stay.is_empty() {
        realms.remove(&Realm::default());
    } else {
        realms.insert(Realm::default(), stay);
    }
    realms.entry(job).or_default().extend(moved);
    realms
}

/// Reason why these are one profile.
fn why(realm: &Realm, units: &[ProcessTraces]) -> GroupReason {
    let is_ranked = || units.iter().all(|unit| unit.rank.is_some());
    let has_stated = || units.iter().any(|unit| unit.is_stated);
    match (units, realm.world_size) {
        ([only], _) if only.files.len() == 1 => GroupReason::Alone,
        ([_], _) => GroupReason::Cycles,
        _ if realm.job.is_some() => GroupReason::Job,
        (_, Some(size)) if has_stated() => GroupReason::WorldSize(size),
        ([first, rest @ ..], _)
            if first.whole.is_some() && rest.iter().all(|unit| unit.whole == first.whole) =>
        {
            GroupReason::Whole
        }
        _ if is_ranked() => GroupReason::Names,
        _ => GroupReason::Times,
    }
}

impl Groups {
    /// Notes a reason for several profiles. The strongest counts.
    fn tell(&mut self, apart: Apart) {
        self.apart = Some(self.apart.map_or(apart, |known| known.min(apart)));
    }

    /// Tells runs apart by time: a run ends where a rank comes again, or before a gap of a day. If
    /// names alone tell ranks, each machine can count its own. The clock of a rank of one directory
    /// whose contents name the job can be wrong, so a gap before it ends no run.
    fn runs(&mut self, mut units: Vec<ProcessTraces>, evidence: Evidence) -> Vec<Vec<ProcessTraces>> {
        sort_by_key(&mut units, |unit| unit.span.map(|span| span.first_ns));
        let mut runs: Vec<Vec<ProcessTraces>> = vec![Vec::new()];
        let mut ranks: HashMap<u32, (EventSpan, String)> = HashMap::new();
        let mut last_ns: Option<i64> = None;
        for unit in units {
            let run = runs.last().expect("there is a first run");
            let is_sure = evidence == Evidence::Stated && unit.whole.is_some();
            let is_with = is_sure && run.last().is_some_and(|last| last.whole == unit.whole);
            let wall = unit.span.filter(|span| span.clock == ClockKind::Wall);
            let is_late =
                |(span, last_ns): (EventSpan, i64)| span.first_ns.saturating_sub(last_ns) > MAX_APART_NS;
            let before = unit.rank.and_then(|rank| ranks.get(&rank)).zip(unit.span);
            let is_again = before.is_some_and(|((before, machine), span)| {
                before.is_before(&span) && (unit.is_stated || *machine == unit.machine)
            });
            if is_again || !is_with && wall.zip(last_ns).is_some_and(is_late) {
                self.tell(Apart::Runs);
                runs.push(Vec::new());
                ranks.clear();
                last_ns = None;
            }
            last_ns = last_ns.max(wall.map(|span| span.last_ns));
            ranks.extend(unit.rank.zip(unit.span.map(|span| (span, unit.machine.clone()))));
            runs.last_mut().expect("there is a first run").push(unit);
        }
        runs
    }

    /// Tells jobs apart by paths, if several traces of a run tell one rank. Traces of a directory
    /// whose names alone tell ranks stay together: each node can count its ranks from 0.
    fn parts(&mut self, run: Vec<ProcessTraces>) -> Vec<Vec<ProcessTraces>> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        run.iter().filter_map(|unit| unit.rank).for_each(|rank| *counts.entry(rank).or_default() += 1);
        let Some((&rank, &most)) = counts.iter().max_by_key(|(_, count)| **count) else { return vec![run] };
        let can_be_apart = |unit: &ProcessTraces| {
            let is_again = unit.rank.is_some_and(|rank| counts[&rank] > 1);
            !is_again || unit.whole.is_none() || unit.is_stated || cycle::is_of_cycle(&unit.path)
        };
        if most < 2 || !run.iter().all(can_be_apart) {
            return vec![run];
        }
        let folder = |path: &str| path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.into());
        let keys: [&dyn Fn(&str) -> String; 3] = [&pattern, &folder, &without_rank];
        for key in keys {
            let mut parts: BTreeMap<String, Vec<ProcessTraces>> = BTreeMap::new();
            for unit in &run {
                parts.entry(key(&unit.path)).or_default().push(unit.clone());
            }
            if parts.len() == most && parts.values().all(|part| is_of_different_ranks(part)) {
                self.tell(Apart::SameRank(rank));
                let mut parts: Vec<Vec<ProcessTraces>> = parts.into_values().collect();
                sort_by_key(&mut parts, |part| part.iter().flat_map(|unit| &unit.files).min().copied());
                return parts;
            }
        }
        vec![run]
    }

    /// Adds the files of formats whose traces belong together, and the files that go with traces.
    fn with_sessions(&mut self, candidates: &[Candidate]) {
        for importer in TABLE.iter().filter(|row| is_session(row)) {
            let of = |is_trace: bool| {
                let is_it = move |candidate: &Candidate| match candidate.found {
                    FileKind::Claimed(claim) => {
                        claim.importer == importer && (claim.role == FileRole::Trace) == is_trace
                    }
                    _ => false,
                };
                (0..candidates.len()).filter(move |&file| is_it(&candidates[file]))
            };
            let has_trace = |group: &FileGroup| of(true).any(|file| group.files.contains(&file));
            if importer.belonging == Belonging::All {
                let traces: Vec<usize> = of(true).collect();
                if traces.is_empty() {
                    self.without_trace(of(false).collect());
                    continue;
                }
                let why = if traces.len() > 1 { GroupReason::Format } else { GroupReason::Alone };
                let files = traces.into_iter().chain(of(false)).collect();
                self.groups.push(FileGroup { files, why });
                continue;
            }
            let beside: Vec<usize> = of(false).collect();
            let takers: Vec<usize> =
                (0..self.groups.len()).filter(|&at| has_trace(&self.groups[at])).collect();
            match takers[..] {
                _ if beside.is_empty() => {}
                [] => self.groups.push(FileGroup { files: beside, why: GroupReason::Alone }),
                [only] => self.groups[only].files.extend(beside),
                _ => self.share_out(candidates, &takers, &beside),
            }
        }
    }

    /// Gives each of several profiles the programs with the name of a trace, else all programs
    /// without a trace of their name.
    fn share_out(&mut self, candidates: &[Candidate], takers: &[usize], beside: &[usize]) {
        let stem = |file: usize| {
            let path = candidates[file].path.as_str();
            path.rsplit_once('.').map_or(path, |(stem, _)| stem)
        };
        let has_name =
            |group: &FileGroup, file: usize| group.files.iter().any(|&own| stem(own) == stem(file));
        let is_named = |&file: &usize| takers.iter().any(|&at| has_name(&self.groups[at], file));
        let named: BTreeSet<usize> = gathered(beside.iter().copied().filter(is_named));
        for &at in takers {
            let group = &mut self.groups[at];
            let own: Vec<usize> = named.iter().copied().filter(|&file| has_name(group, file)).collect();
            let common = beside.iter().copied().filter(|file| !named.contains(file));
            group.files.extend(if own.is_empty() { common.collect() } else { own });
        }
        let is_used = |file: &usize| takers.iter().any(|&at| self.groups[at].files.contains(file));
        let left: Vec<usize> = beside.iter().copied().filter(|file| !is_used(file)).collect();
        self.groups[takers[0]].files.extend(left);
    }

    /// Files that go with traces of which there are none. A plan of other traces says that it
    /// leaves them out.
    fn without_trace(&mut self, files: Vec<usize>) {
        match self.groups.first_mut() {
            _ if files.is_empty() => {}
            Some(first) => first.files.extend(files),
            None => self.groups.push(FileGroup { files, why: GroupReason::Alone }),
        }
    }

    /// Puts the profiles in order: sessions, then traces that tell ranks, then all others.
    fn finish(mut self, candidates: &[Candidate], ranks: &[Option<u32>]) -> Self {
        for group in &mut self.groups {
            sort_by(&mut group.files, Ord::cmp);
        }
        let is_session = |&file: &usize| match candidates[file].found {
            FileKind::Claimed(claim) => is_session(claim.importer),
            _ => false,
        };
        let order = |group: &FileGroup| {
            let session = group.files.iter().any(is_session);
            let is_ranked = group.files.iter().any(|&file| ranks[file].is_some());
            (!session, !is_ranked, group.files.first().copied())
        };
        sort_by_key(&mut self.groups, order);
        self.apart = match self.groups.len() {
            0 | 1 => None,
            _ => self.apart.or(Some(Apart::Nothing)),
        };
        self
    }
}

/// A path without the number of the rank.
fn without_rank(path: &str) -> String {
    let rank = rank_of(path).map(|rank| rank.to_string());
    let numbers = cycle::numbers(path).filter(|(_, number)| rank.as_deref() != Some(*number));
    pattern(path) + &numbers.map(|(_, number)| format!(" {number}")).collect::<String>()
}

fn is_of_different_ranks(units: &[ProcessTraces]) -> bool {
    let mut ranks = BTreeSet::new();
    units.iter().filter_map(|unit| unit.rank).all(|rank| ranks.insert(rank))
}

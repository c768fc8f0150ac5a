//! Plans: the files of each rank.

use nprof_engine::base::order::sort_by_key;

use super::{Candidate, FileKind, cycle, name_order, rank_of, ranks, settled};
use crate::importer::{FileCount, FileRole, Importer};
use crate::refusal::FileRefusal;

/// A trace with the files that belong to it, and the format that reads them. A plan gives one rank,
/// unless the trace holds several. Some formats have several traces a rank. Cycles of a profiler
/// are in the order of their times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The format.
    pub importer: &'static Importer,
    /// The files; the traces come first.
    pub files: Vec<PlanFile>,
    /// Number of the rank, if the trace's name or its first bytes tell it.
    pub rank: Option<u32>,
}

/// A file of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanFile {
    /// The purpose of the file.
    pub role: FileRole,
    /// Index of the file in the list of candidates.
    pub file: usize,
}

impl Plan {
    /// The traces by their index in the list of candidates.
    pub fn traces(&self) -> impl Iterator<Item = usize> {
        self.files.iter().filter(|part| part.role == FileRole::Trace).map(|part| part.file)
    }

    /// Index of the first trace in the list of candidates.
    #[must_use]
    pub fn trace(&self) -> usize {
        self.file(FileRole::Trace).expect("a plan is made for a trace")
    }

    /// Index of the file with this role in the list of candidates.
    #[must_use]
    pub fn file(&self, role: FileRole) -> Option<usize> {
        self.files.iter().find(|part| part.role == role).map(|part| part.file)
    }
}

/// The plans of one profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plans {
    /// Plans by rank. Plans whose names tell none come last, in the order of their files. Names
    /// that differ by numbers only are in the order of these numbers.
    pub plans: Vec<Plan>,
    /// Files that go with a trace, if no trace takes them.
    pub unused: Vec<usize>,
    /// Files that are not read.
    pub refused: Vec<(usize, FileRefusal)>,
}

/// Reason why there are no plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplanned {
    /// There is no file.
    Nothing,
    /// This file goes with a trace, and there is no trace.
    Alone(usize),
    /// Each of these files could go with the traces.
    Several(usize, usize),
}

/// Plans one profile of these files. An archive must have been replaced by its entries.
pub fn plan(candidates: &[Candidate]) -> Result<Plans, Unplanned> {
    let candidates = &settled(candidates);
    let mut plans = Plans::default();
    let mut beside = Vec::new();
    let ranks = ranks(candidates);
    for unit in cycle::units(candidates, &ranks) {
        let file = unit[0];
        match &candidates[file].found {
            FileKind::Claimed(claim) if claim.role == FileRole::Trace => {
                plans.add_traces(claim.importer, &unit, ranks[file]);
            }
            FileKind::Claimed(claim) => {
                beside.push((claim.importer, PlanFile { role: claim.role, file }));
            }
            FileKind::Packed(packing) => {
                let what = format!("nprof has not opened this {} archive", packing.title());
                plans.refused.push((file, FileRefusal::unread(what, "unpack it and pass the traces inside")));
            }
            FileKind::Refused(refusal) => plans.refused.push((file, refusal.clone())),
        }
    }
    if plans.plans.is_empty() && plans.refused.is_empty() {
        return Err(beside.first().map_or(Unplanned::Nothing, |(_, part)| Unplanned::Alone(part.file)));
    }
    plans.join_unranked();
    for plan in &mut plans.plans {
        for takes in &plan.importer.takes[1..] {
            let is_for = |(importer, part): &&(&Importer, PlanFile)| {
                let for_other = takes.number == FileCount::Several
                    && rank_of(&candidates[part.file].name).is_some_and(|rank| plan.rank != Some(rank));
                *importer == plan.importer && part.role == takes.role && !for_other
            };
            let parts: Vec<PlanFile> = beside.iter().filter(is_for).map(|(_, part)| *part).collect();
            if let (FileCount::One, [first, second, ..]) = (takes.number, parts.as_slice()) {
                return Err(Unplanned::Several(first.file, second.file));
            }
            plan.files.extend(parts);
        }
    }
    let is_used =
        |file: usize| plans.plans.iter().any(|plan| plan.files.iter().any(|part| part.file == file));
    plans.unused = beside.iter().map(|(_, part)| part.file).filter(|&file| !is_used(file)).collect();
    plans.sort(candidates);
    Ok(plans)
}

impl Plans {
    /// Adds the traces of a process: to the plan of their rank if the format joins traces, else as
    /// a plan of their own.
    fn add_traces(&mut self, importer: &'static Importer, traces: &[usize], rank: Option<u32>) {
        let parts = traces.iter().map(|&file| PlanFile { role: FileRole::Trace, file });
        let is_joined = |plan: &&mut Plan| joins(importer) && plan.importer == importer && plan.rank == rank;
        match self.plans.iter_mut().find(is_joined) {
            Some(plan) => plan.files.extend(parts),
            None => self.plans.push(Plan { importer, files: parts.collect(), rank }),
        }
    }

    /// Puts the plans in the order of ranks.
    fn sort(&mut self, candidates: &[Candidate]) {
        sort_by_key(&mut self.plans, |plan| plan.rank.map_or(u64::MAX, u64::from));
        let ranked = self.plans.partition_point(|plan| plan.rank.is_some());
        let unranked = self.plans.split_off(ranked);
        let names: Vec<&str> = unranked.iter().map(|plan| candidates[plan.trace()].name.as_str()).collect();
        self.plans.extend(name_order::order(&names).into_iter().map(|at| unranked[at].clone()));
    }

    /// Moves traces that tell no rank to the only rank of their format.
    fn join_unranked(&mut self) {
        let Some(at) = self.plans.iter().position(|plan| joins(plan.importer) && plan.rank.is_none()) else {
            return;
        };
        let importer = self.plans[at].importer;
        let mut ranked =
            self.plans.iter_mut().filter(|plan| plan.importer == importer && plan.rank.is_some());
        if let (Some(_), None) = (ranked.next(), ranked.next()) {
            let unranked = self.plans.remove(at);
            let only = self.plans.iter_mut().find(|plan| plan.importer == importer);
            only.expect("it was counted above").files.extend(unranked.files);
        }
    }
}

/// Whether several traces of a format can be one rank.
fn joins(importer: &Importer) -> bool {
    importer.takes[0].number == FileCount::Several
}

//! Plans: the files of each rank.

use super::{Candidate, Found, Refusal, rank_of};
use crate::importer::{Importer, Role};

/// A trace with the files that belong to it, and the format that reads them. A plan gives one rank,
/// unless the trace holds several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The format.
    pub importer: &'static Importer,
    /// The files; the trace comes first.
    pub files: Vec<PlanFile>,
    /// Number of the rank, if the trace's name tells it.
    pub rank: Option<u32>,
}

/// A file of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanFile {
    /// The purpose of the file.
    pub role: Role,
    /// Index of the file in the list of candidates.
    pub file: usize,
}

impl Plan {
    /// Index of the trace in the list of candidates.
    #[must_use]
    pub fn trace(&self) -> usize {
        self.file(Role::Trace).expect("a plan is made for a trace")
    }

    /// Index of the file with this role in the list of candidates.
    #[must_use]
    pub fn file(&self, role: Role) -> Option<usize> {
        self.files.iter().find(|part| part.role == role).map(|part| part.file)
    }
}

/// The plans of one profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plans {
    /// Plans by rank. Plans whose names tell none come last, in the order of their files.
    pub plans: Vec<Plan>,
    /// Files that go with a trace, if no trace takes them.
    pub unused: Vec<usize>,
    /// Files that are not read.
    pub refused: Vec<(usize, Refusal)>,
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
///
/// # Errors
/// If there is nothing to read, or several files could belong to the traces.
pub fn plan(candidates: &[Candidate]) -> Result<Plans, Unplanned> {
    let mut plans = Plans::default();
    let mut beside = Vec::new();
    for (file, candidate) in candidates.iter().enumerate() {
        match &candidate.found {
            Found::Claimed(claim) if claim.role == Role::Trace => plans.plans.push(Plan {
                importer: claim.importer,
                files: vec![PlanFile { role: Role::Trace, file }],
                rank: rank_of(&candidate.name),
            }),
            Found::Claimed(claim) => {
                beside.push((claim.importer, PlanFile { role: claim.role, file }));
            }
            Found::Packed(packing) => {
                let what = format!("nprof has not opened this {} archive", packing.title());
                plans.refused.push((file, Refusal::unread(what, "unpack it and pass the traces inside")));
            }
            Found::Refused(refusal) => plans.refused.push((file, refusal.clone())),
        }
    }
    if plans.plans.is_empty() && plans.refused.is_empty() {
        return Err(beside.first().map_or(Unplanned::Nothing, |(_, part)| Unplanned::Alone(part.file)));
    }
    for plan in &mut plans.plans {
        for takes in &plan.importer.takes[1..] {
            let is_for = |(importer, part): &&(&Importer, PlanFile)| {
                *importer == plan.importer && part.role == takes.role
            };
            let mut parts = beside.iter().filter(is_for).map(|(_, part)| *part);
            let first = parts.next();
            if let (Some(first), Some(second)) = (first, parts.next()) {
                return Err(Unplanned::Several(first.file, second.file));
            }
            plan.files.extend(first);
        }
    }
    let is_used =
        |file: usize| plans.plans.iter().any(|plan| plan.files.iter().any(|part| part.file == file));
    plans.unused = beside.iter().map(|(_, part)| part.file).filter(|&file| !is_used(file)).collect();
    plans.plans.sort_by_key(|plan| plan.rank.map_or(u64::MAX, u64::from));
    Ok(plans)
}

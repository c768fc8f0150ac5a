//! Completes the facts about traces whose first bytes do not tell enough.
//!
//! A trace is read to its end for this if it can be a cycle of a rank, if it states no rank at its
//! beginning, or if another trace has its rank. Reading costs a second per gigabyte.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};

use nprof_capture::archive::{PlainFile, Spool};
use nprof_capture::importer::FileRole;
use nprof_capture::inputs::{Candidate, cycle, ranks};
use nprof_capture::probe::process::{OVERLAP_LEN, ProcessFacts, ProcessSurvey};

use super::InputFile;

/// Unpacked bytes that are searched at once.
const CHUNK_LEN: u64 = 1 << 20;

/// Completes the facts. An unreadable file is left to its reader.
pub(super) fn survey(files: &mut [InputFile], spool: &dyn Spool) {
    let mut done = BTreeSet::new();
    loop {
        let candidates: Vec<Candidate> = files.iter().map(|file| file.leaf.candidate.clone()).collect();
        let wanted: Vec<usize> = wanted(&candidates).into_iter().filter(|file| done.insert(*file)).collect();
        if wanted.is_empty() {
            return;
        }
        for file in wanted {
            let leaf = &mut files[file].leaf;
            match facts(leaf, spool) {
                Ok(Some(facts)) => leaf.candidate.facts = facts,
                Ok(None) => return,
                Err(error) => tracing::debug!("{}: cannot find facts ({error})", leaf.candidate.name),
            }
        }
    }
}

/// The files whose first bytes do not tell enough.
fn wanted(candidates: &[Candidate]) -> Vec<usize> {
    let states_facts = |file: &usize| {
        candidates[*file].claim(FileRole::Trace).is_some_and(|claim| claim.importer.facts.is_some())
    };
    let traces: Vec<usize> = (0..candidates.len()).filter(states_facts).collect();
    if traces.len() < 2 {
        return Vec::new();
    }
    let ranks = ranks(candidates);
    let mut counts: HashMap<u32, usize> = HashMap::new();
    ranks.iter().flatten().for_each(|&rank| *counts.entry(rank).or_default() += 1);
    let is_unclear = |file: &usize| match ranks[*file] {
        Some(rank) => counts[&rank] > 1,
        None => true,
    };
    let alike = cycle::alike(candidates, &ranks).into_iter().flatten();
    let wanted: BTreeSet<usize> = traces.into_iter().filter(is_unclear).chain(alike).collect();
    wanted.into_iter().collect()
}

/// The facts of a whole trace; `None` if the spool is cancelled.
fn facts(leaf: &PlainFile, spool: &dyn Spool) -> io::Result<Option<ProcessFacts>> {
    let (mut input, mut chunk, mut survey) = (leaf.reader(), Vec::new(), ProcessSurvey::default());
    loop {
        if spool.is_cancelled() {
            return Ok(None);
        }
        if (&mut input).take(CHUNK_LEN).read_to_end(&mut chunk)? == 0 {
            leaf.packed.let_go(0..usize::MAX);
            return Ok(Some(survey.finish()));
        }
        survey.take(&chunk);
        chunk.drain(..chunk.len().saturating_sub(OVERLAP_LEN));
    }
}

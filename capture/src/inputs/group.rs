//! Grouping of files that were dropped together into profiles.

use super::{Candidate, Found, rank_of, settled};
use crate::importer::{Belonging, Role, TABLE};

/// The files of each profile, by their index in the list.
///
/// Traces of a format whose files belong together are one profile, with the files that go with
/// them. All traces and archives whose names tell a rank are also one. Every other file is a
/// profile of its own. Each profile alone plans the same ranks as in the whole list.
#[must_use]
pub fn profiles(candidates: &[Candidate]) -> Vec<Vec<usize>> {
    let candidates = &settled(candidates);
    let mut together: Vec<Vec<usize>> = vec![Vec::new(); TABLE.len()];
    let mut numbered = Vec::new();
    let mut alone = Vec::new();
    for (file, candidate) in candidates.iter().enumerate() {
        let session = match candidate.found {
            Found::Claimed(claim)
                if claim.role != Role::Trace || claim.importer.belonging == Belonging::All =>
            {
                TABLE.iter().position(|row| row == claim.importer)
            }
            _ => None,
        };
        match session {
            Some(row) => together[row].push(file),
            None if rank_of(&candidate.name).is_some() => numbered.push(file),
            None => alone.push(vec![file]),
        }
    }
    together.push(numbered);
    together.into_iter().filter(|files| !files.is_empty()).chain(alone).collect()
}

//! Which tracks of two runs are the same.

use rustc_hash::FxHashMap;

use super::track_program::{ProgramTrack, RepeatedProgram};
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::Role;
use crate::segment::Bytes;

/// Part of the slices of the larger track whose names the other one has, too, from which on both
/// are the same track.
const LEAST_COMMON: f64 = 0.5;

/// A track of both runs, or of one, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrackPair {
    pub(super) a: Option<usize>,
    pub(super) b: Option<usize>,
}

/// The tracks that are matched so far.
struct TrackMatch {
    /// For each track of the first run that of the second one.
    of_a: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl TrackMatch {
    fn pair(&mut self, a: usize, b: usize) {
        self.of_a[a] = Some(b);
        self.is_taken[b] = true;
    }

    fn open_a(&self) -> Vec<usize> {
        (0..self.of_a.len()).filter(|at| self.of_a[*at].is_none()).collect()
    }

    fn open_b(&self) -> Vec<usize> {
        (0..self.is_taken.len()).filter(|at| !self.is_taken[*at]).collect()
    }

    /// Pairs the tracks that are the only ones in both runs by a key.
    fn pair_by<K: Eq + std::hash::Hash>(
        &mut self,
        a: &[ProgramTrack],
        b: &[ProgramTrack],
        key: impl Fn(&ProgramTrack) -> Option<K>,
    ) {
        let mut tracks: FxHashMap<K, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for at in self.open_a() {
            key(&a[at]).into_iter().for_each(|key| tracks.entry(key).or_default().0.push(at));
        }
        for at in self.open_b() {
            key(&b[at]).into_iter().for_each(|key| tracks.entry(key).or_default().1.push(at));
        }
        for (of_a, of_b) in tracks.into_values() {
            if let ([a], [b]) = (&of_a[..], &of_b[..]) {
                self.pair(*a, *b);
            }
        }
    }

    fn pairs(self) -> Vec<TrackPair> {
        let alone: Vec<usize> = self.open_b();
        let both = self.of_a.into_iter().enumerate().map(|(at, other)| TrackPair { a: Some(at), b: other });
        both.chain(alone.into_iter().map(|at| TrackPair { a: None, b: Some(at) })).collect()
    }
}

/// The tracks of both runs: those of one name and part of the machine; then of one part; then of
/// one name, which another device can have; then those that do most of the same work, because
/// numbers of streams change from run to run. Others stand alone.
pub(super) fn track_pairs<B: Bytes>(
    a: RepeatedProgram<'_, '_, B>,
    b: RepeatedProgram<'_, '_, B>,
    cancel: Cancel<'_>,
) -> Result<Vec<TrackPair>> {
    let (of_a, of_b) = (&a.0.tracks, &b.0.tracks);
    let mut found = TrackMatch { of_a: vec![None; of_a.len()], is_taken: vec![false; of_b.len()] };
    found.pair_by(of_a, of_b, |track| Some((track.name.clone(), track.identity)));
    found.pair_by(of_a, of_b, |track| Some(track.identity).filter(|identity| identity.role != Role::Unknown));
    found.pair_by(of_a, of_b, |track| Some((track.name.clone(), track.identity.role)));
    let (open_a, open_b) = (found.open_a(), found.open_b());
    if open_a.is_empty() || open_b.is_empty() {
        return Ok(found.pairs());
    }
    let counts = |of: RepeatedProgram<'_, '_, B>, open: &[usize]| {
        open.iter().map(|at| name_counts(of, *at, cancel)).collect::<Result<Vec<_>>>()
    };
    let (counts_a, counts_b) = (counts(a, &open_a)?, counts(b, &open_b)?);
    let mut alike: Vec<(f64, usize, usize)> = Vec::new();
    for (at_a, own) in open_a.iter().zip(&counts_a) {
        let is_same_role = |at_b: &usize| of_a[*at_a].identity.role == of_b[*at_b].identity.role;
        for (at_b, other) in open_b.iter().zip(&counts_b).filter(|(at_b, _)| is_same_role(at_b)) {
            alike.push((common(own, other), *at_a, *at_b));
        }
    }
    alike.retain(|(part, ..)| *part >= LEAST_COMMON);
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    for (_, at_a, at_b) in alike {
        if found.of_a[at_a].is_none() && !found.is_taken[at_b] {
            found.pair(at_a, at_b);
        }
    }
    Ok(found.pairs())
}

/// How often each name is on a track.
fn name_counts<B: Bytes>(
    of: RepeatedProgram<'_, '_, B>,
    at: usize,
    cancel: Cancel<'_>,
) -> Result<FxHashMap<String, u64>> {
    let mut numbers: FxHashMap<u32, u64> = FxHashMap::default();
    for slice in of.0.slices(at, of.1, cancel)? {
        *numbers.entry(slice.name).or_default() += 1;
    }
    let named = |(number, count): (u32, u64)| Ok((of.0.name(number)?.to_owned(), count));
    numbers.into_iter().map(named).collect()
}

/// Part of the slices of the larger track that have an equal in the other one by name.
fn common(a: &FxHashMap<String, u64>, b: &FxHashMap<String, u64>) -> f64 {
    let shared: u64 = a.iter().filter_map(|(name, count)| Some(*count.min(b.get(name)?))).sum();
    let larger = a.values().sum::<u64>().max(b.values().sum());
    if larger == 0 { 0.0 } else { shared as f64 / larger as f64 }
}

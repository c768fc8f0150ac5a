//! Places at which an order could repeat: runs of names that come again at even distances.
//!
//! A run of names that occurs once in each repetition marks its begin wherever it stands. Longer
//! runs are rarer, so runs of several lengths are looked at. Cost: a pass over the order for each
//! length.

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::exec::Cancel;

/// Repetitions that make an order clear.
pub(super) const LEAST_REPETITIONS: usize = 3;
/// Lengths of runs.
const RUNS: [usize; 8] = [1, 2, 3, 5, 8, 16, 32, 64];
/// Part of a distance by which it can differ from the median one.
const MOST_APART: f64 = 0.1;
/// Part of the order that even distances have to cover.
const LEAST_COVERED: f64 = 0.4;
/// Lengths within this part of each other are one candidate.
const SAME_LENGTH: f64 = 0.02;
/// Candidates that are kept, the longest ones.
const MOST: usize = 256;

/// The places of a run of names that comes again at even distances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepeatCandidate {
    /// Median distance, in nodes.
    pub(super) length: usize,
    /// Nodes in even distances.
    pub(super) covered: usize,
    /// Positions in the order.
    pub(super) places: Vec<usize>,
}

/// All candidates, the longest repetition first.
pub(super) fn candidates(names: &[u32], cancel: Cancel<'_>) -> Result<Vec<RepeatCandidate>> {
    let mut best: FxHashMap<u32, RepeatCandidate> = FxHashMap::default();
    for run in RUNS {
        if names.len() < run * LEAST_REPETITIONS {
            break;
        }
        cancel.check()?;
        for places in places_of_runs(names, run) {
            let Some(found) = even(places, names.len()) else { continue };
            let bucket = ((found.length as f64).ln() / SAME_LENGTH) as u32;
            match best.get(&bucket) {
                Some(known) if known.covered >= found.covered => {}
                _ => drop(best.insert(bucket, found)),
            }
        }
    }
    let mut all: Vec<RepeatCandidate> = best.into_values().collect();
    all.sort_by_key(|one| (std::cmp::Reverse(one.length), std::cmp::Reverse(one.covered)));
    all.truncate(MOST);
    Ok(all)
}

/// For each run of this length that comes often enough, its places.
fn places_of_runs(names: &[u32], run: usize) -> Vec<Vec<usize>> {
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    let mut counts: Vec<usize> = Vec::new();
    let mut of_place: Vec<usize> = Vec::with_capacity(names.len());
    for hash in hashes(names, run) {
        let number = *numbers.entry(hash).or_insert_with(|| {
            counts.push(0);
            counts.len() - 1
        });
        counts[number] += 1;
        of_place.push(number);
    }
    // A run that is half of all names is no begin of anything.
    let is_wanted = |count: usize| count >= LEAST_REPETITIONS && count * 2 <= names.len() + 1;
    let mut places: Vec<Vec<usize>> =
        counts.iter().map(|&count| Vec::with_capacity(if is_wanted(count) { count } else { 0 })).collect();
    for (place, number) in of_place.into_iter().enumerate().filter(|(_, of)| is_wanted(counts[*of])) {
        places[number].push(place);
    }
    places.retain(|places| !places.is_empty());
    places
}

/// A hash of each run of this length. Equal hashes of different runs cost time and no truth: all
/// repetitions are compared name by name.
fn hashes(names: &[u32], run: usize) -> impl Iterator<Item = u64> + '_ {
    /// Odd numbers with random bits.
    const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
    const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;
    let value = |name: u32| (u64::from(name) + 1).wrapping_mul(SPREAD).rotate_left(29).wrapping_mul(BASE);
    let highest = (1..run).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let add = move |hash: u64, name: u32| hash.wrapping_mul(BASE).wrapping_add(value(name));
    let mut hash = names[..run - 1].iter().fold(0_u64, |hash, &name| add(hash, name));
    names.windows(run).map(move |window| {
        let whole = add(hash, window[run - 1]);
        hash = whole.wrapping_sub(value(window[0]).wrapping_mul(highest));
        whole
    })
}

/// The candidate of these places, if most are at even distances.
fn even(places: Vec<usize>, all: usize) -> Option<RepeatCandidate> {
    let distances = || places.windows(2).map(|pair| pair[1] - pair[0]);
    let mut sorted: Vec<usize> = distances().collect();
    let middle = sorted.len() / 2;
    let length = *sorted.select_nth_unstable(middle).1;
    let apart = (MOST_APART * length as f64) as usize;
    let covered: usize = distances().filter(|distance| distance.abs_diff(length) <= apart).sum();
    // The last repetition has no place behind it.
    let is_even = length > 1 && (covered + length) as f64 >= LEAST_COVERED * all as f64;
    is_even.then_some(RepeatCandidate { length, covered, places })
}

//! The order of names that repeats in a longer order, and its repetitions.
//!
//! Repetitions are followed from a sound one in both directions: each begins where the one before
//! it ends, and a few names can be missing or added. Behind one that differs too much, the next
//! place of the candidate goes on.

use rustc_hash::FxHashMap;

use super::candidate::{LEAST_REPETITIONS, RepeatCandidate, candidates};
use super::likeness::{Likeness, beginning};
use crate::base::Result;
use crate::exec::Cancel;

/// Part of a repetition that the ends of a recording can lack of three repetitions.
const LEAST_PART: f64 = 0.9;
/// Part of an order that repetitions have to cover.
const LEAST_COVERED: f64 = 0.5;
/// An order that contains a shorter one is that of the shorter one if no repetition of this differs
/// more: a kernel that a program runs now and then, such as that of a log.
const SMALL_DIFFERENCE: f64 = 0.03;
/// Part of an order that one is at most which it contains several times.
const MOST_PART: f64 = 0.6;
/// Times by which a longer order has to explain the differences of a shorter one.
const BETTER: f64 = 4.0;

/// Bits by which repetitions have to tell an order shorter. The chance that an order without loops
/// looks so is one in as many powers of two.
const LEAST_BITS: f64 = 8.0;

/// Repetitions that are compared in search of the usual one.
const COMPARED: usize = 12;

/// One repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Repeat {
    /// First position.
    pub(super) start: usize,
    /// Position behind the last one.
    pub(super) end: usize,
    /// Part of the names that differ.
    pub(super) difference: f64,
}

/// Repetitions of an order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepeatingOrder {
    /// The names of a repetition.
    pub(super) word: Vec<u32>,
    /// The repetitions, ascending. The names between two are unlike.
    pub(super) repeats: Vec<Repeat>,
}

impl RepeatingOrder {
    /// Names in repetitions.
    fn covered(&self) -> usize {
        self.repeats.iter().map(|one| one.end - one.start).sum()
    }

    /// Mean difference from the first to the last repetition. Unlike names differ wholly.
    fn mean_difference(&self) -> f64 {
        let (Some(first), Some(last)) = (self.repeats.first(), self.repeats.last()) else { return 1.0 };
        let whole = (last.end - first.start) as f64;
        let of = |one: &Repeat| one.difference * (one.end - one.start) as f64;
        (self.repeats.iter().map(of).sum::<f64>() + whole - self.covered() as f64) / whole
    }

    /// Number of places between two repetitions where something is unlike.
    fn gaps(&self) -> usize {
        self.repeats.windows(2).filter(|pair| pair[1].start > pair[0].end).count()
    }

    /// Whether something unlike is between two repetitions.
    pub(super) fn has_gaps(&self) -> bool {
        self.gaps() > 0
    }

    /// Whether another order, which is not longer, says more: one of about the same length that
    /// differs less, or one that this one contains several times.
    fn gives_way_to(&self, other: &Self) -> bool {
        match other.word.len() as f64 <= MOST_PART * self.word.len() as f64 {
            true => self.is_several_of(other),
            false => other.mean_difference() < self.mean_difference(),
        }
    }

    /// Whether the order is that of this shorter repetition, several times.
    fn is_several_of(&self, shorter: &Self) -> bool {
        let largest = shorter.repeats.iter().map(|one| one.difference).fold(0.0, f64::max);
        // Lost kernels are not where an outer loop would be, so only an exact one explains them.
        let is_exact = self.mean_difference() == 0.0;
        let is_even = !shorter.has_gaps() && (largest <= SMALL_DIFFERENCE || !is_exact);
        // The parts of repetitions at both ends are not followed.
        let covered = shorter.covered() + shorter.word.len();
        let covers = covered as f64 >= LEAST_PART * self.covered() as f64;
        covers && (is_even || shorter.difference_within(self) <= BETTER * self.difference_within(self))
    }

    /// Mean difference in the repetitions of another order. The names between those are unlike for
    /// both: what comes there now and then, such as a prefill, says nothing about its steps.
    fn difference_within(&self, other: &Self) -> f64 {
        let mut repeats = self.repeats.iter().peekable();
        let mut unlike = 0.0;
        for outer in &other.repeats {
            let mut covered = 0;
            while let Some(one) = repeats.next_if(|one| one.start < outer.end) {
                let within = one.end.min(outer.end).saturating_sub(one.start.max(outer.start));
                covered += within;
                unlike += one.difference * within as f64;
            }
            unlike += (outer.end - outer.start - covered) as f64;
        }
        unlike / other.covered().max(1) as f64
    }
}

/// The repetition of the outermost loop. `None` if there is none.
pub(super) fn outermost(names: &[u32], cancel: Cancel<'_>) -> Result<Option<RepeatingOrder>> {
    let surprise = Surprise::of(names);
    let mut found: Option<RepeatingOrder> = None;
    for candidate in candidates(names, cancel)? {
        cancel.check()?;
        let Some(next) = followed(names, &candidate, &surprise) else { continue };
        match &found {
            Some(outer) if !outer.gives_way_to(&next) => {}
            _ => found = Some(next),
        }
    }
    Ok(found)
}

/// How surprising each name of an order is, in bits.
struct Surprise {
    of_names: FxHashMap<u32, f64>,
    /// Bits that tell a place of the order.
    of_place: f64,
}

impl Surprise {
    fn of(names: &[u32]) -> Self {
        let all = names.len().max(1) as f64;
        let mut of_names: FxHashMap<u32, f64> = FxHashMap::default();
        for name in names {
            *of_names.entry(*name).or_default() += 1.0;
        }
        of_names.values_mut().for_each(|of| *of = (all / *of).log2());
        Self { of_names, of_place: all.log2() }
    }

    /// Whether an order is told in clearly fewer bits by its repetitions than name by name. Few
    /// names in a short order repeat by chance.
    fn is_explained_by(&self, found: &RepeatingOrder) -> bool {
        let word: f64 = found.word.iter().map(|name| self.of_names[name]).sum();
        let edits = |one: &Repeat| one.difference * (one.end - one.start + found.word.len()) as f64;
        let edits: f64 = found.repeats.iter().map(edits).sum();
        let saved = (found.repeats.len() as f64 - 1.0) * word;
        // The begin and the length of the word, where it does not go on, and each edit.
        let of_edit = (found.word.len() as f64).log2() + word / found.word.len() as f64;
        let told = (2.0 + found.gaps() as f64) * self.of_place + edits * of_edit;
        saved - told >= LEAST_BITS
    }
}

/// The repetitions at the places of a candidate, if they are enough.
fn followed(names: &[u32], candidate: &RepeatCandidate, surprise: &Surprise) -> Option<RepeatingOrder> {
    let word_at = usual(names, candidate)?;
    let word = &names[word_at.0..word_at.1];
    if word.iter().all(|name| *name == word[0]) {
        return None;
    }
    let repeats = repeats(names, word, word_at.0, &candidate.places);
    let (first, last) = (repeats.first()?, repeats.last()?);
    let found = RepeatingOrder { word: word.to_vec(), repeats: repeats.clone() };
    // The begin and the end of a recording can hold parts of repetitions.
    let ends = (first.start + names.len() - last.end).min(word.len()) as f64 / word.len() as f64;
    let is_often = repeats.len() as f64 + ends >= LEAST_REPETITIONS as f64 - 1.0 + LEAST_PART;
    let covers = found.covered() as f64 + ends * word.len() as f64 >= LEAST_COVERED * names.len() as f64;
    let is_enough = is_often && repeats.len() >= LEAST_REPETITIONS - 1 && covers;
    (is_enough && surprise.is_explained_by(&found)).then_some(found)
}

/// The place of a repetition of about the usual length that is like the others: the most frequent
/// one if it is half of all, else the one with the fewest differences from some others.
fn usual(names: &[u32], candidate: &RepeatCandidate) -> Option<(usize, usize)> {
    let mut counts: FxHashMap<&[u32], (usize, usize)> = FxHashMap::default();
    let apart = candidate.length / 10;
    let is_even = |pair: &&[usize]| (pair[1] - pair[0]).abs_diff(candidate.length) <= apart;
    let places: Vec<&[usize]> = candidate.places.windows(2).filter(is_even).collect();
    for pair in &places {
        counts.entry(&names[pair[0]..pair[1]]).or_insert((0, pair[0])).0 += 1;
    }
    let mut words: Vec<(&[u32], usize, usize)> =
        counts.into_iter().map(|(word, (count, at))| (word, count, at)).collect();
    words.sort_by_key(|(word, count, at)| {
        (std::cmp::Reverse(*count), word.len().abs_diff(candidate.length), *at)
    });
    let most = words.first()?;
    if most.1 * 2 > places.len() {
        return Some((most.2, most.2 + most.0.len()));
    }
    let differences = |word: &[u32]| -> f64 {
        let of = |other: &(&[u32], usize, usize)| {
            beginning(other.0, word).map_or(1.0, |like| like.difference(word.len()))
        };
        words.iter().take(COMPARED).map(of).sum()
    };
    let best = words.iter().take(COMPARED).map(|(word, _, at)| (differences(word), *at, word.len()));
    best.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, at, length)| (at, at + length))
}

/// All repetitions of a word, from the place `at` in both directions. `places` are where
/// repetitions can go on behind something unlike.
pub(super) fn repeats(names: &[u32], word: &[u32], at: usize, places: &[usize]) -> Vec<Repeat> {
    let forward = walk(names, word, at, places.iter().copied().filter(|place| *place >= at));
    let reversed = |values: &[u32]| values.iter().rev().copied().collect::<Vec<u32>>();
    let mirror = |place: usize| names.len() - place;
    let before = places.iter().rev().copied().filter(|place| *place <= at).map(mirror);
    let backward = walk(&reversed(names), &reversed(word), mirror(at), before);
    let turned = |one: &Repeat| Repeat { start: mirror(one.end), end: mirror(one.start), ..*one };
    backward.iter().rev().map(turned).chain(forward).collect()
}

/// Follows repetitions to the end. `places` ascend.
fn walk(names: &[u32], word: &[u32], from: usize, places: impl Iterator<Item = usize>) -> Vec<Repeat> {
    let mut places = places.peekable();
    let (mut found, mut at) = (Vec::new(), from);
    loop {
        match beginning(&names[at..], word) {
            Some(like @ Likeness { length, .. }) if length > 0 => {
                found.push(Repeat { start: at, end: at + length, difference: like.difference(word.len()) });
                at += length;
            }
            _ => {
                while places.next_if(|place| *place <= at).is_some() {}
                match places.next() {
                    Some(place) => at = place,
                    None => return found,
                }
            }
        }
    }
}

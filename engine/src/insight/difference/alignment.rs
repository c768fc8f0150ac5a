//! Rows of two runs that are one: work that has another name in the second run.
//!
//! Each of the two names is in one run only. They are one if they stand at the same place among
//! names that both runs have, or if they are the only ones of one function: compilers put choices
//! of tiles and types into the arguments of templates.

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::run_sample::RunSample;

/// Rows of one repetition that are put beside each other. The time of it grows with the square
/// of what differs.
const MOST_ALIGNED: usize = 4_000;

/// A row of the first run with the row of the second one that is the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RowPair {
    pub(super) a: u32,
    pub(super) b: u32,
}

/// Rows that only one of the runs has.
struct Unmatched<'r> {
    a: &'r RunSample,
    b: &'r RunSample,
    /// For each row of the second run its number in the first one.
    in_a: Vec<Option<u32>>,
    /// For each row of the first run whether the second one has it.
    is_in_b: Vec<bool>,
}

/// Pairs of rows with other names. A swapped pair of runs has the swapped pairs.
pub(super) fn renamed(a: &RunSample, b: &RunSample) -> Vec<RowPair> {
    let order = a.ordered_names().cmp(b.ordered_names()).then_with(|| a.names.cmp(&b.names));
    match order.is_le() {
        true => renamed_in_order(a, b),
        false => renamed_in_order(b, a).into_iter().map(|pair| RowPair { a: pair.b, b: pair.a }).collect(),
    }
}

/// Pairs of rows of ranks with other numbers, if the runs have as many ranks and no number in
/// common.
pub(super) fn renumbered(a: &RunSample, b: &RunSample) -> Vec<RowPair> {
    let have_common = a.ranks.iter().any(|rank| b.ranks.contains(rank));
    if have_common || a.names.len() != b.names.len() {
        return Vec::new();
    }
    let rows = 0..u32::try_from(a.names.len()).unwrap_or(u32::MAX);
    rows.map(|row| RowPair { a: row, b: row }).collect()
}

fn renamed_in_order(a: &RunSample, b: &RunSample) -> Vec<RowPair> {
    let numbers: FxHashMap<&str, u32> = a.names.iter().map(String::as_str).zip(0..).collect();
    let in_a: Vec<Option<u32>> = b.names.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
    let mut is_in_b = vec![false; a.names.len()];
    in_a.iter().flatten().for_each(|row| is_in_b[*row as usize] = true);
    let of = Unmatched { a, b, in_a, is_in_b };
    let mut found: Vec<RowPair> = Vec::new();
    for pair in of.by_neighbours().into_iter().chain(of.by_function()) {
        if found.iter().all(|one| one.a != pair.a && one.b != pair.b) {
            found.push(pair);
        }
    }
    found
}

impl Unmatched<'_> {
    /// Rows at the same place between names that both runs have, those that are most often
    /// first.
    fn by_neighbours(&self) -> Vec<RowPair> {
        let first = u32::try_from(self.a.names.len()).unwrap_or(u32::MAX);
        let of_a = &self.a.order[..self.a.order.len().min(MOST_ALIGNED)];
        let own = &self.b.order[..self.b.order.len().min(MOST_ALIGNED)];
        // By the numbers of the first run; names that it lacks have numbers behind them.
        let of_b: Vec<u32> =
            own.iter().map(|row| self.in_a[*row as usize].unwrap_or(first.saturating_add(*row))).collect();
        let mut votes: FxHashMap<RowPair, u32> = FxHashMap::default();
        let changes = capture_diff_slices(Algorithm::Patience, of_a, &of_b);
        let is_equal = |at: usize| matches!(changes.get(at), Some(DiffOp::Equal { .. }));
        for (at, change) in changes.iter().enumerate() {
            let DiffOp::Replace { old_index, old_len, new_index, new_len } = *change else { continue };
            let has_neighbours = at.checked_sub(1).is_some_and(is_equal) || is_equal(at + 1);
            if !has_neighbours || old_len != new_len {
                continue;
            }
            for at in 0..old_len {
                let pair = RowPair { a: of_a[old_index + at], b: own[new_index + at] };
                if self.is_unmatched(pair) {
                    *votes.entry(pair).or_default() += 1;
                }
            }
        }
        let mut votes: Vec<(RowPair, u32)> = votes.into_iter().collect();
        votes.sort_unstable_by_key(|(pair, votes)| (std::cmp::Reverse(*votes), *pair));
        votes.into_iter().map(|(pair, _)| pair).collect()
    }

    fn is_unmatched(&self, pair: RowPair) -> bool {
        !self.is_in_b[pair.a as usize] && self.in_a[pair.b as usize].is_none()
    }

    /// Rows that are the only ones of their function in each run.
    fn by_function(&self) -> Vec<RowPair> {
        let only = |of: &RunSample, is_matched: &dyn Fn(usize) -> bool| {
            let mut rows: FxHashMap<String, Vec<u32>> = FxHashMap::default();
            for (at, row) in (0..of.names.len()).zip(0..).filter(|(at, _)| !is_matched(*at)) {
                rows.entry(function(&of.names[at]).to_owned()).or_default().push(row);
            }
            rows.into_iter().filter(|(_, rows)| rows.len() == 1).map(|(name, rows)| (name, rows[0]))
        };
        let of_b: FxHashMap<String, u32> = only(self.b, &|at| self.in_a[at].is_some()).collect();
        let mut pairs: Vec<RowPair> = only(self.a, &|at| self.is_in_b[at])
            .filter_map(|(name, a)| Some(RowPair { a, b: *of_b.get(&name)? }))
            .collect();
        pairs.sort_unstable();
        pairs
    }
}

/// The name of a function without the arguments of its template and its parameters.
pub(in crate::insight) fn function(name: &str) -> &str {
    let end = name.find(['<', '(']).filter(|end| *end > 0);
    end.map_or(name, |end| name[..end].trim_end())
}

//! Metrics that rules look at: those of one rank of a job, whose ranks run one program.

use rustc_hash::FxHashMap;

/// The numbers of a rank by the names of its metrics. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeasuredRank {
    /// Number of the rank.
    pub rank: u32,
    /// The numbers.
    pub values: FxHashMap<String, f64>,
}

impl MeasuredRank {
    /// The metric of this name.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied().filter(|value| value.is_finite())
    }

    /// A time in picoseconds.
    pub(super) fn ps(&self, name: &str) -> Option<i64> {
        Some((self.value(name)? * 1e12) as i64)
    }

    /// The metrics whose names begin with `start` and end with `end`.
    pub(super) fn like<'a>(&'a self, start: &'a str, end: &'a str) -> impl Iterator<Item = f64> + 'a {
        let is_like = move |name: &str| name.starts_with(start) && name.ends_with(end);
        let all = self.values.iter().filter(move |(name, value)| is_like(name) && value.is_finite());
        all.map(|(_, value)| *value)
    }
}

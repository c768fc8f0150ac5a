//! The blame that chance gives equal ranks.
//!
//! If each rank of an operation is as likely as any other to come at each place, a rank has the
//! mean blame of an operation, give or take its spread. Over many operations the spreads add up as
//! those of independent events do. One pause that is far beyond the usual is no chance, so it must
//! not widen what chance explains: the spread of an operation counts up to a multiple of the median
//! of its like.

use rustc_hash::FxHashMap;

use super::arrival::Arrival;
use super::{Instances, RankReport};

/// The spread of an operation counts up to this multiple of the median variance of operations with
/// as many ranks.
const MOST_OF_MEDIAN: f64 = 4.0;

/// The spread of blame so far.
#[derive(Debug)]
pub(super) struct Chance {
    /// For each operation the variance of its ranks' blame.
    variances: Vec<f64>,
}

impl Chance {
    pub(super) fn new(operations: usize) -> Self {
        Self { variances: vec![0.0; operations] }
    }

    /// Adds an operation, and to its ranks the blame beyond the mean.
    pub(super) fn add(&mut self, at: usize, arrivals: &[Arrival], ranks: &mut [RankReport]) {
        if arrivals.len() < 2 {
            return;
        }
        let count = arrivals.len() as f64;
        let mean = arrivals.iter().map(|one| one.blame_ps).sum::<f64>() / count;
        self.variances[at] = arrivals.iter().map(|one| (one.blame_ps - mean).powi(2)).sum::<f64>() / count;
        for one in arrivals {
            let rank = &mut ranks[one.member.rank];
            rank.surplus_ps += one.blame_ps - mean;
            rank.partners += arrivals.len() as u64 - 1;
        }
    }

    /// Gives each rank the deviation that chance explains.
    pub(super) fn finish(self, instances: &Instances, ranks: &mut [RankReport]) {
        let mut like: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
        for (at, variance) in self.variances.iter().enumerate() {
            like.entry(instances.count(at)).or_default().push(*variance);
        }
        let limit = |variances: &mut Vec<f64>| {
            let middle = variances.len() / 2;
            MOST_OF_MEDIAN * *variances.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        let limits: FxHashMap<usize, f64> =
            like.iter_mut().map(|(count, variances)| (*count, limit(variances))).collect();
        for (at, variance) in self.variances.iter().enumerate() {
            let counted = variance.min(limits[&instances.count(at)]);
            for one in instances.members(at) {
                ranks[one.rank].chance_ps += counted;
            }
        }
        for rank in ranks {
            rank.chance_ps = rank.chance_ps.sqrt();
        }
    }
}

//! The bounds of a difference of means.
//!
//! Two runs of four steps are usual, and a bootstrap of four values draws the same few again and
//! again: its intervals are too narrow by half. Student's distribution knows how little four values
//! tell. Steps that vary without a normal distribution are told apart by their ranks. Neither needs
//! a seed.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::samples::{MeanSpread, MeanSpreads, RowSamples};

/// Part of the error that each of the estimates by spread may have. The one by ranks has the rest.
const OF_SPREAD: f64 = 0.3;
/// Spread between repetitions relative to that within them, up to which repetitions have no
/// effect of their own: chance alone makes it larger in less than one of fifty pairs of four steps
/// on eight ranks.
const NO_EFFECT: f64 = 3.0;
/// Most repetitions of a run whose ranks are counted. The spread of more is well known.
const MOST_RANKED: usize = 40;

/// A difference of two means, for one repetition, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShiftBounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl ShiftBounds {
    fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// The bounds of the difference of two means, with this chance of being wrong. `None` if the
/// repetitions do not tell.
///
/// Steps of two runs can be alike by position, as those of one batch are. So there are estimates
/// with steps in pairs and without, and one by ranks; the narrowest counts.
pub(super) fn bounds(a: &RowSamples, b: &RowSamples, is_coupled: bool, error: f64) -> Option<ShiftBounds> {
    let difference = b.mean() - a.mean();
    let apart = || {
        let [of_a, of_b] = settled([a.spreads(is_coupled)?, b.spreads(is_coupled)?]);
        Some(welch(of_a, a.len(), of_b, b.len()))
    };
    let in_pairs = || {
        let [MeanSpread { variance, freedom }] = settled([a.spreads_of_difference(b, is_coupled)?]);
        Some(MeanSpread { variance: variance / a.len() as f64, freedom })
    };
    let widths = [apart(), in_pairs()].into_iter().flatten().filter_map(|of| width(of, error * OF_SPREAD));
    let by_spread = widths.map(|width| ShiftBounds { low: difference - width, high: difference + width });
    let by_ranks = ranked(a, b, error * (1.0 - 2.0 * OF_SPREAD))
        .map(|of| ShiftBounds { low: of.low.min(difference), high: of.high.max(difference) });
    by_spread.chain(by_ranks).reduce(|one, other| if other.width() < one.width() { other } else { one })
}

/// The spread of each run: that of all ranks if repetitions have no effect of their own, in both
/// runs together, else that between repetitions.
fn settled<const N: usize>(of: [MeanSpreads; N]) -> [MeanSpread; N] {
    let within: Option<f64> = of.iter().map(|one| one.within.map(|within| within.variance)).sum();
    let between: f64 = of.iter().map(|one| one.between.variance).sum();
    let have_no_effect = within.is_some_and(|within| between <= NO_EFFECT * within);
    of.map(|one| if have_no_effect { one.pooled() } else { one.between })
}

/// The spread of a difference of means of values whose spreads differ (Welch, "The generalization
/// of Student's problem when several different population variances are involved", 1947).
fn welch(a: MeanSpread, of_a: usize, b: MeanSpread, of_b: usize) -> MeanSpread {
    let (part_a, part_b) = (a.variance / of_a as f64, b.variance / of_b as f64);
    let variance = part_a + part_b;
    let freedom = match variance > 0.0 {
        true => variance.powi(2) / (part_a.powi(2) / a.freedom + part_b.powi(2) / b.freedom),
        false => a.freedom + b.freedom,
    };
    MeanSpread { variance, freedom }
}

fn width(of: MeanSpread, error: f64) -> Option<f64> {
    let quantile = StudentsT::new(0.0, 1.0, of.freedom).ok()?.inverse_cdf(1.0 - error / 2.0);
    Some(quantile * of.variance.sqrt()).filter(|width| width.is_finite())
}

/// The bounds of a shift between two runs, from the differences of all pairs of repetitions (Hodges
/// and Lehmann, "Estimates of location based on rank tests", 1963). `None` of too few repetitions.
fn ranked(a: &RowSamples, b: &RowSamples, error: f64) -> Option<ShiftBounds> {
    if a.len().max(b.len()) > MOST_RANKED {
        return None;
    }
    let (own, other) = (a.means(), b.means());
    let mut differences: Vec<f64> =
        other.iter().flat_map(|other| own.iter().map(move |own| other - own)).collect();
    differences.sort_by(f64::total_cmp);
    let cut = cut(a.len(), b.len(), error)?;
    Some(ShiftBounds { low: *differences.get(cut)?, high: *differences.get(differences.len() - 1 - cut)? })
}

/// Differences to cut off at each end: the largest rank sum whose chance is at most half the error,
/// if both runs are alike (Mann and Whitney, 1947).
fn cut(of_a: usize, of_b: usize, error: f64) -> Option<usize> {
    // Ways in which some of the first values of both, in order, add up to each sum.
    let most = of_a * of_b;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for one in 1..=of_a {
        // Gaussian binomials: times (1 - q^(b + one)), divided by (1 - q^one).
        for sum in (of_b + one..=most).rev() {
            ways[sum] -= ways[sum - of_b - one];
        }
        for sum in one..=most {
            ways[sum] += ways[sum - one];
        }
    }
    let all: f64 = ways.iter().sum();
    let mut below = 0.0;
    let within = ways.iter().take_while(|ways| {
        below += **ways;
        below <= all * error / 2.0
    });
    within.count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    //! Quantiles and rank sums against those of tables.

    use super::*;

    #[test]
    fn rank_sums_are_those_of_tables() {
        // Two runs of five: 2 of 252 orders are apart, so 1 % leaves the widest bounds.
        assert_eq!((cut(5, 5, 0.01), cut(5, 5, 0.007)), (Some(0), None));
        // Mann and Whitney: critical values for 5 %, two sides.
        for (a, b, critical) in [(5, 5, 2), (6, 6, 5), (8, 8, 13), (10, 10, 23), (8, 10, 17), (20, 20, 127)] {
            assert_eq!(cut(a, b, 0.05), Some(critical), "{a} {b}");
        }
    }

    #[test]
    fn widths_are_those_of_student() {
        let of = |freedom: f64| width(MeanSpread { variance: 4.0, freedom }, 0.05).unwrap() / 2.0;
        for (freedom, quantile) in [(3.0, 3.182), (10.0, 2.228), (120.0, 1.980)] {
            assert!((of(freedom) - quantile).abs() < 0.001, "{freedom}: {}", of(freedom));
        }
    }
}

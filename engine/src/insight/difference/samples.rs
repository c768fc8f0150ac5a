//! The values of one row in all repetitions of all ranks.

/// The values of one row in one repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepeatedValues {
    /// Whether the time to the next repetition is missing.
    pub(super) is_open: bool,
    /// One value for each rank, in picoseconds.
    pub(super) of_ranks: Vec<i64>,
}

impl RepeatedValues {
    fn mean(&self) -> f64 {
        let sum: f64 = self.of_ranks.iter().map(|value| *value as f64).sum();
        sum / self.of_ranks.len().max(1) as f64
    }
}

/// The values of one row. All repetitions have the same ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowSamples(pub(super) Vec<RepeatedValues>);

/// The spread of the mean over ranks of one repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeanSpread {
    /// Variance.
    pub(super) variance: f64,
    /// Its degrees of freedom.
    pub(super) freedom: f64,
}

/// The spread of the mean of a repetition, seen in two ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeanSpreads {
    /// From one repetition to the next.
    pub(super) between: MeanSpread,
    /// From rank to rank within the repetitions, if ranks do not wait for each other.
    pub(super) within: Option<MeanSpread>,
}

impl RowSamples {
    /// Number of repetitions.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The sum over all repetitions of the mean over ranks, divided by `repetitions`.
    pub(super) fn rounded(&self, repetitions: usize) -> i64 {
        let sum: i128 = self.0.iter().flat_map(|one| &one.of_ranks).map(|value| i128::from(*value)).sum();
        let of = self.0.first().map_or(1, |one| one.of_ranks.len()).max(1) * repetitions.max(1);
        rounded_part(sum, of as i128)
    }

    /// The mean over ranks and repetitions.
    pub(super) fn mean(&self) -> f64 {
        self.means().iter().sum::<f64>() / self.len().max(1) as f64
    }

    /// The mean over ranks of each repetition.
    pub(super) fn means(&self) -> Vec<f64> {
        self.0.iter().map(RepeatedValues::mean).collect()
    }

    /// The spread of the mean of a repetition. `None` if that cannot be told.
    ///
    /// Ranks of a repetition wait for each other, so the spread is that between repetitions. Work
    /// that waits for nobody varies from rank to rank as well, which tells much more of the same
    /// spread if repetitions have no effect of their own.
    pub(super) fn spreads(&self, is_coupled: bool) -> Option<MeanSpreads> {
        let means = self.means();
        // The last repetition lacks the time behind it, so it is a group of its own.
        let closed = means.iter().zip(&self.0).filter(|(_, one)| !(one.is_open && is_coupled));
        let closed: Vec<f64> = closed.map(|(mean, _)| *mean).collect();
        let groups = if closed.len() + 1 >= means.len() { &closed } else { &means };
        let within = if is_coupled { None } else { self.within(&means) };
        Some(MeanSpreads { between: variance(groups)?, within })
    }

    /// The spread of the difference to other samples from one repetition to the next, if they are
    /// paired.
    pub(super) fn spreads_of_difference(&self, of: &Self, is_coupled: bool) -> Option<MeanSpreads> {
        if self.len() != of.len() {
            return None;
        }
        let (own, other) = (self.means(), of.means());
        let differences: Vec<f64> = own.iter().zip(&other).map(|(own, other)| other - own).collect();
        let within = || {
            let (own, other) = (self.within(&own)?, of.within(&other)?);
            Some(MeanSpread {
                variance: own.variance + other.variance,
                freedom: own.freedom.min(other.freedom),
            })
        };
        Some(MeanSpreads {
            between: variance(&differences)?,
            within: if is_coupled { None } else { within() },
        })
    }

    /// The spread of the mean of a repetition if its ranks do not wait for each other. Time that a
    /// rank always takes more than others is no spread.
    fn within(&self, means: &[f64]) -> Option<MeanSpread> {
        let (repetitions, ranks) = (self.len(), self.0.first()?.of_ranks.len());
        if repetitions < 2 || ranks < 2 {
            return None;
        }
        let all = means.iter().sum::<f64>() / repetitions as f64;
        let of_rank = |rank: usize| {
            self.0.iter().map(|one| one.of_ranks[rank] as f64).sum::<f64>() / repetitions as f64
        };
        let mut squares = 0.0;
        for rank in 0..ranks {
            let own = of_rank(rank);
            for (one, mean) in self.0.iter().zip(means) {
                squares += (one.of_ranks[rank] as f64 - own - mean + all).powi(2);
            }
        }
        let freedom = ((repetitions - 1) * (ranks - 1)) as f64;
        Some(MeanSpread { variance: squares / freedom / ranks as f64, freedom })
    }
}

impl MeanSpreads {
    /// The spread, if repetitions have no effect of their own: the larger one, known from all
    /// ranks.
    pub(super) fn pooled(self) -> MeanSpread {
        let Some(within) = self.within else { return self.between };
        MeanSpread {
            variance: self.between.variance.max(within.variance),
            freedom: self.between.freedom + within.freedom,
        }
    }
}

/// The variance of values; `None` of fewer than two.
fn variance(of: &[f64]) -> Option<MeanSpread> {
    if of.len() < 2 {
        return None;
    }
    let mean = of.iter().sum::<f64>() / of.len() as f64;
    let freedom = (of.len() - 1) as f64;
    let variance = of.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
    Some(MeanSpread { variance, freedom })
}

/// A part of a sum, to the nearest whole number; halves go away from zero, so that a negated sum
/// has the negated part.
fn rounded_part(sum: i128, of: i128) -> i64 {
    let half = if sum < 0 { -of / 2 } else { of / 2 };
    i64::try_from((sum + half) / of).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

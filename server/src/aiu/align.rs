//! Clocks of the ranks of an output. The analysis of all ranks finds them; times are then those of
//! the rank with the lowest number.

use std::collections::BTreeMap;

use nprof_engine::analysis::ClockVerdict;
use nprof_engine::base::{ClockFit, Time};
use nprof_engine::exec::Cancel;
use nprof_engine::makers::CallIds;

use crate::analysis::{AnalysisError, analyse};
use crate::store::Profile;
use crate::work::Meter;

/// The clocks of ranks.
#[derive(Debug, Clone, Default)]
pub struct Alignment {
    fits: BTreeMap<u32, ClockFit>,
    reference: ClockFit,
    /// Operations that tell the clocks; 0 if ranks keep theirs.
    pub operations: u32,
}

/// Times of a rank.
#[derive(Debug, Clone, Copy)]
pub struct RankTime {
    /// Time zero in picoseconds on the trace's own clock.
    pub origin_ps: i128,
    own: ClockFit,
    reference: ClockFit,
}

impl Alignment {
    /// The clocks that the collective operations of a profile tell.
    pub fn of(profile: &Profile, meter: &Meter) -> Result<Self, AnalysisError> {
        let analysed = analyse(profile, CallIds::Skipped, Cancel::when(&|| meter.is_cancelled()))?;
        let clocks = &analysed.report.clocks;
        if clocks.verdict != ClockVerdict::Aligned {
            return Ok(Self::default());
        }
        let fits: BTreeMap<u32, ClockFit> =
            analysed.job.ranks.iter().map(|rank| rank.rank).zip(analysed.report.used).collect();
        let reference = fits.values().next().copied().unwrap_or_default();
        let operations = clocks.ranks.iter().map(|clock| clock.calls).max().unwrap_or(0);
        Ok(Self { fits, reference, operations })
    }

    /// Times of a rank with this time zero.
    #[must_use]
    pub fn times(&self, rank: u32, origin_ps: i128) -> RankTime {
        match self.fits.get(&rank) {
            Some(own) => RankTime { origin_ps, own: *own, reference: self.reference },
            None => RankTime { origin_ps, own: ClockFit::default(), reference: ClockFit::default() },
        }
    }
}

impl RankTime {
    /// A time on the clock of the output.
    #[must_use]
    pub fn at(&self, ps: i64) -> i128 {
        self.origin_ps + i128::from(self.reference.to_local(self.own.to_shared(Time(ps))).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_first_rank() {
        let fit = |offset_ps| ClockFit::new(0, offset_ps, 0, None).unwrap();
        let fits = BTreeMap::from([(2, fit(500)), (3, fit(-40))]);
        let alignment = Alignment { fits, reference: fit(500), operations: 1 };
        let at = |rank| alignment.times(rank, 1_000).at(7);
        assert_eq!((at(2), at(3), at(9)), (1_007, 467, 1_007));
    }
}

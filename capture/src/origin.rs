//! The origin: the time on a trace's own clock that is the profile's time zero.
//!
//! Timestamps are microseconds since anything: the trace's start, the machine's, 1970. Clocks that
//! start near zero are kept as they are. All others are counted from the first event, because some
//! readers have only 53 bits for times. The ranks of a profile share one origin. The shared origin
//! follows from the set of their beginnings, not from their order.

/// A trace that begins within a minute of its clock's zero keeps that zero.
const NEAR_ZERO_PS: i128 = 60 * 1_000_000_000_000;

/// Timestamps further than an hour from the median of a head are strays and do not affect the
/// origin.
const MAX_STRAY_PS: i128 = 3_600 * 1_000_000_000_000;

/// Ranks further from the median of all ranks than this (26 days) get an origin of their own. This
/// is a quarter of the range of time, so that the times of ranks that share an origin fit.
pub const MAX_APART_PS: i128 = 1 << 61;

/// Most timestamps of a head that are read.
pub(crate) const MAX_TIMESTAMPS: usize = 10_000;

const PS_PER_NS: i128 = 1_000;

/// Beginning of a trace, from its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceBeginning {
    /// Earliest time in picoseconds on the trace's own clock.
    first_ps: i128,
    /// Wall clock at the own clock's zero in Unix nanoseconds, if the bytes state it.
    base_ns: Option<i64>,
}

impl TraceBeginning {
    /// The beginning of a trace with these first times, in picoseconds, and this wall clock at the
    /// own clock's zero. `None` if there are no times.
    pub(crate) fn of_times(mut times: Vec<i128>, base_ns: Option<i64>) -> Option<Self> {
        let first_ps = earliest(&mut times)?;
        Some(Self { first_ps, base_ns })
    }

    /// Earliest time in picoseconds on the trace's own clock.
    pub(crate) fn first_ps(&self) -> i128 {
        self.first_ps
    }
}

/// The earliest time near the median.
fn earliest(times: &mut [i128]) -> Option<i128> {
    let middle = times.len().checked_sub(1)? / 2;
    let (_, &mut median, _) = times.select_nth_unstable(middle);
    let near = times.iter().copied().filter(|ps| ps.abs_diff(median) <= MAX_STRAY_PS.unsigned_abs());
    near.min()
}

/// Ranks that use an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All ranks whose clocks are near each other.
    Shared,
    /// This rank alone, whose clock is too far from the others'.
    Alone,
}

/// The profile's time zero on a trace's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Time zero in picoseconds; a whole number of nanoseconds.
    ps: i128,
    sharing: Sharing,
}

impl Origin {
    /// The origin of a trace that is alone, from its first time.
    pub(crate) fn of_first(ps: i128) -> Self {
        let near_zero = ps.unsigned_abs() <= NEAR_ZERO_PS.unsigned_abs();
        let ps = if near_zero { 0 } else { ps.div_euclid(PS_PER_NS) * PS_PER_NS };
        Self { ps, sharing: Sharing::Shared }
    }

    /// Time zero on the trace's own clock, in picoseconds.
    pub(crate) fn ps(self) -> i128 {
        self.ps
    }

    /// Ranks that use the origin.
    #[must_use]
    pub fn sharing(self) -> Sharing {
        self.sharing
    }
}

/// The origins of the ranks of a profile, in the order of their beginnings; `None` for a rank
/// without a beginning.
///
/// If every beginning states the wall clock of its zero, clocks with different zeros are put on one
/// axis. A rank whose clock is more than 26 days from the median has an origin of its own.
#[must_use]
pub fn origins(beginnings: &[Option<TraceBeginning>]) -> Vec<Option<Origin>> {
    let known = || beginnings.iter().flatten();
    let bases: Option<Vec<i64>> = known().map(|beginning| beginning.base_ns).collect();
    let first_base = bases.and_then(|bases| bases.into_iter().min());
    // Distance of a trace's zero from the earliest zero.
    let zero_ps = |of: &TraceBeginning| match (first_base, of.base_ns) {
        (Some(first), Some(base)) => (i128::from(base) - i128::from(first)) * PS_PER_NS,
        _ => 0,
    };
    let on_axis = |of: &TraceBeginning| of.first_ps.saturating_add(zero_ps(of));
    let mut firsts: Vec<i128> = known().map(on_axis).collect();
    firsts.sort_unstable();
    let Some(&median) = firsts.get(firsts.len().saturating_sub(1) / 2) else {
        return vec![None; beginnings.len()];
    };
    let is_near = |ps: i128| ps.abs_diff(median) <= MAX_APART_PS.unsigned_abs();
    let first = firsts.iter().copied().find(|&ps| is_near(ps)).unwrap_or(median);
    let shared = Origin::of_first(first);
    let origin = |of: &TraceBeginning| {
        if is_near(on_axis(of)) {
            Origin { ps: shared.ps.saturating_sub(zero_ps(of)), ..shared }
        } else {
            Origin { sharing: Sharing::Alone, ..Origin::of_first(of.first_ps) }
        }
    };
    beginnings.iter().map(|beginning| beginning.as_ref().map(origin)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The order of the ranks changes nothing, and the first times become small numbers.
        #[test]
        fn origins_follow_from_the_set_of_beginnings(
            firsts in prop::collection::vec(any::<u64>(), 1..8),
            apart in 1_u64..1 << 50,
        ) {
            let all: Vec<_> = firsts
                .iter()
                .map(|first| Some(TraceBeginning { first_ps: i128::from(first % apart), base_ns: None }))
                .collect();
            let forward = origins(&all);
            let mut backward = origins(&all.iter().rev().copied().collect::<Vec<_>>());
            backward.reverse();
            prop_assert_eq!(&forward, &backward);
            let least = firsts.iter().map(|first| i128::from(first % apart)).min().unwrap();
            for origin in forward.into_iter().flatten() {
                prop_assert!((0..NEAR_ZERO_PS + 1).contains(&(least - origin.ps())));
            }
        }
    }
}

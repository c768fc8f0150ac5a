//! Shift between the clocks of the runtime (FLEX) and of PyTorch, if one rank has traces of both.
//!
//! Each round trip of the runtime lies within a call of PyTorch: the k-th within the k-th. The call
//! is longer by a time `x`, of which a constant share lies after the round trip. So the ends of
//! both are `shift + share · x` apart, a line that least squares find. No round trip may begin
//! before its call or end after it, which bounds the shift. Clocks that fit as they are stay as
//! they are.

use nprof_engine::base::Result;
use rustc_hash::FxHashMap;

use super::TraceDialect;
use super::job::GrowingSpan;
use super::limit::key;
use crate::formats::trace_event::layer::{Layer, LayerClaim, LayerEvent, LowerReader};

/// Part of the names of round trips.
const ROUND_TRIP: &str = "Flex RoundTrip";
/// Parts of the names of the calls around them. The first that occurs counts.
const CALLS: [&str; 2] = ["built-in method Predict of PyCapsule object", "Torch-Compiled Region"];

/// Most round trips and calls that are compared, and most begins that wait for their ends.
const MAX_CALLS: usize = 1 << 16;
/// Most round trips or calls at the beginning that have no partner.
const MAX_LONE: usize = 64;

/// The clocks' shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockShift {
    /// Time in picoseconds that is added to the times of the runtime.
    pub(super) ps: i128,
    /// Pairs that tell the shift.
    pub(super) pairs: usize,
}

/// The round trips and calls of a rank, each by the clock of its dialect.
#[derive(Debug)]
pub(super) struct HostCalls {
    dialect: TraceDialect,
    /// Process of the round trips: the first that has some.
    process: Option<Box<[u8]>>,
    trips: Vec<GrowingSpan>,
    calls: [Vec<GrowingSpan>; CALLS.len()],
    open: FxHashMap<Box<[u8]>, Vec<i64>>,
    open_count: usize,
}

impl HostCalls {
    pub(super) fn new() -> Self {
        Self {
            dialect: TraceDialect::Flex,
            process: None,
            trips: Vec::new(),
            calls: Default::default(),
            open: FxHashMap::default(),
            open_count: 0,
        }
    }

    /// Begins a file. Begins of the file before get no ends any more.
    pub(super) fn begin(&mut self, dialect: TraceDialect) {
        self.dialect = dialect;
        self.open.clear();
        self.open_count = 0;
    }

    /// The shift, if the round trips lie within the calls. `apart_ps` is time zero of PyTorch's
    /// times less that of the runtime's.
    pub(super) fn shift(self, apart_ps: i128) -> Option<ClockShift> {
        let sorted = |mut spans: Vec<GrowingSpan>| {
            spans.sort_unstable_by_key(|span| (span.start_ps, span.end_ps));
            spans
        };
        let calls = sorted(self.calls.into_iter().find(|calls| !calls.is_empty())?);
        let trips = sorted(self.trips);
        let (more_trips, more_calls) =
            (trips.len().saturating_sub(calls.len()), calls.len().saturating_sub(trips.len()));
        let fits = (0..=usize::max(more_trips, more_calls).min(MAX_LONE))
            .filter_map(|lone| ShiftFit::of(&trips[lone.min(more_trips)..], &calls[lone.min(more_calls)..]));
        let best = fits.min_by(|a, b| a.residual_ps.total_cmp(&b.residual_ps))?;
        let bounds = apart_ps + i128::from(best.bounds.0)..=apart_ps + i128::from(best.bounds.1);
        let ps = if bounds.contains(&0) { 0 } else { apart_ps + i128::from(best.shift_ps) };
        Some(ClockShift { ps, pairs: best.pairs })
    }

    /// The spans that an event of this name belongs to.
    fn spans(&mut self, name: &str) -> Option<&mut Vec<GrowingSpan>> {
        match self.dialect {
            TraceDialect::Flex => name.contains(ROUND_TRIP).then_some(&mut self.trips),
            TraceDialect::Torch => {
                let at = CALLS.iter().position(|call| name.contains(call))?;
                Some(&mut self.calls[at])
            }
        }
    }

    fn take(&mut self, met: LayerEvent<'_>, time_ps: i64) {
        let name = met.name();
        match met.phase() {
            b"B" if self.open_count < MAX_CALLS => {
                self.open_count += 1;
                self.open.entry(key(met)).or_default().push(time_ps);
            }
            b"E" => {
                let start_ps = self.open.get_mut(&key(met)).and_then(Vec::pop);
                self.open_count -= usize::from(start_ps.is_some());
                if let (Some(start_ps), Some(spans)) = (start_ps, self.spans(&name)) {
                    add(spans, start_ps, time_ps);
                }
            }
            b"X" => {
                if let Some(spans) = self.spans(&name) {
                    add(spans, time_ps, time_ps.saturating_add(met.duration().unwrap_or(0)));
                }
            }
            _ => {}
        }
    }
}

fn add(spans: &mut Vec<GrowingSpan>, start_ps: i64, end_ps: i64) {
    if spans.len() < MAX_CALLS && end_ps >= start_ps {
        spans.push(GrowingSpan { start_ps, end_ps });
    }
}

impl Layer for HostCalls {
    fn event(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        let is_slice = matches!(met.phase(), b"X" | b"B" | b"E");
        if !is_slice || self.spans(&met.name()).is_none() {
            return Ok(LayerClaim::ByLayer);
        }
        if self.dialect == TraceDialect::Flex {
            let process = self.process.get_or_insert_with(|| met.pid().into());
            if **process != *met.pid() {
                return Ok(LayerClaim::ByLayer);
            }
        }
        if let Some(time_ps) = below.known_time(met) {
            self.take(met, time_ps);
        }
        Ok(LayerClaim::ByLayer)
    }
}

/// The line through pairs of round trips and calls.
#[derive(Debug, Clone, Copy)]
struct ShiftFit {
    shift_ps: i64,
    /// Least and greatest shift with which each round trip lies within its call.
    bounds: (i64, i64),
    /// Root mean square distance from the line.
    residual_ps: f64,
    pairs: usize,
}

/// Share of the time of a call after its round trip, if the pairs do not tell one.
const USUAL_SHARE: f64 = 0.5;

impl ShiftFit {
    /// The line, if one shift puts each round trip into its call.
    fn of(trips: &[GrowingSpan], calls: &[GrowingSpan]) -> Option<Self> {
        let pairs = || trips.iter().zip(calls);
        let low = pairs().map(|(trip, call)| call.start_ps.saturating_sub(trip.start_ps)).max()?;
        let high = pairs().map(|(trip, call)| call.end_ps.saturating_sub(trip.end_ps)).min()?;
        if low > high {
            return None;
        }
        // Distances from the upper bound keep all digits.
        let points: Vec<(f64, f64)> = pairs()
            .map(|(trip, call)| {
                let longer = call.duration_ps().saturating_sub(trip.duration_ps());
                let end = call.end_ps.saturating_sub(trip.end_ps).saturating_sub(high);
                (longer as f64, end as f64)
            })
            .collect();
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|point| of(point.0 - mean_x, point.1 - mean_y)).sum::<f64>()
        };
        let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let share = if xx > 0.0 { (xy / xx).clamp(0.0, 1.0) } else { USUAL_SHARE };
        let residual_ps = (sum(&|x, y| (y - share * x).powi(2)) / count).sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let below = (mean_y - share * mean_x).round() as i64;
        let shift_ps = high.saturating_add(below).clamp(low, high);
        Some(Self { shift_ps, bounds: (low, high), residual_ps, pairs: points.len() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(trips: &[(i64, i64)], calls: &[(i64, i64)], apart_ps: i128) -> Option<ClockShift> {
        let spans = |of: &[(i64, i64)]| {
            of.iter().map(|&(start_ps, end_ps)| GrowingSpan { start_ps, end_ps }).collect()
        };
        let mut all = HostCalls::new();
        (all.trips, all.calls[1]) = (spans(trips), spans(calls));
        all.shift(apart_ps)
    }

    #[test]
    fn a_third_of_the_longer_time_of_a_call_comes_last() {
        let trips = [(30, 2_430), (5_000, 7_400), (9_900, 12_300)];
        // The calls are longer by 90, 60 and 120.
        let calls = [(1_030 - 60, 3_430 + 30), (6_000 - 40, 8_400 + 20), (10_900 - 80, 13_300 + 40)];
        assert_eq!(found(&trips, &calls, 0), Some(ClockShift { ps: 1_000, pairs: 3 }));
        assert_eq!(found(&trips, &calls, 77).map(|shift| shift.ps), Some(1_077));
        assert_eq!(found(&trips, &calls, -1_005), Some(ClockShift { ps: 0, pairs: 3 }), "the clocks fit");
        // A call before the first round trip, and a round trip before the first call.
        let early = [&[(200, 300)], &calls[..]].concat();
        assert_eq!(found(&trips, &early, 0), Some(ClockShift { ps: 1_000, pairs: 3 }));
        let early = [&[(-9_000, -100)], &trips[..]].concat();
        assert_eq!(found(&early, &calls, 0), Some(ClockShift { ps: 1_000, pairs: 3 }));
    }

    #[test]
    fn calls_that_do_not_fit_tell_nothing() {
        assert_eq!(found(&[(0, 100)], &[(500, 540)], 0), None, "the call is shorter");
        assert_eq!(found(&[(0, 100)], &[], 0), None);
        assert_eq!(found(&[], &[(0, 100)], 0), None);
        assert_eq!(
            found(&[(0, 100)], &[(500, 640)], 0),
            Some(ClockShift { ps: 520, pairs: 1 }),
            "the middle"
        );
    }

    proptest! {
        /// Any shift and share are found.
        #[test]
        fn the_shift_is_found(
            shift in -5_000_000_000_000_i64..5_000_000_000_000,
            share in 0.05..0.95_f64,
            longer in prop::collection::btree_set(20_000_000_i64..400_000_000, 3..20),
        ) {
            prop_assume!(shift.abs() > 1_000_000_000);
            let longer: Vec<i64> = longer.into_iter().collect();
            prop_assume!(longer[longer.len() - 1] - longer[0] > 40_000_000);
            let trips: Vec<(i64, i64)> =
                (0..).zip(&longer).map(|(n, _)| (n * 5_000_000_000, n * 5_000_000_000 + 2_000_000_000)).collect();
            let calls: Vec<(i64, i64)> = trips.iter().zip(&longer).map(|(&(start, end), &longer)| {
                let after = (longer as f64 * share).round() as i64;
                (start + shift - (longer - after), end + shift + after)
            }).collect();
            let found = found(&trips, &calls, 0).unwrap();
            prop_assert!((found.ps - i128::from(shift)).abs() < 20, "{} instead of {shift}", found.ps);
        }
    }
}

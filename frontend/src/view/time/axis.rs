//! Converts times between the clock of a rank and the time that all ranks share.
//!
//! The page has shared times alone. Tiles keep the rank's time, so that caches keep them; their
//! times are converted when they are drawn or hit.

use nprof_engine::base::{ClockFit, Interval, Time};

/// The axis of a rank's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Axis(pub ClockFit);

impl Axis {
    /// The same axis with shared times that are later by this time.
    #[must_use]
    pub fn moved(self, later_ps: i64) -> Self {
        let Self(clock) = self;
        let offset_ps = clock.offset_ps().saturating_add(later_ps);
        let moved = ClockFit::new(clock.at_ps(), offset_ps, clock.drift_ppb(), clock.bound_ps());
        Self(moved.unwrap_or(clock))
    }

    /// The shared time of a rank's time.
    #[must_use]
    pub fn shared(self, local_ps: i64) -> i64 {
        self.0.to_shared(Time(local_ps)).0
    }

    /// The rank's time of a shared time.
    #[must_use]
    pub fn local(self, shared_ps: i64) -> i64 {
        self.0.to_local(Time(shared_ps)).0
    }

    /// Shared picoseconds in a picosecond of the rank.
    #[must_use]
    pub fn rate(self) -> f64 {
        1.0 + f64::from(self.0.drift_ppb()) / 1e9
    }

    /// The shared span of a rank's span.
    #[must_use]
    pub fn shared_span(self, local: Interval) -> Interval {
        Interval::new(self.shared(local.start.0), self.shared(local.end.0))
    }

    /// The rank's span of a shared span.
    #[must_use]
    pub fn local_span(self, shared: Interval) -> Interval {
        self.0.to_local_span(shared)
    }
}

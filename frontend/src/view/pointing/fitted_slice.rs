//! The slice that fills the window after a zoom to it.

use nprof_engine::base::Interval;
use nprof_engine::wire::detail::SliceDetail;

/// The slice that a zoom was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FittedSlice {
    /// Row of the selected slice.
    pub selected: u32,
    /// The slice that fills the window: the selected one, or one around it.
    pub slice: TrackSlice,
    /// The window after the zoom.
    pub window: Option<Interval>,
}

/// A slice of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackSlice {
    /// Its row.
    pub row: u32,
    /// Number of its track.
    pub track: u32,
    /// Its start.
    pub start_ps: i64,
    /// Its duration.
    pub duration_ps: i64,
}

impl TrackSlice {
    /// The slice with these details.
    #[must_use]
    pub fn of(detail: &SliceDetail) -> Self {
        let slice = &detail.slice;
        let (start_ps, duration_ps) = (slice.start_ps, slice.duration_ps);
        Self { row: slice.row, track: slice.track, start_ps, duration_ps }
    }

    /// Whether another slice of its track lies within it.
    #[must_use]
    pub fn holds(self, inner: Self) -> bool {
        let end_ps = |of: Self| of.start_ps.saturating_add(of.duration_ps);
        self.track == inner.track && self.start_ps <= inner.start_ps && end_ps(inner) <= end_ps(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_holds_those_within_it() {
        let of = |track, start_ps, duration_ps| TrackSlice { row: 0, track, start_ps, duration_ps };
        let outer = of(1, 100, 50);
        assert!(outer.holds(of(1, 100, 50)) && outer.holds(of(1, 120, 10)));
        assert!(!outer.holds(of(2, 120, 10)), "another track");
        assert!(!outer.holds(of(1, 90, 20)) && !outer.holds(of(1, 140, 20)));
    }
}

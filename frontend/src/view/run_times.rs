//! The times of answers about a run as a whole, on the axes of the page.

use std::sync::Arc;

use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::ProfileInfo;
use nprof_engine::wire::rank_ref::RankRef;

use super::source_id::SourceId;
use super::{Axes, TimeFrame, Timebase};

/// The times of answers about the run of a profile. They stand on the clock that its ranks share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunTimes {
    /// Position of the profile in the view.
    pub profile: u8,
    /// The axes on which the answers stand.
    of_run: Axes,
    /// The axes on which the ranks are shown.
    shown: Axes,
    /// Whether ranks are shown on their own clocks: one moment of the run is several then.
    are_raw: bool,
}

impl RunTimes {
    /// The times of the profile at this position of the view.
    #[must_use]
    pub fn of(profiles: &[Arc<ProfileInfo>], profile: u8, frame: impl Into<TimeFrame>) -> Self {
        let frame = frame.into();
        let own = profiles.get(usize::from(profile)).map_or(&[][..], std::slice::from_ref);
        Self {
            profile,
            of_run: Axes::of(own, Timebase::Aligned),
            shown: Axes::of(profiles, frame),
            are_raw: frame.base == Timebase::Raw,
        }
    }

    /// The time on the page. `rank` is the rank to look at. Times of no single rank are those of
    /// rank 0.
    #[must_use]
    pub fn shown(&self, rank: Option<u32>, ps: i64) -> i64 {
        let rank = RankRef::Number(rank.unwrap_or(0));
        let local_ps = self.of_run.axis(SourceId::of_first(rank)).local(ps);
        self.shown.axis(SourceId { rank, profile: self.profile }).shared(local_ps)
    }

    /// The span of the run that a span of the page shows. `None` if ranks are shown on their own
    /// clocks: any part of the run can be in it.
    #[must_use]
    pub fn of_page(&self, span: Interval) -> Option<Interval> {
        let rank = RankRef::Number(0);
        let time = |ps: i64| {
            let local_ps = self.shown.axis(SourceId { rank, profile: self.profile }).local(ps);
            self.of_run.axis(SourceId::of_first(rank)).shared(local_ps)
        };
        (!self.are_raw).then(|| Interval::new(time(span.start.0), time(span.end.0)))
    }
}

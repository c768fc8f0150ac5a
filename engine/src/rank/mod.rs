//! A rank of a profile as questions and exports see it: its events and its clock.
//!
//! Segments, tiles and answers have local times, so caches keep them when a clock changes. Shared
//! times come from this view alone.

use crate::base::{ClockFit, Interval, Time};
use crate::segment::Segment;

/// The data of a rank.
#[derive(Debug)]
pub struct RankView<'a, B> {
    /// The events.
    pub segment: &'a Segment<B>,
    /// The map from the segment's times to the times that all ranks of the profile share.
    pub clock: ClockFit,
}

impl<B> Clone for RankView<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for RankView<'_, B> {}

impl<'a, B> RankView<'a, B> {
    /// A rank whose local times are the shared times.
    #[must_use]
    pub fn of(segment: &'a Segment<B>) -> Self {
        Self { segment, clock: ClockFit::default() }
    }

    /// The same rank with this clock.
    #[must_use]
    pub fn with_clock(self, clock: ClockFit) -> Self {
        Self { clock, ..self }
    }

    /// The shared time of a local time.
    #[must_use]
    pub fn shared(&self, local: Time) -> Time {
        self.clock.to_shared(local)
    }

    /// The local times whose shared times lie in this span.
    #[must_use]
    pub fn local_span(&self, shared: Interval) -> Interval {
        self.clock.to_local_span(shared)
    }
}

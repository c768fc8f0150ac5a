//! The slices in a span.

use super::limit::{DEFAULT_LIMIT, MAX_LIMIT, at_most};
use crate::base::Interval;
use crate::exec::Work;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{Number, Numbers, Span, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::window::WindowEvents;

parameters! {
    /// The slices that overlap a span of time, by track, then start.
    pub struct EventsQuestion {
        /// Slices that overlap it are listed.
        pub span: Interval = Span,
        /// Numbers of the tracks to read, separated by commas; by default all.
        pub tracks: Option<Vec<u32>> = Numbers("tracks"),
        /// Largest number of slices, at most 100,000.
        pub limit: u32 = Number::or("limit", DEFAULT_LIMIT),
    }
}

impl Ask for EventsQuestion {
    type Answer = WindowEvents;

    const PATH: &'static str = of_rank!("/events");
    const MANNER: Manner = Manner::of("listEvents", Weight::Heavy);
}

impl AskRank for EventsQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<WindowEvents, Refusal> {
        let limit = at_most(self.limit, MAX_LIMIT);
        let found = answer::window(rank.view(), self.span, self.tracks.as_deref(), limit, work);
        found.map_err(|error| rank.refusal(error))
    }
}

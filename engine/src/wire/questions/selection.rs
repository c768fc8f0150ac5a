//! Statistics of a span.

use crate::base::Interval;
use crate::exec::Work;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Pace, Rank, Weight};
use crate::wire::grammar::{Numbers, Span, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::selection::SelectionSummary;

parameters! {
    /// Statistics of a span of time, by name and by track.
    pub struct SelectionQuestion {
        /// Slices that overlap it count with their parts inside.
        pub span: Interval = Span,
        /// Numbers of the tracks to read, separated by commas; by default all.
        pub tracks: Option<Vec<u32>> = Numbers("tracks"),
    }
}

impl Ask for SelectionQuestion {
    type Answer = SelectionSummary;

    const PATH: &'static str = of_rank!("/selection");
    const MANNER: Manner = Manner { pace: Pace::Slow, ..Manner::of("summariseSelection", Weight::Heavy) };

    fn restate(&self, answer: &mut SelectionSummary) {
        (answer.start_ps, answer.end_ps) = (self.span.start.0, self.span.end.0);
    }
}

impl AskRank for SelectionQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<SelectionSummary, Refusal> {
        let found = answer::selection(rank.view(), self.span, self.tracks.as_deref(), work);
        found.map_err(|error| rank.refusal(error))
    }
}

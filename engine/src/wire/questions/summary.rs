//! The metrics of a rank.

use crate::base::Interval;
use crate::exec::Work;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{SpanIfAny, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::summary::Summary;

parameters! {
    /// The metrics of a rank, or of a span of it.
    pub struct SummaryQuestion {
        /// Only its parts of slices count. By default all of the rank counts.
        pub window: Option<Interval> = SpanIfAny,
    }
}

impl Ask for SummaryQuestion {
    type Answer = Summary;

    const PATH: &'static str = of_rank!("/summary");
    const MANNER: Manner = Manner::of("readSummary", Weight::Heavy);
}

impl AskRank for SummaryQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<Summary, Refusal> {
        rank.summary(self.window, work)
    }
}

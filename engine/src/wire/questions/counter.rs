//! The values of a counter.

use crate::base::Interval;
use crate::exec::Work;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::counter::CounterDetail;
use crate::wire::grammar::{AtTime, Number, Span, parameters};
use crate::wire::refusal::Refusal;

parameters! {
    /// A counter at a time, and its values over a span. A value holds from its sample to the next
    /// one.
    pub struct CounterQuestion {
        /// The number of the counter's track.
        pub track: u32 = Number::in_path("track"),
        /// Time of the sample.
        pub at_ps: i64 = AtTime("at_ps"),
        /// The answer has the smallest, largest and mean value in it.
        pub span: Interval = Span,
    }
}

impl Ask for CounterQuestion {
    type Answer = CounterDetail;

    const PATH: &'static str = of_rank!("/counters/{track}");
    const MANNER: Manner = Manner::of("readCounter", Weight::Heavy);
}

impl AskRank for CounterQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<CounterDetail, Refusal> {
        let Self { track, at_ps, span } = *self;
        answer::counter(rank.view(), track, at_ps, span, work).map_err(|error| rank.refusal(error))
    }
}

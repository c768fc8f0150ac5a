//! Statistics of a span.

use super::search::{LIMIT, SYNTAX, ZeroTime, filter_of};
use crate::base::Interval;
use crate::exec::Work;
use crate::query::Syntax;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Pace, Rank, Weight};
use crate::wire::grammar::{Numbers, Span, TextIfAny, parameters};
use crate::wire::refusal::{Refusal, RefusalKind};
use crate::wire::selection::SelectionSummary;

parameters! {
    /// Statistics of a span of time, by name and by track.
    pub struct SelectionQuestion {
        /// Slices that overlap it count with their parts inside.
        pub span: Interval = Span,
        /// Numbers of the tracks to read, separated by commas; by default all.
        pub tracks: Option<Vec<u32>> = Numbers("tracks"),
        /// Query of a search, whose hits alone count; by default all slices do.
        pub text: Option<String> = TextIfAny("q"),
        /// Syntax of the query, as in a search.
        pub syntax: Syntax = SYNTAX,
        /// Time from which a query counts `start`, in picoseconds since the profile's origin.
        pub zero_ps: i64 = ZeroTime,
    }
}

impl SelectionQuestion {
    /// The question about all slices in a span.
    #[must_use]
    pub fn of_all(span: Interval) -> Self {
        Self { span, tracks: None, text: None, syntax: Syntax::default(), zero_ps: 0 }
    }
}

impl Ask for SelectionQuestion {
    type Answer = SelectionSummary;

    const PATH: &'static str = of_rank!("/selection");
    const MANNER: Manner = Manner {
        pace: Pace::Slow,
        time_limit: Some(LIMIT),
        refusals: &[RefusalKind::BadPattern, RefusalKind::TooSlow],
        ..Manner::of("summariseSelection", Weight::Heavy)
    };

    fn restate(&self, answer: &mut SelectionSummary) {
        (answer.start_ps, answer.end_ps) = (self.span.start.0, self.span.end.0);
    }
}

impl AskRank for SelectionQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<SelectionSummary, Refusal> {
        let filter = self
            .text
            .as_ref()
            .map(|text| filter_of(rank, text, self.syntax, self.zero_ps, work))
            .transpose()?;
        let (span, tracks) = (self.span, self.tracks.as_deref());
        let found = answer::selection(rank.view(), span, tracks, filter.as_ref(), work);
        found.map_err(|error| rank.refusal(error))
    }
}

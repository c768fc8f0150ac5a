//! Light on the hits of a search.

use super::limit::at_most;
use super::search::{LIMIT, SYNTAX, ZeroTime, filter_of};
use crate::base::Interval;
use crate::exec::Work;
use crate::query::{DensityCells, Syntax};
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Pace, Rank, Weight};
use crate::wire::grammar::{Number, Span, Text, parameters};
use crate::wire::light::SearchLight;
use crate::wire::refusal::{Refusal, RefusalKind};

/// Most parts of a span: the pixels of a wide screen, twice.
const MOST_CELLS: u32 = 16_384;

parameters! {
    /// The places of the hits of a search on their tracks: for each lane, the equal parts of a span
    /// in which a hit is.
    pub struct LightQuestion {
        /// Text to search for. An empty text finds nothing.
        pub text: String = Text::in_query("q"),
        /// Syntax of the query, as in a search.
        pub syntax: Syntax = SYNTAX,
        /// Time from which a query counts `start`, in picoseconds since the profile's origin.
        pub zero_ps: i64 = ZeroTime,
        /// The span.
        pub span: Interval = Span,
        /// Number of its equal parts, at most 16,384. Without any, hits are only counted.
        pub cells: u32 = Number::or("cells", 0),
    }
}

impl Ask for LightQuestion {
    type Answer = SearchLight;

    const PATH: &'static str = of_rank!("/search/light");
    const MANNER: Manner = Manner {
        pace: Pace::Slow,
        time_limit: Some(LIMIT),
        refusals: &[RefusalKind::BadPattern, RefusalKind::TooSlow],
        ..Manner::of("lightSearch", Weight::Heavy)
    };
}

impl AskRank for LightQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<SearchLight, Refusal> {
        let filter = filter_of(rank, &self.text, self.syntax, self.zero_ps, work)?;
        let cells = DensityCells { span: self.span, count: at_most(self.cells, MOST_CELLS) };
        answer::light(rank.view(), &filter, cells, work).map_err(|error| rank.refusal(error))
    }
}

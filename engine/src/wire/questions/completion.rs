//! Completions of a query.

use super::limit::at_most;
use super::search::regions_of;
use crate::exec::Work;
use crate::makers::SHORT_NAMES;
use crate::query::{FilterScope, OpenWord, completions};
use crate::wire::ask::{Ask, AskRank, Manner, Rank, TimeLimit, Weight};
use crate::wire::completions::CompletionList;
use crate::wire::grammar::{Number, Text, parameters};
use crate::wire::refusal::{Refusal, RefusalKind};

/// Default number of completions: more than a list on a screen shows.
const USUAL: u32 = 50;
/// Largest number of completions.
const MOST: u32 = 1_000;
/// Counting the values of a field reads its column.
const LIMIT: TimeLimit =
    TimeLimit { seconds: 10, what: "the completion", advice: "write the name of the field" };

parameters! {
    /// The texts that can stand in place of the word before the cursor of a query: fields, their
    /// values, names, tracks and regions of the rank, with the number of slices.
    pub struct CompletionQuestion {
        /// The query.
        pub text: String = Text::in_query("q"),
        /// The cursor: the number of characters before it.
        pub cursor: u32 = Number::or("cursor", u32::MAX),
        /// Largest number of completions, at most 1,000.
        pub limit: u32 = Number::or("limit", USUAL),
    }
}

impl CompletionQuestion {
    /// The question with the usual limit.
    #[must_use]
    pub fn about(text: String, cursor: u32) -> Self {
        Self { text, cursor, limit: USUAL }
    }
}

impl Ask for CompletionQuestion {
    type Answer = CompletionList;

    const PATH: &'static str = of_rank!("/search/completions");
    const MANNER: Manner = Manner {
        time_limit: Some(LIMIT),
        refusals: &[RefusalKind::TooSlow],
        ..Manner::of("completeSearch", Weight::Heavy)
    };
}

impl AskRank for CompletionQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<CompletionList, Refusal> {
        let regions = match OpenWord::at(&self.text, self.cursor as usize) {
            Some(open) if open.is_region() => regions_of(rank, work)?,
            _ => Vec::new(),
        };
        let scope = FilterScope {
            rank: rank.number(),
            regions: &regions,
            short_names: &SHORT_NAMES,
            ..FilterScope::default()
        };
        let (cursor, most) = (self.cursor as usize, at_most(self.limit, MOST));
        let found = completions(rank.view().segment, &self.text, cursor, &scope, most, work);
        found.map(CompletionList::from).map_err(|error| rank.refusal(error))
    }
}

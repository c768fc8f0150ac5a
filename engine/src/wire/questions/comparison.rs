//! The difference of two runs.

use crate::exec::Work;
use crate::insight::difference::WorkKey;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::comparison::{ComparedRuns, RunChoice};
use crate::wire::grammar::{Numbers, Text, TextIfAny, Word, Words, parameters};
use crate::wire::refusal::Refusal;

const KEYS: Words<WorkKey> = &WorkKey::WORDS;

parameters! {
    /// The difference of two runs: whether the second one is faster, and what differs.
    pub struct ComparisonQuestion {
        /// Name or id of the first profile.
        pub profile: String = PROFILE,
        /// Name or id of the second profile, which can be the first one.
        pub with: String = Text::in_query("with"),
        /// The subject of a row.
        pub by: WorkKey = Word { name: "by", words: KEYS, default: Some(WorkKey::Name) },
        /// Numbers of the ranks of the first profile, separated by commas; by default all.
        pub ranks: Option<Vec<u32>> = Numbers("ranks"),
        /// Numbers of the ranks of the second profile, separated by commas; by default all.
        pub with_ranks: Option<Vec<u32>> = Numbers("with_ranks"),
        /// Name of a region of the first profile; by default all of it.
        pub region: Option<String> = TextIfAny("region"),
        /// Name of a region of the second profile; by default all of it.
        pub with_region: Option<String> = TextIfAny("with_region"),
    }
}

impl ComparisonQuestion {
    /// The question about all of two profiles.
    #[must_use]
    pub fn about(profile: &str, with: &str, by: WorkKey) -> Self {
        Self {
            profile: profile.to_owned(),
            with: with.to_owned(),
            by,
            ranks: None,
            with_ranks: None,
            region: None,
            with_region: None,
        }
    }
}

impl Ask for ComparisonQuestion {
    type Answer = ComparedRuns;

    const PATH: &'static str = "/api/profiles/{slug}/comparison";
    const MANNER: Manner = Manner::of_graph("compareRuns");
}

impl AskStore for ComparisonQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<ComparedRuns, Refusal> {
        let a = RunChoice::new(&self.profile, &self.ranks, &self.region);
        let b = RunChoice::new(&self.with, &self.with_ranks, &self.with_region);
        store.comparison(&a, &b, self.by, work)
    }
}

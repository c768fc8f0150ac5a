//! The findings about a run.

use super::limit::{DEFAULT_LIMIT, MAX_LIMIT, at_most};
use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore, Weight};
use crate::wire::findings::Findings;
use crate::wire::grammar::{Number, parameters};
use crate::wire::refusal::{Refusal, RefusalKind};

parameters! {
    /// Findings about the run of a profile: causes of lost time with their costs and places.
    pub struct FindingsQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Largest number of entries, at most 100,000.
        pub limit: u32 = Number::or("limit", DEFAULT_LIMIT),
    }
}

impl FindingsQuestion {
    /// The question with the usual limit.
    #[must_use]
    pub fn about(profile: &str) -> Self {
        Self { profile: profile.to_owned(), limit: DEFAULT_LIMIT }
    }

    /// The answer from the whole one.
    #[must_use]
    pub fn part_of(&self, whole: Findings) -> Findings {
        whole.limited(at_most(self.limit, MAX_LIMIT))
    }
}

impl Ask for FindingsQuestion {
    type Answer = Findings;

    const PATH: &'static str = "/api/profiles/{slug}/findings";
    const MANNER: Manner = Manner {
        refusals: &[RefusalKind::NotFound, RefusalKind::Damaged, RefusalKind::Cancelled],
        ..Manner::of("listFindings", Weight::Heavy)
    };
}

impl AskStore for FindingsQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<Findings, Refusal> {
        Ok(self.part_of(store.findings(&self.profile, work)?))
    }
}

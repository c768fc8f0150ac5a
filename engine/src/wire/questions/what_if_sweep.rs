//! The changes that would shorten a run most.

use super::limit::{DEFAULT_LIMIT, MAX_LIMIT, at_most};
use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::what_if::WhatIfSweep;

parameters! {
    /// The changes that would shorten the run of a profile most, one at a time: each name of a
    /// kernel, engine, queue, layer and kind of transfer twice as fast, each rank as fast as the
    /// median rank.
    pub struct WhatIfSweepQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Largest number of changes, at most 100,000.
        pub limit: u32 = Number::or("limit", DEFAULT_LIMIT),
    }
}

impl WhatIfSweepQuestion {
    /// The question with the usual limit.
    #[must_use]
    pub fn about(profile: &str) -> Self {
        Self { profile: profile.to_owned(), limit: DEFAULT_LIMIT }
    }
}

impl Ask for WhatIfSweepQuestion {
    type Answer = WhatIfSweep;

    const PATH: &'static str = "/api/profiles/{slug}/whatif/sweep";
    const MANNER: Manner = Manner::of_replay("sweepWhatIf");
}

impl AskStore for WhatIfSweepQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<WhatIfSweep, Refusal> {
        store.what_if_sweep(&self.profile, at_most(self.limit, MAX_LIMIT), work)
    }
}

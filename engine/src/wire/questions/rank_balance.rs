//! The ranks of a run beside each other.

use super::limit::{MAX_LIMIT, at_most};
use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, parameters};
use crate::wire::rank_balance::RankBalance;
use crate::wire::refusal::Refusal;

/// Default number of rows.
const USUAL_ROWS: u32 = 200;

parameters! {
    /// The ranks of a run beside each other: the time of work of each name beside the median of the
    /// other ranks, and how unequal the work in each region is.
    pub struct RankBalanceQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Largest number of names and of regions, at most 100,000.
        pub limit: u32 = Number::or("limit", USUAL_ROWS),
    }
}

impl RankBalanceQuestion {
    /// The question with the usual number of rows.
    #[must_use]
    pub fn about(profile: &str) -> Self {
        Self { profile: profile.to_owned(), limit: USUAL_ROWS }
    }
}

impl Ask for RankBalanceQuestion {
    type Answer = RankBalance;

    const PATH: &'static str = "/api/profiles/{slug}/balance";
    const MANNER: Manner = Manner::of_graph("readRankBalance");
}

impl AskStore for RankBalanceQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<RankBalance, Refusal> {
        store.rank_balance(&self.profile, at_most(self.limit, MAX_LIMIT), work)
    }
}

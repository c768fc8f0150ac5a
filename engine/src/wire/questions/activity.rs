//! The activity of all ranks over time.

use crate::exec::Work;
use crate::makers::job::activity::ActivityQuantity;
use crate::wire::activity::ActivityShares;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{Word, Words, parameters};
use crate::wire::refusal::Refusal;

const QUANTITIES: Words<ActivityQuantity> = &ActivityQuantity::WORDS;

parameters! {
    /// How much of each of up to 256 equal spans of time each rank is busy, waits for others or
    /// computes; for the rank `all`. Computation is a rate if the operations of all are known.
    pub struct ActivityQuestion {
        /// The share: of time with work that is no wait, of waits for others, or of computation.
        pub quantity: ActivityQuantity =
            Word { name: "quantity", words: QUANTITIES, default: Some(ActivityQuantity::Wait) },
    }
}

impl Ask for ActivityQuestion {
    type Answer = ActivityShares;

    const PATH: &'static str = of_rank!("/activity");
    const MANNER: Manner = Manner::of("readActivity", Weight::Small);
}

impl AskRank for ActivityQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<ActivityShares, Refusal> {
        answer::activity(rank.view(), self.quantity, work).map_err(|error| rank.refusal(error))
    }
}

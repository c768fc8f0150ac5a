//! The waiting of ranks over time.

use crate::base::Interval;
use crate::exec::Work;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{Number, Numbers, Span, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::waits::WaitSteps;

/// Default number of steps.
const DEFAULT_STEPS: u32 = 256;

parameters! {
    /// How long ranks wait over time; for the rank `all`.
    pub struct WaitsQuestion {
        /// It is divided into steps.
        pub span: Interval = Span,
        /// Largest number of steps, at most 1,024.
        pub steps: u32 = Number::or("steps", DEFAULT_STEPS),
        /// Numbers of the ranks to read, separated by commas; by default all.
        pub ranks: Option<Vec<u32>> = Numbers("ranks"),
    }
}

impl Ask for WaitsQuestion {
    type Answer = WaitSteps;

    const PATH: &'static str = of_rank!("/waits");
    const MANNER: Manner = Manner::of("readWaits", Weight::Heavy);
}

impl AskRank for WaitsQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<WaitSteps, Refusal> {
        let found = answer::waits(rank.view(), self.span, self.steps, self.ranks.as_deref(), work);
        found.map_err(|error| rank.refusal(error))
    }
}

//! The metrics of a rank.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::parameters;
use crate::wire::refusal::Refusal;
use crate::wire::summary::Summary;

parameters! {
    /// The metrics of a rank.
    pub struct SummaryQuestion;
}

impl Ask for SummaryQuestion {
    type Answer = Summary;

    const PATH: &'static str = of_rank!("/summary");
    const MANNER: Manner = Manner::of("readSummary", Weight::Heavy);
}

impl AskRank for SummaryQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<Summary, Refusal> {
        rank.summary(work)
    }
}

//! The contents of a rank.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::catalog::RankDetail;
use crate::wire::grammar::parameters;
use crate::wire::refusal::Refusal;

parameters! {
    /// A rank: its tracks, tile groups, tables and warnings.
    pub struct DetailQuestion;
}

impl Ask for DetailQuestion {
    type Answer = RankDetail;

    const PATH: &'static str = of_rank!("");
    const MANNER: Manner = Manner::of("readRank", Weight::Small);
}

impl AskRank for DetailQuestion {
    fn answer(&self, rank: &impl Rank, _: Work<'_>) -> Result<RankDetail, Refusal> {
        rank.detail().map_err(|error| rank.refusal(error))
    }
}

//! The regions of a rank.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::parameters;
use crate::wire::refusal::Refusal;
use crate::wire::regions::RegionList;

parameters! {
    /// Steps, layers and phases of a rank.
    pub struct RegionsQuestion;
}

impl Ask for RegionsQuestion {
    type Answer = RegionList;

    const PATH: &'static str = of_rank!("/regions");
    const MANNER: Manner = Manner::of("readRegionsOfRank", Weight::Heavy);
}

impl AskRank for RegionsQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<RegionList, Refusal> {
        rank.regions(work)
    }
}

//! The details of a slice.

use crate::exec::Work;
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::detail::SliceDetail;
use crate::wire::grammar::{Number, parameters};
use crate::wire::refusal::Refusal;

parameters! {
    /// A slice with all fields, predecessors and successors.
    pub struct SliceQuestion {
        /// Row of the slice.
        pub row: u32 = Number::in_path("row"),
    }
}

impl Ask for SliceQuestion {
    type Answer = SliceDetail;

    const PATH: &'static str = of_rank!("/slices/{row}");
    const MANNER: Manner = Manner::of("readSlice", Weight::Small);
}

impl AskRank for SliceQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<SliceDetail, Refusal> {
        answer::slice(rank.view(), self.row, work).map_err(|error| rank.refusal(error))
    }
}

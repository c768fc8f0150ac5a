//! A step from a slice to another one.

use crate::analysis::job_segment::Sense;
use crate::exec::Work;
use crate::query::StepDirection;
use crate::wire::answer::{self, StepTo};
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::detail::SliceDetail;
use crate::wire::grammar::{Number, NumberList, Word, Words, parameters};
use crate::wire::refusal::Refusal;

const TARGETS: Words<StepTo> = &[
    ("next", StepTo::Slice(StepDirection::Next)),
    ("previous", StepTo::Slice(StepDirection::Previous)),
    ("up", StepTo::Slice(StepDirection::Up)),
    ("down", StepTo::Slice(StepDirection::Down)),
    ("next_operation", StepTo::Operation(Sense::Next)),
    ("previous_operation", StepTo::Operation(Sense::Previous)),
];

parameters! {
    /// The slice beside a slice.
    pub struct StepQuestion {
        /// Row of the slice.
        pub row: u32 = Number::in_path("row"),
        /// Previous and next follow the lane of the slice. Up and down lead to the nearest slice of
        /// the lane above or below, then of the track above or below. The words with operation lead
        /// from a collective operation of all ranks, or from a call of it, to the operation before
        /// or after it of the same communicator and kind.
        pub to: StepTo = Word { name: "direction", words: TARGETS, default: None },
        /// Numbers of groups, separated by commas. Steps up and down skip the tracks of these
        /// groups.
        pub closed: Vec<u32> = NumberList("closed"),
    }
}

impl Ask for StepQuestion {
    type Answer = Option<SliceDetail>;

    const PATH: &'static str = of_rank!("/slices/{row}/step");
    const MANNER: Manner = Manner {
        nothing: Some("No slice exists in this direction."),
        ..Manner::of("stepFromSlice", Weight::Small)
    };
}

impl AskRank for StepQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<Option<SliceDetail>, Refusal> {
        let found = answer::step(rank.view(), self.row, self.to, &self.closed, work);
        found.map_err(|error| rank.refusal(error))
    }
}

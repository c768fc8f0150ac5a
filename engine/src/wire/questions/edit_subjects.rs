//! The left sides of the edits that change a slice.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, ParameterPlace, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::what_if::EditSubjects;

/// A number that must be given.
const fn required(name: &'static str) -> Number<u32> {
    Number { place: ParameterPlace::Query, name, most: None, default: None }
}

parameters! {
    /// The left sides of the edits that change a slice of a rank.
    pub struct EditSubjectsQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Number of the rank.
        pub rank: u32 = required("rank"),
        /// Row of the slice.
        pub row: u32 = required("row"),
    }
}

impl Ask for EditSubjectsQuestion {
    type Answer = EditSubjects;

    const PATH: &'static str = "/api/profiles/{slug}/whatif/subjects";
    const MANNER: Manner = Manner::of_replay("listEditSubjects");
}

impl AskStore for EditSubjectsQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<EditSubjects, Refusal> {
        store.edit_subjects(&self.profile, self.rank, self.row, work)
    }
}

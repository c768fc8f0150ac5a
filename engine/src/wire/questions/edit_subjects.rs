//! The left sides of the edits that change a slice.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::what_if::EditSubjects;

parameters! {
    /// The left sides of the edits that change a slice of a rank.
    pub struct EditSubjectsQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Number of the rank.
        pub rank: u32 = Number::required("rank"),
        /// Row of the slice.
        pub row: u32 = Number::required("row"),
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

//! The slack of a slice: the time by which its work could take longer before the run does.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::work_slack::WorkSlack;

parameters! {
    /// The slack of a slice of a rank: the time by which its work could take longer before the run
    /// does.
    pub struct SlackQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Number of the rank.
        pub rank: u32 = Number::required("rank"),
        /// Row of the slice.
        pub row: u32 = Number::required("row"),
    }
}

impl Ask for SlackQuestion {
    type Answer = Option<WorkSlack>;

    const PATH: &'static str = "/api/profiles/{slug}/critical-path/slack";
    const MANNER: Manner =
        Manner { nothing: Some("Nothing of the slice is replayed."), ..Manner::of_replay("readSlack") };
}

impl AskStore for SlackQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<Option<WorkSlack>, Refusal> {
        store.slack(&self.profile, self.rank, self.row, work)
    }
}

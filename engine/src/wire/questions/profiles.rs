//! The list of profiles.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, ProfileStore, Weight};
use crate::wire::catalog::ProfileList;
use crate::wire::grammar::parameters;
use crate::wire::refusal::Refusal;

parameters! {
    /// All profiles, newest first.
    pub struct ProfilesQuestion;
}

impl Ask for ProfilesQuestion {
    type Answer = ProfileList;

    const PATH: &'static str = "/api/profiles";
    const MANNER: Manner = Manner::of("listProfiles", Weight::Light);
}

impl AskStore for ProfilesQuestion {
    fn answer(&self, store: &impl ProfileStore, _: Work<'_>) -> Result<ProfileList, Refusal> {
        store.profiles()
    }
}

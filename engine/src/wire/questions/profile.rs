//! A profile and its ranks.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore, Weight};
use crate::wire::catalog::ProfileInfo;
use crate::wire::grammar::parameters;
use crate::wire::refusal::{Refusal, RefusalKind};

parameters! {
    /// A profile and its ranks.
    pub struct ProfileQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
    }
}

impl Ask for ProfileQuestion {
    type Answer = ProfileInfo;

    const PATH: &'static str = "/api/profiles/{slug}";
    const MANNER: Manner =
        Manner { refusals: &[RefusalKind::NotFound], ..Manner::of("readProfile", Weight::Light) };
}

impl AskStore for ProfileQuestion {
    fn answer(&self, store: &impl ProfileStore, _: Work<'_>) -> Result<ProfileInfo, Refusal> {
        store.profile(&self.profile)
    }
}

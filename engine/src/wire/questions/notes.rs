//! The notes of users about a profile.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore, Weight};
use crate::wire::grammar::parameters;
use crate::wire::notes::Notes;
use crate::wire::refusal::{Refusal, RefusalKind};

parameters! {
    /// The notes of users about a profile.
    pub struct NotesQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
    }
}

impl Ask for NotesQuestion {
    type Answer = Notes;

    const PATH: &'static str = "/api/profiles/{slug}/notes";
    const MANNER: Manner =
        Manner { refusals: &[RefusalKind::NotFound], ..Manner::of("readNotes", Weight::Light) };
}

impl AskStore for NotesQuestion {
    fn answer(&self, store: &impl ProfileStore, _: Work<'_>) -> Result<Notes, Refusal> {
        store.notes(&self.profile)
    }
}

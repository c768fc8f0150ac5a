//! The length of a run under edits.

use crate::exec::Work;
use crate::insight::Edit;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Text, parameters};
use crate::wire::refusal::{Refusal, RefusalKind};
use crate::wire::what_if::WhatIf;

parameters! {
    /// The length of the run of a profile if some of its work took another time: a replay.
    pub struct WhatIfQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Edits that hold together, a line each, in the words of `nprof whatif`, such as
        /// `kernel:gemm=0.5`, `rank:3=median` or `bandwidth=2`.
        pub edits: String = Text::in_query("edits"),
    }
}

impl Ask for WhatIfQuestion {
    type Answer = WhatIf;

    const PATH: &'static str = "/api/profiles/{slug}/whatif";
    const MANNER: Manner = Manner::of_replay("askWhatIf");
}

impl AskStore for WhatIfQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<WhatIf, Refusal> {
        store.what_if(&self.profile, &edits_of(&self.edits)?, work)
    }
}

/// The edits of a text, a line each.
pub(super) fn edits_of(text: &str) -> Result<Vec<Edit>, Refusal> {
    let refused =
        |error: crate::insight::EditError| Refusal::new(RefusalKind::BadQuestion, error.to_string());
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::parse).collect::<Result<Vec<Edit>, _>>().map_err(refused)
}

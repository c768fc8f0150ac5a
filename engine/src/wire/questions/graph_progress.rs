//! Progress of the dependency graph of a profile.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore, Weight};
use crate::wire::grammar::parameters;
use crate::wire::graph_progress::GraphProgress;
use crate::wire::refusal::{Refusal, RefusalKind};

parameters! {
    /// The progress of the dependency graph of a profile. Questions about the run wait for the
    /// graph.
    pub struct GraphProgressQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
    }
}

impl Ask for GraphProgressQuestion {
    type Answer = GraphProgress;

    const PATH: &'static str = "/api/profiles/{slug}/graph";
    const MANNER: Manner =
        Manner { refusals: &[RefusalKind::NotFound], ..Manner::of("readGraphProgress", Weight::Light) };
}

impl AskStore for GraphProgressQuestion {
    fn answer(&self, store: &impl ProfileStore, _: Work<'_>) -> Result<GraphProgress, Refusal> {
        store.graph_progress(&self.profile)
    }
}

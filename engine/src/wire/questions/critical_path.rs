//! The critical path of a run.

use super::limit::{MAX_LIMIT, at_most};
use crate::base::Interval;
use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, SpanIfAny, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::run_path::RunPath;

/// Default number of parts: more than a screen has pixels for.
const USUAL_PARTS: u32 = 2_000;

parameters! {
    /// The critical path of the run of a profile: the work that made it as long as it is.
    pub struct CriticalPathQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Parts of the path outside are left out. On the clock that all ranks share.
        pub span: Option<Interval> = SpanIfAny,
        /// Largest number of parts, at most 100,000. If there are more, short ones that follow each
        /// other are one.
        pub parts: u32 = Number::or("parts", USUAL_PARTS),
    }
}

impl CriticalPathQuestion {
    /// The question about the parts in a span.
    #[must_use]
    pub fn about(profile: &str, span: Option<Interval>) -> Self {
        Self { profile: profile.to_owned(), span, parts: USUAL_PARTS }
    }

    /// Largest number of parts.
    #[must_use]
    pub fn most(&self) -> usize {
        at_most(self.parts, MAX_LIMIT)
    }
}

impl Ask for CriticalPathQuestion {
    type Answer = RunPath;

    const PATH: &'static str = "/api/profiles/{slug}/critical-path";
    const MANNER: Manner = Manner::of_graph("readCriticalPath");
}

impl AskStore for CriticalPathQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<RunPath, Refusal> {
        store.critical_path(&self.profile, self.span, self.most(), work)
    }
}

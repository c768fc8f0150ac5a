//! The waits of a run.

use super::limit::{MAX_LIMIT, at_most};
use crate::base::Interval;
use crate::exec::Work;
use crate::insight::wait::AskedWaits;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, Numbers, SpanIfAny, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::run_waits::RunWaits;

/// Default number of single waits.
const USUAL_WAITS: u32 = 2_000;

parameters! {
    /// The waits of a run: which queues and threads waited, for whom, and how long.
    pub struct RunWaitsQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Numbers of the ranks that wait, separated by commas; by default all.
        pub ranks: Option<Vec<u32>> = Numbers("ranks"),
        /// Single waits outside are left out. On the clock that all ranks share.
        pub span: Option<Interval> = SpanIfAny,
        /// Largest number of single waits of a rank, at most 100,000. If there are more, the
        /// shortest ones are left out.
        pub waits: u32 = Number::or("waits", USUAL_WAITS),
    }
}

impl RunWaitsQuestion {
    /// The question about a rank and the waits in a span; without a rank, about the sums of all
    /// ranks.
    #[must_use]
    pub fn about(profile: &str, rank: Option<u32>, span: Option<Interval>) -> Self {
        let waits = rank.map_or(0, |_| USUAL_WAITS);
        Self { profile: profile.to_owned(), ranks: rank.map(|rank| vec![rank]), span, waits }
    }
}

impl Ask for RunWaitsQuestion {
    type Answer = RunWaits;

    const PATH: &'static str = "/api/profiles/{slug}/waits";
    const MANNER: Manner = Manner::of_graph("readRunWaits");
}

impl AskStore for RunWaitsQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<RunWaits, Refusal> {
        let most = at_most(self.waits, MAX_LIMIT);
        let asked = AskedWaits { ranks: self.ranks.as_deref(), span: self.span, most };
        store.run_waits(&self.profile, &asked, work)
    }
}

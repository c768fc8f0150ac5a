//! The tracks of a rank under edits, beside the recorded ones.

use super::what_if::edits_of;
use crate::base::Interval;
use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::grammar::{Number, SpanIfAny, Text, parameters};
use crate::wire::paired_tracks::PairedTracks;
use crate::wire::refusal::Refusal;

parameters! {
    /// The tracks of a rank if some work of its run took another time, beside the recorded ones.
    /// The begins of both runs are times of the clock that all ranks share.
    pub struct PredictedTracksQuestion {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Edits that hold together, a line each, in the words of `nprof whatif`.
        pub edits: String = Text::in_query("edits"),
        /// Number of the rank.
        pub rank: u32 = Number::required("rank"),
        /// Work outside of this span is left out. On the clock that all ranks share.
        pub span: Option<Interval> = SpanIfAny,
    }
}

impl Ask for PredictedTracksQuestion {
    type Answer = PairedTracks;

    const PATH: &'static str = "/api/profiles/{slug}/whatif/tracks";
    const MANNER: Manner = Manner::of_replay("predictTracks");
}

impl AskStore for PredictedTracksQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<PairedTracks, Refusal> {
        let Self { profile, edits, rank, span } = self;
        store.predicted_tracks(profile, &edits_of(edits)?, *rank, *span, work)
    }
}

//! The tracks of two runs beside each other.

use crate::exec::Work;
use crate::wire::ask::{Ask, AskStore, Manner, PROFILE, ProfileStore};
use crate::wire::comparison::RunChoice;
use crate::wire::grammar::{Numbers, Text, TextIfAny, parameters};
use crate::wire::paired_tracks::PairedTracks;
use crate::wire::refusal::Refusal;

parameters! {
    /// The tracks of two runs beside each other: where in the program the second one falls behind.
    pub struct PairedTracksQuestion {
        /// Name or id of the first profile.
        pub profile: String = PROFILE,
        /// Name or id of the second profile, which can be the first one.
        pub with: String = Text::in_query("with"),
        /// Numbers of the ranks of the first profile, separated by commas; by default all. One of
        /// them is shown.
        pub ranks: Option<Vec<u32>> = Numbers("ranks"),
        /// Numbers of the ranks of the second profile, separated by commas; by default all.
        pub with_ranks: Option<Vec<u32>> = Numbers("with_ranks"),
        /// Name of a region of the first profile; by default all of it.
        pub region: Option<String> = TextIfAny("region"),
        /// Name of a region of the second profile; by default all of it.
        pub with_region: Option<String> = TextIfAny("with_region"),
    }
}

impl Ask for PairedTracksQuestion {
    type Answer = PairedTracks;

    const PATH: &'static str = "/api/profiles/{slug}/comparison/tracks";
    const MANNER: Manner = Manner::of_graph("pairTracks");
}

impl AskStore for PairedTracksQuestion {
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>) -> Result<PairedTracks, Refusal> {
        let a = RunChoice::new(&self.profile, &self.ranks, &self.region);
        let b = RunChoice::new(&self.with, &self.with_ranks, &self.with_region);
        store.paired_tracks(&a, &b, work)
    }
}

//! The state of the page for one profile, which a link restores: a tree of values. Each part has a
//! reducer of its own. Parts that many commands change get all of them and ignore the others'.

pub mod command;
pub mod compare;
pub mod data;
pub mod mute;
pub mod orders;
pub mod panels;
pub mod plots;
pub mod profile_names;
pub mod reading;
pub mod search;
pub mod selection;
pub mod track_numbers;
pub mod tracks;
pub mod trail;
pub mod url_error;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;

use self::compare::CompareState;
use self::data::DataView;
use self::mute::MutedFindings;
use self::orders::Orders;
use self::panels::PanelsState;
use self::plots::PlotsState;
use self::profile_names::ProfileNames;
use self::search::SearchState;
use self::selection::SelectionState;
use self::track_numbers::Numbered;
use self::tracks::TracksState;
use super::rows::sheet::Sheet;
use super::shell::place::ProfilePlace;
use super::source_id::SourceId;
use super::time::axes::{TimeFrame, Timebase};

/// Most regions that stand beside another one.
pub const MOST_BESIDE: usize = 2;

/// The view of a profile. A value: [`View::apply`](self::command) creates the next one, and
/// [`url`](super::url) writes it to the address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The profiles.
    pub profiles: ProfileNames,
    /// The place of the page.
    pub place: ProfilePlace,
    /// State of the Data place, which is kept while another place is shown.
    pub data: DataView,
    /// The visible span; `None` is the span that the profile opens with.
    pub window: Option<Interval>,
    /// The clocks on which ranks are shown.
    pub timebase: Timebase,
    /// Picoseconds by which the profiles after the first one stand later than if all began
    /// together.
    pub later_ps: i64,
    /// The shown ranks and their open groups.
    pub tracks: TracksState,
    /// The selected slice or counter, and the marked span.
    pub selection: SelectionState,
    /// The search.
    pub search: SearchState,
    /// The panels beside and below the timeline.
    pub panels: PanelsState,
    /// Orders of the tables in the panels.
    pub orders: Orders,
    /// The plots.
    pub plots: PlotsState,
    /// The comparison of two runs.
    pub compare: CompareState,
    /// The region that numbers are about; `None` for the whole run.
    pub region: Option<String>,
    /// Regions whose numbers stand beside those.
    pub beside: Vec<String>,
    /// Findings that are not shown.
    pub muted: MutedFindings,
    /// Track numbers of an old link, until the tracks are known.
    pub numbered: Option<Numbered>,
    /// Content id of the segment that the row of the selected slice and the track numbers refer to.
    /// `None` if the view has no such numbers, or if the link was written by hand.
    pub of: Option<String>,
    /// Whether its address has no parameters: nobody has chosen what to show, so it is about all
    /// ranks together. With parameters and without a rank it is about the first one, as in links
    /// that are older than the view of all ranks.
    pub is_bare: bool,
}

impl View {
    /// The query and its syntax, if only its hits are added up.
    #[must_use]
    pub fn summed_hits(&self) -> Option<(String, Syntax)> {
        let is_summed = self.selection.of_hits && !self.search.query.is_empty();
        is_summed.then(|| (self.search.query.clone(), self.search.syntax))
    }

    /// The view of a profile as it opens.
    #[must_use]
    pub fn of_profile(profile: &str) -> Self {
        Self::of_profiles(ProfileNames::one(profile))
    }

    /// The view of these profiles as it opens.
    #[must_use]
    pub fn of_profiles(profiles: ProfileNames) -> Self {
        Self { profiles, is_bare: true, ..Self::default() }
    }

    /// How the times of ranks and profiles are put on one axis.
    #[must_use]
    pub fn frame(&self) -> TimeFrame {
        TimeFrame { base: self.timebase, later_ps: self.later_ps }
    }

    /// The same view of the first profile alone.
    #[must_use]
    pub fn alone(mut self) -> Self {
        let is_of_first = |source: &SourceId| source.profile == 0;
        if !self.tracks.current.as_ref().is_none_or(is_of_first) {
            (self.tracks.current, self.selection, self.of) = (None, SelectionState::default(), None);
        }
        for top in [&mut self.tracks.top, &mut self.tracks.pins_top] {
            top.take_if(|top| !top.source.as_ref().is_none_or(is_of_first));
        }
        Self { profiles: ProfileNames::one(self.profiles.first()), later_ps: 0, ..self }
    }

    /// The same view, with the segment that its numbers refer to.
    #[must_use]
    pub fn numbered_by(self, segment: Option<&str>) -> Self {
        let of = segment.filter(|_| self.has_numbers()).map(str::to_owned);
        Self { of, ..self }
    }

    /// Returns true if its numbers refer to another segment than this one, because the trace was
    /// ingested again.
    #[must_use]
    pub fn is_numbered_by_another(&self, segment: &str) -> bool {
        self.of.as_ref().is_some_and(|of| of != segment)
    }

    /// The same view without rows and track numbers.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        let selection = SelectionState { row: None, ..self.selection };
        Self { selection, numbered: None, of: None, ..self }
    }

    /// The same view with paths instead of the track numbers of an old link. `source` is the rank
    /// of the numbers.
    #[must_use]
    pub fn upgraded(mut self, sheet: &Sheet, source: SourceId) -> Self {
        if let Some(numbered) = self.numbered.take() {
            numbered.upgrade(&mut self, sheet, source);
        }
        let of = self.of.take().filter(|_| self.has_numbers());
        Self { of, ..self }
    }

    fn has_numbers(&self) -> bool {
        self.selection.row.is_some() || self.numbered.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::sheet::tests::sheet_of;

    #[test]
    fn numbers_are_those_of_a_segment() {
        let search = SearchState { query: "x".to_owned(), ..SearchState::default() };
        let view = View { search, ..View::of_profile("p") };
        assert_eq!(view.clone().numbered_by(Some("aa")).of, None);
        let selection = SelectionState { row: Some(3), ..SelectionState::default() };
        let selected = View { selection, ..view.clone() }.numbered_by(Some("aa"));
        assert!(!selected.is_numbered_by_another("aa") && selected.is_numbered_by_another("bb"));
        assert_eq!(selected.clone().numbered_by(None).of, None);
        assert_eq!(selected.without_numbers(), view);
    }

    #[test]
    fn a_profile_can_be_seen_alone() {
        let alone = |url: &str| url.parse::<View>().unwrap().alone().to_string();
        let of_second = "/compare/a/b?v=2&rank=0.1&sel=4&row=0.1:x&pin=y&pin_row=0:y";
        assert_eq!(alone(of_second), "/profile/a?v=2&pin_row=0:y&pin=y");
        assert_eq!(alone("/compare/a/b?v=2&rank=0&sel=4"), "/profile/a?v=2&rank=0&sel=4");
    }

    #[test]
    fn track_numbers_become_paths() {
        let sheet = sheet_of("Engines/\n  Tensor\nDMA/-\n  q0\nPower~");
        let link = "/profile/p?v=1&sel=4&reading=104@7&groups=100,102,999&top=103&of=aa";
        let view: View = link.parse().expect("an old link");
        let upgraded = view.upgraded(&sheet, SourceId::of_first(0));
        let written = "/profile/p?v=2&sel=4&counter=Power@7&open=DMA&closed=Engines&row=DMA/q0&of=aa";
        assert_eq!(upgraded.to_string(), written);
        assert_eq!(upgraded.clone().upgraded(&sheet, SourceId::of_first(0)), upgraded);
    }
}

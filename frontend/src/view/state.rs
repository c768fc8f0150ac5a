//! The state of the page for one profile, which a link restores.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::catalog::Track;

use super::data::DataView;
use super::place::ProfilePlace;
use super::reading::Reading;

/// The view of a profile. A value: [`View::apply`](super::command) creates the next one, and
/// [`url`](super::url) writes it to the address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The profile's name for URLs.
    pub profile: String,
    /// The place of the page.
    pub place: ProfilePlace,
    /// State of the Data place, which is kept while another place is shown.
    pub data: DataView,
    /// The rank's number; `None` is the first of the profile.
    pub rank: Option<u32>,
    /// The visible span; `None` is the whole rank.
    pub window: Option<Interval>,
    /// The row of the selected slice.
    pub selected: Option<u32>,
    /// The counter that is read instead of a selected slice.
    pub reading: Option<Reading>,
    /// A span that the user marked to ask for its statistics.
    pub marked: Option<Interval>,
    /// Groups, by track number, that the user opened or closed against their initial state.
    pub toggled: BTreeSet<u32>,
    /// The text or pattern of the search. Empty if there is no search.
    pub query: String,
    /// Syntax of the search text.
    pub syntax: Syntax,
    /// The tab of the panel; `None` is the tab that suits the selection.
    pub tab: Option<Tab>,
    /// The first visible track, by number; `None` is the first of all.
    pub top: Option<u32>,
    /// Content id of the segment that the rows and tracks above refer to. `None` if the view has no
    /// such numbers, or if the link was written by hand.
    pub of: Option<String>,
}

/// A tab of the panel below the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The selected slice.
    Details,
    /// The marked span.
    Selection,
    /// Hits of the search.
    Search,
}

impl Tab {
    /// All tabs, in the panel's order.
    pub const ALL: [Self; 3] = [Self::Details, Self::Selection, Self::Search];

    /// Heading of the tab.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Details => "Details",
            Self::Selection => "Selection",
            Self::Search => "Search",
        }
    }
}

impl View {
    /// The view of a profile's first rank as a whole.
    #[must_use]
    pub fn of_profile(profile: &str) -> Self {
        Self { profile: profile.to_owned(), ..Self::default() }
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

    /// The same view without rows and tracks.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        Self { selected: None, reading: None, toggled: BTreeSet::new(), top: None, of: None, ..self }
    }

    fn has_numbers(&self) -> bool {
        self.selected.is_some() || self.reading.is_some() || self.top.is_some() || !self.toggled.is_empty()
    }

    /// The shown tab.
    #[must_use]
    pub fn shown_tab(&self) -> Tab {
        self.tab.unwrap_or(self.suiting_tab())
    }

    /// The tab to show if the user chose none.
    pub(super) fn suiting_tab(&self) -> Tab {
        match (self.selected.or(self.reading.map(|reading| reading.track)), self.marked) {
            (None, Some(_)) => Tab::Selection,
            (Some(_), _) | (None, None) => Tab::Details,
        }
    }

    /// Returns true if only the heading of this group is shown.
    #[must_use]
    pub fn is_closed(&self, group: &Track) -> bool {
        is_closed(&self.toggled, group)
    }
}

/// Returns true if a group is closed. `toggled` are the groups that differ from their initial
/// state.
#[must_use]
pub fn is_closed(toggled: &BTreeSet<u32>, group: &Track) -> bool {
    group.initially_closed != toggled.contains(&group.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_segment() {
        let view = View { query: "x".to_owned(), ..View::of_profile("p") };
        assert_eq!(view.clone().numbered_by(Some("aa")).of, None);
        let selected = View { selected: Some(3), ..view.clone() }.numbered_by(Some("aa"));
        assert!(!selected.is_numbered_by_another("aa") && selected.is_numbered_by_another("bb"));
        assert_eq!(selected.clone().numbered_by(None).of, None);
        assert_eq!(selected.without_numbers(), view);
    }
}

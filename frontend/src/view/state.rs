//! The state of the page for one profile that a link brings back.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::catalog::Track;

use super::reading::Reading;

/// What is looked at. A value: [`View::apply`](super::command) makes the next one, [`url`](super::url) writes it down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The profile's name for URLs.
    pub profile: String,
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
    /// Groups, by track number, that the user turned from how they start: opened or closed.
    pub toggled: BTreeSet<u32>,
    /// The text or pattern that is searched for; empty for nothing.
    pub query: String,
    /// How what is searched for is read.
    pub syntax: Syntax,
    /// The tab of the panel; `None` is the one that suits what is selected.
    pub tab: Option<Tab>,
    /// The first visible track, by number; `None` is the first of all.
    pub top: Option<u32>,
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
    /// Metrics of the rank.
    Summary,
    /// Warnings of the ingest.
    Warnings,
}

impl Tab {
    /// All tabs, in the panel's order.
    pub const ALL: [Self; 5] = [Self::Details, Self::Selection, Self::Search, Self::Summary, Self::Warnings];

    /// The heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Details => "Details",
            Self::Selection => "Selection",
            Self::Search => "Search",
            Self::Summary => "Summary",
            Self::Warnings => "Warnings",
        }
    }
}

impl View {
    /// The whole of a profile's first rank.
    #[must_use]
    pub fn of_profile(profile: &str) -> Self {
        Self { profile: profile.to_owned(), ..Self::default() }
    }

    /// The tab that is shown.
    #[must_use]
    pub fn shown_tab(&self) -> Tab {
        self.tab.unwrap_or(self.suiting_tab())
    }

    /// The tab that is shown where none was chosen.
    pub(super) fn suiting_tab(&self) -> Tab {
        match (self.selected.or(self.reading.map(|reading| reading.track)), self.marked) {
            (Some(_), _) => Tab::Details,
            (None, Some(_)) => Tab::Selection,
            (None, None) => Tab::Summary,
        }
    }

    /// Whether only the heading of this group is shown.
    #[must_use]
    pub fn is_closed(&self, group: &Track) -> bool {
        is_closed(&self.toggled, group)
    }
}

/// Whether a group is closed, where these groups stand otherwise than at first.
#[must_use]
pub fn is_closed(toggled: &BTreeSet<u32>, group: &Track) -> bool {
    group.initially_closed != toggled.contains(&group.id)
}

//! The state of the page for one profile: everything that a link to it must bring back.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::catalog::Track;

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
    /// A span that the user marked to ask for its statistics.
    pub marked: Option<Interval>,
    /// Groups, by track number, that the user turned from how they start: opened or closed.
    pub toggled: BTreeSet<u32>,
    /// How what is searched for is read.
    pub syntax: Syntax,
}

impl View {
    /// The whole of a profile's first rank.
    #[must_use]
    pub fn of_profile(profile: &str) -> Self {
        Self { profile: profile.to_owned(), ..Self::default() }
    }

    /// Whether only the heading of this group is shown.
    #[must_use]
    pub fn is_closed(&self, group: &Track) -> bool {
        group.initially_closed != self.toggled.contains(&group.id)
    }
}

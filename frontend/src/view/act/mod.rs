//! The commands of the page: what each does, its keys, and when it works. The table is the only
//! list of keys. The key handler, the help dialog, the palette, tooltips and `docs/keys.md` read
//! it.

pub mod fuzzy;
pub mod keys;
pub mod table;

use self::keys::{Chord, GO_KEY, KeyPress, Scope};
use self::table::GROUPS;
use super::ranks::standing::RankOrder;
use super::shell::panel::Tab;
use super::shell::place::ProfilePlace;

/// A command of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Shows less time.
    ZoomIn,
    /// Shows more time.
    ZoomOut,
    /// Moves the window earlier.
    MoveLeft,
    /// Moves the window later.
    MoveRight,
    /// Shows all time.
    ShowAll,
    /// Goes back to the view before this one.
    Undo,
    /// Goes forward to the view after this one.
    Redo,
    /// Selects the slice before the selected one.
    PreviousSlice,
    /// Selects the slice after the selected one.
    NextSlice,
    /// Selects a slice in the lane above, or what is in the row above.
    SliceAbove,
    /// Selects a slice in the lane below, or what is in the row below.
    SliceBelow,
    /// Selects the operation before the selected one, of the same communicator and kind.
    PreviousOperation,
    /// Selects the operation after the selected one, of the same communicator and kind.
    NextOperation,
    /// Zooms to the selected slice.
    ZoomToSlice,
    /// Marks the span of the selected slice.
    MarkSlice,
    /// Drops the marked span, or the selection if nothing is marked.
    Drop,
    /// Puts the focus into the search.
    Search,
    /// Goes to the next hit.
    NextHit,
    /// Goes to the previous hit.
    PreviousHit,
    /// Switches between text and regular expression.
    SwitchSyntax,
    /// Leaves out the tracks without hits, or shows all again.
    SwitchOnlyHits,
    /// Adds up the hits.
    SumHits,
    /// Ends the search.
    EndSearch,
    /// Opens or closes the drawer.
    SwitchDrawer,
    /// Opens or closes the dock.
    SwitchDock,
    /// Opens a tab of a panel.
    ShowTab(Tab),
    /// Opens the rank before the current one.
    PreviousRank,
    /// Opens the rank after the current one.
    NextRank,
    /// Shows one more rank below the others.
    MoreRanks,
    /// Hides the last shown rank.
    FewerRanks,
    /// Sorts rows and lists of ranks.
    SortRanks(RankOrder),
    /// Fits the rows of all ranks into the view, or makes them as high as others.
    FitRanks,
    /// Switches between aligned and raw times.
    SwitchClock,
    /// Shows the track of the selection of all ranks, or not any more.
    PinTrack,
    /// Shows no track of all ranks any more.
    Unpin,
    /// Opens the list of ranks.
    FindRank,
    /// Opens a place of the profile.
    GoTo(ProfilePlace),
    /// Swaps the first two profiles.
    SwapRuns,
    /// Opens the list of profiles.
    OpenList,
    /// Copies a link to the current view.
    CopyLink,
    /// Switches between a wheel that scrolls and one that zooms.
    SwitchWheel,
    /// Switches between the light and the dark theme.
    SwitchTheme,
    /// Opens the palette.
    OpenPalette,
    /// Shows all keys.
    ShowKeys,
}

/// Requirement of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A profile is open.
    Profile,
    /// Two profiles are open, or two parts of one can be compared.
    Pair,
    /// The timeline is shown.
    Timeline,
    /// The profile had another view before this one.
    Undo,
    /// The profile had another view after this one.
    Redo,
    /// A slice is selected.
    Slice,
    /// A slice or a counter is selected, or a span is marked.
    Selection,
    /// The profile has several ranks.
    Ranks,
    /// Several ranks are shown.
    SeveralShown,
    /// The profile has so many ranks that there is a list of them.
    ManyRanks,
    /// The clocks of the ranks differ.
    Clocks,
    /// A slice or a counter of one of several ranks is selected.
    TrackOfRanks,
    /// A track of several ranks is pinned.
    Pins,
    /// The timeline has a row for each rank.
    RankRows,
    /// Something is searched for.
    Search,
    /// The ingest of the rank has warnings.
    Warnings,
    /// The page has a list of profiles.
    List,
}

impl Need {
    /// When the need is met, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Profile => "in a profile",
            Self::Timeline => "in the timeline",
            Self::Undo => "after a step",
            Self::Redo => "after an undone step",
            Self::Slice => "with a selected slice",
            Self::Selection => "with a selection",
            Self::Ranks => "with several ranks",
            Self::SeveralShown => "with several ranks in sight",
            Self::ManyRanks => "with many ranks",
            Self::Clocks => "with ranks whose clocks differ",
            Self::TrackOfRanks => "with a selection in one of several ranks",
            Self::Pins => "with pinned tracks",
            Self::RankRows => "in the tab Collectives",
            Self::Search => "after a search",
            Self::Warnings => "with warnings",
            Self::Pair => "with two runs",
            Self::List => "on a server",
        }
    }
}

/// A row of the table of commands.
#[derive(Debug, Clone, Copy)]
pub struct ActRow {
    /// The command.
    pub act: Act,
    /// Effect of the command, in words.
    pub what: &'static str,
    /// Its keys: alternatives. Without keys, it is in the palette only.
    pub keys: &'static [Chord],
    /// Requirement of the command.
    pub needs: &'static [Need],
}

/// A use of the pointer, or of keys in one part of the page only.
#[derive(Debug, Clone, Copy)]
pub struct Gesture {
    /// Alternatives, or keys that are held with a gesture.
    pub shown: &'static [&'static str],
    /// Its effect.
    pub what: &'static str,
}

/// Rows under one heading.
#[derive(Debug, Clone, Copy)]
pub struct ActGroup {
    /// The heading.
    pub title: &'static str,
    /// The commands.
    pub rows: &'static [ActRow],
    /// Uses of the pointer that go with them.
    pub gestures: &'static [Gesture],
}

impl ActRow {
    /// The first need that is not met, if there is one.
    #[must_use]
    pub fn missing(&self, given: &[Need]) -> Option<Need> {
        self.needs.iter().copied().find(|need| !given.contains(need))
    }
}

impl Act {
    /// Its row of the table.
    #[must_use]
    pub fn row(self) -> &'static ActRow {
        rows().find(|row| row.act == self).expect("every command has a row")
    }

    /// Whether it goes on while its key is held. Such a command is one of the timeline.
    #[must_use]
    pub fn glides(self) -> bool {
        matches!(self, Self::ZoomIn | Self::ZoomOut | Self::MoveLeft | Self::MoveRight)
    }

    /// Its first keys, for a tooltip: `G T`, or nothing.
    #[must_use]
    pub fn keys(self) -> String {
        self.row().keys.first().map_or_else(String::new, |chord| chord.shown().join(" "))
    }

    /// A name with the first keys: `Timeline (G T)`.
    #[must_use]
    pub fn titled(self, name: &str) -> String {
        let keys = self.keys();
        if keys.is_empty() { name.to_owned() } else { format!("{name} ({keys})") }
    }
}

/// All commands, in order.
pub fn rows() -> impl Iterator<Item = &'static ActRow> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// The meaning of a key press.
#[derive(Debug, Clone, Copy)]
pub enum Pressed {
    /// The keys of a command.
    Row(&'static ActRow),
    /// The first of two keys.
    First,
    /// No keys of the page.
    Nothing,
}

/// The meaning of a key press. `is_going` is true after [`Pressed::First`].
#[must_use]
pub fn pressed(press: KeyPress, scope: Scope, is_going: bool) -> Pressed {
    let has = |row: &&ActRow, is_pair: bool| {
        let of_kind = |chord: &&Chord| matches!(chord, Chord::Go(_)) == is_pair;
        row.keys.iter().filter(of_kind).any(|chord| chord.is(press, scope, is_going))
    };
    // A letter after the first of two keys does not have its own meaning.
    if let Some(row) = rows().find(|row| has(row, true)).or_else(|| rows().find(|row| has(row, false))) {
        return Pressed::Row(row);
    }
    match Chord::Typed(GO_KEY).is(press, scope, is_going) {
        true => Pressed::First,
        false => Pressed::Nothing,
    }
}

#[cfg(test)]
mod tests;

//! The table of commands. A new command is a row here, and a case where it is run.

use super::Act::*;
use super::keys::Chord::{self, *};
use super::{Act, ActGroup, ActRow, Gesture, Need};

use crate::view::ranks::standing::RankOrder;
use crate::view::shell::panel::Tab;
use crate::view::shell::place::ProfilePlace;

const fn row(act: Act, what: &'static str, keys: &'static [Chord], needs: &'static [Need]) -> ActRow {
    ActRow { act, what, keys, needs }
}

const fn gesture(shown: &'static [&'static str], what: &'static str) -> Gesture {
    Gesture { shown, what }
}

const PROFILE: &[Need] = &[Need::Profile];
const TIMELINE: &[Need] = &[Need::Profile, Need::Timeline];
const SLICE: &[Need] = &[Need::Profile, Need::Timeline, Need::Slice];
const SEARCH: &[Need] = &[Need::Profile, Need::Search];
const PAIR: &[Need] = &[Need::Profile, Need::Pair];
const RANKS: &[Need] = &[Need::Profile, Need::Ranks];
const RANK_ROWS: &[Need] = &[Need::Profile, Need::Timeline, Need::RankRows];

/// All commands and gestures, in the order of the help dialog.
pub const GROUPS: &[ActGroup] = &[
    ActGroup {
        title: "Timeline",
        rows: &[
            row(ZoomIn, "Zoom in", &[At("KeyW"), Typed("+"), Typed("=")], TIMELINE),
            row(ZoomOut, "Zoom out", &[At("KeyS"), Typed("-")], TIMELINE),
            row(MoveLeft, "Move left", &[At("KeyA")], TIMELINE),
            row(MoveRight, "Move right", &[At("KeyD")], TIMELINE),
            row(ShowAll, "Show everything", &[Typed("0")], TIMELINE),
            row(Undo, "Undo the last step of the view", &[Typed("Backspace")], &[Need::Profile, Need::Undo]),
            row(Redo, "Redo the step that was undone", &[Shift("Backspace")], &[Need::Profile, Need::Redo]),
        ],
        gestures: &[
            gesture(&["drag"], "Zoom into a span"),
            gesture(&["wheel"], "Scroll the tracks"),
            gesture(&["Ctrl", "wheel"], "Zoom at the pointer; also with Alt, ⌘ or two fingers"),
            gesture(&["Shift", "wheel"], "Move in time; also a swipe to the side"),
            gesture(&["Shift", "drag"], "Move; also with Space, or the middle button"),
        ],
    },
    ActGroup {
        title: "Overview and ruler",
        rows: &[],
        gestures: &[
            gesture(&["drag on the ruler"], "Mark a span and add it up"),
            gesture(&["drag the overview"], "Move the window"),
            gesture(&["drag its edge"], "Change the window's start or end"),
            gesture(&["click beside it"], "Move the window there"),
        ],
    },
    ActGroup {
        title: "Touch",
        rows: &[],
        gestures: &[
            gesture(&["one finger"], "Move and scroll"),
            gesture(&["two fingers"], "Zoom, and move with them"),
            gesture(&["tap"], "Select a slice"),
        ],
    },
    ActGroup {
        title: "Slices",
        rows: &[
            row(PreviousSlice, "Previous slice of the lane", &[Typed("ArrowLeft")], TIMELINE),
            row(NextSlice, "Next slice of the lane", &[Typed("ArrowRight")], TIMELINE),
            row(SliceAbove, "Slice, counter or closed group above", &[Typed("ArrowUp")], TIMELINE),
            row(SliceBelow, "Slice, counter or closed group below", &[Typed("ArrowDown")], TIMELINE),
            row(PreviousOperation, "Previous operation of this kind, or finding", &[Typed("b")], TIMELINE),
            row(NextOperation, "Next operation of this kind, or finding", &[Typed("n")], TIMELINE),
            row(ZoomToSlice, "Zoom to the selected slice, then to the one around it", &[Typed("f")], SLICE),
            row(MarkSlice, "Add up the selected slice's span", &[Typed("m")], SLICE),
            row(
                Drop,
                "Drop the span, then the selection",
                &[Typed("Escape")],
                &[Need::Profile, Need::Timeline, Need::Selection],
            ),
        ],
        gestures: &[
            gesture(&["click"], "Select a slice, read a counter"),
            gesture(&["double click"], "Zoom to a slice"),
            gesture(&["right click"], "Open the menu of a slice"),
            gesture(&["Shift", "F10"], "Open the menu of the selected slice"),
        ],
    },
    ActGroup {
        title: "Search",
        rows: &[
            row(Search, "Search names and fields", &[Typed("/")], PROFILE),
            row(NextHit, "Next hit from here", &[InSearch("Enter")], SEARCH),
            row(PreviousHit, "Previous hit from here", &[ShiftInSearch("Enter")], SEARCH),
            row(SwitchSyntax, "Text or regular expression", &[AltInSearch("KeyR")], PROFILE),
            row(SwitchOnlyHits, "Only tracks with hits, or all", &[AltInSearch("Enter")], SEARCH),
            row(SumHits, "Add up the hits", &[ControlInSearch("Enter")], SEARCH),
            row(EndSearch, "End the search", &[InSearch("Escape")], SEARCH),
        ],
        gestures: &[],
    },
    ActGroup {
        title: "Panels",
        rows: &[
            row(SwitchDrawer, "Open or close the lower panel", &[At("KeyQ")], TIMELINE),
            row(SwitchDock, "Open or close the details", &[Typed("i")], TIMELINE),
            row(ShowTab(Tab::Details), "Show the details", &[Go("i")], TIMELINE),
            row(ShowTab(Tab::Findings), "Show what is wrong with the run", &[Go("f")], TIMELINE),
            row(ShowTab(Tab::Path), "Show the critical path of the run", &[Go("l")], TIMELINE),
            row(ShowTab(Tab::Waits), "Show who waited for whom", &[Go("a")], TIMELINE),
            row(ShowTab(Tab::WhatIf), "Show what would shorten the run", &[Go("u")], TIMELINE),
            row(ShowTab(Tab::Regions), "Show steps, layers and named spans", &[Go("e")], TIMELINE),
            row(ShowTab(Tab::Selection), "Show the marked span's totals", &[Go("m")], TIMELINE),
            row(ShowTab(Tab::Hits), "Show the hits", &[Go("h")], TIMELINE),
            row(
                ShowTab(Tab::Warnings),
                "Show the warnings",
                &[Go("w")],
                &[Need::Profile, Need::Timeline, Need::Warnings],
            ),
            row(ShowTab(Tab::Plots), "Show the plots of all ranks", &[Go("p")], RANK_ROWS),
        ],
        gestures: &[
            gesture(&["drag its edge", "arrow keys"], "Resize a panel"),
            gesture(&["double click its edge"], "Close a panel"),
        ],
    },
    ActGroup {
        title: "Ranks",
        rows: &[
            row(PreviousRank, "Previous rank", &[Bracket("["), Shifted("Comma", "<")], RANKS),
            row(NextRank, "Next rank", &[Bracket("]"), Shifted("Period", ">")], RANKS),
            row(
                FewerRanks,
                "Show one rank fewer",
                &[Bracket("{")],
                &[Need::Profile, Need::Ranks, Need::SeveralShown],
            ),
            row(MoreRanks, "Show one more rank below", &[Bracket("}")], RANKS),
            row(FindRank, "Find a rank in the list", &[Go("r")], &[Need::Profile, Need::ManyRanks]),
            row(
                PinTrack,
                "Show the track of the selection of all ranks, or not",
                &[Typed("p")],
                &[Need::Profile, Need::TrackOfRanks],
            ),
            row(Unpin, "Unpin all tracks", &[], &[Need::Profile, Need::Pins]),
            row(SwitchClock, "Aligned or raw times", &[Typed("c")], &[Need::Profile, Need::Clocks]),
            row(FitRanks, "Fit the rows of all ranks, or not", &[Typed("z")], RANK_ROWS),
            row(SortRanks(RankOrder::Number), "Sort the ranks by number", &[], RANK_ROWS),
            row(SortRanks(RankOrder::Host), "Sort the ranks by host", &[], RANK_ROWS),
            row(SortRanks(RankOrder::Late), "Sort the ranks by lateness", &[], RANK_ROWS),
            row(SortRanks(RankOrder::Wait), "Sort the ranks by waiting", &[], RANK_ROWS),
        ],
        gestures: &[gesture(&["Ctrl", "click"], "Show or hide a rank below the others")],
    },
    ActGroup {
        title: "Table",
        rows: &[],
        gestures: &[
            gesture(&["↑", "↓"], "Row above, below; with Shift more rows"),
            gesture(&["PageUp", "PageDown"], "A page up, down"),
            gesture(&["Home", "End"], "First, last row"),
            gesture(&["Enter"], "Show the row's slice in the timeline"),
            gesture(&["Ctrl", "C"], "Copy the marked rows"),
        ],
    },
    ActGroup {
        title: "Page",
        rows: &[
            row(GoTo(ProfilePlace::Timeline), "Go to the timeline", &[Go("t")], PROFILE),
            row(GoTo(ProfilePlace::Summary), "Go to the summary", &[Go("s")], PROFILE),
            row(GoTo(ProfilePlace::Data), "Go to the tables", &[Go("d")], PROFILE),
            row(GoTo(ProfilePlace::Compare), "Go to the comparison", &[Go("c")], PAIR),
            row(SwapRuns, "Swap the runs that are compared", &[Typed("x")], PAIR),
            row(OpenList, "Go to the list of profiles", &[], &[Need::List]),
            row(OpenPalette, "Find a command", &[Control("k")], &[]),
            row(ShowKeys, "Show these keys", &[Typed("?")], &[]),
            row(CopyLink, "Copy a link to this view", &[], PROFILE),
            row(SwitchWheel, "Let the wheel zoom, or scroll again", &[], &[]),
            row(SwitchTheme, "Switch between light and dark", &[], &[]),
        ],
        gestures: &[],
    },
];

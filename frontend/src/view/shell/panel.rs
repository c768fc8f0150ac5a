//! The panels beside and below the timeline: the table of their tabs, their sizes, and where they
//! are in a narrow window.

use crate::view::size::Size;

/// A tab of a panel: a row of [`PANELS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The selected slice or counter.
    Details,
    /// Findings about the run.
    Findings,
    /// The critical path of the run. It is drawn through the timeline as long as the tab is open.
    Path,
    /// The waits of a rank. They are drawn in the timeline as long as the tab is open.
    Waits,
    /// The run if some of its work took another time, below the recorded one.
    WhatIf,
    /// Steps, layers and phases of a rank, and the spans that users named.
    Regions,
    /// The marked span.
    Selection,
    /// Hits of the search.
    Hits,
    /// Warnings of the ingest. Absent if there are none.
    Warnings,
    /// Plots of all ranks. Absent in the timeline of one rank.
    Plots,
}

/// A panel. Both are closed until they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelSide {
    /// At the right of the timeline. A narrow window has none.
    Dock,
    /// Below the timeline. In a narrow window it also has the tabs of the dock, before its own.
    Drawer,
}

/// Positions of the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// A dock at the right and a drawer below.
    Wide,
    /// A drawer with all tabs.
    Narrow,
}

/// A row of the table of tabs.
#[derive(Debug, Clone, Copy)]
pub struct PanelRow {
    /// The tab.
    pub tab: Tab,
    /// Name in addresses.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// The letter that opens it, after [`GO_KEY`](crate::view::act::keys::GO_KEY).
    pub letter: &'static str,
    /// The panel that it belongs to.
    pub side: PanelSide,
}

/// All tabs, in the order of their panels.
pub const PANELS: [PanelRow; 10] = [
    PanelRow { tab: Tab::Details, name: "details", title: "Details", letter: "i", side: PanelSide::Dock },
    PanelRow {
        tab: Tab::Findings,
        name: "findings",
        title: "Findings",
        letter: "f",
        side: PanelSide::Drawer,
    },
    PanelRow { tab: Tab::Path, name: "path", title: "Critical path", letter: "l", side: PanelSide::Drawer },
    PanelRow { tab: Tab::Waits, name: "waits", title: "Waits", letter: "a", side: PanelSide::Drawer },
    PanelRow { tab: Tab::WhatIf, name: "what-if", title: "What if", letter: "u", side: PanelSide::Drawer },
    PanelRow { tab: Tab::Regions, name: "regions", title: "Regions", letter: "e", side: PanelSide::Drawer },
    PanelRow {
        tab: Tab::Selection,
        name: "selection",
        title: "Selection",
        letter: "m",
        side: PanelSide::Drawer,
    },
    PanelRow { tab: Tab::Hits, name: "search", title: "Hits", letter: "h", side: PanelSide::Drawer },
    // Links from before there were places lead from "warnings" to the table of that name.
    PanelRow { tab: Tab::Warnings, name: "ingest", title: "Warnings", letter: "w", side: PanelSide::Drawer },
    PanelRow { tab: Tab::Plots, name: "plots", title: "Plots", letter: "p", side: PanelSide::Drawer },
];

impl Tab {
    /// Returns true if a user goes from slice to slice in the tab.
    #[must_use]
    pub fn leads_to_slices(self) -> bool {
        matches!(self, Self::Findings | Self::Path | Self::Waits | Self::Hits | Self::Plots)
    }

    /// Returns true if the tab is about the run as a whole, whichever slice is selected.
    #[must_use]
    pub fn is_about_run(self) -> bool {
        matches!(self, Self::Findings | Self::Path | Self::Waits | Self::WhatIf | Self::Regions)
    }

    /// Its row of the table.
    #[must_use]
    pub fn row(self) -> &'static PanelRow {
        &PANELS[self as usize]
    }

    /// The tab with this name in addresses.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        PANELS.iter().find(|row| row.name == name).map(|row| row.tab)
    }
}

impl Arrangement {
    /// Width of the viewport, in CSS pixels, from which on there is a dock.
    const WIDE_PX: f64 = 1_281.0;

    /// The arrangement in a viewport of this width.
    #[must_use]
    pub fn of(viewport_width_px: f64) -> Self {
        if viewport_width_px < Self::WIDE_PX { Self::Narrow } else { Self::Wide }
    }

    /// The tabs of a panel.
    pub fn tabs(self, side: PanelSide) -> impl Iterator<Item = Tab> {
        let all = PANELS.iter().filter(move |row| match self {
            Self::Wide => row.side == side,
            Self::Narrow => side == PanelSide::Drawer,
        });
        all.map(|row| row.tab)
    }

    /// The panel that has a tab.
    #[must_use]
    pub fn side_of(self, tab: Tab) -> PanelSide {
        match self {
            Self::Wide => tab.row().side,
            Self::Narrow => PanelSide::Drawer,
        }
    }
}

/// Height of the viewport below which the drawer stays closed until its tab is pressed: 30 rem. A
/// small screen at 200 % zoom has this height.
pub const LOW_VIEWPORT_PX: f64 = 480.0;
/// Height of the closed drawer, which shows only its tabs.
pub const TABS_PX: u32 = 36;

/// Returns true if the viewport is so low that the drawer stays closed until its tab is pressed.
#[must_use]
pub fn is_low(viewport_height_px: f64) -> bool {
    viewport_height_px < LOW_VIEWPORT_PX
}

impl PanelSide {
    /// Size when it is first opened, in CSS pixels: width of the dock, height of the drawer.
    #[must_use]
    pub fn default_px(self) -> u32 {
        match self {
            Self::Dock => 384,
            Self::Drawer => 280,
        }
    }

    /// Least useful size.
    #[must_use]
    pub fn smallest_px(self) -> u32 {
        match self {
            Self::Dock => 256,
            Self::Drawer => 96,
        }
    }

    /// Size of the closed panel.
    #[must_use]
    pub fn closed_px(self) -> u32 {
        match self {
            Self::Dock => 0,
            Self::Drawer => TABS_PX,
        }
    }

    /// The largest size in a viewport. The timeline keeps its room.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a viewport has few pixels")]
    pub fn largest_px(self, viewport: Size) -> u32 {
        let room_px = match self {
            Self::Dock => viewport.width_px - 720.0,
            Self::Drawer => viewport.height_px - 240.0,
        };
        (room_px as u32).max(self.smallest_px())
    }

    /// The nearest possible size in a viewport.
    #[must_use]
    pub fn clamped_px(self, size_px: u32, viewport: Size) -> u32 {
        size_px.clamp(self.smallest_px(), self.largest_px(viewport))
    }

    /// The size after a drag of the edge to `size_px`. `None` closes the panel.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a viewport has few pixels")]
    pub fn dragged_px(self, size_px: f64, viewport: Size) -> Option<u32> {
        let closes = size_px < f64::from(self.smallest_px() + self.closed_px()) / 2.0;
        (!closes).then(|| self.clamped_px(size_px.round() as u32, viewport))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tab_has_its_row() {
        for (at, row) in PANELS.iter().enumerate() {
            assert_eq!((row.tab as usize, Tab::from_name(row.name)), (at, Some(row.tab)));
            let same = PANELS.iter().filter(|other| other.letter == row.letter || other.title == row.title);
            assert_eq!(same.count(), 1, "{row:?}");
        }
    }

    #[test]
    fn a_narrow_window_has_all_tabs_in_the_drawer() {
        let tabs = |width_px, side| Arrangement::of(width_px).tabs(side).collect::<Vec<_>>();
        assert_eq!(tabs(1_281.0, PanelSide::Dock), [Tab::Details]);
        let drawer = &PANELS.map(|row| row.tab)[1..];
        assert_eq!(tabs(1_281.0, PanelSide::Drawer), *drawer);
        assert_eq!(tabs(1_280.0, PanelSide::Dock), []);
        assert_eq!(tabs(1_280.0, PanelSide::Drawer), PANELS.map(|row| row.tab));
        assert_eq!(Arrangement::Wide.side_of(Tab::Details), PanelSide::Dock);
        assert_eq!(Arrangement::Narrow.side_of(Tab::Details), PanelSide::Drawer);
    }

    #[test]
    fn the_timeline_keeps_its_room() {
        assert_eq!(PanelSide::Drawer.clamped_px(280, Size::new(1_000.0, 800.0)), 280);
        assert_eq!(PanelSide::Drawer.clamped_px(900, Size::new(1_000.0, 800.0)), 560);
        assert_eq!(PanelSide::Drawer.clamped_px(280, Size::new(1_000.0, 400.0)), 160);
        assert_eq!(PanelSide::Drawer.clamped_px(280, Size::new(1_000.0, 200.0)), 96);
        assert_eq!(PanelSide::Dock.clamped_px(2_000, Size::new(1_600.0, 800.0)), 880);
        assert_eq!((is_low(479.0), is_low(480.0)), (true, false));
    }

    #[test]
    fn a_drag_to_the_edge_closes() {
        let drawer = |size_px| PanelSide::Drawer.dragged_px(size_px, Size::new(1_000.0, 800.0));
        assert_eq!(drawer(20.0), None);
        assert_eq!(drawer(-300.0), None);
        assert_eq!(drawer(70.0), Some(96));
        assert_eq!(drawer(300.4), Some(300));
        assert_eq!(PanelSide::Dock.dragged_px(100.0, Size::new(1_600.0, 800.0)), None);
    }
}

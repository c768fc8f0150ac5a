//! The dock and the drawer: which tab they show, whether they are open, and their sizes.
//!
//! Choices that the user did not make follow from the rest of the view: a selection opens the dock,
//! and a marked span or a search the drawer. Only differences from that are stored and written to
//! the address, so that links from before there was a dock open what they show.

use std::fmt;

use super::View;
use super::url_error::UrlError;
use crate::view::Command;
use crate::view::shell::panel::{Arrangement, PanelSide, Tab};

/// The panels beside and below the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PanelsState {
    /// The last used tab; `None` is the one that suits the selection.
    pub tab: Option<Tab>,
    /// The panel at the right.
    pub dock: PanelState,
    /// The panel below.
    pub drawer: PanelState,
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PanelState {
    /// Whether it is open; `None` is what suits the view.
    pub is_open: Option<bool>,
    /// Its size in CSS pixels; `None` is the default one.
    pub size_px: Option<u32>,
}

impl PanelsState {
    /// The state of a panel.
    #[must_use]
    pub fn side(&self, side: PanelSide) -> &PanelState {
        match side {
            PanelSide::Dock => &self.dock,
            PanelSide::Drawer => &self.drawer,
        }
    }

    /// The same panels with another size of one of them.
    #[must_use]
    pub fn sized(mut self, side: PanelSide, size_px: u32) -> Self {
        self.side_mut(side).size_px = Some(size_px).filter(|size_px| *size_px != side.default_px());
        self
    }

    fn side_mut(&mut self, side: PanelSide) -> &mut PanelState {
        match side {
            PanelSide::Dock => &mut self.dock,
            PanelSide::Drawer => &mut self.drawer,
        }
    }

    /// Takes over a parameter of an address. Returns false if it is not one of a panel.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        for PanelParameters { side, state, size } in PARAMETERS {
            if name == state {
                let is_open = match value {
                    "open" => true,
                    "closed" => false,
                    _ => return Err(UrlError::Parameter { name: state, expected: "open or closed" }),
                };
                self.side_mut(side).is_open = Some(is_open);
                return Ok(true);
            }
            if name == size {
                let expected = "a whole number of pixels";
                let size_px = value.parse().map_err(|_| UrlError::Parameter { name: size, expected })?;
                *self = std::mem::take(self).sized(side, size_px);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The parameters of a panel in addresses.
struct PanelParameters {
    side: PanelSide,
    state: &'static str,
    size: &'static str,
}

const PARAMETERS: [PanelParameters; 2] = [
    PanelParameters { side: PanelSide::Dock, state: "dock", size: "dock_px" },
    PanelParameters { side: PanelSide::Drawer, state: "drawer", size: "drawer_px" },
];

/// The parameters, each after `&`. Values that suit the view are left out.
impl fmt::Display for PanelsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tab) = self.tab {
            write!(f, "&tab={}", tab.row().name)?;
        }
        for PanelParameters { side, state, size } in PARAMETERS {
            let panel = self.side(side);
            if let Some(is_open) = panel.is_open {
                write!(f, "&{state}={}", if is_open { "open" } else { "closed" })?;
            }
            if let Some(size_px) = panel.size_px {
                write!(f, "&{size}={size_px}")?;
            }
        }
        Ok(())
    }
}

/// Tab and open panels, before what suits the view is left out.
#[derive(Debug, Clone, Copy)]
pub(in crate::view) struct PanelChoice {
    tab: Tab,
    is_dock_open: bool,
    is_drawer_open: bool,
}

impl PanelChoice {
    fn open(&mut self, side: PanelSide, is_open: bool) {
        match side {
            PanelSide::Dock => self.is_dock_open = is_open,
            PanelSide::Drawer => self.is_drawer_open = is_open,
        }
    }
}

impl View {
    /// The tab that a panel shows. The dock of a narrow window is not shown.
    #[must_use]
    pub fn tab_of(&self, side: PanelSide, arrangement: Arrangement) -> Tab {
        let used = self.used_tab();
        match (arrangement, side) {
            (Arrangement::Narrow, _) => used,
            (Arrangement::Wide, side) if used.row().side == side => used,
            (Arrangement::Wide, PanelSide::Dock) => Tab::Details,
            (Arrangement::Wide, PanelSide::Drawer) => {
                let is_search = self.selection.marked.is_none() && !self.search.query.is_empty();
                if is_search { Tab::Hits } else { Tab::Selection }
            }
        }
    }

    /// Returns true if a panel is open. In a narrow window the drawer has the tabs of the dock, and
    /// is open if one of both is.
    #[must_use]
    pub fn is_panel_open(&self, side: PanelSide, arrangement: Arrangement) -> bool {
        match (arrangement, side) {
            (Arrangement::Wide, side) => self.is_open(side),
            (Arrangement::Narrow, PanelSide::Drawer) => {
                self.is_open(PanelSide::Dock) || self.is_open(PanelSide::Drawer)
            }
            (Arrangement::Narrow, PanelSide::Dock) => false,
        }
    }

    /// Size of an open panel in CSS pixels.
    #[must_use]
    pub fn panel_px(&self, side: PanelSide) -> u32 {
        self.panels.side(side).size_px.unwrap_or(side.default_px())
    }

    /// The command that opens a closed panel and closes an open one. In a narrow window, that of
    /// the dock opens and closes its tab.
    #[must_use]
    pub fn switch(&self, side: PanelSide, arrangement: Arrangement) -> Command {
        let shown = arrangement.tabs(side).next().is_some();
        let (at, tab) = match shown {
            true => (side, self.tab_of(side, arrangement)),
            false => (PanelSide::Drawer, Tab::Details),
        };
        let is_shown = self.is_panel_open(at, arrangement) && self.tab_of(at, arrangement) == tab;
        if is_shown { Command::ClosePanel { side: at, arrangement } } else { Command::ShowTab(tab) }
    }

    fn is_open(&self, side: PanelSide) -> bool {
        self.panels.side(side).is_open.unwrap_or_else(|| self.suits_open(side))
    }

    /// Whether a tab of the last used panel is open.
    #[must_use]
    pub fn shows(&self, tab: Tab) -> bool {
        self.used_tab() == tab && self.is_open(tab.row().side)
    }

    fn used_tab(&self) -> Tab {
        self.panels.tab.unwrap_or_else(|| self.suiting_tab())
    }

    /// The tab to show if the user chose none.
    fn suiting_tab(&self) -> Tab {
        match (self.selection.is_empty(), self.selection.marked) {
            (true, Some(_)) => Tab::Selection,
            (false, _) | (true, None) => Tab::Details,
        }
    }

    /// Whether a panel is open if the user did not choose.
    fn suits_open(&self, side: PanelSide) -> bool {
        let is_used = self.panels.tab.is_some_and(|tab| tab.row().side == side);
        let has_content = match side {
            PanelSide::Dock => !self.selection.is_empty(),
            PanelSide::Drawer => self.selection.marked.is_some() || !self.search.query.is_empty(),
        };
        is_used || has_content
    }

    /// Tab and open panels after a command.
    pub(in crate::view) fn panels_after(&self, command: &Command) -> PanelChoice {
        let mut chosen = PanelChoice {
            tab: self.used_tab(),
            is_dock_open: self.is_open(PanelSide::Dock),
            is_drawer_open: self.is_open(PanelSide::Drawer),
        };
        let mut show = |tab: Tab| {
            chosen.tab = tab;
            chosen.open(tab.row().side, true);
        };
        match *command {
            // In a narrow window the list of hits stays in sight during a walk, and so do plots.
            // The details are next to them.
            Command::Select(Some(_)) | Command::Read(_) | Command::Reveal { .. }
                if self.used_tab().leads_to_slices() =>
            {
                chosen.is_dock_open = true;
            }
            Command::Select(Some(_)) | Command::Read(_) | Command::Reveal { .. } => show(Tab::Details),
            // The list of regions stays while one after the other is looked at.
            Command::Mark(Some(_)) if self.used_tab() == Tab::Regions => {}
            Command::Mark(Some(_)) | Command::MarkSlice { .. } => show(Tab::Selection),
            Command::ShowTab(tab) => show(tab),
            Command::SearchFor(ref query) | Command::SearchForText(ref query)
                if !query.is_empty() && self.search.query.is_empty() =>
            {
                show(Tab::Hits);
            }
            // The next letters leave a closed drawer closed.
            Command::SearchFor(ref query) | Command::SearchForText(ref query) if !query.is_empty() => {
                chosen.tab = Tab::Hits;
            }
            // Steps by key leave a closed dock closed.
            Command::Step { .. } if !self.used_tab().leads_to_slices() => chosen.tab = Tab::Details,
            Command::TurnTo(tab) => chosen.tab = tab,
            Command::ClosePanel { arrangement: Arrangement::Narrow, .. } => {
                (chosen.is_dock_open, chosen.is_drawer_open) = (false, false);
            }
            Command::ClosePanel { side, .. } => chosen.open(side, false),
            _ => {}
        }
        chosen
    }

    /// Stores what differs from what suits the view.
    pub(in crate::view) fn choose(&mut self, chosen: PanelChoice) {
        self.panels.tab = Some(chosen.tab).filter(|tab| *tab != self.suiting_tab());
        for (side, is_open) in
            [(PanelSide::Dock, chosen.is_dock_open), (PanelSide::Drawer, chosen.is_drawer_open)]
        {
            let differs = self.suits_open(side) != is_open;
            self.panels.side_mut(side).is_open = differs.then_some(is_open);
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::view::source_id::SourceId;
    use crate::view::time::window::Reach;

    const WIDE: Arrangement = Arrangement::Wide;
    const NARROW: Arrangement = Arrangement::Narrow;

    fn after(commands: &[Command]) -> View {
        let reach = Reach { whole: Interval::new(0, 1_000_000), active: None };
        commands.iter().fold(View::of_profile("p"), |view, command| view.apply(command, reach))
    }

    /// The tabs of the open panels: in a wide window dock and drawer, then in a narrow one.
    #[track_caller]
    fn check(commands: &[Command], dock: Option<Tab>, drawer: Option<Tab>, narrow: Option<Tab>) {
        let view = after(commands);
        let shown = |view: &View, side, arrangement| {
            view.is_panel_open(side, arrangement).then(|| view.tab_of(side, arrangement))
        };
        for view in [&view, &view.to_string().parse().expect("a link")] {
            let all = [(PanelSide::Dock, WIDE), (PanelSide::Drawer, WIDE), (PanelSide::Drawer, NARROW)];
            assert_eq!(all.map(|(side, at)| shown(view, side, at)), [dock, drawer, narrow], "{view}");
        }
    }

    #[test]
    fn panels_are_closed_until_they_are_used() {
        let (details, selection, hits) = (Some(Tab::Details), Some(Tab::Selection), Some(Tab::Hits));
        let select = Command::Select(Some(7));
        let mark = Command::Mark(Some(Interval::new(1, 2)));
        let search = |text: &str| Command::SearchFor(text.to_owned());
        check(&[], None, None, None);
        check(std::slice::from_ref(&select), details, None, details);
        check(std::slice::from_ref(&mark), None, selection, selection);
        check(&[mark.clone(), select.clone()], details, selection, details);
        check(&[search("a")], None, hits, hits);
        // The hits stay in sight.
        check(&[search("a"), select.clone()], details, hits, hits);
        let regions = Some(Tab::Regions);
        check(&[Command::ShowTab(Tab::Regions), mark.clone()], None, regions, regions);
        // A used panel stays open, also without content.
        check(&[select.clone(), Command::Select(None)], details, None, details);
        check(&[select.clone(), Command::OpenRank(SourceId::of_first(3))], details, None, details);
        check(&[search("a"), search("")], None, hits, hits);
    }

    #[test]
    fn a_closed_panel_stays_closed_until_it_is_used_again() {
        let (details, hits) = (Some(Tab::Details), Some(Tab::Hits));
        let select = Command::Select(Some(7));
        let close = |side, arrangement| Command::ClosePanel { side, arrangement };
        let step = Command::Step { row: 8, start_ps: 1, duration_ps: 1, hidden_by: Vec::new() };
        check(&[select.clone(), close(PanelSide::Dock, WIDE)], None, None, None);
        check(&[select.clone(), close(PanelSide::Dock, WIDE), step], None, None, None);
        check(&[select.clone(), close(PanelSide::Dock, WIDE), select.clone()], details, None, details);
        check(&[select.clone(), close(PanelSide::Drawer, NARROW)], None, None, None);
        let search = |text: &str| Command::SearchFor(text.to_owned());
        check(&[search("a"), close(PanelSide::Drawer, WIDE), search("ab")], None, None, None);
        check(&[search("a"), close(PanelSide::Drawer, WIDE), Command::TurnTo(Tab::Hits)], None, None, None);
        check(&[search("a"), close(PanelSide::Drawer, WIDE), Command::ShowTab(Tab::Hits)], None, hits, hits);
    }

    #[test]
    fn switching_opens_and_closes() {
        let switched = |view: &View, side, arrangement| {
            let reach = Reach { whole: Interval::new(0, 1_000_000), active: None };
            view.clone().apply(&view.switch(side, arrangement), reach)
        };
        let view = after(&[Command::Select(Some(7))]);
        for arrangement in [WIDE, NARROW] {
            for side in [PanelSide::Dock, PanelSide::Drawer] {
                let shown = if arrangement == WIDE { side } else { PanelSide::Drawer };
                let is_open = |view: &View| view.is_panel_open(shown, arrangement);
                let once = switched(&view, side, arrangement);
                assert_eq!(is_open(&once), !is_open(&view), "{side:?} {arrangement:?}");
                let twice = switched(&once, side, arrangement);
                assert_eq!(is_open(&twice), is_open(&view), "{side:?} {arrangement:?}");
            }
        }
        // In a narrow window, the key of the dock turns to its tab first.
        let hits = after(&[Command::ShowTab(Tab::Hits)]);
        let turned = switched(&hits, PanelSide::Dock, NARROW);
        assert_eq!(turned.tab_of(PanelSide::Drawer, NARROW), Tab::Details);
        assert!(turned.is_panel_open(PanelSide::Drawer, NARROW));
    }

    #[track_caller]
    fn check_link(commands: &[Command], expected: &str) {
        assert_eq!(after(commands).to_string(), format!("/profile/p?v=2{expected}"));
    }

    #[test]
    fn the_address_holds_what_the_user_chose() {
        let close = |side| Command::ClosePanel { side, arrangement: WIDE };
        check_link(&[Command::ShowTab(Tab::Details)], "&dock=open");
        check_link(&[Command::Select(Some(7)), close(PanelSide::Dock)], "&sel=7&dock=closed");
        check_link(&[Command::ShowTab(Tab::Hits), close(PanelSide::Drawer)], "&tab=search&drawer=closed");
        let size = |side, size_px| Command::Resize { side, size_px };
        check_link(&[size(PanelSide::Dock, 500)], "&dock_px=500");
        check_link(&[size(PanelSide::Drawer, 300), size(PanelSide::Dock, 384)], "&drawer_px=300");
    }

    #[test]
    fn links_hold_the_panels() {
        #[track_caller]
        fn check(query: &str, expected: &PanelsState) {
            let url = format!("/profile/x?v=2{query}");
            let view: View = url.parse().expect("a link");
            assert_eq!((&view.panels, view.to_string()), (expected, url));
        }
        let panel = |is_open, size_px| PanelState { is_open, size_px };
        let none = PanelsState::default;
        check("&tab=search", &PanelsState { tab: Some(Tab::Hits), ..none() });
        check("&dock=open", &PanelsState { dock: panel(Some(true), None), ..none() });
        check("&dock=closed", &PanelsState { dock: panel(Some(false), None), ..none() });
        check("&dock_px=500", &PanelsState { dock: panel(None, Some(500)), ..none() });
        check("&drawer=open", &PanelsState { drawer: panel(Some(true), None), ..none() });
        check(
            "&drawer=closed&drawer_px=120",
            &PanelsState { drawer: panel(Some(false), Some(120)), ..none() },
        );
        let view: View = "/profile/x?dock_px=384".parse().expect("a link");
        assert_eq!(view.panels, none(), "the default size is left out");
    }
}

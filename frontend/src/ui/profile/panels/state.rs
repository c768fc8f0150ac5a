//! The dock beside and the drawer below the timeline. Their state is a part of the view; the
//! viewport decides where they are and how large they can be. Sizes are also remembered for views
//! that have none.

use leptos::prelude::*;

use super::content::content;
use crate::ui::controls::viewport;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::search::Search;
use crate::ui::shell::settings;
use crate::view::shell::panel::{Arrangement, is_low};
use crate::view::{Act, Command, PanelSide, Size, Tab};

/// Dock and drawer of a profile.
#[derive(Clone, Copy)]
pub struct Panels {
    pub(super) opened: Opened,
    pub(super) search: Search,
    /// Size of the browser's viewport.
    pub(super) viewport: RwSignal<Size>,
    /// Whether the drawer is open while the viewport is low. No part of the view: the next viewport
    /// can be higher.
    is_open_when_low: RwSignal<bool>,
}

impl Panels {
    /// Restores remembered sizes. Follows the viewport from now on.
    #[must_use]
    pub fn new(opened: Opened, search: Search) -> Self {
        let shown = RwSignal::new(viewport());
        let listener = window_event_listener(leptos::ev::resize, move |_| shown.set(viewport()));
        on_cleanup(move || listener.remove());
        let panels = Self { opened, search, viewport: shown, is_open_when_low: RwSignal::new(false) };
        let lacking = Memo::new(move |_| {
            opened.session.view.with(|view| KEPT.map(|(side, _)| view.panels.side(side).size_px.is_none()))
        });
        // Also for a link that is followed in an open page.
        Effect::new(move |_| {
            if lacking.get().contains(&true) {
                panels.restore();
            }
        });
        panels
    }

    /// Positions of the panels.
    #[must_use]
    pub fn arrangement(self) -> Arrangement {
        Arrangement::of(self.viewport.get().width_px)
    }

    /// Returns true if a panel shows its content.
    #[must_use]
    pub fn is_open(self, side: PanelSide) -> bool {
        if self.is_low(side) {
            return self.is_open_when_low.get();
        }
        let arrangement = self.arrangement();
        self.opened.session.view.with(|view| view.is_panel_open(side, arrangement))
    }

    /// The tabs of a panel without those that have no content.
    pub(super) fn tabs(self, side: PanelSide) -> Vec<Tab> {
        let is_present = |tab: &Tab| (content(*tab).is_present)(self.opened);
        self.arrangement().tabs(side).filter(is_present).collect()
    }

    /// The tab that a panel shows.
    pub(super) fn tab(self, side: PanelSide) -> Tab {
        let arrangement = self.arrangement();
        self.opened.session.view.with(|view| view.tab_of(side, arrangement))
    }

    /// Size of an open panel in CSS pixels.
    pub(super) fn size_px(self, side: PanelSide) -> u32 {
        side.clamped_px(self.opened.session.view.with(|view| view.panel_px(side)), self.viewport.get())
    }

    /// Visible size of a panel in CSS pixels.
    pub(super) fn seen_px(self, side: PanelSide) -> u32 {
        if self.is_open(side) { self.size_px(side) } else { side.closed_px() }
    }

    fn is_low(self, side: PanelSide) -> bool {
        side == PanelSide::Drawer && is_low(self.viewport.get().height_px)
    }

    /// Runs a command. Returns false if it is not one of the panels.
    pub fn run(self, act: Act) -> bool {
        match act {
            Act::SwitchDrawer => self.switch(PanelSide::Drawer),
            Act::SwitchDock => self.switch(PanelSide::Dock),
            Act::ShowTab(tab) => self.show(tab),
            _ => return false,
        }
        true
    }

    /// Opens a tab with its panel.
    pub(super) fn show(self, tab: Tab) {
        self.opened.act(&Command::ShowTab(tab));
        if untrack(|| self.is_low(self.arrangement().side_of(tab))) {
            self.is_open_when_low.set(true);
        }
    }

    pub(super) fn close(self, side: PanelSide) {
        match untrack(|| self.is_low(side)) {
            true => self.is_open_when_low.set(false),
            false => {
                let arrangement = untrack(|| self.arrangement());
                self.opened.act(&Command::ClosePanel { side, arrangement });
            }
        }
    }

    /// Opens a closed panel and closes an open one. In a narrow window, the dock is a tab of the
    /// drawer.
    pub(super) fn switch(self, side: PanelSide) {
        let (arrangement, is_low) = untrack(|| (self.arrangement(), self.is_low(PanelSide::Drawer)));
        let at = if arrangement == Arrangement::Narrow { PanelSide::Drawer } else { side };
        // The view does not know whether the drawer of a low viewport is open.
        if is_low && at == PanelSide::Drawer && !self.is_open_when_low.get_untracked() {
            return self.show(untrack(|| if side == at { self.tab(at) } else { Tab::Details }));
        }
        if is_low && side == PanelSide::Drawer {
            return self.close(side);
        }
        match self.opened.session.view.with_untracked(|view| view.switch(side, arrangement)) {
            Command::ShowTab(tab) => self.show(tab),
            _ => self.close(at),
        }
    }

    /// Moves the edge of a panel to `size_px`.
    pub(super) fn drag_to(self, side: PanelSide, size_px: f64) {
        match side.dragged_px(size_px, self.viewport.get_untracked()) {
            None => self.close(side),
            Some(size_px) => {
                if !untrack(|| self.is_open(side)) {
                    self.show(untrack(|| self.tab(side)));
                }
                self.opened.act(&Command::Resize { side, size_px });
            }
        }
    }

    /// Gives a view without sizes the remembered ones.
    fn restore(self) {
        let view = self.opened.session.view.get_untracked();
        let mut sized = view.clone();
        for (side, key) in KEPT {
            let kept = settings::read(key).and_then(|text| text.parse().ok());
            if let (None, Some(size_px)) = (view.panels.side(side).size_px, kept) {
                sized.panels = sized.panels.sized(side, size_px);
            }
        }
        if sized != view {
            self.opened.amend(sized);
        }
    }

    /// Remembers the size of a panel.
    pub(super) fn remember(self, side: PanelSide) {
        let size_px = self.opened.session.view.with_untracked(|view| view.panel_px(side));
        KEPT.iter()
            .filter(|(of, _)| *of == side)
            .for_each(|(_, key)| settings::write(key, &size_px.to_string()));
    }
}

/// The remembered sizes.
const KEPT: [(PanelSide, &str); 2] =
    [(PanelSide::Dock, settings::DOCK_WIDTH), (PanelSide::Drawer, settings::DRAWER_HEIGHT)];

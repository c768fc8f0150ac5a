//! Corrections of a link whose view cannot be shown as it says.

use leptos::prelude::*;

use super::Opened;
use super::profile_source::known;
use crate::view::View;

impl Opened {
    /// The view with the window that is really shown, which can differ from the window in a link.
    fn corrected(self) -> View {
        let (reach, view) = (self.times.reach.get(), self.session.view.get());
        let window = view.window.map(|_| view.window_in(reach));
        View { window, ..view }
    }

    /// Corrects the address if a link names a window that cannot be shown.
    pub fn correct_address(self) {
        Effect::new(move |_| {
            let is_known = known(self.session.profiles, |_| ()).is_some();
            let corrected = self.corrected();
            if is_known && corrected.window != self.session.view.with(|view| view.window) {
                self.session.address.correct(&corrected);
            }
        });
    }

    /// Completes a link once its rank is present: track numbers of old links become paths. Numbers
    /// that belong to another segment are dropped, and the user is told. That happens if the trace
    /// was ingested again after the link was made, or if the page holds a part of the profile.
    pub fn complete_link(self) {
        Effect::new(move |_| {
            let Some(rank) = self.shown_rank() else { return };
            let view = self.session.view.get();
            if view.is_numbered_by_another(rank.entry.segment()) {
                let said =
                    "This link was made with another version of this profile: what it selects is not shown";
                self.session.messages.fail(said, None);
                self.session.address.amend(view.without_numbers());
            } else if view.numbered.is_some() {
                let sheet = self.tracks.sheet.get();
                let source = self.tracks.current.get();
                self.session.address.amend(view.upgraded(&sheet, source));
            }
        });
    }
}

//! The place that a profile opens with.

use leptos::prelude::*;

use super::Opened;
use crate::ui::shell::settings;
use crate::view::{Command, ProfilePlace, View};

impl Opened {
    /// Opens the first place of a link that names nothing: the summary, or the place in which the
    /// user was last. Several profiles open with their comparison.
    pub fn open_first_place(self) {
        let view = untrack(|| self.session.view.get());
        if !view.is_bare || view.place != ProfilePlace::Timeline {
            return;
        }
        let place = match (self.names().are_several(), remembered()) {
            (true, _) => ProfilePlace::Compare,
            (false, Some(place)) => place,
            (false, None) => ProfilePlace::Summary,
        };
        if place != view.place {
            self.amend(View { place, ..view });
        }
    }

    /// Goes to a place, and remembers it for the next profile.
    pub fn go_to_place(self, place: ProfilePlace) {
        if is_first(place) {
            settings::write(settings::FIRST_PLACE, place.name());
        }
        self.act(&Command::GoTo(place));
    }
}

/// Whether a profile can open with it.
fn is_first(place: ProfilePlace) -> bool {
    matches!(place, ProfilePlace::Timeline | ProfilePlace::Summary)
}

fn remembered() -> Option<ProfilePlace> {
    settings::read(settings::FIRST_PLACE)
        .and_then(|name| ProfilePlace::from_name(&name))
        .filter(|place| is_first(*place))
}

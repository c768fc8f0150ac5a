//! The background of the page, and the colours of the timeline on it.

use leptos::prelude::*;

use crate::draw::palette::{self, Ground, Rgb};
use crate::ui::shell::{CurrentTheme, Theme};

/// The current background, which selects colours.
pub fn current_ground() -> Ground {
    match expect_context::<CurrentTheme>().get() {
        Theme::Light => Ground::Light,
        Theme::Dark => Ground::Dark,
    }
}

/// The colours on the timeline for a background, in CSS.
pub fn colours() -> Vec<String> {
    let css = |[red, green, blue]: Rgb| format!("rgb({red} {green} {blue})");
    palette::colours(current_ground()).into_iter().map(css).collect()
}

//! Light and dark theme. The page follows the system until the user chooses the other theme, and
//! again after the user switches back.
//!
//! The choice is in `data-theme` of the root element. `index.html` sets it before the first
//! picture.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::MediaQueryList;

use super::settings;
use crate::ui::controls::{Action, Glyph};

/// A set of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

impl Theme {
    fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Light, Self::Dark].into_iter().find(|theme| theme.name() == name)
    }

    fn other(self) -> Self {
        match self {
            Self::Light => Self::Dark,
            Self::Dark => Self::Light,
        }
    }
}

/// The page's theme. One for the whole page, as a context.
#[derive(Debug, Clone, Copy)]
pub struct CurrentTheme(RwSignal<Theme>);

impl CurrentTheme {
    /// Reads the choice of `index.html`, and follows the system from now on.
    #[must_use]
    pub fn new() -> Self {
        let shown = document().document_element().and_then(|root| root.get_attribute("data-theme"));
        let current =
            Self(RwSignal::new(shown.as_deref().and_then(Theme::from_name).unwrap_or(Theme::Light)));
        current.follow_system();
        current
    }

    /// The current theme.
    #[must_use]
    pub fn get(self) -> Theme {
        self.0.get()
    }

    fn show(self, theme: Theme) {
        if let Some(root) = document().document_element() {
            // Fails only for an invalid attribute name.
            root.set_attribute("data-theme", theme.name()).ok();
        }
        self.0.set(theme);
    }

    /// Switches between light and dark.
    pub fn switch(self) {
        let theme = self.0.get_untracked().other();
        if system_theme() == Some(theme) {
            settings::remove(settings::THEME);
        } else {
            settings::write(settings::THEME, theme.name());
        }
        self.show(theme);
    }

    fn follow_system(self) {
        let Some(query) = dark_query() else { return };
        let changed = Closure::<dyn Fn()>::new(move || {
            if let (None, Some(theme)) = (settings::read(settings::THEME), system_theme()) {
                self.show(theme);
            }
        });
        // The page has one theme for its whole life, so the listener is never removed.
        if query.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref()).is_ok() {
            changed.forget();
        }
    }
}

impl Default for CurrentTheme {
    fn default() -> Self {
        Self::new()
    }
}

fn dark_query() -> Option<MediaQueryList> {
    window().match_media("(prefers-color-scheme: dark)").ok()?
}

fn system_theme() -> Option<Theme> {
    Some(if dark_query()?.matches() { Theme::Dark } else { Theme::Light })
}

/// The button that switches between light and dark.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let current = expect_context::<CurrentTheme>();
    let label = Signal::derive(move || {
        match current.get() {
            Theme::Light => "Switch to the dark theme",
            Theme::Dark => "Switch to the light theme",
        }
        .to_owned()
    });
    let glyph = Signal::derive(move || match current.get() {
        Theme::Light => Glyph::Moon,
        Theme::Dark => Glyph::Sun,
    });
    view! { <Action label glyph on_press=Callback::new(move |()| current.switch()) /> }
}

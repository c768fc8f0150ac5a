//! The browser's memory for this user: theme, height of the panel, whether it is closed. Never the
//! view, which lives in the URL.
//!
//! Storage may be switched off or full. Then nothing is remembered and everything else works: these functions answer
//! `None` and keep quiet on purpose.

use web_sys::Storage;

/// The theme that was chosen against the system's.
pub const THEME: &str = "nprof.theme";
/// Whether the panel below the timeline is closed.
pub const PANEL: &str = "nprof.panel";
/// Height of the panel below the timeline, in pixels.
pub const PANEL_HEIGHT: &str = "nprof.panel-height";

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// What was kept under this key.
#[must_use]
pub fn read(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// Keeps a value.
pub fn write(key: &str, value: &str) {
    storage().and_then(|storage| storage.set_item(key, value).ok());
}

/// Forgets a value.
pub fn remove(key: &str) {
    storage().and_then(|storage| storage.remove_item(key).ok());
}

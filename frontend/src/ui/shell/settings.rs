//! Settings stored in the browser: theme, sizes of the panels, the first place. The view is never
//! stored here; it is in the URL.
//!
//! Storage can be switched off or full. Then nothing is remembered and everything else works. These
//! functions return `None` and report no error on purpose.

use web_sys::Storage;

/// Key of the theme, if the user chose it against the system's.
pub const THEME: &str = "nprof.theme";
/// Key of the height of the drawer, in pixels.
pub const DRAWER_HEIGHT: &str = "nprof.panel-height";
/// Key of the width of the dock, in pixels.
pub const DOCK_WIDTH: &str = "nprof.dock-width";

/// Key of the use of the wheel, if the user chose that it zooms.
pub const WHEEL: &str = "nprof.wheel";

/// Key of the commands that were run last, a line each.
pub const RECENT_COMMANDS: &str = "nprof.recent-commands";

/// Key of the place that a profile opens with, if the user went to another one.
pub const FIRST_PLACE: &str = "nprof.first-place";

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// The stored value of a key.
#[must_use]
pub fn read(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// Stores a value.
pub fn write(key: &str, value: &str) {
    storage().and_then(|storage| storage.set_item(key, value).ok());
}

/// Removes a value.
pub fn remove(key: &str) {
    storage().and_then(|storage| storage.remove_item(key).ok());
}

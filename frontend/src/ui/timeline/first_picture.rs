//! When the first slices were on the screen.

use leptos::prelude::window;

/// Tells the browser's own timeline that the first slices of a rank have been drawn: `first-picture`, in milliseconds
/// since the page was asked for. Anybody can read it in the developer tools, and so does the bench.
pub fn mark() {
    if let Some(performance) = window().performance() {
        // A browser that cannot mark draws all the same.
        let _ = performance.mark("first-picture");
    }
}

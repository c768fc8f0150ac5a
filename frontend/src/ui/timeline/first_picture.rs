//! Time at which the first slices were on the screen.

use leptos::prelude::window;

/// Marks in the browser's own timeline that the first slices of a rank have been drawn:
/// `first-picture`, in milliseconds since the page was requested. The developer tools and the bench
/// read it.
pub fn mark() {
    if let Some(performance) = window().performance() {
        // A failed mark must not stop the drawing.
        let _ = performance.mark("first-picture");
    }
}

//! Starts the page in the browser.

use nprof_frontend::ui::app::App;

fn main() {
    console_error_panic_hook::set_once();
    // Remove the placeholder that `index.html` shows during the start.
    if let Some(boot) = leptos::prelude::document().get_element_by_id("boot") {
        boot.remove();
    }
    leptos::mount::mount_to_body(App);
}

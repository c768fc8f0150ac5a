//! Starts the page in the browser.

use nprof_frontend::ui::app::App;

fn main() {
    console_error_panic_hook::set_once();
    // What `index.html` shows until now.
    if let Some(boot) = leptos::prelude::document().get_element_by_id("boot") {
        boot.remove();
    }
    leptos::mount::mount_to_body(App);
}

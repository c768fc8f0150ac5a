//! Copying text.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::message::Messages;

/// Copies a text to the clipboard and confirms it. `what` names the text for people, and `hint`
/// says more about it.
pub fn copy(text: String, what: &'static str, hint: Option<&'static str>, messages: Messages) {
    // Browsers leave `clipboard` undefined in pages loaded over plain HTTP from another machine.
    if !window().is_secure_context() {
        messages.fail(
            "Browsers let only pages from this machine or over HTTPS copy: mark the text and copy it by hand",
            None,
        );
        return;
    }
    let written = JsFuture::from(window().navigator().clipboard().write_text(&text));
    spawn_local(async move {
        match written.await {
            Ok(_) => {
                let hint = hint.map_or_else(String::new, |hint| format!(". {hint}"));
                messages.confirm(format!("{what} copied{hint}"));
            }
            Err(_) => {
                messages.fail("The browser did not let the page copy: allow it to use the clipboard", None)
            }
        }
    });
}

//! A modal dialog: the browser's own `<dialog>`, which keeps the focus inside, closes on Esc and gives the focus back.

use leptos::html;
use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// A dialog with a heading.
#[component]
pub fn Dialog(
    /// Whether it is shown.
    #[prop(into)]
    open: Signal<bool>,
    /// It was closed by its user.
    #[prop(into)]
    on_close: Callback<()>,
    /// The heading; also its name for screen readers.
    #[prop(into)]
    title: Signal<String>,
    /// Further CSS class.
    #[prop(default = "")]
    class: &'static str,
    /// What it shows; made anew each time it opens.
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        match (open.get(), dialog.open()) {
            // Fails only for a dialog that is outside the page.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // A click on the dialog itself, not on its content, is one on the ground behind it.
    let clicked = move |event: web_sys::MouseEvent| {
        if event.target().is_some() && event.target().as_ref() == event.current_target().as_ref() {
            on_close.run(());
        }
    };
    view! {
        <dialog
            node_ref=node
            class=format!("dialog {class}")
            aria-label=title
            on:close=move |_| on_close.run(())
            on:click=clicked
        >
            <Show when=move || open.get()>
                <div class="dialog-body">
                    <div class="dialog-head">
                        <h2>{title}</h2>
                        <button
                            class="button button-icon"
                            type="button"
                            aria-label="Close"
                            on:click=move |_| on_close.run(())
                        >
                            <Icon glyph=Glyph::Close />
                        </button>
                    </div>
                    {children()}
                </div>
            </Show>
        </dialog>
    }
}

//! A modal dialog: the browser's own `<dialog>`. It keeps the focus inside, closes on Esc and
//! returns the focus.

use leptos::html;
use leptos::prelude::*;

use super::close_button::CloseButton;
use super::key_list::If;

/// A dialog with a heading.
#[component]
pub fn Dialog(
    /// True while it is shown.
    #[prop(into)]
    open: Signal<bool>,
    /// Called when the user closes it.
    #[prop(into)]
    on_close: Callback<()>,
    /// The heading; also its name for screen readers.
    #[prop(into)]
    title: Signal<String>,
    /// Further CSS class.
    #[prop(default = "")]
    class: &'static str,
    /// Content, created again each time the dialog opens.
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        match (open.get(), dialog.open()) {
            // Fails only if the dialog is not in the page.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // A click on the dialog element itself, not on its content, is a click on the backdrop.
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
            on:close=move |_| on_close.try_run(()).unwrap_or_default()
            on:click=clicked
        >
            <If is=move || open.get()>
                <div class="dialog-body">
                    <div class="dialog-head">
                        <h2>{title}</h2>
                        <CloseButton label="Close" on_close />
                    </div>
                    {children()}
                </div>
            </If>
        </dialog>
    }
}

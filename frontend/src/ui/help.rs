//! All keys and gestures, in a dialog.

use leptos::prelude::*;

use super::dialog::Dialog;
use crate::view::shortcut::{GROUPS, Group, Shortcut};

/// The dialog with all keys.
#[component]
pub fn Help(
    /// True while it is shown.
    open: RwSignal<bool>,
) -> impl IntoView {
    view! {
        <Dialog open on_close=move |()| open.set(false) title="Keys".to_owned() class="dialog-wide">
            <div class="keys">{GROUPS.iter().map(|group| view! { <KeyGroup group /> }).collect_view()}</div>
        </Dialog>
    }
}

#[component]
fn KeyGroup(group: &'static Group) -> impl IntoView {
    let row = |Shortcut { shown, what, .. }: &'static Shortcut| {
        view! {
            <div>
                <dt>{*what}</dt>
                <dd>{shown.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dd>
            </div>
        }
    };
    view! {
        <section>
            <h3>{group.title}</h3>
            <dl>{group.shortcuts.iter().map(row).collect_view()}</dl>
        </section>
    }
}

//! All keys, in a dialog.

use leptos::prelude::*;

use super::dialog::Dialog;

/// A heading with its keys: alternatives, then what they do.
type KeyGroup = (&'static str, &'static [(&'static [&'static str], &'static str)]);

const KEYS: &[KeyGroup] = &[
    (
        "Timeline",
        &[
            (&["drag"], "Zoom into a span"),
            (&["wheel"], "Zoom at the cursor"),
            (&["W", "S"], "Zoom in, out"),
            (&["A", "D"], "Move left, right"),
            (&["Shift", "drag"], "Move"),
            (&["0"], "Show everything"),
        ],
    ),
    (
        "Slices",
        &[
            (&["click"], "Select a slice"),
            (&["←", "→"], "Previous, next slice of the track"),
            (&["↑", "↓"], "Slice in the lane above, below"),
            (&["F"], "Zoom to the selected slice"),
            (&["M"], "Add up the selected slice's span"),
            (&["Esc"], "Drop the span, then the selection"),
        ],
    ),
    (
        "Touch",
        &[
            (&["one finger"], "Move and scroll"),
            (&["two fingers"], "Zoom, and move with them"),
            (&["tap"], "Select a slice"),
        ],
    ),
    (
        "Search",
        &[
            (&["/"], "Search"),
            (&["Enter"], "Next hit"),
            (&["Shift", "Enter"], "Previous hit"),
            (&["Alt", "R"], "Text or regular expression"),
            (&["Esc"], "Leave the search"),
        ],
    ),
    ("Page", &[(&["[", "]"], "Previous, next rank"), (&["?"], "These keys")]),
];

/// The dialog with all keys.
#[component]
pub fn Help(
    /// Whether it is shown.
    open: RwSignal<bool>,
) -> impl IntoView {
    view! {
        <Dialog open on_close=move |()| open.set(false) title="Keys".to_owned() class="dialog-wide">
            <div class="keys">{KEYS.iter().map(|group| view! { <Group group /> }).collect_view()}</div>
        </Dialog>
    }
}

#[component]
fn Group(group: &'static KeyGroup) -> impl IntoView {
    let (title, keys) = group;
    let row = |(keys, what): &(&'static [&'static str], &'static str)| {
        view! {
            <div>
                <dt>{*what}</dt>
                <dd>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dd>
            </div>
        }
    };
    view! {
        <section>
            <h3>{*title}</h3>
            <dl>{keys.iter().map(row).collect_view()}</dl>
        </section>
    }
}

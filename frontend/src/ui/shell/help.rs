//! All keys and gestures, in a dialog that is printed from the table of commands.

use leptos::prelude::*;

use crate::ui::controls::{Action, Dialog, Glyph};
use crate::view::Act;
use crate::view::act::table::GROUPS;
use crate::view::act::{ActGroup, ActRow, Gesture};

/// True while the dialog with all keys is shown; a context.
#[derive(Debug, Clone, Copy)]
pub struct HelpOpen(pub RwSignal<bool>);

/// The button that opens the dialog with all keys.
#[component]
pub fn HelpButton() -> impl IntoView {
    let help = expect_context::<HelpOpen>();
    let show = Callback::new(move |()| help.0.set(true));
    view! { <Action label="Show all keys" act=Act::ShowKeys glyph=Glyph::Keyboard on_press=show /> }
}

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

/// The keys of a command: alternatives with "or" between them.
pub fn keyed(row: &ActRow) -> AnyView {
    let chord = |(at, chord): (usize, &crate::view::act::keys::Chord)| {
        let or = (at > 0).then(|| view! { <span class="muted">"or"</span> });
        let keys = chord.shown().into_iter().map(|key| view! { <kbd>{key}</kbd> }.into_any());
        view! { {or} {keys.collect_view()} }.into_any()
    };
    row.keys.iter().enumerate().map(chord).collect_view().into_any()
}

#[component]
fn KeyGroup(group: &'static ActGroup) -> impl IntoView {
    let line = |what: &'static str, keys: AnyView| {
        view! {
            <div>
                <dt>{what}</dt>
                <dd>{keys}</dd>
            </div>
        }
        .into_any()
    };
    let commands = group.rows.iter().filter(|row| !row.keys.is_empty());
    let commands = commands.map(|row| line(row.what, keyed(row))).collect_view();
    let gestures = group.gestures.iter().map(|Gesture { shown, what }| {
        let keys = shown.iter().map(|key| view! { <kbd>{*key}</kbd> }.into_any());
        line(what, keys.collect_view().into_any())
    });
    view! {
        <section>
            <h3>{group.title}</h3>
            <dl>{commands} {gestures.collect_view()}</dl>
        </section>
    }
}

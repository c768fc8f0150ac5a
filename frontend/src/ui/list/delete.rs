//! Confirmation before a profile is deleted.

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::ProfileEntry;

use super::profiles::Profiles;
use crate::ui::controls::Dialog;
use crate::ui::shell::Messages;
use crate::ui::text::format;

/// The confirmation dialog.
#[component]
pub fn ConfirmDelete(
    /// The profile to delete.
    deleting: RwSignal<Option<ProfileEntry>>,
    /// The list, which is read again afterwards.
    profiles: Profiles,
) -> impl IntoView {
    let messages = expect_context::<Messages>();
    let open = Signal::derive(move || deleting.with(Option::is_some));
    let close = move || deleting.set(None);
    let confirm = move |_| {
        if let Some(profile) = deleting.get_untracked() {
            close();
            delete(profile, profiles, messages);
        }
    };
    let question = move || {
        deleting.get().map(|profile| {
            let what = format!(
                "{}, {} will be removed from the store. The files it was made from are not touched.",
                format::counted(profile.events, "event", "events"),
                format::bytes(profile.size_bytes as f64),
            );
            view! {
                <p>
                    <strong>{profile.display_name}</strong>
                </p>
                <p class="muted">{what}</p>
            }
        })
    };
    view! {
        <Dialog open on_close=move |()| close() title="Delete this profile?".to_owned()>
            {question}
            <div class="dialog-foot">
                <button class="button" type="button" on:click=move |_| close()>
                    "Keep it"
                </button>
                <button class="button button-danger" type="button" on:click=confirm>
                    "Delete"
                </button>
            </div>
        </Dialog>
    }
}

fn delete(profile: ProfileEntry, profiles: Profiles, messages: Messages) {
    spawn_local(async move {
        let deleted = async { profiles.source().server()?.delete(&profile.slug).await };
        match deleted.await {
            Ok(()) => messages.confirm(format!("{} deleted", profile.display_name)),
            Err(error) => {
                let text = format!("{} was not deleted: {error}", profile.display_name);
                let again = Callback::new(move |()| delete(profile.clone(), profiles, messages));
                messages.fail(text, Some(again));
            }
        }
        profiles.refresh();
    });
}

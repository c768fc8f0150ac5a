//! The uploads of a visit, one row each: progress, cancel button, link to the result.

use leptos::prelude::*;

use super::queue::{Upload, Uploads};
use super::stage::UploadStage;
use crate::ui::controls::{CloseButton, If, keyed};
use crate::ui::shell::Link;
use crate::ui::text::format;
use crate::view::View;
use crate::view::url::page::PagePlace;

/// All uploads of this visit that the user has not closed.
#[component]
pub fn UploadList(
    /// The uploads.
    uploads: Uploads,
) -> impl IntoView {
    let all = uploads.all();
    view! {
        <If is=move || all.with(|all| !all.is_empty())>
            <section class="card uploads" aria-label="Uploads">
                {keyed(
                    move || all.get(),
                    |upload| upload.number.to_string(),
                    move |upload| view! { <UploadRow uploads upload /> }.into_any(),
                )}
            </section>
        </If>
    }
}

#[component]
fn UploadRow(uploads: Uploads, upload: Upload) -> impl IntoView {
    let Upload { number, name, size_bytes, stage, .. } = upload.clone();
    let has_failed = Memo::new(move |_| stage.with(|stage| matches!(stage, UploadStage::Failed(_))));
    let is_over = Memo::new(move |_| stage.with(UploadStage::is_final));
    let can_repeat = Memo::new(move |_| {
        stage.with(|stage| matches!(stage, UploadStage::Failed(_) | UploadStage::Cancelled))
    });
    let can_stop =
        Memo::new(move |_| stage.with(|stage| !stage.is_final() && *stage != UploadStage::Stopping));
    let (again, stopped) = (upload.clone(), upload);
    let again = move |_| uploads.start(again.clone());
    let stop = move |_| uploads.cancel(&stopped);
    let stop_label = format!("Cancel {name}");
    let close_label = format!("Close {name}");
    // Otherwise a screen reader would read each step aloud. The end is enough.
    let live = move || if is_over.get() { "polite" } else { "off" };
    view! {
        <div class="upload" class:upload-failed=has_failed>
            <span class="upload-name" title=name.clone()>
                {name.clone()}
            </span>
            <div class="upload-end">
                <span class="muted">{format::bytes(size_bytes)}</span>
                <If is=move || can_stop.get()>
                    <button class="button" type="button" aria-label=stop_label.clone() on:click=stop.clone()>
                        "Cancel"
                    </button>
                </If>
                <If is=move || can_repeat.get()>
                    <button class="button" type="button" on:click=again.clone()>
                        "Try again"
                    </button>
                </If>
                <If is=move || is_over.get()>
                    <CloseButton label=close_label.clone() on_close=move |()| uploads.close(number) />
                </If>
            </div>
            <If is=move || !is_over.get()>
                <Progress stage />
            </If>
            <div class="upload-message" aria-live=live>
                {move || message(&stage.get())}
            </div>
        </div>
    }
}

/// A progress bar. It runs to and fro if the progress is not known.
#[component]
fn Progress(stage: RwSignal<UploadStage>) -> impl IntoView {
    let share = Memo::new(move |_| stage.with(UploadStage::share));
    let width = move || share.get().map(|share| format!("{:.1}%", share * 100.0));
    view! {
        <div
            class="progress"
            class:progress-open=move || share.get().is_none()
            role="progressbar"
            aria-label=move || stage.with(UploadStage::title)
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || share.get().map(|share| format!("{:.0}", share * 100.0))
        >
            <span style:width=width></span>
        </div>
    }
}

fn message(stage: &UploadStage) -> AnyView {
    let UploadStage::Done(profile) = stage else { return stage.text().into_any() };
    let place = PagePlace::Profile(View::of_profile(&profile.slug));
    let text = format!("Ingested {}. ", format::counted(profile.events, "event", "events"));
    let open = format!("Open {}", profile.display_name);
    view! { {text} <Link place>{open}</Link> }.into_any()
}

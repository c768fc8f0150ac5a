//! Files dropped anywhere on the list.

use leptos::prelude::*;
use web_sys::DragEvent;

use crate::ui::controls::If;
use crate::ui::upload::Uploads;

/// Accepts files that are dropped on its content.
#[component]
pub fn DropZone(
    /// Queue of uploads for the files.
    uploads: Uploads,
    /// Content that accepts drops.
    children: Children,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let enter = move |event: DragEvent| {
        if has_files(&event) {
            event.prevent_default();
            over.set(true);
        }
    };
    // `dragleave` also fires between two elements inside. Then the related target is the next
    // element.
    let leave = move |event: DragEvent| {
        if event.related_target().is_none() {
            over.set(false);
        }
    };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        over.set(false);
        uploads.add(event.data_transfer().and_then(|transfer| transfer.files()));
    };
    view! {
        <div class="list-page" on:dragenter=enter on:dragover=enter on:dragleave=leave on:drop=dropped>
            {children()}
            <If is=move || over.get()>
                <div class="drop-target">"Drop to ingest"</div>
            </If>
        </div>
    }
}

fn has_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|transfer| transfer.types().includes(&"Files".into(), 0))
}

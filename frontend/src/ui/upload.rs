//! Files on their way into the store. They go on while their user looks at other pages; one profile at a time, so that
//! the first is there as soon as can be.

use std::collections::VecDeque;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::ProfileEntry;
use web_sys::{File, FileList, FormData};

use super::address::Link;
use super::batch;
use super::format;
use super::icon::{Glyph, Icon};
use super::place::Place;
use crate::fetch::upload::{self, Sent};
use crate::view::View;

/// How far one is.
#[derive(Debug, Clone, PartialEq)]
enum Stage {
    Waiting,
    Sending(Sent),
    Reading,
    Done(ProfileEntry),
    Failed(String),
}

#[derive(Clone)]
struct Upload {
    number: u32,
    name: String,
    size_bytes: f64,
    files: StoredValue<Vec<File>, LocalStorage>,
    stage: RwSignal<Stage>,
}

/// All uploads of this visit, handed down as a context.
#[derive(Clone, Copy)]
pub struct Uploads {
    all: RwSignal<Vec<Upload>>,
    queue: StoredValue<VecDeque<Upload>>,
    running: StoredValue<bool>,
    next: StoredValue<u32>,
    on_done: StoredValue<Option<Callback<()>>>,
}

impl Uploads {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            all: RwSignal::new(Vec::new()),
            queue: StoredValue::new(VecDeque::new()),
            running: StoredValue::new(false),
            next: StoredValue::new(0),
            on_done: StoredValue::new(None),
        }
    }

    /// Calls this after each upload, until the component that asked for it is gone.
    pub fn on_done(self, callback: Callback<()>) {
        self.on_done.set_value(Some(callback));
        on_cleanup(move || self.on_done.set_value(None));
    }

    /// Sends these files.
    pub fn add(self, files: Option<FileList>) {
        let files: Vec<File> = files
            .map(|files| (0..files.length()).filter_map(|at| files.item(at)).collect())
            .unwrap_or_default();
        let names: Vec<String> = files.iter().map(File::name).collect();
        for positions in batch::profiles(&names) {
            let files: Vec<File> = positions.iter().map(|&at| files[at].clone()).collect();
            let name = positions.iter().map(|&at| names[at].as_str()).collect::<Vec<_>>().join(", ");
            self.enqueue(name, files);
        }
    }

    fn enqueue(self, name: String, files: Vec<File>) {
        let number = self.next.get_value();
        self.next.set_value(number.wrapping_add(1));
        let upload = Upload {
            number,
            name,
            size_bytes: files.iter().map(|file| file.size()).sum(),
            files: StoredValue::new_local(files),
            stage: RwSignal::new(Stage::Waiting),
        };
        self.all.update(|all| all.push(upload.clone()));
        self.start(upload);
    }

    fn start(self, upload: Upload) {
        upload.stage.set(Stage::Waiting);
        self.queue.update_value(|queue| queue.push_back(upload));
        if !self.running.get_value() {
            self.running.set_value(true);
            spawn_local(async move {
                while let Some(next) = self.queue.try_update_value(VecDeque::pop_front).flatten() {
                    run(&next).await;
                    if let Some(callback) = self.on_done.get_value() {
                        callback.run(());
                    }
                }
                self.running.set_value(false);
            });
        }
    }

    fn close(self, number: u32) {
        self.all.update(|all| all.retain(|upload| upload.number != number));
    }
}

impl Default for Uploads {
    fn default() -> Self {
        Self::new()
    }
}

async fn run(upload: &Upload) {
    let stage = upload.stage;
    let Some(form) = form(&upload.files.get_value()) else {
        stage.set(Stage::Failed("The browser did not hand the file over: drop it again".to_owned()));
        return;
    };
    let on_sent = move |sent: Sent| {
        stage.set(if sent.done_bytes < sent.total_bytes { Stage::Sending(sent) } else { Stage::Reading });
    };
    stage.set(Stage::Sending(Sent { done_bytes: 0.0, total_bytes: upload.size_bytes }));
    let answer = upload::send(&form, Rc::new(on_sent)).await;
    stage.set(match answer {
        Ok(profile) => Stage::Done(profile.entry),
        Err(error) => Stage::Failed(error.to_string()),
    });
}

fn form(files: &[File]) -> Option<FormData> {
    let form = FormData::new().ok()?;
    for file in files {
        form.append_with_blob_and_filename("file", file, &file.name()).ok()?;
    }
    Some(form)
}

/// All uploads of this visit that were not closed.
#[component]
pub fn UploadList(
    /// The uploads.
    uploads: Uploads,
) -> impl IntoView {
    view! {
        <Show when=move || uploads.all.with(|all| !all.is_empty())>
            <section class="card uploads" aria-label="Uploads">
                <For each=move || uploads.all.get() key=|upload| upload.number let:upload>
                    <UploadRow uploads upload />
                </For>
            </section>
        </Show>
    }
}

#[component]
fn UploadRow(uploads: Uploads, upload: Upload) -> impl IntoView {
    let Upload { number, name, size_bytes, stage, .. } = upload.clone();
    let failed = move || stage.with(|stage| matches!(stage, Stage::Failed(_)));
    let ended = move || stage.with(|stage| matches!(stage, Stage::Done(_) | Stage::Failed(_)));
    let again = move |_| uploads.start(upload.clone());
    view! {
        <div class="upload" class:upload-failed=failed>
            <span class="upload-name" title=name.clone()>
                {name.clone()}
            </span>
            <div class="upload-end">
                <span class="muted">{format::bytes(size_bytes)}</span>
                <Show when=failed>
                    <button class="button" type="button" on:click=again.clone()>
                        "Try again"
                    </button>
                </Show>
                <Show when=ended>
                    <button
                        class="button button-icon"
                        type="button"
                        aria-label="Close"
                        on:click=move |_| uploads.close(number)
                    >
                        <Icon glyph=Glyph::Close />
                    </button>
                </Show>
            </div>
            {move || progress(&stage.get())}
            <div class="upload-message" aria-live="polite">
                {move || message(&stage.get())}
            </div>
        </div>
    }
}

fn progress(stage: &Stage) -> Option<AnyView> {
    match stage {
        Stage::Sending(sent) if sent.total_bytes > 0.0 => {
            let percent = sent.done_bytes / sent.total_bytes * 100.0;
            Some(
                view! {
                    <div
                        class="progress"
                        role="progressbar"
                        aria-label="Sent"
                        aria-valuemin="0"
                        aria-valuemax="100"
                        aria-valuenow=percent.round()
                    >
                        <span style:width=format!("{percent:.1}%")></span>
                    </div>
                }
                .into_any(),
            )
        }
        Stage::Sending(_) | Stage::Reading => {
            Some(view! { <div class="progress progress-open" role="progressbar" aria-label="Reading"><span></span></div> }.into_any())
        }
        Stage::Waiting | Stage::Done(_) | Stage::Failed(_) => None,
    }
}

fn message(stage: &Stage) -> AnyView {
    match stage {
        Stage::Waiting => "Waiting for the one before".into_any(),
        Stage::Sending(sent) => {
            format!("Sending: {} of {}", format::bytes(sent.done_bytes), format::bytes(sent.total_bytes))
                .into_any()
        }
        Stage::Reading => "Sent. Reading the trace …".into_any(),
        Stage::Failed(reason) => reason.clone().into_any(),
        Stage::Done(profile) => {
            let place = Place::Profile(View::of_profile(&profile.slug));
            let text = format!("Ingested {}. ", format::counted(profile.events, "event", "events"));
            let open = format!("Open {}", profile.display_name);
            view! { {text} <Link place>{open}</Link> }.into_any()
        }
    }
}

//! All uploads of a visit. They continue while the user looks at other pages. One profile is sent
//! at a time, so that the first is complete as soon as possible.

use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::Promise;
use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_capture::inputs::profiles;
use nprof_engine::wire::job::{JobReport, JobState};
use nprof_engine::wire::questions::ProfileQuestion;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList, FormData};

use super::head;
use super::stage::{Speed, UploadStage};
use crate::fetch::upload::{Sent, UploadTransfer};
use crate::fetch::{FetchError, Source};

/// Interval of progress requests to the server.
const LOOK_EVERY_MS: i32 = 200;
/// Limit of failed progress requests in a row.
const MOST_FAILURES: u32 = 50;

/// One upload.
#[derive(Clone)]
pub struct Upload {
    /// Number of the upload on this visit.
    pub number: u32,
    /// Names of the files.
    pub name: String,
    /// Size of the files in bytes.
    pub size_bytes: f64,
    /// Current stage.
    pub stage: RwSignal<UploadStage>,
    source: Source,
    files: StoredValue<Vec<File>, LocalStorage>,
    under_way: StoredValue<UnderWay, LocalStorage>,
}

/// Work in flight, for its cancellation.
#[derive(Clone, Default)]
enum UnderWay {
    #[default]
    Nothing,
    Transfer(Rc<UploadTransfer>),
    Job(u64),
}

/// All uploads of this visit, as a context.
#[derive(Clone, Copy)]
pub struct Uploads {
    source: Source,
    all: RwSignal<Vec<Upload>>,
    queue: StoredValue<VecDeque<Upload>>,
    running: StoredValue<bool>,
    next: StoredValue<u32>,
    on_done: StoredValue<Option<Callback<()>>>,
}

impl Uploads {
    /// No uploads.
    #[must_use]
    pub fn new() -> Self {
        Self {
            source: Source::of_page(),
            all: RwSignal::new(Vec::new()),
            queue: StoredValue::new(VecDeque::new()),
            running: StoredValue::new(false),
            next: StoredValue::new(0),
            on_done: StoredValue::new(None),
        }
    }

    /// The uploads that the user has not closed.
    #[must_use]
    pub fn all(self) -> RwSignal<Vec<Upload>> {
        self.all
    }

    /// Calls `callback` after each upload until the calling component is gone.
    pub fn on_done(self, callback: Callback<()>) {
        self.on_done.set_value(Some(callback));
        on_cleanup(move || self.on_done.set_value(None));
    }

    /// Sends these files. Files that belong together become one profile. Their kinds are determined
    /// first.
    pub fn add(self, files: Option<FileList>) {
        let files: Vec<File> = files
            .map(|files| (0..files.length()).filter_map(|at| files.item(at)).collect())
            .unwrap_or_default();
        spawn_local(async move {
            let mut candidates = Vec::new();
            for file in &files {
                candidates.push(head::candidate(file).await);
            }
            for profile in profiles(&candidates) {
                let of_profile: Vec<File> = profile.iter().map(|&at| files[at].clone()).collect();
                let names: Vec<&str> = profile.iter().map(|&at| candidates[at].name.as_str()).collect();
                self.enqueue(names.join(", "), of_profile);
            }
        });
    }

    fn enqueue(self, name: String, files: Vec<File>) {
        let number = self.next.get_value();
        self.next.set_value(number.wrapping_add(1));
        let upload = Upload {
            number,
            name,
            size_bytes: files.iter().map(|file| file.size()).sum(),
            stage: RwSignal::new(UploadStage::Waiting),
            source: self.source,
            files: StoredValue::new_local(files),
            under_way: StoredValue::new_local(UnderWay::Nothing),
        };
        self.all.update(|all| all.push(upload.clone()));
        self.start(upload);
    }

    /// Sends an upload, also after a failed attempt.
    pub fn start(self, upload: Upload) {
        upload.stage.set(UploadStage::Waiting);
        self.queue.update_value(|queue| queue.push_back(upload));
        if !self.running.get_value() {
            self.running.set_value(true);
            spawn_local(async move {
                while let Some(next) = self.queue.try_update_value(VecDeque::pop_front).flatten() {
                    next.run().await;
                    if let Some(callback) = self.on_done.get_value() {
                        callback.run(());
                    }
                }
                self.running.set_value(false);
            });
        }
    }

    /// Cancels an upload in any stage.
    pub fn cancel(self, upload: &Upload) {
        self.queue.update_value(|queue| queue.retain(|waiting| waiting.number != upload.number));
        match upload.under_way.get_value() {
            UnderWay::Nothing => upload.stage.set(UploadStage::Cancelled),
            UnderWay::Transfer(transfer) => transfer.abort(),
            UnderWay::Job(id) => {
                upload.stage.set(UploadStage::Stopping);
                let stage = upload.stage;
                spawn_local(async move {
                    let cancelled = async { self.source.server()?.cancel_job(id).await };
                    if let Err(error) = cancelled.await {
                        stage.set(UploadStage::Failed(error.to_string()));
                    }
                });
            }
        }
    }

    /// Removes an ended upload from the list.
    pub fn close(self, number: u32) {
        self.all.update(|all| all.retain(|upload| upload.number != number));
    }
}

impl Default for Uploads {
    fn default() -> Self {
        Self::new()
    }
}

impl Upload {
    async fn run(&self) {
        let outcome = match self.send().await {
            Ok(job) => {
                self.under_way.set_value(UnderWay::Job(job.id));
                self.watch(job).await
            }
            Err(error) => Err(error),
        };
        self.under_way.set_value(UnderWay::Nothing);
        self.stage.set(match outcome {
            Ok(stage) => stage,
            Err(FetchError::Cancelled) => UploadStage::Cancelled,
            Err(error) => UploadStage::Failed(error.to_string()),
        });
    }

    async fn send(&self) -> Result<JobReport, FetchError> {
        let form = form(&self.files.get_value())
            .ok_or(FetchError::Unreadable { what: "the browser did not hand the file over" })?;
        let transfer = Rc::new(UploadTransfer::new()?);
        self.under_way.set_value(UnderWay::Transfer(Rc::clone(&transfer)));
        let (stage, total_bytes) = (self.stage, self.size_bytes);
        stage.set(UploadStage::Sending { done_bytes: 0.0, total_bytes });
        let on_sent = move |Sent { done_bytes, total_bytes }: Sent| {
            stage.set(UploadStage::Sending { done_bytes, total_bytes });
        };
        transfer.send(&form, Rc::new(on_sent)).await
    }

    /// Polls the server's job until it ends.
    async fn watch(&self, mut report: JobReport) -> Result<UploadStage, FetchError> {
        let (mut speed, mut failures) = (Speed::default(), 0);
        while !report.state.is_final() {
            speed = speed.after(js_sys::Date::now(), report.events);
            if self.stage.with_untracked(|stage| *stage != UploadStage::Stopping) {
                self.stage.set(UploadStage::Ingesting(report.clone(), speed));
            }
            pause(LOOK_EVERY_MS).await;
            match self.source.server()?.job(report.id).await {
                Ok(next) => (report, failures) = (next, 0),
                Err(error) if error.is_temporary() && failures < MOST_FAILURES => failures += 1,
                Err(error) => return Err(error),
            }
        }
        match (report.state, report.profile) {
            (JobState::Cancelled, _) => Ok(UploadStage::Cancelled),
            (JobState::Done, Some(profile)) => {
                let profile = self.source.ask(ProfileQuestion { profile }).await?;
                Ok(UploadStage::Done(profile.entry))
            }
            _ => Ok(UploadStage::Failed(report.error.unwrap_or_else(|| "The ingest failed".to_owned()))),
        }
    }
}

fn form(files: &[File]) -> Option<FormData> {
    let form = FormData::new().ok()?;
    for file in files {
        form.append_with_blob_and_filename("file", file, &file.name()).ok()?;
    }
    Some(form)
}

/// Waits for `ms` milliseconds.
async fn pause(ms: i32) {
    let over = Promise::new(&mut |resolve, _| {
        // Never fails for a function.
        window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).ok();
    });
    JsFuture::from(over).await.ok();
}

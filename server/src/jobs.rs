//! Ingests that the server runs for its clients: one at a time, each in a process of its own.
//! Clients watch and cancel them by number.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nprof_engine::wire::job::{JobReport, JobState};
use tokio::sync::{Semaphore, watch};

use crate::analysis::job_segment;
use crate::child::{ChildTask, IngestProcess, InputsOutcome, comparison};
use crate::http::error::ApiError;
use crate::ingest::{self, IngestError, IngestSettings, Staged};
use crate::store::{Profile, Staging, Store};
use crate::work::{Meter, Stage};

/// Limit of ended jobs that are remembered.
const MAX_ENDED: usize = 100;

/// All jobs of this server.
pub struct Jobs {
    store: Arc<Store>,
    process: IngestProcess,
    known: Mutex<BTreeMap<u64, Arc<Job>>>,
    /// Set when the server ends. A job that starts later is cancelled from the start.
    is_ending: AtomicBool,
    /// Permit to ingest. An ingest can take all the memory that nprof allows itself, so only one
    /// runs at a time.
    turn: Arc<Semaphore>,
}

/// One ingest.
pub struct Job {
    id: u64,
    name: String,
    meter: Meter,
    is_cancelled: watch::Sender<bool>,
    phase: watch::Sender<Phase>,
}

/// Phase of a job.
#[derive(Clone)]
enum Phase {
    Waiting,
    Running,
    Ended(Result<Profile, Arc<IngestError>>),
}

impl Jobs {
    /// An empty list of jobs.
    #[must_use]
    pub fn new(store: Arc<Store>, process: IngestProcess) -> Self {
        Self {
            store,
            process,
            known: Mutex::default(),
            is_ending: AtomicBool::new(false),
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Queues the ingest of `files`, which are in `upload`. The profile is built beside them, and
    /// the directory is removed at the end.
    pub fn start(
        &self,
        upload: Staging,
        files: Vec<PathBuf>,
        name: String,
        settings: IngestSettings,
    ) -> Arc<Job> {
        let job = {
            let mut known = self.known();
            let id = known.last_key_value().map_or(1, |(last, _)| last + 1);
            let phase = watch::Sender::new(Phase::Waiting);
            let is_cancelled = watch::Sender::new(false);
            let job = Arc::new(Job { id, name, meter: Meter::default(), is_cancelled, phase });
            if self.is_ending.load(Ordering::Relaxed) {
                job.cancel();
            }
            known.insert(id, Arc::clone(&job));
            forget_oldest(&mut known);
            job
        };
        let ingest =
            Ingest { store: Arc::clone(&self.store), process: self.process.clone(), upload, settings };
        let (turn, running) = (Arc::clone(&self.turn), Arc::clone(&job));
        tokio::spawn(async move {
            let permit = tokio::select! {
                biased;
                () = running.cancelled() => None,
                permit = turn.acquire_owned() => permit.ok(),
            };
            let read = match permit {
                Some(_) => {
                    running.phase.send_replace(Phase::Running);
                    ingest.read(&files, &running).await
                }
                None => Err(IngestError::Cancelled),
            };
            let (store, process) = (Arc::clone(&ingest.store), ingest.process.clone());
            let (outcome, rest) = ingest.publish(read, Arc::clone(&running)).await;
            if let Ok(profile) = &outcome {
                compare(&store, &process, profile, &running).await;
            }
            // The next ingest does not wait for the removal of many files.
            drop(permit);
            drop(tokio::task::spawn_blocking(move || drop(rest)).await);
            let outcome = outcome.map_err(|error| Arc::new(error.with_file_names()));
            running.phase.send_replace(Phase::Ended(outcome));
        });
        job
    }

    /// The job with this number.
    ///
    /// # Errors
    /// If there is no such job, or the job ended long ago.
    pub fn find(&self, id: u64) -> Result<Arc<Job>, ApiError> {
        self.known().get(&id).cloned().ok_or_else(|| ApiError::NotFound(format!("there is no job {id}")))
    }

    /// Cancels all jobs, also those whose upload ends later, because the server is about to end.
    pub fn cancel_all(&self) {
        let known = self.known();
        self.is_ending.store(true, Ordering::Relaxed);
        known.values().for_each(|job| job.cancel());
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of a job.
struct Ingest {
    store: Arc<Store>,
    process: IngestProcess,
    upload: Staging,
    settings: IngestSettings,
}

impl Ingest {
    /// Reads the files in a process of its own.
    async fn read(&self, files: &[PathBuf], job: &Job) -> Result<InputsOutcome, IngestError> {
        let limits = self.process.limits;
        let order =
            ChildTask::new(self.store.root(), self.upload.dir(), files, self.settings.clone(), limits);
        self.process.run(&order, &job.meter, job.cancelled()).await
    }

    /// Adds the profile to the store. Returns the directory of the upload with what is left in it.
    async fn publish(
        self,
        read: Result<InputsOutcome, IngestError>,
        job: Arc<Job>,
    ) -> (Result<Profile, IngestError>, Option<Staging>) {
        let Self { store, upload, settings, .. } = self;
        let published = tokio::task::spawn_blocking(move || {
            let (published, rest) = match read {
                Ok(InputsOutcome::AlreadyThere(id)) => (ingest::keep(&store, &id, &settings), upload),
                Ok(InputsOutcome::Staged) => match upload.left() {
                    Ok(manifest) => {
                        let staged = Staged { manifest, staging: upload };
                        (ingest::publish(&store, &staged, &settings, &job.meter), staged.staging)
                    }
                    Err(error) => (Err(error.into()), upload),
                },
                Ok(InputsOutcome::Compared(_)) => (Err(IngestError::Died), upload),
                Err(error) => (Err(error), upload),
            };
            (published.map(|ingested| ingested.profile), Some(rest))
        });
        published.await.unwrap_or((Err(IngestError::Died), None))
    }
}

/// Compares the ranks of a new profile for the first viewer. Whoever asks later computes what is
/// missing, so a failure is no error of the job.
async fn compare(store: &Arc<Store>, process: &IngestProcess, profile: &Profile, job: &Job) {
    if !job_segment::is_for(profile) {
        return;
    }
    job.meter.begin(Stage::Analysing, 0);
    match comparison::compared(store, process, profile, &job.meter, job.cancelled()).await {
        Ok(_) | Err(IngestError::Cancelled) => {}
        Err(error) => {
            let name = profile.manifest.slug();
            tracing::warn!(
                "the ranks of \"{name}\" are not compared ({error}); `nprof ranks {name}` has no limits"
            );
        }
    }
}

fn forget_oldest(known: &mut BTreeMap<u64, Arc<Job>>) {
    let ended: Vec<u64> =
        known.values().filter(|job| job.report().state.is_final()).map(|job| job.id).collect();
    for id in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
        known.remove(id);
    }
}

impl Job {
    /// Number of the job.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Progress of the job.
    #[must_use]
    pub fn report(&self) -> JobReport {
        let phase = self.phase.borrow().clone();
        let (done_bytes, total_bytes) = self.meter.bytes();
        let mut report = JobReport {
            id: self.id,
            name: self.name.clone(),
            state: JobState::Waiting,
            done_bytes,
            total_bytes,
            events: self.meter.events(),
            profile: None,
            error: None,
        };
        match phase {
            Phase::Waiting => {}
            Phase::Running => {
                report.state = match self.meter.stage() {
                    Stage::Identifying => JobState::Identifying,
                    Stage::Reading => JobState::Reading,
                    // No job verifies or exports.
                    Stage::Publishing | Stage::Verifying | Stage::Exporting | Stage::Analysing => {
                        JobState::Publishing
                    }
                }
            }
            Phase::Ended(Ok(profile)) => {
                report.state = JobState::Done;
                report.profile = Some(profile.manifest.slug().to_owned());
            }
            Phase::Ended(Err(error)) => {
                let cancelled = matches!(*error, IngestError::Cancelled);
                report.state = if cancelled { JobState::Cancelled } else { JobState::Failed };
                // An error of the store names paths, which clients may not know.
                report.error = Some(ApiError::from(&*error).to_string());
            }
        }
        report
    }

    /// Cancels the job. Its process is killed at once.
    pub fn cancel(&self) {
        self.meter.cancel();
        self.is_cancelled.send_replace(true);
    }

    /// Waits until the job is cancelled.
    async fn cancelled(&self) {
        // Fails if the sender is dropped, which `self` owns.
        drop(self.is_cancelled.subscribe().wait_for(|is| *is).await);
    }

    /// Waits for the end of the job.
    pub async fn outcome(&self) -> Result<Profile, ApiError> {
        let mut phase = self.phase.subscribe();
        loop {
            if let Phase::Ended(outcome) = &*phase.borrow_and_update() {
                return outcome.clone().map_err(|error| ApiError::from(&*error));
            }
            if phase.changed().await.is_err() {
                return Err(ApiError::from(&IngestError::Died));
            }
        }
    }
}

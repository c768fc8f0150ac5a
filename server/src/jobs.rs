//! Ingests that the server runs for its clients: one at a time. Clients watch and cancel them by
//! number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nprof_engine::wire::job::{JobReport, JobState};
use tokio::sync::{Semaphore, watch};

use crate::http::error::ApiError;
use crate::ingest::{self, IngestError, Named, Settings};
use crate::store::{Profile, Staging, Store};
use crate::work::{Meter, Stage};

/// Limit of ended jobs that are remembered.
const MAX_ENDED: usize = 100;

/// All jobs of this server.
pub struct Jobs {
    store: Arc<Store>,
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
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            known: Mutex::default(),
            is_ending: AtomicBool::new(false),
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Queues the ingest of the files in `upload`, which is removed afterwards.
    pub fn start(&self, upload: Staging, named: Named, name: String, settings: Settings) -> Arc<Job> {
        let job = {
            let mut known = self.known();
            let id = known.last_key_value().map_or(1, |(last, _)| last + 1);
            let phase = watch::Sender::new(Phase::Waiting);
            let job = Arc::new(Job { id, name, meter: Meter::default(), phase });
            if self.is_ending.load(Ordering::Relaxed) {
                job.cancel();
            }
            known.insert(id, Arc::clone(&job));
            forget_oldest(&mut known);
            job
        };
        let (store, turn, running) = (Arc::clone(&self.store), Arc::clone(&self.turn), Arc::clone(&job));
        tokio::spawn(async move {
            let permit = turn.acquire_owned().await;
            running.phase.send_replace(Phase::Running);
            let worker = Arc::clone(&running);
            let outcome = tokio::task::spawn_blocking(move || {
                let outcome = ingest::run(&store, &named, &settings, &worker.meter);
                drop(upload);
                outcome
            });
            let outcome = match outcome.await {
                Ok(outcome) => outcome
                    .map(|ingested| ingested.profile)
                    .map_err(|error| Arc::new(error.with_file_names())),
                Err(_) => Err(Arc::new(IngestError::Died)),
            };
            running.phase.send_replace(Phase::Ended(outcome));
            drop(permit);
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

    /// Cancels the job. A waiting job stops when its turn comes.
    pub fn cancel(&self) {
        self.meter.cancel();
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// The reason why the job failed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_upload_that_ends_after_the_signal_is_not_published() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path()).unwrap());
        let jobs = Jobs::new(Arc::clone(&store));
        let start = |slug: &str| {
            let upload = store.stage().unwrap();
            let trace = upload.scratch_path("trace.json");
            std::fs::write(&trace, r#"[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a"}]"#).unwrap();
            let named = Named { files: vec![trace], ..Named::default() };
            let settings = Settings { slug: Some(slug.parse().unwrap()), ..Settings::default() };
            jobs.start(upload, named, "trace.json".to_owned(), settings)
        };
        start("before").outcome().await.unwrap();
        jobs.cancel_all();
        let late = start("after");
        assert!(late.outcome().await.is_err());
        assert_eq!(late.report().state, JobState::Cancelled);
        let profile = store.find("before").unwrap();
        assert_eq!(profile.manifest.slugs().count(), 1, "the name of the late upload was not added");
    }
}

//! The comparison of the ranks of a profile in a process of its own, for a server. Its memory grows
//! with the number of calls, and its limits must not be those of the server. Whoever gives it up
//! ends the process.

use std::path::Path;
use std::sync::Arc;

use nprof_engine::native::disk;
use tokio::runtime::Handle;

use super::{ChildTask, IngestProcess, InputsOutcome};
use crate::analysis::job_segment::{self, JobSegment};
use crate::analysis::overlay_store;
use crate::ingest::{IngestError, Result};
use crate::store::{Profile, Staging, Store, StoreError};
use crate::work::Meter;

/// Compares the ranks of a profile and keeps the result beside them, unless it is there already. In
/// a store that may only be read, the result lasts as long as it is open.
///
/// # Errors
/// `Cancelled` as soon as `cancelled` returns; the child's refusal, or the reason of its end.
pub async fn compared(
    store: &Arc<Store>,
    process: &IngestProcess,
    profile: &Profile,
    meter: &Meter,
    cancelled: impl Future<Output = ()>,
) -> Result<JobSegment> {
    let (path, place) = (job_segment::path_of(profile), Arc::clone(store));
    let begun = blocking(move || match job_segment::kept(&path) {
        Some(job) => Ok(Begun::Kept(Box::new(job))),
        None => Ok(Begun::Missing(place.stage_anywhere()?)),
    });
    let staging = match begun.await? {
        Begun::Kept(job) => return Ok(*job),
        Begun::Missing(staging) => RemovedDirectory(Some(staging)),
    };
    let Some(dir) = staging.0.as_ref().map(Staging::dir) else { return Err(IngestError::Died) };
    let order = ChildTask::comparison(store.root(), dir, &profile.manifest.id, process.limits);
    let outcome = process.run(&order, meter, cancelled).await?;
    let (profile, is_kept) = (profile.clone(), !store.is_read_only());
    blocking(move || {
        let Some(staging) = &staging.0 else { return Err(IngestError::Died) };
        taken_over(&profile, staging.dir(), &outcome, is_kept)
    })
    .await
}

/// State before a comparison.
enum Begun {
    Kept(Box<JobSegment>),
    Missing(Staging),
}

/// Moves the files of the child beside the segments, and opens the job segment.
fn taken_over(profile: &Profile, from: &Path, outcome: &InputsOutcome, is_kept: bool) -> Result<JobSegment> {
    let path = job_segment::path_of(profile);
    let is_it = |name: &String| path.file_name().is_some_and(|own| own == name.as_str());
    let InputsOutcome::Compared(name) = outcome else { return Err(IngestError::Died) };
    if !is_it(name) {
        // Somebody has replaced the profile meanwhile.
        return Err(StoreError::Changed { name: profile.manifest.slug().to_owned() }.into());
    }
    let mut place = from.join(name);
    if is_kept {
        // A result that cannot be kept is computed again.
        drop(disk::rename(&from.join(overlay_store::FILE), &profile.dir.join(overlay_store::FILE)));
        if disk::rename(&place, &path).is_ok() {
            job_segment::forget_others(&path);
            place.clone_from(&path);
        }
    }
    job_segment::kept(&place).ok_or(IngestError::Died)
}

/// A directory that is removed where that delays nobody.
struct RemovedDirectory(Option<Staging>);

impl Drop for RemovedDirectory {
    fn drop(&mut self) {
        let staging = self.0.take();
        // Without a runtime, the server has ended.
        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(staging)));
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(IngestError::Died))
}

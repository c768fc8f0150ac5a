//! For tests: watches the calls below a directory, and refuses them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::io::Errno;

use super::DiskCall;

/// The watcher's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallVerdict {
    /// The call is made.
    Make,
    /// The call is not made and seems to succeed. For syncs, which make tests slow.
    Skip,
    /// The call changes nothing and fails.
    Fail(Errno),
    /// A write writes half of its bytes and fails. Other calls change nothing and fail.
    Tear(Errno),
}

type Watcher = Arc<dyn Fn(&DiskCall<'_>) -> CallVerdict + Send + Sync>;

/// The watchers with their directories. Calls are made in many places and threads, so only the
/// path tells whose call one is.
static WATCHERS: RwLock<Vec<(PathBuf, u64, Watcher)>> = RwLock::new(Vec::new());
/// The next number of a file or a watcher.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Watches all calls below a directory, of all threads, until it is dropped. `watcher` is asked
/// before each call.
#[derive(Debug)]
#[must_use]
pub struct Watching(u64);

impl Watching {
    /// Starts to watch.
    pub fn below(
        directory: &Path,
        watcher: impl Fn(&DiskCall<'_>) -> CallVerdict + Send + Sync + 'static,
    ) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut watchers = WATCHERS.write().unwrap_or_else(PoisonError::into_inner);
        watchers.push((directory.to_owned(), number, Arc::new(watcher)));
        Self(number)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watchers = WATCHERS.write().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|(_, number, _)| *number != self.0);
    }
}

/// The watcher of a file or a call.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) file: u64,
    watcher: Option<Watcher>,
    torn: Arc<AtomicU64>,
}

impl Watched {
    pub(super) fn below(place: &Path) -> Self {
        let watchers = WATCHERS.read().unwrap_or_else(PoisonError::into_inner);
        let watcher = watchers.iter().find(|(directory, ..)| place.starts_with(directory));
        Self {
            file: NEXT.fetch_add(1, Ordering::Relaxed),
            watcher: watcher.map(|(.., watcher)| Arc::clone(watcher)),
            torn: Arc::default(),
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watcher.is_some()
    }

    /// Returns true if the last write must write half of its bytes.
    pub(super) fn is_torn(&self) -> bool {
        self.torn.load(Ordering::Relaxed) == 1
    }

    /// Asks the watcher. Returns whether the call must be made.
    pub(super) fn ask(&self, call: &DiskCall<'_>) -> io::Result<bool> {
        let verdict = self.watcher.as_ref().map_or(CallVerdict::Make, |watcher| watcher(call));
        self.torn.store(matches!(verdict, CallVerdict::Tear(_)).into(), Ordering::Relaxed);
        match verdict {
            CallVerdict::Make => Ok(true),
            CallVerdict::Skip => Ok(false),
            CallVerdict::Fail(errno) | CallVerdict::Tear(errno) => Err(errno.into()),
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("file", &self.file).finish_non_exhaustive()
    }
}

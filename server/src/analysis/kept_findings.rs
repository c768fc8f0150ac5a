//! The answers about runs that a server keeps in memory. Each is computed once, even if several
//! clients ask at the same time.

use std::sync::Arc;
use std::time::Duration;

use nprof_engine::exec::Cancel;
use nprof_engine::wire::findings::Findings;
use quick_cache::sync::{Cache, GuardResult};

use super::AnalysisError;
use super::findings::{key_of, message_within};
use crate::store::Profile;

/// Limit of answers. One of a thousand ranks takes some hundred KiB.
const MOST: usize = 64;
/// Interval at which a client that waits for the answer of another one looks whether it still
/// wants it.
const TICK: Duration = Duration::from_millis(50);

/// Answers by [`key_of`] their profiles.
#[derive(Debug)]
pub struct KeptFindings(Cache<String, Arc<Findings>>);

impl Default for KeptFindings {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl KeptFindings {
    /// The answer about a profile, if it is there.
    #[must_use]
    pub fn kept(&self, profile: &Profile) -> Option<Arc<Findings>> {
        self.0.get(&key_of(profile))
    }

    /// The answer about a profile. If another client's work on it is cancelled, this one goes on
    /// with its own. Blocks.
    pub fn of(&self, profile: &Profile, cancel: Cancel<'_>) -> Result<Arc<Findings>, AnalysisError> {
        self.computed(&key_of(profile), cancel, || message_within(profile, cancel)).map_err(|failed| {
            match failed {
                Failed::Cancelled(source) => AnalysisError::Segment { path: profile.dir.clone(), source },
                Failed::Analysis(error) => error,
            }
        })
    }

    fn computed<E>(
        &self,
        key: &str,
        cancel: Cancel<'_>,
        compute: impl FnOnce() -> Result<Findings, E>,
    ) -> Result<Arc<Findings>, Failed<E>> {
        loop {
            match self.0.get_value_or_guard(key, Some(TICK)) {
                GuardResult::Value(kept) => return Ok(kept),
                GuardResult::Timeout => cancel.check().map_err(Failed::Cancelled)?,
                GuardResult::Guard(guard) => {
                    let found = Arc::new(compute().map_err(Failed::Analysis)?);
                    // An insert fails only if the key was removed. The answer is right anyway.
                    drop(guard.insert(Arc::clone(&found)));
                    return Ok(found);
                }
            }
        }
    }
}

/// Reason why there is no answer.
#[derive(Debug)]
enum Failed<E> {
    /// The client left while another one's answer was computed.
    Cancelled(nprof_engine::base::Error),
    Analysis(E),
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;

    use super::*;

    fn answer() -> Findings {
        Findings { answer: "one".to_owned(), ..Findings::default() }
    }

    #[test]
    fn clients_that_ask_at_once_wait_for_one_answer() {
        let (kept, computed) = (KeptFindings::default(), AtomicU32::new(0));
        let key = "a";
        let ask = || {
            let compute = || {
                computed.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(answer())
            };
            kept.computed(key, Cancel::NEVER, compute).unwrap().answer.clone()
        };
        thread::scope(|scope| {
            let asked = [scope.spawn(ask), scope.spawn(ask), scope.spawn(ask)];
            for one in asked {
                assert_eq!(one.join().unwrap(), "one");
            }
        });
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_client_that_leaves_keeps_no_other_from_its_answer() {
        let (kept, key) = (KeptFindings::default(), "a");
        let (is_begun, has_left) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                kept.computed(key, Cancel::NEVER, || {
                    is_begun.store(true, Ordering::Release);
                    while !has_left.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                    Err::<Findings, _>(())
                })
            });
            while !is_begun.load(Ordering::Acquire) {
                thread::yield_now();
            }
            // A client that waits and leaves gets no answer; the work of the first one goes on.
            let gone = || true;
            let left = kept.computed(key, Cancel::when(&gone), || Ok::<_, ()>(answer()));
            assert!(matches!(left, Err(Failed::Cancelled(_))), "{left:?}");
            let waiting = scope.spawn(|| kept.computed(key, Cancel::NEVER, || Ok::<_, ()>(answer())));
            has_left.store(true, Ordering::Release);
            assert!(matches!(first.join().unwrap(), Err(Failed::Analysis(()))));
            assert_eq!(waiting.join().unwrap().unwrap().answer, "one");
        });
    }
}

//! Answers about runs that a server keeps in memory. Each is computed once, even if several clients
//! ask at the same time.

use std::sync::Arc;
use std::time::Duration;

use nprof_engine::base::Error;
use nprof_engine::exec::Cancel;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, GuardResult};

use super::{AnalysisError, job_segment};
use crate::store::Profile;

/// Interval at which a client that waits for the answer of another one looks whether it still
/// wants it.
const TICK: Duration = Duration::from_millis(50);

/// An answer that is kept.
pub trait KeptAnswer {
    /// Its part of [`Self::CAPACITY`].
    fn weight(&self) -> u64;

    /// Limit of the weights of all that are kept.
    const CAPACITY: u64;
}

/// Answers by [`key_of`] their profiles.
#[derive(Debug)]
pub struct KeptAnswers<T>(Cache<String, Arc<T>, ByWeight>);

#[derive(Debug, Clone)]
struct ByWeight;

impl<T: KeptAnswer> Weighter<String, Arc<T>> for ByWeight {
    fn weight(&self, _: &String, answer: &Arc<T>) -> u64 {
        answer.weight()
    }
}

impl<T: KeptAnswer> Default for KeptAnswers<T> {
    fn default() -> Self {
        // A cache of few items is one shard. Each of several would have its part of the capacity,
        // and one large answer would fit into none.
        Self(Cache::with_weighter(32, T::CAPACITY, ByWeight))
    }
}

impl<T: KeptAnswer> KeptAnswers<T> {
    /// The answer about a profile, if it is there.
    #[must_use]
    pub fn kept(&self, profile: &Profile) -> Option<Arc<T>> {
        self.0.get(&key_of(profile))
    }

    /// Keeps an answer about a profile that comes from elsewhere.
    pub fn keep(&self, profile: &Profile, answer: T) -> Arc<T> {
        let kept = Arc::new(answer);
        self.0.insert(key_of(profile), Arc::clone(&kept));
        kept
    }

    /// The answer about a profile. If another client's work on it is cancelled, this one goes on
    /// with its own. Blocks.
    pub fn of(
        &self,
        profile: &Profile,
        cancel: Cancel<'_>,
        compute: impl Fn() -> Result<T, AnalysisError>,
    ) -> Result<Arc<T>, AnalysisError> {
        self.computed(&key_of(profile), cancel, compute).map_err(|failed| match failed {
            Failed::Cancelled(source) => AnalysisError::Segment { path: profile.dir.clone(), source },
            Failed::Analysis(error) => error,
        })
    }

    fn computed<E>(
        &self,
        key: &str,
        cancel: Cancel<'_>,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, Failed<E>> {
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

/// Key of an answer about a profile. It changes with what the analysis of all ranks reads, and with
/// the place of the profile.
#[must_use]
pub fn key_of(profile: &Profile) -> String {
    blake3::hash(job_segment::path_of(profile).as_os_str().as_encoded_bytes()).to_hex().to_string()
}

/// Reason why there is no answer.
#[derive(Debug)]
enum Failed<E> {
    /// The client left while another one's answer was computed.
    Cancelled(Error),
    Analysis(E),
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;

    use super::*;

    /// An answer with its weight.
    #[derive(Debug)]
    struct Weighed(u64);

    impl KeptAnswer for Weighed {
        fn weight(&self) -> u64 {
            self.0
        }

        const CAPACITY: u64 = 10;
    }

    #[test]
    fn as_much_is_kept_as_the_capacity_says() {
        let kept = KeptAnswers::default();
        let of = |key, weight| kept.computed(key, Cancel::NEVER, || Ok::<_, ()>(Weighed(weight))).unwrap().0;
        assert_eq!((of("large", 11), of("large", 3)), (11, 3), "what is too large is not kept");
        assert_eq!((of("a", 7), of("a", 1)), (7, 7));
        of("b", 8);
        let weights: u64 = ["a", "b", "large"].map(|key| kept.0.get(key).map_or(0, |one| one.0)).iter().sum();
        assert!(weights <= 10, "{weights}");
    }

    #[test]
    fn clients_that_ask_at_once_wait_for_one_answer() {
        let (kept, computed) = (KeptAnswers::default(), AtomicU32::new(0));
        let key = "a";
        let ask = || {
            let compute = || {
                computed.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(Weighed(1))
            };
            kept.computed(key, Cancel::NEVER, compute).unwrap().0
        };
        thread::scope(|scope| {
            let asked = [scope.spawn(ask), scope.spawn(ask), scope.spawn(ask)];
            for one in asked {
                assert_eq!(one.join().unwrap(), 1);
            }
        });
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_client_that_leaves_keeps_no_other_from_its_answer() {
        let (kept, key) = (KeptAnswers::default(), "a");
        let (is_begun, has_left) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                kept.computed(key, Cancel::NEVER, || {
                    is_begun.store(true, Ordering::Release);
                    while !has_left.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                    Err::<Weighed, _>(())
                })
            });
            while !is_begun.load(Ordering::Acquire) {
                thread::yield_now();
            }
            // A client that waits and leaves gets no answer; the work of the first one goes on.
            let gone = || true;
            let left = kept.computed(key, Cancel::when(&gone), || Ok::<_, ()>(Weighed(1)));
            assert!(matches!(left, Err(Failed::Cancelled(_))), "{left:?}");
            let waiting = scope.spawn(|| kept.computed(key, Cancel::NEVER, || Ok::<_, ()>(Weighed(1))));
            has_left.store(true, Ordering::Release);
            assert!(matches!(first.join().unwrap(), Err(Failed::Analysis(()))));
            assert_eq!(waiting.join().unwrap().unwrap().0, 1);
        });
    }
}

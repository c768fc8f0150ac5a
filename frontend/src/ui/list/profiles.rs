//! The list of profiles as last known, which is requested again and again.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::ProfileList;
use nprof_engine::wire::questions::ProfilesQuestion;

use crate::fetch::{FetchError, Source};

/// Interval of requests for the list. Another process can ingest at any time; the answer for an
/// unchanged list is small.
const REFRESH_EVERY: Duration = Duration::from_millis(2_500);

/// The last known list of profiles. After a failure the last list stays.
#[derive(Debug, Clone, Copy)]
pub struct Profiles {
    source: Source,
    pub(super) list: RwSignal<Option<ProfileList>>,
    pub(super) failure: RwSignal<Option<FetchError>>,
    pub(super) now_unix_ms: RwSignal<i64>,
}

impl Profiles {
    pub(super) fn new() -> Self {
        Self {
            source: Source::of_page(),
            list: RwSignal::new(None),
            failure: RwSignal::new(None),
            now_unix_ms: RwSignal::new(now_unix_ms()),
        }
    }

    /// The source of the profiles.
    #[must_use]
    pub fn source(self) -> Source {
        self.source
    }

    /// Requests the list again.
    pub fn refresh(self) {
        spawn_local(async move {
            let answer = self.source.ask(ProfilesQuestion).await;
            // The user can have left the page while the answer was in flight.
            match answer {
                Ok(list) => {
                    let changed =
                        self.list.try_with_untracked(|old| old.as_ref() != Some(&list)).unwrap_or(false);
                    if changed {
                        self.list.try_set(Some(list));
                    }
                    if self.failure.try_with_untracked(Option::is_some).unwrap_or(false) {
                        self.failure.try_set(None);
                    }
                }
                Err(error) => drop(self.failure.try_set(Some(error))),
            }
            self.now_unix_ms.try_set(now_unix_ms());
        });
    }

    pub(super) fn keep_fresh(self) {
        self.refresh();
        let tick = move || {
            if !document().hidden() {
                self.refresh();
            }
        };
        if let Ok(timer) = set_interval_with_handle(tick, REFRESH_EVERY) {
            on_cleanup(move || timer.clear());
        }
    }
}

fn now_unix_ms() -> i64 {
    js_sys::Date::now() as i64
}

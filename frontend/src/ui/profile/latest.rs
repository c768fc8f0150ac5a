//! One question at a time. When a new question is asked, the request for the last one is cancelled,
//! and the server stops working on it.
//!
//! A resource asks the next question only after the last one is answered, so it cannot cancel
//! requests itself.

use leptos::prelude::*;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::FetchError;

/// The request that can be in flight, with its question.
type Held<Q> = Option<(Option<Q>, AbortController)>;

/// An answer with the key of its question.
type Answered<K, T> = Option<(K, Result<T, FetchError>)>;

/// Cancels requests whose question is no longer asked.
pub struct Latest<Q: 'static>(StoredValue<Held<Q>, LocalStorage>);

impl<Q> Clone for Latest<Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q> Copy for Latest<Q> {}

impl<Q: Clone + PartialEq + Send + Sync + 'static> Latest<Q> {
    /// Watches the current question.
    #[must_use]
    pub fn new(question: Memo<Option<Q>>) -> Self {
        let held = StoredValue::new_local(None::<(Option<Q>, AbortController)>);
        Effect::new(move |_| {
            let asked = question.get();
            held.with_value(|held| {
                if let Some((of, request)) = held
                    && *of != asked
                {
                    request.abort();
                }
            });
        });
        Self(held)
    }

    /// The abort signal for the request of this question.
    pub fn begin(self, question: Option<Q>) -> Option<AbortSignal> {
        let request = AbortController::new().ok()?;
        let signal = request.signal();
        self.0.set_value(Some((question, request)));
        Some(signal)
    }
}

/// The last answer that was not cancelled. A memo between the resource and its readers; `opened.rs`
/// says why.
pub fn last_answer<K, T>(resource: LocalResource<Answered<K, T>>) -> Memo<Answered<K, T>>
where
    K: Clone + PartialEq + Send + Sync + 'static,
    T: Clone + PartialEq + Send + Sync + 'static,
{
    Memo::new(move |before: Option<&Answered<K, T>>| match resource.get().flatten() {
        Some((_, Err(FetchError::Cancelled))) => before.cloned().flatten(),
        answer => answer,
    })
}

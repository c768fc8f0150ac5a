//! One question at a time: where another one is asked, the request for the last is cancelled, and the server does not
//! go on with what nobody waits for.
//!
//! A resource asks the next question only when the last one is answered, so calling off is nothing it can do itself.

use leptos::prelude::*;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::FetchError;

/// The request that may be on its way, and for which question.
type Held<Q> = Option<(Option<Q>, AbortController)>;

/// An answer, and to what.
type Answered<K, T> = Option<(K, Result<T, FetchError>)>;

/// Calls off what is not asked any more.
pub struct Latest<Q: 'static>(StoredValue<Held<Q>, LocalStorage>);

impl<Q> Clone for Latest<Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q> Copy for Latest<Q> {}

impl<Q: Clone + PartialEq + Send + Sync + 'static> Latest<Q> {
    /// Watches what is asked.
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

    /// What the request for this question is to listen to.
    pub fn begin(self, question: Option<Q>) -> Option<AbortSignal> {
        let request = AbortController::new().ok()?;
        let signal = request.signal();
        self.0.set_value(Some((question, request)));
        Some(signal)
    }
}

/// The last answer that was not cancelled. A memo of its own between the resource and its readers, as in `opened.rs`.
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

//! One question at a time. When a new question is asked, the request for the last one is cancelled,
//! and the server stops working on it.
//!
//! A resource asks the next question only after the last one is answered, so it cannot cancel
//! requests itself.

use std::future::Future;
use std::sync::Arc;

use leptos::prelude::*;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::FetchError;

/// A question with its answer.
type Answered<Q, T> = Option<(Q, Result<Arc<T>, FetchError>)>;

/// The request that can be in flight, with its question.
type Held<Q> = Option<(Option<Q>, AbortController)>;

/// The answers to a question that changes.
pub struct Asked<Q: Send + Sync + 'static, T: Send + Sync + 'static> {
    /// The last answer that was not cancelled, with its question. It stays until the next one.
    pub last: Memo<Answered<Q, T>>,
    /// Asks the same question again.
    pub retry: Callback<()>,
}

impl<Q: Send + Sync, T: Send + Sync> Clone for Asked<Q, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Send + Sync, T: Send + Sync> Copy for Asked<Q, T> {}

impl<Q, T> Asked<Q, T>
where
    Q: Clone + PartialEq + Send + Sync + 'static,
    T: PartialEq + Send + Sync + 'static,
{
    /// Asks a question whenever it changes. `ask` sends the request, which the signal cancels.
    #[must_use]
    pub fn new<F>(question: Memo<Option<Q>>, ask: impl Fn(Q, AbortSignal) -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, FetchError>> + 'static,
    {
        let attempt = RwSignal::new(0_u32);
        let held = hold(question);
        let resource = LocalResource::new(move || {
            attempt.track();
            let question = question.get();
            let request = question.clone().zip(begin(held, question));
            let answer = request.map(|(question, signal)| (question.clone(), ask(question, signal)));
            async move {
                let (question, answer) = answer?;
                Some((question, answer.await.map(Arc::new)))
            }
        });
        // A memo between the resource and its readers; `opened.rs` says why.
        let last = Memo::new(move |before: Option<&Answered<Q, T>>| match resource.get().flatten() {
            Some((_, Err(FetchError::Cancelled))) => before.cloned().flatten(),
            answer => answer,
        });
        Self { last, retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)) }
    }
}

/// Cancels requests whose question is no longer asked.
fn hold<Q: Clone + PartialEq + Send + Sync + 'static>(
    question: Memo<Option<Q>>,
) -> StoredValue<Held<Q>, LocalStorage> {
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
    held
}

/// The abort signal for the request of this question.
fn begin<Q: 'static>(held: StoredValue<Held<Q>, LocalStorage>, question: Option<Q>) -> Option<AbortSignal> {
    let request = AbortController::new().ok()?;
    let signal = request.signal();
    held.set_value(Some((question, request)));
    Some(signal)
}

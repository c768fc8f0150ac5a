//! One question at a time. When a new question is asked, the request for the last one is cancelled,
//! and the server stops working on it.
//!
//! The machinery does not depend on the types of questions and answers, so a further question costs
//! the page little code.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::FetchError;
use crate::view::Axes;

/// The axes of the times in questions and answers; a context of the page of a profile. All its
/// questions are asked again when they change.
#[derive(Debug, Clone, Copy)]
pub struct TimesOf(pub Memo<Arc<Axes>>);

/// A question with its answer, once there is one.
pub type Answered<Q, T> = Option<(Q, Result<Arc<T>, FetchError>)>;

/// The answers to a question that changes.
pub struct QuestionAnswers<Q: Send + Sync + 'static, T: Send + Sync + 'static> {
    /// The last answer that was not cancelled, with its question. It stays until the next one.
    pub last: RwSignal<Answered<Q, T>>,
    /// Asks the same question again.
    pub retry: Callback<()>,
}

impl<Q: Send + Sync, T: Send + Sync> Clone for QuestionAnswers<Q, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Send + Sync, T: Send + Sync> Copy for QuestionAnswers<Q, T> {}

impl<Q, T> QuestionAnswers<Q, T>
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
        Self::new_with(RwSignal::new(0), question, ask)
    }

    /// Asks a question whenever it or the number of the attempt changes. Questions that fail
    /// together share the number.
    #[must_use]
    pub fn new_with<F>(
        attempt: RwSignal<u32>,
        question: Memo<Option<Q>>,
        ask: impl Fn(Q, AbortSignal) -> F + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, FetchError>> + 'static,
    {
        let last = RwSignal::new(None);
        let requests = Requests::new();
        let times = use_context::<TimesOf>();
        Effect::new(move |_| {
            attempt.track();
            if let Some(TimesOf(axes)) = times {
                axes.track();
            }
            let request = question.get().zip(requests.begin());
            let answer = request.map(|(question, (number, signal))| {
                let answer = ask(question.clone(), signal);
                (number, async move { Some((question, answer.await.map(Arc::new))) })
            });
            let Some((number, answer)) = answer else { return change(last, None) };
            send(Box::pin(async move {
                let answer = answer.await;
                let is_cancelled = matches!(answer, Some((_, Err(FetchError::Cancelled))));
                if requests.is_last(number) && !is_cancelled {
                    change(last, answer);
                }
            }));
        });
        Self { last, retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)) }
    }

    /// The last answer without its question.
    #[must_use]
    pub fn answer(self) -> Option<Result<Arc<T>, FetchError>> {
        self.last.get().map(|(_, answer)| answer)
    }
}

/// Tells readers of a new answer, unless the answer is the same as before.
fn change<V: PartialEq + Send + Sync + 'static>(last: RwSignal<V>, answer: V) {
    if last.try_with_untracked(|before| *before != answer) == Some(true) {
        last.set(answer);
    }
}

/// Runs a request. One type for all requests keeps the page small.
fn send(request: Pin<Box<dyn Future<Output = ()>>>) {
    spawn_local(request);
}

/// The requests for one question that changes.
#[derive(Clone, Copy)]
struct Requests(StoredValue<Flight, LocalStorage>);

/// The request that can be in flight.
#[derive(Default)]
struct Flight {
    /// Requests begun so far.
    number: u64,
    request: Option<AbortController>,
}

impl Requests {
    /// Stops the last request when the component ends.
    fn new() -> Self {
        let flight = StoredValue::new_local(Flight::default());
        on_cleanup(move || {
            flight.try_update_value(Flight::stop);
        });
        Self(flight)
    }

    /// Cancels the last request and begins another. Returns its number and its abort signal, or
    /// `None` when the component has ended.
    fn begin(self) -> Option<(u64, AbortSignal)> {
        self.0.try_update_value(|flight| {
            flight.stop();
            let request = AbortController::new().ok()?;
            let signal = request.signal();
            flight.number += 1;
            flight.request = Some(request);
            Some((flight.number, signal))
        })?
    }

    fn is_last(self, number: u64) -> bool {
        self.0.try_with_value(|flight| flight.number == number) == Some(true)
    }
}

impl Flight {
    fn stop(&mut self) {
        if let Some(request) = self.request.take() {
            request.abort();
        }
    }
}

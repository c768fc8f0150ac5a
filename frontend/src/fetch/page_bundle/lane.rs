//! A worker and its queue of questions.
//!
//! Few questions are with the worker at a time. A question that is cancelled before that costs
//! nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array, WebAssembly};
use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::questions::Question;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Blob, BlobPropertyBag, ErrorEvent, MessageEvent, Url, Worker};

use super::Unpacked;
use super::parts::PageParts;
use crate::fetch::decode;
use crate::fetch::error::FetchError;
use crate::view::source_id::SourceId;

/// Limit of questions at the worker. With two, the worker finds the next question when it has
/// answered one.
const MOST_IN_FLIGHT: usize = 2;

/// Handle to a worker.
#[derive(Debug, Clone)]
pub(super) struct Lane(Rc<RefCell<LaneState>>);

#[derive(Debug)]
struct LaneState {
    worker: Worker,
    parts: Rc<PageParts>,
    unpacked: RwSignal<Option<Unpacked>>,
    waiting: VecDeque<WaitingQuestion>,
    in_flight: BTreeMap<u32, Function>,
    next_number: u32,
    /// Ranks whose segments the worker has.
    ranks: BTreeSet<SourceId>,
    failure: Option<FetchError>,
    _listeners: Option<Listeners>,
}

/// Callbacks of the worker, kept while it can call them.
#[derive(Debug)]
struct Listeners {
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

/// A waiting question.
#[derive(Debug)]
struct WaitingQuestion {
    question: Question,
    /// Resolves the promise with the worker's message, with `null` if the question is cancelled, or
    /// with a text that explains a missing answer.
    resolve: Function,
    cancel: Option<AbortSignal>,
}

impl Lane {
    /// Starts a worker.
    pub fn start(parts: Rc<PageParts>, unpacked: RwSignal<Option<Unpacked>>) -> Result<Self, FetchError> {
        let worker = worker(&parts.script()?).map_err(|thrown| refused(&thrown))?;
        let lane = Self(Rc::new(RefCell::new(LaneState {
            worker,
            parts,
            unpacked,
            waiting: VecDeque::new(),
            in_flight: BTreeMap::new(),
            next_number: 0,
            ranks: BTreeSet::new(),
            failure: None,
            _listeners: None,
        })));
        lane.listen();
        let started = lane.clone();
        spawn_local(async move {
            if let Err(error) = started.send_program().await {
                started.0.borrow_mut().fail(error);
            }
        });
        Ok(lane)
    }

    /// Returns true if the worker has failed.
    pub fn has_failed(&self) -> bool {
        self.0.borrow().failure.is_some()
    }

    /// The answer to a question, as a postcard message.
    pub async fn ask(
        &self,
        question: &Question,
        cancel: Option<&AbortSignal>,
    ) -> Result<Vec<u8>, FetchError> {
        let mut resolve = None;
        let promise = Promise::new(&mut |resolved, _| resolve = Some(resolved));
        let resolve = resolve.ok_or(FetchError::Unreachable)?;
        let cancelled = resolve.clone();
        let on_abort = Closure::<dyn FnMut()>::new(move || {
            // A promise that is already resolved stays unchanged.
            cancelled.call1(&JsValue::NULL, &JsValue::NULL).ok();
        });
        if let Some(cancel) = cancel {
            cancel.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
        }
        let asked = WaitingQuestion { question: question.clone(), resolve, cancel: cancel.cloned() };
        self.0.borrow_mut().take(asked);
        let message = JsFuture::from(promise).await;
        if let Some(cancel) = cancel {
            cancel.set_onabort(None);
        }
        answer_of(&message.map_err(|thrown| refused(&thrown))?)
    }

    fn listen(&self) {
        let lane = Rc::downgrade(&self.0);
        let on_message = Closure::new(move |event: MessageEvent| {
            if let Some(state) = lane.upgrade() {
                state.borrow_mut().receive(&event.data());
            }
        });
        let lane = Rc::downgrade(&self.0);
        let on_error = Closure::new(move |event: ErrorEvent| {
            if let Some(state) = lane.upgrade() {
                state.borrow_mut().fail(failed(&event.message()));
            }
        });
        let mut state = self.0.borrow_mut();
        state.worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        state.worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        state._listeners = Some(Listeners { _message: on_message, _error: on_error });
    }

    /// Compiles the program and sends it to the worker, with the list of ranks.
    async fn send_program(&self) -> Result<(), FetchError> {
        let parts = Rc::clone(&self.0.borrow().parts);
        let program = Uint8Array::from(&parts.program().await?[..]);
        let mut bundles = parts.bundles()?.into_iter().map(|bytes| Uint8Array::from(&bytes[..]));
        let bundle = bundles.next().ok_or(FetchError::Unreachable)?;
        let others: Array = bundles.collect();
        let module =
            JsFuture::from(WebAssembly::compile(&program)).await.map_err(|thrown| refused(&thrown))?;
        let message =
            message("start", &[("module", module), ("bundle", bundle.into()), ("others", others.into())]);
        self.0.borrow().post(&message)
    }
}

impl LaneState {
    fn take(&mut self, asked: WaitingQuestion) {
        self.waiting.push_back(asked);
        self.send_next();
    }

    fn send_next(&mut self) {
        while self.failure.is_none() && self.in_flight.len() < MOST_IN_FLIGHT {
            let Some(asked) = self.waiting.pop_front() else { return };
            if asked.cancel.as_ref().is_some_and(AbortSignal::aborted) {
                continue;
            }
            if let Err(error) = self.send(asked) {
                return self.fail(error);
            }
        }
    }

    fn send(&mut self, WaitingQuestion { question, resolve, .. }: WaitingQuestion) -> Result<(), FetchError> {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        self.in_flight.insert(number, resolve);
        let needed = match &question {
            Question::OfRank(id, _) => vec![self.parts.source(id)],
            question if question.manner().reads_all_ranks => self.parts.ranks(),
            _ => Vec::new(),
        };
        for source in needed {
            if self.ranks.insert(source) {
                self.send_segment(source)?;
            }
        }
        self.post(&message("ask", &[("number", number.into()), ("url", question.path().into())]))
    }

    fn send_segment(&self, source: SourceId) -> Result<(), FetchError> {
        // The worker refuses questions about a rank without a segment here.
        let Some(segment) = self.parts.segment(source) else { return Ok(()) };
        let (of_rank, size) =
            (("rank", JsValue::from(source.to_string())), ("size", JsValue::from(segment.size_bytes as f64)));
        if let Some(url) = segment.url() {
            return self.post(&message("reach", &[of_rank, size, ("url", url.into())]));
        }
        self.post(&message("begin", &[of_rank.clone(), size]))?;
        for text in segment.texts() {
            self.post(&message("take", &[of_rank.clone(), ("text", text.into())]))?;
        }
        self.post(&message("open", &[of_rank]))
    }

    fn post(&self, message: &JsValue) -> Result<(), FetchError> {
        self.worker.post_message(message).map_err(|thrown| refused(&thrown))
    }

    fn receive(&mut self, message: &JsValue) {
        let number = |name: &str| part(message, name).as_f64();
        match part(message, "kind").as_string().as_deref() {
            Some("answer") => {
                let asked = number("number").and_then(|number| self.in_flight.remove(&(number as u32)));
                if let Some(resolve) = asked {
                    resolve.call1(&JsValue::NULL, message).ok();
                }
                self.send_next();
            }
            Some("taken") => {
                if let (Some(rank), Some(done_bytes), Some(total_bytes)) =
                    (part(message, "rank").as_string(), number("done"), number("size"))
                    && let Ok(SourceId { rank, .. }) = rank.parse()
                {
                    let unpacked = Unpacked { rank, done_bytes, total_bytes };
                    self.unpacked.set((done_bytes < total_bytes).then_some(unpacked));
                }
            }
            _ => self.fail(failed(&part(message, "reason").as_string().unwrap_or_default())),
        }
    }

    /// Stops the worker. All waiting questions fail.
    fn fail(&mut self, error: FetchError) {
        self.worker.terminate();
        let waiting = self.waiting.drain(..).map(|asked| asked.resolve);
        let reason = JsValue::from(error.to_string());
        for resolve in waiting.chain(std::mem::take(&mut self.in_flight).into_values()) {
            resolve.call1(&JsValue::NULL, &reason).ok();
        }
        self.failure = Some(error);
    }
}

impl Drop for LaneState {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// A worker that runs a script.
fn worker(script: &str) -> Result<Worker, JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    Worker::new(&url)
}

fn message(kind: &str, parts: &[(&str, JsValue)]) -> JsValue {
    let message = Object::new();
    for (name, value) in [("kind", JsValue::from(kind))].iter().chain(parts) {
        // Setting a property of a new object never fails.
        Reflect::set(&message, &(*name).into(), value).ok();
    }
    message.into()
}

fn part(message: &JsValue, name: &str) -> JsValue {
    Reflect::get(message, &name.into()).unwrap_or_default()
}

fn answer_of(message: &JsValue) -> Result<Vec<u8>, FetchError> {
    if message.is_null() {
        return Err(FetchError::Cancelled);
    }
    if let Some(reason) = message.as_string() {
        return Err(internal(reason));
    }
    let bytes: Uint8Array =
        part(message, "bytes").dyn_into().map_err(|_| FetchError::Unreadable { what: "no bytes" })?;
    match part(message, "ok").is_truthy() {
        true => Ok(bytes.to_vec()),
        false => Err(decode::message(&bytes.to_vec()).map_or_else(|error| error, FetchError::Refused)),
    }
}

fn refused(thrown: &JsValue) -> FetchError {
    let reason = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    failed(&reason.unwrap_or_default())
}

fn failed(reason: &str) -> FetchError {
    internal(format!("the page's worker failed ({reason}); reload the page to try again"))
}

fn internal(message: String) -> FetchError {
    FetchError::Refused(Refusal::new(RefusalKind::Internal, message))
}

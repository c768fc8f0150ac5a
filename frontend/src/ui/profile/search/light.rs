//! Light on the hits of the search, in all ranks that the timeline shows. It is asked for again
//! when the window leaves what is known, or gets so small that more can be told apart.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::light::SearchLight;
use nprof_engine::wire::questions::LightQuestion;
use web_sys::AbortSignal;

use crate::fetch::FetchError;
use crate::ui::controls::rested;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;
use crate::view::light::{Light, LitSpan, OVERVIEW_CELLS, RankLight};
use crate::view::source_id::SourceId;
use crate::view::time::window::widest;
use crate::view::{ProfilePlace, TimeScale, View};

/// The light of a search.
#[derive(Clone, Copy)]
pub struct SearchLights {
    /// The places of the hits. While the query is wrong, those of the last one stay.
    pub shown: Memo<Option<Arc<Light>>>,
    /// The places of the hits of the current rank in the overview, as a path of SVG over
    /// [`OVERVIEW_CELLS`] parts.
    pub overview: Memo<Option<String>>,
    /// Number of hits in the window, in the current rank.
    pub in_window: Memo<Option<u64>>,
}

/// A question about the hits in some ranks.
#[derive(Clone, PartialEq)]
struct LightKey {
    text: String,
    syntax: Syntax,
    sources: Vec<SourceId>,
    of: LitSpan,
}

impl SearchLights {
    /// Asks whenever there is a query and the timeline is shown.
    #[must_use]
    pub fn new(opened: Opened) -> Self {
        let query = Memo::new(move |_| {
            let of = |view: &View| {
                let is_shown = view.place == ProfilePlace::Timeline && !view.search.query.is_empty();
                is_shown.then(|| (view.search.query.clone(), view.search.syntax))
            };
            opened.session.view.with(of)
        });
        let window =
            Memo::new(move |_| opened.session.view.with(|view| view.window_in(opened.times.reach.get())));
        let question = Memo::new(move |_| {
            let (text, syntax) = query.get()?;
            let width_px = opened.times.tracks_size.get().width_px;
            // Nothing is drawn before the timeline has its width.
            let scale = (width_px >= 1.0).then(|| TimeScale { window: window.get(), width_px })?;
            Some(LightKey { text, syntax, sources: opened.sources(), of: LitSpan::around(&scale) })
        });
        let asked = QuestionAnswers::new(question, move |key, cancel| light_of(opened, key, cancel));
        let shown = Memo::new(move |before: Option<&Option<Arc<Light>>>| {
            query.with(Option::is_some).then_some(())?;
            match asked.answer() {
                // Without a hit, nothing would stand out.
                Some(Ok(light)) => Some(light).filter(|light| light.has_any()),
                _ => before.cloned().flatten(),
            }
        });
        Self { shown, overview: overview_of(opened, query), in_window: count_in(opened, query, window) }
    }
}

/// The light of all ranks. A rank for which the query means nothing is dark.
async fn light_of(opened: Opened, key: LightKey, cancel: AbortSignal) -> Result<Light, FetchError> {
    let LightKey { text, syntax, sources, of } = key;
    let (mut ranks, mut failure) = (Vec::new(), None);
    for source in sources {
        match ask(opened, source, text.clone(), syntax, of, cancel.clone()).await {
            Ok(answer) => ranks.push((source, RankLight::of(&answer))),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if ranks.is_empty() => Err(error),
        _ => Ok(Light::of(ranks)),
    }
}

/// The hits of the current rank over all time.
fn overview_of(opened: Opened, query: Memo<Option<(String, Syntax)>>) -> Memo<Option<String>> {
    let question = Memo::new(move |_| {
        Some((opened.current.source.get()?, query.get()?, widest(opened.times.whole.get())))
    });
    let asked = QuestionAnswers::new(question, move |(source, (text, syntax), span): CountKey, cancel| {
        ask(opened, source, text, syntax, LitSpan { span, cells: OVERVIEW_CELLS }, cancel)
    });
    Memo::new(move |_| {
        let (of, answer) = asked.last.get()?;
        let is_asked = question.with(|asked| asked.as_ref().is_some_and(|asked| asked.0 == of.0));
        is_asked.then(|| answer.ok()).flatten().map(|answer| RankLight::of(&answer).outline())
    })
}

/// A rank, a query and a span.
type CountKey = (SourceId, (String, Syntax), Interval);

async fn ask(
    opened: Opened,
    source: SourceId,
    text: String,
    syntax: Syntax,
    of: LitSpan,
    cancel: AbortSignal,
) -> Result<SearchLight, FetchError> {
    let LitSpan { span, cells } = of;
    let zero_ps = opened.times.zero.get_untracked().0;
    opened.ask(source, LightQuestion { text, syntax, zero_ps, span, cells }, Some(&cancel)).await
}

/// The number of hits of the current rank in the window, once the window rests.
fn count_in(
    opened: Opened,
    query: Memo<Option<(String, Syntax)>>,
    window: Memo<Interval>,
) -> Memo<Option<u64>> {
    let calm = rested(window);
    let question = Memo::new(move |_| Some((opened.current.source.get()?, query.get()?, calm.get())));
    let asked = QuestionAnswers::new(question, move |(source, (text, syntax), span): CountKey, cancel| {
        ask(opened, source, text, syntax, LitSpan { span, cells: 0 }, cancel)
    });
    // A number of another window would be wrong.
    Memo::new(move |_| {
        let (of, answer) = asked.last.get()?;
        (Some(&of) == question.get().as_ref() && of.2 == window.get()).then_some(answer.ok()?.in_span)
    })
}

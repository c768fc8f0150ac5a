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
use crate::view::light::{Light, LitSpan, RankLight, RankLights, WHOLE_CELLS};
use crate::view::source_id::SourceId;
use crate::view::time::window::widest;
use crate::view::{ProfilePlace, TimeScale, View};

/// The light of a search.
#[derive(Clone, Copy)]
pub struct SearchLights {
    /// The places of the hits. While the query is wrong, those of the last one stay.
    pub shown: Memo<Option<Arc<Light>>>,
    /// The places of the hits of the current rank in the overview, as a path of SVG over
    /// [`WHOLE_CELLS`] parts.
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
        let near = QuestionAnswers::new(question, move |key, cancel| lights_of(opened, key, cancel));
        let of_whole = Memo::new(move |_| {
            let ((text, syntax), span) = (query.get()?, widest(opened.times.whole.get()));
            let of = LitSpan { span, cells: WHOLE_CELLS };
            Some(LightKey { text, syntax, sources: opened.sources(), of })
        });
        let whole = QuestionAnswers::new(of_whole, move |key, cancel| lights_of(opened, key, cancel));
        // Answers about another query would light other slices.
        let known = move |asked: QuestionAnswers<LightKey, RankLights>| {
            let asks = |of: &LightKey| {
                query.with(|query| query.as_ref().is_some_and(|(text, syntax)| of.is_about(text, *syntax)))
            };
            asked.last.get().filter(|(of, _)| asks(of)).and_then(|(_, answer)| answer.ok())
        };
        let shown = Memo::new(move |before: Option<&Option<Arc<Light>>>| {
            query.with(Option::is_some).then_some(())?;
            match (known(near), known(whole)) {
                (None, None) => before.cloned().flatten(),
                (near, whole) => Light::of(near, whole).map(Arc::new),
            }
        });
        let overview = Memo::new(move |_| {
            let lights = known(whole)?;
            Some(lights.get(&opened.current.source.get()?)?.outline())
        });
        Self { shown, overview, in_window: count_in(opened, query, window) }
    }
}

impl LightKey {
    fn is_about(&self, text: &str, syntax: Syntax) -> bool {
        self.text == text && self.syntax == syntax
    }
}

/// The light of all ranks. A rank for which the query means nothing is dark.
async fn lights_of(opened: Opened, key: LightKey, cancel: AbortSignal) -> Result<RankLights, FetchError> {
    let LightKey { text, syntax, sources, of } = key;
    let (mut ranks, mut failure) = (RankLights::new(), None);
    for source in sources {
        match ask(opened, source, text.clone(), syntax, of, cancel.clone()).await {
            Ok(answer) => {
                ranks.insert(source, RankLight::of(&answer));
            }
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if ranks.is_empty() => Err(error),
        _ => Ok(ranks),
    }
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

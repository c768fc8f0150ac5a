//! Light on the hits of the search, in all ranks that the timeline shows. It is asked for again when
//! the window leaves what is known, or gets so small that more can be told apart.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::questions::LightQuestion;
use web_sys::AbortSignal;

use crate::fetch::FetchError;
use crate::ui::controls::rested;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;
use crate::view::light::{Light, LitSpan, RankLight};
use crate::view::source_id::SourceId;
use crate::view::{ProfilePlace, TimeScale};

/// The light of a search.
#[derive(Clone, Copy)]
pub struct SearchLights {
    /// Where the hits are. While the query is wrong, those of the last one stay.
    pub shown: Memo<Option<Arc<Light>>>,
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
            let of = |view: &crate::view::View| {
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
                Some(Ok(light)) => Some(light),
                _ => before.cloned().flatten(),
            }
        });
        Self { shown, in_window: count_in(opened, query, window) }
    }
}

/// The light of all ranks. A rank for which the query means nothing is dark.
async fn light_of(opened: Opened, key: LightKey, cancel: AbortSignal) -> Result<Light, FetchError> {
    let LightKey { text, syntax, sources, of: LitSpan { span, cells } } = key;
    let zero_ps = opened.times.zero.get_untracked().0;
    let (mut ranks, mut failure) = (Vec::new(), None);
    for source in sources {
        let question = LightQuestion { text: text.clone(), syntax, zero_ps, span, cells };
        match opened.ask(source, question, Some(&cancel)).await {
            Ok(answer) => ranks.push((source, RankLight::of(&answer))),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if ranks.is_empty() => Err(error),
        _ => Ok(Light::of(ranks)),
    }
}

/// The number of hits of the current rank in the window, once the window rests.
fn count_in(
    opened: Opened,
    query: Memo<Option<(String, Syntax)>>,
    window: Memo<Interval>,
) -> Memo<Option<u64>> {
    let calm = rested(window);
    let question = Memo::new(move |_| Some((opened.current.source.get()?, query.get()?, calm.get())));
    let asked = QuestionAnswers::new(
        question,
        move |(source, (text, syntax), span): (SourceId, (String, Syntax), Interval), cancel| async move {
            let zero_ps = opened.times.zero.get_untracked().0;
            let question = LightQuestion { text, syntax, zero_ps, span, cells: 0 };
            opened.ask(source, question, Some(&cancel)).await
        },
    );
    // A number of another window would be wrong.
    Memo::new(move |_| {
        let (of, answer) = asked.last.get()?;
        (Some(&of) == question.get().as_ref() && of.2 == window.get()).then_some(answer.ok()?.in_span)
    })
}

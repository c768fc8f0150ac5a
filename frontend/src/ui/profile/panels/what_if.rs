//! Changes of the run: those that would shorten it most, and the one that the user tries. The run
//! under the chosen one is drawn below the recorded one.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::questions::{PredictedTracksQuestion, WhatIfQuestion, WhatIfSweepQuestion};
use nprof_engine::wire::what_if::{WhatIf, WhatIfSweep};

use super::run_answer::{RunAnswerWords, run_answer};
use crate::ui::controls::rested;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::run_pair::{PairedPlace, paired_timelines};
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::edit_choice::edit_words;

/// Changes that are listed.
const SHOWN: usize = 40;

/// Changes of the run of the current rank's profile.
#[component]
pub fn WhatIfPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let profile = opened.run_name();
    let question = Memo::new(move |_| profile.get().map(|profile| WhatIfSweepQuestion::about(&profile)));
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    let answer = Memo::new(move |_| asked.answer());
    let words =
        RunAnswerWords { pending: "The replays of the run are", failed: "The changes did not arrive" };
    move || {
        run_answer(opened, words, answer.get(), asked.retry, |swept| {
            view! { <Changes opened swept /> }.into_any()
        })
    }
}

/// The list of changes and the run under the chosen one.
#[component]
fn Changes(opened: Opened, swept: Arc<WhatIfSweep>) -> impl IntoView {
    let saves = |of: &&WhatIf| of.saving_ps.middle > 0;
    let saving: Vec<WhatIf> = swept.sweep.iter().filter(saves).cloned().collect();
    let others = swept.total.saturating_sub(saving.len().min(SHOWN) as u64);
    let first = saving.first().map(edits_of);
    let known = StoredValue::new(saving);
    let chosen = Memo::new(move |_| opened.tried.predicted.get().or_else(|| first.clone()));
    // The answer about a change that the sweep does not have.
    let profile = opened.run_name();
    let own = Memo::new(move |_| {
        let edits = opened.tried.predicted.get()?;
        let is_known = known.with_value(|known| known.iter().take(SHOWN).any(|of| edits_of(of) == edits));
        let profile = profile.get().filter(|_| !is_known)?;
        Some(WhatIfQuestion { profile, edits })
    });
    let own = QuestionAnswers::new(own, move |question, cancel| opened.ask_store(question, cancel));
    let own = Memo::new(move |_| own.answer().and_then(Result::ok));
    let answer = move || {
        let edits = chosen.get()?;
        let swept = known.with_value(|known| known.iter().find(|of| edits_of(of) == edits).cloned());
        swept.or_else(|| own.get().map(|of| WhatIf::clone(&of))).map(|of| of.answer)
    };
    let nothing = "None of the changes that were tried shortens the run.".to_owned();
    let rows = move || {
        let own = own.get().map(|of| WhatIf::clone(&of));
        let swept = known.with_value(|known| known.iter().take(SHOWN).cloned().collect::<Vec<_>>());
        own.into_iter().chain(swept).map(|of| view! { <ChangeRow opened of chosen /> }).collect_view()
    };
    let rest = (others > 0).then(|| {
        let others = format::counted(others, "other change", "other changes");
        view! { <li class="muted">{format!("{others} of {} save less or nothing", swept.total)}</li> }
    });
    view! {
        <article class="what-if-panel" aria-label="What if">
            <h2 class="run-answer" aria-live="polite">{move || answer().unwrap_or_else(|| nothing.clone())}</h2>
            <ol class="what-if-changes" aria-label="Changes, the largest saving first" tabindex="0">
                {rows} {rest}
            </ol>
            <Predicted opened chosen />
        </article>
    }
}

/// A change with the time that it saves. A press draws the run under it.
#[component]
fn ChangeRow(opened: Opened, of: WhatIf, chosen: Memo<Option<String>>) -> impl IntoView {
    let edits = edits_of(&of);
    let words = of.edits.iter().map(|edit| edit_words(edit)).collect::<Vec<_>>().join(", ");
    let is_chosen = {
        let edits = edits.clone();
        Memo::new(move |_| chosen.with(|chosen| chosen.as_deref() == Some(&edits)))
    };
    let choose = move |_| opened.tried.predicted.set(Some(edits.clone()));
    view! {
        <li>
            <button
                type="button"
                class="what-if-change"
                aria-pressed=move || is_chosen.get().to_string()
                title=of.answer.clone()
                on:click=choose
            >
                <b class="number">{signed_time(of.saving_ps.middle.saturating_neg())}</b>
                <span>{words}</span>
            </button>
        </li>
    }
}

/// The tracks of the rank as recorded and under the chosen change, in what the timeline shows.
#[component]
fn Predicted(opened: Opened, chosen: Memo<Option<String>>) -> impl IntoView {
    let profile = opened.run_name();
    let span = Memo::new(move |_| {
        let reach = opened.times.reach.get();
        let window = opened.session.view.with(|view| view.window_in(reach));
        let is_part = window.start > reach.whole.start || window.end < reach.whole.end;
        opened.path.times.with(|times| times.of_page(window).filter(|_| is_part))
    });
    let span = rested(span);
    let question = Memo::new(move |_| {
        let rank = opened.rank_of_run()?;
        Some(PredictedTracksQuestion {
            profile: profile.get()?,
            edits: chosen.get()?,
            rank,
            span: span.get(),
        })
    });
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    let has_change = Memo::new(move |_| chosen.with(Option::is_some));
    move || has_change.get().then(|| paired_timelines(opened, PairedPlace::Prediction, asked))
}

/// The edits of a prediction, as a question has them.
fn edits_of(of: &WhatIf) -> String {
    of.edits.join("\n")
}

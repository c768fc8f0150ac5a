//! The findings about the run: the answer, the savings, and the way to the places.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::sentence;
use nprof_engine::wire::findings::{FindingEntry, Findings, RuleState, SeverityEntry};
use wasm_bindgen::JsCast;

use super::pending_answer::PendingAnswer;
use crate::ui::controls::{Failure, own_element};
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::finding_place::FindingPlace;
use crate::view::run_times::RunTimes;

/// The findings of the profile of the current rank.
#[component]
pub fn FindingsPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let profile = Memo::new(move |_| opened.current.source.get().map(|source| source.profile));
    let asked = QuestionAnswers::new(profile, move |profile, cancel| opened.findings(profile, cancel));
    let answer = Memo::new(move |_| asked.last.get().filter(|(of, _)| Some(*of) == profile.get()));
    move || match answer.get() {
        None => view! { <PendingAnswer opened what="The findings are" /> }.into_any(),
        Some((_, Err(error))) => {
            let reason = error.to_string();
            view! { <Failure title="The findings did not arrive" reason on_retry=asked.retry /> }.into_any()
        }
        Some((_, Ok(found))) if found.recorded_ps.is_none() => {
            view! { <p class="panel-empty findings-answer">{found.answer.clone()}</p> }.into_any()
        }
        Some((profile, Ok(found))) => view! { <AnswerOfRules opened profile found /> }.into_any(),
    }
}

/// Steps of the user through the list.
#[derive(Clone, Copy)]
struct FindingSteps {
    /// The finding that has the focus, or had it last.
    current: RwSignal<usize>,
    /// The finding whose place is shown.
    followed: RwSignal<Option<usize>>,
}

#[component]
fn AnswerOfRules(opened: Opened, profile: u8, found: Arc<Findings>) -> impl IntoView {
    let times = Memo::new(move |_| opened.run_times(profile));
    let steps = FindingSteps { current: RwSignal::new(0), followed: RwSignal::new(None) };
    let length_ps = found.recorded_ps.unwrap_or(0);
    let mut advised: Vec<&str> = Vec::new();
    let rows = found.in_state(RuleState::Found).enumerate().map(|(at, entry)| {
        let is_first = !advised.contains(&entry.rule.as_str());
        advised.push(&entry.rule);
        let advice = entry.advice.clone().filter(|_| is_first);
        view! { <FindingRow opened times entry=entry.clone() advice length_ps at steps /> }
    });
    let rows = rows.collect_view();
    let left_out = found.total - found.findings.len() as u64;
    let more = (left_out > 0).then(|| {
        let text = format::counted(left_out, "more finding", "more findings");
        view! { <p>{text}"; `nprof findings --limit all` shows them"</p> }
    });
    let rest = found.rest().into_iter().map(|line| view! { <p>{line}</p> }).collect_view();
    view! {
        <article class="findings" aria-label="Findings">
            <h2 class="findings-answer">{found.answer.clone()}</h2>
            <ol class="findings-list" aria-label="Findings" on:keydown=move |event| walk(&event, steps.current)>
                {rows}
            </ol>
            <footer class="findings-rest">{more} {rest}</footer>
        </article>
    }
}

/// Moves the focus to another finding.
fn walk(event: &KeyboardEvent, current: RwSignal<usize>) {
    let Some(list) = own_element::<web_sys::Element>(event) else { return };
    let last = (list.child_element_count() as usize).saturating_sub(1);
    let at = current.get_untracked();
    let next = match event.key().as_str() {
        "ArrowDown" => (at + 1).min(last),
        "ArrowUp" => at.saturating_sub(1),
        "Home" => 0,
        "End" => last,
        _ => return,
    };
    event.prevent_default();
    // The timeline also uses the arrow keys.
    event.stop_propagation();
    current.set(next);
    let button = list.query_selector_all(".finding").ok().and_then(|all| all.item(next as u32));
    if let Some(button) = button.and_then(|button| button.dyn_into::<web_sys::HtmlElement>().ok()) {
        button.focus().ok();
    }
}

#[component]
fn FindingRow(
    opened: Opened,
    times: Memo<RunTimes>,
    entry: FindingEntry,
    advice: Option<String>,
    length_ps: i64,
    at: usize,
    steps: FindingSteps,
) -> impl IntoView {
    let has_place = times.with_untracked(|times| FindingPlace::of(&entry, times).is_some());
    let entry = StoredValue::new(entry);
    let place = move || entry.with_value(|entry| times.with(|times| place_words(opened, times, entry)));
    let go = move |_| {
        steps.followed.set(has_place.then_some(at));
        opened.reveal_finding(&entry.get_value(), &times.get_untracked());
    };
    let FindingEntry { rule, text, title, severity, saving_ps, .. } = entry.get_value();
    let (severity, word) = severity_words(severity);
    let saving = saving_ps.map(|of| view! { <Saving ps=of.middle.max(0) length_ps /> });
    let advice = advice.map(|advice| view! { <small class="finding-advice">"→ " {advice}</small> });
    view! {
        <li>
            <button
                class="finding"
                type="button"
                title=title
                data-severity=severity
                aria-disabled=(!has_place).then_some("true")
                aria-current=move || (steps.followed.get() == Some(at)).then_some("true")
                tabindex=move || if steps.current.get() == at { "0" } else { "-1" }
                on:click=go
                on:focus=move |_| steps.current.set(at)
            >
                <span class="finding-saving">{saving}</span>
                <span class="finding-body">
                    <span class="finding-text">
                        <span class="unseen">{word}</span>
                        <b>{rule}</b>
                        ": "
                        {text}
                    </span>
                    <small class="finding-place">{place}</small>
                    {advice}
                </span>
            </button>
        </li>
    }
}

/// The bounds of the saving and the place, on the clock of the page.
fn place_words(opened: Opened, times: &RunTimes, entry: &FindingEntry) -> String {
    let bounds = entry.saving_ps.map(|saving| sentence::between(&Bracket::from(saving)));
    let time = |ps| opened.times.clock.with(|clock| clock.text(times.shown(entry.rank, ps)));
    let place = sentence::place(&entry.place(), time);
    [bounds, place].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The saving of a finding, in time and as a share of the run.
#[component]
fn Saving(ps: i64, length_ps: i64) -> impl IntoView {
    let share = (ps as f64 / (length_ps as f64).max(1.0)).clamp(0.0, 1.0);
    view! {
        <b class="number">{short_duration(ps as f64)}</b>
        <small class="number">{sentence::of_run(ps, length_ps)}</small>
        <span class="finding-share" style:--share=share.to_string()></span>
    }
}

/// The name of a severity for the style sheet, and what a screen reader says.
fn severity_words(of: Option<SeverityEntry>) -> (&'static str, &'static str) {
    match of {
        Some(SeverityEntry::High) => ("high", "High: "),
        Some(SeverityEntry::Medium) => ("medium", "Medium: "),
        Some(SeverityEntry::Low) => ("low", "Low: "),
        Some(SeverityEntry::Note) | None => ("note", "Note: "),
    }
}

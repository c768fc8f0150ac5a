//! A list of findings: what each one costs, and the way to its place.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::sentence;
use nprof_engine::wire::findings::SeverityEntry;
use wasm_bindgen::JsCast;

use super::lit::{Lit, Looked};
use super::open_profile::{Opened, ShownFinding};
use crate::ui::controls::{Prose, own_element};
use crate::view::Command;
use crate::view::finding_place::FindingPlace;
use crate::view::state::mute::{MuteChange, key};
use crate::view::summary::lit_place::LitPlace;

/// The findings that are not muted, the largest saving first.
#[component]
pub fn FindingList(
    /// The opened profile.
    opened: Opened,
    /// Length of the run in picoseconds.
    length_ps: i64,
    /// Most findings.
    #[prop(optional, into)]
    most: Option<usize>,
) -> impl IntoView {
    // The finding that has the focus, or had it last.
    let current = RwSignal::new(0);
    let rows = move || {
        let shown = opened.findings.shown.get();
        let mut advised: Vec<String> = Vec::new();
        let rows =
            shown.into_iter().take(most.unwrap_or(usize::MAX)).enumerate().map(|(position, finding)| {
                let is_first = !advised.contains(&finding.entry.rule);
                advised.push(finding.entry.rule.clone());
                let advice = finding.entry.advice.clone().filter(|_| is_first);
                view! { <FindingRow opened finding advice length_ps position current /> }
            });
        rows.collect_view()
    };
    view! {
        <ol class="findings-list" aria-label="Findings" on:keydown=move |event| walk(&event, current)>
            {rows}
        </ol>
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
    finding: ShownFinding,
    advice: Option<String>,
    length_ps: i64,
    position: usize,
    current: RwSignal<usize>,
) -> impl IntoView {
    let has_place = finding.place.is_some();
    let looked = looked_at(&finding);
    let at = finding.at;
    let entry = finding.entry.clone();
    let (severity, word) = severity_words(entry.severity);
    let saving = entry.saving_ps.map(|of| view! { <Saving ps=of.middle.max(0) length_ps /> });
    let advice =
        advice.map(|advice| view! { <small class="finding-advice">"→ " <Prose text=advice /></small> });
    let (one, rule) = (key(&entry), entry.rule.clone());
    let why = opened.why_late(&entry).map(|[usual, late]| {
        let title = format!("Compares rank {late} with rank {usual}, which does the same as usual");
        let compare = move |_| opened.compare_ranks(usual, late);
        view! { <button type="button" class="button-link" title=title on:click=compare>"why"</button> }
    });
    let finding = StoredValue::new(finding);
    let place = move || finding.with_value(|finding| place_words(opened, finding));
    let go = move |_| finding.with_value(|finding| opened.reveal_finding(finding));
    view! {
        <li>
            <button
                class="finding"
                type="button"
                title=entry.title
                data-severity=severity
                aria-disabled=(!has_place).then_some("true")
                aria-current=move || (opened.findings.followed.get() == Some(at)).then_some("true")
                tabindex=move || if current.get() == position { "0" } else { "-1" }
                on:click=go
                on:focus=move |_| { current.set(position); looked.enter(); }
                on:blur=move |_| looked.leave()
                on:pointerenter=move |_| looked.enter()
                on:pointerleave=move |_| looked.leave()
            >
                <span class="finding-saving">{saving}</span>
                <span class="finding-body">
                    <span class="finding-text">
                        <span class="unseen">{word}</span>
                        <b>{entry.rule}</b>
                        ": "
                        <Prose text=entry.text />
                    </span>
                    <small class="finding-place">{place}</small>
                    {advice}
                </span>
            </button>
            <span class="finding-mute">
                {why}
                <MuteButtons opened one rule />
            </span>
        </li>
    }
}

/// Lights up the spans of a finding while it is looked at.
fn looked_at(finding: &ShownFinding) -> Looked {
    let spans: Vec<Interval> = finding.place.iter().flat_map(FindingPlace::spans).collect();
    Lit::follow((!spans.is_empty()).then_some(LitPlace::Spans(spans)))
}

/// Mutes a finding, or all of its rule.
#[component]
fn MuteButtons(opened: Opened, one: String, rule: String) -> impl IntoView {
    let mute = move |name: String| move |_| opened.act(&Command::Mute(MuteChange::Mute(name.clone())));
    let all = format!("all {rule}");
    view! {
        <button type="button" class="button-link" title="Do not show this finding any more" on:click=mute(one)>"mute"</button>
        <button type="button" class="button-link" title="Do not show findings of this rule any more" on:click=mute(rule)>{all}</button>
    }
}

/// The bounds of the saving and the place, on the clock of the page.
fn place_words(opened: Opened, finding: &ShownFinding) -> String {
    let entry = &finding.entry;
    let bounds = entry.saving_ps.map(|saving| sentence::between(&Bracket::from(saving)));
    let time = |ps| {
        let shown_ps = opened.findings.times.with(|times| times.shown(entry.rank, ps));
        opened.times.clock.with(|clock| clock.text(shown_ps))
    };
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

/// Says how many findings are muted, and shows them again.
#[component]
pub fn MutedCount(
    /// The opened profile.
    opened: Opened,
    /// Number of findings that there are.
    found: usize,
) -> impl IntoView {
    let muted = move || {
        let muted = found.saturating_sub(opened.findings.shown.with(Vec::len));
        (muted > 0).then(|| {
            let show = move |_| opened.act(&Command::Mute(MuteChange::Clear));
            view! {
                <p>
                    {format!("{muted} muted; ")}
                    <button type="button" class="button-link" on:click=show>"show them again"</button>
                </p>
            }
        })
    };
    view! { {muted} }
}

//! Findings that came or went between the first two profiles of the page.

use leptos::prelude::*;
use nprof_engine::wire::finding_changes::{ChangeKind, FindingChange, MOST_EVENTS_UNASKED, finding_changes};
use nprof_engine::wire::questions::FindingsQuestion;

use crate::ui::controls::Prose;
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::QuestionAnswers;

/// The changes of findings from the first to the second profile. Nothing while they are not known.
#[component]
pub fn ComparedFindings(
    /// The opened profiles.
    opened: Opened,
) -> impl IntoView {
    let is_wanted = RwSignal::new(false);
    let is_large = Memo::new(move |_| {
        let of = |at: usize| {
            opened.session.profiles.with(|profiles| {
                let all = profiles.as_ref()?.as_ref().ok()?;
                Some(all.get(at)?.entry.events)
            })
        };
        of(0).zip(of(1)).is_none_or(|(a, b)| a.saturating_add(b) > MOST_EVENTS_UNASKED)
    });
    let asked = move |at: u8| {
        let question = Memo::new(move |_| {
            let is_asked = is_wanted.get() || !is_large.get();
            opened.names().at(at).filter(|_| is_asked).map(FindingsQuestion::about)
        });
        QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel))
    };
    let (a, b) = (asked(0), asked(1));
    let changes = Memo::new(move |_| {
        let (a, b) = (a.answer()?.ok()?, b.answer()?.ok()?);
        Some(finding_changes(&a, &b))
    });
    move || match changes.get() {
        Some(changes) if changes.is_empty() => {
            view! { <p class="muted">"Both runs have the same findings."</p> }.into_any()
        }
        Some(changes) => {
            let rows = changes.into_iter().map(|change| view! { <Change change /> }).collect_view();
            view! { <ul class="compare-findings" aria-label="Findings that changed">{rows}</ul> }.into_any()
        }
        None if is_large.get() && !is_wanted.get() => {
            let ask = move |_| is_wanted.set(true);
            view! {
                <p><button type="button" class="button-link" on:click=ask>"Compare the findings, too"</button></p>
            }
            .into_any()
        }
        None => ().into_any(),
    }
}

#[component]
fn Change(change: FindingChange) -> impl IntoView {
    let (word, cost) = (change.kind.word(), change.cost());
    let FindingChange { rule, kind, a_ps, b_ps, text } = change;
    let direction = if b_ps > a_ps || kind == ChangeKind::Came { "worse" } else { "better" };
    let title = text.clone();
    view! {
        <li data-direction=direction title=title>
            <b>{word}</b>
            <span>{rule}</span>
            <span class="number">{cost}</span>
            <span class="muted compare-finding-text"><Prose text /></span>
        </li>
    }
}

//! The notice over the timeline after a way to a finding: what it is about, and the way on.

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;

use super::open_profile::{Opened, ShownFinding};
use crate::ui::controls::{CloseButton, Prose};
use crate::view::Act;
use crate::view::ring::{Walk, step};

impl Opened {
    /// Goes to the place of the next or previous finding, as soon as the findings are known.
    /// Returns false if there is none.
    pub fn step_to_finding(self, walk: Walk) -> bool {
        if untrack(|| self.findings.known()).is_none() {
            self.findings.sought.set(Some(walk));
            return true;
        }
        let places = untrack(|| self.findings.shown.get());
        let places: Vec<ShownFinding> = places.into_iter().filter(|one| one.place.is_some()).collect();
        let followed = self.findings.followed.get_untracked();
        let now = followed.and_then(|at| places.iter().position(|one| one.at == at));
        let next = step(now, places.len(), walk).and_then(|at| places.get(at));
        next.into_iter().for_each(|finding| self.reveal_finding(finding));
        next.is_some()
    }
}

/// The state of findings that the user asked for before they were known. Shows the first one as
/// soon as it is there.
#[component]
pub fn SoughtFinding(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let (findings, message) = (opened.findings, RwSignal::new(None));
    Effect::new(move |_| {
        let Some(walk) = findings.sought.get() else { return };
        let (found, error) = match findings.last() {
            None => return message.set(Some("Looking for findings…".to_owned())),
            Some((_, Ok(found))) => (Some(found), None),
            Some((_, Err(error))) => (None, Some(error.to_string())),
        };
        findings.sought.set(None);
        let is_shown = found.is_some() && opened.step_to_finding(walk);
        let answer = found.map(|found| found.answer.clone());
        message.set((!is_shown).then(|| error.or(answer)).flatten());
    });
    move || {
        message.get().map(|text| {
            view! {
                <div class="timeline-part timeline-followed" role="status">
                    <span class="followed-text">{text}</span>
                    <CloseButton label="Close the notice about findings" on_close=move |()| message.set(None) />
                </div>
            }
        })
    }
}

/// Names the finding that the user followed, with the next and the previous one.
#[component]
pub fn FindingNotice(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let followed = Memo::new(move |_| {
        let at = opened.findings.followed.get()?;
        opened.findings.shown.get().into_iter().find(|one| one.at == at)
    });
    let count =
        move || opened.findings.shown.with(|all| all.iter().filter(|one| one.place.is_some()).count());
    move || {
        followed.get().map(|ShownFinding { entry, place, .. }| {
            let title = entry.text.clone();
            let saved = entry.saved_ps().map(|ps| format!("{} · ", short_duration(ps as f64)));
            let next = move |_| {
                opened.step_to_finding(Walk::Forward);
            };
            let previous = move |_| {
                opened.step_to_finding(Walk::Backward);
            };
            let steps = (count() > 1).then(|| {
                view! {
                    <button type="button" class="button" title=Act::PreviousOperation.titled("Previous finding") on:click=previous>"Previous"</button>
                    <button type="button" class="button" title=Act::NextOperation.titled("Next finding") on:click=next>"Next"</button>
                }
            });
            let back = opened.findings.left.get_untracked().map(|view| {
                let go = move |_| {
                    opened.findings.followed.set(None);
                    opened.open_view(view.clone());
                };
                view! { <button type="button" class="button" title="Back to the view before the first of these findings" on:click=go>"Back"</button> }
            });
            let why = opened.why_late(&entry).map(|[usual, late]| {
                let title = format!("Compares rank {late} with rank {usual}, which does the same as usual");
                let compare = move |_| opened.compare_ranks(usual, late);
                view! { <button type="button" class="button" title=title on:click=compare>"Why"</button> }
            });
            let span = place.and_then(|place| place.span).filter(|_| opened.can_name_regions());
            let rule = entry.rule.clone();
            let keep = span.map(|span| {
                let keep = move |_| opened.name_region(opened.regions.free_name(&rule), span);
                view! { <button type="button" class="button" title="Keeps the span of the finding under a name, with the regions" on:click=keep>"Keep as region"</button> }
            });
            view! {
                <div class="timeline-part timeline-followed" role="status">
                    <span class="followed-text" title=title>{saved} <b>{entry.rule}</b>": "<Prose text=entry.text /></span>
                    {why}
                    {keep}
                    {steps}
                    {back}
                    <CloseButton label="Close the notice about the finding" on_close=move |()| opened.findings.followed.set(None) />
                </div>
            }
        })
    }
}

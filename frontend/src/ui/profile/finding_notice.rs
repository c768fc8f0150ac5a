//! The notice over the timeline after a way to a finding: what it is about, and the way on.

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;

use super::open_profile::{Opened, ShownFinding};
use crate::ui::controls::CloseButton;
use crate::view::Act;
use crate::view::ring::{Walk, step};

impl Opened {
    /// Goes to the place of the next or previous finding. Returns false if there is none.
    pub fn step_to_finding(self, walk: Walk) -> bool {
        let places = untrack(|| self.findings.shown.get());
        let places: Vec<ShownFinding> = places.into_iter().filter(|one| one.place.is_some()).collect();
        let followed = self.findings.followed.get_untracked();
        let now = followed.and_then(|at| places.iter().position(|one| one.at == at));
        let next = step(now, places.len(), walk).and_then(|at| places.get(at));
        next.into_iter().for_each(|finding| self.reveal_finding(finding));
        next.is_some()
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
        followed.get().map(|ShownFinding { entry, .. }| {
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
            let why = opened.why_late(&entry).map(|[usual, late]| {
                let title = format!("Compares rank {late} with rank {usual}, which does the same as usual");
                let compare = move |_| opened.compare_ranks(usual, late);
                view! { <button type="button" class="button" title=title on:click=compare>"Why"</button> }
            });
            view! {
                <div class="timeline-part timeline-followed" role="status">
                    <span class="followed-text" title=title>{saved} <b>{entry.rule}</b>": "{entry.text}</span>
                    {why}
                    {steps}
                    <CloseButton label="Close the notice about the finding" on_close=move |()| opened.findings.followed.set(None) />
                </div>
            }
        })
    }
}

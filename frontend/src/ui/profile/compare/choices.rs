//! The choices of a comparison: the subject of rows, the part of each run, and the way to the
//! swapped pair.

use leptos::prelude::*;
use nprof_engine::insight::difference::WorkKey;

use super::run_part::{RunPart, RunSide};
use crate::ui::profile::open_profile::Opened;
use crate::view::state::compare::CompareChange;
use crate::view::{Act, Command};

#[component]
pub(super) fn CompareChoices(
    /// The opened profiles.
    opened: Opened,
) -> impl IntoView {
    let by = Memo::new(move |_| opened.session.view.with(|view| view.compare.by));
    let option = move |key: WorkKey| {
        view! {
            <option value=key.name() prop:selected=move || by.get() == key>
                {key.title()}
            </option>
        }
    };
    let choose = move |event| {
        let key = WorkKey::from_name(&event_target_value(&event));
        key.into_iter().for_each(|key| opened.act(&Command::Compare(CompareChange::By(key))));
    };
    let swap = move |_| {
        opened.swap_runs();
    };
    view! {
        <div class="compare-tools">
            <RunPart opened side=RunSide::A />
            <RunPart opened side=RunSide::B />
            <label>
                "By "
                <select class="select" aria-label="What a row is about" on:change=choose>
                    {WorkKey::WORDS.map(|(_, key)| option(key)).collect_view()}
                </select>
            </label>
            <button class="button" type="button" title=Act::SwapRuns.titled("The second run becomes the first one") on:click=swap>
                "Swap A and B"
            </button>
        </div>
    }
}

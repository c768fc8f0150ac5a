//! A slider for the time that the work of the selected slice takes, and the length that the run
//! would have then.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use nprof_engine::wire::questions::{EditSubjectsQuestion, WhatIfQuestion};
use nprof_engine::wire::what_if::{EditSubjects, WhatIf};

use crate::fetch::FetchError;
use crate::ui::controls::{Glyph, Icon};
use crate::ui::profile::open_profile::{Opened, TriedEdit};
use crate::ui::shell::{Messages, QuestionAnswers, clipboard};
use crate::view::edit_choice::{EditChoice, EditedSlice, PERCENT, command};

/// The section of the details.
#[component]
pub fn WhatIfSection(
    /// The opened profile.
    opened: Opened,
    /// The slice.
    slice: EditedSlice,
    /// The change that the user tries.
    state: TriedEdit,
) -> impl IntoView {
    let begin = move |_| state.is_asked.set(true);
    move || match state.is_asked.get() {
        true => view! { <Subjects opened slice state /> }.into_any(),
        false => view! {
            <section class="group what-if">
                <h3>"What if"</h3>
                <button class="button" type="button" on:click=begin>
                    "Replay the run with another duration"
                </button>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Subjects(opened: Opened, slice: EditedSlice, state: TriedEdit) -> impl IntoView {
    let profile = opened.run_name();
    let EditedSlice { rank, row } = slice;
    let question =
        Memo::new(move |_| profile.get().map(|profile| EditSubjectsQuestion { profile, rank, row }));
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    let content = move || match asked.answer() {
        None => view! { <p class="what-if-wait" role="status">"The graph of the run is being made …"</p> }
            .into_any(),
        Some(Err(error)) => view! { <Refused error retry=asked.retry /> }.into_any(),
        Some(Ok(found)) => view! { <Choices opened found state /> }.into_any(),
    };
    let node = NodeRef::<html::Section>::new();
    Effect::new(move |_| {
        // The menu of a slice leads here.
        if let (true, Some(section)) = (state.is_wanted.get(), node.get()) {
            section.scroll_into_view();
            state.is_wanted.set(false);
        }
    });
    view! {
        <section class="group what-if" aria-label="What if" node_ref=node>
            <h3>"What if"</h3>
            {content}
        </section>
    }
}

#[component]
fn Choices(opened: Opened, found: Arc<EditSubjects>, state: TriedEdit) -> impl IntoView {
    let choices = EditChoice::of(&found.subjects);
    if choices.is_empty() {
        return view! { <p class="muted">"Nothing of this slice is replayed."</p> }.into_any();
    }
    let choices = StoredValue::new(choices);
    let at = Memo::new(move |_| {
        let alike = |last: &EditChoice| choices.with_value(|choices| last.alike(choices));
        state.choice.with(|last| last.as_ref().and_then(alike)).unwrap_or(0)
    });
    let choice = Memo::new(move |_| choices.with_value(|choices| choices[at.get()].clone()));
    let options = choices.with_value(|choices| {
        choices.iter().map(EditChoice::words).enumerate().map(|(number, words)| {
        view! { <option value=number.to_string() prop:selected=move || at.get() == number>{words}</option> }
    }).collect_view()
    });
    let choose = move |event| {
        let number = event_target_value(&event).parse().unwrap_or(0);
        state.choice.set(choices.with_value(|choices| choices.get(number).cloned()));
    };
    let slide = move |event| state.percent.set(event_target_value(&event).parse().unwrap_or(PERCENT.first));
    // The timeline also uses these keys.
    let keep = |event: KeyboardEvent| event.stop_propagation();
    let is_share = move || choice.with(|choice| matches!(choice, EditChoice::Share(_)));
    view! {
        <select class="select" aria-label="Work that changes" on:change=choose on:keydown=keep>
            {options}
        </select>
        <label class="what-if-share" hidden=move || !is_share()>
            <span>"takes " <b class="number">{move || state.percent.get()} " %"</b> " of its time"</span>
            <input
                type="range"
                min=PERCENT.least
                max=PERCENT.most
                step=PERCENT.step
                prop:value=move || state.percent.get()
                on:input=slide
                on:keydown=keep
            />
        </label>
        <Answer opened edit=Memo::new(move |_| choice.with(|choice| choice.edit(state.percent.get()))) />
    }
    .into_any()
}

#[component]
fn Answer(opened: Opened, edit: Memo<String>) -> impl IntoView {
    let messages = expect_context::<Messages>();
    let profile = opened.run_name();
    let question =
        Memo::new(move |_| profile.get().map(|profile| WhatIfQuestion { profile, edits: edit.get() }));
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    let is_old = move || asked.last.with(|last| last.as_ref().map(|(of, _)| of) != question.get().as_ref());
    let answer = move || match asked.answer() {
        None => ().into_any(),
        Some(Err(error)) => view! { <Refused error retry=asked.retry /> }.into_any(),
        Some(Ok(found)) => said(&found).into_any(),
    };
    let copy = move |_| {
        let text = command(&profile.get_untracked().unwrap_or_default(), &edit.get_untracked());
        clipboard::copy(text, "The command", None, messages);
    };
    view! {
        <div class="what-if-answer" aria-live="polite" aria-busy=move || is_old().to_string()>
            {answer}
        </div>
        <div class="what-if-buttons">
            <button
                class="button"
                type="button"
                title="The tracks under this change, below the recorded ones"
                on:click=move |_| opened.show_predicted(edit.get_untracked())
            >
                "Show the predicted run"
            </button>
            <button class="button" type="button" title="The command that gives this answer" on:click=copy>
                <Icon glyph=Glyph::Copy />
                "Copy the command"
            </button>
        </div>
    }
}

fn said(found: &WhatIf) -> impl IntoView + use<> {
    let rest = found.fidelity.iter().map(|line| view! { <small class="muted">{line.clone()}</small> });
    view! {
        <p>{found.answer.clone()}</p>
        {rest.collect_view()}
    }
}

/// The reason of a refusal. A page without a server says what to run instead.
#[component]
fn Refused(error: FetchError, retry: Callback<()>) -> impl IntoView {
    let again = error.is_temporary().then(|| {
        view! { <button class="button" type="button" on:click=move |_| retry.run(())>"Try again"</button> }
    });
    view! {
        <p class="muted">{error.to_string()}</p>
        {again}
    }
}

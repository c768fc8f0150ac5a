//! All details of the selected slice.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use nprof_engine::makers::job::schema::CallRow;
use nprof_engine::wire::detail::{FieldContent, FieldValue, Neighbour, SliceDetail};

use super::field::{self, FieldGroup};
use super::members::{Members, OperationActions};
use super::reading::ReadingDetails;
use super::what_if::WhatIfSection;
use crate::ui::controls::{Explained, Failure, Glyph, Icon, Loading, Name};
use crate::ui::profile::open_profile::Opened;
use crate::ui::shell::{Messages, clipboard};
use crate::ui::text::format::{self, FormattedValue};
use crate::ui::text::label::{explanation, known_label};
use crate::view::edit_choice::EditedSlice;

/// Limit of listed arrows. A collective can have thousands.
const MOST_NEIGHBOURS: usize = 200;

/// The details of the selected slice.
#[component]
pub fn Details(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let is_selected = Memo::new(move |_| opened.session.view.with(|view| view.selection.row.is_some()));
    let is_read = Memo::new(move |_| opened.session.view.with(|view| view.selection.reading.is_some()));
    move || {
        match opened.current.slice.get() {
        _ if is_read.get() => view! { <ReadingDetails opened /> }.into_any(),
        _ if !is_selected.get() => {
            view! { <p class="panel-empty">"Click a slice or a counter in the timeline to see everything about it."</p> }.into_any()
        }
        None => view! { <Loading what="Loading details …" /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure title="The details did not arrive" reason=error.to_string() on_retry=opened.session.retry /> }.into_any()
        }
        Some(Ok(detail)) => view! { <DetailsOf opened detail /> }.into_any(),
    }
    }
}

#[component]
fn DetailsOf(opened: Opened, detail: Arc<SliceDetail>) -> impl IntoView {
    let slice = &detail.slice;
    let track = opened.track_title(slice.track);
    let form = field::form_name(slice.form).map(|form| view! { <span class="chip">{form}</span> });
    let (timing, others): (Vec<_>, Vec<_>) =
        field::grouped(&detail.fields).into_iter().partition(|group| group.title == field::TIMING);
    let timing = timing
        .into_iter()
        .flat_map(|group| group.fields)
        .map(|field| view! { <Row heading=field::TIMING.to_owned() field /> })
        .collect_view();
    let groups = others.into_iter().map(|group| view! { <Group group /> }).collect_view();
    let is_of_all = opened.current.source.get_untracked().is_some_and(|source| source.rank.is_all());
    // Between ranks an arrow leads from a wait to the call that ended it.
    let (before, after) = match is_of_all {
        true => ("Waits for this call", "Waits for"),
        false => ("Depends on", "Needed by"),
    };
    let in_rank = is_of_all.then(|| in_rank(opened, &detail)).flatten();
    let edited =
        edited(opened, &detail).map(|slice| view! { <WhatIfSection opened slice state=opened.tried /> });
    let copy = copy_all(opened, detail.clone(), track);
    view! {
        <article aria-label="Details">
            <header class="details-head">
                <div>
                    <h2><Name name=slice.name.clone() /> " " {form}</h2>
                    <p>{track}</p>
                </div>
                <div class="details-actions">
                    <OperationActions opened detail=detail.clone() />
                    {in_rank}
                    <button class="button" type="button" on:click=copy>
                        <Icon glyph=Glyph::Copy />
                        "Copy all"
                    </button>
                </div>
            </header>
            <div class="groups">
                <section class="group">
                    <h3>{field::TIMING}</h3>
                    <dl class="rows">
                        <Moment opened name="Start" time_ps=slice.start_ps />
                        <Time name="Duration" shown=format::shown_duration(slice.duration_ps) />
                        <Moment opened name="End" time_ps=field::end_ps(slice) />
                        {timing}
                    </dl>
                </section>
                <Members opened members=detail.members.clone() />
                {edited}
                {groups}
                <Neighbours opened title=before neighbours=detail.predecessors.clone() />
                <Neighbours opened title=after neighbours=detail.successors.clone() />
            </div>
        </article>
    }
}

/// Copies all fields of a slice.
fn copy_all(opened: Opened, detail: Arc<SliceDetail>, track: Signal<String>) -> impl Fn(MouseEvent) {
    let messages = expect_context::<Messages>();
    move |_| {
        let zero_ps = opened.times.zero.get_untracked().0;
        let text = field::as_text(&detail, &track.get_untracked(), zero_ps);
        clipboard::copy(text, "All fields", None, messages);
    }
}

/// The slice of a rank whose work an edit changes: this one, or the call that it stands for.
pub fn edited(opened: Opened, detail: &SliceDetail) -> Option<EditedSlice> {
    let of = opened.current.source.get_untracked()?.rank;
    let own = of.number().map(|rank| (rank, detail.slice.row));
    own.or_else(|| call_of(detail)).map(|(rank, row)| EditedSlice { rank, row })
}

/// The button that opens the call that a slice of all ranks stands for.
fn in_rank(opened: Opened, detail: &SliceDetail) -> Option<AnyView> {
    let (rank, row) = call_of(detail)?;
    let button = view! {
        <button class="button" type="button" on:click=move |_| opened.reveal_in(opened.beside(rank), row)>
            {format!("Open in rank {rank}")}
        </button>
    };
    Some(button.into_any())
}

/// The rank and row of the call that a slice of all ranks stands for.
pub fn call_of(detail: &SliceDetail) -> Option<(u32, u32)> {
    let call = CallRow::by(|field| match detail.fields.iter().find(|own| own.name == field.name)?.value {
        FieldContent::Int(number) => u32::try_from(number).ok(),
        _ => None,
    });
    Some((call.rank?, call.row?))
}

/// A timestamp since the profile's start: with the digits of the window, and in full.
#[component]
fn Moment(opened: Opened, name: &'static str, time_ps: i64) -> impl IntoView {
    let clock = opened.times.clock;
    let text = move || clock.with(|clock| clock.text(time_ps));
    let exact = move || clock.with(|clock| format::exact_ns(clock.since_zero(time_ps)));
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{text} "  " <span class="muted">{exact}</span></dd>
        </div>
    }
}

/// A duration in both forms, because the short form alone hides digits that matter here.
#[component]
fn Time(name: &'static str, shown: FormattedValue) -> impl IntoView {
    let FormattedValue { text, exact } = shown;
    let exact = exact.map(|exact| view! { <span class="muted">{exact}</span> });
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{text} "  " {exact}</dd>
        </div>
    }
}

#[component]
fn Group(group: FieldGroup) -> impl IntoView {
    let heading = group.title.clone();
    let rows =
        group.fields.into_iter().map(|field| view! { <Row heading=heading.clone() field /> }).collect_view();
    view! {
        <section class="group">
            <h3>{group.title}</h3>
            <dl class="rows">{rows}</dl>
        </section>
    }
}

#[component]
fn Row(heading: String, field: FieldValue) -> impl IntoView {
    let FormattedValue { text, exact } = format::value(&field.value, &field.unit);
    let value = match (&field.value, exact) {
        (FieldContent::Json(_), _) => view! { <pre>{text}</pre> }.into_any(),
        (_, Some(exact)) => view! { <Explained text doc=exact /> }.into_any(),
        (_, None) => text.into_any(),
    };
    let label = match known_label(&heading, &field.name, &field.doc) {
        Some(text) => view! { <Explained text doc=explanation(&field.name, &field.doc) /> }.into_any(),
        None => view! { <code>{field.name.clone()}</code> }.into_any(),
    };
    view! {
        <div>
            <dt>{label}</dt>
            <dd>{value}</dd>
        </div>
    }
}

/// The other ends of arrows, as links.
#[component]
fn Neighbours(opened: Opened, title: &'static str, neighbours: Vec<Neighbour>) -> impl IntoView {
    if neighbours.is_empty() {
        return ().into_any();
    }
    let count = neighbours.len();
    let more = count.saturating_sub(MOST_NEIGHBOURS);
    let more = (more > 0)
        .then(|| view! { <li class="muted">{format!("and {} more", format::count(more as u64))}</li> });
    let links = neighbours
        .into_iter()
        .take(MOST_NEIGHBOURS)
        .map(|neighbour| view! { <Link opened neighbour /> })
        .collect_view();
    view! {
        <section class="group">
            <h3>{title} " (" {format::count(count as u64)} ")"</h3>
            <ul class="neighbours">{links} {more}</ul>
        </section>
    }
    .into_any()
}

#[component]
fn Link(opened: Opened, neighbour: Neighbour) -> impl IntoView {
    let Neighbour { flow, slice } = neighbour;
    let track = opened.track_title(slice.track);
    let (name, duration) = (slice.name.clone(), format::duration(slice.duration_ps));
    let title = move || if flow.is_empty() { track.get() } else { format!("{flow} · {}", track.get()) };
    view! {
        <li>
            <button class="button-link" type="button" title=title on:click=move |_| opened.reveal(&slice)>
                <Name name />
                <span class="muted">" · " {track}</span>
            </button>
            <span class="number muted">{duration}</span>
        </li>
    }
}

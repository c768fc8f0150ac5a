//! Details of a counter: its value at a timestamp, and its values over the visible window.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::questions::CounterQuestion;

use super::counter_lines::{Quantity, at, over};
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::open_profile::{Answer, Opened};
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format::FormattedValue;
use crate::view::Reading;
use crate::view::source_id::SourceId;

/// A counter of a rank at a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counter {
    source: SourceId,
    /// Number of the track.
    number: u32,
    time_ps: i64,
}

impl Counter {
    /// The counter of a reading in the current rank. `None` while the rank is unknown, and if it
    /// has no such counter.
    fn of(opened: Opened, reading: &Reading) -> Option<Self> {
        let source = opened.tracks.current.get();
        let number = opened.tracks.sheet.with(|sheet| {
            let at = sheet.find(source, &reading.track)?;
            sheet.tracks()[at].number
        })?;
        Some(Self { source, number, time_ps: reading.time_ps })
    }
}

/// Details of the counter that the user clicked.
#[component]
pub fn ReadingDetails(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let wanted = Memo::new(move |_| {
        let reach = opened.times.reach.get();
        let (reading, window) =
            opened.session.view.with(|view| (view.selection.reading.clone(), view.window_in(reach)));
        Some((Counter::of(opened, &reading?)?, window))
    });
    let asked =
        QuestionAnswers::new(wanted, move |(counter, window): (Counter, Interval), signal| async move {
            let question = CounterQuestion { track: counter.number, at_ps: counter.time_ps, span: window };
            opened.ask(counter.source, question, Some(&signal)).await
        });
    // While the window moves, the last answer stays until the next one arrives. The answer of
    // another counter does not stay.
    let answer = move || -> Answer<(Counter, Interval, Arc<CounterDetail>)> {
        let (counter, _) = wanted.get()?;
        let ((of, window), answer) = asked.last.get()?;
        (of == counter).then(|| answer.map(|detail| Arc::new((of, window, detail))))
    };
    let is_unknown = move || {
        let is_here = opened.current.rank.with(|answer| matches!(answer, Some(Ok(_))));
        is_here && wanted.with(Option::is_none)
    };
    move || {
        match answer() {
        None if is_unknown() => {
            view! { <p class="panel-empty">"This rank has no such counter."</p> }.into_any()
        }
        None => view! { <Loading what="Reading the counter …" /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure title="The counter was not read" reason=error.to_string() on_retry=asked.retry /> }
                .into_any()
        }
        Some(Ok(answer)) => {
            let (counter, window, detail) = &*answer;
            view! { <Read opened counter=*counter window=*window detail=detail.clone() /> }.into_any()
        }
    }
    }
}

#[component]
fn Read(opened: Opened, counter: Counter, window: Interval, detail: Arc<CounterDetail>) -> impl IntoView {
    let sheet = opened.tracks.sheet.get_untracked();
    let track = sheet.track(counter.source, counter.number);
    let name = track.map_or_else(String::new, |track| track.name.clone());
    let unit = track.map_or_else(String::new, |track| track.unit.clone());
    let group = track.and_then(|track| track.parent);
    let group = group.map_or_else(String::new, |group| sheet.title(group));
    let over = over(&detail, &unit, window);
    let shown_name = name.clone();
    let rows = move || {
        let of = Quantity { name: &shown_name, unit: &unit };
        let rows = opened.times.clock.with(|clock| at(&detail, counter.time_ps, of, clock));
        rows.into_iter().map(|(name, shown)| view! { <Row name shown /> }).collect_view()
    };
    let over = over.into_iter().map(|(name, shown)| view! { <Row name shown /> }).collect_view();
    view! {
        <article aria-label="Details">
            <header class="details-head">
                <div>
                    <h2>{name}</h2>
                    <p>{group}</p>
                </div>
            </header>
            <div class="groups">
                <section class="group">
                    <h3>"At this moment"</h3>
                    <dl class="rows">{rows}</dl>
                </section>
                <section class="group">
                    <h3>"In the window"</h3>
                    <dl class="rows">{over}</dl>
                </section>
            </div>
        </article>
    }
}

#[component]
fn Row(name: &'static str, shown: FormattedValue) -> impl IntoView {
    let exact = shown.exact.map(|exact| view! { <span class="muted">{exact}</span> });
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{shown.text} "  " {exact}</dd>
        </div>
    }
}

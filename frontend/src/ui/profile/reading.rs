//! Details of a counter: its value at a timestamp, and its values over the visible window.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::detail::FieldContent;

use super::field;
use super::latest::{Latest, last_answer};
use super::opened::{Answer, Opened};
use crate::ui::failure::{Failure, Loading};
use crate::ui::format::{self, Shown};
use crate::view::{Clock, Reading};

/// Details of the counter that the user clicked.
#[component]
pub fn ReadingDetails(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let attempt = RwSignal::new(0_u32);
    let wanted = Memo::new(move |_| {
        let rank = opened.rank_number.get()?;
        let (reading, window) = opened.view.with(|view| (view.reading, view.window_in(opened.reach.get())));
        Some((rank, reading?, window))
    });
    let latest = Latest::new(wanted);
    let resource = LocalResource::new(move || {
        attempt.track();
        let wanted = wanted.get();
        let signal = latest.begin(wanted);
        async move {
            let ((rank, reading, window), signal) = (wanted?, signal?);
            let answer = opened.ask(rank).counter(reading, window, &signal).await;
            Some(((rank, reading, window), answer.map(Arc::new)))
        }
    });
    let last = last_answer(resource);
    // While the window moves, the last answer stays until the next one arrives. The answer of
    // another counter does not stay.
    let answer = move || -> Answer<(Reading, Interval, Arc<CounterDetail>)> {
        let (rank, reading, _) = wanted.get()?;
        let ((of_rank, of, window), answer) = last.get()?;
        (of_rank == rank && of == reading).then(|| answer.map(|detail| Arc::new((of, window, detail))))
    };
    let retry = Callback::new(move |()| attempt.update(|attempt| *attempt += 1));
    // The answer can arrive before the rank, which names the counter.
    move || match answer().zip(opened.rank_detail()) {
        None => view! { <Loading what="Reading the counter …" /> }.into_any(),
        Some((Err(error), _)) => {
            view! { <Failure title="The counter was not read" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        Some((Ok(answer), rank)) => {
            let (reading, window, detail) = &*answer;
            view! { <Read opened rank reading=*reading window=*window detail=detail.clone() /> }.into_any()
        }
    }
}

#[component]
fn Read(
    opened: Opened,
    rank: Arc<RankDetail>,
    reading: Reading,
    window: Interval,
    detail: Arc<CounterDetail>,
) -> impl IntoView {
    let track = rank.tracks.iter().find(|track| track.id == reading.track);
    let name = track.map_or_else(String::new, |track| track.name.clone());
    let unit = track.map_or_else(String::new, |track| track.unit.clone());
    let group = track.and_then(|track| track.parent);
    let group = group.map_or_else(String::new, |group| field::track_path(&rank.tracks, group));
    let over = over(&detail, &unit, window);
    let rows = move || {
        let rows = opened.clock.with(|clock| at(&detail, reading, &unit, clock));
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
fn Row(name: &'static str, shown: Shown) -> impl IntoView {
    let exact = shown.exact.map(|exact| view! { <span class="muted">{exact}</span> });
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{shown.text} "  " {exact}</dd>
        </div>
    }
}

type Line = (&'static str, Shown);

fn value(value: f64, unit: &str) -> Shown {
    format::value(&FieldContent::Float(value), unit)
}

/// The value at the timestamp, and its origin.
fn at(detail: &CounterDetail, reading: Reading, unit: &str, clock: &Clock) -> Vec<Line> {
    let mut lines = vec![("Moment", Shown::plain(clock.text(reading.time_ps)))];
    let Some(sample) = detail.sample else {
        lines.push(("Value", Shown::plain("none: the first sample comes later".to_owned())));
        return lines;
    };
    lines.push(("Value", value(sample.value, unit)));
    lines.push(("Since", Shown::plain(clock.text(sample.time_ps))));
    if let Some(before) = detail.before {
        let change = sample.value - before.value;
        let Shown { text, exact } = value(change, unit);
        let sign = if change > 0.0 { "+" } else { "" };
        lines.push(("Change", Shown { text: format!("{sign}{text}"), exact }));
        lines.push(("Before", value(before.value, unit)));
    }
    lines
}

/// The values over the window.
fn over(detail: &CounterDetail, unit: &str, window: Interval) -> Vec<Line> {
    let mut lines = vec![("Duration", Shown::plain(format::duration(window.duration_ps())))];
    match detail.span {
        Some(span) => lines.extend([
            ("Smallest", value(span.min, unit)),
            ("Mean", value(span.mean, unit)),
            ("Largest", value(span.max, unit)),
            ("Samples", Shown::plain(format::count(span.samples))),
        ]),
        None => lines.push(("Values", Shown::plain("none".to_owned()))),
    }
    lines
}

//! Details of a counter: its value at a timestamp, and its values over the visible window.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_S;
use nprof_engine::wire::counter::{CounterDetail, CounterSample};
use nprof_engine::wire::detail::FieldContent;

use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::opened::{Answer, Opened};
use crate::ui::shell::Asked;
use crate::ui::text::format::{self, Shown};
use crate::view::rows::sheet_track::SourceId;
use crate::view::{Clock, Reading};

/// A counter of a rank at a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counter {
    rank: u32,
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
        Some(Self { rank: source.0, number, time_ps: reading.time_ps })
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
            opened.view.with(|view| (view.selection.reading.clone(), view.window_in(reach)));
        Some((Counter::of(opened, &reading?)?, window))
    });
    let asked = Asked::new(wanted, move |(counter, window): (Counter, Interval), signal| async move {
        let at = (counter.number, counter.time_ps);
        opened.ask(counter.rank).counter(at, window, &signal).await
    });
    // While the window moves, the last answer stays until the next one arrives. The answer of
    // another counter does not stay.
    let answer = move || -> Answer<(Counter, Interval, Arc<CounterDetail>)> {
        let (counter, _) = wanted.get()?;
        let ((of, window), answer) = asked.last.get()?;
        (of == counter).then(|| answer.map(|detail| Arc::new((of, window, detail))))
    };
    let is_unknown = move || {
        let is_here = opened.rank.with(|answer| matches!(answer, Some(Ok(_))));
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
    let track = sheet.track(SourceId(counter.rank), counter.number);
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

/// A value that is computed from samples. Its last digits are those of the computation, so only the
/// rounded value is shown.
fn computed(number: f64, unit: &str) -> Shown {
    Shown::plain(value(number, unit).text)
}

/// A difference with its sign. It is no id, so a large one has commas.
fn signed(difference: f64, unit: &str) -> Shown {
    /// Above this, floats are not exact as integers.
    const MOST_EXACT: f64 = (1_u64 << 53) as f64;
    let sign = if difference > 0.0 { "+" } else { "" };
    let unit = if unit.is_empty() { "count" } else { unit };
    let content = match difference.fract() == 0.0 && difference.abs() <= MOST_EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range")]
        true => FieldContent::Int(difference as i64),
        false => FieldContent::Float(difference),
    };
    Shown::plain(format!("{sign}{}", format::value(&content, unit).text))
}

/// Change per second from one sample to the next, if time passes between them.
fn rate(before: CounterSample, sample: CounterSample) -> Option<f64> {
    let seconds = sample.time_ps.checked_sub(before.time_ps)? as f64 / PS_PER_S as f64;
    (seconds > 0.0).then(|| (sample.value - before.value) / seconds)
}

/// Words in names of counters without a unit whose values are rates or shares already.
const RATES: [&str; 10] = [
    "rate",
    "rates",
    "persec",
    "throughput",
    "bandwidth",
    "utilization",
    "utilisation",
    "percent",
    "frequency",
    "hz",
];

/// A rate with its unit. `None` for counters of rates, shares, powers and other quantities whose
/// change per second means nothing.
fn shown_rate(rate: f64, name: &str, unit: &str) -> Option<Shown> {
    let name = name.to_lowercase();
    let mut words = name.split(|sign: char| !sign.is_alphanumeric());
    let is_rate = name.contains("/s") || name.contains("per sec") || words.any(|word| RATES.contains(&word));
    let is_plain = match unit {
        "B" => return Some(signed(rate, "B/s")),
        "count" | "FLOP" | "cycles" => true,
        "" => !is_rate,
        _ => false,
    };
    is_plain.then(|| Shown::plain(format!("{}/s", signed(rate, unit).text)))
}

/// What a counter counts.
#[derive(Debug, Clone, Copy)]
struct Quantity<'a> {
    name: &'a str,
    unit: &'a str,
}

/// The value at the timestamp, and its origin.
fn at(detail: &CounterDetail, time_ps: i64, of: Quantity<'_>, clock: &Clock) -> Vec<Line> {
    let Quantity { name, unit } = of;
    let mut lines = vec![("Moment", Shown::plain(clock.text(time_ps)))];
    let Some(sample) = detail.sample else {
        lines.push(("Value", Shown::plain("none: the first sample comes later".to_owned())));
        return lines;
    };
    lines.push(("Value", value(sample.value, unit)));
    lines.push(("Since", Shown::plain(clock.text(sample.time_ps))));
    if let Some(before) = detail.before {
        lines.push(("Change", signed(sample.value - before.value, unit)));
        let rate = rate(before, sample).and_then(|rate| shown_rate(rate, name, unit));
        lines.extend(rate.map(|rate| ("Change per second", rate)));
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
            ("Mean", computed(span.mean, unit)),
            ("Largest", value(span.max, unit)),
            ("Samples", Shown::plain(format::count(span.samples))),
        ]),
        None => lines.push(("Values", Shown::plain("none".to_owned()))),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_signs_and_commas() {
        assert_eq!(signed(1_541_894.0, "").text, "+1,541,894");
        assert_eq!(signed(-3.5, "").text, "−3.5");
        assert_eq!(signed(2.0e6, "B").text, "+1.91 MiB");
    }

    #[test]
    fn a_rate_is_the_change_over_the_time_between_samples() {
        let sample = |time_ps, value| CounterSample { time_ps, value };
        // 6 more within 3 µs.
        assert_eq!(rate(sample(1_000_000, 2.0), sample(4_000_000, 8.0)), Some(2e6));
        assert_eq!(rate(sample(0, 8.0), sample(PS_PER_S, 2.0)), Some(-6.0));
        assert_eq!(rate(sample(5, 1.0), sample(5, 2.0)), None, "no time passes");
    }

    #[test]
    fn a_rate_has_its_own_unit_and_rates_have_none() {
        let text = |name, unit| shown_rate(2e6, name, unit).map(|shown| shown.text);
        assert_eq!(text("HBM usage", "B").as_deref(), Some("+2 MB/s"));
        assert_eq!(text("Pending DMAs", "count").as_deref(), Some("+2,000,000/s"));
        assert_eq!(text("Requests", "").as_deref(), Some("+2,000,000/s"));
        for (name, unit) in [
            ("DMA throughput", "B/s"),
            ("SBUF usage", "ratio"),
            ("Power", "W"),
            ("Disk MB/s", ""),
            ("Clock", "Hz"),
        ] {
            assert_eq!(text(name, unit), None, "{name}");
        }
    }

    #[test]
    fn computed_values_show_no_digits_of_the_computation() {
        let change = signed(0.895 - 1.0, "ratio");
        assert_eq!((change.text.as_str(), change.exact), ("−10.5 %", None));
    }
}

//! Lines of the details of a counter: its value at a timestamp, and its values over the visible
//! window. Pure.

use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_S;
use nprof_engine::wire::counter::{CounterDetail, CounterSample};
use nprof_engine::wire::detail::FieldContent;

use crate::ui::text::format::{self, FormattedValue};
use crate::view::Clock;

/// A name and its value.
pub type ValueLine = (&'static str, FormattedValue);

fn value(value: f64, unit: &str) -> FormattedValue {
    format::value(&FieldContent::Float(value), unit)
}

/// A value that is computed from samples. Its last digits are those of the computation, so only the
/// rounded value is shown.
fn computed(number: f64, unit: &str) -> FormattedValue {
    FormattedValue::plain(value(number, unit).text)
}

/// A difference with its sign. It is no id, so a large one has commas.
fn signed(difference: f64, unit: &str) -> FormattedValue {
    /// Above this, floats are not exact as integers.
    const MOST_EXACT: f64 = (1_u64 << 53) as f64;
    let sign = if difference > 0.0 { "+" } else { "" };
    let unit = if unit.is_empty() { "count" } else { unit };
    let content = match difference.fract() == 0.0 && difference.abs() <= MOST_EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range")]
        true => FieldContent::Int(difference as i64),
        false => FieldContent::Float(difference),
    };
    FormattedValue::plain(format!("{sign}{}", format::value(&content, unit).text))
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
fn shown_rate(rate: f64, name: &str, unit: &str) -> Option<FormattedValue> {
    let name = name.to_lowercase();
    let mut words = name.split(|sign: char| !sign.is_alphanumeric());
    let is_rate = name.contains("/s") || name.contains("per sec") || words.any(|word| RATES.contains(&word));
    let is_plain = match unit {
        "B" => return Some(signed(rate, "B/s")),
        "count" | "FLOP" | "cycles" => true,
        "" => !is_rate,
        _ => false,
    };
    is_plain.then(|| FormattedValue::plain(format!("{}/s", signed(rate, unit).text)))
}

/// Subject of a counter.
#[derive(Debug, Clone, Copy)]
pub struct Quantity<'a> {
    /// Name of the counter.
    pub name: &'a str,
    /// Unit of its values.
    pub unit: &'a str,
}

/// The value at the timestamp, and its origin.
#[must_use]
pub fn at(detail: &CounterDetail, time_ps: i64, of: Quantity<'_>, clock: &Clock) -> Vec<ValueLine> {
    let Quantity { name, unit } = of;
    let mut lines = vec![("Moment", FormattedValue::plain(clock.text(time_ps)))];
    let Some(sample) = detail.sample else {
        lines.push(("Value", FormattedValue::plain("none: the first sample comes later".to_owned())));
        return lines;
    };
    lines.push(("Value", value(sample.value, unit)));
    lines.push(("Since", FormattedValue::plain(clock.text(sample.time_ps))));
    if let Some(before) = detail.before {
        lines.push(("Change", signed(sample.value - before.value, unit)));
        let rate = rate(before, sample).and_then(|rate| shown_rate(rate, name, unit));
        lines.extend(rate.map(|rate| ("Change per second", rate)));
        lines.push(("Before", value(before.value, unit)));
    }
    lines
}

/// The values over the window.
#[must_use]
pub fn over(detail: &CounterDetail, unit: &str, window: Interval) -> Vec<ValueLine> {
    let mut lines = vec![("Duration", FormattedValue::plain(format::duration(window.duration_ps())))];
    match detail.span {
        Some(span) => lines.extend([
            ("Smallest", value(span.min, unit)),
            ("Mean", computed(span.mean, unit)),
            ("Largest", value(span.max, unit)),
            ("Samples", FormattedValue::plain(format::count(span.samples))),
        ]),
        None => lines.push(("Values", FormattedValue::plain("none".to_owned()))),
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

//! Metrics for people: values with units as people write them, in aligned columns.

use indicatif::{BinaryBytes, HumanCount};
use nprof_engine::base::time::{short_duration, three_digits};
use nprof_engine::metrics::trace::{DEVICE_TIME, TOTAL_TIME};
use nprof_engine::model::Unit;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry, Summary};
use unicode_width::UnicodeWidthStr as _;

use super::fit::{cut, fitted};
use super::text::{LINE_WIDTH, share};

/// End of the keys of groups about devices.
const OF_DEVICES: &str = "_device";
/// Widest value beside a name.
const VALUE_WIDTH: usize = 48;

/// The groups of a rank, each under its heading, in lines of at most [`LINE_WIDTH`] columns.
#[must_use]
pub fn groups(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for group in summary.groups.iter().filter(|group| !group.metrics.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let whole = WholeTime::of(group, summary);
        lines.push(cut(&format!("{}{}", group.title, whole.map_or("", |whole| whole.words)), LINE_WIDTH));
        lines.extend(rows(group, whole, usize::MAX));
    }
    lines
}

/// The time that the times of a group are parts of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WholeTime {
    seconds: f64,
    words: &'static str,
}

impl WholeTime {
    /// That of a group of times by names of the trace. `None` for other groups.
    #[must_use]
    pub fn of(group: &MetricGroupEntry, summary: &Summary) -> Option<Self> {
        let is_time = |metric: &MetricEntry| metric.unit == Unit::Seconds.symbol();
        if !group.has_names_of_trace || !group.metrics.iter().all(is_time) {
            return None;
        }
        let named = |name: &str| {
            let own = summary.groups.iter().filter(|group| !group.has_names_of_trace);
            let value = &own.flat_map(|group| &group.metrics).find(|metric| metric.name == name)?.value;
            if let FieldContent::Float(seconds) = value { Some(*seconds) } else { None }
        };
        let (name, words) = match group.key.ends_with(OF_DEVICES) {
            true => (DEVICE_TIME, ", share of the device time"),
            false => (TOTAL_TIME, ", share of the total time"),
        };
        named(name).filter(|seconds| *seconds > 0.0).map(|seconds| Self { seconds, words })
    }
}

/// The first metrics of a group: names on the left, cut where they differ, and values beside them.
#[must_use]
pub fn rows(group: &MetricGroupEntry, whole: Option<WholeTime>, most: usize) -> Vec<String> {
    let value = |metric: &MetricEntry| match (&metric.value, whole) {
        (FieldContent::Float(seconds), Some(whole)) => {
            format!("{} {:>9}", value(metric), format!("({})", share(*seconds, whole.seconds)))
        }
        _ => value(metric),
    };
    let metrics = &group.metrics[..group.metrics.len().min(most)];
    let values: Vec<String> = metrics.iter().map(|metric| cut(&value(metric), VALUE_WIDTH)).collect();
    let widest = values.iter().map(|value| value.width()).max().unwrap_or(0);
    let numbers = metrics.iter().zip(&values).filter(|(metric, _)| is_number(metric));
    let number_width = numbers.map(|(_, value)| value.width()).max().unwrap_or(0);
    // Two columns before the name, and two behind it.
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let names = fitted(&names, LINE_WIDTH - widest - 4);
    let name_width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let rows = metrics.iter().zip(names).zip(values).map(|((metric, name), value)| {
        let gap = " ".repeat(name_width - name.width());
        let before = " ".repeat(if is_number(metric) { number_width - value.width() } else { 0 });
        format!("  {name}{gap}  {before}{value}")
    });
    rows.collect()
}

fn is_number(metric: &MetricEntry) -> bool {
    matches!(metric.value, FieldContent::Int(_) | FieldContent::Uint(_) | FieldContent::Float(_))
}

/// The value of a metric with its unit.
#[must_use]
pub fn value(metric: &MetricEntry) -> String {
    shown(&metric.value, &metric.unit)
}

/// A value with the unit that has this symbol.
#[must_use]
pub fn shown(value: &FieldContent, unit: &str) -> String {
    let number = match value {
        // Numbers of things have all their digits.
        FieldContent::Int(number) if unit.is_empty() => return number.to_string(),
        FieldContent::Uint(number) if unit.is_empty() => return number.to_string(),
        FieldContent::Int(number) => *number as f64,
        FieldContent::Uint(number) => *number as f64,
        FieldContent::Float(number) => *number,
        FieldContent::Bool(truth) => return if *truth { "yes" } else { "no" }.to_owned(),
        FieldContent::Text(text) | FieldContent::Json(text) => return text.clone(),
    };
    let Some(known) = Unit::ALL.into_iter().find(|known| known.symbol() == unit) else {
        return format!("{} {unit}", plain(number));
    };
    match known {
        Unit::Picoseconds => short_duration(number),
        Unit::Nanoseconds => short_duration(number * 1e3),
        Unit::Seconds => short_duration(number * 1e12),
        Unit::Ratio => share(number, 1.0),
        Unit::Bytes if is_whole(number) => BinaryBytes(number as u64).to_string(),
        Unit::Hexadecimal if is_whole(number) => format!("{:#x}", number as u64),
        Unit::Count | Unit::None | Unit::Hexadecimal => plain(number),
        Unit::Bytes | Unit::Cycles => format!("{} {unit}", plain(number)),
        Unit::BytesPerSecond | Unit::Hertz | Unit::Flops | Unit::FlopsPerSecond => with_prefix(number, unit),
        Unit::Watts => format!("{} W", three_digits(number)),
    }
}

fn is_whole(number: f64) -> bool {
    number >= 0.0 && number.fract() == 0.0
}

/// A number with commas, or with three digits if it has a fraction.
fn plain(number: f64) -> String {
    match number {
        number if is_whole(number) => HumanCount(number as u64).to_string(),
        number if !number.is_finite() || number.fract() == 0.0 => number.to_string(),
        // Three digits of a number below one are not all zeros.
        number if number.abs() < 0.1 => format!("{number:.2e}"),
        number => three_digits(number),
    }
}

/// A quantity in thousands, millions and so on, with three digits.
fn with_prefix(number: f64, symbol: &str) -> String {
    const PREFIXES: [(f64, &str); 6] =
        [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    match PREFIXES.into_iter().find(|(unit, _)| number.abs() >= *unit) {
        Some((unit, prefix)) if unit > 1.0 => format!("{} {prefix}{symbol}", three_digits(number / unit)),
        _ => format!("{} {symbol}", plain(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str, value: FieldContent, unit: Unit) -> MetricEntry {
        let unit = unit.symbol().to_owned();
        MetricEntry { name: name.to_owned(), value, unit, doc: String::new(), place: None }
    }

    #[track_caller]
    fn check(number: f64, unit: Unit, expected: &str) {
        assert_eq!(value(&metric("", FieldContent::Float(number), unit)), expected);
    }

    #[test]
    fn values_have_the_units_that_people_write() {
        check(0.012_4, Unit::Seconds, "12.4 ms");
        check(0.059_066_853_212_049_15, Unit::Ratio, "5.9 %");
        check(4_194_304.0, Unit::Bytes, "4.00 MiB");
        check(1.4e9, Unit::Hertz, "1.40 GHz");
        check(2.5e12, Unit::Flops, "2.50 TFLOP");
        check(12.3e9, Unit::BytesPerSecond, "12.3 GB/s");
        check(16_800.0, Unit::Cycles, "16,800 cycles");
        check(33.87, Unit::Watts, "33.9 W");
        check(1_234.0, Unit::Count, "1,234");
        check(0.002_5, Unit::None, "2.50e-3");
        check(255.0, Unit::Hexadecimal, "0xff");
        check(f64::NAN, Unit::Count, "NaN");
        check(-3.0, Unit::Count, "-3");
        assert_eq!(value(&metric("", FieldContent::Bool(true), Unit::None)), "yes");
        assert_eq!(
            value(&MetricEntry { unit: "°C".to_owned(), ..metric("", FieldContent::Int(40), Unit::None) }),
            "40 °C"
        );
    }

    #[test]
    fn times_by_name_have_their_share() {
        let of = |key: &str, has_names_of_trace: bool, metrics: Vec<MetricEntry>| {
            let key = key.to_owned();
            MetricGroupEntry { title: key.clone(), key, has_names_of_trace, metrics }
        };
        let time = |name: &str, seconds: f64| metric(name, FieldContent::Float(seconds), Unit::Seconds);
        let groups_of = vec![
            of("all", false, vec![time("total_time", 0.5), time("device_time", 0.25)]),
            of("by_name_device", true, vec![time("gemm", 0.125), time("total_time", 0.05)]),
            of("by_name_host", true, vec![time("step", 0.125)]),
        ];
        let lines =
            groups(&Summary { rank: 0.into(), groups: groups_of, tables: Vec::new(), absent: Vec::new() });
        assert_eq!(lines[4], "by_name_device, share of the device time");
        assert_eq!(lines[5], "  gemm         125 ms  (50.0 %)");
        assert_eq!(lines[9], "  step  125 ms  (25.0 %)");
    }

    #[test]
    fn groups_are_aligned_and_no_line_is_wide() {
        let long = |end: &str| format!("void kernel<{}>({end})", "float, ".repeat(40));
        let of = |title: &str, metrics: Vec<MetricEntry>| MetricGroupEntry {
            key: String::new(),
            title: title.to_owned(),
            has_names_of_trace: false,
            metrics,
        };
        let text = FieldContent::Text("word ".repeat(60));
        let summary = Summary {
            rank: 0.into(),
            tables: Vec::new(),
            absent: Vec::new(),
            groups: vec![
                of(
                    "Overall",
                    vec![
                        metric("total_time", FieldContent::Float(0.5), Unit::Seconds),
                        metric("slices", FieldContent::Int(1_000), Unit::Count),
                    ],
                ),
                of("Empty", vec![]),
                of(
                    "Names",
                    vec![
                        metric(&long("a"), FieldContent::Float(0.25), Unit::Ratio),
                        metric(&long("b"), FieldContent::Float(0.1), Unit::Ratio),
                        metric("about", text, Unit::None),
                    ],
                ),
            ],
        };
        let lines = groups(&summary);
        assert_eq!(lines[..3], ["Overall", "  total_time  500 ms", "  slices       1,000"]);
        assert!(lines.iter().all(|line| line.width() <= LINE_WIDTH), "{lines:#?}");
        assert_eq!((lines.len(), lines[4].as_str()), (8, "Names"));
        assert!(lines[5].trim_end().ends_with("25.0 %") && lines[5] != lines[6], "{lines:#?}");
        assert!(lines[5].contains("a)") && lines[6].contains("b)"), "{lines:#?}");
    }
}

//! Formats numbers for people: durations, bytes, counts, dates, and field values with their units.
//!
//! Pure. The shown text is short (four significant digits). [`FormattedValue::exact`] keeps the
//! digits that rounding hides, for the tooltip and for copying.

use nprof_engine::base::time::{PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US};
use nprof_engine::wire::detail::FieldContent;

use super::json;

/// A formatted value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormattedValue {
    /// Short text with its unit.
    pub text: String,
    /// The full text, if the short one hides digits.
    pub exact: Option<String>,
}

impl FormattedValue {
    pub fn plain(text: String) -> Self {
        Self { text, exact: None }
    }

    /// Drops the exact text if it equals the short one.
    fn new(text: String, exact: String) -> Self {
        Self { exact: (exact != text).then_some(exact), text }
    }
}

/// Significant digits of rounded numbers.
const DIGITS: i32 = 4;
/// Percents below this have no digits.
const LEAST_PERCENT: f64 = 0.001;
/// Significant digits of sizes. Further digits matter to nobody.
const SIZE_DIGITS: i32 = 3;
const SECONDS_PER_MINUTE: i64 = 60;
const SECONDS_PER_HOUR: i64 = 60 * SECONDS_PER_MINUTE;
const SECONDS_PER_DAY: i64 = 24 * SECONDS_PER_HOUR;

/// Decimal prefixes, in steps of 1000 from the plain unit up.
const DECIMAL_PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
/// Byte units, in steps of 1024.
const BYTE_UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// A duration in the unit that suits it: `950 ps`, `12.5 ns`, `1.234 µs`, `3 min 20 s`.
#[must_use]
pub fn duration(ps: i64) -> String {
    let size = ps.unsigned_abs();
    let (unit, symbol) = match size {
        0 => return "0 ns".to_owned(),
        _ if size < PS_PER_NS.unsigned_abs() => (1, "ps"),
        _ if size < PS_PER_US.unsigned_abs() => (PS_PER_NS, "ns"),
        _ if size < PS_PER_MS.unsigned_abs() => (PS_PER_US, "µs"),
        _ if size < PS_PER_S.unsigned_abs() => (PS_PER_MS, "ms"),
        _ => (PS_PER_S, "s"),
    };
    let seconds = ps / PS_PER_S;
    if seconds.abs() >= SECONDS_PER_MINUTE {
        return long_duration(seconds);
    }
    format!("{} {symbol}", significant(ps as f64 / unit as f64))
}

fn long_duration(seconds: i64) -> String {
    let sign = if seconds < 0 { "−" } else { "" };
    let seconds = seconds.abs();
    if seconds < SECONDS_PER_HOUR {
        return format!("{sign}{} min {} s", seconds / SECONDS_PER_MINUTE, seconds % SECONDS_PER_MINUTE);
    }
    format!("{sign}{} h {} min", seconds / SECONDS_PER_HOUR, seconds % SECONDS_PER_HOUR / SECONDS_PER_MINUTE)
}

/// A duration in nanoseconds, exact to the picosecond: `1,234,567.891 ns`.
#[must_use]
pub fn exact_ns(ps: i64) -> String {
    let sign = if ps < 0 { "−" } else { "" };
    let size = ps.unsigned_abs();
    let (whole, rest) = (size / PS_PER_NS.unsigned_abs(), size % PS_PER_NS.unsigned_abs());
    if rest == 0 {
        return format!("{sign}{} ns", count(whole));
    }
    let rest = format!("{rest:03}");
    format!("{sign}{}.{} ns", count(whole), rest.trim_end_matches('0'))
}

/// A duration, short and exact.
#[must_use]
pub fn shown_duration(ps: i64) -> FormattedValue {
    FormattedValue::new(duration(ps), exact_ns(ps))
}

/// A number with commas between thousands.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 rank`, `2 ranks`: a number with its noun.
#[must_use]
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A size in steps of 1024: `512 B`, `1.5 KiB`.
#[must_use]
pub fn bytes(size: f64) -> String {
    let (value, unit) = scaled(size, 1024.0, &BYTE_UNITS);
    format!("{} {unit}", rounded(value, SIZE_DIGITS))
}

/// A share as percent: `12.5 %`. A tiny share is `< 0.001 %`: nobody compares its digits.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < LEAST_PERCENT {
        return format!("< {LEAST_PERCENT} %");
    }
    // Changes per second can be many times the whole.
    if percent.abs() >= 1000.0 && percent.abs() < u64::MAX as f64 {
        let sign = if percent < 0.0 { "−" } else { "" };
        return format!("{sign}{} %", count(percent.abs().round() as u64));
    }
    format!("{} %", significant(percent))
}

/// A share as percent with at most three digits: `12.5 %`. Less than a tenth is `< 0.1 %`.
#[must_use]
pub fn short_percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "< 0.1 %".to_owned(),
        // A part that is not all of it must not look like all of it.
        percent if percent < 100.0 => format!("{:.1} %", percent.min(99.9)),
        percent => format!("{percent:.0} %"),
    }
}

/// A share of a whole. The share of an empty whole is 0.
#[must_use]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The value of a field or metric, formatted as its unit requires.
#[must_use]
pub fn value(content: &FieldContent, unit: &str) -> FormattedValue {
    match content {
        FieldContent::Int(v) => integer(*v, unit),
        FieldContent::Uint(v) if unit == "hex" => FormattedValue::plain(format!("{v:#x}")),
        FieldContent::Uint(v) => number(*v as f64, count(*v), unit),
        FieldContent::Float(v) => number(*v, v.to_string(), unit),
        FieldContent::Bool(v) => FormattedValue::plain(v.to_string()),
        FieldContent::Text(v) => FormattedValue::plain(v.clone()),
        FieldContent::Json(v) => FormattedValue::plain(json::pretty(v)),
    }
}

fn integer(value: i64, unit: &str) -> FormattedValue {
    // Words with the top bit set arrive as negative integers. An address is never negative.
    if unit == "hex" {
        return FormattedValue::new(format!("{value:#x}"), value.to_string());
    }
    let sign = if value < 0 { "−" } else { "" };
    let exact = format!("{sign}{}", count(value.unsigned_abs()));
    // Time keeps its last digits as an integer.
    let ps_per_one = match unit {
        "ps" => Some(1),
        "ns" => Some(PS_PER_NS),
        "us" | "µs" => Some(PS_PER_US),
        _ => None,
    };
    match ps_per_one.and_then(|factor| value.checked_mul(factor)) {
        Some(ps) => shown_duration(ps),
        None => number(value as f64, exact, unit),
    }
}

/// A number with a unit. `exact` has all its digits.
fn number(value: f64, exact: String, unit: &str) -> FormattedValue {
    if !value.is_finite() {
        return FormattedValue::plain(format!("{exact} {unit}").trim_end().to_owned());
    }
    let decimal = |symbol: &str| {
        let (scaled, prefix) = scaled(value, 1000.0, &DECIMAL_PREFIXES);
        FormattedValue::new(format!("{} {prefix}{symbol}", significant(scaled)), format!("{exact} {symbol}"))
    };
    match unit {
        // A number without a unit can be an id, which commas would spoil.
        "" if value.fract() == 0.0 => FormattedValue::plain(exact.replace(',', "")),
        "" => FormattedValue::new(significant(value), exact),
        "count" => FormattedValue::new(plain_number(value, &exact), exact),
        "ratio" => FormattedValue::new(percent(value), exact),
        "B" => FormattedValue::new(bytes(value), format!("{exact} B")),
        "ps" => time(value, &exact, unit),
        "ns" => time(value * PS_PER_NS as f64, &exact, unit),
        "us" | "µs" => time(value * PS_PER_US as f64, &exact, unit),
        "ms" => time(value * PS_PER_MS as f64, &exact, unit),
        "s" => time(value * PS_PER_S as f64, &exact, unit),
        "B/s" | "Hz" | "FLOP" | "FLOPS" | "FLOP/s" | "FLOP/B" => decimal(unit),
        _ => {
            FormattedValue::new(format!("{} {unit}", plain_number(value, &exact)), format!("{exact} {unit}"))
        }
    }
}

fn time(ps: f64, exact: &str, unit: &str) -> FormattedValue {
    // Rounding to whole picoseconds changes none of the four digits, except below a picosecond.
    let text = if ps != 0.0 && ps.abs() < 1.0 {
        format!("{} ps", significant(ps))
    } else if ps.abs() < i64::MAX as f64 {
        duration(ps as i64)
    } else {
        format!("{} s", significant(ps / PS_PER_S as f64))
    };
    FormattedValue::new(text, format!("{exact} {unit}"))
}

/// Whole numbers keep all their digits. Others are rounded.
fn plain_number(value: f64, exact: &str) -> String {
    if value.fract() == 0.0 && !exact.contains(['e', '.']) { with_commas(exact) } else { significant(value) }
}

/// Adds commas to the digits of a float.
fn with_commas(digits: &str) -> String {
    digits.parse::<u64>().map_or_else(|_| digits.to_owned(), count)
}

fn scaled<'a>(value: f64, step: f64, units: &[&'a str]) -> (f64, &'a str) {
    let mut value = value;
    let mut index = 0;
    while value.abs() >= step && index + 1 < units.len() {
        value /= step;
        index += 1;
    }
    (value, units[index])
}

fn significant(value: f64) -> String {
    rounded(value, DIGITS)
}

/// Rounds to this many significant digits, without trailing zeros. Whole digits are never rounded
/// away.
fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if magnitude < -digits {
        return format!("{value:.3e}");
    }
    let decimals = (digits - 1 - magnitude).max(0) as usize;
    let text = format!("{:.decimals$}", value.abs());
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{}{text}", if value < 0.0 { "−" } else { "" })
}

/// A wall clock time at an offset from UTC: `2026-11-21 01:06`.
#[must_use]
pub fn date(unix_ms: i64, offset_minutes: i64) -> String {
    let seconds = unix_ms.div_euclid(1000) + offset_minutes * SECONDS_PER_MINUTE;
    let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute) = (second / SECONDS_PER_HOUR, second % SECONDS_PER_HOUR / SECONDS_PER_MINUTE);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// A wall clock time in UTC: `2026-11-21 01:06:09.001203 UTC`.
#[must_use]
pub fn utc(unix_ns: i64) -> String {
    const NS_PER_MS: i64 = 1_000_000;
    const NS_PER_S: i64 = 1_000 * NS_PER_MS;
    let minute = date(unix_ns.div_euclid(NS_PER_MS), 0);
    let within = unix_ns.rem_euclid(NS_PER_S * SECONDS_PER_MINUTE);
    format!("{minute}:{:02}.{:06} UTC", within / NS_PER_S, within % NS_PER_S / 1_000)
}

/// The age in the coarsest unit that fits: `just now`, `5 min ago`, `3 days ago`. `None` for more
/// than [`OLD_DAYS`] days, for which a date says more.
#[must_use]
pub fn ago(unix_ms: i64, now_unix_ms: i64) -> Option<String> {
    let seconds = (now_unix_ms - unix_ms) / 1000;
    Some(match seconds {
        ..SECONDS_PER_MINUTE => "just now".to_owned(),
        SECONDS_PER_MINUTE..SECONDS_PER_HOUR => format!("{} min ago", seconds / SECONDS_PER_MINUTE),
        SECONDS_PER_HOUR..SECONDS_PER_DAY => format!("{} h ago", seconds / SECONDS_PER_HOUR),
        _ => {
            let days = (seconds / SECONDS_PER_DAY).unsigned_abs();
            (days <= OLD_DAYS).then(|| format!("{} ago", counted(days, "day", "days")))?
        }
    })
}

/// Age in days from which people think in dates.
const OLD_DAYS: u64 = 30;

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`).
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_duration(ps: i64, text: &str, exact: &str) {
        assert_eq!((duration(ps).as_str(), exact_ns(ps).as_str()), (text, exact));
    }

    #[test]
    fn durations_choose_their_unit() {
        check_duration(0, "0 ns", "0 ns");
        check_duration(714, "714 ps", "0.714 ns");
        check_duration(1_000, "1 ns", "1 ns");
        check_duration(12_345, "12.35 ns", "12.345 ns");
        check_duration(1_234_567_891, "1.235 ms", "1,234,567.891 ns");
        check_duration(100 * PS_PER_US, "100 µs", "100,000 ns");
        check_duration(-1_500, "−1.5 ns", "−1.5 ns");
        check_duration(200 * PS_PER_S, "3 min 20 s", "200,000,000,000 ns");
        check_duration(7_260 * PS_PER_S, "2 h 1 min", "7,260,000,000,000 ns");
        check_duration(i64::MIN, "−2562 h 2 min", "−9,223,372,036,854,775.808 ns");
    }

    #[track_caller]
    fn check_value(content: FieldContent, unit: &str, text: &str, exact: Option<&str>) {
        let shown = value(&content, unit);
        assert_eq!((shown.text.as_str(), shown.exact.as_deref()), (text, exact));
    }

    #[test]
    fn values_follow_their_unit() {
        check_value(FieldContent::Int(1_536), "B", "1.5 KiB", Some("1,536 B"));
        check_value(FieldContent::Int(512), "B", "512 B", None);
        check_value(FieldContent::Int(0x1f00), "hex", "0x1f00", Some("7936"));
        check_value(FieldContent::Int(-1), "hex", "0xffffffffffffffff", Some("-1"));
        check_value(FieldContent::Uint(u64::MAX), "hex", "0xffffffffffffffff", None);
        check_value(FieldContent::Float(0.4931), "ratio", "49.31 %", Some("0.4931"));
        check_value(FieldContent::Int(1_234_567), "", "1234567", None);
        check_value(FieldContent::Int(1_234_567), "count", "1,234,567", None);
        check_value(FieldContent::Int(-12_000), "count", "−12,000", None);
        check_value(FieldContent::Float(2.5e9), "B/s", "2.5 GB/s", Some("2500000000 B/s"));
        check_value(FieldContent::Int(1_234_567), "ns", "1.235 ms", Some("1,234,567 ns"));
        check_value(FieldContent::Float(0.001_234), "s", "1.234 ms", Some("0.001234 s"));
        check_value(FieldContent::Int(7), "cycles", "7 cycles", None);
        check_value(FieldContent::Float(f64::NAN), "ns", "NaN ns", None);
        check_value(FieldContent::Bool(true), "", "true", None);
        check_value(FieldContent::Text("a\nb".to_owned()), "B", "a\nb", None);
    }

    #[test]
    fn small_and_large_numbers_stay_readable() {
        check_value(FieldContent::Float(2.893e-7), "ratio", "< 0.001 %", Some("0.0000002893"));
        check_value(FieldContent::Float(0.0), "ratio", "0 %", Some("0"));
        check_value(FieldContent::Float(-2_611.551), "ratio", "−261,155 %", Some("-2611.551"));
        check_value(FieldContent::Float(0.000_012_5), "ratio", "0.00125 %", Some("0.0000125"));
        check_value(FieldContent::Float(1.5e-7), "count", "1.500e-7", Some("0.00000015"));
        check_value(FieldContent::Float(1e6), "count", "1,000,000", Some("1000000"));
        check_value(FieldContent::Float(1_037.246_8), "", "1037", Some("1037.2468"));
        check_value(FieldContent::Int(i64::MAX), "ns", "9223372037 s", Some("9,223,372,036,854,775,807 ns"));
    }

    #[test]
    fn dates_hold_across_leap_years_and_before_1970() {
        for (unix_s, text) in [
            (0, "1970-01-01 00:00"),
            (951_827_640, "2000-02-29 12:34"),
            (1_795_223_160, "2026-11-21 01:06"),
            (-60, "1969-12-31 23:59"),
        ] {
            assert_eq!(date(unix_s * 1000, 0), text);
        }
        assert_eq!(date(0, -90), "1969-12-31 22:30");
    }

    #[test]
    fn wall_clocks_keep_their_microseconds() {
        assert_eq!(utc(1_795_223_169_001_203_999), "2026-11-21 01:06:09.001203 UTC");
        assert_eq!(utc(-1_000), "1969-12-31 23:59:59.999999 UTC");
        assert_eq!(utc(0), "1970-01-01 00:00:00.000000 UTC");
    }

    #[test]
    fn ages_use_one_unit() {
        let now = 40 * SECONDS_PER_DAY * 1000;
        for (seconds, text) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (7_200, "2 h ago"),
            (SECONDS_PER_DAY, "1 day ago"),
            (30 * SECONDS_PER_DAY, "30 days ago"),
        ] {
            assert_eq!(ago(now - seconds * 1000, now).as_deref(), Some(text));
        }
        assert_eq!(ago(0, now), None);
    }
}

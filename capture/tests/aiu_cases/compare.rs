//! Comparisons of one output each, by the rules that lie beside the cases: times to 0.001 us,
//! values to one part in a million, tables as printed.

use std::collections::BTreeMap;

use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::model::{OwnedValue, SliceForm, TrackContent};

use super::expectation::{Case, Event};
use super::read::Rank;

/// An output to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Check {
    /// Names, starts and durations of slices.
    Slices,
    /// The same, but the runtime's start this many microseconds later in acelyzer's file.
    Apart(f64),
    /// Names and durations of slices.
    Durations,
    /// Repaired counters, overflows, classes, bytes.
    Stamps,
    /// The counter of preparations.
    Preps,
    /// Power by time.
    Power,
    /// Charge per cycle.
    PowerByCycles,
    /// Durations and bytes of collective operations.
    Collectives,
    /// Use of the PT arrays.
    PtActive,
    /// Rates that transfers state.
    Transfers,
    /// `_summary.csv`
    Summary,
    /// `_active.csv`
    Active,
    /// `_ts_analysis.csv`
    Cycles,
    /// `_categories.csv`
    Categories,
}

use Check::*;

impl Check {
    pub const ALL: [Self; 13] = [
        Slices,
        Durations,
        Stamps,
        Preps,
        Power,
        PowerByCycles,
        PtActive,
        Transfers,
        Collectives,
        Summary,
        Active,
        Cycles,
        Categories,
    ];
}

/// Parts of the names of PyTorch's slices.
const MOVED_BY_NONE: [&str; 3] = ["ProfilerStep", "Torch-Compiled Region", "aten::"];

/// Largest difference of times in microseconds.
const MAX_APART_US: f64 = 0.001;

/// The result of a check; `None` if neither side has anything.
pub fn compare(check: Check, case: &Case, ranks: &[Rank]) -> Option<Result<(), String>> {
    match check {
        Slices => both(expected_slices(case, true), found_slices(case, ranks, true)),
        Apart(us) => {
            let mut found = found_slices(case, ranks, true);
            // acelyzer moves only the runtime's slices.
            let of_torch = |name: &str| MOVED_BY_NONE.iter().any(|part| name.contains(part));
            found.iter_mut().filter(|row| !of_torch(&row.0)).for_each(|row| row.1[0] += us);
            // Release 1.0.0 tells no rank of PyTorch's slices, and keeps the id of their process.
            both(rankless(expected_slices(case, true)), rankless(found))
        }
        Durations => both(expected_slices(case, false), found_slices(case, ranks, false)),
        Stamps => both(expected_stamps(case), found_stamps(case, ranks)),
        Preps => counter(case, ranks, ("ConcurrentPreps", "Concurrency", 1.0), "Concurrent preparations"),
        Power => counter(case, ranks, ("Power", "Watts", 1.0), "Power"),
        PowerByCycles => counter(case, ranks, ("Power Cmpt Exec", "Watts", 1.0), "Cmpt Exec"),
        PtActive => counter(case, ranks, ("PT Active", "Percent", 0.01), "PT active"),
        Collectives => both(expected_collectives(case), found_collectives(ranks)),
        Transfers => counter(case, ranks, ("TransferBW", "GB/s", 1e9), "Transfer rate"),
        Summary => table(case.rows("out_summary.csv", '\t'), summary(ranks)),
        Active => table(case.rows("out_active.csv", '\t'), active(ranks)),
        Cycles => table(case.rows("out_ts_analysis.csv", '\t'), cycles(ranks)),
        Categories => table(case.rows("out_categories.csv", ','), categories(ranks)),
    }
}

/// A row to compare: a key that must be equal, and numbers that must be near.
type Row = (String, Vec<f64>);

fn both(mut expected: Vec<Row>, mut found: Vec<Row>) -> Option<Result<(), String>> {
    if expected.is_empty() && found.is_empty() {
        return None;
    }
    let order = |a: &Row, b: &Row| {
        let numbers = |row: &Row| row.1.iter().map(|x| (x * 100.0).round()).collect::<Vec<f64>>();
        (&a.0, numbers(a)).partial_cmp(&(&b.0, numbers(b))).unwrap()
    };
    expected.sort_by(order);
    found.sort_by(order);
    if expected.len() != found.len() {
        let missing = expected.iter().find(|row| !found.iter().any(|other| is_near(row, other)));
        let more = found.iter().find(|row| !expected.iter().any(|other| is_near(row, other)));
        return Some(Err(format!(
            "{} rows, expected {}; missing {missing:?}; unexpected {more:?}",
            found.len(),
            expected.len()
        )));
    }
    let differing = expected.iter().zip(&found).find(|(a, b)| !is_near(a, b));
    Some(differing.map_or(Ok(()), |(a, b)| Err(format!("expected {a:?}, found {b:?}"))))
}

/// The rows of the only rank of a case.
fn rankless(mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|row| row.0 = row.0.split_once(' ').unwrap().1.to_owned());
    rows
}

fn is_near(a: &Row, b: &Row) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= MAX_APART_US.max(a.abs() * 1e-15);
    a.0 == b.0 && a.1.len() == b.1.len() && a.1.iter().zip(&b.1).all(near)
}

/// A name as acelyzer keeps it: without the size of a transfer, with its words for devices.
fn name(name: &str) -> String {
    let mut name = name.replace("RDMA", "Rdma").replace("Receive", "Recv");
    while let Some(at) = name.find(" [")
        && let Some(len) = name[at..].find("B]")
        && name[at + 2..at + len].bytes().all(|byte| byte.is_ascii_digit())
    {
        name.replace_range(at..at + len + 2, "");
    }
    name
}

fn slices(case: &Case) -> impl Iterator<Item = &Event> {
    case.events.iter().filter(|event| event.phase == "X" && !event.name.starts_with("gloo:"))
}

fn keeps_prep(case: &Case) -> bool {
    slices(case).any(|event| event.name.ends_with("Cmpt Prep"))
}

fn expected_slices(case: &Case, with_start: bool) -> Vec<Row> {
    let row = |event: &Event| {
        let original = event.args["orig_name"].as_str().unwrap_or(&event.name);
        let times = if with_start { vec![event.ts, event.dur] } else { vec![event.dur] };
        (format!("{} {}", event.rank, name(original)), times)
    };
    slices(case).map(row).collect()
}

fn found_slices(case: &Case, ranks: &[Rank], with_start: bool) -> Vec<Row> {
    let keeps_prep = keeps_prep(case);
    let is_shown = |slice: &&RecordedSlice| {
        // A begin whose end comes before it stays open; acelyzer drops it.
        let is_whole = slice.form == SliceForm::Complete && field(&slice.fields, "steps").is_none();
        is_whole && (keeps_prep || !slice.name.ends_with("Cmpt Prep"))
    };
    let mut rows = Vec::new();
    for rank in ranks {
        rows.extend(rank.recorder.slices.iter().filter(is_shown).map(|slice| {
            let duration = slice.duration_ps as f64 / 1e6;
            let times = if with_start { vec![rank.us(slice.start_ps), duration] } else { vec![duration] };
            (format!("{} {}", number_in(case, rank), name(&slice.name)), times)
        }));
    }
    rows
}

fn expected_collectives(case: &Case) -> Vec<Row> {
    let of_ranks = case.events.iter().filter(|event| event.name.starts_with("gloo:"));
    let row = |event: &Event| {
        let name = event.args["orig_name"].as_str().unwrap_or_default();
        let moved = event.args["Coll_data_size"].as_i64().unwrap_or_default();
        (format!("{} {name} {moved}", event.rank), vec![event.dur])
    };
    of_ranks.map(row).collect()
}

fn found_collectives(ranks: &[Rank]) -> Vec<Row> {
    let of_rank = |rank: &Rank| {
        let row = |slice: &RecordedSlice| {
            let moved = field(&slice.fields, "moved_bytes").map_or(String::new(), shown);
            let duration = slice.duration_ps as f64 / 1e6;
            (format!("{} {} {moved}", rank.number, slice.name), vec![duration])
        };
        rank.recorder.slices_of("aiu_collective").map(row).collect::<Vec<Row>>()
    };
    ranks.iter().flat_map(of_rank).collect()
}

/// The rank's number in the case. Newer releases of acelyzer make all ranks of a list one.
fn number_in(case: &Case, rank: &Rank) -> i64 {
    if slices(case).any(|event| event.rank != 0) { rank.number } else { 0 }
}

const WRAP: i64 = 1 << 32;

/// The row of a slice's counters. If the counter overflowed within the slice, acelyzer can count
/// that overflow twice, and only the lower bits are compared.
fn stamps_row(rank: i64, stamps: [i64; 5], wraps: i64, wraps_inside: bool, rest: &str) -> Row {
    let (stamps, wraps) =
        if wraps_inside { (stamps.map(|stamp| stamp.rem_euclid(WRAP)), -1) } else { (stamps, wraps) };
    (format!("{rank} {stamps:?} {wraps} {rest}"), Vec::new())
}

fn expected_stamps(case: &Case) -> Vec<Row> {
    let of_device = slices(case).filter(|event| event.args.get("TS1").is_some());
    let row = |event: &Event| {
        let text = |key: &str| match &event.args[key] {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Null => String::new(),
            other => other.to_string(),
        };
        let bytes = if event.args.get("bytes").is_some() { text("bytes") } else { text("Bytes") };
        let number = |key: &str| text(key).parse::<i64>().unwrap();
        let stamps = ["TS1", "TS2", "TS3", "TS4", "TS5"].map(number);
        let rest = format!("{} {} {bytes} {}", text("CollGroup"), text("Type"), text("class"));
        stamps_row(event.rank, stamps, number("OVC"), event.args.get("TSxOF").is_some(), &rest)
    };
    let is_kept = |event: &&Event| !event.name.ends_with("Cmpt Prep");
    of_device.filter(is_kept).map(row).collect()
}

fn found_stamps(case: &Case, ranks: &[Rank]) -> Vec<Row> {
    // Release 1.0.0 has no classes.
    let has_class = slices(case).any(|event| event.args.get("class").is_some());
    let of_rank = |rank: &Rank| {
        let slices = rank.recorder.slices_of("aiu_op").filter(|slice| !slice.name.ends_with("Cmpt Prep"));
        let row = |slice: &RecordedSlice| {
            let text = |key: &str| field(&slice.fields, key).map_or(String::new(), shown);
            let number = |key: &str| text(key).parse::<i64>().unwrap();
            let stamps = ["ts1", "ts2", "ts3", "ts4", "ts5"].map(number);
            let class = if has_class { text("class") } else { String::new() };
            let rest = format!("{} {} {} {class}", text("CollGroup"), text("Type"), text("bytes"));
            let wraps_inside = stamps[4].div_euclid(WRAP) != stamps[0].div_euclid(WRAP);
            stamps_row(number_in(case, rank), stamps, number("wraps"), wraps_inside, &rest)
        };
        slices.map(row).collect::<Vec<Row>>()
    };
    ranks.iter().flat_map(of_rank).collect()
}

fn field<'f>(fields: &'f [(String, OwnedValue)], key: &str) -> Option<&'f OwnedValue> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn shown(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Int(value) => value.to_string(),
        OwnedValue::Uint(value) => value.to_string(),
        OwnedValue::Float(value) => value.to_string(),
        OwnedValue::Bool(value) => value.to_string(),
        OwnedValue::Text(text) | OwnedValue::Json(text) => text.clone(),
    }
}

/// Compares a counter: the times at which its value changes, and the values.
fn counter(
    case: &Case,
    ranks: &[Rank],
    (name, series, unit): (&str, &str, f64),
    track: &str,
) -> Option<Result<(), String>> {
    let mut expected: BTreeMap<i64, Vec<(f64, f64)>> = BTreeMap::new();
    for event in case.events.iter().filter(|event| event.phase == "C" && event.name == name) {
        let value = event.args[series].as_f64().unwrap_or_default() * unit;
        expected.entry(event.rank).or_default().push((event.ts, value));
    }
    let mut found: BTreeMap<i64, Vec<(f64, f64)>> = BTreeMap::new();
    for rank in ranks {
        let recorder: &Recorder = &rank.recorder;
        let is_it = |at: u32| {
            let spec = &recorder.tracks[at as usize];
            spec.name == track && matches!(spec.kind, TrackContent::Counter(_))
        };
        let samples = recorder.samples.iter().filter(|sample| is_it(sample.track.0));
        for sample in samples {
            found.entry(rank.number).or_default().push((rank.us(sample.time_ps), sample.value));
        }
    }
    if expected.is_empty() {
        return None;
    }
    for (rank, samples) in &mut expected {
        let found = found.entry(*rank).or_default();
        for samples in [&mut *samples, found] {
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let found = &found[..];
        let differing = first_difference(samples, found).or_else(|| first_difference(found, samples));
        if let Some((ts, a, b)) = differing {
            return Some(Err(format!("rank {rank} at {ts}: {a} and {b}")));
        }
    }
    Some(Ok(()))
}

/// Shortest interval between samples whose value is compared, in microseconds.
const MIN_INTERVAL_US: f64 = 0.004;
/// Distance from the ends of an interval at which values are compared, in microseconds.
const MARGIN_US: f64 = 0.0015;
/// Rounding of a difference of two of acelyzer's times, which are doubles since 1970.
const ROUNDING_US: f64 = 0.0008;

/// Compares the values within each interval between samples: a time, and both values there.
fn first_difference(samples: &[(f64, f64)], others: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let at = |ts: f64| {
        let after = others.partition_point(|sample| sample.0 <= ts);
        after.checked_sub(1).map_or(0.0, |before| others[before].1)
    };
    for pair in samples.windows(2) {
        let ((start, value), end) = (pair[0], pair[1].0);
        if end - start <= MIN_INTERVAL_US {
            continue;
        }
        // Power is a charge over a time, which acelyzer rounds.
        let near = value.abs() * (1e-6 + ROUNDING_US / (end - start)) + 1e-9;
        for ts in [start + MARGIN_US, end - MARGIN_US] {
            if (at(ts) - value).abs() > near {
                return Some((ts, value, at(ts)));
            }
        }
    }
    None
}

/// Compares tables as printed: the cells of each row must be equal, in any order of rows.
fn table(expected: Option<Vec<Vec<String>>>, found: Vec<Vec<String>>) -> Option<Result<(), String>> {
    let expected = expected?;
    let by_row = |rows: &[Vec<String>]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    let (expected, found) = (by_row(&expected), by_row(&found));
    let at = (0..expected.len().max(found.len())).find(|&at| {
        !expected
            .get(at)
            .zip(found.get(at))
            .is_some_and(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(same))
    });
    Some(at.map_or(Ok(()), |at| Err(format!("expected {:?}, found {:?}", expected.get(at), found.get(at)))))
}

/// Cells are equal as texts, or as numbers that differ in the last printed digit.
fn same((a, b): (&String, &String)) -> bool {
    let digits = a.rsplit_once('.').map_or(0, |(_, digits)| digits.len().min(4));
    let last_digit = 10_f64.powi(-i32::try_from(digits).unwrap()) * 1.01;
    a == b
        || a.parse::<f64>().ok().zip(b.parse::<f64>().ok()).is_some_and(|(a, b)| {
            // acelyzer cuts sums of cycles that it keeps as floats.
            let is_cut = a > 10_000.0 && a.fract() == 0.0 && b - a == 1.0;
            is_cut || (a - b).abs() <= last_digit.min(0.0015).max(a.abs() * 1e-12)
        })
}

fn number(row: &[(String, OwnedValue)], key: &str) -> f64 {
    match field(row, key) {
        Some(OwnedValue::Int(value)) => *value as f64,
        Some(OwnedValue::Float(value)) => *value,
        _ => 0.0,
    }
}

fn text(row: &[(String, OwnedValue)], key: &str) -> String {
    field(row, key).map_or(String::new(), shown)
}

fn of_table<'r>(
    ranks: &'r [Rank],
    table: &'r str,
) -> impl Iterator<Item = (&'r Rank, &'r Vec<(String, OwnedValue)>)> {
    ranks.iter().flat_map(move |rank| rank.recorder.rows_of(table).map(move |row| (rank, row)))
}

fn summary(ranks: &[Rank]) -> Vec<Vec<String>> {
    let line = |(rank, row): (&Rank, &Vec<(String, OwnedValue)>)| {
        let us = |key: &str| format!("{:.3}", number(row, key) / 1e3);
        vec![
            format!("{:.2}", number(row, "share") * 100.0),
            us("total"),
            text(row, "calls"),
            us("mean"),
            us("median"),
            us("min"),
            us("max"),
            us("stdev"),
            rank.number.to_string(),
            name(&text(row, "name")),
        ]
    };
    of_table(ranks, "aiu_kernel").map(line).collect()
}

fn active(ranks: &[Rank]) -> Vec<Vec<String>> {
    let line = |(rank, row): (&Rank, &Vec<(String, OwnedValue)>)| {
        let us = |key: &str| format!("{:.3}", number(row, key) / 1e3);
        #[expect(clippy::cast_possible_truncation, reason = "nanoseconds of a test's trace")]
        let at = |key: &str| format!("{:.3}", rank.us((number(row, key) * 1e3) as i64));
        let share = format!("{:.2}", number(row, "summed_share") * 100.0);
        vec![us("kernel_time"), us("elapsed"), at("start"), at("end"), share, rank.number.to_string()]
    };
    of_table(ranks, "aiu_active").map(line).collect()
}

fn cycles(ranks: &[Rank]) -> Vec<Vec<String>> {
    let mut lines: BTreeMap<(i64, String), Vec<String>> = BTreeMap::new();
    for (rank, row) in of_table(ranks, "aiu_cycles") {
        let line = lines.entry((rank.number, text(row, "name"))).or_insert_with(|| vec![text(row, "calls")]);
        line.extend(["mean", "median", "min", "max", "stdev"].map(|key| format!("{:.3}", number(row, key))));
    }
    let whole = |((rank, label), mut line): ((i64, String), Vec<String>)| {
        line.extend([rank.to_string(), name(&label)]);
        line
    };
    lines.into_iter().map(whole).collect()
}

fn categories(ranks: &[Rank]) -> Vec<Vec<String>> {
    let line = |(rank, row): (&Rank, &Vec<(String, OwnedValue)>)| {
        let phase = Some(text(row, "phase")).filter(|phase| !phase.is_empty()).unwrap_or("UNKN".to_owned());
        let (us, ratio) = (
            |key: &str| format!("{}", number(row, key) / 1e3),
            |key: &str| format!("{:.4}", number(row, key)),
        );
        vec![
            rank.number.to_string(),
            phase,
            text(row, "category"),
            us("kernel_time"),
            ratio("share"),
            text(row, "calls"),
            us("ideal_time"),
            text(row, "ideal_cycles"),
            ratio("ideal_share"),
            ratio("pt_util"),
        ]
    };
    of_table(ranks, "aiu_category").map(line).collect()
}

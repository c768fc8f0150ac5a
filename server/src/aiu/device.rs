//! Slices of the device in FLEX, with the arguments that acelyzer gives them.

use std::sync::Arc;

use nprof_engine::makers::aiu::schema::OpRow;
use nprof_engine::makers::aiu::{Phase, STAMPS};
use nprof_engine::model::OwnedValue;
use serde_json::Value as Json;

use super::args::{Args, Key};
use super::event::Event;
use super::form::{EventForm, Forms};
use super::names;
use super::source::{Source, into_json};

/// Keys of the counters.
const STAMP_KEYS: [&str; STAMPS] = ["TS1", "TS2", "TS3", "TS4", "TS5"];

/// A smaller difference between host and device is none, in microseconds: times since 1970 are
/// stated in steps of this.
const MIN_ADJUST_US: f64 = 0.000_25;

/// A slice of the device as stored.
#[derive(Debug)]
pub struct Op<'a> {
    /// Name in the trace.
    pub name: &'a str,
    /// Fields that have a value.
    pub fields: Vec<(Arc<str>, OwnedValue)>,
}

/// Whether a slice of this name prepares a kernel.
#[must_use]
pub fn is_prep(name: &str) -> bool {
    Phase::of(name) == Phase::Prep
}

/// Fills an event with what the slice states. Returns its thread.
pub fn fill(event: &mut Event, op: Op<'_>, source: &Source<'_>, form: &EventForm) -> Option<String> {
    let plain = names::plain(op.name);
    event.category = Some(category(&plain.name).to_owned());
    // acelyzer leaves the size in the name, unless it looks for the two ends of transfers.
    let keeps_size = form.forms == Forms::Acelyzer && !form.has_flows;
    event.name = if keeps_size { names::normalised(op.name) } else { plain.name };
    event.pid = Json::from(source.rank);
    let args = &mut event.args;
    let mut told = Told { names_peers: form.has_flows, ..Told::default() };
    for (key, value) in op.fields {
        told.take(args, key, value);
    }
    if let Some(at) = overflow(&told.stamps) {
        args.insert("TSxOF", Json::from(STAMP_KEYS[at]));
    }
    if let Some(bytes) = plain.bytes
        && !args.contains_key("bytes")
    {
        args.insert("bytes", Json::from(bytes));
    }
    for key in ["rank", "device"] {
        args.insert(key, Json::from(source.rank));
    }
    if form.has_shifts {
        let shift_us = args.get("jobname").and_then(Json::as_str).map_or(0.0, |job| source.shift_us(job));
        if shift_us != 0.0 {
            args.insert("ts_adj", Json::from(shift_us));
        }
    }
    if let (Some(host_ps), true) = (told.host_ps, form.has_device_time && source.used_hz > 0.0) {
        adjust(args, op.name, host_ps, told.stamps, source.used_hz);
    }
    told.thread
}

/// Facts of a slice that are no arguments, or that others follow from.
#[derive(Debug, Default)]
struct Told {
    thread: Option<String>,
    host_ps: Option<i64>,
    stamps: [Option<i64>; STAMPS],
    /// Whether the rank at the other end is called as several are.
    names_peers: bool,
}

impl Told {
    /// Takes a field. Most are arguments, some under acelyzer's keys.
    fn take(&mut self, args: &mut Args, name: Arc<str>, value: OwnedValue) {
        let key = &*name;
        let at = key.strip_prefix("ts").and_then(|digit| digit.parse::<usize>().ok());
        if let Some(at) = at.filter(|at| (1..=STAMPS).contains(at)) {
            self.stamps[at - 1] = value.int();
            args.insert(STAMP_KEYS[at - 1], text(value));
            return;
        }
        let names = OpRow::by(|field| field.name);
        let (key, value): (Key, Json) = match key {
            "thread" => return self.thread = into_json(value).as_str().map(str::to_owned),
            key if key == names.host_duration => return self.host_ps = value.int(),
            // The category is that of the kind of slice.
            "cycles" | "cat" => return,
            "charge" => ("Power".into(), text(value)),
            "bytes" => ("bytes".into(), text(value)),
            "wraps" => ("OVC".into(), into_json(value)),
            "job" => ("jobname".into(), into_json(value)),
            "Peer" if self.names_peers => ("Peers".into(), into_json(value)),
            key if key == names.pt_active => {
                let active = into_json(value);
                // A kernel without ideal cycles has no use of the arrays.
                if active.as_f64().is_none_or(|active| active <= 0.0) {
                    return;
                }
                args.insert("core used", Json::from(true));
                (names.pt_active.into(), active)
            }
            other => {
                let inner = other.strip_prefix("args.").map(Arc::<str>::from);
                (inner.unwrap_or_else(|| name.clone()).into(), into_json(value))
            }
        };
        args.insert(key, value);
    }
}

/// The first counter after an overflow within the slice.
fn overflow(stamps: &[Option<i64>; STAMPS]) -> Option<usize> {
    let turns = stamps.map(|stamp| stamp.map(|stamp| stamp.div_euclid(1 << 32)));
    (1..STAMPS).find(|&at| turns[at - 1].zip(turns[at]).is_some_and(|(before, now)| now > before))
}

/// States by how much the slice differs from the one that the host saw.
fn adjust(args: &mut Args, name: &str, host_ps: i64, stamps: [Option<i64>; STAMPS], hz: f64) {
    let (Some(first), Some(last)) = (stamps[0], stamps[Phase::of(name).stamps().last]) else { return };
    #[expect(clippy::cast_precision_loss, reason = "a difference of counters, and a duration")]
    let longer_us = (last - first) as f64 / hz * 1e6 - host_ps as f64 / 1e6;
    if longer_us.abs() < MIN_ADJUST_US {
        return;
    }
    args.insert("time_adjust", serde_json::json!({ "ts": -longer_us, "dur": longer_us }));
}

fn text(value: OwnedValue) -> Json {
    match into_json(value) {
        Json::String(text) => Json::from(text),
        other => Json::from(other.to_string()),
    }
}

/// The category of a slice with this name.
fn category(name: &str) -> &'static str {
    let is_rdma = name.contains("Rdma");
    match Phase::of(name) {
        Phase::DataIn | Phase::DataOut if !is_rdma => "gpu_memcpy",
        Phase::DataIn | Phase::DataOut => "user_annotation",
        Phase::Exec if name.contains("AllReduce") => "user_annotation",
        _ => "kernel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_counter_after_an_overflow_is_found() {
        let wrap = 1 << 32;
        let of = |stamps: [i64; STAMPS]| overflow(&stamps.map(Some));
        assert_eq!(of([1, 2, wrap - 1, wrap, wrap + 9]), Some(3));
        assert_eq!(of([wrap, wrap + 2, wrap + 3, wrap + 4, wrap + 5]), None);
        assert_eq!(overflow(&[None, Some(1), None, Some(wrap), None]), None);
    }

    #[test]
    fn slices_have_categories() {
        for (name, expected) in [
            ("add Cmpt Exec", "kernel"),
            ("InputX DmaI", "gpu_memcpy"),
            ("SenRdmaRecv DmaI", "user_annotation"),
            ("AllReduce_all_reduce_4_Add_1 Cmpt Exec", "user_annotation"),
            ("SenRdmaSend_1 ", "kernel"),
            ("other", "kernel"),
        ] {
            assert_eq!(category(name), expected, "{name}");
        }
    }
}

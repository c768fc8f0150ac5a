//! Random traces with power, with collective operations of several ranks, and of PyTorch's dialect,
//! whose truth is known.

use std::collections::BTreeMap;

use super::*;
use crate::importer::{Claim, TABLE};
use crate::inputs::FileKind;
use crate::probe::Confidence;

/// Charge of a watt in a microsecond.
const PER_WATT: f64 = 512.0 / 12.0;

/// A kernel of a device: pause before it and duration in microseconds, and watts until its end.
type Loaded = (i64, i64, f64);

/// Kernels one after the other, with the charge at the end of each.
fn loaded(device: Device, charge: u32, kernels: &[Loaded]) -> (String, Vec<(i64, i64)>) {
    let (mut time, mut charge) = (100, charge);
    let mut events = Vec::new();
    let mut spans = Vec::new();
    for (n, &(pause, duration, watts)) in kernels.iter().enumerate() {
        let (start, end) = (time + pause, time + pause + duration);
        // The first reading tells no power.
        let steps = if n == 0 { 0.0 } else { watts * (end - time) as f64 * PER_WATT };
        charge = charge.wrapping_add(steps.round() as u32);
        let slice = device.slice(&format!("k{} Cmpt Exec", n % 7), start, end);
        events.push(slice.with(&format!(r#""Power":"{charge:#x}""#)).complete());
        spans.push((start, end));
        time = end;
    }
    (format!("[{}]", events.join(",")), spans)
}

/// Mean of watts over their times.
fn mean(parts: &[(f64, i64)]) -> f64 {
    let time: i64 = parts.iter().map(|(_, time)| time).sum();
    parts.iter().map(|(watts, time)| watts * *time as f64).sum::<f64>() / time as f64
}

fn text<'f>(fields: &'f [(String, OwnedValue)], name: &str) -> &'f str {
    match field(fields, name) {
        Some(OwnedValue::Text(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

/// Operations of all ranks of a chain: pause before the kernel, its duration, distance of the steps
/// from each other, and bytes of a step.
type Exchange = (i64, i64, i64, u32);

/// Start and end of an operation on a rank, in microseconds, with the bytes of a step.
type Span = (i64, i64, u32);

/// A list of all ranks, and what each does.
fn exchanged(devices: &[Device], operations: &[Exchange]) -> (String, BTreeMap<u32, Vec<Span>>) {
    let ranks = u32::try_from(devices.len()).unwrap();
    let last = ranks - 1;
    let all: Vec<String> = (0..ranks).map(|rank| rank.to_string()).collect();
    let mask = (1 << last) - 1;
    let (mut events, mut truth) = (Vec::new(), BTreeMap::<u32, Vec<Span>>::new());
    for (rank, &device) in (0..).zip(devices) {
        let mut time = 100 + i64::from(rank);
        for (number, &(pause, duration, step, bytes)) in operations.iter().enumerate() {
            let ready = time + pause + duration;
            let kernel = device.slice("add_1 Cmpt Exec", time + pause, ready).of_rank(rank);
            events.push(kernel.complete());
            let more = format!(
                r#""CollGroup":"AllReduce_all_reduce_{number}","Peers":"{}","Bytes":"{bytes}""#,
                all.join(",")
            );
            let names = [
                format!("SenRdmaSend_{rank} [sync=AR_{number}_s{rank}_r{}_{rank}] DmaO", (rank + 1) % ranks),
                format!("SenRdmaRecv_{rank} [sync=AR_{number}_s{last}_r0x{mask:x}_{ranks}] DmaI"),
            ];
            for (at, name) in (0..).zip(&names) {
                let start = ready + 2 + at * step;
                events.push(device.slice(name, start, start + step).of_rank(rank).with(&more).complete());
            }
            time = ready + 2 + 2 * step;
            truth.entry(rank).or_default().push((ready, time, bytes));
        }
    }
    (format!("[{}]", events.join(",")), truth)
}

/// Work of a stream of PyTorch: kind (kernel, copy, steps of an operation), pause and duration in
/// microseconds.
type Work = (usize, i64, i64);

const KERNELS: [&str; 3] = ["mul", "add", "max_pool2d"];

/// A trace of a stream, with the sum of each kernel, and the spans of the operations.
fn stream(work: &[Work]) -> (String, BTreeMap<&'static str, i64>, Vec<(i64, i64)>) {
    let (mut time, mut sums, mut spans) = (1_000, BTreeMap::<&str, i64>::new(), Vec::new());
    let mut events = Vec::new();
    let mut add = |cat: &str, name: &str, (start, duration): (i64, i64), more: &str| {
        events.push(format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":0,"tid":1,"ts":{start},"dur":{duration},"args":{{"stream":1{more}}}}}"#
        ));
    };
    for (correlation, &(kind, pause, duration)) in work.iter().enumerate() {
        let start = time + pause;
        let launched = format!(",\"correlation\":{correlation}");
        match kind {
            0..=2 => {
                add("kernel", KERNELS[kind], (start, duration), &launched);
                *sums.entry(KERNELS[kind]).or_default() += duration;
            }
            3 => add("gpu_memcpy", "Memcpy (HtoD)", (start, duration), r#","memory bandwidth (GB/s)":4"#),
            _ => {
                for (at, name) in (0..).zip(["HCOLL R5 Wait DATA", "HCOLL Signal", "HCOLL Wait for Notice"]) {
                    add("gpu_user_annotation", name, (start + at * duration, duration), &launched);
                }
                spans.push((start, 3 * duration));
            }
        }
        time = start + if kind > 3 { 3 * duration } else { duration };
    }
    let text =
        format!(r#"{{"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{}]}}"#, events.join(","));
    (text, sums, spans)
}

fn devices() -> impl Strategy<Value = Device> {
    (400e6..1200e6_f64, any::<u32>()).prop_map(|(hz, start)| Device::new(hz, start))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The reader finds the watts between readings, and their means with and without kernels.
    #[test]
    fn the_power_is_found(
        device in devices(),
        charge: u32,
        kernels in prop::collection::vec((1_i64..300, 20_i64..900, 1.0..95.0_f64), 3..40),
    ) {
        let (text, spans) = loaded(device, charge, &kernels);
        let rank = read_one(&text);
        let found = samples(&rank, "Power");
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for (before, (now, &(_, _, watts))) in spans.iter().zip(spans.iter().zip(&kernels).skip(1)) {
            let at = before.1 as f64;
            let near = found.iter().find(|(us, _)| (us - at).abs() < 0.5);
            prop_assert!(near.is_some_and(|(_, value)| (value - watts).abs() < 0.05), "{watts} at {at}: {near:?}");
            with.push((watts, now.1 - now.0));
            without.push((watts, now.0 - before.1));
        }
        for (part, truth) in [("with kernels", mean(&with)), ("without kernels", mean(&without))] {
            let row = rank.rows_of("aiu_power").find(|row| text_is(row, part)).expect("the statistics");
            prop_assert!((float(row, "average") - truth).abs() < 0.1, "{part}: {truth}, {row:?}");
        }
    }

    /// Each rank of a list has its operations: spans, bytes, members and algorithm.
    #[test]
    fn operations_of_all_ranks_are_found(
        of in prop::collection::vec(devices(), 2..6),
        operations in prop::collection::vec((5_i64..200, 5_i64..400, 5_i64..60, 1_u32..1 << 24), 1..5),
    ) {
        let (list, truth) = exchanged(&of, &operations);
        let ranks = read(&[("a.json", list)], AiuSettings::default());
        prop_assert_eq!(ranks.len(), of.len());
        let others = i64::try_from(of.len()).unwrap() - 1;
        for rank in &ranks {
            let spans = &truth[&rank.rank.rank.expect("a number")];
            let found: Vec<&RecordedSlice> = rank.slices_of("aiu_collective").collect();
            prop_assert_eq!(found.len(), spans.len());
            for (slice, (number, (start, end, bytes))) in found.iter().zip(spans.iter().enumerate()) {
                let us = |ps: i64| ps as f64 / 1e6;
                prop_assert!((us(slice.start_ps) - *start as f64).abs() < 0.1, "{start}: {slice:?}");
                prop_assert!((us(slice.duration_ps) - (end - start) as f64).abs() < 0.1, "{slice:?}");
                let name = format!("AllReduce_all_reduce_{number}");
                prop_assert_eq!((slice.name.as_str(), int(&slice.fields, "steps")), (name.as_str(), 2));
                prop_assert_eq!(int(&slice.fields, "bytes"), i64::from(*bytes));
                prop_assert_eq!(int(&slice.fields, "moved_bytes"), 2 * others * i64::from(*bytes));
                prop_assert_eq!(text(&slice.fields, "algorithm"), "chain");
                prop_assert_eq!(text(&slice.fields, "members").split(',').count(), of.len());
            }
        }
    }

    /// Kernels, copies and operations of a stream of PyTorch are told apart, and packets give the
    /// same.
    #[test]
    fn the_work_of_a_stream_is_found(
        work in prop::collection::vec((0_usize..5, 0_i64..200, 2_i64..500), 1..40),
    ) {
        let (json, sums, spans) = stream(&work);
        let packets = super::super::packet_fixture::packets(&json);
        let of_packets = vec![("a.json", packets)];
        let mut ranks = vec![read_one(&json)];
        // In Perfetto's form, a stream without a call of the runtime is an AIU's only if asked.
        ranks.extend(read_asked(&of_packets));
        for rank in &ranks {
            let mut total = 0;
            for row in rank.rows_of("aiu_kernel") {
                let sum = sums.iter().find(|(name, _)| super::super::names::label(name) == text(row, "name"));
                let (_, sum) = sum.expect("a kernel of the stream");
                prop_assert!((float(row, "total") - *sum as f64 * 1e3).abs() < 1e-3, "{row:?}");
                total += sum;
            }
            prop_assert_eq!(rank.rows_of("aiu_kernel").count(), sums.len());
            if let Some(active) = rank.rows_of("aiu_active").next() {
                prop_assert!((float(active, "busy_time") - total as f64 * 1e3).abs() < 1e-3, "{active:?}");
            }
            let mut found: Vec<(i64, i64)> = rank
                .slices_of("aiu_collective")
                .map(|slice| (slice.start_ps / 1_000_000, slice.duration_ps / 1_000_000))
                .collect();
            found.sort_unstable();
            prop_assert_eq!(&found, &spans);
        }
    }
}

fn text_is(row: &[(String, OwnedValue)], part: &str) -> bool {
    field(row, "part") == Some(&OwnedValue::Text(part.to_owned()))
}

/// Reads files as traces of an AIU, whatever their first bytes say.
fn read_asked(files: &[(&str, Vec<u8>)]) -> Vec<Recorder> {
    read_claimed(
        files,
        &AiuSettings::default(),
        |files| files,
        |leaf| {
            let importer = TABLE.iter().find(|row| row.name == "aiu").expect("the format");
            let (role, confidence) = (FileRole::Trace, Confidence::Certain);
            let claim = Claim { importer, role, confidence, rank: None, companion: None };
            leaf.candidate.found = FileKind::Claimed(claim);
        },
    )
}

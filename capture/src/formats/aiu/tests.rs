//! Whole traces of a few slices, with a device whose truth is known.

mod cards;
mod devices;
mod file_sets;
mod packets;
mod protocols;
mod rank_lists;
mod torch_traces;
mod truth;

use std::sync::Arc;

use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::model::{OwnedValue, Role as TrackRole, SliceForm};
use nprof_engine::spill::MemoryScratch;
use proptest::prelude::*;

use super::fixture::Device;
use super::*;
use crate::archive::{FileBytes, InMemory, PlainFile, open};
use crate::files::{Files, MemoryFiles};
use crate::inputs::plan;

/// Reads files as one profile. Returns the ranks.
fn read(files: &[(&str, String)], settings: AiuSettings) -> Vec<Recorder> {
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, text)| (*name, text.clone().into_bytes())).collect();
    read_through(&files, &settings, |files| files)
}

/// Reads files as one profile, through what `keep` makes of them.
fn read_through<F: Files>(
    files: &[(&str, Vec<u8>)],
    settings: &AiuSettings,
    keep: impl Fn(MemoryFiles) -> F,
) -> Vec<Recorder> {
    read_claimed(files, settings, keep, |_| {})
}

/// The same, after `claim` has changed what each file is.
fn read_claimed<F: Files>(
    files: &[(&str, Vec<u8>)],
    settings: &AiuSettings,
    keep: impl Fn(MemoryFiles) -> F,
    claim: impl Fn(&mut PlainFile),
) -> Vec<Recorder> {
    let leaf = |(name, bytes): &(&str, Vec<u8>)| {
        open(name, FileBytes::new(Arc::new(bytes.clone())), &InMemory).leaves
    };
    let mut leaves: Vec<_> = files.iter().flat_map(leaf).collect();
    leaves.iter_mut().for_each(claim);
    let candidates: Vec<_> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
    let plans = plan(&candidates).unwrap().plans;
    let (scratch, files) = (MemoryScratch::default(), keep(MemoryFiles(leaves)));
    let mut ranks = Vec::new();
    for plan in &plans {
        let (mut nth, mut count) = (0, 1);
        while nth < count {
            let mut recorder = Recorder::default();
            let mut sinks = OneOf { recorder: &mut recorder, nth, count };
            let space = Space::new(&scratch);
            let job = ImportJob { plan, files: &files, space, origin: None, progress: &|_| {} };
            import_with(&job, settings.clone(), &mut sinks).unwrap();
            (count, nth) = (sinks.count, nth + 1);
            ranks.push(recorder);
        }
    }
    ranks
}

struct OneOf<'r> {
    recorder: &'r mut Recorder,
    nth: usize,
    count: usize,
}

impl Sinks for OneOf<'_> {
    fn rank(&mut self, nth: usize) -> Option<&mut dyn Sink> {
        self.count = self.count.max(nth + 1);
        (nth == self.nth).then_some(&mut *self.recorder)
    }
}

fn read_one(text: &str) -> Recorder {
    read(&[("a.json", text.to_owned())], AiuSettings::default()).remove(0)
}

fn field<'f>(fields: &'f [(String, OwnedValue)], name: &str) -> Option<&'f OwnedValue> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

fn int(fields: &[(String, OwnedValue)], name: &str) -> i64 {
    match field(fields, name) {
        Some(OwnedValue::Int(value)) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

fn float(fields: &[(String, OwnedValue)], name: &str) -> f64 {
    match field(fields, name) {
        Some(OwnedValue::Float(value)) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

fn ops(recorder: &Recorder) -> Vec<&RecordedSlice> {
    let mut ops: Vec<&RecordedSlice> = recorder.slices_of("aiu_op").collect();
    ops.sort_by_key(|slice| slice.start_ps);
    ops
}

/// Paths of the tracks, and the names of their slices.
fn shown(recorder: &Recorder) -> Vec<String> {
    let mut lines: Vec<String> = recorder
        .slices
        .iter()
        .map(|slice| format!("{}: {}", recorder.path(slice.track), slice.name))
        .collect();
    lines.sort();
    lines
}

/// Samples of a counter: microseconds and value.
fn samples(recorder: &Recorder, name: &str) -> Vec<(f64, f64)> {
    let is_it = |track: u32| recorder.tracks[track as usize].name == name;
    let samples = recorder.samples.iter().filter(|sample| is_it(sample.track.0));
    samples.map(|sample| (sample.time_ps as f64 / 1e6, sample.value)).collect()
}

#[test]
fn slices_of_the_device_have_tracks_of_their_own() {
    let rank = read_one(include_str!("../../../../fuzz/seeds/aiu/flex.json"));
    assert_eq!(
        shown(&rank),
        [
            "AIU 0/Collective receive: In DmaI",
            "AIU 0/Collectives: g_1",
            "AIU 0/Compute: mul_1 Cmpt Exec",
            "AIU 0/Preparation: mul_1 Cmpt Prep",
            "Process 0/Asynchronous/odd: odd",
            "Process 0/Thread 90: AIU Roundtrip",
        ]
    );
    let roles: Vec<TrackRole> =
        ops(&rank).iter().map(|slice| rank.tracks[slice.track.0 as usize].identity.role).collect();
    assert_eq!(roles, [TrackRole::Unknown, TrackRole::CollectiveCore, TrackRole::Kernels]);
    let transfer = &ops(&rank)[1].fields;
    assert_eq!(int(transfer, "bytes"), 4096);
    assert_eq!(field(transfer, "Peers"), Some(&OwnedValue::Text("0,1".to_owned())));
    assert_eq!(field(&ops(&rank)[2].fields, "Other"), Some(&OwnedValue::Json("[1]".to_owned())));
    assert_eq!((rank.rank.source.as_str(), rank.rank.rank), (SOURCE, Some(0)));
}

#[test]
fn each_process_of_a_list_is_a_rank() {
    let ranks = read(
        &[("a.json", include_str!("../../../../fuzz/seeds/aiu/flex.json").to_owned())],
        AiuSettings::default(),
    );
    assert_eq!(ranks.len(), 2);
    let slice = ops(&ranks[1])[0];
    assert_eq!(
        (slice.name.as_str(), slice.form, ranks[1].rank.rank),
        ("lone Cmpt Exec", SliceForm::Unfinished, Some(1))
    );
    assert!(ranks[1].warnings().iter().any(|warning| warning.what.contains("without its end")));
}

#[test]
fn an_end_closes_the_begin_of_its_name() {
    let device = Device::new(560e6, 7);
    let (a, b) = (device.slice("a Cmpt Exec", 10, 30), device.slice("b Cmpt Exec", 12, 25));
    // Crossed on one thread, which acelyzer refuses.
    let rank = read_one(&format!("[{},{},{},{}]", a.begin(), b.begin(), a.end(), b.end()));
    let found: Vec<(&str, i64)> =
        ops(&rank).iter().map(|slice| (slice.name.as_str(), slice.duration_ps / 1_000_000)).collect();
    assert_eq!(found, [("a Cmpt Exec", 20), ("b Cmpt Exec", 13)]);
    assert!(rank.warnings().is_empty(), "{:?}", rank.warnings());
}

#[test]
fn what_stops_acelyzer_is_read() {
    let device = Device::new(560e6, 7);
    let mut events: Vec<String> = Vec::new();
    for thread in 0..40 {
        let slice = device.slice("k Cmpt Exec", 10 + thread, 200);
        events.push(slice.complete().replace("\"tid\":1", &format!("\"tid\":{thread}")));
        events.push(slice.complete());
    }
    events.push(r#"{"ph":"n","id":1,"pid":0,"tid":1,"ts":20,"name":"n"}"#.to_owned());
    events.push(r#"{"ph":"M","name":"process_name","pid":0,"args":{"name":"host"}}"#.to_owned());
    events.push(device.slice("zero Cmpt Exec", 20, 20).complete());
    let rank = read_one(&format!("[{}]", events.join(",")));
    assert_eq!(ops(&rank).len(), 81);
    assert_eq!(rank.slices.len(), 82);
}

#[test]
fn durations_are_those_of_the_device_and_ends_those_of_the_host() {
    let device = Device::new(557.05e6, u32::MAX - 3_000);
    let slices: Vec<String> =
        (0..50).map(|n| device.slice("k_1 Cmpt Exec", 100 * n, 100 * n + 60).late_by(7).complete()).collect();
    let rank = read_one(&format!("[{}]", slices.join(",")));
    let clock = rank.rows_of("aiu_clock").next().unwrap();
    assert!((float(clock, "found_hz") / 557.05e6 - 1.0).abs() < 1e-6);
    assert_eq!((int(clock, "wraps"), int(clock, "wraps_in_slices")), (1, 1));
    let last = ops(&rank)[49];
    assert!((last.duration_ps - 60_000_000).abs() < 2_000, "{}", last.duration_ps);
    assert_eq!(last.start_ps + last.duration_ps, 4_967_000_000);
    assert_eq!(int(&last.fields, "host_duration"), 67_000_000, "the host began later");
    assert_eq!(int(&last.fields, "wraps"), 1);
}

#[test]
fn a_stated_frequency_that_is_wrong_is_told() {
    let device = Device::new(560e6, 0);
    let slices: Vec<String> =
        (0..9).map(|n| device.slice("k Cmpt Exec", 100 * n, 100 * n + 60).complete()).collect();
    let text = format!("[{}]", slices.join(","));
    let settings = AiuSettings { soc_mhz: Some(1000.0), ..AiuSettings::default() };
    let rank = read(&[("a.json", text)], settings).remove(0);
    assert!((ops(&rank)[3].duration_ps - 33_600_000).abs() < 2_000);
    // Ranks with other frequencies have the same kind of warning.
    let warning = rank.warnings().into_iter().find(|warning| warning.first_place.contains("560.0")).unwrap();
    assert_eq!(warning.what, "the stated frequency is not the one of the counters");
}

#[test]
fn jobs_outside_of_their_round_trips_are_shifted_if_asked() {
    let device = Device::new(560e6, 0);
    let job = format!(
        r#"[{{"ph":"X","pid":0,"tid":9,"ts":100,"dur":500,"name":"AIU Roundtrip"}},{},{}]"#,
        device.slice("a Cmpt Exec", 700, 750).complete(),
        device.slice("b Cmpt Exec", 800, 850).complete(),
    );
    let starts = |outside| {
        let settings = AiuSettings { soc_mhz: Some(560.0), outside, ..AiuSettings::default() };
        let rank = read(&[("a.json", job.clone())], settings).remove(0);
        let job = rank.rows_of("aiu_job").next().unwrap();
        assert!((float(job, "shift") + 600_000.0).abs() < 1.0);
        assert_eq!(rank.warnings().len(), 1, "{:?}", rank.warnings());
        ops(&rank).iter().map(|slice| (slice.start_ps + 500_000) / 1_000_000).collect::<Vec<i64>>()
    };
    assert_eq!(starts(OutsideWork::Kept), [700, 800]);
    assert_eq!(starts(OutsideWork::Shifted), [100, 200]);
}

#[test]
fn the_compilers_log_gives_the_use_of_the_pt_arrays() {
    let device = Device::new(560e6, 0);
    let trace = format!(
        "[{},{},{}]",
        device.slice("mul_1 Cmpt Exec", 100, 300).complete(),
        device.slice("add Cmpt Exec", 300, 400).complete(),
        device.slice("new Cmpt Exec", 400, 500).complete(),
    );
    let log = "~~~~ Ideal/Total Cycles ~~~~\nmul_1-opCatBmm_fp16  80000\nadd-opCatScalar   0\nTotal 80000\n";
    let files = [("run.json", trace), ("compiler.log", log.to_owned())];
    let rank = read(&files, AiuSettings { core_mhz: 800.0, soc_mhz: Some(560.0), ..AiuSettings::default() })
        .remove(0);
    let rows: Vec<(String, i64, f64)> = rank
        .rows_of("aiu_category")
        .map(|row| {
            let Some(OwnedValue::Text(category)) = field(row, "category") else { panic!("{row:?}") };
            (category.clone(), int(row, "calls"), (float(row, "pt_util") * 1e4).round() / 1e4)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("StcdpHbm".to_owned(), 0, 0.0),
            ("other".to_owned(), 1, 0.0),
            ("Scalar".to_owned(), 1, 0.0),
            ("Bmm_fp16".to_owned(), 1, 0.5),
            ("Total".to_owned(), 3, 0.25),
        ]
    );
    let has_phase = |table| rank.rows_of(table).any(|row| field(row, "phase").is_some());
    assert!(!has_phase("aiu_category") && !has_phase("aiu_ideal"), "the log names no phase");
    let first = &ops(&rank)[0].fields;
    assert_eq!(field(first, "phase"), None);
    assert_eq!(field(first, "category"), Some(&OwnedValue::Text("Bmm_fp16".to_owned())));
    assert!((float(first, "pt_active") - 0.5).abs() < 1e-6);
    let active = samples(&rank, "PT active");
    assert_eq!(active.len(), 2);
    assert!((active[0].1 - 0.5).abs() < 1e-6 && active[1].1.abs() < 1e-9);
}

#[test]
fn each_phase_of_the_model_has_its_table() {
    let device = Device::new(560e6, 0);
    let mut kernels = vec![
        device.slice("mul Cmpt Exec", 0, 200).complete(),
        device.slice("add Cmpt Exec", 200, 300).complete(),
    ];
    for n in 3..6 {
        kernels.push(device.slice("mul Cmpt Exec", 100 * n, 100 * n + 20).complete());
        kernels.push(device.slice("add Cmpt Exec", 100 * n + 20, 100 * n + 30).complete());
    }
    let table = |phase: &str, mul: u32, add: u32| {
        format!("{phase}\nIdeal/Total Cycles\nmul-opCatBmm {mul}\nadd-opCatScalar {add}\nPerf Summary End\n")
    };
    // 100 and 10 us at 800 MHz.
    let log = [table("PREFILL", 80_000, 8_000), table("DECODING", 8_000, 80)].concat();
    let files = [("run.json", format!("[{}]", kernels.join(","))), ("compiler.log", log)];
    let settings = AiuSettings { core_mhz: 800.0, soc_mhz: Some(560.0), ..AiuSettings::default() };
    let rank = read(&files, settings).remove(0);
    let phases: Vec<String> = ops(&rank)
        .iter()
        .map(|slice| match field(&slice.fields, "phase") {
            Some(OwnedValue::Text(phase)) => phase.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(phases, ["TTFT", "TTFT", "ITL", "ITL", "ITL", "ITL", "ITL", "ITL"]);
}

#[test]
fn pytorchs_dialect_is_read_with_its_kernels_and_transfers() {
    let files = [
        ("t.pt.trace.json", include_str!("../../../../fuzz/seeds/aiu/torch.json").to_owned()),
        ("a/perf/ideal_cycles.json", r#"[{"ideal_cycles": 1100, "op_category": "Bmm"}]"#.to_owned()),
    ];
    let rank = read(&files, AiuSettings::default()).remove(0);
    assert_eq!(rank.rank.rank, Some(2));
    assert_eq!(rank.slices.len(), 3);
    let kernel = rank.rows_of("aiu_kernel").next().unwrap();
    assert!((float(kernel, "total") - 3_000.0).abs() < 1e-9);
    let total = rank.rows_of("aiu_category").last().unwrap();
    assert!((float(total, "pt_util") - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(samples(&rank, "Transfer rate"), [(10.0, 2.5e9), (12.0, 0.0)]);
}

#[test]
fn any_cut_of_a_trace_is_read() {
    for text in [
        include_str!("../../../../fuzz/seeds/aiu/flex.json"),
        include_str!("../../../../fuzz/seeds/aiu/torch.json"),
    ] {
        let whole = read_one(text).slices.len();
        for cut in (180..text.len()).step_by(7) {
            assert!(read_one(&text[..cut]).slices.len() <= whole + 1);
        }
    }
}

proptest! {
    /// The order of files, the start of the counter and its overflows change no duration.
    #[test]
    fn order_of_files_and_overflow_change_nothing(
        start: u32,
        hz in 400e6..900e6_f64,
        gaps in prop::collection::vec(0_i64..30_000_000, 3),
        order in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        let device = Device::new(hz, start);
        let mut begin = 0;
        let jobs: Vec<(String, String)> = gaps.iter().enumerate().map(|(job, gap)| {
            begin += gap;
            let slices: Vec<String> = (0..12)
                .map(|n| device.slice("k Cmpt Exec", begin + 100 * n, begin + 100 * n + 70).complete())
                .collect();
            begin += 2_000;
            (format!("job_{job}.json"), format!("[{}]", slices.join(",")))
        }).collect();
        let files: Vec<(&str, String)> =
            order.iter().map(|&at| (jobs[at].0.as_str(), jobs[at].1.clone())).collect();
        let rank = read(&files, AiuSettings::default()).remove(0);
        let clock = rank.rows_of("aiu_clock").next().unwrap();
        prop_assert!((float(clock, "found_hz") / hz - 1.0).abs() < 1e-5, "{clock:?}");
        for slice in ops(&rank) {
            prop_assert!((slice.duration_ps - 70_000_000).abs() < 5_000, "{}", slice.duration_ps);
        }
    }
}

#[test]
fn settings_leave_events_out() {
    let device = Device::new(560e6, 7);
    let (a, b) = (device.slice("relu Cmpt Exec", 10, 30), device.slice("add Cmpt Exec", 40, 55));
    let host = r#"{"ph":"X","name":"AIU Roundtrip","pid":0,"tid":9,"ts":5,"dur":60}"#;
    let text = format!("[{},{},{},{},{host}]", a.begin(), a.end(), b.begin(), b.end());
    let names = |settings: &AiuSettings| {
        let files = [("a.json", text.clone()), ("settings.json", settings.to_file().unwrap())];
        let rank = read(&files, AiuSettings::default()).remove(0);
        assert!(rank.warnings().is_empty(), "{:?}", rank.warnings());
        let mut names: Vec<String> = rank.slices.iter().map(|slice| slice.name.clone()).collect();
        names.sort();
        names
    };
    let all = ["AIU Roundtrip", "add Cmpt Exec", "relu Cmpt Exec"];
    assert_eq!(names(&AiuSettings::default()), all);
    let pattern = |path: &str, regex: &str| ValuePattern { path: path.to_owned(), regex: regex.to_owned() };
    let filtered = AiuSettings { left_out: vec![pattern("name", "^relu")], ..AiuSettings::default() };
    assert_eq!(names(&filtered), all[..2], "the end goes with its begin");
    let argument = AiuSettings { left_out: vec![pattern("args.TS1", ".")], ..AiuSettings::default() };
    assert_eq!(names(&argument), all[..1]);
    for (path, regex, left) in [
        // Pairs have durations, too.
        ("dur", "^20(\\.0)?$", &all[..2]),
        ("dur", "^15", &[all[0], all[2]]),
        ("dur", "^60$", &all[1..]),
        ("dur", "", &[]),
        ("ph", "^X$", &[]),
        ("ph", "B", &all),
        ("args.rank", "^0$", &[]),
        ("args.rank", "^1$", &all),
    ] {
        let filtered = AiuSettings { left_out: vec![pattern(path, regex)], ..AiuSettings::default() };
        assert_eq!(names(&filtered), left, "{path}:{regex}");
    }
    let limit = EventLimit { skip: 1, count: 1, ..EventLimit::default() };
    let both = AiuSettings { left_out: vec![pattern("dur", "^20")], limit, ..AiuSettings::default() };
    assert_eq!(names(&both), all[1..2], "an event that is left out counts");
    let dropped = AiuSettings { globals: Globals::Dropped, ..AiuSettings::default() };
    assert_eq!(names(&dropped), all[1..]);
}

#[test]
fn filters_know_the_rank_that_is_written() {
    let device = Device::new(560e6, 7);
    let slice = device.slice("add Cmpt Exec", 40, 55).complete();
    let of_process = slice.replace("\"pid\":0", "\"pid\":4711");
    let torch = |more: &str| {
        let kernel = r#"{"ph":"X","cat":"kernel","name":"add","pid":0,"tid":1,"ts":5,"dur":6,"args":{}}"#;
        format!(
            r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"AIU"}}]{more},"traceEvents":[{kernel}]}}"#
        )
    };
    let stated = r#","distributedInfo":{"rank":5}"#;
    for (file, text, rank) in [
        ("a.json", format!("[{slice}]"), 0),
        ("a.json", format!("[{of_process}]"), 4711),
        ("rank_3.json", format!("[{of_process}]"), 3),
        ("a.json", format!("{{\"distributedInfo\":{{\"rank\":6}},\"traceEvents\":[{of_process}]}}"), 6),
        ("a.json", torch(""), 0),
        ("a.json", torch(stated), 5),
        ("rank_2.json", torch(stated), 2),
    ] {
        let slices = |regex: String| {
            let left_out = vec![ValuePattern { path: "args.rank".to_owned(), regex }];
            let files = [(file, text.clone())];
            read(&files, AiuSettings { left_out, ..AiuSettings::default() }).remove(0).slices.len()
        };
        assert_eq!((slices(format!("^{rank}$")), slices("^9".to_owned())), (0, 1), "{file} {text}");
    }
}

#[test]
fn a_limit_counts_whole_slices_in_the_order_of_time() {
    let device = Device::new(560e6, 7);
    let host =
        r#"{"ph":"B","name":"run","pid":0,"tid":9,"ts":5},{"ph":"E","name":"run","pid":0,"tid":9,"ts":95}"#;
    let slices = |names: &[&str], begin: i64| {
        let pair = |(n, name): (i64, &&str)| {
            let slice = device.slice(name, begin + 10 * n, begin + 10 * n + 8);
            format!("{},{}", slice.begin(), slice.end())
        };
        (0..).zip(names).map(pair).collect::<Vec<String>>().join(",")
    };
    let first = format!("[{host},{}]", slices(&["a Cmpt Exec", "b Cmpt Exec", "c Cmpt Exec"], 10));
    let second = format!("[{}]", slices(&["d Cmpt Exec", "e Cmpt Exec"], 100));
    let names = |limit: EventLimit| {
        let files = [("2.json", second.clone()), ("1.json", first.clone())];
        let rank = read(&files, AiuSettings { limit, ..AiuSettings::default() }).remove(0);
        assert!(rank.warnings().is_empty(), "{:?}", rank.warnings());
        let mut names: Vec<String> =
            rank.slices.iter().map(|slice| slice.name.replace(" Cmpt Exec", "")).collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names(EventLimit { skip: 2, count: 2, ..EventLimit::default() }), "b c");
    assert_eq!(names(EventLimit { skip: 3, ..EventLimit::default() }), "c d e");
    assert_eq!(names(EventLimit { ts_start: 29.0, ts_end: 100.0, ..EventLimit::default() }), "c d run");
    assert_eq!(names(EventLimit { ts_start: 96.0, count: 1, ..EventLimit::default() }), "d");
    assert_eq!(
        names(EventLimit { no_count_types: "MBE".to_owned(), count: 0, ..EventLimit::default() }),
        "a b c d e run"
    );
}

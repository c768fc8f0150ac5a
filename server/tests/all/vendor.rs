//! A device trace exported as JSON from the store equals the export of the vendor's own tool.
//!
//! The real pairs are outside the project. If they are missing, the tests say so and pass.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The pairs of trace and export, if they are there.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/neuron");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: there are no real traces here");
        return Vec::new();
    };
    let mut traces: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    traces.retain(|path| path.extension().is_some_and(|extension| extension == "ntff"));
    traces.sort();
    traces.into_iter().map(|trace| (trace.clone(), trace.with_extension("json"))).collect()
}

/// The output of `nprof view --output-format json` for a trace.
fn exported(trace: &PathBuf) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out.json");
    let done = Command::new(env!("CARGO_BIN_EXE_nprof"))
        .arg("--store")
        .arg(directory.path().join("store"))
        .args(["view", "--output-format", "json", "--output-file"])
        .arg(&output)
        .arg("-s")
        .arg(trace)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}: {}", trace.display(), String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&std::fs::read(output).unwrap()).unwrap()
}

/// The rows of a table, reduced to some fields and sorted.
fn rows(tables: &Value, table: &str, fields: &[&str], keep: impl Fn(&Value) -> bool) -> Vec<String> {
    let all = tables[table].as_array().cloned().unwrap_or_default();
    let mut rows: Vec<String> = all
        .iter()
        .filter(|row| keep(row))
        .map(|row| {
            let cut: Vec<String> =
                fields.iter().map(|field| format!("{field}={}", plain(field, &row[field]))).collect();
            cut.join(" ")
        })
        .collect();
    rows.sort();
    rows
}

/// A value without data that the trace file does not hold: names of semaphores come from the NEFF.
fn plain(field: &str, value: &Value) -> String {
    match value {
        Value::String(text) if field == "id" => {
            let number = text.strip_prefix("S[").and_then(|rest| rest.split(']').next());
            number.unwrap_or(text).to_owned()
        }
        // 1.0 and 1 are the same number.
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}

#[track_caller]
fn check_rows(ours: &Value, theirs: &Value, table: &str, fields: &[&str], what: &str) {
    let keep_all = |_: &Value| true;
    let (ours, theirs) = (rows(ours, table, fields, keep_all), rows(theirs, table, fields, keep_all));
    assert_eq!(ours.len(), theirs.len(), "{what}: rows of {table}");
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "{what}: {table}, row {at} in order of its fields");
    }
}

#[test]
fn tables_equal_the_vendors() {
    for (trace, export) in pairs() {
        let ours = exported(&trace);
        let theirs: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
        let what = trace.file_name().unwrap().to_string_lossy().into_owned();
        let instruction = ["timestamp", "duration", "pc", "opcode", "label", "evt_wait_time"];
        check_rows(&ours, &theirs, "instruction", &instruction, &what);
        let dma = [
            "timestamp",
            "duration",
            "transfer_size",
            "read_size",
            "write_size",
            "dma_engine",
            "dma_queue",
            "queue_type",
            "transfer_rate",
            "aggregated",
            "subgroup",
            "packet_idx",
        ];
        check_rows(&ours, &theirs, "dma", &dma, &what);
        check_rows(&ours, &theirs, "semaphore_update", &["timestamp", "value", "id"], &what);
        check_rows(&ours, &theirs, "ham", &["timestamp", "duration", "k", "n", "type"], &what);
        check_rows(&ours, &theirs, "nc_mem_usage", &["nd", "nc", "usage_type", "amount_bytes"], &what);
        check_rows(&ours, &theirs, "active_time", &["engine", "start_ts", "end_ts", "duration_ns"], &what);
        check_rows(&ours, &theirs, "pending_dma", &["timestamp", "value"], &what);
        let throughput =
            ["timestamp", "transfer_rate", "total_transfer_bytes", "hbm_transfer_rate", "uses_hbm"];
        check_rows(&ours, &theirs, "dma_throughput", &throughput, &what);
        let queues = ["q_name", "q_type", "q_idx", "q_eng_idx", "q_event_id", "subgraph"];
        check_rows(&ours, &theirs, "dma_queues_info", &queues, &what);
        // Ids differ, so rows are identified by their other values.
        assert_eq!(dependences(&ours), dependences(&theirs), "{what}: predecessors");
        assert!(ours["dma"].as_array().unwrap().iter().all(|row| row["id"].is_u64()), "{what}: ids of dma");
    }
}

/// Metrics of the vendor's summary that need the NEFF: the model's requirements, sizes of its
/// tensors, the compiler.
const NEED_NEFF: [&str; 13] = [
    "model_flops",
    "transpose_flops",
    "mm_arithmetic_intensity",
    "mfu_estimated_percent",
    "mfu_hlo_estimated_percent",
    "mfu_inst_estimated_percent",
    "mfu_max_achievable_estimated_percent",
    "mfu_hlo_max_achievable_estimated_percent",
    "mfu_inst_max_achievable_estimated_percent",
    "inputs_and_weights_size_bytes",
    "mbu_min_read_util_percent",
    "compiler_version",
    "profiler_version",
];

#[test]
fn the_summary_equals_the_vendors() {
    let mut missing: BTreeMap<String, u32> = BTreeMap::new();
    for (trace, export) in pairs() {
        let ours = exported(&trace);
        let theirs: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
        let (ours, theirs) = (&ours["summary"][0], theirs["summary"][0].as_object().unwrap());
        for (name, expected) in theirs.iter().filter(|(name, _)| !NEED_NEFF.contains(&name.as_str())) {
            let what = format!("{}: {name}", trace.file_name().unwrap().to_string_lossy());
            match (ours[name].as_f64(), expected.as_f64()) {
                (Some(ours), Some(expected)) => {
                    let tolerance = expected.abs() * 1e-4 + 1e-15;
                    assert!((ours - expected).abs() <= tolerance, "{what}: {ours}, expected {expected}");
                }
                (None, Some(_)) => *missing.entry(name.clone()).or_default() += 1,
                _ => assert_eq!(&ours[name], expected, "{what}"),
            }
        }
    }
    assert!(missing.is_empty(), "metrics that we do not have: {missing:?}");
}

/// Sum of a quantity of the rows of a table.
fn sum_of(tables: &Value, table: &str, quantity: impl Fn(&Value) -> f64) -> f64 {
    tables[table].as_array().unwrap().iter().map(quantity).sum()
}

#[test]
fn the_operations_of_tensor_are_split_by_the_vendors_times() {
    let mut checked = 0;
    for (trace, export) in pairs() {
        let what = trace.file_name().unwrap().to_string_lossy().into_owned();
        let theirs: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
        for ours in [exported(&trace), exported(&export)] {
            let value = |name: &str| ours["summary"][0][name].as_f64().unwrap_or_default();
            let part = |name: &str| value(&format!("tensor_engine_{name}_flops"));
            let given = |name: &str| theirs["summary"][0][name].as_f64().unwrap();
            let peak = given("hardware_flops") / given("hfu_estimated_percent") / given("total_time");
            let is_near = |ours: f64, expected: f64, least: f64| {
                let tolerance = expected.abs() * 1e-3 + least;
                assert!((ours - expected).abs() <= tolerance, "{what}: {ours}, expected {expected}");
            };
            is_near(part("peak"), peak * given("total_time"), 0.0);
            is_near(part("active"), peak * given("tensor_engine_active_time"), 0.0);
            let known = value("model_flops") + value("transpose_flops");
            is_near(known + part("other"), given("hardware_flops"), 0.0);
            let throttled = part("active_throttled") + part("inactive_throttled");
            let lost_ns = |row: &Value| {
                let of = |name: &str| row[name].as_f64().unwrap();
                of("duration") * (1.0 - of("k") / of("n"))
            };
            // The vendor writes whole nanoseconds.
            let rows = theirs["ham"].as_array().unwrap().len() as f64;
            is_near(throttled, peak * 1e-9 * sum_of(&theirs, "ham", lost_ns), peak * 1e-9 * rows);
            let sum = known + part("other") + part("unused") + throttled + part("idle");
            assert!((sum / part("peak") - 1.0).abs() < 1e-9, "{what}: {sum} of {}", part("peak"));
            assert!(part("active_throttled") < part("active") && part("unused") > 0.0, "{what}");
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * pairs().len());
}

#[test]
fn metrics_stand_in_the_vendors_groups_and_have_a_definition() {
    for (trace, export) in pairs() {
        let ours = exported(&trace);
        let theirs: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
        let what = trace.file_name().unwrap().to_string_lossy().into_owned();
        let groups = ours["summary_groups"][0].as_object().unwrap();
        let theirs_groups = theirs["summary_groups"][0].as_object().unwrap();
        assert_eq!(groups.len(), ours["summary"][0].as_object().unwrap().len(), "{what}");
        for (metric, group) in groups {
            if let Some(expected) = theirs_groups.get(metric) {
                assert_eq!(group, expected, "{what}: {metric}");
            }
            let definition = ours["terminology"][0][metric].as_str().unwrap_or_default();
            assert!(!definition.is_empty(), "{what}: {metric} is not explained");
        }
        assert_eq!(ours["summary_group_order"], theirs["summary_group_order"], "{what}");
    }
}

#[test]
fn the_row_of_the_whole_program_equals_the_vendors() {
    for (trace, export) in pairs() {
        let ours = exported(&trace);
        let theirs: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
        let what = trace.file_name().unwrap().to_string_lossy().into_owned();
        let row = ours["layer_summary"][0].as_object().unwrap();
        let whole = |row: &&Value| row["name"] == row["fully_qualified_subgraph"];
        let all = theirs["layer_summary"].as_array().unwrap();
        let theirs = all.iter().find(whole).unwrap().as_object().unwrap();
        for (name, expected) in theirs {
            match (row.get(name), expected.as_f64()) {
                // The model's requirements are in the NEFF.
                (None, _) => {
                    assert!(name.contains("mfu") || name.contains("model_flop"), "{what}: no {name}")
                }
                (Some(ours), Some(expected)) => {
                    let difference = (ours.as_f64().unwrap() - expected).abs();
                    let tolerance = if expected.fract() == 0.0 { 0.0 } else { expected.abs() * 1e-6 };
                    assert!(difference <= tolerance, "{what}: {name} is {ours}, expected {expected}");
                }
                (Some(ours), None) => assert_eq!(ours, expected, "{what}: {name}"),
            }
        }
    }
}

/// The values that identify an instruction in both exports.
fn instruction(row: &Value) -> String {
    format!("{} {} {} {}", row["timestamp"], row["duration"], row["opcode"], row["label"])
}

/// Each instruction with the instructions that its row lists as predecessors.
fn dependences(tables: &Value) -> Vec<String> {
    let rows = tables["instruction"].as_array().unwrap();
    let by_id: BTreeMap<u64, String> =
        rows.iter().map(|row| (row["id"].as_u64().unwrap(), instruction(row))).collect();
    assert_eq!(by_id.len(), rows.len(), "ids are unique");
    let mut all = Vec::new();
    for row in rows {
        let Some(list) = row.get("predecessors") else { continue };
        for predecessor in list.as_array().unwrap() {
            let from = &by_id[&predecessor["id"].as_u64().unwrap()];
            all.push(format!("{from} -> {} ({})", instruction(row), predecessor["type"]));
        }
        assert!(!list.as_array().unwrap().is_empty(), "an empty list is left out");
    }
    all.sort();
    all
}

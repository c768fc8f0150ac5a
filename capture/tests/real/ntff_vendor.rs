//! Compares real traces with the output of the vendor's tool, row by row. Skipped if the traces are
//! not available.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nprof_capture::formats::{neuron_json, ntff};
use nprof_engine::fixture::{RecordedSample, RecordedSlice, Recorder};
use nprof_engine::model::{OwnedValue, Role, TrackContent};
use nprof_engine::spill::{MemoryScratch, Space};
use serde_json::{Map, Value as Json};

/// A row: the compared columns only, as text.
type Row = BTreeMap<String, String>;

/// The trace files; none if the folder is missing.
pub(super) fn traces() -> Vec<PathBuf> {
    // Beside the project, or beside the folder of a work tree.
    let beside = ["../..", "../../.."].map(|above| Path::new(env!("CARGO_MANIFEST_DIR")).join(above));
    let folders = beside.map(|above| above.join("shared/data/neuron"));
    let Some((folder, entries)) = folders.iter().find_map(|of| Some((of, std::fs::read_dir(of).ok()?)))
    else {
        println!("skipped: shared/data/neuron is not there");
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ntff"));
    paths.sort();
    assert!(!paths.is_empty(), "{} holds no trace", folder.display());
    paths
}

/// A trace as it is read here and as the vendor's tool exported it.
fn read_both(path: &Path) -> (Recorder, Json) {
    let mut recorder = Recorder::default();
    let scratch = MemoryScratch::default();
    let bytes = std::fs::read(path).unwrap();
    ntff::read(&bytes, None, Space::new(&scratch), &mut recorder, &mut |_| {}).unwrap();
    assert_eq!(recorder.warnings(), [], "{}", path.display());
    let exported = std::fs::read(path.with_extension("json")).unwrap();
    (recorder, serde_json::from_slice(&exported).unwrap())
}

/// Checks every trace: `ours` and `theirs` make the rows of one table.
fn check_all(
    table: &str,
    columns: &[&str],
    ours: impl Fn(&Recorder) -> Vec<Map<String, Json>>,
    theirs: impl Fn(&Map<String, Json>) -> bool,
) {
    for path in traces() {
        let (recorder, exported) = read_both(&path);
        let rows = exported[table].as_array().unwrap().iter().map(|row| row.as_object().unwrap());
        let expected = projected(rows.filter(|row| theirs(row)).cloned(), columns);
        let found = projected(ours(&recorder).into_iter(), columns);
        assert!(!expected.is_empty(), "{table} of {} has no row to compare", path.display());
        if found != expected {
            let missing: Vec<&Row> = expected.iter().filter(|row| !found.contains(row)).take(3).collect();
            let extra: Vec<&Row> = found.iter().filter(|row| !expected.contains(row)).take(3).collect();
            let (count, wanted) = (found.len(), expected.len());
            let path = path.display();
            panic!(
                "{table} of {path}: {count} rows, {wanted} expected\nmissing: {missing:#?}\nextra: {extra:#?}"
            );
        }
    }
}

fn projected(rows: impl Iterator<Item = Map<String, Json>>, columns: &[&str]) -> Vec<Row> {
    let text = |column: &str, value: &Json| match value {
        Json::String(text) => without_names(text),
        // Floats are of single precision in the vendor's tool.
        Json::Number(number) if is_float(column) => (number.as_f64().unwrap() as f32).to_string(),
        other => other.to_string(),
    };
    let mut projected: Vec<Row> = rows
        .map(|row| {
            let columns = columns.iter().filter_map(|&column| Some((column, row.get(column)?)));
            columns.map(|(column, value)| (column.to_owned(), text(column, value))).collect()
        })
        .collect();
    projected.sort();
    projected
}

fn is_float(column: &str) -> bool {
    column.ends_with("transfer_rate") || column.starts_with("pe_clock")
}

/// Removes the names of semaphores, which only the NEFF has: `S[8] (qSyncSpillReload0)>=16` becomes
/// `S[8]>=16`.
fn without_names(text: &str) -> String {
    let mut parts = text.split("] (");
    let mut shown = parts.next().unwrap().to_owned();
    for part in parts {
        shown.push(']');
        shown.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    shown
}

fn json(value: &OwnedValue) -> Json {
    match value {
        OwnedValue::Int(v) => (*v).into(),
        OwnedValue::Uint(v) => (*v).into(),
        OwnedValue::Float(v) => (*v).into(),
        OwnedValue::Bool(v) => (*v).into(),
        OwnedValue::Text(v) => v.as_str().into(),
        OwnedValue::Json(v) => serde_json::from_str(v).unwrap(),
    }
}

fn fields(fields: &[(String, OwnedValue)]) -> Map<String, Json> {
    fields.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}

fn slice_row(slice: &RecordedSlice, name_key: &str) -> Map<String, Json> {
    let mut row = fields(&slice.fields);
    row.insert("timestamp".into(), slice.start_ps.div_euclid(1000).into());
    row.insert("duration".into(), slice.duration_ps.div_euclid(1000).into());
    if !name_key.is_empty() {
        row.insert(name_key.into(), slice.name.as_str().into());
    }
    row
}

fn slices(recorder: &Recorder, table: &str) -> Vec<Map<String, Json>> {
    let name_key = &recorder.tables.iter().find(|spec| spec.name == table).unwrap().name_key;
    recorder.slices_of(table).map(|slice| slice_row(slice, name_key)).collect()
}

fn samples<'r>(recorder: &'r Recorder, table: &'r str) -> impl Iterator<Item = &'r RecordedSample> {
    recorder.samples.iter().filter(move |sample| match recorder.tracks[sample.track.0 as usize].kind {
        TrackContent::Counter(id) => recorder.tables[usize::from(id.0)].name == table,
        TrackContent::Group | TrackContent::Slices(..) => false,
    })
}

fn sample_rows(recorder: &Recorder, table: &str, value_key: &str) -> Vec<Map<String, Json>> {
    samples(recorder, table)
        .map(|sample| {
            let mut row = fields(&sample.fields);
            row.insert("timestamp".into(), sample.time_ps.div_euclid(1000).into());
            let whole = sample.value as i64;
            let value = if is_float(value_key) { sample.value.into() } else { Json::from(whole) };
            row.insert(value_key.into(), value);
            row
        })
        .collect()
}

fn side(recorder: &Recorder, table: &str) -> Vec<Map<String, Json>> {
    recorder.rows_of(table).map(|row| fields(row)).collect()
}

#[test]
fn instructions() {
    let columns = [
        "timestamp",
        "duration",
        "pc",
        "compiler_pc",
        "opcode",
        "label",
        "subgroup",
        "operands",
        "evt_wait_time",
        "crc_in",
        "crc_out",
        "elements",
        "hbm_read_bytes",
        "hbm_write_bytes",
        "sbuf_read_bytes",
        "sbuf_write_bytes",
        "psum_read_bytes",
        "psum_write_bytes",
        "psum_read_sbuf_write_bytes",
        "is_psum_read_sbuf_write",
        "spill_save_bytes",
        "spill_reload_bytes",
        "weight_queue_bytes",
        "trigger",
        "fully_qualified_subgraph",
    ];
    check_all("instruction", &columns, |recorder| slices(recorder, "instruction"), |_| true);
}

#[test]
fn dma_packets() {
    let columns = [
        "timestamp",
        "duration",
        "transfer_size",
        "read_size",
        "write_size",
        "transfer_rate",
        "dma_engine",
        "dma_queue",
        "queue_type",
        "subgroup",
        "packet_idx",
        "crc",
        "aggregated",
        "block_id",
        "duplicate",
        "is_cc_dma",
        "trigger",
    ];
    check_all("dma", &columns, |recorder| slices(recorder, "dma"), |_| true);
    let unnamed =
        ["timestamp", "dma_engine", "packet_idx", "variable", "source", "dest", "op", "semaphore_id"];
    let is_dynamic = |row: &Map<String, Json>| row["queue_type"] != "data";
    let dynamic = |recorder: &Recorder| {
        let mut rows = slices(recorder, "dma");
        rows.retain(is_dynamic);
        rows
    };
    check_all("dma", &unnamed, dynamic, is_dynamic);
}

#[test]
fn semaphores() {
    let ours = |recorder: &Recorder| slices(recorder, "semaphore_update");
    // An id is a number, or `S[8] (name)` if the NEFF names it.
    let number = |id: &Json| {
        let id = id.as_str().unwrap();
        id.strip_prefix("S[").map_or(id, |rest| rest.split(']').next().unwrap()).to_owned()
    };
    for path in traces() {
        let (recorder, exported) = read_both(&path);
        let key = |row: &Map<String, Json>| {
            (row["timestamp"].as_i64().unwrap(), number(&row["id"]), row["value"].as_i64().unwrap())
        };
        let mut found: Vec<_> = ours(&recorder).iter().map(key).collect();
        let rows = exported["semaphore_update"].as_array().unwrap();
        let mut expected: Vec<_> = rows.iter().map(|row| key(row.as_object().unwrap())).collect();
        found.sort();
        expected.sort();
        assert!(!expected.is_empty() && found == expected, "{}", path.display());
    }
}

#[test]
fn throttling() {
    let columns = ["timestamp", "duration", "k", "n", "type"];
    check_all("ham", &columns, |recorder| slices(recorder, "ham"), |_| true);
}

#[test]
fn pending_transfers() {
    let ours = |recorder: &Recorder| sample_rows(recorder, "pending_dma", "value");
    check_all("pending_dma", &["timestamp", "value"], ours, |_| true);
}

#[test]
fn data_rate() {
    let columns = [
        "timestamp",
        "transfer_rate",
        "hbm_transfer_rate",
        "total_transfer_bytes",
        "hbm_total_transfer_bytes",
        "uses_hbm",
    ];
    let ours = |recorder: &Recorder| sample_rows(recorder, "dma_throughput", "transfer_rate");
    check_all("dma_throughput", &columns, ours, |_| true);
}

const METADATA_COLUMNS: [&str; 18] = [
    "ntff_version",
    "data_version",
    "first_hw_timestamp",
    "last_hw_timestamp",
    "first_ts",
    "last_ts",
    "ticks_per_nanosec",
    "num_subgraphs",
    "num_physical_cores",
    "is_simulation",
    "is_ext",
    "vnc_enabled",
    "pe_clock_freq",
    "pe_clock_others",
    "pe_num_rows",
    "pe_num_cols",
    "hbm_ddr_bandwidth",
    "dma_ddr_bandwidth",
];

#[test]
fn side_tables() {
    let tables: [(&str, &[&str]); 7] = [
        ("neff_header", &["network_name"]),
        (
            "model_info",
            &[
                "nd_idx",
                "nc_idx",
                "sg_name",
                "event_count",
                "trace_count",
                "dma_queue_count",
                "tensor_engine_instruction_count",
                "vector_engine_instruction_count",
                "scalar_engine_instruction_count",
                "gpsimd_engine_instruction_count",
                "sync_engine_instruction_count",
            ],
        ),
        (
            "summary",
            &[
                "instance_type",
                "runtime_version",
                "driver_version",
                "collectives_version",
                "total_time",
                "nd_idx",
                "nc_idx",
            ],
        ),
        ("nc_mem_usage", &["nd", "nc", "usage_type", "amount_bytes"]),
        (
            "dma_queues_info",
            &[
                "q_name",
                "q_type",
                "q_idx",
                "q_eng_idx",
                "q_event_id",
                "q_axi_port",
                "q_dram_channel",
                "subgraph",
            ],
        ),
        ("profile_info", &["profile_name", "neff_name", "profile_type", "cc_only"]),
        ("metadata", &METADATA_COLUMNS),
    ];
    for (table, columns) in tables {
        check_all(table, columns, |recorder| side(recorder, table), |_| true);
    }
}

/// Largest difference of a share, because the vendor's tool adds up single-precision numbers.
const USAGE_TOLERANCE: f64 = 2e-6;

#[test]
fn memory_usage() {
    for path in traces() {
        let (recorder, exported) = read_both(&path);
        let order = |row: &Map<String, Json>| (row["type"].to_string(), row["timestamp"].as_i64().unwrap());
        let mut found: Vec<_> = samples(&recorder, "instruction_usage")
            .map(|sample| {
                let mut row = fields(&sample.fields);
                row.insert("timestamp".into(), sample.time_ps.div_euclid(1000).into());
                row.insert("usage_avg".into(), sample.value.into());
                row
            })
            .collect();
        let rows = exported["instruction_usage"].as_array().unwrap();
        let mut expected: Vec<_> = rows.iter().map(|row| row.as_object().unwrap().clone()).collect();
        found.sort_by_key(order);
        expected.sort_by_key(order);
        let times = |rows: &[Map<String, Json>]| rows.iter().map(order).collect::<Vec<_>>();
        assert_eq!(times(&found), times(&expected), "{}", path.display());
        for (found, expected) in found.iter().zip(&expected) {
            let keys =
                |row: &Map<String, Json>| row.keys().cloned().collect::<std::collections::BTreeSet<_>>();
            assert_eq!(keys(found), keys(expected), "{}", path.display());
            for (key, expected_value) in
                expected.iter().filter(|(key, _)| key.ends_with("usage") || *key == "usage_avg")
            {
                let difference = found[key].as_f64().unwrap() - expected_value.as_f64().unwrap();
                assert!(
                    difference.abs() <= USAGE_TOLERANCE,
                    "{}: {key} of {found:?}, expected {expected:?}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn predecessors() {
    for path in traces() {
        let (recorder, exported) = read_both(&path);
        let rows = exported["instruction"].as_array().unwrap();
        let place = |row: &Map<String, Json>| format!("{}:{}:{}", row["label"], row["pc"], row["timestamp"]);
        let by_id: BTreeMap<u64, String> =
            rows.iter().map(|row| (row["id"].as_u64().unwrap(), place(row.as_object().unwrap()))).collect();
        let mut expected = Vec::new();
        for row in rows {
            for before in row.get("predecessors").and_then(Json::as_array).into_iter().flatten() {
                let from = by_id[&before["id"].as_u64().unwrap()].clone();
                expected.push((from, place(row.as_object().unwrap())));
            }
        }
        let shown = |key: nprof_engine::model::SliceKey| {
            place(&slice_row(&recorder.slices[recorder.index_of(key)], "opcode"))
        };
        let dependencies = recorder.links.iter().filter(|(_, _, name)| name == "FLOW_DEPENDENCE");
        let mut found: Vec<_> = dependencies.map(|&(from, to, _)| (shown(from), shown(to))).collect();
        expected.sort();
        found.sort();
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn cycle_counts() {
    for path in traces() {
        let (recorder, exported) = read_both(&path);
        let count = |row: &Map<String, Json>| row["neuroncore_cycle_count"].as_i64().unwrap();
        let expected = count(exported["model_info"][0].as_object().unwrap());
        let found = count(&side(&recorder, "model_info")[0]);
        assert_eq!(found, expected, "{}", path.display());
    }
}

/// The tracks and names of a profile, as far as both files of a run can tell them. A NEFF names the
/// owners of semaphores and the tensors of transfers, and events are in the NTFF only.
fn names_of(recorder: &Recorder) -> BTreeMap<String, BTreeSet<String>> {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for slice in &recorder.slices {
        let path = recorder.path(slice.track);
        let (path, name) = match recorder.tracks[slice.track.0 as usize].identity.role {
            Role::Semaphore => (format!("{}]", path.split(']').next().unwrap_or_default()), ""),
            Role::Queue if !["software_dynamic", "instruction"].contains(&slice.name.as_str()) => (path, ""),
            Role::Unknown => continue,
            _ => (path, slice.name.as_str()),
        };
        names.entry(path).or_default().insert(name.to_owned());
    }
    names.extend(recorder.samples.iter().map(|sample| (recorder.path(sample.track), BTreeSet::new())));
    names
}

#[test]
fn names_are_those_of_the_vendors_file() {
    for path in traces() {
        let (recorder, _) = read_both(&path);
        let exported = std::fs::read(path.with_extension("json")).unwrap();
        let mut other = Recorder::default();
        neuron_json::read(&mut exported.as_slice(), &mut other, &mut |_| {}).unwrap();
        assert_eq!(names_of(&recorder), names_of(&other), "{}", path.display());
    }
}

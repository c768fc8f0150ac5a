//! neuron-profile's JSON: rows that are kept whole, and damage that is counted.

use std::path::PathBuf;

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::fixture::Recorder;
use nprof_engine::model::{OwnedValue, TableKind, WarningKind};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

fn import(json: &[u8]) -> Result<Recorder, Error> {
    let mut sink = Recorder::default();
    let mut input = json;
    read(&mut input, &mut sink, &mut |_| {})?;
    Ok(sink)
}

#[test]
fn rows_of_too_many_tables_are_kept_as_json() {
    let tables: Vec<String> = (0..1_500).map(|at| format!(r#""t{at}":[{{"a":{at}}}]"#)).collect();
    let json = format!(r#"{{{},"summary":[{{"nd_idx":3}}],"one":7,"other":[{{"x":1}}]}}"#, tables.join(","));
    let sink = import(json.as_bytes()).unwrap();
    assert_eq!(sink.rows_of("summary").count(), 1);
    let rows: Vec<_> = sink.rows_of("other_tables").collect();
    assert_eq!(rows.len(), 1_500 - MAX_TABLES + 2);
    let texts = |at: usize| rows[at].iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
    let (text, json) =
        (|text: &str| OwnedValue::Text(text.to_owned()), |json: &str| OwnedValue::Json(json.to_owned()));
    assert_eq!(texts(rows.len() - 2), [text("one"), json("7")]);
    assert_eq!(texts(rows.len() - 1), [text("other"), json(r#"{"x":1}"#)]);
    let warnings = sink.warnings();
    assert_eq!((warnings.len(), warnings[0].count), (1, rows.len() as u64));
}

#[test]
fn keys_beyond_the_fields_are_counted() {
    let rows: Vec<String> = (0..MAX_FIELDS + 5).map(|at| format!(r#"{{"f{at}":1}}"#)).collect();
    let sink =
        import(format!(r#"{{"summary":[{{"nd_idx":3}}],"x":[{}]}}"#, rows.join(",")).as_bytes()).unwrap();
    assert_eq!(sink.warnings().into_iter().map(|warning| warning.count).collect::<Vec<_>>(), [6]);
    assert_eq!(sink.rows_of("x").count(), MAX_FIELDS + 5);
}

/// A profile with a bit of everything.
const SMALL: &str = r#"{
"summary":[{"total_time":0.5,"nd_idx":3,"nc_idx":1}],
"instruction":[
 {"timestamp":10,"duration":5,"label":"Tensor","opcode":"LDWEIGHTS","id":18446744073709551615,"operands":"a},{"},
 {"timestamp":12,"duration":9,"label":"TensorMatrix","opcode":"MATMUL","id":2,"elements":128,"trigger":30,
  "predecessors":[{"id":18446744073709551615,"type":"FLOW_DEPENDENCE"},{"id":77,"type":"FLOW_DEPENDENCE"}]}],
"dma":[{"timestamp":30,"duration":4,"dma_queue":"1","dma_engine":"0","subgroup":"qIn-Q1-E0","aggregated":"no",
  "variable":"unknown","queue_type":"input"},
 {"timestamp":30,"duration":8,"dma_queue":"1","dma_engine":"9","subgroup":"qIn","aggregated":"yes","trigger":12,
  "variable":"x","queue_type":"input","dest":["SB"]}],
"semaphore_update":[{"id":"S[8] (qIn)","timestamp":31,"value":4}],
"ham":[{"timestamp":1,"duration":3,"k":7,"n":8,"type":0}],
"pending_dma":[{"timestamp":12,"value":1}],
"instruction_usage":[{"timestamp":12,"type":"psum","usage_avg":0.5,"bank_0_usage":1}],
"surprise":[{"x":[1, 2],"timestamp":4},{"x":null}],
"version":7
}"#;

#[test]
fn each_row_goes_where_it_belongs() {
    let sink = import(SMALL.as_bytes()).unwrap();
    let slices: Vec<_> = sink
        .slices
        .iter()
        .map(|slice| (sink.path(slice.track), slice.name.as_str(), slice.start_ps))
        .collect();
    let expected = [
        ("Engines/Tensor", "LDWEIGHTS", 10_000),
        ("Engines/TensorMatrix", "MATMUL", 12_000),
        ("DMA/qIn · Q1/E0", "input", 30_000),
        ("DMA/qIn · Q1/Transfers", "x", 30_000),
        ("Semaphores/S[8] (qIn)", "S[8] (qIn)", 31_000),
        ("Throttling", "activity_0", 1_000),
    ];
    assert_eq!(slices, expected.map(|(path, name, start)| (path.to_owned(), name, start)));
    let samples: Vec<_> = sink.samples.iter().map(|sample| (sink.path(sample.track), sample.value)).collect();
    assert_eq!(samples, [("Counters/Pending DMAs".to_owned(), 1.0), ("Counters/PSUM usage".to_owned(), 0.5)]);
    assert_eq!((sink.rank.device, sink.rank.core, sink.rank.source.as_str()), (Some(3), Some(1), "neuron"));
}

#[test]
fn references_become_arrows() {
    let sink = import(SMALL.as_bytes()).unwrap();
    let links: Vec<_> = sink
        .links
        .iter()
        .map(|(from, to, name)| (sink.index_of(*from), sink.index_of(*to), name.as_str()))
        .collect();
    assert_eq!(links, [(0, 1, "FLOW_DEPENDENCE"), (1, 3, "DMA_TRIGGER")]);
    let warnings = sink.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!((warnings[0].kind, warnings[0].count), (WarningKind::UnboundFlow, 1));
}

#[test]
fn what_is_unknown_is_kept() {
    let sink = import(SMALL.as_bytes()).unwrap();
    let rows: Vec<_> = sink.rows_of("surprise").collect();
    assert_eq!(rows[0][0], ("x".to_owned(), OwnedValue::Json("[1,2]".to_owned())));
    assert_eq!(rows[0][1], ("timestamp".to_owned(), OwnedValue::Int(4)));
    assert_eq!(rows[1][0].1, OwnedValue::Json("null".to_owned()));
    assert_eq!(sink.rows_of("version").next().unwrap()[0].1, OwnedValue::Int(7));
    assert_eq!(sink.slices[0].fields[1], ("id".to_owned(), OwnedValue::Uint(u64::MAX)));
}

#[test]
fn the_same_rows_come_out_however_the_input_arrives() {
    struct Drip<'a>(&'a [u8]);
    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let mut dripped = Recorder::default();
    read(&mut Drip(SMALL.as_bytes()), &mut dripped, &mut |_| {}).unwrap();
    assert_eq!(dripped.slices, import(SMALL.as_bytes()).unwrap().slices);
}

#[track_caller]
fn check_rejected(json: &str, part: &str) {
    let error = import(json.as_bytes()).unwrap_err().to_string();
    assert!(error.contains(part), "{error}");
}

#[test]
fn what_is_no_profile_is_rejected() {
    check_rejected("", "does not start with a JSON object (byte 0)");
    check_rejected(" [1]", "does not start with a JSON object (byte 1)");
    check_rejected(r#"{"traceEvents":[{"ph":"X"}]}"#, "no table of neuron-profile");
}

/// Checks that rows with these starts survive, and that `damaged` records are counted.
#[track_caller]
fn check_damage(instructions: &str, starts: &[i64], damaged: u64) {
    let sink = import(format!("{{\"instruction\":[{instructions}]}}").as_bytes()).unwrap();
    let survived: Vec<i64> = sink.slices.iter().map(|slice| slice.start_ps / PS_PER_NS).collect();
    assert_eq!(survived, starts, "{instructions}");
    let counted: u64 =
        sink.warnings().iter().filter(|w| w.kind == WarningKind::DamagedRecord).map(|w| w.count).sum();
    assert_eq!(counted, damaged, "{instructions}: {:?}", sink.warnings());
}

#[test]
fn a_damaged_row_costs_itself_only() {
    check_damage(r#"{"timestamp":1},{"timestamp":2},{"timestamp":3}"#, &[1, 2, 3], 0);
    check_damage(r#"{"timestamp":1},{"timestamp":2x},{"timestamp":3}"#, &[1, 3], 1);
    check_damage(r#"{"timestamp":1},{"timestamp":"2"},{"timestamp":3}"#, &[1, 3], 1);
    check_damage(r#"{"timestamp":1},{"a":2},{"timestamp":3}"#, &[1, 3], 1);
    check_damage(r#"{"timestamp":1},{"a":"b,"timestamp":2},{"timestamp":3},{"timestamp":4}"#, &[1, 3, 4], 1);
    check_damage(r#"{"timestamp":1},17,[2],{"timestamp":3}"#, &[1, 3], 2);
    check_damage(r#"{"timestamp":1},"text",{"timestamp":3}"#, &[1, 3], 1);
    check_damage(r#"{"timestamp":1},{"timestamp":9300000000000000000},{"timestamp":3}"#, &[1, 3], 1);
    check_damage(r#"{"timestamp":1,"x":"},{"},{"timestamp":3}"#, &[1, 3], 0);
}

#[test]
fn a_lost_bracket_does_not_move_rows_to_another_table() {
    let sink = import(br#"{"instruction":[{"timestamp":1},"dma":[{"timestamp":2}]}"#).unwrap();
    assert_eq!((sink.slices_of("instruction").count(), sink.slices_of("dma").count()), (1, 1));
    let sink = import(br#"{"instruction":[{"timestamp":1}],{"timestamp":2}],"dma":[]}"#).unwrap();
    assert_eq!(sink.slices_of("instruction").count(), 2);
}

#[test]
fn values_that_cannot_be_kept_are_changed_and_counted() {
    let sink = import(br#"{"instruction":[{"timestamp":1,"duration":-4,"pc":1,"id":2,"pc":3}]}"#).unwrap();
    assert_eq!(sink.slices[0].duration_ps, 0);
    let fields = [("pc".to_owned(), OwnedValue::Int(3)), ("id".to_owned(), OwnedValue::Int(2))];
    assert_eq!(sink.slices[0].fields, fields);
    let adjusted = sink.warnings().iter().filter(|w| w.kind == WarningKind::AdjustedValue).count();
    assert_eq!(adjusted, 2);
}

#[test]
fn every_truncation_keeps_what_was_there() {
    let whole = import(SMALL.as_bytes()).unwrap();
    for keep in 0..SMALL.len() {
        let Ok(sink) = import(&SMALL.as_bytes()[..keep]) else {
            assert!(keep < r#"{ "summary":["#.len(), "cut at {keep}");
            continue;
        };
        assert_eq!(sink.slices, whole.slices[..sink.slices.len()], "cut at {keep}");
        assert!(sink.warnings().iter().any(|w| w.kind == WarningKind::TruncatedInput), "cut at {keep}");
    }
}

#[test]
fn a_row_without_an_end_does_not_fill_the_memory() {
    let start = format!("{{\"instruction\":[{{\"timestamp\":1}},{{\"a\":\"{}", "x".repeat(1000));
    let mut input = start.as_bytes().chain(std::io::repeat(b'x').take(3 * splitter::MAX_ROW as u64));
    let mut sink = Recorder::default();
    read(&mut input, &mut sink, &mut |_| {}).unwrap();
    assert_eq!(sink.slices.len(), 1);
    assert!(sink.warnings().iter().any(|w| w.kind == WarningKind::DamagedRecord), "{:?}", sink.warnings());
}

proptest! {
    #[test]
    fn no_byte_makes_it_panic(at in 0..SMALL.len(), byte: u8) {
        let mut json = SMALL.as_bytes().to_vec();
        json[at] = byte;
        if let Ok(sink) = import(&json) {
            prop_assert!(sink.slices.len() <= 8);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(changes in prop::collection::vec((0..SMALL.len(), any::<u8>()), 1..40)) {
        let mut json = SMALL.as_bytes().to_vec();
        for (at, byte) in changes {
            json[at] = byte;
        }
        if let Ok(sink) = import(&json) {
            prop_assert!(sink.slices.len() <= 8);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"\{("dma"|"ham"|[\[\]{}":,x1-]| ){0,60}"#) {
        let _ = import(text.as_bytes());
    }

    #[test]
    fn one_damaged_byte_costs_few_rows(row in 0..200_usize, at in 0..40_usize, byte: u8) {
        let rows: Vec<String> =
            (0..200).map(|n| format!("{{\"timestamp\":{n},\"opcode\":\"A\",\"p\":[{{\"id\":{n}}}]}}")).collect();
        let mut json = format!("{{\"instruction\":[{}]}}", rows.join(",")).into_bytes();
        let start: usize = 16 + rows[..row].iter().map(|row| row.len() + 1).sum::<usize>();
        json[start + at.min(rows[row].len())] = byte;
        let sink = import(&json).unwrap();
        prop_assert!(sink.slices.len() >= 197, "{} left", sink.slices.len());
    }
}

/// The tables that neuron-profile wrote on hardware, if they are available.
fn vendor_files() -> Vec<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/neuron"));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no profiles of hardware beside the project");
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect()
}

fn assert_equal(value: &Value, kept: &OwnedValue, place: &str) {
    let equal = match (value, kept) {
        (Value::Number(number), OwnedValue::Int(kept)) => number.as_i64() == Some(*kept),
        (Value::Number(number), OwnedValue::Uint(kept)) => number.as_u64() == Some(*kept),
        // serde_json rounds the last digit of some floats in the other direction.
        (Value::Number(number), OwnedValue::Float(kept)) => {
            number.as_f64().is_some_and(|number| (number - kept).abs() <= kept.abs() * f64::EPSILON)
        }
        (Value::Bool(value), OwnedValue::Bool(kept)) => value == kept,
        (Value::String(text), OwnedValue::Text(kept)) => text == kept,
        (value, OwnedValue::Json(kept)) => &serde_json::from_str::<Value>(kept).unwrap() == value,
        _ => false,
    };
    assert!(equal, "{place}: {value} became {kept:?}");
}

/// Compares a row with the values that the sink keeps beside its fields.
fn check_row(
    table: &str,
    row: &Map<String, Value>,
    fields: &[(String, OwnedValue)],
    beside: &[(&str, Value)],
) {
    assert_eq!(row.len(), fields.len() + beside.len(), "{table}: {row:?}");
    for (key, value) in row {
        match (beside.iter().find(|(name, _)| name == key), fields.iter().find(|(name, _)| name == key)) {
            (Some((_, kept)), None) => assert_eq!(value.as_f64(), kept.as_f64(), "{table}.{key}"),
            (None, Some((_, kept))) => assert_equal(value, kept, &format!("{table}.{key}")),
            found => panic!("{table}.{key}: {found:?}"),
        }
    }
}

fn check_table(sink: &Recorder, name: &str, rows: &[Value]) {
    let spec = sink.tables.iter().find(|table| table.name == name).unwrap();
    let rows = rows.iter().map(|row| row.as_object().unwrap());
    match spec.kind {
        TableKind::Side => {
            assert_eq!(sink.rows_of(name).count(), rows.len(), "{name}");
            rows.zip(sink.rows_of(name)).for_each(|(row, kept)| check_row(name, row, kept, &[]));
        }
        TableKind::Slices => {
            assert_eq!(sink.slices_of(name).count(), rows.len(), "{name}");
            for (row, kept) in rows.zip(sink.slices_of(name)) {
                let mut beside = vec![("timestamp", Value::from(kept.start_ps / 1_000))];
                if row.contains_key("duration") {
                    beside.push(("duration", Value::from(kept.duration_ps / 1_000)));
                }
                if !spec.name_key.is_empty() {
                    beside.push((&spec.name_key, Value::from(kept.name.as_str())));
                    assert_eq!(row[&spec.name_key], kept.name.as_str(), "{name}");
                }
                check_row(name, row, &kept.fields, &beside);
            }
        }
        TableKind::Samples => {
            let key = schema::table(name).unwrap().value_key;
            let of_table = |sample: &&nprof_engine::fixture::RecordedSample| {
                matches!(sink.tracks[sample.track.0 as usize].kind,
                    nprof_engine::model::TrackContent::Counter(id) if sink.tables[usize::from(id.0)].name == name)
            };
            assert_eq!(sink.samples.iter().filter(of_table).count(), rows.len(), "{name}");
            for (row, kept) in rows.zip(sink.samples.iter().filter(of_table)) {
                let beside =
                    [("timestamp", Value::from(kept.time_ps / 1_000)), (key, Value::from(kept.value))];
                check_row(name, row, &kept.fields, &beside);
            }
        }
    }
}

#[test]
fn every_value_of_the_vendors_files_survives() {
    for path in vendor_files() {
        let bytes = std::fs::read(&path).unwrap();
        let sink = import(&bytes).unwrap();
        assert_eq!(sink.warnings(), [], "{}", path.display());
        let tables: Map<String, Value> = serde_json::from_slice(&bytes).unwrap();
        for (name, rows) in &tables {
            assert!(schema::table(name).is_some(), "{name} is not in the schema");
            check_table(&sink, name, rows.as_array().unwrap());
        }
        let instructions = tables["instruction"].as_array().unwrap();
        let listed = instructions.iter().filter_map(|row| row["predecessors"].as_array()).flatten().count();
        let triggers = instructions.iter().filter(|row| row.get("trigger").is_some()).count();
        assert_eq!(sink.links.len(), listed + triggers, "{}", path.display());
        for (_, field) in &sink.fields {
            let explained_by_the_trace = field.doc.is_empty();
            assert!(
                !explained_by_the_trace || is_summary_key(&tables, &field.name),
                "{} has no doc",
                field.name
            );
        }
    }
}

/// Whether a field is a metric or a group as listed by the tables that explain the summary.
fn is_summary_key(tables: &Map<String, Value>, name: &str) -> bool {
    ["summary_groups", "summary_group_order", "terminology"]
        .iter()
        .any(|table| tables[*table][0].get(name).is_some())
}

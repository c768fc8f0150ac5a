//! Exports of any profile: texts of any characters and numbers of any size are written, and every
//! form is read again with the same rows.

use std::fs;
use std::path::Path;

use nprof_engine::exec::Work;
use nprof_engine::model::TableKind;
use nprof_engine::segment::TableMeta;
use nprof_server::export::{Export, ExportChoices, RanksOf, Scope, find};
use nprof_server::ingest::{self, IngestSettings, Ingested, NamedInputs};
use nprof_server::store::{Profile, Store};
use nprof_server::warnings;
use nprof_server::work::Meter;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::csv;

/// Processes and threads of an event.
const FEW: u64 = 3;
const MOST_EVENTS: usize = 24;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::Null),
        vec(any::<String>(), 0..3).prop_map(Value::from),
    ]
}

fn event() -> impl Strategy<Value = Value> {
    let phases = prop::sample::select(vec!["X", "X", "X", "i", "C", "B", "E", "b", "e", "s", "t", "f", "M"]);
    let places = (0..FEW, 0..FEW, option::of(0..FEW));
    let times = (-1e12..1e12_f64, 0.0..1e9_f64);
    let args = vec((any::<String>(), value()), 0..4);
    (phases, any::<String>(), places, times, args).prop_map(|(ph, name, (pid, tid, id), (ts, dur), args)| {
        let mut event =
            json!({"ph": ph, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "cat": "c"});
        event["args"] = Value::Object(args.into_iter().collect());
        if let Some(id) = id {
            event["id"] = id.into();
        }
        event
    })
}

fn ingested(store: &Store, path: &Path) -> Ingested {
    let named = NamedInputs { files: vec![path.to_owned()], ..NamedInputs::default() };
    ingest::run(store, &named, &IngestSettings::default(), &Meter::default()).unwrap()
}

/// The profile as a file of this format.
fn written(profile: &Profile, key: &str, choices: &ExportChoices) -> Vec<u8> {
    let Some(Export { scope: Scope::Rank(prepare) | Scope::Profile(prepare), .. }) = find(key) else {
        panic!("{key} is no format of files");
    };
    let mut file = Vec::new();
    prepare(RanksOf::all(profile), choices, Work::IN_PLACE).unwrap().write(&mut file).unwrap();
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_form_of_any_profile_is_read_again(events in vec(event(), 1..MOST_EVENTS)) {
        let dir = tempfile::tempdir().unwrap();
        let (trace, again) = (dir.path().join("trace.json"), dir.path().join("again.pftrace"));
        // A first event that is certainly one of a trace.
        let first = json!({"ph": "X", "name": "first", "pid": 0, "tid": 0, "ts": 0, "dur": 1});
        fs::write(&trace, Value::from_iter([vec![first], events].concat()).to_string()).unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let Ingested { profile, .. } = ingested(&store, &trace);
        let events = profile.manifest.entry().events;

        let choices = ExportChoices { has_flows: true, ..ExportChoices::default() };
        fs::write(&again, written(&profile, "perfetto", &choices)).unwrap();
        // A trace for Perfetto has each warning as an instant.
        let shown = events + warnings::of_profile(&profile).len() as u64;
        prop_assert_eq!(ingested(&store, &again).profile.manifest.entry().events, shown);

        let of = |key: &str, choices: &ExportChoices| String::from_utf8(written(&profile, key, choices)).unwrap();
        let none = ExportChoices::default();
        let json: Value = serde_json::from_str(&of("json", &none)).unwrap();
        let segment = profile.open_rank(&profile.manifest.ranks[0]).unwrap();
        let mut slices = 0;
        for TableMeta { spec, rows, .. } in &segment.footer().tables {
            let rows = *rows as usize;
            // Side tables can have the name of a table that the export makes, such as `track`.
            if spec.kind != TableKind::Side {
                let found = json.get(&spec.name).map_or(0, |found| found.as_array().unwrap().len());
                prop_assert_eq!(found, rows, "{}", spec.name);
            }
            slices += if spec.kind == TableKind::Slices { rows } else { 0 };
            if rows > 0 {
                let table = ExportChoices { table: Some(spec.name.clone()), ..ExportChoices::default() };
                prop_assert_eq!(csv::read(&of("csv", &table)).len(), rows);
            }
        }
        prop_assert_eq!(csv::read(&of("csv", &none)).len(), slices);
        let summary: Value = serde_json::from_str(&of("summary-json", &none)).unwrap();
        prop_assert_eq!(summary.as_object().unwrap().len(), 1);
        let control = |found: char| found.is_control() && found != '\n';
        prop_assert!(!of("summary-text", &none).contains(control));
    }
}

//! The CSV export, read again: times, names and fields are those of the JSON export.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::{fail, run, stage, succeed};

/// Texts that a careless writer or reader would split, lose or change, and times finer than a
/// nanosecond.
const HOSTILE: &str = r#"[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"a, \"b\"\nc"}},
{"ph":"X","pid":1,"tid":1,"ts":1.2345678,"dur":0.5,"name":"=HYPERLINK(\"x\")","args":{"count":3,"text":"a,b","big":18446744073709551615}},
{"ph":"X","pid":1,"tid":1,"ts":-3.000001,"dur":0.000001,"name":"@first","args":{"text":"","half":0.1,"ok":true,"list":[1,"x"]}},
{"ph":"X","pid":1,"tid":2,"ts":2,"dur":9,"name":" -1\r\ntwo ","args":{"text":"\"","count":-7,"half":1e300}},
{"ph":"i","pid":1,"tid":2,"ts":5,"s":"t","name":"now","args":{"count":"three"}},
{"ph":"B","pid":1,"tid":3,"ts":6,"name":"open"},
{"ph":"C","name":"mem","pid":1,"ts":1.5,"args":{"v":0.25}},
{"ph":"C","name":"mem","pid":1,"ts":2,"args":{"v":-3}}
]"#;

/// Cells by title; `None` for a cell without a value.
pub type Row = BTreeMap<String, Option<String>>;

/// Reads RFC 4180.
pub fn read(text: &str) -> Vec<Row> {
    let mut lines = vec![Vec::new()];
    let mut rest = text;
    while !rest.is_empty() {
        let cell = if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut cell = String::new();
            loop {
                let (part, after) = quoted.split_once('"').expect("a quote is closed");
                cell.push_str(part);
                quoted = match after.strip_prefix('"') {
                    Some(after) => {
                        cell.push('"');
                        after
                    }
                    None => {
                        rest = after;
                        break Some(cell);
                    }
                };
            }
        } else {
            let end = rest.find([',', '\r', '\n']).unwrap_or(rest.len());
            let (cell, after) = rest.split_at(end);
            rest = after;
            (!cell.is_empty()).then(|| cell.to_owned())
        };
        lines.last_mut().unwrap().push(cell);
        rest = if let Some(after) = rest.strip_prefix(',') {
            after
        } else {
            lines.push(Vec::new());
            rest.strip_prefix("\r\n").expect("a line ends with CR LF")
        };
    }
    assert!(lines.pop().unwrap().is_empty());
    let mut lines = lines.into_iter();
    let titles: Vec<String> = lines.next().unwrap().into_iter().map(Option::unwrap).collect();
    let row = |cells: Vec<Option<String>>| {
        assert_eq!(cells.len(), titles.len(), "{cells:?}");
        titles.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

/// Nanoseconds with a point as picoseconds.
fn ps(text: &str) -> i64 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{rest:0<3}").parse().unwrap()
}

/// A store with the profile `run` of this trace.
fn stored(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let (dir, _) = stage();
    let trace = dir.path().join("t.json");
    fs::write(&trace, text).unwrap();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", trace.to_str().unwrap(), "--db-bucket", "run"]);
    (dir, store)
}

fn exported(store: &Path, args: &[&str]) -> Vec<Row> {
    read(&succeed(store, &[&["export", "run", "--format", "csv"], args].concat()))
}

/// Checks the cells against the row of the JSON export.
#[track_caller]
fn check_row(row: &Row, expected: &Value, paths: &BTreeMap<u64, String>) {
    let cell = |title: &str| row[title].as_deref();
    assert_eq!(ps(cell("start_ns").unwrap()), expected["start_ps"].as_i64().unwrap(), "{row:?}");
    assert_eq!(cell("row").unwrap(), expected["row"].to_string());
    assert_eq!(cell("track").unwrap(), paths[&expected["track"].as_u64().unwrap()]);
    let mut own = vec!["timestamp", "start_ps", "row", "track", "process", "pid", "thread", "tid"];
    if row.contains_key("value") {
        assert_eq!(cell("value").unwrap(), expected["value"].to_string());
        own.extend(["value", "unit", "counter", "series", "counter_id"]);
    } else {
        assert_eq!(ps(cell("duration_ns").unwrap()), expected["duration_ps"].as_i64().unwrap());
        assert_eq!(cell("name").unwrap(), expected["name"].as_str().unwrap());
        assert_eq!(cell("form").unwrap(), expected["form"].as_str().unwrap());
        own.extend(["duration", "duration_ps", "name", "form"]);
    }
    let fixed = ["start_ns", "duration_ns", "track", "name", "form", "row", "value", "unit"];
    let fields = expected.as_object().unwrap().iter().filter(|(key, _)| !own.contains(&key.as_str()));
    let mut count = 0;
    for (key, value) in fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(cell(key), Some(text.as_str()), "{key} of {row:?}");
        count += 1;
    }
    let filled = row.iter().filter(|(title, cell)| cell.is_some() && !fixed.contains(&title.as_str()));
    assert_eq!(filled.count(), count, "{row:?} has no cell that {expected} lacks");
}

/// Checks that the CSV table holds the rows of these tables of the JSON export, ordered by time.
#[track_caller]
fn check(store: &Path, args: &[&str], tables: &[&str]) {
    let json: Value = serde_json::from_str(&succeed(store, &["export", "run", "--ranks", "0"])).unwrap();
    let path = |track: &Value| {
        let names = track["path"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        (track["track"].as_u64().unwrap(), names.collect::<Vec<_>>().join("/"))
    };
    let paths: BTreeMap<u64, String> = json["track"].as_array().unwrap().iter().map(path).collect();
    let rows = tables.iter().flat_map(|table| json[table].as_array().unwrap());
    let by_row: BTreeMap<String, &Value> = rows.map(|row| (row["row"].to_string(), row)).collect();
    let read = exported(store, args);
    assert_eq!(read.len(), by_row.len(), "{tables:?}");
    let starts: Vec<i64> = read.iter().map(|row| ps(row["start_ns"].as_ref().unwrap())).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    for row in &read {
        check_row(row, by_row[row["row"].as_ref().unwrap()], &paths);
    }
}

#[test]
fn a_table_that_is_read_again_has_the_times_names_and_fields() {
    let (_dir, store) = stored(HOSTILE);
    check(&store, &[], &["slice"]);
    check(&store, &["--table", "slice"], &["slice"]);
    check(&store, &["--table", "counter"], &["counter"]);
    let rows = exported(&store, &[]);
    let of = |name: &str| rows.iter().find(|row| row["name"].as_deref() == Some(name)).unwrap();
    assert_eq!(of("@first")["text"].as_deref(), Some(""), "an empty text is a text");
    assert_eq!(of("open")["text"], None, "no text is no text");
    assert_eq!(of("@first")["start_ns"].as_deref(), Some("-3000.001"));
    // A side table has its fields alone.
    let tracks = exported(&store, &["--table", "track"]);
    assert!(tracks.iter().any(|row| row["tid"].as_deref() == Some("3")), "{tracks:?}");
}

#[test]
fn all_slices_of_a_device_trace_are_one_table() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--events", "3000", "--db-bucket", "run"]);
    let json: Value = serde_json::from_str(&succeed(&store, &["export", "run", "--ranks", "0"])).unwrap();
    let is_slices = |rows: &Value| rows[0].get("duration_ps").is_some();
    let tables = json.as_object().unwrap().iter().filter(|(_, rows)| is_slices(rows));
    let tables: Vec<&str> = tables.map(|(name, _)| name.as_str()).collect();
    assert!(tables.len() > 2, "{tables:?}");
    let rows: usize = tables.iter().map(|name| json[name].as_array().unwrap().len()).sum();
    let read = exported(&store, &["--ranks", "0"]);
    assert_eq!(read.len(), rows);
    let starts: Vec<i64> = read.iter().map(|row| ps(row["start_ns"].as_ref().unwrap())).collect();
    assert!(starts.is_sorted());
    let one = exported(&store, &["--ranks", "1", "--table", "instruction"]);
    assert!(!one.is_empty() && one.len() < read.len());

    // A rank is a file of its own.
    let said = fail(&store, &["export", "run", "--format", "csv"], 1);
    assert!(said.contains("csv holds one rank") && said.contains("ranks 0, 1"), "{said}");
    let out = dir.path().join("out.csv");
    succeed(&store, &["export", "run", "--format", "csv", "-o", out.to_str().unwrap()]);
    assert_eq!(self::read(&fs::read_to_string(dir.path().join("out_rank_0.csv")).unwrap()), read);
    assert!(dir.path().join("out_rank_1.csv").exists() && !out.exists());
}

#[test]
fn choices_that_lead_nowhere_are_refused() {
    let (_dir, store) = stored(HOSTILE);
    let said = fail(&store, &["export", "run", "--format", "csv", "--table", "none"], 1);
    assert!(said.contains("rank 0 has no table \"none\"; it has slice, counter"), "{said}");
    let said = fail(&store, &["export", "run", "--table", "slice"], 1);
    assert!(said.contains("--table goes with --format csv alone"), "{said}");
    let said = fail(&store, &["export", "run", "--format", "csv", "--max-size", "1kB"], 1);
    assert!(said.contains("--max-size goes with --format html alone"), "{said}");
    let args = ["export", "run", "--format", "summary-text", "--show-perfetto-flows"];
    let output = run(&store, &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("--show-perfetto-flows is ignored"), "{said}");
}

#[test]
fn a_part_is_a_table_and_damage_leaves_no_file() {
    let filler =
        |at: usize| format!(r#"{{"ph":"X","pid":2,"tid":3,"ts":{},"dur":1,"name":"f"}},"#, 100 + 2 * at);
    let filler: String = (0..9_000).map(filler).collect();
    let (dir, store) = stored(&HOSTILE.replacen('[', &format!("[{filler}"), 1));
    let args = ["export", "run", "--format", "csv", "--from", "200us", "--to", "210us"];
    let part = run(&store, &args);
    let said = String::from_utf8_lossy(&part.stderr).into_owned();
    assert!(part.status.success(), "{said}");
    let rows = read(&String::from_utf8_lossy(&part.stdout));
    assert!((4..8).contains(&rows.len()), "{rows:?}");

    let profile = fs::read_dir(store.join("profiles")).unwrap().next().unwrap().unwrap().path();
    let segment = profile.join("rank_0.nseg");
    let whole = fs::read(&segment).unwrap();
    let out = dir.path().join("out.csv");
    let mut refused = 0;
    for at in (64..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&segment, damaged).unwrap();
        let output = run(&store, &["export", "run", "--format", "csv", "-o", out.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            let of = "profile \"run\" rank 0, ";
            assert!(said.contains(of) && said.contains("rank_0.nseg") && !out.exists(), "byte {at}: {said}");
            refused += 1;
        }
        let _ = fs::remove_file(&out);
    }
    assert!(refused > 3, "{refused} damaged segments were refused");
}

#[test]
fn every_format_is_in_the_docs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in ["README.md", "docs/export.md"] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        for export in &nprof_server::export::EXPORTS {
            let is_named = text.contains(&format!("`{}`", export.key));
            assert!(is_named, "{file} does not name the format {}", export.key);
        }
    }
}

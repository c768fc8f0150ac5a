//! `nprof table` prints every stored table, and agrees with the commands that have views of them.

use serde_json::Value;

use crate::cli::{fail, succeed};

fn job() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let demo = ["demo", "--ingest-only", "--ranks", "3", "--events", "6000", "--db-bucket", "job"];
    succeed(dir.path(), &demo);
    dir
}

fn rows_of(dir: &tempfile::TempDir, arguments: &[&str]) -> Vec<Value> {
    let format = ["--output-format", "json"];
    let text = succeed(dir.path(), &[arguments, &format].concat());
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

#[test]
fn the_stored_table_of_ranks_is_what_ranks_prints() {
    let dir = job();
    let stored = rows_of(&dir, &["table", "job", "all", "rank"]);
    let text = succeed(dir.path(), &["ranks", "job", "--output-format", "json"]);
    let printed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stored.len(), 3);
    for (own, printed) in stored.iter().zip(printed["ranks"].as_array().unwrap()) {
        let printed = printed.as_object().unwrap();
        assert!(
            printed.len() > 20 && printed.iter().all(|(key, value)| own.get(key) == Some(value)),
            "{own}"
        );
    }
    let csv = succeed(dir.path(), &["ranks", "job", "--output-format", "csv"]);
    assert_eq!(succeed(dir.path(), &["table", "job", "all", "rank", "--format", "csv"]), csv);
    assert_eq!(rows_of(&dir, &["table", "job", "all", "cause"]), *printed["causes"].as_array().unwrap());
    let sizes = succeed(dir.path(), &["collectives", "job", "--by", "size", "--output-format", "json"]);
    let sizes: Value = serde_json::from_str(&sizes).unwrap();
    assert_eq!(rows_of(&dir, &["table", "job", "all", "operation_size"]), *sizes["rows"].as_array().unwrap());
}

#[test]
fn every_listed_table_is_printed_in_every_form() {
    let dir = job();
    for rank in ["all", "1"] {
        let list = succeed(dir.path(), &["table", "job", rank]);
        assert!(list.lines().count() > 7, "{list}");
        for line in list.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let rows: usize = words[1].replace(',', "").parse().unwrap();
            let of = |more: &[&str]| succeed(dir.path(), &[&["table", "job", rank, words[0]], more].concat());
            assert_eq!(rows_of(&dir, &["table", "job", rank, words[0]]).len(), rows, "{line}");
            let text = of(&["--limit", "2"]);
            let shown = rows.min(2);
            assert_eq!(text.lines().count(), 1 + shown + usize::from(rows > shown), "{text}");
            let csv = of(&["--format", "csv", "--limit", "1"]);
            assert!(csv.lines().count() >= 2, "{csv}");
        }
    }
    assert_eq!(succeed(dir.path(), &["table", "job"]), succeed(dir.path(), &["table", "job", "all"]));
}

#[test]
fn slices_have_the_times_of_the_export() {
    let dir = job();
    let rows = rows_of(&dir, &["table", "job", "1", "instruction", "--limit", "5"]);
    let csv =
        succeed(dir.path(), &["export", "job", "--ranks", "1", "--format", "csv", "--table", "instruction"]);
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').take(4).collect();
    assert_eq!(heading, ["start_ns", "duration_ns", "track", "name"]);
    for (row, line) in rows.iter().zip(lines) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        assert_eq!(
            (row["start_ns"].as_f64().unwrap(), row["duration_ns"].as_f64().unwrap()),
            (number(0), number(1))
        );
        assert_eq!((row["track"].as_str(), row["name"].as_str()), (Some(cells[2]), Some(cells[3])));
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let dir = job();
    let message = |arguments: &[&str]| fail(dir.path(), arguments, 1);
    assert!(message(&["table", "job", "9"]).contains("no rank 9; it has 0, 1, 2"));
    let unknown = fail(dir.path(), &["table", "job", "x"], 2);
    assert!(unknown.contains("neither the number of a rank nor \"all\""), "{unknown}");
    let text = message(&["table", "job", "all", "ranks"]);
    assert!(text.contains("no table \"ranks\"; there are operation, call, "), "{text}");
    let one = ["demo", "--ingest-only", "--ranks", "1", "--events", "2000", "--db-bucket", "one"];
    succeed(dir.path(), &one);
    assert!(message(&["table", "one", "all"]).contains("one has one rank, so no tables of all ranks"));
    assert!(succeed(dir.path(), &["table", "one"]).contains("instruction"));
}

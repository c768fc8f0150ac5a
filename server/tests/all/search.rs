//! `nprof search` finds what the tables of the same profile hold.

use serde_json::Value;

use crate::cli::{fail, stage, succeed};

fn job() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let demo = ["demo", "--ingest-only", "--ranks", "3", "--events", "6000", "--db-bucket", "job"];
    succeed(dir.path(), &demo);
    dir
}

fn json_of(dir: &tempfile::TempDir, arguments: &[&str]) -> Value {
    let text = succeed(dir.path(), &[arguments, &["--output-format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// Number of rows, and sum of the durations in picoseconds.
type Sums = (u64, u64);

fn found(dir: &tempfile::TempDir, query: &str, more: &[&str]) -> Sums {
    let of = json_of(dir, &[&["search", "job", query, "--limit", "all"], more].concat());
    let rows = of["rows"].as_array().unwrap();
    let sum: u64 = rows.iter().map(|row| row["duration_ps"].as_u64().unwrap()).sum();
    assert_eq!((&of["total"], &of["shown"]), (&rows.len().into(), &rows.len().into()), "{query}");
    assert_eq!(of["duration_ps"], sum, "{query}");
    let place = |row: &Value| {
        let number = |key: &str| row[key].as_i64().unwrap();
        (number("rank"), number("start_ps"), number("row"))
    };
    assert!(rows.is_sorted_by_key(place), "{query}");
    (rows.len() as u64, sum)
}

/// The rows of a table of some ranks that pass a test.
fn counted(dir: &tempfile::TempDir, table: &str, ranks: &[&str], is_it: impl Fn(&Value) -> bool) -> Sums {
    let mut sums = (0, 0);
    for rank in ranks {
        let rows = json_of(dir, &["table", "job", rank, table]);
        for row in rows.as_array().unwrap().iter().filter(|row| is_it(row)) {
            sums.0 += 1;
            sums.1 += (row["duration_ns"].as_f64().unwrap() * 1e3).round() as u64;
        }
    }
    sums
}

const ALL: [&str; 3] = ["0", "1", "2"];

#[test]
fn a_query_finds_what_the_tables_hold() {
    let dir = job();
    let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
    let duration = |row: &Value| row["duration_ns"].as_f64().unwrap();
    let instructions = |is_it: &dyn Fn(&Value) -> bool| counted(&dir, "instruction", &ALL, is_it);
    let expected = instructions(&|row| name(row) == "MATMUL");
    assert!(expected.0 > 20, "{expected:?}");
    assert_eq!(found(&dir, "opcode=MATMUL", &[]), expected);
    assert_eq!(
        found(&dir, "opcode:MATMUL,ACT dur>200ns", &[]),
        instructions(
            &|row| (name(row).contains("MATMUL") || name(row).contains("ACT")) && duration(row) > 200.0
        )
    );
    assert_eq!(
        found(&dir, "opcode~/SEM/ -opcode=MATMUL", &[]),
        instructions(&|row| name(row).contains("SEM"))
    );
    let size = |row: &Value| row["transfer_size"].as_f64().unwrap_or(-1.0);
    let sizes = counted(&dir, "dma", &ALL, |row| (512.0..=32_768.0).contains(&size(row)));
    assert_eq!(found(&dir, "transfer_size:512..32KiB", &[]), sizes);
    let of_one = counted(&dir, "instruction", &["1"], |row| name(row) == "MATMUL");
    assert_eq!(found(&dir, "opcode=MATMUL rank:1", &[]), of_one);
    assert_eq!(found(&dir, "opcode=MATMUL", &["--rank", "1"]), of_one);
    assert_eq!(found(&dir, "-rank:0,2 opcode=MATMUL", &["--ranks", "0-2"]), of_one);
}

#[test]
fn parts_in_time_add_up() {
    let dir = job();
    let all = found(&dir, "opcode=MATMUL", &[]);
    let sum = |parts: &[&str]| {
        let parts = parts.iter().map(|part| found(&dir, &format!("opcode=MATMUL {part}"), &[]));
        parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    };
    assert_eq!(sum(&["start<100us", "start>=100us"]), all);
    succeed(dir.path(), &["regions", "job", "--add", "early=0us..100us"]);
    assert_eq!(sum(&["in:early", "-in:early"]), all);
    assert_eq!(found(&dir, "opcode=MATMUL in:early", &[]), found(&dir, "opcode=MATMUL start<100us", &[]));
}

#[test]
fn a_wrong_query_is_wrong_usage_and_names_what_is_near() {
    let dir = job();
    let fault = |query: &str| fail(dir.path(), &["search", "job", query], 2);
    assert_eq!(
        fault("opcde:MAT"),
        "nprof: query, character 1: no field is called opcde: did you mean opcode?\n"
    );
    assert!(fault("MATMUL dur>5usec").contains("character 8: dur has no unit usec: did you mean us?"));
    assert!(fault("in:nowhere").contains("no region is called nowhere"));
    assert!(fault("track:nowhere").contains("no track is called nowhere"));
    assert!(fault("/(/").contains("character 2"));
    assert!(fail(dir.path(), &["search", "none", "a"], 1).contains("none"));
}

#[test]
fn the_first_line_answers() {
    let (dir, trace) = stage();
    succeed(dir.path(), &["ingest", &trace, "--db-bucket", "small"]);
    let search =
        |query: &str, more: &[&str]| succeed(dir.path(), &[&["search", "small", query], more].concat());
    let text = search("inner", &["--limit", "1"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2 of 5 slices, together 40.0 µs");
    assert!(lines[1].starts_with("START") && lines[2].starts_with("10 µs"), "{text}");
    assert_eq!(lines[3], "1 row more; --limit all shows them");
    assert_eq!(search("nothing", &[]), "none of 5 slices\n");
    assert_eq!(search("text:needle count=3 half<0.6 big>1k", &["--format", "csv"]).lines().count(), 2);
    assert_eq!(
        search("-inner -ok:true", &["--format", "csv"]).lines().count(),
        3,
        "a leading dash is no flag"
    );
    let csv = search("start:40us..50us inner", &["--format", "csv"]);
    assert_eq!(csv.lines().next(), Some("rank,row,name,track,start_ns,duration_ns"));
    assert!(csv.lines().nth(1).is_some_and(|line| line.ends_with(",40000,20000")), "{csv}");
}

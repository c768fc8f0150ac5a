//! Comparison of tables, logs and reports with acelyzer's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The head and the sorted rows of a table.
fn rows(path: &Path, separator: char) -> (String, Vec<Vec<String>>) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().to_owned();
    let cells = |line: &str| match separator {
        ' ' => line.split_whitespace().map(str::to_owned).collect(),
        _ => line.split(separator).map(|cell| cell.trim().to_owned()).collect(),
    };
    let mut rows: Vec<Vec<String>> = lines.filter(|line| !line.trim().is_empty()).map(cells).collect();
    // Numbers can differ in their last digit, so rows are sorted by their words first.
    rows.sort_by_key(|row| {
        let is_word = |cell: &&String| cell.parse::<f64>().is_err();
        (row.iter().filter(is_word).cloned().collect::<Vec<String>>(), row.clone())
    });
    (head, rows)
}

pub fn same_cell((a, b): (&String, &String)) -> bool {
    let near = |(a, b): (f64, f64)| {
        // acelyzer cuts sums of cycles that it keeps as floats.
        let is_cut = a > 10_000.0 && a.fract() == 0.0 && b - a == 1.0;
        is_cut || (a - b).abs() <= f64::max(0.0015, a.abs() * 1e-12)
    };
    a == b || a.parse().ok().zip(b.parse().ok()).is_some_and(near)
}

pub fn same_table((expected, found): &(PathBuf, PathBuf), separator: char) -> Result<(), String> {
    let ((head, expected), (own, found)) = (rows(expected, separator), rows(found, separator));
    if head != own {
        return Err(format!("head {own:?}, expected {head:?}"));
    }
    if expected.len() != found.len() {
        return Err(format!("{} rows, expected {}", found.len(), expected.len()));
    }
    let is_same =
        |(a, b): &(&Vec<String>, &Vec<String>)| a.len() == b.len() && a.iter().zip(*b).all(same_cell);
    match expected.iter().zip(&found).find(|pair| !is_same(pair)) {
        Some((a, b)) => Err(format!("expected {a:?}, found {b:?}")),
        None => Ok(()),
    }
}

/// Compares the times of kernels by rank. The time from the first to the last kernel follows the
/// clocks of ranks, which acelyzer takes from one operation; it leaves times of communication
/// empty.
pub fn same_shares((expected, found): &(PathBuf, PathBuf)) -> Result<(), String> {
    let ((head, mut expected), (own, mut found)) = (rows(expected, ','), rows(found, ','));
    let kernels = |rows: &mut Vec<Vec<String>>| -> Vec<[String; 2]> {
        rows.sort();
        rows.iter().map(|row| [row[0].clone(), row[2].clone()]).collect()
    };
    let is_written = found.iter().all(|row| row.iter().all(|cell| !cell.is_empty()));
    let (a, b) = (kernels(&mut expected), kernels(&mut found));
    let is_same = |(a, b): (&[String; 2], &[String; 2])| a.iter().zip(b).all(same_cell);
    if head == own && is_written && a.len() == b.len() && a.iter().zip(&b).all(is_same) {
        return Ok(());
    }
    Err(format!("expected {head} {expected:?}, found {own} {found:?}"))
}

/// Compares the rows of a table of slices, but for the times of starts: acelyzer rounds large ones.
pub fn same_frame((expected, found): &(PathBuf, PathBuf)) -> Result<(), String> {
    let read = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let cells = |line: &str| {
            let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if cells.first().is_some_and(|rank| rank != "Rank") {
                cells.remove(1);
            }
            // A hash follows the name of the file.
            cells.iter_mut().for_each(|cell| {
                if let Some((name, hash)) = cell.rsplit_once(".json(")
                    && hash.ends_with(')')
                {
                    *cell = format!("{name}.json");
                }
                // acelyzer takes digits from words.
                *cell = cell.replace("max_poold", "max_pool2d");
            });
            cells
        };
        let mut rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        rows[1..].sort();
        rows
    };
    let (expected, found) = (read(expected), read(found));
    match expected.iter().zip(&found).find(|(a, b)| a.len() != b.len() || !a.iter().zip(*b).all(same_cell)) {
        None if expected.len() == found.len() => Ok(()),
        differing => Err(format!("{} rows of {}: {differing:?}", found.len(), expected.len())),
    }
}

/// Compares the lines of a log with a word, number by number. Lines about nothing do not count.
pub fn same_lines(expected: &Path, said: &str, word: &str) -> Result<(), String> {
    let log = fs::read_to_string(expected.join("stdout.log")).unwrap();
    let lines = |text: &str| {
        let of = |line: &str| line.find(word).map(|at| numbers(&line[at..]));
        let mut lines: Vec<Vec<f64>> = text.lines().filter_map(of).collect();
        lines.retain(|numbers| numbers.last() != Some(&0.0));
        lines.sort_by(|a, b| a.partial_cmp(b).unwrap());
        lines
    };
    let (expected, found) = (lines(&log), lines(said));
    let near = |a: f64, b: f64| (a - b).abs() <= 0.001_f64.max(a.abs() * 1e-6);
    // acelyzer calls microseconds milliseconds.
    let same = |(a, b): (&f64, &f64)| near(*a, *b) || (a / 1e3 - b).abs() <= 0.005_1;
    let is_same = expected.len() == found.len()
        && expected.iter().zip(&found).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(same));
    if is_same { Ok(()) } else { Err(format!("{word}: expected {expected:?}, found {found:?}")) }
}

fn numbers(line: &str) -> Vec<f64> {
    let words = line.split(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Compares the findings of a report: kinds, counts, and the values that acelyzer states.
pub fn same_report(expected: &Path, found: &Path) -> Result<(), String> {
    let read = |folder: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.join("out.json")).unwrap()).unwrap()
    };
    let (expected, found) = (read(expected), read(found));
    for key in ["version", "result", "test_results"] {
        if expected[key] != found[key] {
            return Err(format!("{key}: {} and {}", expected[key], found[key]));
        }
    }
    for key in ["errors", "warnings", "passed"] {
        let (a, b) = (expected[key].as_array().unwrap(), found[key].as_array().unwrap());
        let is_same = |(a, b): (&Value, &Value)| {
            let (instances, own) = (a["instances"].as_array().unwrap(), b["instances"].as_array().unwrap());
            let has =
                |(a, b): (&Value, &Value)| a.as_object().unwrap().iter().all(|(key, value)| b[key] == *value);
            a["finding"] == b["finding"]
                && a["is_error"] == b["is_error"]
                && a["count"] == b["count"]
                && instances.len() == own.len()
                && instances.iter().zip(own).all(has)
        };
        if a.len() != b.len() || !a.iter().zip(b).all(is_same) {
            return Err(format!("{key}: {} and {}", expected[key], found[key]));
        }
    }
    Ok(())
}

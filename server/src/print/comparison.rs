//! A comparison of two runs as text, CSV and Markdown.

use std::io::{self, Write};

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::{share_of_difference, signed_time};
use nprof_engine::wire::comparison::{ComparedEntry, ComparedKind, ComparedRuns};

use super::csv::CsvLine;
use super::fit::fitted;
use super::text::{Align, LINE_WIDTH, table, wrapped};

/// Least width of the names of rows.
const LEAST_NAME: usize = 30;
/// Rows of work in a table for a pull request.
pub const MOST_SHORT_ROWS: usize = 10;

/// The answer, what makes it tell less, what the times are of, the findings that changed as
/// sentences, and the rows.
#[must_use]
pub fn lines(of: &ComparedRuns, findings: &[String]) -> Vec<String> {
    let mut lines = wrapped(&of.answer, "", "  ");
    lines.extend(of.doubts.iter().flat_map(|doubt| wrapped(doubt, "", "  ")));
    lines.extend(wrapped(&of.times_are, "", "  "));
    lines.extend(of.note.iter().flat_map(|note| wrapped(note, "", "  ")));
    lines.extend(order(of).into_iter().flat_map(|order| wrapped(order, "", "  ")));
    lines.extend((!findings.is_empty()).then(String::new));
    lines.extend(findings.iter().flat_map(|change| wrapped(change, "", "  ")));
    lines.push(String::new());
    lines.extend(rows(of));
    lines
}

/// The order of the rows, if some differ by more than chance and others do not.
fn order(of: &ComparedRuns) -> Option<&'static str> {
    let work = || of.rows.iter().filter(|row| row.kind == ComparedKind::Work);
    let (certain, all) = (work().filter(|row| row.is_certain).count(), work().count());
    (certain > 0 && certain < all).then_some("differences that are more than chance come first")
}

/// Cells of a row before its name, and their headings.
const HEADINGS: [&str; 8] = ["DIFFERENCE", "OF ALL", "BETWEEN", "AND", "A", "B", "COUNT A", "B"];

/// Positions of the cells about bounds.
const BOUNDS: std::ops::RangeInclusive<usize> = 2..=3;

fn cells(of: &ComparedRuns, row: &ComparedEntry) -> [String; 8] {
    let time = |ps: i64| match ps < 0 {
        true => signed_time(ps),
        false => short_duration(ps as f64),
    };
    let bound = |ps: Option<i64>| ps.map_or_else(|| "-".to_owned(), signed_time);
    let count = |count: u64| match row.kind {
        ComparedKind::Work | ComparedKind::OtherWork => indicatif::HumanCount(count).to_string(),
        ComparedKind::Beside | ComparedKind::Idle => "-".to_owned(),
    };
    [
        signed_time(row.difference_ps()),
        share(of, row),
        bound(row.low),
        bound(row.high),
        time(row.a_ps),
        time(row.b_ps),
        count(row.a_count),
        count(row.b_count),
    ]
}

fn share(of: &ComparedRuns, row: &ComparedEntry) -> String {
    of.share(row).map_or_else(|| "-".to_owned(), share_of_difference)
}

/// The name of a row, with a note if only one run has the work.
fn name(row: &ComparedEntry) -> String {
    let note = match row.kind {
        ComparedKind::Work if row.a_count == 0 => "new: ",
        ComparedKind::Work if row.b_count == 0 => "gone: ",
        _ => "",
    };
    format!("{note}{}", row.title())
}

fn rows(of: &ComparedRuns) -> Vec<String> {
    let have_bounds = of.rows.iter().any(|row| row.low.is_some());
    let chosen = |cells: [String; 8]| -> Vec<String> {
        let is_shown = |at: &usize| have_bounds || !BOUNDS.contains(at);
        (0..).zip(cells).filter(|(at, _)| is_shown(at)).map(|(_, cell)| cell).collect()
    };
    let mut all: Vec<Vec<String>> = vec![chosen(HEADINGS.map(str::to_owned))];
    all.extend(of.rows.iter().map(|row| chosen(cells(of, row))));
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = table(&mut text, &[Align::Right; HEADINGS.len()][..all[0].len()], &all);
    let numbers = String::from_utf8_lossy(&text);
    let width = numbers.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let left = LINE_WIDTH.saturating_sub(width + 2).max(LEAST_NAME);
    let names: Vec<String> = of.rows.iter().map(name).collect();
    let names = ["NAME".to_owned()].into_iter().chain(fitted(&names, left));
    let line = |(numbers, name): (&str, String)| {
        let gap = " ".repeat(width.saturating_sub(numbers.chars().count()));
        format!("{numbers}{gap}  {name}")
    };
    numbers.lines().zip(names).map(line).collect()
}

/// The rows with exact times in picoseconds.
pub fn csv(of: &ComparedRuns, out: &mut dyn Write) -> io::Result<()> {
    let mut line = CsvLine::default();
    for heading in [
        "name",
        "renamed",
        "kind",
        "a_ps",
        "b_ps",
        "difference_ps",
        "low_ps",
        "high_ps",
        "is_certain",
        "a_count",
        "b_count",
    ] {
        line.cell(heading);
    }
    line.end("\n", out)?;
    for row in &of.rows {
        let kind = match row.kind {
            ComparedKind::Work => "work",
            ComparedKind::OtherWork => "other-work",
            ComparedKind::Beside => "beside",
            ComparedKind::Idle => "idle",
        };
        let bound = |ps: Option<i64>| ps.map(|ps| ps.to_string()).unwrap_or_default();
        let cells = [
            super::csv::text(&row.name),
            super::csv::text(row.renamed.as_deref().unwrap_or_default()),
            kind.to_owned(),
            row.a_ps.to_string(),
            row.b_ps.to_string(),
            row.difference_ps().to_string(),
            bound(row.low),
            bound(row.high),
            row.is_certain.to_string(),
            row.a_count.to_string(),
            row.b_count.to_string(),
        ];
        cells.iter().for_each(|cell| line.cell(cell));
        line.end("\n", out)?;
    }
    Ok(())
}

/// The answer, the findings that changed as sentences, and the rows as Markdown.
#[must_use]
pub fn markdown(of: &ComparedRuns, findings: &[String]) -> Vec<String> {
    let mut lines = vec![format!("**{}**", escaped(&of.answer)), String::new()];
    lines.extend(of.doubts.iter().map(|doubt| format!("- {}", escaped(doubt))));
    lines.push(format!("- {}", escaped(&of.times_are)));
    lines.extend(of.note.iter().map(|note| format!("- {}", escaped(note))));
    lines.extend(order(of).map(|order| format!("- {order}")));
    lines.extend(findings.iter().map(|change| format!("- {}", escaped(change))));
    lines.push(String::new());
    lines.push("| difference | of all | between | A | B | name |".to_owned());
    lines.push("|---:|---:|---:|---:|---:|---|".to_owned());
    for row in of.rows.iter().filter(|row| row.difference_ps() != 0) {
        let [difference, share, low, high, a, b, ..] = cells(of, row);
        let between = if row.low.is_some() { format!("{low} and {high}") } else { "-".to_owned() };
        lines.push(format!("| {difference} | {share} | {between} | {a} | {b} | {} |", code(&name(row))));
    }
    lines
}

/// Text without signs that Markdown acts on.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        if "\\`*_{}[]<>#|~".contains(sign) {
            escaped.push('\\');
        }
        escaped.push(if sign.is_control() { ' ' } else { sign });
    }
    escaped
}

/// A name within a cell of a table.
fn code(name: &str) -> String {
    let name: String =
        name.chars().map(|sign| if sign.is_control() || sign == '`' { ' ' } else { sign }).collect();
    format!("`{}`", name.replace('|', "\\|"))
}

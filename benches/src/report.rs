//! The figures as text: a table of values, a table of ratios, and nprof's bytes by column.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::figure::{AnswerSummary, Figure, FigureKind, percentile};
use crate::generate::Meta;
use crate::store::{FROM_MEMORY, NAME};

/// Columns of the tables.
const QUESTIONS: [&str; 9] = ["W1-first", "W1", "W2", "Z1", "Z1-tiles", "G1", "S1", "cold", "tile"];

/// Figures of one store.
#[derive(Default)]
struct StoreFigures<'a> {
    name: &'a str,
    /// Seconds of each ingest.
    seconds: Vec<f64>,
    bytes: u64,
    ingest_mib: f64,
    query_mib: f64,
    times: BTreeMap<&'a str, Vec<f64>>,
    answers: BTreeMap<&'a str, AnswerSummary>,
    missing: Vec<&'a str>,
}

impl StoreFigures<'_> {
    fn times(&self, name: &str) -> Option<&Vec<f64>> {
        // Stores that group only by start answer G1-starts instead of G1.
        self.times.get(name).or_else(|| self.times.get("G1-starts").filter(|_| name == "G1"))
    }

    fn is_measured(&self) -> bool {
        self.bytes > 0 || !self.times.is_empty()
    }
}

fn stores(figures: &[Figure]) -> Vec<StoreFigures<'_>> {
    let mut stores: Vec<StoreFigures<'_>> = Vec::new();
    for figure in figures {
        let at = stores.iter().position(|store| store.name == figure.store).unwrap_or_else(|| {
            stores.push(StoreFigures { name: &figure.store, ..StoreFigures::default() });
            stores.len() - 1
        });
        let store = &mut stores[at];
        match &figure.content {
            FigureKind::Ingest { seconds, bytes, peak_mib } => {
                store.seconds.push(*seconds);
                (store.bytes, store.ingest_mib) = (*bytes, store.ingest_mib.max(*peak_mib));
            }
            FigureKind::Question { name, times_ms, answer } => {
                store.times.entry(name).or_default().extend(times_ms);
                store.answers.extend(answer.map(|answer| (name.as_str(), answer)));
            }
            FigureKind::Memory { peak_mib } => store.query_mib = *peak_mib,
            FigureKind::Missing { why } => store.missing.push(why),
            FigureKind::Columns { .. } => {}
        }
    }
    stores
}

/// All figures, for reading.
#[must_use]
pub fn text(meta: &Meta, figures: &[Figure], answers: &BTreeMap<String, AnswerSummary>) -> String {
    let stores = stores(figures);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, meta, figures, &stores, answers);
    out
}

fn write(
    out: &mut String,
    meta: &Meta,
    figures: &[Figure],
    stores: &[StoreFigures<'_>],
    answers: &BTreeMap<String, AnswerSummary>,
) -> std::fmt::Result {
    let rows = meta.rows() as f64;
    writeln!(
        out,
        "{rows} rows. Milliseconds: p50 / p99 (of few runs: the longest); events in: p50 (best).\n"
    )?;
    let heads = ["bytes/event", "M events/s in", FROM_MEMORY, "MiB in", "MiB asked"];
    let mut table = vec![row("store", heads.into_iter().chain(QUESTIONS).map(str::to_owned))];
    for store in stores.iter().filter(|store| store.is_measured()) {
        let first = [
            number(store.bytes as f64 / rows),
            rates(rows, &store.seconds),
            store.times(FROM_MEMORY).map_or_else(
                || "-".to_owned(),
                |times| rates(rows, &times.iter().map(|ms| ms / 1e3).collect::<Vec<_>>()),
            ),
            number(store.ingest_mib),
            number(store.query_mib),
        ];
        let times = QUESTIONS.iter().map(|name| match store.times(name) {
            Some(times) => {
                format!("{} / {}", number(percentile(times, 0.5)), number(percentile(times, 0.99)))
            }
            None => "-".to_owned(),
        });
        table.push(row(store.name, first.into_iter().chain(times)));
    }
    aligned(out, &table)?;
    if let Some(own) = stores.iter().find(|store| store.name == NAME).filter(|_| stores.len() > 1) {
        ratios(out, own, stores)?;
    }
    agreement(out, stores, answers)?;
    columns(out, figures, rows)
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// Millions per second, by the median and by the best of the runs.
fn rates(rows: f64, seconds: &[f64]) -> String {
    let [median, best] = [0.5, 0.0].map(|share| number(rows / percentile(seconds, share) / 1e6));
    if seconds.len() > 1 { format!("{median} ({best})") } else { median }
}

/// A number with three significant digits.
fn number(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return "-".to_owned();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 4) as usize;
    format!("{value:.digits$}")
}

fn aligned(out: &mut String, table: &[Vec<String>]) -> std::fmt::Result {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| table.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in table {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if at == 0 {
                write!(out, "{cell:<width$}")?;
            } else {
                write!(out, "  {cell:>width$}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Ratios of the others to nprof: above 1, nprof is smaller or faster.
fn ratios(out: &mut String, own: &StoreFigures<'_>, stores: &[StoreFigures<'_>]) -> std::fmt::Result {
    writeln!(out, "\nTimes nprof, by p50:\n")?;
    let heads = ["bytes", "ingest", "MiB in", "MiB asked"];
    let mut table = vec![row("store", heads.into_iter().chain(QUESTIONS).map(str::to_owned))];
    for store in stores.iter().filter(|store| store.name != NAME && store.is_measured()) {
        let first = [
            number(store.bytes as f64 / own.bytes as f64),
            number(percentile(&store.seconds, 0.5) / percentile(&own.seconds, 0.5)),
            number(store.ingest_mib / own.ingest_mib),
            number(store.query_mib / own.query_mib),
        ];
        let times = QUESTIONS.iter().map(|&name| {
            // nprof always reads cells that were made beforehand, so its Z1 stands for Z1-tiles.
            let of_own = if name == "Z1-tiles" { "Z1" } else { name };
            match (store.times(name), own.times(of_own)) {
                (Some(theirs), Some(ours)) => number(percentile(theirs, 0.5) / percentile(ours, 0.5)),
                _ => "-".to_owned(),
            }
        });
        table.push(row(store.name, first.into_iter().chain(times)));
    }
    aligned(out, &table)
}

fn agreement(
    out: &mut String,
    stores: &[StoreFigures<'_>],
    answers: &BTreeMap<String, AnswerSummary>,
) -> std::fmt::Result {
    writeln!(out, "\nAnswers, beside those of looking at every row:\n")?;
    for store in stores {
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for (name, answer) in &store.answers {
            match answers.get(name.trim_end_matches("-first")) {
                Some(expected) if expected == answer => {
                    right.extend(Some(*name).filter(|n| !n.ends_with("-first")))
                }
                Some(expected) => {
                    let (a, b) = (answer, expected);
                    wrong.push(format!("{name} {}/{} instead of {}/{}", a.rows, a.sum, b.rows, b.sum));
                }
                None => {}
            }
        }
        if !right.is_empty() {
            writeln!(out, "{}: agrees on {}", store.name, right.join(", "))?;
        }
        for difference in wrong {
            writeln!(out, "{} DIFFERS: {difference}", store.name)?;
        }
        for why in &store.missing {
            writeln!(out, "{} left out: {why}", store.name)?;
        }
    }
    Ok(())
}

fn columns(out: &mut String, figures: &[Figure], rows: f64) -> std::fmt::Result {
    writeln!(out, "\nBytes by column: of a row of its table, and of any row of the profile.\n")?;
    for figure in figures {
        let FigureKind::Columns { table, rows: of_table, bytes } = &figure.content else { continue };
        let mut table_rows = Vec::new();
        for (column, &bytes) in bytes.iter().filter(|&(_, &bytes)| bytes > 0) {
            let name = format!("{} {table}.{column}", figure.store);
            let (own, whole) = (bytes as f64 / *of_table as f64, bytes as f64 / rows);
            table_rows.push(vec![name, format!("{own:.4}"), format!("{whole:.4}")]);
        }
        aligned(out, &table_rows)?;
    }
    Ok(())
}

//! The slices of a trace as a table, aligned for people. Rows come rank by rank, by time.
//!
//! The widths of columns follow from all rows, so the slices are read twice and memory is that of a
//! row.

use std::io::Write;

use nprof_engine::makers::aiu::schema::OpRow;
use serde_json::Value as Json;

use super::error::Result;
use super::event::Event;
use super::form::EventForm;
use super::source::Source;
use super::table_text::{Cell, ColumnKind, Widths};
use super::trace::{self, Met};

/// Columns of the table.
const HEAD: [&str; 9] =
    ["Rank", "Timestamp", "Duration", "Category", "Event Name", "Event CLass", "Job", "Size", "PT_Active"];

/// Writes the slices of these ranks as one table.
pub fn write(ranks: &[Source<'_>], form: &EventForm, out: &mut dyn Write) -> Result<Met> {
    let mut widths = Widths::of(&HEAD);
    let (met, _) = trace::for_each(ranks, form, &mut |event| {
        if let Some(row) = row(ranks, event) {
            widths.take(&row);
        }
        Ok(())
    })?;
    widths.head(&HEAD, out)?;
    trace::for_each(ranks, form, &mut |event| {
        if let Some(row) = row(ranks, event) {
            writeln!(out)?;
            widths.row(&row, out)?;
        }
        Ok(())
    })?;
    Ok(met)
}

/// The row of a slice; `None` for other events.
fn row(ranks: &[Source<'_>], event: &Event) -> Option<[Cell; 9]> {
    let duration_ps = event.duration_ps.filter(|_| event.phase == 'X')?;
    let number = |key: &str| match event.args.get(key) {
        Some(Json::String(text)) => text.trim().trim_end_matches('B').parse().unwrap_or(0.0),
        Some(value) => value.as_f64().unwrap_or(0.0),
        None => 0.0,
    };
    let text = |text: &str| Cell::Text(text.to_owned(), ColumnKind::Word);
    let of = |key: &str| event.args.get(key).and_then(Json::as_str).unwrap_or_default();
    let rank = event.args.get("rank").and_then(Json::as_i64);
    let source = ranks.iter().find(|source| rank == Some(i64::from(source.rank)));
    let job = event.args.get("jobname").and_then(Json::as_str);
    let job = job.or_else(|| source.map(|source| source.title.as_str()));
    #[expect(clippy::cast_precision_loss, reason = "printed times have at most 17 digits")]
    Some([
        Cell::Text(rank.map_or_else(|| "-1".to_owned(), |rank| rank.to_string()), ColumnKind::Number),
        Cell::Float(event.time_ps as f64 / 1e6),
        Cell::Float(duration_ps as f64 / 1e6),
        text(event.category.as_deref().unwrap_or_default()),
        text(&event.name.replace(['\n', '\r', '\t'], " ")),
        text(of("class")),
        text(job.unwrap_or_default()),
        Cell::Float(number("bytes")),
        Cell::Float(number(OpRow::by(|field| field.name).pt_active)),
    ])
}

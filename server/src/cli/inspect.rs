//! `nprof inspect`

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use nprof_engine::native::{OpenError, SegmentFile};
use nprof_engine::segment::{Anatomy, ColumnAnatomy, TableAnatomy};

use super::size;
use crate::print::text::{self, Align};
use crate::terminal::{cell, visible};

const EXAMPLES: &str = "\
Examples:
  nprof inspect ~/.local/share/nprof/profiles/n_0123…/rank_0.nseg";

/// Show the size of each part of a segment: tables, columns, codecs, indexes
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InspectArgs {
    /// Path of a segment, such as rank_0.nseg in the store
    #[arg(value_name = "FILE.nseg")]
    file: PathBuf,
}

impl InspectArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let name = self.file.display();
        let segment = SegmentFile::open_file(&self.file).map_err(|error| match error {
            OpenError::Io(error) => {
                anyhow!("{name}: cannot read ({error}); check the path and the permissions")
            }
            OpenError::Segment(error) => anyhow!("{name}: {error}"),
        })?;
        let anatomy = segment.anatomy().map_err(|error| anyhow!("{name}: {error}"))?;
        Ok(show(&anatomy, segment.content(), out)?)
    }
}

fn show(anatomy: &Anatomy, content: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let rows: u64 = anatomy.tables.iter().map(|table| table.rows).sum();
    let total = anatomy.unpacked_bytes;
    writeln!(
        out,
        "content {}, {} rows, {}, {} a row",
        visible(content),
        size::count(rows),
        exact(anatomy.file_bytes),
        each(anatomy.file_bytes, rows)
    )?;
    if total > anatomy.file_bytes {
        writeln!(
            out,
            "this small segment is compressed as a whole; the sizes below are uncompressed, {} in total",
            exact(total)
        )?;
    }
    for table in anatomy.tables.iter().filter(|table| table.rows > 0) {
        writeln!(out)?;
        show_table(table, out)?;
    }
    writeln!(out)?;
    let (texts, text_bytes) = anatomy.dictionary;
    let (arrows, arrow_bytes) = anatomy.flows;
    let rest = [
        ("dictionary", size::count(texts), text_bytes),
        ("arrows", size::count(arrows), arrow_bytes),
        ("tile pyramids", String::new(), anatomy.pyramid_bytes),
        ("indexes, footer", String::new(), anatomy.other_bytes),
    ];
    let mut lines = vec![["", "ENTRIES", "BYTES", "SHARE"].map(str::to_owned).to_vec()];
    for table in anatomy.tables.iter().filter(|table| table.rows > 0) {
        let bytes = table_bytes(table);
        lines.push(vec![
            format!("table {}", table.name),
            size::count(table.rows),
            size::count(bytes),
            share(bytes, total),
        ]);
    }
    for (name, entries, bytes) in rest {
        lines.push(vec![name.to_owned(), entries, size::count(bytes), share(bytes, total)]);
    }
    text::table(out, &[Align::Left, Align::Right, Align::Right, Align::Right], &lines)
}

fn show_table(table: &TableAnatomy, out: &mut dyn Write) -> std::io::Result<()> {
    let bytes = table_bytes(table);
    writeln!(
        out,
        "table {}: {} rows in {} blocks{}, {}, {} a row",
        cell(&table.name, text::MAX_CELL_CHARS),
        size::count(table.rows),
        size::count(table.blocks),
        if table.packs < table.blocks {
            format!(" ({} packs)", size::count(table.packs))
        } else {
            String::new()
        },
        exact(bytes),
        each(bytes, table.rows),
    )?;
    let mut lines = vec![["  COLUMN", "TYPE", "BYTES", "BYTES/ROW", "CODECS"].map(str::to_owned).to_vec()];
    lines.extend(table.columns.iter().map(|column| column_line(column, table.rows)));
    text::table(out, &[Align::Left, Align::Left, Align::Right, Align::Right, Align::Left], &lines)
}

fn column_line(column: &ColumnAnatomy, rows: u64) -> Vec<String> {
    let codecs: Vec<String> =
        column.codecs.iter().map(|(name, blocks)| format!("{name} × {blocks}")).collect();
    vec![
        format!("  {}", column.name),
        format!("{:?}", column.kind).to_lowercase(),
        size::count(column.bytes),
        each(column.bytes, rows),
        codecs.join(", "),
    ]
}

fn table_bytes(table: &TableAnatomy) -> u64 {
    table.columns.iter().map(|column| column.bytes).sum()
}

fn exact(bytes: u64) -> String {
    format!("{} bytes", size::count(bytes))
}

#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn each(bytes: u64, rows: u64) -> String {
    if rows == 0 { "-".to_owned() } else { format!("{:.2}", bytes as f64 / rows as f64) }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn share(bytes: u64, total: u64) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * bytes as f64 / total as f64) }
}

//! A CSV table of a rank: all slices, or the rows of one table. `docs/export.md` describes it.
//!
//! RFC 4180: UTF-8, a heading, lines that end with CR LF. Every text is written unchanged, so that
//! reading the file gives the texts of the trace. Rows are written while they are read: memory
//! holds a block per track.

mod columns;

use std::io::Write;

use nprof_engine::exec::Work;
use nprof_engine::model::{TableId, TableKind};
use nprof_engine::native::SegmentFile;
use nprof_engine::query::{self, RowContent, RowOrder, TimedRow, for_each_timed};

use self::columns::CsvColumns;
use super::requested_part::numbers;
use super::tracks::ExportTracks;
use super::{ExportChoices, ExportError, OpenedRank, PreparedExport, RanksOf, RowFailure};
use crate::print::csv::{self as cell, CsvLine, nanoseconds, number};

/// As RFC 4180 has it.
const LINE_END: &str = "\r\n";
/// Columns of slices before the fields.
const SLICE: [&str; 6] = ["start_ns", "duration_ns", "track", "name", "form", "row"];
/// Columns of samples before the fields.
const SAMPLE: [&str; 5] = ["start_ns", "value", "track", "unit", "row"];
/// Columns of side tables before the fields.
const SIDE: [&str; 1] = ["row"];

/// Opens the segment of a rank and finds the table.
///
/// # Errors
/// `SeveralRanks`, because ranks have different columns. `NoTable` if the rank does not have the
/// chosen table. Other errors if the segment cannot be opened.
pub fn prepare<'a>(
    of: RanksOf<'a>,
    choices: &'a ExportChoices,
    _: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    if let [first, _, ..] = of.ranks {
        return Err(ExportError::SeveralRanks { format: "csv", first: first.rank, known: numbers(of.ranks) });
    }
    let opened = of.open()?;
    let tables = opened.iter().map(|opened| TableChoice::of(opened, choices.table.as_deref()));
    let tables = tables.collect::<Result<Vec<_>, ExportError>>()?;
    Ok(PreparedExport::new(move |out| {
        opened.iter().zip(&tables).try_for_each(|(opened, chosen)| {
            opened.read(|segment| {
                let tracks = ExportTracks::of(segment)?;
                CsvSheet::new(segment, chosen, &tracks, out).write()
            })
        })
    }))
}

/// The tables to write. All are of one kind.
struct TableChoice {
    kind: TableKind,
    tables: Vec<TableId>,
}

impl TableChoice {
    /// The table with this name; `None` for all tables of slices.
    fn of(opened: &OpenedRank<'_>, name: Option<&str>) -> Result<Self, ExportError> {
        let all = &opened.segment().footer().tables;
        let tables = (0..).map(TableId).zip(all).filter(|(_, table)| table.rows > 0);
        let Some(name) = name else {
            let slices = tables.filter(|(_, table)| table.spec.kind == TableKind::Slices);
            let tables = slices.map(|(id, _)| id).collect();
            return Ok(Self { kind: TableKind::Slices, tables });
        };
        let found = tables.clone().find(|(_, table)| table.spec.name == name);
        let (id, table) = found.ok_or_else(|| {
            let known: Vec<&str> = tables.map(|(_, table)| table.spec.name.as_str()).collect();
            let (rank, table) = (opened.rank.rank, name.to_owned());
            ExportError::NoTable { rank, table, known: known.join(", ") }
        })?;
        Ok(Self { kind: table.spec.kind, tables: vec![id] })
    }
}

/// A table that is being written.
struct CsvSheet<'a> {
    segment: &'a SegmentFile,
    chosen: &'a TableChoice,
    columns: CsvColumns,
    /// The names of each track with its groups, as cells.
    tracks: Vec<String>,
    line: CsvLine,
    out: &'a mut dyn Write,
}

impl<'a> CsvSheet<'a> {
    fn new(
        segment: &'a SegmentFile,
        chosen: &'a TableChoice,
        tracks: &ExportTracks<'_>,
        out: &'a mut dyn Write,
    ) -> Self {
        let fixed: &[&str] = match chosen.kind {
            TableKind::Slices => &SLICE,
            TableKind::Samples => &SAMPLE,
            TableKind::Side => &SIDE,
        };
        Self {
            segment,
            chosen,
            columns: CsvColumns::new(segment, &chosen.tables, fixed),
            tracks: tracks.ids().map(|track| cell::text(&tracks.path(track).join("/"))).collect(),
            line: CsvLine::default(),
            out,
        }
    }

    fn write(mut self) -> Result<(), RowFailure> {
        for title in self.columns.titles() {
            self.line.cell(&cell::text(title));
        }
        self.line.end(LINE_END, self.out)?;
        let (segment, chosen) = (self.segment, self.chosen);
        match chosen.kind {
            TableKind::Slices | TableKind::Samples => {
                for_each_timed(segment, &chosen.tables, RowOrder::Time, |row| self.timed(&row))
            }
            TableKind::Side => chosen.tables.iter().try_for_each(|&table| {
                query::fields::for_each_row(segment, table, |row, fields| {
                    self.line.cell(&row.to_string());
                    self.columns.write(&fields, &mut self.line);
                    Ok(self.line.end(LINE_END, self.out)?)
                })
            }),
        }
    }

    fn timed(&mut self, row: &TimedRow) -> Result<(), RowFailure> {
        let track = row.track.0 as usize;
        self.line.cell(&nanoseconds(row.start_ps));
        match row.content {
            RowContent::Slice { duration_ps, name, form, .. } => {
                self.line.cell(&nanoseconds(duration_ps));
                self.line.cell(&self.tracks[track]);
                self.line.cell(&cell::text(self.segment.text(name)?));
                self.line.cell(form.name());
            }
            RowContent::Sample { value } => {
                self.line.cell(&number(value));
                self.line.cell(&self.tracks[track]);
                let unit = self.segment.footer().tracks[track].spec.unit;
                self.line.cell(&cell::text(unit.symbol()));
            }
        }
        self.line.cell(&row.row.to_string());
        self.columns.write(&row.fields, &mut self.line);
        Ok(self.line.end(LINE_END, self.out)?)
    }
}

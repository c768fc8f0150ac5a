//! The JSON export of a rank: one object with a list of rows for each table. `docs/export.md`
//! describes it.
//!
//! Tables of a Neuron profile have the names and keys of `neuron-profile view --output-format
//! json`. Other profiles have the same form, with their own tables. Every row of the timeline also
//! has exact times, its number and its track. The tables `track`, `arrow`, `warning` and `export`
//! are nprof's own. Rows are written while they are read: memory holds a block and a chunk of
//! arrows per track. Rows are ordered by time; the rows of `dma` are ordered by queue first.

mod added_tables;
mod keys;
mod timeline_rows;

use std::io::{self, Write};

use nprof_engine::base::Time;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::exec::Work;
use nprof_engine::makers::neuron::metrics::for_each_busy;
use nprof_engine::makers::neuron::schema::{ACTIVE_TIME, INSTRUCTION};
use nprof_engine::makers::{Tool, imitated_tool};
use nprof_engine::model::{FieldId, OwnedValue, TableId, TableKind};
use nprof_engine::native::SegmentFile;
use nprof_engine::query;
use nprof_engine::wire::summary::Summary;
use serde_json::Value as Json;

use self::keys::FieldKeys;
use super::tracks::{self, ExportTracks};
use super::{ExportChoices, ExportError, OpenedRank, PreparedExport, RanksOf, RowFailure};
use crate::print::number::{Precision, float};
use crate::store::RankFile;
use crate::summary::summary_of;

const SUMMARY: &str = "summary";

/// Opens each segment and computes the metrics of these ranks. One rank is one object with all
/// tables. Several ranks become `{"rank_0": {…}, "rank_1": {…}}`.
pub fn prepare<'a>(
    of: RanksOf<'a>,
    _: &'a ExportChoices,
    work: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    let summaries = of.each().map(|opened| {
        let opened = opened?;
        opened.read(|segment| Ok(summary_of(opened.place(), segment, work)?))
    });
    let summaries = summaries.collect::<Result<Vec<_>, ExportError>>()?;
    Ok(PreparedExport::new(move |out| {
        let mut separator = "{";
        let first_event_ps = of.profile.manifest.span_ps().0;
        for (opened, summary) in of.each().zip(&summaries) {
            let opened = opened?;
            if summaries.len() == 1 {
                return write_rank(&opened, summary, first_event_ps, out);
            }
            write!(out, "{separator}\n\"rank_{}\":", opened.rank.rank)?;
            write_rank(&opened, summary, first_event_ps, out)?;
            separator = ",";
        }
        Ok(writeln!(out, "}}")?)
    }))
}

fn write_rank(
    opened: &OpenedRank<'_>,
    summary: &Summary,
    first_event_ps: i64,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    opened.read(|segment| {
        let tracks = ExportTracks::of(segment)?;
        JsonExport { segment, rank: opened.rank, summary, first_event_ps, tracks, out }.write()
    })
}

struct JsonExport<'a> {
    segment: &'a SegmentFile,
    rank: &'a RankFile,
    summary: &'a Summary,
    /// Time of the first event of the profile.
    first_event_ps: i64,
    tracks: ExportTracks<'a>,
    out: &'a mut dyn Write,
}

impl JsonExport<'_> {
    fn write(&mut self) -> Result<(), RowFailure> {
        let tables = self.stored();
        let is_neuron = self.is_neuron();
        let has = |wanted: &str| tables.iter().any(|(_, name, _)| name == wanted);
        // Several rows are the summaries of several cores. A single row is completed with computed
        // values.
        let has_summaries = tables.iter().any(|(id, name, _)| name == SUMMARY && self.rows(*id) > 1);
        self.description()?;
        let separator = ",";
        for (id, name, kind) in tables.iter().filter(|(_, name, _)| name != SUMMARY || has_summaries) {
            self.head(separator, name)?;
            match kind {
                TableKind::Side => self.side(*id)?,
                TableKind::Slices | TableKind::Samples => self.timed(*id)?,
            }
            write!(self.out, "\n]")?;
        }
        if is_neuron && has(INSTRUCTION.name) && !has(ACTIVE_TIME.name) {
            self.active_time(separator)?;
        }
        if !has_summaries {
            let own = Json::Object(super::summary::metrics(self.summary));
            self.table(separator, SUMMARY, &[own])?;
            let derived = if is_neuron {
                super::neuron_summary::tables(self.segment, self.summary)
            } else {
                Vec::new()
            };
            for (name, rows) in derived.iter().filter(|(name, rows)| !has(name) && !rows.is_empty()) {
                self.table(separator, name, rows)?;
            }
        }
        self.own()?;
        Ok(writeln!(self.out, "\n}}")?)
    }

    /// The tables of the segment that have rows, with the names under which they are written.
    fn stored(&self) -> Vec<(TableId, String, TableKind)> {
        let all = (0..).zip(&self.segment.footer().tables).filter(|(_, meta)| meta.rows > 0);
        let mut tables: Vec<(TableId, String, TableKind)> =
            all.map(|(id, meta)| (TableId(id), meta.spec.name.clone(), meta.spec.kind)).collect();
        // The readers' list of tracks is part of the table that replaces it.
        tables
            .retain(|(_, name, kind)| self.is_neuron() || name != tracks::TABLE || *kind != TableKind::Side);
        let names: Vec<String> = tables.iter().map(|(_, name, _)| name.clone()).collect();
        for (_, name, _) in
            tables.iter_mut().filter(|(_, name, _)| added_tables::NAMES.contains(&name.as_str()))
        {
            while added_tables::NAMES.contains(&name.as_str()) || names.contains(name) {
                name.push('_');
            }
        }
        tables
    }

    fn is_neuron(&self) -> bool {
        imitated_tool(&self.segment.footer().rank.source) == Some(Tool::NeuronProfile)
    }

    fn rows(&self, table: TableId) -> u32 {
        self.segment.footer().tables[usize::from(table.0)].rows
    }

    /// Begins a table.
    fn head(&mut self, separator: &str, name: &str) -> io::Result<()> {
        write!(self.out, "{separator}\n{}:[", Json::from(name))
    }

    /// Writes a small table whose rows are in memory.
    fn table(&mut self, separator: &str, name: &str, rows: &[Json]) -> io::Result<()> {
        self.head(separator, name)?;
        let mut separator = "";
        for row in rows {
            write!(self.out, "{separator}\n{row}")?;
            separator = ",";
        }
        write!(self.out, "\n]")
    }

    fn side(&mut self, table: TableId) -> Result<(), RowFailure> {
        let segment = self.segment;
        let keys = FieldKeys::new(segment.footer(), table, &[]);
        let mut separator = "";
        query::fields::for_each_row(segment, table, |_, row| {
            write!(self.out, "{separator}\n{{")?;
            self.fields(&keys, &row, "")?;
            separator = ",";
            Ok::<_, RowFailure>(write!(self.out, "}}")?)
        })
    }

    fn active_time(&mut self, separator: &str) -> Result<(), RowFailure> {
        self.head(separator, ACTIVE_TIME.name)?;
        let mut separator = "";
        for_each_busy(self.segment, |busy| {
            write!(
                self.out,
                "{separator}\n{{\"engine\":{},\"pcore_idx\":{},\"start_ts\":{},\"end_ts\":{},\"duration_ns\":{}}}",
                Json::from(busy.engine.as_str()),
                busy.core,
                Time(busy.start_ps).floor_ns(),
                Time(busy.end_ps).floor_ns(),
                (busy.end_ps - busy.start_ps).div_euclid(PS_PER_NS),
            )?;
            separator = ",";
            Ok::<_, RowFailure>(())
        })?;
        Ok(write!(self.out, "\n]")?)
    }

    /// Writes the fields of a row, each after a separator.
    fn fields(
        &mut self,
        keys: &FieldKeys,
        row: &[(FieldId, OwnedValue)],
        first_separator: &str,
    ) -> Result<(), RowFailure> {
        let segment = self.segment;
        let mut separator = first_separator;
        for (id, value) in row {
            write!(self.out, "{separator}{}:", keys.of(*id))?;
            separator = ",";
            match value {
                OwnedValue::Int(number) => write!(self.out, "{number}")?,
                OwnedValue::Uint(number) => write!(self.out, "{number}")?,
                OwnedValue::Bool(truth) => write!(self.out, "{truth}")?,
                OwnedValue::Float(number) => {
                    let unit = segment.footer().fields[id.0 as usize].1.unit;
                    float(*number, self.precision(unit), self.out)?;
                }
                OwnedValue::Text(text) => serde_json::to_writer(&mut *self.out, text)?,
                // Written unchanged. Readers produce only JSON, but a segment can come from
                // anywhere.
                OwnedValue::Json(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
                    self.out.write_all(text.as_bytes())?;
                }
                OwnedValue::Json(text) => serde_json::to_writer(&mut *self.out, text)?,
            }
        }
        Ok(())
    }

    fn precision(&self, unit: nprof_engine::model::Unit) -> Precision {
        if self.is_neuron() { Precision::of_neuron(unit) } else { Precision::Double }
    }
}

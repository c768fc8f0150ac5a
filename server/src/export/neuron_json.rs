//! The JSON that `neuron-profile view --output-format json` writes: one object with a list of rows for each table, under
//! the same names. Written as it is read: memory holds a block of each track.
//!
//! Times are whole nanoseconds, rounded down, as neuron-profile has them. Rows come in the order of time, those of `dma`
//! queue by queue. Tables that a trace does not bring and that follow from its rows (`summary`, `active_time`) are
//! computed. neuron-profile's floats are of single precision, written with as few digits as tell them apart: a value
//! that is such a float is written the same way. A profile that was not taken on a Neuron device comes out in the same form, with its own tables.

use std::io::{self, Write};
use std::path::Path;

use nprof_capture::formats::neuron::schema;
use nprof_engine::base::Time;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::metrics::neuron::for_each_busy;
use nprof_engine::model::{FieldId, Form, OwnedValue, TableId, TableKind, Unit};
use nprof_engine::native::SegmentFile;
use nprof_engine::wire::answer;
use serde_json::Value as Json;

use super::ExportError;
use super::rows::{Order, RowContent, TimedRow, for_each_timed};

const SUMMARY: &str = "summary";
const ACTIVE_TIME: &str = "active_time";
/// The key of a sample's value in tables that neuron-profile does not have.
const VALUE_KEY: &str = "value";
/// Floats up to here are whole numbers exactly, and are written as such.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes all tables of a rank.
///
/// # Errors
/// Where the segment cannot be read or the output not be written.
pub fn write(path: &Path, rank: u32, out: &mut dyn Write) -> Result<(), ExportError> {
    let segment = super::open(path)?;
    let written = Export { segment: &segment, out }.write(rank);
    written.map_err(|failure| match failure {
        Failure::Engine(source) => ExportError::Segment { path: path.to_owned(), source },
        Failure::Io(source) => ExportError::Write(source),
    })
}

/// The two sides that can fail.
enum Failure {
    Engine(nprof_engine::base::Error),
    Io(io::Error),
}

impl From<nprof_engine::base::Error> for Failure {
    fn from(error: nprof_engine::base::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

struct Export<'a> {
    segment: &'a SegmentFile,
    out: &'a mut dyn Write,
}

impl Export<'_> {
    fn write(&mut self, rank: u32) -> Result<(), Failure> {
        let tables: Vec<(TableId, String, TableKind)> = (0..)
            .zip(&self.segment.footer().tables)
            .filter(|(_, meta)| meta.rows > 0)
            .map(|(id, meta)| (TableId(id), meta.spec.name.clone(), meta.spec.kind))
            .collect();
        write!(self.out, "{{")?;
        let is_neuron = self.segment.footer().rank.source == schema::SOURCE;
        let has = |wanted: &str| tables.iter().any(|(_, name, _)| name == wanted);
        // Several rows are several cores' own; one is completed by what can be computed.
        let has_summaries = tables.iter().any(|(id, name, _)| name == SUMMARY && self.rows(*id) > 1);
        let mut separator = "";
        for (id, name, kind) in tables.iter().filter(|(_, name, _)| name != SUMMARY || has_summaries) {
            write!(self.out, "{separator}\n{}:[", Json::from(name.as_str()))?;
            match kind {
                TableKind::Side => self.side(*id)?,
                TableKind::Slices | TableKind::Samples => self.timed(*id, name)?,
            }
            write!(self.out, "\n]")?;
            separator = ",";
        }
        if is_neuron && has("instruction") && !has(ACTIVE_TIME) {
            self.active_time(separator)?;
            separator = ",";
        }
        if !has_summaries {
            let summary = answer::summary(self.segment, rank)?;
            let own = Json::Object(super::summary::metrics(&summary));
            write!(self.out, "{separator}\n\"{SUMMARY}\":[\n{own}\n]")?;
            let derived =
                if is_neuron { super::neuron_summary::tables(self.segment, &summary) } else { Vec::new() };
            for (name, rows) in derived.iter().filter(|(name, rows)| !has(name) && !rows.is_empty()) {
                self.computed(name, rows)?;
            }
        }
        Ok(writeln!(self.out, "\n}}")?)
    }

    fn rows(&self, table: TableId) -> u32 {
        self.segment.footer().tables[usize::from(table.0)].rows
    }

    fn timed(&mut self, table: TableId, name: &str) -> Result<(), Failure> {
        let segment = self.segment;
        let name_key = segment.footer().tables[usize::from(table.0)].spec.name_key.clone();
        let value_key = schema::table(name).map_or(VALUE_KEY, |table| table.value_key);
        let order = if name == "dma" { Order::Track } else { Order::Time };
        let mut separator = "";
        for_each_timed(segment, table, order, |row: TimedRow| {
            write!(self.out, "{separator}\n{{\"timestamp\":{}", Time(row.start_ps).floor_ns())?;
            separator = ",";
            match row.content {
                RowContent::Slice { duration_ps, name, form } => {
                    if form != Form::Instant {
                        write!(self.out, ",\"duration\":{}", duration_ps.div_euclid(PS_PER_NS))?;
                    }
                    if !name_key.is_empty() {
                        let text = Json::from(segment.text(name)?);
                        write!(self.out, ",{}:{text}", Json::from(name_key.as_str()))?;
                    }
                }
                RowContent::Sample { value } => {
                    write!(self.out, ",{}:", Json::from(value_key))?;
                    let unit = segment.footer().tracks[row.track.0 as usize].spec.unit;
                    float(value, Precision::of(segment, unit), self.out)?;
                }
            }
            fields(segment, &row.fields, ",", self.out)?;
            Ok::<_, Failure>(write!(self.out, "}}")?)
        })
    }

    fn side(&mut self, table: TableId) -> Result<(), Failure> {
        let segment = self.segment;
        let mut separator = "";
        let mut failed = None;
        segment.for_each_row(table, |_, row| {
            let mut write_row = || {
                write!(self.out, "{separator}\n{{")?;
                fields(segment, &row, "", self.out)?;
                Ok::<_, Failure>(write!(self.out, "}}")?)
            };
            if failed.is_none() {
                failed = write_row().err();
            }
            separator = ",";
            Ok(())
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn active_time(&mut self, separator: &str) -> Result<(), Failure> {
        write!(self.out, "{separator}\n\"{ACTIVE_TIME}\":[")?;
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
            Ok::<_, Failure>(())
        })?;
        Ok(write!(self.out, "\n]")?)
    }

    /// A small table that the trace does not bring.
    fn computed(&mut self, name: &str, rows: &[Json]) -> Result<(), Failure> {
        write!(self.out, ",\n{}:[", Json::from(name))?;
        let mut separator = "";
        for row in rows {
            write!(self.out, "{separator}\n{row}")?;
            separator = ",";
        }
        Ok(write!(self.out, "\n]")?)
    }
}

/// The fields of a row, each after a separator.
fn fields(
    segment: &SegmentFile,
    row: &[(FieldId, OwnedValue)],
    first_separator: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut separator = first_separator;
    for (id, value) in row {
        let (_, spec) = &segment.footer().fields[id.0 as usize];
        write!(out, "{separator}{}:", Json::from(spec.name.as_str()))?;
        separator = ",";
        match value {
            OwnedValue::Int(number) => write!(out, "{number}")?,
            OwnedValue::Uint(number) => write!(out, "{number}")?,
            OwnedValue::Bool(truth) => write!(out, "{truth}")?,
            OwnedValue::Float(number) => float(*number, Precision::of(segment, spec.unit), out)?,
            OwnedValue::Text(text) => serde_json::to_writer(&mut *out, text)?,
            // As the trace had it. Readers hand over JSON only, but a segment may be anybody's.
            OwnedValue::Json(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
                out.write_all(text.as_bytes())?;
            }
            OwnedValue::Json(text) => serde_json::to_writer(&mut *out, text)?,
        }
    }
    Ok(())
}

/// With how many digits a float is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// All that it has.
    Double,
    /// Those of neuron-profile's floats.
    Single,
    /// The same, but whole numbers are counts or bytes and are written in full.
    SingleFraction,
}

impl Precision {
    fn of(segment: &SegmentFile, unit: Unit) -> Self {
        match unit {
            _ if segment.footer().rank.source != schema::SOURCE => Self::Double,
            Unit::BytesPerSecond => Self::Single,
            _ => Self::SingleFraction,
        }
    }

    /// The value in single precision, where it is one that is written so.
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    fn single(self, value: f64) -> Option<f32> {
        let is_wanted = match self {
            Self::Double => false,
            Self::Single => true,
            Self::SingleFraction => value.fract() != 0.0,
        };
        Some(value as f32).filter(|single| is_wanted && f64::from(*single) == value)
    }
}

/// Whole numbers without a point; what JSON has no number for as text.
fn float(value: f64, precision: Precision, out: &mut dyn Write) -> io::Result<()> {
    if !value.is_finite() {
        write!(out, "\"{value}\"")
    } else if let Some(single) = precision.single(value) {
        write!(out, "{single}")
    } else if value.fract() == 0.0 && value.abs() < MAX_EXACT {
        write!(out, "{value:.0}")
    } else {
        write!(out, "{}", Json::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_float(value: f64, precision: Precision, expected: &str) {
        let mut out = Vec::new();
        float(value, precision, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn floats_are_json() {
        use Precision::{Double, Single, SingleFraction};
        check_float(1.0, Double, "1");
        check_float(1_133_304_960.0, Double, "1133304960");
        check_float(1_133_304_960.0, Single, "1133305000");
        check_float(1_133_304_960.0, SingleFraction, "1133304960");
        check_float(1_133_304_961.0, Single, "1133304961");
        check_float(0.001_302_083_372_138_440_6, SingleFraction, "0.0013020834");
        check_float(0.001_302_083_372_138_440_6, Double, "0.0013020833721384406");
        check_float(0.010_416_667, SingleFraction, "0.010416667");
        check_float(0.1, SingleFraction, "0.1");
        check_float(1e300, Single, "1e+300");
        check_float(f64::NAN, Single, "\"NaN\"");
        check_float(f64::NEG_INFINITY, Double, "\"-inf\"");
        check_float(-0.0, Double, "-0");
    }
}

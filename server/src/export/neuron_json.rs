//! The JSON that `neuron-profile view --output-format json` writes: one object with a list of rows for each table, under
//! the same names. Written as it is read: memory holds a block of each track.
//!
//! Times are whole nanoseconds, rounded down, as neuron-profile has them. Rows come in the order of time, those of `dma`
//! queue by queue. A profile that was not taken on a Neuron device comes out in the same form, with its own tables.

use std::io::{self, Write};
use std::path::Path;

use nprof_capture::formats::neuron::schema;
use nprof_engine::base::Time;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::{FieldId, Form, OwnedValue, TableId, TableKind};
use nprof_engine::native::SegmentFile;
use nprof_engine::wire::answer;
use serde_json::Value as Json;

use super::ExportError;
use super::rows::{Order, RowContent, TimedRow, for_each_timed};

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
        let mut separator = "";
        for (id, name, kind) in &tables {
            write!(self.out, "{separator}\n{}:[", Json::from(name.as_str()))?;
            match kind {
                TableKind::Side => self.side(*id)?,
                TableKind::Slices | TableKind::Samples => self.timed(*id, name)?,
            }
            write!(self.out, "\n]")?;
            separator = ",";
        }
        if !tables.iter().any(|(_, name, _)| name == "summary") {
            self.summary(rank, separator)?;
        }
        Ok(writeln!(self.out, "\n}}")?)
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
                    float(value, self.out)?;
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

    /// The metrics as computed from the events, for traces that do not bring theirs.
    fn summary(&mut self, rank: u32, separator: &str) -> Result<(), Failure> {
        let summary = answer::summary(self.segment, rank)?;
        let metrics = super::summary::metrics(&summary);
        Ok(write!(self.out, "{separator}\n\"summary\":[\n{}\n]", Json::Object(metrics))?)
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
            OwnedValue::Float(number) => float(*number, out)?,
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

/// Whole numbers without a point; what JSON has no number for as text.
fn float(value: f64, out: &mut dyn Write) -> io::Result<()> {
    if !value.is_finite() {
        write!(out, "\"{value}\"")
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
    fn check_float(value: f64, expected: &str) {
        let mut out = Vec::new();
        float(value, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn floats_are_json() {
        check_float(1.0, "1");
        check_float(1_133_305_000.0, "1133305000");
        check_float(0.010_416_667, "0.010416667");
        check_float(1e300, "1e300");
        check_float(f64::NAN, "\"NaN\"");
        check_float(f64::NEG_INFINITY, "\"-inf\"");
        check_float(-0.0, "-0");
    }
}

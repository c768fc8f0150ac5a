//! Reader of the output of `neuron-profile view --output-format json`: one object with a list of
//! rows for each table.
//!
//! The input is read once, front to back. Memory holds one row, and 16 bytes for each row with an
//! id and for each reference between rows. Unknown tables and fields are kept as well.

mod input;
mod link;
mod row;
mod splitter;
mod table;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Read;

use nprof_engine::model::{FieldSpec, RankInfo, Sink, TableId, TableSpec, Value, WarningKind};

use self::input::Input;
use self::link::RowLinks;
use self::row::{JsonRow, RowCell};
use self::splitter::{InputPiece, Splitter};
use self::table::{RowKind, TableReader};
use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks};
use nprof_engine::makers::neuron::schema::{self, MODEL_INFO, NEFF_HEADER, PROFILE_INFO, SUMMARY};
use nprof_engine::makers::neuron::{NeuronTracks, SOURCE};

/// Bytes between two progress reports, about.
const PROGRESS_STEP: u64 = 1 << 20;

/// Most tables of a rank, besides those of neuron-profile.
const MAX_TABLES: usize = 1024;
/// Most fields of all tables.
const MAX_FIELDS: usize = 1 << 14;

/// Passes the tables of a profile to the sink. `progress` receives the number of bytes read.
///
/// # Errors
/// If the input is no JSON object or has none of neuron-profile's tables, if it cannot be read, or
/// if the sink fails. Damaged rows and a truncated end are no errors: they are counted as warnings.
pub fn read(input: &mut dyn Read, sink: &mut dyn Sink, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let mut input = Input::new(input);
    let start = input.skip_while(|byte| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(&byte))?;
    if start != Some(b'{') {
        return Err(not_a_profile("the input does not start with a JSON object", input.offset()));
    }
    let mut import = NeuronImport::new(sink);
    let mut splitter = Splitter::new(input);
    let mut told = 0;
    loop {
        let piece = splitter.next()?;
        let offset = splitter.offset();
        if offset >= told + PROGRESS_STEP {
            told = offset;
            progress(offset);
        }
        match piece {
            InputPiece::Table(name) => import.table(&name)?,
            InputPiece::Row => {
                if !import.row(splitter.text(), offset)? {
                    splitter.reject();
                }
            }
            InputPiece::Scalar(name) => import.scalar(&name, splitter.text(), offset)?,
            InputPiece::Damage(what) => import.warn(WarningKind::DamagedRecord, what, offset),
            InputPiece::CutOff => {
                import.warn(
                    WarningKind::TruncatedInput,
                    "the JSON ends before the end of its outermost object",
                    offset,
                );
                break;
            }
            InputPiece::End => break,
        }
    }
    progress(splitter.offset());
    import.finish(splitter.offset())
}

/// Reads a plan's trace while it is unpacked.
pub fn import(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    job.stream_trace(sinks, |input, sink| read(input, sink, &mut |_| {}))
}

fn not_a_profile(what: &str, offset: u64) -> Error {
    let hint = "name the file that `neuron-profile view --output-format json` wrote";
    Error::format(what, format!("byte {offset}"), hint)
}

/// State of the import.
struct NeuronImport<'s> {
    sink: &'s mut dyn Sink,
    tables: HashMap<String, TableReader>,
    /// The table whose rows are being read.
    current: Option<String>,
    /// The name of the current table if it is one too many.
    other: Option<String>,
    /// Number of fields that can still be defined.
    fields_left: usize,
    tracks: NeuronTracks,
    links: RowLinks,
    rank: RankInfo,
}

impl<'s> NeuronImport<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            tables: HashMap::new(),
            current: None,
            other: None,
            fields_left: MAX_FIELDS,
            tracks: NeuronTracks::default(),
            links: RowLinks::default(),
            rank: RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() },
        }
    }

    /// Starts a table: the next rows belong to it. `key` is JSON text with its quotes.
    fn table(&mut self, key: &str) -> Result<(), Error> {
        let name = match RowCell::parse(key) {
            Ok(RowCell::Text(name)) => name.into_owned(),
            _ => key.to_owned(),
        };
        self.other = None;
        if !self.tables.contains_key(&name) {
            if self.tables.len() >= MAX_TABLES && schema::table(&name).is_none() {
                self.other = Some(name);
                return Ok(());
            }
            let table = TableReader::define(&name, self.sink)?;
            self.tables.insert(name.clone(), table);
        }
        self.current = Some(name);
        Ok(())
    }

    /// Keeps a row or a value of a table that is one too many, as JSON.
    fn row_of_other(&mut self, table: &str, text: &str, offset: u64) -> Result<(), Error> {
        let what = "more than 1,024 tables; rows of further ones are in the table `other_tables`";
        self.warn(WarningKind::AdjustedValue, what, offset);
        let id = self.sink.table(TableSpec::side(
            "other_tables",
            "Rows of the tables that are too many to be tables of their own.",
        ))?;
        let name = self.sink.field(id, FieldSpec::named("table"))?;
        let row = self.sink.field(id, FieldSpec::named("row"))?;
        Ok(self.sink.row(id, &[(name, Value::Text(table)), (row, Value::Json(text))])?)
    }

    /// Takes a row. Returns false if the row cannot be read.
    fn row(&mut self, text: &[u8], offset: u64) -> Result<bool, Error> {
        // The whole row is checked at once, so that its values need not be.
        let Ok(text) = std::str::from_utf8(text) else {
            self.warn(WarningKind::DamagedRecord, "a row that is not UTF-8", offset);
            return Ok(false);
        };
        let row = match JsonRow::parse(text) {
            Ok(row) => row,
            Err(error) => {
                let place = || format!("byte {offset}, {error}");
                self.sink.warn(WarningKind::DamagedRecord, "a row that is not valid JSON", &place);
                return Ok(false);
            }
        };
        if let Some(name) = self.other.take() {
            let kept = self.row_of_other(&name, text, offset);
            self.other = Some(name);
            return kept.map(|()| true);
        }
        let Some(table) = self.current.as_ref().and_then(|name| self.tables.get_mut(name)) else {
            self.warn(WarningKind::DamagedRecord, "a row outside a table", offset);
            return Ok(true);
        };
        let key = table.take(&row, offset, &mut self.tracks, &mut self.fields_left, self.sink)?;
        match (table.row_kind, key) {
            (RowKind::Instruction, Some(key)) if !self.links.instruction(&row, key, self.sink)? => {
                self.warn(WarningKind::DamagedRecord, "predecessors that are not a list of ids", offset);
            }
            (RowKind::Dma, Some(key)) => self.links.transfer(&row, key, self.sink),
            (RowKind::Side, _) => {
                let name = self.current.as_deref().unwrap_or_default();
                describe(&mut self.rank, name, &row);
            }
            _ => {}
        }
        Ok(true)
    }

    /// Keeps a value in the place of a table, as a side table of one row with one field.
    fn scalar(&mut self, key: &str, text: &[u8], offset: u64) -> Result<(), Error> {
        self.table(key)?;
        let text = String::from_utf8_lossy(text).into_owned();
        let valid = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let cell = RowCell::parse(&text).ok().filter(|_| valid);
        if let Some(name) = self.other.take() {
            return self.row_of_other(&name, &text, offset);
        }
        let table = self
            .current
            .take()
            .and_then(|name| self.tables.get(&name).map(|table| (table.id, table.row_kind)));
        match (cell, table) {
            (Some(cell), Some((table, RowKind::Side))) => self.value_row(table, cell.value()),
            _ => {
                self.warn(WarningKind::DamagedRecord, "a value instead of a table", offset);
                Ok(())
            }
        }
    }

    fn value_row(&mut self, table: TableId, value: Value<'_>) -> Result<(), Error> {
        let field = self.sink.field(table, FieldSpec::named("value"))?;
        Ok(self.sink.row(table, &[(field, value)])?)
    }

    fn warn(&mut self, kind: WarningKind, what: &str, offset: u64) {
        self.sink.warn(kind, what, &|| format!("byte {offset}"));
    }

    fn finish(self, offset: u64) -> Result<(), Error> {
        if !self.tables.keys().any(|name| schema::table(name).is_some()) {
            return Err(not_a_profile("the JSON has no table of neuron-profile", offset));
        }
        self.links.draw(self.sink)?;
        self.sink.rank(self.rank);
        Ok(())
    }
}

/// Takes the fields of a row that describe the rank.
fn describe(rank: &mut RankInfo, table: &str, row: &JsonRow<'_>) {
    let is = |known: &schema::TableSchema| table == known.name;
    if is(&SUMMARY) || is(&MODEL_INFO) {
        rank.device = row.number("nd_idx").or(rank.device);
        rank.core = row.number("nc_idx").or(rank.core);
    } else if is(&PROFILE_INFO) && !row.text("profile_name").is_empty() {
        rank.title = row.text("profile_name").to_owned();
    } else if is(&NEFF_HEADER) && rank.title.is_empty() {
        rank.title = row.text("network_name").to_owned();
    }
}

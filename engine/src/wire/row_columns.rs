//! Reads the columns of listed rows, block by block. Each block is decoded once, whatever the order
//! of the rows. Memory is [`VALUE_BYTES`] a value, and texts, which count against the allowance of
//! an answer.

use rustc_hash::FxHashMap;

use super::allowance::AnswerAllowance;
use super::detail::FieldContent;
use super::rows::{ColumnValues, RowColumn, RowColumnRole, RowPresence, Texts};
use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::exec::Work;
use crate::model::{FieldId, NameId, TableId, TableKind, TrackId, Unit};
use crate::query::{self, ListedRow};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Bytes of a value while the columns are read: its place, its bits, its share of the column.
const VALUE_BYTES: usize = size_of::<(u32, u64)>() + size_of::<u64>();
/// Columns that the rows of a timeline have before those that are stored.
const CORE_COLUMNS: usize = 3;

/// Positions in the footer of the columns of a table that answers show.
fn shown<B: Bytes>(segment: &Segment<B>, table: TableId) -> impl Iterator<Item = usize> {
    segment.columns_of(table).filter(move |&at| {
        let role = segment.footer().columns[at].role;
        matches!(role, ColumnRole::Duration | ColumnRole::Name | ColumnRole::Value | ColumnRole::Field(_))
    })
}

/// Bytes of a row of this table while its columns are read, without texts.
pub(super) fn bytes_of_row<B: Bytes>(segment: &Segment<B>, table: TableId) -> usize {
    size_of::<ListedRow>() + (shown(segment, table).count() + CORE_COLUMNS) * VALUE_BYTES
}

/// The columns of these rows of a table.
pub(super) fn columns<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    rows: &[ListedRow],
    left: &AnswerAllowance,
    work: Work<'_>,
) -> Result<Vec<RowColumn>> {
    left.take(rows.len().saturating_mul(bytes_of_row(segment, table)))?;
    let mut read: Vec<ReadColumn> = shown(segment, table).map(|at| ReadColumn::new(segment, at)).collect();
    let mut order: Vec<u32> = (0_u32..).zip(rows).map(|(place, _)| place).collect();
    order.sort_unstable_by_key(|&place| {
        let row = &rows[place as usize];
        (row.block, row.at)
    });
    for places in order.chunk_by(|&a, &b| rows[a as usize].block == rows[b as usize].block) {
        work.cancel.check()?;
        let at = |place: u32| rows[place as usize].at as usize;
        let (first, last) = (places[0], places[places.len() - 1]);
        let mut reader = BlockReader::new(segment, table, rows[first as usize].block as usize)?;
        for column in &mut read {
            if let Some(block) = reader.column_of(column.at, at(first)..at(last) + 1)? {
                places.iter().try_for_each(|&place| column.take(&block, at(place), place, left))?;
            }
        }
    }
    let source = AnswerSource { segment, left };
    let mut columns = core_columns(&source, table, rows, &mut read)?;
    let footer = segment.footer();
    for (id, (of, spec)) in (0_u32..).map(FieldId).zip(&footer.fields) {
        if *of == table {
            let values = merged(&source, of_role(&mut read, ColumnRole::Field(id)), rows.len())?;
            let about = About { name: &spec.name, unit: spec.unit, doc: &spec.doc };
            columns.push(about.column(RowColumnRole::Field, values));
        }
    }
    Ok(columns)
}

/// A segment, and the bytes that are left for the answer.
struct AnswerSource<'a, B> {
    segment: &'a Segment<B>,
    left: &'a AnswerAllowance,
}

/// The columns that the rows of a table of this kind have before their fields.
fn core_columns<B: Bytes>(
    source: &AnswerSource<'_, B>,
    table: TableId,
    rows: &[ListedRow],
    read: &mut Vec<ReadColumn>,
) -> Result<Vec<RowColumn>> {
    let all = |values| ListedValues { present: RowPresence::All, values };
    let about = |name, unit, doc| About { name, unit, doc };
    let kind = source.segment.footer().tables[usize::from(table.0)].spec.kind;
    if kind == TableKind::Side {
        return Ok(Vec::new());
    }
    let numbers = all(ColumnValues::Ints(rows.iter().map(|row| i64::from(row.row)).collect()));
    let starts = all(ColumnValues::Ints(rows.iter().map(|row| row.start_ps).collect()));
    let tracks = all(ColumnValues::Texts(tracks_of(source, rows)?));
    let mut columns = vec![
        about("row", Unit::None, "Number of the row in its rank.").column(RowColumnRole::Row, numbers),
        about("start", Unit::Picoseconds, "Time since the profile's origin.")
            .column(RowColumnRole::Start, starts),
    ];
    if kind == TableKind::Slices {
        let durations = merged(source, of_role(read, ColumnRole::Duration), rows.len())?;
        let names = merged(source, of_role(read, ColumnRole::Name), rows.len())?;
        columns.push(
            about("duration", Unit::Picoseconds, "Duration; 0 for instants.")
                .column(RowColumnRole::Duration, durations),
        );
        // A path can be long, and the name must not be pushed out of sight.
        columns.push(about("name", Unit::None, "Name in the timeline.").column(RowColumnRole::Name, names));
        columns.push(about("track", Unit::None, TRACK_DOC).column(RowColumnRole::Track, tracks));
    } else {
        let values = merged(source, of_role(read, ColumnRole::Value), rows.len())?;
        columns.push(about("track", Unit::None, TRACK_DOC).column(RowColumnRole::Track, tracks));
        let doc = "Value from this time on, in the unit of its track.";
        columns.push(about("value", Unit::None, doc).column(RowColumnRole::Value, values));
    }
    Ok(columns)
}

const TRACK_DOC: &str = "Names of the groups and of the track itself.";

/// Values of some rows of a list, in its order.
struct ListedValues {
    present: RowPresence,
    values: ColumnValues,
}

/// Description of a column.
struct About<'a> {
    name: &'a str,
    unit: Unit,
    doc: &'a str,
}

impl About<'_> {
    fn column(&self, role: RowColumnRole, of: ListedValues) -> RowColumn {
        let ListedValues { present, values } = of;
        let (name, unit, doc) = (self.name.to_owned(), self.unit.symbol().to_owned(), self.doc.to_owned());
        RowColumn { role, name, unit, doc, present, values }
    }
}

/// Paths of the tracks of rows.
fn tracks_of<B: Bytes>(source: &AnswerSource<'_, B>, rows: &[ListedRow]) -> Result<Texts> {
    let &AnswerSource { segment, left } = source;
    let mut texts = Texts { texts: Vec::new(), codes: Vec::with_capacity(rows.len()) };
    let mut known: FxHashMap<TrackId, u32> = FxHashMap::default();
    for row in rows {
        let damaged = Error::Inconsistent { what: "row without a track" };
        let track = segment.track_of(row.row).ok_or(damaged)?;
        let code = match known.get(&track) {
            Some(&code) => code,
            None => {
                let code = u32::try_from(texts.texts.len()).map_err(|_| damaged)?;
                texts.texts.push(left.text(&query::slice::track_path(segment, track))?);
                known.insert(track, code);
                code
            }
        };
        texts.codes.push(code);
    }
    Ok(texts)
}

/// The values of one stored column that listed rows have.
struct ReadColumn {
    /// Position in the footer.
    at: usize,
    role: ColumnRole,
    kind: ColumnType,
    /// Position of the row in the list, and bits of the value. A text in place is a position in
    /// `texts`.
    values: Vec<(u32, u64)>,
    texts: Vec<String>,
}

impl ReadColumn {
    fn new<B: Bytes>(segment: &Segment<B>, at: usize) -> Self {
        let meta = &segment.footer().columns[at];
        // Names are numbers of texts, like texts of fields.
        let kind = if meta.role == ColumnRole::Name { ColumnType::Text } else { meta.kind };
        Self { at, role: meta.role, kind, values: Vec::new(), texts: Vec::new() }
    }

    /// Takes over the value of a row, if it has one.
    fn take(&mut self, block: &BlockColumn, at: usize, place: u32, left: &AnswerAllowance) -> Result<()> {
        let Some(slot) = block.slot(at) else { return Ok(()) };
        let damaged = Error::Inconsistent { what: "column block of another type" };
        let bits = match block.values() {
            BlockValues::Ints(values) => values.get(slot).ok_or(damaged)?.cast_unsigned(),
            BlockValues::Floats(values) => values.get(slot).ok_or(damaged)?.to_bits(),
            BlockValues::Texts(texts) => {
                if slot >= texts.len() {
                    return Err(damaged);
                }
                self.texts.push(left.text(texts.get(slot))?);
                self.texts.len() as u64 - 1
            }
        };
        let is_float = matches!(block.values(), BlockValues::Floats(_));
        if is_float != (self.kind == ColumnType::Float) {
            return Err(damaged);
        }
        self.values.push((place, bits));
        Ok(())
    }

    /// The values in the order of the list.
    fn into_values<B: Bytes>(self, source: &AnswerSource<'_, B>) -> Result<ColumnValues> {
        let bits = self.values.iter().map(|&(_, bits)| bits);
        Ok(match self.kind {
            ColumnType::Int => ColumnValues::Ints(bits.map(u64::cast_signed).collect()),
            ColumnType::Uint => ColumnValues::Uints(bits.collect()),
            ColumnType::Float => ColumnValues::Floats(bits.map(f64::from_bits).collect()),
            ColumnType::Bool => ColumnValues::Bools(bits.map(|bits| bits != 0).collect()),
            ColumnType::Text => ColumnValues::Texts(dictionary_texts(source, bits)?),
            ColumnType::Json => ColumnValues::Json(dictionary_texts(source, bits)?),
            ColumnType::LongText => ColumnValues::Texts(self.texts_in_place()?),
            ColumnType::LongJson => ColumnValues::Json(self.texts_in_place()?),
        })
    }

    fn texts_in_place(self) -> Result<Texts> {
        let damaged = Error::Inconsistent { what: "number of a missing text" };
        let codes = self.values.iter().map(|&(_, bits)| u32::try_from(bits).map_err(|_| damaged));
        Ok(Texts { codes: codes.collect::<Result<_>>()?, texts: self.texts })
    }
}

fn dictionary_texts<B: Bytes>(
    source: &AnswerSource<'_, B>,
    numbers: impl Iterator<Item = u64>,
) -> Result<Texts> {
    let &AnswerSource { segment, left } = source;
    let damaged = Error::Inconsistent { what: "number of a missing text" };
    let mut texts = Texts::default();
    let mut known: FxHashMap<u64, u32> = FxHashMap::default();
    for number in numbers {
        let code = match known.get(&number) {
            Some(&code) => code,
            None => {
                let code = u32::try_from(texts.texts.len()).map_err(|_| damaged)?;
                let id = NameId(u32::try_from(number).map_err(|_| damaged)?);
                texts.texts.push(left.text(segment.text(id)?)?);
                known.insert(number, code);
                code
            }
        };
        texts.codes.push(code);
    }
    Ok(texts)
}

/// Takes the stored columns of a role that have values, one for each type.
fn of_role(read: &mut Vec<ReadColumn>, role: ColumnRole) -> Vec<ReadColumn> {
    read.extract_if(.., |column| column.role == role && !column.values.is_empty()).collect()
}

/// Joins the stored columns of one field.
fn merged<B: Bytes>(
    source: &AnswerSource<'_, B>,
    mut columns: Vec<ReadColumn>,
    rows: usize,
) -> Result<ListedValues> {
    columns.iter_mut().for_each(|column| column.values.sort_unstable_by_key(|&(place, _)| place));
    let mut present = vec![false; rows];
    for &(place, _) in columns.iter().flat_map(|column| &column.values) {
        present[place as usize] = true;
    }
    let present = match present.iter().filter(|here| **here).count() {
        0 => RowPresence::None,
        count if count == rows => RowPresence::All,
        _ => RowPresence::Some(present),
    };
    let values = match columns.len() {
        0 => ColumnValues::Ints(Vec::new()),
        1 => match columns.pop() {
            Some(column) => column.into_values(source)?,
            None => ColumnValues::Ints(Vec::new()),
        },
        _ => ColumnValues::Mixed(mixed(source, columns)?),
    };
    Ok(ListedValues { present, values })
}

/// Values of several types, in the order of the list.
fn mixed<B: Bytes>(source: &AnswerSource<'_, B>, columns: Vec<ReadColumn>) -> Result<Vec<FieldContent>> {
    let mut values = Vec::new();
    for column in columns {
        let places: Vec<u32> = column.values.iter().map(|&(place, _)| place).collect();
        values.extend(places.into_iter().zip(contents(column.into_values(source)?, source.left)?));
    }
    values.sort_by_key(|&(place, _)| place);
    Ok(values.into_iter().map(|(_, value)| value).collect())
}

fn contents(values: ColumnValues, left: &AnswerAllowance) -> Result<Vec<FieldContent>> {
    let texts = |texts: Texts, of: fn(String) -> FieldContent| -> Result<Vec<FieldContent>> {
        texts.codes.iter().map(|&code| Ok(of(left.text(&texts.texts[code as usize])?))).collect()
    };
    Ok(match values {
        ColumnValues::Ints(values) => values.into_iter().map(FieldContent::Int).collect(),
        ColumnValues::Uints(values) => values.into_iter().map(FieldContent::Uint).collect(),
        ColumnValues::Floats(values) => values.into_iter().map(FieldContent::Float).collect(),
        ColumnValues::Bools(values) => values.into_iter().map(FieldContent::Bool).collect(),
        ColumnValues::Texts(values) => texts(values, FieldContent::Text)?,
        ColumnValues::Json(values) => texts(values, FieldContent::Json)?,
        ColumnValues::Mixed(values) => values,
    })
}

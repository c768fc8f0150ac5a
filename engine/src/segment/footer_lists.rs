//! The long lists of the footer, column by column: fields, columns, tracks. Similar values stand
//! side by side, so that the frame around the footer finds repeats.

use super::footer::{ColumnMeta, ColumnRole, TableMeta, TrackMeta};
use super::footer_codes::code_of;
use super::layout::Piece;
use super::limits::{MAX_COLUMNS, MAX_FIELDS, MAX_TRACKS};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::block::{ColumnType, list};
use crate::model::track::Initially;
use crate::model::{
    FieldId, FieldSpec, Identity, Nesting, Role, TableId, TrackContent, TrackId, TrackSpec, Unit,
};

/// Codes of kinds of tracks.
const GROUP: i64 = 0;
const CALLS: i64 = 1;
const CONCURRENT: i64 = 2;
const COUNTER: i64 = 3;
/// Storage of a list of texts: with the length of each text, or with a line feed after each.
const LENGTHS: u8 = 0;
const LINES: u8 = 1;
const LINE_FEED: u8 = b'\n';

fn put_ints<T>(items: &[T], of: impl Fn(&T) -> i64, out: &mut Vec<u8>) {
    list::put_ints(&items.iter().map(of).collect::<Vec<i64>>(), out);
}

fn put_texts<T>(items: &[T], of: impl Fn(&T) -> &str, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    if items.iter().any(|item| of(item).as_bytes().contains(&LINE_FEED)) {
        out.push(LENGTHS);
        put_ints(items, |item| of(item).len() as i64, out);
        items.iter().for_each(|item| bytes.extend_from_slice(of(item).as_bytes()));
    } else {
        out.push(LINES);
        for item in items {
            bytes.extend_from_slice(of(item).as_bytes());
            bytes.push(LINE_FEED);
        }
    }
    out.put_bytes(&bytes);
}

/// Reads exactly `count` texts.
fn read_texts(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<String>> {
    let lengths = match cursor.u8()? {
        LENGTHS => Some(list::read_ints_of(cursor, count)?),
        LINES => None,
        _ => return Err(cursor.corrupt()),
    };
    let text = cursor.text()?;
    let texts: Option<Vec<String>> = match lengths {
        // One line more than there may be shows that there are too many.
        None => {
            Some(text.split_terminator(char::from(LINE_FEED)).take(count + 1).map(str::to_owned).collect())
        }
        Some(lengths) => {
            let mut at = 0_usize;
            let mut next = |length: &i64| {
                let end = at.checked_add(usize::try_from(*length).ok()?)?;
                let text = text.get(at..end)?;
                at = end;
                Some(text.to_owned())
            };
            let texts = lengths.iter().map(&mut next).collect();
            if at == text.len() { texts } else { None }
        }
    };
    texts.filter(|texts| texts.len() == count).ok_or_else(|| cursor.corrupt())
}

/// The item of a table of codes that has this code.
fn of_code<T: Copy>(all: &[T], code: i64, cursor: &Cursor<'_>) -> Result<T> {
    usize::try_from(code).ok().and_then(|code| all.get(code)).copied().ok_or_else(|| cursor.corrupt())
}

fn narrow<T: TryFrom<i64>>(value: i64, cursor: &Cursor<'_>) -> Result<T> {
    T::try_from(value).map_err(|_| cursor.corrupt())
}

/// Appends the fields, each with its table.
pub fn put_fields(fields: &[(TableId, FieldSpec)], out: &mut Vec<u8>) {
    put_ints(fields, |(table, _)| i64::from(table.0), out);
    put_ints(fields, |(_, field)| i64::from(code_of(&Unit::ALL, &field.unit)), out);
    put_texts(fields, |(_, field)| &field.name, out);
    put_texts(fields, |(_, field)| &field.group, out);
    put_texts(fields, |(_, field)| &field.doc, out);
}

/// Reads what [`put_fields`] wrote.
pub fn read_fields(cursor: &mut Cursor<'_>) -> Result<Vec<(TableId, FieldSpec)>> {
    let count = list::stated_len(cursor, MAX_FIELDS as usize)?;
    let tables = list::read_ints_of(cursor, count)?;
    let units = list::read_ints_of(cursor, count)?;
    let names = read_texts(cursor, count)?;
    let groups = read_texts(cursor, count)?;
    let docs = read_texts(cursor, count)?;
    let mut fields = Vec::with_capacity(count);
    let texts = names.into_iter().zip(groups).zip(docs);
    for ((table, unit), ((name, group), doc)) in tables.into_iter().zip(units).zip(texts) {
        let unit = of_code(&Unit::ALL, unit, cursor)?;
        fields.push((TableId(narrow(table, cursor)?), FieldSpec { name, unit, group, doc }));
    }
    Ok(fields)
}

/// Appends the columns.
pub fn put_columns(columns: &[ColumnMeta], next: &mut u64, out: &mut Vec<u8>) {
    put_ints(columns, |column| i64::from(column.table.0), out);
    put_ints(columns, |column| column.role.code(), out);
    put_ints(columns, |column| i64::from(code_of(&ColumnType::ALL, &column.kind)), out);
    put_ints(columns, |column| column.bytes.cast_signed(), out);
    columns.iter().for_each(|column| column.directory.encode(next, out));
    columns.iter().for_each(|column| column.postings.encode(next, out));
}

/// Reads what [`put_columns`] wrote.
pub fn read_columns(next: &mut u64, cursor: &mut Cursor<'_>) -> Result<Vec<ColumnMeta>> {
    let count = list::stated_len(cursor, MAX_COLUMNS)?;
    let tables = list::read_ints_of(cursor, count)?;
    let roles = list::read_ints_of(cursor, tables.len())?;
    let kinds = list::read_ints_of(cursor, tables.len())?;
    let bytes = list::read_ints_of(cursor, tables.len())?;
    let mut pieces = || read_pieces(tables.len(), next, cursor);
    let (directories, postings) = (pieces()?, pieces()?);
    (0..tables.len())
        .map(|at| {
            Ok(ColumnMeta {
                table: TableId(narrow(tables[at], cursor)?),
                role: ColumnRole::of_code(roles[at]).ok_or_else(|| cursor.corrupt())?,
                kind: of_code(&ColumnType::ALL, kinds[at], cursor)?,
                directory: directories[at],
                postings: postings[at],
                bytes: bytes[at].cast_unsigned(),
            })
        })
        .collect()
}

fn read_pieces(count: usize, next: &mut u64, cursor: &mut Cursor<'_>) -> Result<Vec<Piece>> {
    (0..count).map(|_| Piece::decode(next, cursor)).collect()
}

fn kind_and_table(track: &TrackMeta) -> (i64, TableId) {
    match track.spec.kind {
        TrackContent::Group => (GROUP, TableId(0)),
        TrackContent::Slices(table, Nesting::Calls) => (CALLS, table),
        TrackContent::Slices(table, Nesting::Concurrent) => (CONCURRENT, table),
        TrackContent::Counter(table) => (COUNTER, table),
    }
}

fn kind_of(code: i64, table: TableId) -> Option<TrackContent> {
    Some(match code {
        GROUP => TrackContent::Group,
        CALLS => TrackContent::Slices(table, Nesting::Calls),
        CONCURRENT => TrackContent::Slices(table, Nesting::Concurrent),
        COUNTER => TrackContent::Counter(table),
        _ => return None,
    })
}

/// Code of an optional number: 0 for `None`, else the number plus 1.
fn optional(number: Option<u32>) -> i64 {
    number.map_or(0, |number| i64::from(number) + 1)
}

/// Inverse of [`optional`].
fn read_optional(value: i64, cursor: &Cursor<'_>) -> Result<Option<u32>> {
    if value == 0 { Ok(None) } else { narrow(value.wrapping_sub(1), cursor).map(Some) }
}

/// Appends the tracks.
pub fn put_tracks(tracks: &[TrackMeta], next: &mut u64, out: &mut Vec<u8>) {
    let parent = |track: &TrackMeta| optional(track.spec.parent.map(|parent| parent.0));
    let numbers: [fn(&TrackMeta) -> i64; 12] = [
        |track| kind_and_table(track).0,
        |track| i64::from(kind_and_table(track).1.0),
        |track| track.spec.sort,
        |track| i64::from(code_of(&Unit::ALL, &track.spec.unit)),
        |track| i64::from(track.spec.initially == Initially::Closed),
        |track| i64::from(code_of(&Role::ALL, &track.spec.identity.role)),
        |track| optional(track.spec.identity.chip),
        |track| optional(track.spec.identity.core),
        |track| optional(track.spec.identity.number),
        |track| i64::from(track.rows),
        |track| i64::from(track.lanes),
        |track| track.start_ps,
    ];
    put_ints(tracks, parent, out);
    put_texts(tracks, |track| &track.spec.name, out);
    numbers.iter().for_each(|of| put_ints(tracks, of, out));
    put_ints(tracks, |track| track.end_ps.wrapping_sub(track.start_ps), out);
    put_some(tracks, out, |track, out| {
        let (min, max) = track.value_range?;
        out.extend_from_slice(&min.to_le_bytes());
        out.extend_from_slice(&max.to_le_bytes());
        Some(())
    });
    put_some(tracks, out, |track, out| {
        put_piece(track.pyramid, next, out)?;
        out.put_varint(track.pyramid_bytes);
        Some(())
    });
    put_some(tracks, out, |track, out| put_piece(track.program, next, out));
    put_some(tracks, out, |track, out| put_piece(track.totals, next, out));
}

fn put_piece(piece: Piece, next: &mut u64, out: &mut Vec<u8>) -> Option<()> {
    (piece.len > 0).then(|| piece.encode(next, out))
}

/// Appends data that only some tracks have: the numbers of these tracks, then the output of `put`
/// for each.
fn put_some(
    tracks: &[TrackMeta],
    out: &mut Vec<u8>,
    mut put: impl FnMut(&TrackMeta, &mut Vec<u8>) -> Option<()>,
) {
    let (mut numbers, mut content) = (Vec::new(), Vec::new());
    for (number, track) in (0..).zip(tracks) {
        if put(track, &mut content).is_some() {
            numbers.push(number);
        }
    }
    list::put_ints(&numbers, out);
    out.extend_from_slice(&content);
}

/// Reads what [`put_some`] wrote. `read` reads the data of one track.
fn read_some(
    tracks: &mut [TrackMeta],
    cursor: &mut Cursor<'_>,
    mut read: impl FnMut(&mut TrackMeta, &mut Cursor<'_>) -> Result<()>,
) -> Result<()> {
    let count = list::stated_len(cursor, tracks.len())?;
    for number in list::read_ints_of(cursor, count)? {
        let track = usize::try_from(number).ok().and_then(|number| tracks.get_mut(number));
        read(track.ok_or_else(|| cursor.corrupt())?, cursor)?;
    }
    Ok(())
}

/// Reads what [`put_tracks`] wrote. Rows of a table are in the order of its tracks.
pub fn read_tracks(tables: &[TableMeta], next: &mut u64, cursor: &mut Cursor<'_>) -> Result<Vec<TrackMeta>> {
    let mut tracks = read_of_all(tables, cursor)?;
    read_some(&mut tracks, cursor, |track, cursor| {
        track.value_range = Some((f64::from_bits(cursor.u64()?), f64::from_bits(cursor.u64()?)));
        Ok(())
    })?;
    read_some(&mut tracks, cursor, |track, cursor| {
        track.pyramid = Piece::decode(next, cursor)?;
        track.pyramid_bytes = cursor.varint()?;
        Ok(())
    })?;
    read_some(&mut tracks, cursor, |track, cursor| {
        track.program = Piece::decode(next, cursor)?;
        Ok(())
    })?;
    read_some(&mut tracks, cursor, |track, cursor| {
        track.totals = Piece::decode(next, cursor)?;
        Ok(())
    })?;
    Ok(tracks)
}

/// Reads the data that all tracks have.
fn read_of_all(tables: &[TableMeta], cursor: &mut Cursor<'_>) -> Result<Vec<TrackMeta>> {
    let count = list::stated_len(cursor, MAX_TRACKS as usize)?;
    let parents = list::read_ints_of(cursor, count)?;
    let names = read_texts(cursor, parents.len())?;
    let mut numbers = || list::read_ints_of(cursor, parents.len());
    let (kinds, of, sorts, units) = (numbers()?, numbers()?, numbers()?, numbers()?);
    let (closed, roles, chips, cores, of_role) = (numbers()?, numbers()?, numbers()?, numbers()?, numbers()?);
    let (rows, lanes) = (numbers()?, numbers()?);
    let (starts, spans) = (numbers()?, numbers()?);
    let mut first_rows: Vec<u32> = tables.iter().map(|table| table.first_row).collect();
    let mut tracks = Vec::with_capacity(parents.len());
    for (at, name) in names.into_iter().enumerate() {
        let table = TableId(narrow(of[at], cursor)?);
        let rows = narrow(rows[at], cursor)?;
        let mut first_row = 0;
        if let Some(of_table) = first_rows.get_mut(usize::from(table.0)) {
            first_row = *of_table;
            *of_table = first_row.checked_add(rows).ok_or_else(|| cursor.corrupt())?;
        }
        tracks.push(TrackMeta {
            spec: TrackSpec {
                name,
                parent: read_optional(parents[at], cursor)?.map(TrackId),
                kind: kind_of(kinds[at], table).ok_or_else(|| cursor.corrupt())?,
                sort: sorts[at],
                unit: of_code(&Unit::ALL, units[at], cursor)?,
                initially: if closed[at] == 0 { Initially::Open } else { Initially::Closed },
                identity: Identity {
                    role: of_code(&Role::ALL, roles[at], cursor)?,
                    chip: read_optional(chips[at], cursor)?,
                    core: read_optional(cores[at], cursor)?,
                    number: read_optional(of_role[at], cursor)?,
                },
            },
            first_row,
            rows,
            lanes: narrow(lanes[at], cursor)?,
            start_ps: starts[at],
            end_ps: starts[at].wrapping_add(spans[at]),
            value_range: None,
            pyramid: Piece::default(),
            pyramid_bytes: 0,
            program: Piece::default(),
            totals: Piece::default(),
        });
    }
    Ok(tracks)
}

impl ColumnRole {
    /// Code of a role: the position of a core role; for a field, its number plus the number of core
    /// roles.
    pub(super) fn code(self) -> i64 {
        match self {
            Self::Field(id) => i64::from(id.0) + Self::CORE.len() as i64,
            core => i64::from(code_of(&Self::CORE, &core)),
        }
    }

    pub(super) fn of_code(code: i64) -> Option<Self> {
        let code = u32::try_from(code).ok()?;
        let field = || FieldId(code - Self::CORE.len() as u32);
        Some(Self::CORE.get(code as usize).copied().unwrap_or_else(|| Self::Field(field())))
    }
}

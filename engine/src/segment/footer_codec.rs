//! The footer's bytes, as `docs/format.md` says. Enumerations are stored as positions in their `ALL` arrays.

use super::footer::{ColumnMeta, ColumnRole, Footer, TableMeta, TrackMeta};
use super::{DictionaryMeta, FlowsMeta, Piece};
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::block::ColumnType;
use crate::model::track::Initially;
use crate::model::{
    FieldId, FieldSpec, Nesting, RankInfo, TableId, TableKind, TableSpec, TrackId, TrackKind, TrackSpec,
    Unit, Warning, WarningKind,
};

/// Deepest tree of tracks.
pub const MAX_TRACK_DEPTH: usize = 32;
/// Kinds of tables in the order of their codes.
const TABLE_KINDS: [TableKind; 3] = [TableKind::Slices, TableKind::Samples, TableKind::Side];
/// Codes of kinds of tracks.
const TRACK_GROUP: u8 = 0;
const TRACK_CALLS: u8 = 1;
const TRACK_CONCURRENT: u8 = 2;
const TRACK_COUNTER: u8 = 3;

impl Footer {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_rank(&self.rank, &mut out);
        put_list(&self.tables, &mut out, put_table);
        put_list(&self.fields, &mut out, put_field);
        put_list(&self.columns, &mut out, put_column);
        put_list(&self.tracks, &mut out, put_track);
        out.put_varint(u64::from(self.dictionary.texts));
        out.put_varint(self.dictionary.bytes);
        self.dictionary.chunks.encode(&mut out);
        put_ascending(&self.waits, &mut out);
        out.put_varint(self.flows.arrows);
        out.put_varint(self.flows.bytes);
        self.flows.by_from.encode(&mut out);
        self.flows.by_to.encode(&mut out);
        put_list(&self.warnings, &mut out, put_warning);
        out
    }

    /// Reads it. References between its parts are checked, so that later code may index by them.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    pub fn decode(bytes: &[u8], offset: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, offset, "footer");
        let footer = Self {
            rank: read_rank(&mut cursor)?,
            tables: read_list(&mut cursor, read_table)?,
            fields: read_list(&mut cursor, read_field)?,
            columns: read_list(&mut cursor, read_column)?,
            tracks: read_list(&mut cursor, read_track)?,
            dictionary: DictionaryMeta {
                texts: cursor.varint_u32()?,
                bytes: cursor.varint()?,
                chunks: Piece::decode(&mut cursor)?,
            },
            waits: read_ascending(&mut cursor)?,
            flows: FlowsMeta {
                arrows: cursor.varint()?,
                bytes: cursor.varint()?,
                by_from: Piece::decode(&mut cursor)?,
                by_to: Piece::decode(&mut cursor)?,
            },
            warnings: read_list(&mut cursor, read_warning)?,
        };
        cursor.finish()?;
        footer.check(offset)?;
        Ok(footer)
    }

    fn check(&self, offset: u64) -> Result<()> {
        let corrupt = Error::Corrupt { what: "footer refers to what is not there", offset };
        let table = |id: TableId| usize::from(id.0) < self.tables.len();
        let mut next_row = 0_u32;
        for meta in &self.tables {
            if meta.first_row != next_row {
                return Err(corrupt);
            }
            next_row = next_row.checked_add(meta.rows).ok_or(corrupt)?;
        }
        let fields = self.fields.iter().all(|(of, _)| table(*of));
        let columns = self.columns.iter().all(|column| {
            let role = match column.role {
                ColumnRole::Field(id) => {
                    self.fields.get(id.0 as usize).is_some_and(|(of, _)| *of == column.table)
                }
                _ => true,
            };
            role && table(column.table)
        });
        let tracks = self.tracks.iter().all(|track| {
            let parent = self.is_rooted(track);
            // A track without rows may name any table that is there.
            let rows = match track.spec.kind {
                TrackKind::Group => track.rows == 0,
                TrackKind::Slices(of, _) | TrackKind::Counter(of) => {
                    self.tables.get(usize::from(of.0)).is_some_and(|t| {
                        let end = track.first_row.checked_add(track.rows);
                        let inside = end.is_some_and(|end| end <= t.first_row + t.rows);
                        track.rows == 0 || (track.first_row >= t.first_row && inside)
                    })
                }
            };
            parent && rows
        });
        if fields && columns && tracks { Ok(()) } else { Err(corrupt) }
    }

    /// Whether the way up from a track ends.
    fn is_rooted(&self, track: &TrackMeta) -> bool {
        let mut above = track.spec.parent;
        for _ in 0..=MAX_TRACK_DEPTH {
            let Some(id) = above else { return true };
            let Some(parent) = self.tracks.get(id.0 as usize) else { return false };
            above = parent.spec.parent;
        }
        false
    }
}

fn put_list<T>(items: &[T], out: &mut Vec<u8>, put: fn(&T, &mut Vec<u8>)) {
    out.put_varint(items.len() as u64);
    items.iter().for_each(|item| put(item, out));
}

fn read_list<T>(cursor: &mut Cursor<'_>, read: fn(&mut Cursor<'_>) -> Result<T>) -> Result<Vec<T>> {
    // Every item takes two bytes at least.
    let count = cursor.count(2)?;
    (0..count).map(|_| read(cursor)).collect()
}

/// Ascending numbers as the distances between them.
fn put_ascending(numbers: &[u32], out: &mut Vec<u8>) {
    out.put_varint(numbers.len() as u64);
    let mut before = 0;
    for &number in numbers {
        out.put_varint(u64::from(number.saturating_sub(before)));
        before = number;
    }
}

fn read_ascending(cursor: &mut Cursor<'_>) -> Result<Vec<u32>> {
    let count = cursor.count(1)?;
    let mut before = 0_u32;
    (0..count)
        .map(|_| {
            before = before.checked_add(cursor.varint_u32()?).ok_or_else(|| cursor.corrupt())?;
            Ok(before)
        })
        .collect()
}

fn code_of<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let position = all.iter().position(|one| one == value);
    u8::try_from(position.unwrap_or_default()).unwrap_or_default()
}

fn read_code<T: Copy>(all: &[T], cursor: &mut Cursor<'_>) -> Result<T> {
    let code = cursor.u8()?;
    all.get(usize::from(code)).copied().ok_or_else(|| cursor.corrupt())
}

/// An optional number is stored plus one; 0 says that there is none.
fn put_option(value: Option<u32>, out: &mut Vec<u8>) {
    out.put_varint(value.map_or(0, |value| u64::from(value) + 1));
}

fn read_option(cursor: &mut Cursor<'_>) -> Result<Option<u32>> {
    match cursor.varint()?.checked_sub(1) {
        None => Ok(None),
        Some(value) => u32::try_from(value).map(Some).map_err(|_| cursor.corrupt()),
    }
}

fn put_rank(rank: &RankInfo, out: &mut Vec<u8>) {
    put_option(rank.rank, out);
    put_option(rank.device, out);
    put_option(rank.core, out);
    out.push(u8::from(rank.origin_unix_ns.is_some()));
    out.put_signed(rank.origin_unix_ns.unwrap_or_default());
    out.put_text(&rank.source);
    out.put_text(&rank.title);
}

fn read_rank(cursor: &mut Cursor<'_>) -> Result<RankInfo> {
    Ok(RankInfo {
        rank: read_option(cursor)?,
        device: read_option(cursor)?,
        core: read_option(cursor)?,
        origin_unix_ns: {
            let known = cursor.u8()? != 0;
            let origin = cursor.signed()?;
            known.then_some(origin)
        },
        source: cursor.text()?.to_owned(),
        title: cursor.text()?.to_owned(),
    })
}

fn put_table(table: &TableMeta, out: &mut Vec<u8>) {
    out.put_text(&table.spec.name);
    out.push(code_of(&TABLE_KINDS, &table.spec.kind));
    out.put_text(&table.spec.name_key);
    out.put_text(&table.spec.doc);
    out.put_varint(u64::from(table.first_row));
    out.put_varint(u64::from(table.rows));
    table.blocks.encode(out);
}

fn read_table(cursor: &mut Cursor<'_>) -> Result<TableMeta> {
    Ok(TableMeta {
        spec: TableSpec {
            name: cursor.text()?.to_owned(),
            kind: read_code(&TABLE_KINDS, cursor)?,
            name_key: cursor.text()?.to_owned(),
            doc: cursor.text()?.to_owned(),
        },
        first_row: cursor.varint_u32()?,
        rows: cursor.varint_u32()?,
        blocks: Piece::decode(cursor)?,
    })
}

fn put_field((table, field): &(TableId, FieldSpec), out: &mut Vec<u8>) {
    out.put_varint(u64::from(table.0));
    out.put_text(&field.name);
    out.push(code_of(&Unit::ALL, &field.unit));
    out.put_text(&field.group);
    out.put_text(&field.doc);
}

fn read_table_id(cursor: &mut Cursor<'_>) -> Result<TableId> {
    let id = cursor.varint()?;
    u16::try_from(id).map(TableId).map_err(|_| cursor.corrupt())
}

fn read_field(cursor: &mut Cursor<'_>) -> Result<(TableId, FieldSpec)> {
    let table = read_table_id(cursor)?;
    let field = FieldSpec {
        name: cursor.text()?.to_owned(),
        unit: read_code(&Unit::ALL, cursor)?,
        group: cursor.text()?.to_owned(),
        doc: cursor.text()?.to_owned(),
    };
    Ok((table, field))
}

/// A core role is stored as its position, a field as its number after them.
pub fn put_column_role(role: ColumnRole, out: &mut Vec<u8>) {
    out.put_varint(match role {
        ColumnRole::Field(id) => u64::from(id.0) + ColumnRole::CORE.len() as u64,
        core => u64::from(code_of(&ColumnRole::CORE, &core)),
    });
}

/// Reads what [`put_column_role`] wrote.
pub fn column_role(cursor: &mut Cursor<'_>) -> Result<ColumnRole> {
    let role = cursor.varint_u32()?;
    Ok(match ColumnRole::CORE.get(role as usize) {
        Some(&core) => core,
        None => ColumnRole::Field(FieldId(role - ColumnRole::CORE.len() as u32)),
    })
}

fn put_column(column: &ColumnMeta, out: &mut Vec<u8>) {
    out.put_varint(u64::from(column.table.0));
    put_column_role(column.role, out);
    out.push(code_of(&ColumnType::ALL, &column.kind));
    column.directory.encode(out);
    column.postings.encode(out);
    out.put_varint(column.bytes);
}

fn read_column(cursor: &mut Cursor<'_>) -> Result<ColumnMeta> {
    let table = read_table_id(cursor)?;
    Ok(ColumnMeta {
        table,
        role: column_role(cursor)?,
        kind: read_code(&ColumnType::ALL, cursor)?,
        directory: Piece::decode(cursor)?,
        postings: Piece::decode(cursor)?,
        bytes: cursor.varint()?,
    })
}

fn put_track(track: &TrackMeta, out: &mut Vec<u8>) {
    out.put_text(&track.spec.name);
    put_option(track.spec.parent.map(|parent| parent.0), out);
    let (kind, table) = match track.spec.kind {
        TrackKind::Group => (TRACK_GROUP, TableId(0)),
        TrackKind::Slices(table, Nesting::Calls) => (TRACK_CALLS, table),
        TrackKind::Slices(table, Nesting::Concurrent) => (TRACK_CONCURRENT, table),
        TrackKind::Counter(table) => (TRACK_COUNTER, table),
    };
    out.push(kind);
    out.put_varint(u64::from(table.0));
    out.put_signed(track.spec.sort);
    out.push(code_of(&Unit::ALL, &track.spec.unit));
    out.push(u8::from(track.spec.initially == Initially::Closed));
    out.put_varint(u64::from(track.first_row));
    out.put_varint(u64::from(track.rows));
    out.put_varint(u64::from(track.lanes));
    out.put_signed(track.start_ps);
    out.put_signed(track.end_ps);
    out.push(u8::from(track.value_range.is_some()));
    let (min, max) = track.value_range.unwrap_or_default();
    out.extend_from_slice(&min.to_le_bytes());
    out.extend_from_slice(&max.to_le_bytes());
    track.pyramid.encode(out);
    out.put_varint(track.pyramid_bytes);
    track.program.encode(out);
    track.totals.encode(out);
}

fn read_track(cursor: &mut Cursor<'_>) -> Result<TrackMeta> {
    let name = cursor.text()?.to_owned();
    let parent = read_option(cursor)?.map(TrackId);
    let kind = cursor.u8()?;
    let table = read_table_id(cursor)?;
    let kind = match kind {
        TRACK_GROUP => TrackKind::Group,
        TRACK_CALLS => TrackKind::Slices(table, Nesting::Calls),
        TRACK_CONCURRENT => TrackKind::Slices(table, Nesting::Concurrent),
        TRACK_COUNTER => TrackKind::Counter(table),
        _ => return Err(cursor.corrupt()),
    };
    let sort = cursor.signed()?;
    let unit = read_code(&Unit::ALL, cursor)?;
    let initially = if cursor.u8()? == 0 { Initially::Open } else { Initially::Closed };
    Ok(TrackMeta {
        spec: TrackSpec { name, parent, kind, sort, unit, initially },
        first_row: cursor.varint_u32()?,
        rows: cursor.varint_u32()?,
        lanes: cursor.varint_u32()?,
        start_ps: cursor.signed()?,
        end_ps: cursor.signed()?,
        value_range: {
            let known = cursor.u8()? != 0;
            let range = (f64::from_bits(cursor.u64()?), f64::from_bits(cursor.u64()?));
            known.then_some(range)
        },
        pyramid: Piece::decode(cursor)?,
        pyramid_bytes: cursor.varint()?,
        program: Piece::decode(cursor)?,
        totals: Piece::decode(cursor)?,
    })
}

fn put_warning(warning: &Warning, out: &mut Vec<u8>) {
    out.push(code_of(&WarningKind::ALL, &warning.kind));
    out.put_text(&warning.what);
    out.put_text(&warning.first_place);
    out.put_varint(warning.count);
}

fn read_warning(cursor: &mut Cursor<'_>) -> Result<Warning> {
    Ok(Warning {
        kind: read_code(&WarningKind::ALL, cursor)?,
        what: cursor.text()?.to_owned(),
        first_place: cursor.text()?.to_owned(),
        count: cursor.varint()?,
    })
}

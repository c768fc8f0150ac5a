//! The footer's bytes, as `docs/format.md` says. Enumerations are stored as positions in their
//! `ALL` arrays.

use super::footer::{ColumnRole, DictionaryMeta, FlowsMeta, Footer, TableMeta, TrackMeta};
use super::footer_codes::{code_of, read_code};
use super::footer_lists;
use super::layout::Piece;
use super::limits::{MAX_LANES, MAX_TABLES, MAX_WAITS, MAX_WARNINGS};
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::model::{RankInfo, TableId, TableKind, TableSpec, TrackContent, WaitNames, Warning, WarningKind};

/// Deepest tree of tracks.
pub const MAX_TRACK_DEPTH: usize = 32;
/// Kinds of tables in the order of their codes.
const TABLE_KINDS: [TableKind; 3] = [TableKind::Slices, TableKind::Samples, TableKind::Side];

impl Footer {
    /// Bytes of the footer up to the annex.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (mut out, mut next) = (Vec::new(), 0);
        put_rank(&self.rank, &mut out);
        out.put_varint(self.tables.len() as u64);
        self.tables.iter().for_each(|table| put_table(table, &mut next, &mut out));
        footer_lists::put_fields(&self.fields, &mut out);
        footer_lists::put_columns(&self.columns, &mut next, &mut out);
        footer_lists::put_tracks(&self.tracks, &mut next, &mut out);
        out.put_varint(u64::from(self.dictionary.texts));
        out.put_varint(self.dictionary.bytes);
        self.dictionary.chunks.encode(&mut next, &mut out);
        put_ascending(self.waits.numbers(), &mut out);
        out.put_varint(self.flows.arrows);
        out.put_varint(self.flows.bytes);
        self.flows.by_from.encode(&mut next, &mut out);
        self.flows.by_to.encode(&mut next, &mut out);
        out.put_varint(self.warnings.len() as u64);
        self.warnings.iter().for_each(|warning| put_warning(warning, &mut out));
        out
    }

    /// Reads a footer; returns it and its length. The bytes after it are the annex. References
    /// between its parts are checked, so that later code can index by them.
    pub fn decode(bytes: &[u8], offset: u64) -> Result<(Self, usize)> {
        let mut cursor = Cursor::new(bytes, offset, "footer");
        let mut next = 0;
        let rank = read_rank(&mut cursor)?;
        let most = usize::from(MAX_TABLES);
        let mut tables: Vec<TableMeta> =
            read_list(&mut cursor, most, |cursor| read_table(&mut next, cursor))?;
        let mut first_row = 0_u32;
        for table in &mut tables {
            table.first_row = first_row;
            first_row = first_row.checked_add(table.rows).ok_or_else(|| cursor.corrupt())?;
        }
        let fields = footer_lists::read_fields(&mut cursor)?;
        let columns = footer_lists::read_columns(&mut next, &mut cursor)?;
        let tracks = footer_lists::read_tracks(&tables, &mut next, &mut cursor)?;
        let footer = Self {
            rank,
            tables,
            fields,
            columns,
            tracks,
            dictionary: DictionaryMeta {
                texts: cursor.varint_u32()?,
                bytes: cursor.varint()?,
                chunks: Piece::decode(&mut next, &mut cursor)?,
            },
            waits: read_waits(&mut cursor)?,
            flows: FlowsMeta {
                arrows: cursor.varint()?,
                bytes: cursor.varint()?,
                by_from: Piece::decode(&mut next, &mut cursor)?,
                by_to: Piece::decode(&mut next, &mut cursor)?,
            },
            warnings: read_list(&mut cursor, MAX_WARNINGS, read_warning)?,
        };
        footer.check(offset)?;
        Ok((footer, bytes.len() - cursor.remaining()))
    }

    fn check(&self, offset: u64) -> Result<()> {
        let corrupt = Error::Corrupt { what: "footer refers to a missing part", offset };
        let table = |id: TableId| usize::from(id.0) < self.tables.len();
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
            // A lane has a row. A track without rows can have one lane.
            let lanes = track.lanes <= track.rows.clamp(1, MAX_LANES);
            let parent = lanes && self.is_rooted(track);
            // A track without rows can name any existing table.
            let rows = match track.spec.kind {
                TrackContent::Group => track.rows == 0,
                TrackContent::Slices(of, _) | TrackContent::Counter(of) => {
                    self.tables.get(usize::from(of.0)).is_some_and(|t| {
                        let end = track.first_row.checked_add(track.rows);
                        let inside = end.is_some_and(|end| end <= t.first_row + t.rows);
                        track.rows == 0 || (track.first_row >= t.first_row && inside)
                    })
                }
            };
            parent && rows
        });
        let bytes = self.stated_bytes().is_some();
        if fields && columns && tracks && bytes { Ok(()) } else { Err(corrupt) }
    }

    /// The sum of the lengths that the footer states; `None` if no number holds it.
    fn stated_bytes(&self) -> Option<u64> {
        let columns = self.columns.iter().map(|column| column.bytes);
        let tracks = self.tracks.iter().map(|track| track.pyramid_bytes);
        let mut all = columns.chain(tracks).chain([self.dictionary.bytes, self.flows.bytes]);
        all.try_fold(0_u64, u64::checked_add)
    }

    /// The sum of the lengths that the footer states of chunks and pages: those of texts, of arrows
    /// and of pyramids.
    pub(super) fn bytes_of_lists(&self) -> Option<u64> {
        let mut tracks = self.tracks.iter().map(|track| track.pyramid_bytes);
        let others = self.dictionary.bytes.checked_add(self.flows.bytes)?;
        tracks.try_fold(others, u64::checked_add)
    }

    /// Whether the chain of a track's parents ends.
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

fn at_most(most: usize, count: usize, cursor: &Cursor<'_>) -> Result<usize> {
    if count <= most { Ok(count) } else { Err(cursor.corrupt()) }
}

fn read_list<T>(
    cursor: &mut Cursor<'_>,
    most: usize,
    mut read: impl FnMut(&mut Cursor<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    // Every item takes two bytes at least.
    let count = at_most(most, cursor.count(2)?, cursor)?;
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

fn read_waits(cursor: &mut Cursor<'_>) -> Result<WaitNames> {
    let count = at_most(MAX_WAITS, cursor.count(1)?, cursor)?;
    let mut before = None;
    (0..count)
        .map(|_| {
            let further = cursor.varint_u32()?;
            let number = before.map_or(Some(further), |before: u32| {
                before.checked_add(further).filter(|number| *number > before)
            });
            before = number;
            number.ok_or_else(|| cursor.corrupt())
        })
        .collect()
}

/// Appends an optional number plus one; 0 stands for `None`.
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

fn put_table(table: &TableMeta, next: &mut u64, out: &mut Vec<u8>) {
    out.put_text(&table.spec.name);
    out.push(code_of(&TABLE_KINDS, &table.spec.kind));
    out.put_text(&table.spec.name_key);
    out.put_text(&table.spec.doc);
    out.put_varint(u64::from(table.rows));
    table.blocks.encode(next, out);
}

fn read_table(next: &mut u64, cursor: &mut Cursor<'_>) -> Result<TableMeta> {
    Ok(TableMeta {
        spec: TableSpec {
            name: cursor.text()?.to_owned(),
            kind: read_code(&TABLE_KINDS, cursor)?,
            name_key: cursor.text()?.to_owned(),
            doc: cursor.text()?.to_owned(),
        },
        // The caller computes it from the tables before.
        first_row: 0,
        rows: cursor.varint_u32()?,
        blocks: Piece::decode(next, cursor)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_beyond_any_file_are_damage() {
        let footer = |dictionary_bytes, flows_bytes| Footer {
            rank: RankInfo::default(),
            tables: Vec::new(),
            fields: Vec::new(),
            columns: Vec::new(),
            tracks: Vec::new(),
            dictionary: DictionaryMeta { texts: 0, bytes: dictionary_bytes, chunks: Piece::default() },
            waits: WaitNames::default(),
            flows: FlowsMeta {
                arrows: 0,
                bytes: flows_bytes,
                by_from: Piece::default(),
                by_to: Piece::default(),
            },
            warnings: Vec::new(),
        };
        let read = |footer: Footer| Footer::decode(&footer.encode(), 0);
        assert!(read(footer(u64::MAX - 1, 1)).is_ok());
        assert!(matches!(read(footer(u64::MAX, 1)), Err(Error::Corrupt { .. })));
    }
}

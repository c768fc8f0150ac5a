//! Arrows between slices, stored twice: sorted by where they begin and by where they end.

use super::pieces::{put_pieces, read_pieces};
use super::{Bytes, Piece, PieceWriter, Segment};
use crate::base::Result;
use crate::block::list;
use crate::model::NameId;

/// An arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The row where it begins.
    pub from: u32,
    /// The row where it ends.
    pub to: u32,
    /// What it is called.
    pub name: NameId,
}

/// Arrows of a chunk; all but the last are full.
const CHUNK_ARROWS: usize = 2048;

/// Where the arrows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowsMeta {
    /// Number of arrows.
    pub arrows: u64,
    /// The list of chunks, sorted by `from`.
    pub by_from: Piece,
    /// The list of chunks, sorted by `to`.
    pub by_to: Piece,
    /// Bytes of all chunks.
    pub bytes: u64,
}

/// Writes all arrows, each once a direction; equal ones only once.
///
/// # Errors
/// Those of the output.
pub fn write_flows(mut arrows: Vec<Arrow>, writer: &mut PieceWriter<'_>) -> Result<FlowsMeta> {
    arrows.sort_unstable();
    arrows.dedup();
    let mut meta = FlowsMeta { arrows: arrows.len() as u64, ..FlowsMeta::default() };
    meta.by_from = write_direction(&arrows, |arrow| arrow.from, writer, &mut meta.bytes)?;
    arrows.sort_unstable_by_key(|arrow| (arrow.to, arrow.from, arrow.name));
    meta.by_to = write_direction(&arrows, |arrow| arrow.to, writer, &mut meta.bytes)?;
    Ok(meta)
}

fn write_direction(
    arrows: &[Arrow],
    key: fn(&Arrow) -> u32,
    writer: &mut PieceWriter<'_>,
    total: &mut u64,
) -> Result<Piece> {
    let mut pieces = Vec::new();
    let mut lasts = Vec::new();
    let mut bytes = Vec::new();
    for chunk in arrows.chunks(CHUNK_ARROWS) {
        bytes.clear();
        let column = |of: fn(&Arrow) -> u32| chunk.iter().map(|a| i64::from(of(a))).collect::<Vec<i64>>();
        list::put_ints(&column(|arrow| arrow.from), &mut bytes);
        list::put_ints(&column(|arrow| arrow.to), &mut bytes);
        list::put_ints(&column(|arrow| arrow.name.0), &mut bytes);
        pieces.push(writer.piece(&bytes)?);
        *total += bytes.len() as u64;
        lasts.extend(chunk.last().map(|arrow| i64::from(key(arrow))));
    }
    let mut directory = Vec::new();
    list::put_ints(&lasts, &mut directory);
    put_pieces(&pieces, &mut directory);
    writer.piece(&directory)
}

/// Which end of an arrow a row stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The arrow begins there.
    From,
    /// The arrow ends there.
    To,
}

impl<B: Bytes> Segment<B> {
    /// The arrows that begin at this row.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrows_from(&self, row: u32) -> Result<Vec<Arrow>> {
        self.arrows(row, End::From)
    }

    /// The arrows that end at this row.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrows_to(&self, row: u32) -> Result<Vec<Arrow>> {
        self.arrows(row, End::To)
    }

    fn arrows(&self, row: u32, end: End) -> Result<Vec<Arrow>> {
        let mut found = Vec::new();
        let chunks = self.arrow_chunks(end)?;
        let first = chunks.partition_point(|&(last, _)| last < i64::from(row));
        for &(last, piece) in &chunks[first..] {
            let chunk = self.arrow_chunk(piece)?;
            let key = |arrow: &Arrow| if end == End::From { arrow.from } else { arrow.to };
            found.extend(chunk.iter().filter(|arrow| key(arrow) == row));
            if last > i64::from(row) {
                break;
            }
        }
        Ok(found)
    }

    /// The list of arrows sorted by this end.
    #[must_use]
    pub fn arrow_directory(&self, end: End) -> Piece {
        if end == End::From { self.footer().flows.by_from } else { self.footer().flows.by_to }
    }

    /// The chunks of arrows sorted by this end, each with the last row in it.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrow_chunks(&self, end: End) -> Result<Vec<(i64, Piece)>> {
        if self.footer().flows.arrows == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = self.cursor(self.arrow_directory(end), "arrow directory")?;
        let lasts = list::read_ints(&mut cursor)?;
        let pieces = read_pieces(&mut cursor, lasts.len())?;
        Ok(lasts.into_iter().zip(pieces).collect())
    }

    /// The arrows of a chunk.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn arrow_chunk(&self, piece: Piece) -> Result<Vec<Arrow>> {
        let mut cursor = self.cursor(piece, "arrows")?;
        let from = list::read_ints(&mut cursor)?;
        let to = list::read_ints_of(&mut cursor, from.len())?;
        let names = list::read_ints_of(&mut cursor, from.len())?;
        let narrow = |value: i64| u32::try_from(value).map_err(|_| cursor.corrupt());
        from.iter()
            .zip(&to)
            .zip(&names)
            .map(|((&from, &to), &name)| {
                Ok(Arrow { from: narrow(from)?, to: narrow(to)?, name: NameId(narrow(name)?) })
            })
            .collect()
    }

    /// Calls `each` with every arrow, sorted by where it begins.
    ///
    /// # Errors
    /// Where bytes are missing or damaged, and those of `each`.
    pub fn for_each_arrow(&self, mut each: impl FnMut(Arrow) -> Result<()>) -> Result<()> {
        for (_, piece) in self.arrow_chunks(End::From)? {
            self.arrow_chunk(piece)?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }
}

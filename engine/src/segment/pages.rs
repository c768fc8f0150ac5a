//! The pages of a track's tile pyramid: the cells that each page holds, and its position. The
//! content of a cell is up to [`crate::tile`].

use super::footer::TrackMeta;
use super::layout::Piece;
use super::pieces::{PIECE_BYTES, put_pieces, read_pieces};
use super::room::RoomShare;
use crate::base::bytes::Cursor;
use crate::base::{Result, in_memory};
use crate::block::list;

/// Cells of one lane and level, stored as one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PyramidPage {
    /// Lane of the cells.
    pub lane: u32,
    /// Number of the level.
    pub level: u8,
    /// Index of the first cell.
    pub first: i64,
    /// Index of the last cell.
    pub last: i64,
    /// Position of the encoded cells.
    pub piece: Piece,
}

impl PyramidPage {
    /// Whether `other` follows in the order of level, lane and cells.
    fn is_before(&self, other: &Self) -> bool {
        (self.level, self.lane, self.last) < (other.level, other.lane, other.first)
    }
}

/// Appends a list of pages.
pub fn put_pages(pages: &[PyramidPage], out: &mut Vec<u8>) {
    let column = |of: fn(&PyramidPage) -> i64| pages.iter().map(of).collect::<Vec<i64>>();
    list::put_ints(&column(|page| i64::from(page.level)), out);
    list::put_ints(&column(|page| i64::from(page.lane)), out);
    list::put_ints(&column(|page| page.first), out);
    list::put_ints(&column(|page| page.last), out);
    let pieces: Vec<Piece> = pages.iter().map(|page| page.piece).collect();
    put_pieces(&pieces, out);
}

/// Memory that reading a page's entry takes, in bytes.
const PAGE_BYTES: usize = size_of::<PyramidPage>() + 4 * size_of::<i64>() + PIECE_BYTES;

/// Reads the list of a track's pages.
pub fn read_pages(
    cursor: &mut Cursor<'_>,
    of: &TrackMeta,
    taken: &mut RoomShare<'_>,
) -> Result<Vec<PyramidPage>> {
    // A page takes a byte at least.
    let count = list::stated_len(cursor, in_memory(of.pyramid_bytes))?;
    taken.grow(count, PAGE_BYTES)?;
    let levels = list::read_ints_of(cursor, count)?;
    let lanes = list::read_ints_of(cursor, count)?;
    let firsts = list::read_ints_of(cursor, count)?;
    let lasts = list::read_ints_of(cursor, count)?;
    let pieces = read_pieces(cursor, count, of.pyramid_bytes)?;
    let mut pages: Vec<PyramidPage> = Vec::with_capacity(count);
    for at in 0..count {
        let page = PyramidPage {
            lane: u32::try_from(lanes[at]).map_err(|_| cursor.corrupt())?,
            level: u8::try_from(levels[at]).map_err(|_| cursor.corrupt())?,
            first: firsts[at],
            last: lasts[at],
            piece: pieces[at],
        };
        // Pages of a lane and level that overlapped would give a tile any number of cells.
        let follows = pages.last().is_none_or(|before| before.is_before(&page));
        if !follows || page.lane >= of.lanes || page.last < page.first {
            return Err(cursor.corrupt());
        }
        pages.push(page);
    }
    Ok(pages)
}

//! The pages of a track's tile pyramid: the cells that each page holds, and its position. The
//! content of a cell is up to [`crate::tile`].

use super::layout::Piece;
use super::pieces::{put_pieces, read_pieces};
use crate::base::Result;
use crate::base::bytes::Cursor;
use crate::block::list;

/// Cells of one lane and level, stored as one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
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

/// Appends a list of pages.
pub fn put_pages(pages: &[Page], out: &mut Vec<u8>) {
    let column = |of: fn(&Page) -> i64| pages.iter().map(of).collect::<Vec<i64>>();
    list::put_ints(&column(|page| i64::from(page.level)), out);
    list::put_ints(&column(|page| i64::from(page.lane)), out);
    list::put_ints(&column(|page| page.first), out);
    list::put_ints(&column(|page| page.last), out);
    let pieces: Vec<Piece> = pages.iter().map(|page| page.piece).collect();
    put_pieces(&pieces, out);
}

/// Reads a list of pages.
///
/// # Errors
/// If the bytes are damaged.
pub fn read_pages(cursor: &mut Cursor<'_>) -> Result<Vec<Page>> {
    let levels = list::read_ints(cursor)?;
    let lanes = list::read_ints_of(cursor, levels.len())?;
    let firsts = list::read_ints_of(cursor, levels.len())?;
    let lasts = list::read_ints_of(cursor, levels.len())?;
    let pieces = read_pieces(cursor, levels.len())?;
    let page = |at: usize| {
        Ok(Page {
            lane: u32::try_from(lanes[at]).map_err(|_| cursor.corrupt())?,
            level: u8::try_from(levels[at]).map_err(|_| cursor.corrupt())?,
            first: firsts[at],
            last: lasts[at],
            piece: pieces[at],
        })
    };
    (0..levels.len()).map(page).collect()
}

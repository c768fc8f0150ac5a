//! Lists of pieces, column by column, so that the codecs see similar values side by side.

use super::layout::Piece;
use crate::base::Result;
use crate::base::bytes::Cursor;
use crate::block::list;

/// Appends a list of pieces.
pub fn put_pieces(pieces: &[Piece], out: &mut Vec<u8>) {
    let column = |of: fn(&Piece) -> i64| pieces.iter().map(of).collect::<Vec<i64>>();
    list::put_ints(&column(|piece| i64::from(piece.len)), out);
    list::put_ints(&column(|piece| piece.offset.cast_signed()), out);
    list::put_ints(&column(|piece| i64::from(piece.checksum)), out);
}

/// Memory that reading a piece of a list takes, in bytes.
pub const PIECE_BYTES: usize = size_of::<Piece>() + 3 * size_of::<i64>();

/// Reads a list of this many pieces, which have at most `bytes` bytes together.
pub fn read_pieces(cursor: &mut Cursor<'_>, count: usize, bytes: u64) -> Result<Vec<Piece>> {
    let lens = list::read_ints_of(cursor, count)?;
    let offsets = list::read_ints_of(cursor, count)?;
    let checksums = list::read_ints_of(cursor, count)?;
    let stated = lens.iter().try_fold(0_u64, |sum, &len| sum.checked_add(u64::try_from(len).ok()?));
    if stated.is_none_or(|stated| stated > bytes) {
        return Err(cursor.corrupt());
    }
    lens.iter()
        .zip(&offsets)
        .zip(&checksums)
        .map(|((&len, &offset), &checksum)| {
            Ok(Piece {
                offset: offset.cast_unsigned(),
                len: u32::try_from(len).map_err(|_| cursor.corrupt())?,
                checksum: u32::try_from(checksum).map_err(|_| cursor.corrupt())?,
            })
        })
        .collect()
}

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

/// Reads a list of this many pieces.
pub fn read_pieces(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<Piece>> {
    let lens = list::read_ints_of(cursor, count)?;
    let offsets = list::read_ints_of(cursor, count)?;
    let checksums = list::read_ints_of(cursor, count)?;
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

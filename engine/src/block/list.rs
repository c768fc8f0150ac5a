//! Long lists of integers in directories, split into chunks that the codecs can take.

use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::codec::{self, BlockDecoder, Encoder};

/// Values of a chunk; all chunks but the last are full.
const CHUNK: usize = 1 << 14;
const _: () = assert!(CHUNK <= codec::MAX_VALUES, "a chunk is one codec call");

/// Appends a list of any length.
pub fn put_ints(values: &[i64], out: &mut Vec<u8>) {
    put_ints_with(values, &mut Encoder::default(), out);
}

/// Same as [`put_ints`], with working memory that many short lists share.
pub fn put_ints_with(values: &[i64], encoder: &mut Encoder, out: &mut Vec<u8>) {
    out.put_varint(values.len() as u64);
    values.chunks(CHUNK).for_each(|chunk| put_chunk(chunk, encoder, out));
}

fn put_chunk(chunk: &[i64], encoder: &mut Encoder, out: &mut Vec<u8>) {
    let mut encoded = Vec::new();
    encoder.ints(chunk, &mut encoded);
    out.put_bytes(&encoded);
}

/// A list that is encoded while it grows. It takes its encoded bytes and one chunk of values in
/// memory.
#[derive(Debug, Default)]
pub struct ListWriter {
    len: u64,
    chunk: Vec<i64>,
    encoded: Vec<u8>,
}

impl ListWriter {
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.len
    }

    /// Adds a value.
    pub fn push(&mut self, value: i64) {
        self.len += 1;
        self.chunk.push(value);
        if self.chunk.len() == CHUNK {
            put_chunk(&self.chunk, &mut Encoder::default(), &mut self.encoded);
            self.chunk.clear();
        }
    }

    /// Appends the list in the layout of [`put_ints`].
    pub fn put(self, out: &mut Vec<u8>) {
        out.put_varint(self.len);
        out.extend_from_slice(&self.encoded);
        if !self.chunk.is_empty() {
            put_chunk(&self.chunk, &mut Encoder::default(), out);
        }
    }
}

/// Number of entries that the list at the cursor states. The cursor stays there.
///
/// A chunk of three bytes can hold 16,384 equal numbers, so the bytes of a list say little about
/// its length. Each caller knows a bound, and reads a list only if its stated length is within.
///
/// # Errors
/// `Corrupt` if the list states more than `most` entries.
pub fn stated_len(cursor: &Cursor<'_>, most: usize) -> Result<usize> {
    let len = cursor.clone().varint()?;
    usize::try_from(len).ok().filter(|&len| len <= most).ok_or_else(|| cursor.corrupt())
}

/// Reads a list that must have `len` entries. A list of another length is not decoded.
///
/// # Errors
/// If the bytes are damaged or the length differs.
pub fn read_ints_of(cursor: &mut Cursor<'_>, len: usize) -> Result<Vec<i64>> {
    read_ints_of_with(cursor, len, &mut BlockDecoder::default())
}

/// Same as [`read_ints_of`], with working memory that many short lists share. Making that memory
/// costs more than decoding one list.
pub fn read_ints_of_with(
    cursor: &mut Cursor<'_>,
    len: usize,
    decoder: &mut BlockDecoder,
) -> Result<Vec<i64>> {
    if cursor.varint()? != len as u64 {
        return Err(cursor.corrupt());
    }
    let (mut left, mut values, mut chunk) = (len, Vec::new(), Vec::new());
    while left > 0 {
        let count = left.min(CHUNK);
        if values.is_empty() {
            decoder.ints(cursor.bytes()?, count, &mut values)?;
            values.reserve_exact(left - count);
        } else {
            decoder.ints(cursor.bytes()?, count, &mut chunk)?;
            values.extend_from_slice(&chunk);
        }
        left -= count;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_longer_than_a_chunk_survive() {
        let values: Vec<i64> = (0..CHUNK as i64 * 2 + 3).map(|v| v * v).collect();
        let mut bytes = Vec::new();
        put_ints(&values, &mut bytes);
        let mut writer = ListWriter::default();
        values.iter().for_each(|&value| writer.push(value));
        let mut written = Vec::new();
        writer.put(&mut written);
        assert_eq!(written, bytes);
        let mut cursor = Cursor::new(&bytes, 0, "list");
        assert_eq!(stated_len(&cursor, values.len()), Ok(values.len()));
        assert!(stated_len(&cursor, values.len() - 1).is_err(), "beyond the bound");
        assert_eq!(read_ints_of(&mut cursor, values.len()).unwrap(), values);
        assert!(cursor.finish().is_ok());
    }

    #[test]
    fn a_list_of_another_length_is_not_decoded() {
        let mut bytes = Vec::new();
        put_ints(&[7; 10], &mut bytes);
        let mut cursor = Cursor::new(&bytes, 0, "list");
        assert!(read_ints_of(&mut cursor, 9).is_err());
        assert_eq!(cursor.remaining(), bytes.len() - 1, "only the length was read");
        let mut huge = Vec::new();
        huge.put_varint(u64::MAX);
        assert!(stated_len(&Cursor::new(&huge, 0, "list"), 1 << 40).is_err());
    }
}

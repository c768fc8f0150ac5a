//! Postings: the packs of blocks that hold each text of a column.
//!
//! A frequent text has a roaring bitmap of packs. A text that is nearly everywhere has a bit for
//! each pack. A rare text has a list of numbers, because a bitmap would take more bytes than its
//! rows.

use roaring::RoaringBitmap;

use super::BlockTexts;
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::block::list;
use crate::codec::Encoder;

/// Texts in at most this many blocks have a list. A roaring bitmap with one container is larger.
const LISTED: usize = 8;
/// Codes of the forms, as in `docs/format.md`.
const LIST: u8 = 0;
const BITMAP: u8 = 1;
const BITS: u8 = 2;
/// Numbers that a container of a roaring bitmap covers.
const CONTAINER: usize = 1 << 16;
/// First number of a serialised bitmap: without runs, with the number of containers behind it; with
/// runs in the low half, with the number of containers minus one in the high half.
const WITHOUT_RUNS: u32 = 12346;
const WITH_RUNS: u32 = 12347;

/// Number of containers of a serialised bitmap. A container of runs takes a few bytes, and unpacks
/// to 8 KiB.
fn containers(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0, "postings");
    match cursor.u32().ok()? {
        WITHOUT_RUNS => Some(cursor.u32().ok()? as usize),
        cookie if cookie & 0xffff == WITH_RUNS => Some((cookie >> 16) as usize + 1),
        _ => None,
    }
}

/// Encodes the blocks of each text.
pub fn encode_postings(texts: &BlockTexts, encoder: &mut Encoder, out: &mut Vec<u8>) {
    let pairs = texts.pairs();
    let (mut codes, mut lens, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for group in pairs.chunk_by(|a, b| a.0 == b.0) {
        let start = body.len();
        encode_blocks(group, &mut body);
        codes.push(i64::from(group[0].0));
        lens.push((body.len() - start) as i64);
    }
    list::put_ints_with(&codes, encoder, out);
    list::put_ints_with(&lens, encoder, out);
    out.put_bytes(&body);
}

fn encode_blocks(group: &[(u32, u32)], body: &mut Vec<u8>) {
    if group.len() <= LISTED {
        body.push(LIST);
        let mut last = 0;
        for &(_, block) in group {
            body.put_varint(u64::from(block - last));
            last = block;
        }
        return;
    }
    // A roaring bitmap of few blocks lists them. For a text in every other block, a bit for each
    // block is smaller.
    let bits_len = group[group.len() - 1].1 as usize / 8 + 1;
    // Each block comes once and in order, because pairs are distinct.
    let blocks = group.iter().map(|&(_, block)| block);
    let mut bitmap = RoaringBitmap::from_sorted_iter(blocks.clone()).unwrap_or_else(|_| blocks.collect());
    bitmap.optimize();
    if bits_len <= bitmap.serialized_size() {
        body.push(BITS);
        let start = body.len();
        body.resize(start + bits_len, 0);
        group.iter().for_each(|&(_, block)| body[start + block as usize / 8] |= 1 << (block % 8));
        return;
    }
    body.push(BITMAP);
    // Writing to a vector cannot fail.
    let written = bitmap.serialize_into(&mut *body);
    debug_assert!(written.is_ok(), "a vector takes all bytes");
}

/// Postings of a column.
#[derive(Debug)]
pub struct Postings<'a> {
    codes: Vec<i64>,
    ends: Vec<usize>,
    body: &'a [u8],
    /// Offset of the postings in the file, for messages.
    offset: u64,
}

impl<'a> Postings<'a> {
    /// Reads postings.
    pub fn decode(cursor: &mut Cursor<'a>, offset: u64) -> Result<Self> {
        // The entry of a text takes two bytes at least.
        let count = list::stated_len(cursor, cursor.remaining())?;
        let codes = list::read_ints_of(cursor, count)?;
        let lens = list::read_ints_of(cursor, codes.len())?;
        let body = cursor.bytes()?;
        let mut end = 0_usize;
        let mut ends = Vec::with_capacity(lens.len());
        for &len in &lens {
            let len = usize::try_from(len).map_err(|_| cursor.corrupt())?;
            end = end.checked_add(len).filter(|&end| end <= body.len()).ok_or_else(|| cursor.corrupt())?;
            ends.push(end);
        }
        Ok(Self { codes, ends, body, offset })
    }

    /// Numbers of all texts of the column.
    #[must_use]
    pub fn codes(&self) -> &[i64] {
        &self.codes
    }

    /// Packs that hold any text whose number `is_wanted` accepts. The column has `packs` packs.
    pub fn packs_with(&self, packs: usize, is_wanted: impl Fn(i64) -> bool) -> Result<RoaringBitmap> {
        let mut blocks = RoaringBitmap::new();
        for (at, &code) in self.codes.iter().enumerate() {
            if is_wanted(code) {
                self.add_blocks(at, packs, &mut blocks)?;
            }
        }
        match blocks.max() {
            Some(last) if last as usize >= packs => {
                Err(Error::Corrupt { what: "postings name a missing pack", offset: self.offset })
            }
            _ => Ok(blocks),
        }
    }

    fn add_blocks(&self, at: usize, packs: usize, blocks: &mut RoaringBitmap) -> Result<()> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let mut cursor = Cursor::new(&self.body[start..self.ends[at]], self.offset, "postings");
        match cursor.u8()? {
            LIST => {
                let mut block = 0_u32;
                while cursor.remaining() > 0 {
                    block = block.checked_add(cursor.varint_u32()?).ok_or_else(|| cursor.corrupt())?;
                    blocks.insert(block);
                }
            }
            BITS => {
                let bytes = cursor.take(cursor.remaining())?;
                if bytes.len() > packs.div_ceil(8) {
                    return Err(cursor.corrupt());
                }
                *blocks |= RoaringBitmap::from_lsb0_bytes(0, bytes);
            }
            BITMAP => {
                let bytes = cursor.take(cursor.remaining())?;
                if containers(bytes).is_none_or(|count| count > packs.div_ceil(CONTAINER)) {
                    return Err(cursor.corrupt());
                }
                *blocks |= RoaringBitmap::deserialize_from(bytes).map_err(|_| cursor.corrupt())?;
            }
            _ => return Err(cursor.corrupt()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(
            blocks in prop::collection::btree_map(0_u32..300, prop::collection::btree_set(0_u32..20, 0..9), 0..80),
            wanted in prop::collection::btree_set(0_u32..22, 0..5),
        ) {
            let mut texts = BlockTexts::default();
            for (&block, codes) in &blocks {
                texts.push(block, &codes.iter().copied().collect::<Vec<_>>());
            }
            let mut bytes = Vec::new();
            encode_postings(&texts, &mut Encoder::default(), &mut bytes);
            let postings = Postings::decode(&mut Cursor::new(&bytes, 0, "postings"), 0).unwrap();
            let found = postings.packs_with(300, |code| wanted.iter().any(|&one| i64::from(one) == code)).unwrap();
            let scanned = blocks.iter().filter(|(_, codes)| !codes.is_disjoint(&wanted));
            let scanned: RoaringBitmap = scanned.map(|(&block, _)| block).collect();
            prop_assert_eq!(found, scanned);
        }

        #[test]
        fn hostile_bytes_end_in_an_error_or_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(postings) = Postings::decode(&mut Cursor::new(&bytes, 0, "postings"), 0) {
                let _ = postings.packs_with(300, |code| code < 100);
            }
        }
    }
}

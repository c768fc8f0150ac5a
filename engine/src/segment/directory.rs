//! The directory of a column: the position and the zone map of each pack's block. Blocks of a few
//! bytes are stored inline, in the directory itself. Most predicted columns take no more; in a
//! small segment all blocks are inline.

use super::layout::Piece;
use super::room::RoomShare;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::block::{ZoneMap, list};
use crate::codec::{self, BlockDecoder, Encoder};

/// Longest inline block of a large segment. An entry for a separate piece would be as long.
pub const MAX_INLINE: usize = 12;
/// Longest inline block of a small segment.
pub const MAX_INLINE_SMALL: usize = 1 << 20;
/// Inline bytes up to this many are stored plain: a frame of their own saves little.
const MAX_PLAIN: usize = 64;
/// Most inline bytes of one directory.
const MAX_INLINE_BYTES: usize = 1 << 28;

/// Location of the bytes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredAt {
    /// No row of the block has a value.
    Absent,
    /// In the directory: offset in [`ColumnDirectory::inline`], and length.
    Inline(u32, u32),
    /// In a separate piece.
    Piece(Piece),
}

/// All blocks of a column, one for each pack of the table's [`super::BlockList`].
#[derive(Debug, Default, PartialEq)]
pub struct ColumnDirectory {
    /// Location of each block.
    pub places: Vec<StoredAt>,
    /// Range of each block's values; empty if the zone maps were not read.
    pub zones: Vec<ZoneMap>,
    /// Bytes of the inline blocks.
    pub inline: Vec<u8>,
}

/// Compression around a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryFrame {
    /// None: the directory is a piece of the file.
    Nothing,
    /// The frame of the footer, which compresses the inline blocks.
    Footer,
}

/// Memory that reading the place of a block takes, in bytes: its length, offset and place.
const PLACE_BYTES: usize = 2 * size_of::<i64>() + size_of::<StoredAt>();
/// Memory that reading the range of a block takes, in bytes: two numbers, twice the range.
const ZONE_BYTES: usize = 2 * size_of::<i64>() + 2 * size_of::<ZoneMap>();

/// Storage of a block, in the two lowest bits of its length.
const ABSENT: i64 = 0;
const INLINE: i64 = 1;
const PIECE: i64 = 2;
/// Codes of the zone maps, as in `docs/format.md`.
const NO_ZONES: u8 = 0;
const INT_ZONES: u8 = 1;
const FLOAT_ZONES: u8 = 2;

impl ColumnDirectory {
    /// Appends the directory.
    pub fn encode(&self, around: DirectoryFrame, encoder: &mut Encoder, out: &mut Vec<u8>) {
        let pieces = || self.places.iter().filter_map(|place| place.piece());
        let lens = self.places.iter().map(|place| match *place {
            StoredAt::Absent => ABSENT,
            StoredAt::Inline(_, len) => i64::from(len) << 2 | INLINE,
            StoredAt::Piece(piece) => i64::from(piece.len) << 2 | PIECE,
        });
        list::put_ints_with(&lens.collect::<Vec<_>>(), encoder, out);
        list::put_ints_with(
            &pieces().map(|piece| piece.offset.cast_signed()).collect::<Vec<_>>(),
            encoder,
            out,
        );
        // Checksums are noise: no codec makes them smaller.
        pieces().for_each(|piece| out.extend_from_slice(&piece.checksum.to_le_bytes()));
        let mut packed = Vec::new();
        if around == DirectoryFrame::Nothing && self.inline.len() > MAX_PLAIN {
            codec::compress(&self.inline, &mut packed);
        }
        // A stored length equal to the length of the blocks means that they are plain.
        let is_plain = packed.is_empty() || packed.len() >= self.inline.len();
        out.put_bytes(if is_plain { &self.inline } else { &packed });
        self.encode_zones(encoder, out);
    }

    fn encode_zones(&self, encoder: &mut Encoder, out: &mut Vec<u8>) {
        let mut ints = (Vec::new(), Vec::new());
        let mut floats = Vec::new();
        let here = self.places.iter().zip(&self.zones).filter(|(place, _)| **place != StoredAt::Absent);
        for (_, zone) in here {
            match *zone {
                ZoneMap::None => floats.extend([f64::NAN; 2]),
                ZoneMap::Ints { min, max } => {
                    ints.0.push(min);
                    ints.1.push(max.wrapping_sub(min));
                }
                ZoneMap::Floats { min, max } => floats.extend([min, max]),
            }
        }
        if !ints.0.is_empty() && floats.is_empty() {
            out.push(INT_ZONES);
            list::put_ints_with(&ints.0, encoder, out);
            list::put_ints_with(&ints.1, encoder, out);
        } else if floats.iter().any(|bound: &f64| !bound.is_nan()) {
            out.push(FLOAT_ZONES);
            floats.iter().for_each(|bound| out.extend_from_slice(&bound.to_le_bytes()));
        } else {
            out.push(NO_ZONES);
        }
    }

    /// Reads a directory of this many packs, without its zone maps. Only searches need the zone
    /// maps, and reading them takes as long as all the rest.
    pub fn decode(
        cursor: &mut Cursor<'_>,
        blocks: usize,
        decoder: &mut BlockDecoder,
        taken: &mut RoomShare<'_>,
    ) -> Result<Self> {
        taken.grow(blocks, PLACE_BYTES)?;
        let lens = list::read_ints_of_with(cursor, blocks, decoder)?;
        let pieces = lens.iter().filter(|&&len| len & 3 == PIECE).count();
        let offsets = list::read_ints_of_with(cursor, pieces, decoder)?;
        let mut places = Vec::with_capacity(blocks);
        let (mut inline_at, mut offsets) = (0_u32, offsets.iter());
        for len in lens {
            let (kind, len) = (len & 3, len >> 2);
            let len = u32::try_from(len).map_err(|_| cursor.corrupt())?;
            places.push(match kind {
                ABSENT if len == 0 => StoredAt::Absent,
                INLINE if len > 0 && len as usize <= MAX_INLINE_SMALL => {
                    let start = inline_at;
                    inline_at = start.checked_add(len).ok_or_else(|| cursor.corrupt())?;
                    StoredAt::Inline(start, len)
                }
                PIECE if len > 0 => {
                    let offset = offsets.next().ok_or_else(|| cursor.corrupt())?.cast_unsigned();
                    StoredAt::Piece(Piece { offset, len, checksum: cursor.u32()? })
                }
                _ => return Err(cursor.corrupt()),
            });
        }
        if inline_at as usize > MAX_INLINE_BYTES {
            return Err(cursor.corrupt());
        }
        taken.grow(inline_at as usize, 1)?;
        let stored = cursor.bytes()?;
        let mut inline = Vec::new();
        if stored.len() == inline_at as usize {
            inline.extend_from_slice(stored);
        } else {
            decoder.unpack(stored, inline_at as usize, &mut inline)?;
        }
        Ok(Self { places, zones: Vec::new(), inline })
    }

    /// Reads the zone maps of a directory of this many packs.
    pub fn decode_zones(
        cursor: &mut Cursor<'_>,
        blocks: usize,
        decoder: &mut BlockDecoder,
        taken: &mut RoomShare<'_>,
    ) -> Result<Vec<ZoneMap>> {
        taken.grow(blocks, ZONE_BYTES)?;
        let mut beside = taken.beside();
        let places = Self::decode(cursor, blocks, decoder, &mut beside)?.places;
        let present = places.iter().filter(|place| **place != StoredAt::Absent).count();
        let mut zones = read_zones(cursor, present, decoder)?.into_iter();
        cursor.finish()?;
        let zone = |place: &StoredAt| if *place == StoredAt::Absent { None } else { zones.next() };
        Ok(places.iter().map(zone).map(Option::unwrap_or_default).collect())
    }
}

fn read_zones(cursor: &mut Cursor<'_>, blocks: usize, decoder: &mut BlockDecoder) -> Result<Vec<ZoneMap>> {
    match cursor.u8()? {
        NO_ZONES => Ok(Vec::new()),
        INT_ZONES => {
            let mins = list::read_ints_of_with(cursor, blocks, decoder)?;
            let widths = list::read_ints_of_with(cursor, blocks, decoder)?;
            let zone = |(&min, &width): (&i64, &i64)| ZoneMap::Ints { min, max: min.wrapping_add(width) };
            Ok(mins.iter().zip(&widths).map(zone).collect())
        }
        FLOAT_ZONES => (0..blocks)
            .map(|_| {
                let (min, max) = (f64::from_bits(cursor.u64()?), f64::from_bits(cursor.u64()?));
                Ok(if min.is_nan() { ZoneMap::None } else { ZoneMap::Floats { min, max } })
            })
            .collect(),
        _ => Err(cursor.corrupt()),
    }
}

impl StoredAt {
    fn piece(self) -> Option<Piece> {
        match self {
            Self::Piece(piece) => Some(piece),
            Self::Absent | Self::Inline(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::SegmentRoom;
    use super::*;
    use crate::base::Error;

    #[track_caller]
    fn check(directory: &ColumnDirectory) {
        check_in(directory, DirectoryFrame::Nothing);
        check_in(directory, DirectoryFrame::Footer);
    }

    #[track_caller]
    fn check_in(directory: &ColumnDirectory, around: DirectoryFrame) {
        let mut bytes = Vec::new();
        directory.encode(around, &mut Encoder::default(), &mut bytes);
        let blocks = directory.places.len();
        let decode = |bytes: &[u8]| {
            let cursor = || Cursor::new(bytes, 0, "directory");
            let (room, mut decoder) = (SegmentRoom::of_file(0), BlockDecoder::default());
            let read = ColumnDirectory::decode(&mut cursor(), blocks, &mut decoder, &mut room.part())?;
            let zones = ColumnDirectory::decode_zones(&mut cursor(), blocks, &mut decoder, &mut room.part())?;
            Ok::<_, Error>(ColumnDirectory { zones, ..read })
        };
        assert_eq!(&decode(&bytes).unwrap(), directory);
        for keep in 0..bytes.len() {
            assert!(decode(&bytes[..keep]).is_err());
        }
    }

    #[test]
    fn directories_survive() {
        let piece = |offset| StoredAt::Piece(Piece { offset, len: 300, checksum: 0xdead_beef });
        let places =
            [piece(16), StoredAt::Absent, StoredAt::Inline(0, 3), StoredAt::Inline(3, 2), piece(900)];
        let with = |zone: fn(i64) -> ZoneMap| ColumnDirectory {
            places: places.to_vec(),
            zones: (0..)
                .zip(places)
                .map(|(at, place)| if place == StoredAt::Absent { ZoneMap::None } else { zone(at) })
                .collect(),
            inline: vec![1, 2, 3, 4, 5],
        };
        check(&with(|_| ZoneMap::None));
        check(&with(|at| ZoneMap::Ints { min: i64::MIN + at, max: i64::MAX }));
        check(&with(|at| ZoneMap::Floats { min: at as f64, max: 1e300 }));
        check(&ColumnDirectory::default());
        let long = vec![7; 4 * MAX_PLAIN];
        let places = vec![StoredAt::Inline(0, 5), StoredAt::Inline(5, long.len() as u32 - 5)];
        check(&ColumnDirectory { places, zones: vec![ZoneMap::None; 2], inline: long });
    }
}

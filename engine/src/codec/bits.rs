//! Fixed-width bit packing.
//!
//! Value `i` of width `w` takes the bits `i·w .. (i + 1)·w` of one little-endian stream. Bit `b` of
//! the stream is bit `b % 8` of byte `b / 8`. The last byte is padded with zeros. Unpacking reads
//! groups of eight values, which are exactly `w` bytes, by loads of 64 bits and shifts by
//! compile-time constants.

use super::MAX_VALUES;

/// Values in a group: the fewest that begin and end on a byte boundary at every width.
const GROUP: usize = 8;
/// Bytes that the last load of a group reads beyond the group.
const OVERREAD: usize = size_of::<u64>();
/// The widest value.
pub const MAX_WIDTH: u8 = 64;

const _: () = assert!(MAX_VALUES.checked_mul(MAX_WIDTH as usize).is_some(), "bit positions fit usize");

/// Fewest bits that hold every number up to `max`.
pub fn width_of(max: u64) -> u8 {
    (u64::BITS - max.leading_zeros()) as u8
}

/// Bytes that `count` values of `width` bits take.
pub fn packed_len(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(8)
}

/// Appends the low `width` bits of each value. The bits above must be zero.
pub fn pack(values: impl Iterator<Item = u64>, width: u8, out: &mut Vec<u8>) {
    let width = u32::from(width);
    if width == 0 {
        return;
    }
    let mut word = 0_u64;
    let mut filled = 0;
    for value in values {
        debug_assert!(width == u64::BITS || value >> width == 0, "value is wider than {width} bits");
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            // The rest of the value: 0 if the value ended at the word's end.
            word = value.checked_shr(width - filled).unwrap_or(0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Fills `out` from `packed`, which must hold exactly [`packed_len`] bytes. The width is at most
/// [`MAX_WIDTH`].
pub fn unpack(packed: &[u8], width: u8, out: &mut [i64]) {
    debug_assert_eq!(packed.len(), packed_len(out.len(), width));
    if width == 0 {
        out.fill(0);
        return;
    }
    let unpack_groups = UNPACK_GROUPS[usize::from(width)];
    // A group's loads reach up to OVERREAD bytes beyond the group, so the last groups read a padded
    // copy.
    let width = usize::from(width);
    let inside = (packed.len().saturating_sub(OVERREAD) / width).min(out.len() / GROUP);
    let (head, tail) = out.split_at_mut(inside * GROUP);
    unpack_groups(packed, head);
    let rest = &packed[inside * width..];
    let mut padded = [0; 2 * MAX_WIDTH as usize + 2 * OVERREAD];
    padded[..rest.len()].copy_from_slice(rest);
    let mut values = [0; TAIL_MAX];
    unpack_groups(&padded, &mut values[..tail.len().next_multiple_of(GROUP)]);
    tail.copy_from_slice(&values[..tail.len()]);
}

/// Most values of the padded copy. It has less than `width + OVERREAD` bytes, which at width 1 is
/// 72 values.
const TAIL_MAX: usize = (1 + OVERREAD) * GROUP;

fn unpack_groups<const WIDTH: usize>(packed: &[u8], out: &mut [i64]) {
    let mask = if WIDTH == 64 { u64::MAX } else { (1 << WIDTH) - 1 };
    let (groups, _) = out.as_chunks_mut::<GROUP>();
    for (index, group) in groups.iter_mut().enumerate() {
        let bytes = &packed[index * WIDTH..][..WIDTH + OVERREAD];
        for (i, value) in group.iter_mut().enumerate() {
            let (at, shift) = (i * WIDTH / 8, i * WIDTH % 8);
            let mut word = [0; OVERREAD];
            word.copy_from_slice(&bytes[at..at + OVERREAD]);
            let mut bits = u64::from_le_bytes(word) >> shift;
            if shift + WIDTH > 64 {
                bits |= u64::from(bytes[at + OVERREAD]) << (64 - shift);
            }
            *value = (bits & mask).cast_signed();
        }
    }
}

type UnpackGroups = fn(&[u8], &mut [i64]);

macro_rules! each_width {
    ($($width:literal)*) => { [$(unpack_groups::<$width>),*] };
}

const UNPACK_GROUPS: [UnpackGroups; MAX_WIDTH as usize + 1] = each_width!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(values: &[u64], width: u8) {
        let mut packed = Vec::new();
        pack(values.iter().copied(), width, &mut packed);
        assert_eq!(packed.len(), packed_len(values.len(), width), "length at width {width}");
        let mut read = vec![-1; values.len()];
        unpack(&packed, width, &mut read);
        let read: Vec<u64> = read.iter().map(|value| value.cast_unsigned()).collect();
        assert_eq!(read, values, "width {width}");
    }

    #[test]
    fn every_width_and_every_short_count() {
        for width in 0..=MAX_WIDTH {
            let ones = 1_u64.checked_shl(u32::from(width)).map_or(u64::MAX, |bit| bit - 1);
            for count in (0..160).chain([1000, 1024]) {
                let values: Vec<u64> = (0..count)
                    .map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) & ones)
                    .collect();
                check(&values, width);
                check(&vec![ones; values.len()], width);
            }
        }
    }

    #[test]
    fn the_stream_begins_with_the_low_bits() {
        let mut packed = Vec::new();
        pack([0b101, 0b011, 0b110].into_iter(), 3, &mut packed);
        assert_eq!(packed, [0b1001_1101, 0b0000_0001]);
    }

    #[test]
    fn the_width_of_a_number() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(width_of), [0, 1, 2, 8, 9, 64]);
    }

    proptest! {
        #[test]
        fn unpack_undoes_pack(values in prop::collection::vec(any::<u64>(), 0..300), width in 0..=MAX_WIDTH) {
            let ones = 1_u64.checked_shl(u32::from(width)).map_or(u64::MAX, |bit| bit - 1);
            check(&values.iter().map(|value| value & ones).collect::<Vec<_>>(), width);
        }
    }
}

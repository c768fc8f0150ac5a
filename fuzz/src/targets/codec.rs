//! Any bytes as an encoded column, and any values as a column: what can be decoded can be encoded
//! again, and what was encoded is decoded to the same values.

use crate::bound::within_reader;
use nprof_engine::codec::{
    decode_floats, decode_ints, decode_mask, decode_texts, encode_floats, encode_ints, encode_mask,
    encode_texts,
};

/// First bytes of an input: what to do, and the number of values.
const HEAD_LEN: usize = 3;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || read(bytes));
}

fn read(bytes: &[u8]) {
    let Some((head, rest)) = bytes.split_at_checked(HEAD_LEN) else { return };
    let count = usize::from(u16::from_le_bytes([head[1], head[2]]));
    match head[0] % 8 {
        0 => {
            let mut values = Vec::new();
            if decode_ints(rest, count, &mut values).is_ok() {
                assert_eq!(values.len(), count);
                ints(&values);
            }
        }
        1 => {
            let mut values = Vec::new();
            if decode_floats(rest, count, &mut values).is_ok() {
                assert_eq!(values.len(), count);
                floats(&values);
            }
        }
        2 => {
            if let Ok(found) = decode_texts(rest, count) {
                texts(&found.iter().collect::<Vec<_>>());
            }
        }
        3 => {
            let mut marks = Vec::new();
            if decode_mask(rest, count, &mut marks).is_ok() {
                assert_eq!(marks.len(), count);
                mask(&marks);
            }
        }
        4 => ints(&words(rest).map(u64::cast_signed).collect::<Vec<_>>()),
        // Neighbours that differ little, as times and counters do.
        5 => {
            let steps = rest.iter().scan(i64::MAX - 2_000, |sum, &step| {
                *sum = sum.wrapping_add(i64::from(step));
                Some(*sum)
            });
            ints(&steps.collect::<Vec<_>>());
        }
        6 => floats(&words(rest).map(f64::from_bits).collect::<Vec<_>>()),
        _ => {
            texts(
                &rest
                    .split(|&byte| byte == 0)
                    .filter_map(|text| str::from_utf8(text).ok())
                    .collect::<Vec<_>>(),
            );
            mask(&rest.iter().map(|byte| byte % 2 == 1).collect::<Vec<_>>());
        }
    }
}

/// Each eight bytes as a number.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word))
}

fn ints(values: &[i64]) {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    encode_ints(values, &mut bytes);
    decode_ints(&bytes, values.len(), &mut again).expect("it was just encoded");
    assert_eq!(again, values);
}

fn floats(values: &[f64]) {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    encode_floats(values, &mut bytes);
    decode_floats(&bytes, values.len(), &mut again).expect("it was just encoded");
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(values));
}

fn texts(values: &[&str]) {
    let mut bytes = Vec::new();
    encode_texts(values.iter().copied(), &mut bytes);
    let again = decode_texts(&bytes, values.len()).expect("it was just encoded");
    assert_eq!(again.iter().collect::<Vec<_>>(), values);
}

fn mask(marks: &[bool]) {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    encode_mask(marks, &mut bytes);
    decode_mask(&bytes, marks.len(), &mut again).expect("it was just encoded");
    assert_eq!(again, marks);
}

//! Runs of decimal digits, eight bytes at a time. A loop over bytes ends after as many steps as the
//! number has digits, which no processor predicts.

const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// Number of digits that the bytes begin with.
#[inline]
pub(crate) fn count(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut done = 0;
    for word in words {
        let count = leading(u64::from_le_bytes(*word));
        if count < 8 {
            return done + count;
        }
        done += 8;
    }
    // The zero bytes behind the rest are no digits.
    done + if rest.is_empty() { 0 } else { leading(few(rest)) }
}

/// Number of digits in the lowest bytes.
#[inline]
fn leading(word: u64) -> usize {
    let word = word ^ (ONES * u64::from(b'0'));
    // Digits are 0 to 9 now. A byte above 9 has its highest bit set, by itself or in the sum. A
    // carry reaches only bytes behind one that is no digit.
    let others = (word | word.wrapping_add(ONES * (0x7f - 9))) & (ONES << 7);
    others.trailing_zeros() as usize / 8
}

/// Fewer than eight bytes as a number, the first one lowest.
#[inline]
fn few(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // Both halves overlap, with the same bits.
        let shift = (bytes.len() - 4) as u32 * u8::BITS;
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// The number with these digits, at most 19.
#[inline]
pub(crate) fn number(digits: &[u8]) -> u64 {
    let (words, rest) = digits.as_chunks::<8>();
    let add = |sum: u64, word| sum.wrapping_mul(100_000_000).wrapping_add(eight(word));
    let whole = words.iter().fold(0, |sum, word| add(sum, u64::from_le_bytes(*word)));
    if rest.is_empty() {
        return whole;
    }
    // Zero bytes before the digits count as zeros.
    let rest_word = few(rest) << ((8 - rest.len()) as u32 * u8::BITS);
    whole.wrapping_mul(POWERS[rest.len()]).wrapping_add(eight(rest_word))
}

/// Powers of ten.
pub(crate) const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The number with these eight digits. Neighbours are added up to pairs, pairs to fours, fours to
/// all.
#[inline]
fn eight(digits: u64) -> u64 {
    const PAIRS: u64 = 10 << 8 | 1;
    const FOURS: u64 = 100 << 16 | 1;
    const ALL: u64 = 10_000 << 32 | 1;
    let ones = digits & (ONES * 0xf);
    let pairs = ones.wrapping_mul(PAIRS) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(FOURS) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(ALL) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_counted_and_read(value in 0..10_u64.pow(19), zeros in 0_usize..3, behind in any::<Vec<u8>>()) {
            let text = value.to_string();
            let text = format!("{}{text}", "0".repeat(zeros.min(19 - text.len())));
            let mut bytes = text.clone().into_bytes();
            bytes.extend(behind.iter().skip_while(|byte| byte.is_ascii_digit()));
            prop_assert_eq!(count(&bytes), text.len());
            prop_assert_eq!(number(text.as_bytes()), value);
        }

        #[test]
        fn any_byte_ends_a_run(before in 0_usize..20, other in any::<u8>(), behind in any::<[u8; 8]>()) {
            let mut bytes = vec![b'7'; before];
            bytes.push(other);
            bytes.extend(behind);
            let expected = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            prop_assert_eq!(count(&bytes), expected);
        }
    }
}

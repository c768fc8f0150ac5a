//! Bytes as text with seven bits a character, for `frontend/boot/unpack.js`.
//!
//! The bits are taken seven at a time, first bit first, and such a septet is the code of a
//! character. Three of the 128 codes cannot stand in an element: a parser replaces NUL and the
//! carriage return, and `<` could end the element. UTF-8 has two bytes for every code from 128 to
//! 2047, so a forbidden septet shares a character with the septet after it. That keeps the rate:
//! random bytes take 1.143 bytes each. They take 1.17 if a forbidden septet has a character of its
//! own, 1.25 as Z85, and 1.33 as base64.

/// Bits of a septet.
const BITS: u32 = 7;
/// Septets that cannot stand in an element as characters.
const FORBIDDEN: [u32; 3] = [0, b'\r' as u32, b'<' as u32];
/// Added to the last septet if it is forbidden. No septet is left to share its character.
const LAST: u32 = (FORBIDDEN.len() as u32 + 1) << BITS;

/// The text of these bytes. The last septet is filled up with zeros.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 7 * 8 + 2);
    let mut septets = septets_of(bytes);
    while let Some(septet) = septets.next() {
        let code = match FORBIDDEN.iter().position(|forbidden| *forbidden == septet) {
            None => septet,
            Some(at) => septets.next().map_or(LAST | septet, |after| (at as u32 + 1) << BITS | after),
        };
        text.extend(char::from_u32(code));
    }
    text
}

fn septets_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let count = (bytes.len() * 8).div_ceil(BITS as usize);
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut bytes = bytes.iter();
    (0..count).map(move |_| {
        if held < BITS {
            bits = bits << 8 | bytes.next().copied().map_or(0, u32::from);
            held += 8;
        }
        held -= BITS;
        bits >> held & 0x7f
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unpacks as `frontend/boot/unpack.js` does.
    fn bytes_of(text: &str) -> Vec<u8> {
        let septets = text.chars().map(u32::from).flat_map(|code| match code >> BITS {
            0 | 4 => vec![code & 0x7f],
            pair => vec![FORBIDDEN[pair as usize - 1], code & 0x7f],
        });
        let bits: Vec<u32> =
            septets.flat_map(|septet| (0..BITS).rev().map(move |bit| septet >> bit & 1)).collect();
        bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | *bit as u8)).collect()
    }

    #[test]
    fn text_has_nothing_that_a_parser_changes_and_gives_the_bytes_back() {
        let all: Vec<u8> = (0..=255).cycle().take(7 * 256).collect();
        // Seven bits of `<`, again and again.
        let angles = [0x78, 0xf1, 0xe3, 0xc7, 0x8f, 0x1e, 0x3c];
        for bytes in [&all[..], &angles, &[0; 15], b"\r\n\r\n", b""] {
            for len in 0..=bytes.len() {
                let text = text_of(&bytes[..len]);
                assert!(!text.contains(['\0', '\r', '<']), "{text:?}");
                assert_eq!(bytes_of(&text), bytes[..len]);
            }
        }
        assert_eq!(text_of(&angles), "\u{1bc}".repeat(4));
        assert_eq!(text_of(&[0; 2]), "\u{80}\u{200}");
    }

    #[test]
    fn all_bytes_take_eight_sevenths() {
        for byte in 0..=255 {
            let bytes = [byte; 7 * 64];
            let text_bytes = text_of(&bytes).len();
            // The last septet may be forbidden.
            assert!((8 * 64..=8 * 64 + 1).contains(&text_bytes), "{text_bytes} of {byte}");
        }
    }
}

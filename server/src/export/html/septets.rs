//! Bytes as text with seven bits a character, for `frontend/boot/unpack.js`.
//!
//! A character's code is its seven bits, first bit first. Three of the 128 codes cannot stand in an
//! element: a parser replaces NUL and the carriage return, and `<` could end the element. They get
//! 128 more, so the low seven bits of every character are its value. UTF-8 writes those in two
//! bytes: random bytes take 1.17 bytes each, 1.25 as Z85, and 1.33 as base64.

/// Bits of a character.
const BITS: u32 = 7;
/// Codes that cannot stand in an element.
const FORBIDDEN: [u8; 3] = [0, b'\r', b'<'];

/// The text of these bytes. The last character is filled up with zeros.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 6 * 7);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        while held >= BITS {
            held -= BITS;
            text.push(character(bits >> held));
        }
    }
    if held > 0 {
        text.push(character(bits << (BITS - held)));
    }
    text
}

/// The character of the low seven bits.
fn character(bits: u32) -> char {
    let value = (bits & 0x7f) as u8;
    char::from(if FORBIDDEN.contains(&value) { value | 0x80 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `frontend/boot/unpack.js` does.
    fn bytes_of(text: &str) -> Vec<u8> {
        let bits: Vec<u32> = text
            .chars()
            .flat_map(|char| (0..BITS).rev().map(move |bit| u32::from(char) >> bit & 1))
            .collect();
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
        assert_eq!(text_of(&angles), "\u{bc}".repeat(8));
    }
}

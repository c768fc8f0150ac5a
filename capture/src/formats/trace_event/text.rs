//! Strings as traces write them: escapes, surrogate pairs, raw control characters, invalid UTF-8.
//!
//! Every string is readable. An unknown escape stays as written. Half a surrogate pair and invalid
//! UTF-8 become U+FFFD.

use std::borrow::Cow;

use super::tokens::{Raw, ValueKind};

/// Whether the text had to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fidelity {
    /// The text is kept as written.
    Exact,
    /// The text has replacement characters.
    Adjusted,
}

/// Appends the string with these bytes, given without the quotes.
pub(super) fn decode(bytes: &[u8], out: &mut String) -> Fidelity {
    let mut fidelity = Fidelity::Exact;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        plain(&rest[..at], out, &mut fidelity);
        rest = escape(&rest[at + 1..], out, &mut fidelity);
    }
    plain(rest, out, &mut fidelity);
    fidelity
}

/// Appends bytes without escapes.
fn plain(bytes: &[u8], out: &mut String, fidelity: &mut Fidelity) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => {
            out.push_str(&String::from_utf8_lossy(bytes));
            *fidelity = Fidelity::Adjusted;
        }
    }
}

/// Appends one escape, without its backslash. Returns the bytes after it.
fn escape<'a>(bytes: &'a [u8], out: &mut String, fidelity: &mut Fidelity) -> &'a [u8] {
    let Some((&kind, rest)) = bytes.split_first() else {
        out.push('\\');
        return bytes;
    };
    let simple = match kind {
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(rest, out, fidelity),
        _ => {
            out.push('\\');
            return bytes;
        }
    };
    out.push(simple);
    rest
}

/// Appends `\uXXXX`, with the second half of a surrogate pair if it follows.
fn unicode<'a>(bytes: &'a [u8], out: &mut String, fidelity: &mut Fidelity) -> &'a [u8] {
    let Some((unit, rest)) = four_digits(bytes) else {
        out.push_str("\\u");
        return bytes;
    };
    if let Some(character) = char::from_u32(unit) {
        out.push(character);
        return rest;
    }
    let low = rest.strip_prefix(b"\\u").and_then(four_digits);
    if let (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, rest))) = (unit, low)
        && let Some(character) = char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
    {
        out.push(character);
        return rest;
    }
    out.push(char::REPLACEMENT_CHARACTER);
    *fidelity = Fidelity::Adjusted;
    rest
}

fn four_digits(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let unit = digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | char::from(digit).to_digit(16)?))?;
    Some((unit, rest))
}

/// Appends a JSON string with its quotes.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                out.push_str("\\u00");
                out.push(if character < '\u{10}' { '0' } else { '1' });
                out.push(char::from_digit(u32::from(character) & 15, 16).unwrap_or('0'));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// A value as text.
pub(super) fn text_of(bytes: &[u8], raw: Raw) -> Cow<'_, str> {
    let inside = raw.of(bytes);
    if raw.kind() == ValueKind::Escaped {
        let mut decoded = String::with_capacity(inside.len());
        decode(inside, &mut decoded);
        return Cow::Owned(decoded);
    }
    // This check reads eight bytes of ASCII at once. The lossy conversion goes byte by byte. The
    // length is known: reading both parts of the result at once would wait for their writing.
    match std::str::from_utf8(inside).ok().and_then(|text| text.get(..inside.len())) {
        Some(text) => Cow::Borrowed(text),
        None => String::from_utf8_lossy(inside),
    }
}

/// A value as the bytes of its text, which need not be valid UTF-8.
pub(super) fn bytes_of(bytes: &[u8], raw: Raw) -> Cow<'_, [u8]> {
    match raw.kind() {
        ValueKind::Escaped => Cow::Owned(text_of(bytes, raw).into_owned().into_bytes()),
        _ => Cow::Borrowed(raw.of(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str, fidelity: Fidelity) {
        let mut out = String::new();
        assert_eq!(decode(bytes, &mut out), fidelity);
        assert_eq!(out, expected);
    }

    #[test]
    fn escapes() {
        check(br#"a\"\\\/\b\f\n\r\tz"#, "a\"\\/\u{8}\u{c}\n\r\tz", Fidelity::Exact);
        check(br"h\u00e9\ud83d\ude00", "hé😀", Fidelity::Exact);
        check("hé😀".as_bytes(), "hé😀", Fidelity::Exact);
    }

    #[test]
    fn unknown_escapes_stay() {
        check(br"C:\q", "C:\\q", Fidelity::Exact);
        check(br"\u12", "\\u12", Fidelity::Exact);
        check(br"end\", "end\\", Fidelity::Exact);
    }

    #[test]
    fn what_cannot_be_text_is_replaced() {
        check(br"\ud83d!", "\u{fffd}!", Fidelity::Adjusted);
        check(br"\ude00\ud83d", "\u{fffd}\u{fffd}", Fidelity::Adjusted);
        check(b"a\xffb", "a\u{fffd}b", Fidelity::Adjusted);
    }

    proptest! {
        #[test]
        fn quoting_is_undone_by_reading(text in "\\PC*|[\\x00-\\x7f]*") {
            let mut quoted = String::new();
            quote(&text, &mut quoted);
            let mut read = String::new();
            let inside = &quoted.as_bytes()[1..quoted.len() - 1];
            prop_assert_eq!(decode(inside, &mut read), Fidelity::Exact);
            prop_assert_eq!(&read, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }
    }
}

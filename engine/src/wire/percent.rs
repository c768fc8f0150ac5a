//! Percent-encoding of text as a part of a URL.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All but the unreserved characters of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Escapes every character that is not safe in all parts of a URL.
#[must_use]
pub fn percent_encoded(text: &str) -> String {
    percent_escapes(text).to_string()
}

/// Like [`percent_encoded`], for writing into a longer text.
pub(super) fn percent_escapes(text: &str) -> impl fmt::Display {
    utf8_percent_encode(text, ESCAPED)
}

/// Reverses [`percent_encoded`]; `None` for a broken escape or broken UTF-8.
#[must_use]
pub fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    let is_escape = |part: &str| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok()
}

/// Decodes a query parameter, in which forms write a space as `+`.
#[must_use]
pub fn parameter_decoded(text: &str) -> Option<String> {
    percent_decoded(&text.replace('+', "%20")).map(Cow::into_owned)
}

//! Nested values as compact JSON that any reader accepts.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::text;
use super::tokens::{Raw, Tail, TokenStop, Tokens, ValueKind};

/// Recent values and their compact forms, by hash. Shapes and types of tensors repeat.
#[derive(Debug)]
pub(super) struct Compacted {
    places: Vec<(Vec<u8>, String)>,
}

impl Default for Compacted {
    fn default() -> Self {
        Self { places: vec![Default::default(); Self::PLACES] }
    }
}

impl Compacted {
    const PLACES: usize = 1 << 10;
    /// Longest value that is remembered, so that all values together take few megabytes.
    const MAX_LEN: usize = 1 << 9;

    /// Appends the same as [`compact`].
    pub(super) fn append(&mut self, bytes: &[u8], out: &mut String) -> Result<(), TokenStop> {
        if bytes.len() > Self::MAX_LEN {
            return compact(bytes, out);
        }
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let (known, text) = &mut self.places[(hasher.finish() >> 32) as usize % Self::PLACES];
        if known.as_slice() != bytes || bytes.is_empty() {
            known.clear();
            text.clear();
            compact(bytes, text)?;
            known.extend_from_slice(bytes);
        }
        out.push_str(text);
        Ok(())
    }
}

/// Appends the value as compact JSON: no white space, no comments, no extra commas. Values that
/// JSON cannot express (NaN, foreign words) become strings. `Err` if the brackets hold something
/// else than keys and values; `out` is unchanged then.
pub(in crate::formats) fn compact(bytes: &[u8], out: &mut String) -> Result<(), TokenStop> {
    let before = out.len();
    if plain(bytes, out) {
        return Ok(());
    }
    out.truncate(before);
    let result = write(bytes, out);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

/// Appends an object of these members. Values that are no JSON become strings.
pub(super) fn object(members: impl Iterator<Item = (Raw, Raw)>, bytes: &[u8], out: &mut String) {
    out.push('{');
    for (key, value) in members {
        if !out.ends_with('{') {
            out.push(',');
        }
        string(key.of(bytes), out);
        out.push(':');
        any(value, bytes, out);
    }
    out.push('}');
}

/// Appends any value. A value that is no JSON becomes a string.
pub(super) fn any(value: Raw, bytes: &[u8], out: &mut String) {
    let inside = value.of(bytes);
    let is_nested = matches!(value.kind(), ValueKind::Object | ValueKind::Array);
    if !is_nested {
        scalar(value, bytes, out);
    } else if compact(inside, out).is_err() {
        text::quote(&String::from_utf8_lossy(inside), out);
    }
}

/// Fast path for the usual case: arrays of numbers and of plain strings, such as the shapes and
/// types of tensors. Returns `false` for anything else; `out` can then hold a part of it.
fn plain(bytes: &[u8], out: &mut String) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // Kind of the token before; at first a comma, because a value can follow.
    let (mut last, mut depth) = (b',', 0_usize);
    // Bytes between blanks are copied in runs. The current run begins at `start`.
    let (mut at, mut start) = (0, 0);
    while let Some(&first) = bytes.get(at) {
        let is_value_next = matches!(last, b'[' | b',');
        let mut len = 1;
        match first {
            b' ' | b'\n' => {
                out.push_str(&text[start..at]);
                start = at + 1;
            }
            b'[' if is_value_next => (last, depth) = (b'[', depth + 1),
            b',' if !is_value_next => last = b',',
            b']' if last != b',' && depth > 0 => (last, depth) = (b']', depth - 1),
            b'0'..=b'9' | b'-' if is_value_next => {
                let is_inside = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
                let rest = &bytes[at..];
                len = rest.iter().position(|byte| !is_inside(byte)).unwrap_or(rest.len());
                if !is_json_number(&rest[..len]) {
                    return false;
                }
                last = b'0';
            }
            b'"' if is_value_next && depth > 0 => {
                let inside = &bytes[at + 1..];
                let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
                let Some(end) = inside.iter().position(ends).filter(|&end| inside[end] == b'"') else {
                    return false;
                };
                (last, len) = (b'0', end + 2);
            }
            _ => return false,
        }
        at += len;
    }
    let is_whole = last == b']' && depth == 0;
    if is_whole {
        out.push_str(&text[start..]);
    }
    is_whole
}

fn write(bytes: &[u8], out: &mut String) -> Result<(), TokenStop> {
    let mut tokens = Tokens::new(bytes, Tail::Closed);
    // For each open bracket, whether it is an object's. The tokenizer that found the value has
    // limited their number.
    let mut open: Vec<bool> = Vec::new();
    loop {
        let byte = tokens.peek_item()?.0;
        if let (Some(&object), b'}' | b']') = (open.last(), byte) {
            if object != (byte == b'}') {
                return Err(TokenStop::Damaged("a closing bracket of the wrong kind"));
            }
            tokens.advance();
            out.push(char::from(byte));
            open.pop();
        } else {
            if !out.ends_with(['{', '[']) && !open.is_empty() {
                out.push(',');
            }
            if open.last() == Some(&true) {
                let key = tokens.key()?;
                string(key.of(bytes), out);
                out.push(':');
            }
            match tokens.peek()? {
                bracket @ (b'{' | b'[') => {
                    tokens.advance();
                    out.push(char::from(bracket));
                    open.push(bracket == b'{');
                }
                _ => {
                    let value = tokens.value()?;
                    scalar(value, bytes, out);
                }
            }
        }
        if open.is_empty() {
            return Ok(());
        }
    }
}

/// Appends a value that has no brackets.
fn scalar(value: Raw, bytes: &[u8], out: &mut String) {
    let inside = value.of(bytes);
    match (value.kind(), std::str::from_utf8(inside)) {
        (ValueKind::True, _) => out.push_str("true"),
        (ValueKind::False, _) => out.push_str("false"),
        (ValueKind::Null, _) => out.push_str("null"),
        (ValueKind::Number, Ok(number)) if is_json_number(inside) => out.push_str(number),
        _ => string(inside, out),
    }
}

fn string(inside: &[u8], out: &mut String) {
    let mut decoded = String::new();
    text::decode(inside, &mut decoded);
    text::quote(&decoded, out);
}

/// Whether JSON itself accepts the number: no leading zeros or plus, digits on both sides of the
/// point.
fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = String::from("[");
        compact(text.as_bytes(), &mut out).unwrap();
        assert_eq!(&out[1..], expected, "{text}");
        let mut compacted = Compacted::default();
        for _ in 0..2 {
            out.clear();
            compacted.append(text.as_bytes(), &mut out).unwrap();
            assert_eq!(out, expected, "{text}");
        }
        serde_json::from_str::<serde_json::Value>(expected).unwrap();
    }

    #[test]
    fn what_comes_out_is_json() {
        check(r#"{ "a" : [ 1 , 2.5e-3, ], b: {} }"#, r#"{"a":[1,2.5e-3],"b":{}}"#);
        check(
            "[NaN, -Infinity, None, True, maybe, 01, 1., .5]",
            r#"["NaN","-Infinity",null,true,"maybe","01","1.",".5"]"#,
        );
        check("{'it': 'C:\\q', /* why */ \"b\": \"\\ud83d\\ude00\"}", r#"{"it":"C:\\q","b":"😀"}"#);
        check("[[],[[]],{}]", "[[],[[]],{}]");
        check("[[ -1, 2.5e-3 ],\n [],[7]]", "[[-1,2.5e-3],[],[7]]");
        check("[1 2,,3,]", "[1,2,3]");
        check("[01,[],-]", r#"["01",[],"-"]"#);
        check(r#"[ "a", ["", 1, "é [,]"], "b" ]"#, r#"["a",["",1,"é [,]"],"b"]"#);
        check("[\"a\\\"b\", \"\\/\", \"\t\"]", r#"["a\"b","/","\t"]"#);
        check(r#"["a""b" "c",]"#, r#"["a","b","c"]"#);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        for text in [r#"{"a" 1}"#, "[1:2]", "{1}", "[", "[}", "[[]", "[1", "[\"a", "[\"a\""] {
            let mut out = String::from("before");
            assert!(compact(text.as_bytes(), &mut out).is_err(), "{text}");
            let mut compacted = Compacted::default();
            assert!([(); 2].iter().all(|()| compacted.append(text.as_bytes(), &mut out).is_err()), "{text}");
            assert_eq!(out, "before");
        }
    }
}

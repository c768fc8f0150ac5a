//! A tolerant pull tokenizer over bytes in memory.
//!
//! It knows nothing of events. Its results are spans of the bytes, so that a caller can keep many
//! of them at once. It accepts JSON with comments, extra or missing commas, single quotes, bare
//! keys, and the words of other languages (`NaN`, `None` …).

use super::digits;

/// Deepest nesting that is accepted. No trace needs more, and a hostile one could fill the memory.
const MAX_DEPTH: u32 = 128;

/// Reason why there is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenStop {
    /// The bytes end before the token does.
    Incomplete,
    /// The bytes are malformed, with the reason.
    Damaged(&'static str),
}

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ValueKind {
    /// There is no value.
    #[default]
    Absent,
    /// A string without escapes. The span excludes the quotes.
    Text,
    /// A string with escapes. The span excludes the quotes.
    Escaped,
    /// A number, or one of NaN and the infinities.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
    /// Some other word.
    Word,
    /// `{…}` with its brackets.
    Object,
    /// `[…]` with its brackets.
    Array,
}

impl ValueKind {
    /// All kinds, in the order of their codes.
    const ALL: [Self; 10] = [
        Self::Absent,
        Self::Text,
        Self::Escaped,
        Self::Number,
        Self::True,
        Self::False,
        Self::Null,
        Self::Word,
        Self::Object,
        Self::Array,
    ];
}

/// Kind and span of a value, in one word: the kind in the lowest bits, then the start, then the
/// end. Written in parts and read as a whole, each value would stall the processor.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Raw(u64);

const KIND_BITS: u32 = 4;
const BOUND_BITS: u32 = 30;
/// Largest bound. Windows are far smaller (`scan::MAX_ITEM_LEN`), so bounds always fit.
const MAX_BOUND: usize = (1 << BOUND_BITS) - 1;
/// One more byte before both bounds.
const BOTH_BOUNDS: u64 = 1 << KIND_BITS | 1 << (KIND_BITS + BOUND_BITS);

impl Raw {
    #[inline]
    fn new(kind: ValueKind, start: usize, end: usize) -> Self {
        let bound = |at: usize| at.min(MAX_BOUND) as u64;
        Self(kind as u64 | bound(start) << KIND_BITS | bound(end) << (KIND_BITS + BOUND_BITS))
    }

    /// A value without a span, if only the kind matters.
    pub(crate) fn without_extent(kind: ValueKind) -> Self {
        Self::new(kind, 0, 0)
    }

    #[inline]
    pub(crate) fn kind(self) -> ValueKind {
        let code = self.0 as usize % (1 << KIND_BITS);
        ValueKind::ALL.get(code).copied().unwrap_or_default()
    }

    fn start(self) -> usize {
        (self.0 >> KIND_BITS) as usize & MAX_BOUND
    }

    fn end(self) -> usize {
        (self.0 >> (KIND_BITS + BOUND_BITS)) as usize
    }

    /// The same value in bytes with `by` more before them.
    #[inline]
    pub(crate) fn moved(self, by: usize) -> Self {
        debug_assert!(self.end() + by <= MAX_BOUND, "bounds always fit");
        Self(self.0.wrapping_add((by as u64).wrapping_mul(BOTH_BOUNDS)))
    }

    /// The same value in bytes with `by` fewer before them.
    pub(crate) fn moved_back(self, by: usize) -> Self {
        Self::new(self.kind(), self.start().saturating_sub(by), self.end().saturating_sub(by))
    }

    /// Bytes of the value. `bytes` must be those that the tokenizer was given.
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start()..self.end()).unwrap_or_default()
    }

    /// Whether there is a value.
    pub(crate) fn is_present(self) -> bool {
        self.kind() != ValueKind::Absent
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}..{}", self.kind(), self.start(), self.end())
    }
}

/// Whether more bytes can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The input goes on.
    Open,
    /// The input ends here.
    Closed,
}

/// A tokenizer over bytes.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    tail: Tail,
}

impl<'a> Tokens<'a> {
    /// A tokenizer of bytes, which must not begin inside a token.
    pub(crate) fn new(bytes: &'a [u8], tail: Tail) -> Self {
        Self { bytes, at: 0, tail }
    }

    /// All bytes, read and unread.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bytes read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The unread bytes.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips one byte that has been peeked at.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// Skips bytes whose tokens are known.
    pub(crate) fn skip(&mut self, len: usize) {
        self.at += len;
    }

    /// Skips white space and comments. Returns the next byte, which stays unread. `Incomplete` at
    /// the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, TokenStop> {
        match self.bytes.get(self.at) {
            Some(&byte) if !BEFORE_TOKEN[usize::from(byte)] => Ok(byte),
            _ => self.peek_behind(),
        }
    }

    fn peek_behind(&mut self) -> Result<u8, TokenStop> {
        loop {
            self.skip_spaces();
            match self.bytes.get(self.at) {
                None => return Err(TokenStop::Incomplete),
                Some(0xef) if self.bytes[self.at..].starts_with(b"\xef\xbb\xbf") => self.at += 3,
                Some(b'/') => self.comment()?,
                Some(&byte) => return Ok(byte),
            }
        }
    }

    /// Skips white space eight bytes at a time, because a fifth of an indented trace is white
    /// space.
    fn skip_spaces(&mut self) {
        let mut at = self.at;
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(at) {
            at += 1;
            while self.bytes.get(at..at + 8) == Some(b"        ") {
                at += 8;
            }
        }
        self.at = at;
    }

    /// Skips white space, comments and commas. Returns the next byte, and the number of commas.
    #[inline]
    pub(crate) fn peek_item(&mut self) -> Result<(u8, u32), TokenStop> {
        let mut commas = 0;
        loop {
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    commas += 1;
                }
                byte => return Ok((byte, commas)),
            }
        }
    }

    fn comment(&mut self) -> Result<(), TokenStop> {
        let rest = &self.bytes[self.at..];
        match rest.get(1) {
            None => Err(TokenStop::Incomplete),
            Some(b'/') => match memchr::memchr(b'\n', rest) {
                Some(line) => {
                    self.at += line + 1;
                    Ok(())
                }
                None => Err(TokenStop::Incomplete),
            },
            Some(b'*') => match memchr::memmem::find(&rest[2..], b"*/") {
                Some(inside) => {
                    self.at += inside + 4;
                    Ok(())
                }
                None => Err(TokenStop::Incomplete),
            },
            Some(_) => Err(TokenStop::Damaged("a stray `/`")),
        }
    }

    /// Reads a key with its colon.
    pub(crate) fn key(&mut self) -> Result<Raw, TokenStop> {
        let key = match self.peek()? {
            quote @ (b'"' | b'\'') => self.text(quote)?,
            _ => self.bare()?,
        };
        if self.peek()? != b':' {
            return Err(TokenStop::Damaged("a key without a colon"));
        }
        self.at += 1;
        Ok(key)
    }

    /// Reads any value. Only the extent of objects and arrays is read.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Result<Raw, TokenStop> {
        // Usually there is no unread byte before the value, and it is a text or a number.
        match self.bytes.get(self.at) {
            Some(b'"') => self.text(b'"'),
            Some(b'0'..=b'9' | b'-') if let Some(end) = plain_number(self.bytes, self.at) => {
                let start = std::mem::replace(&mut self.at, end);
                Ok(Raw::new(ValueKind::Number, start, end))
            }
            _ => self.other_value(),
        }
    }

    fn other_value(&mut self) -> Result<Raw, TokenStop> {
        match self.peek()? {
            quote @ (b'"' | b'\'') => self.text(quote),
            b'{' => self.nested(ValueKind::Object),
            b'[' => self.nested(ValueKind::Array),
            _ => self.bare(),
        }
    }

    #[inline]
    fn text(&mut self, quote: u8) -> Result<Raw, TokenStop> {
        let start = self.at + 1;
        let mut kind = ValueKind::Text;
        let mut at = start;
        loop {
            let rest = self.bytes.get(at..).ok_or(TokenStop::Incomplete)?;
            at += quote_or_escape(quote, rest).ok_or(TokenStop::Incomplete)?;
            if self.bytes[at] == quote {
                self.at = at + 1;
                return Ok(Raw::new(kind, start, at));
            }
            kind = ValueKind::Escaped;
            at += 2;
        }
    }

    /// Reads a number or a word: everything up to the next separator.
    fn bare(&mut self) -> Result<Raw, TokenStop> {
        let start = self.at;
        if let Some(end) = plain_number(self.bytes, start) {
            self.at = end;
            return Ok(Raw::new(ValueKind::Number, start, end));
        }
        let rest = &self.bytes[start..];
        let len = match rest.iter().position(|&byte| ENDS_BARE[usize::from(byte)]) {
            Some(0) => return Err(TokenStop::Damaged("an unexpected character")),
            Some(len) => len,
            None if self.tail == Tail::Open => return Err(TokenStop::Incomplete),
            None => rest.len(),
        };
        let word = &rest[..len];
        let kind = match word {
            [b'0'..=b'9' | b'-' | b'+' | b'.', ..] => ValueKind::Number,
            b"true" | b"True" => ValueKind::True,
            b"false" | b"False" => ValueKind::False,
            b"null" | b"None" | b"nil" | b"undefined" => ValueKind::Null,
            b"NaN" | b"nan" | b"Infinity" | b"inf" => ValueKind::Number,
            _ => ValueKind::Word,
        };
        self.at = start + len;
        Ok(Raw::new(kind, start, self.at))
    }

    /// Reads the extent of an object or array, by its brackets.
    fn nested(&mut self, kind: ValueKind) -> Result<Raw, TokenStop> {
        let start = self.at;
        // One bit a level, 1 for objects, which decides the closing bracket.
        let mut levels = 0_u128;
        let mut depth = 0;
        loop {
            let rest = &self.bytes[self.at..];
            let step =
                rest.iter().position(|&byte| STRUCTURE[usize::from(byte)]).ok_or(TokenStop::Incomplete)?;
            self.at += step;
            match self.bytes[self.at] {
                quote @ (b'"' | b'\'') => {
                    self.text(quote)?;
                    continue;
                }
                b'/' => {
                    self.comment()?;
                    continue;
                }
                b'{' | b'[' if depth == MAX_DEPTH => {
                    return Err(TokenStop::Damaged("brackets nested more than 128 deep"));
                }
                open @ (b'{' | b'[') => {
                    levels = levels << 1 | u128::from(open == b'{');
                    depth += 1;
                }
                close => {
                    if (levels & 1 == 1) != (close == b'}') {
                        return Err(TokenStop::Damaged("a closing bracket of the wrong kind"));
                    }
                    levels >>= 1;
                    depth -= 1;
                }
            }
            self.at += 1;
            if depth == 0 {
                return Ok(Raw::new(kind, start, self.at));
            }
        }
    }
}

/// The end of the number that begins at `start`: digits with or without a point, then a separator.
#[inline]
fn plain_number(bytes: &[u8], start: usize) -> Option<usize> {
    let after_sign = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut end = after_sign + digits::count(bytes.get(after_sign..)?);
    if end == after_sign {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits::count(&bytes[end + 1..]);
    }
    bytes.get(end).filter(|&&byte| ENDS_BARE[usize::from(byte)]).map(|_| end)
}

/// Position of the quote or a backslash.
#[inline]
fn quote_or_escape(quote: u8, bytes: &[u8]) -> Option<usize> {
    /// Words to search inline. Longer strings are worth the call of a vectorised search.
    const SHORT_WORDS: usize = 4;
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    // The lowest bit that this sets is that of the first zero byte.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(SHORT_WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = zeros(word ^ (ONES * u64::from(quote))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if hits != 0 {
            return Some(index * 8 + hits.trailing_zeros() as usize / 8);
        }
    }
    let done = words.len().min(SHORT_WORDS) * 8;
    memchr::memchr2(quote, b'\\', &bytes[done..]).map(|at| done + at)
}

const fn table(members: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < members.len() {
        table[members[index] as usize] = true;
        index += 1;
    }
    table
}

/// Bytes that can come before a token: white space, a comment, a byte order mark.
static BEFORE_TOKEN: [bool; 256] = table(b" \t\r\n/\xef");

/// Bytes that end a number or a word.
static ENDS_BARE: [bool; 256] = table(b" \t\r\n,:]}[{\"'/");

/// Bytes that matter between the brackets of a nested value.
static STRUCTURE: [bool; 256] = table(b"{}[]\"'/");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, kind: ValueKind, inside: &str) {
        let mut tokens = Tokens::new(bytes.as_bytes(), Tail::Closed);
        let raw = tokens.value().unwrap();
        assert_eq!(
            (raw.kind(), std::str::from_utf8(raw.of(bytes.as_bytes())).unwrap()),
            (kind, inside),
            "{bytes}"
        );
    }

    #[test]
    fn values() {
        check(r#" "a""#, ValueKind::Text, "a");
        check(r#""a\"b" "#, ValueKind::Escaped, r#"a\"b"#);
        check("'it' ", ValueKind::Text, "it");
        check("// why\n /* not */ -1.5e3,", ValueKind::Number, "-1.5e3");
        check("NaN}", ValueKind::Number, "NaN");
        check("None", ValueKind::Null, "None");
        check("True]", ValueKind::True, "True");
        check("maybe", ValueKind::Word, "maybe");
        check(
            r#"{"a]":[{}, "}"], /* } */ b: 1} tail"#,
            ValueKind::Object,
            r#"{"a]":[{}, "}"], /* } */ b: 1}"#,
        );
        check("[1,[2]]]", ValueKind::Array, "[1,[2]]");
    }

    #[test]
    fn every_cut_is_incomplete() {
        let whole = br#"{"a":[1,"\"x",{}],"b":/* c */'d'}"#;
        for keep in 0..whole.len() {
            let mut tokens = Tokens::new(&whole[..keep], Tail::Open);
            assert_eq!(tokens.value(), Err(TokenStop::Incomplete), "cut at {keep}");
        }
    }

    #[test]
    fn strings_of_any_length_end_at_their_quote() {
        for len in 0..80 {
            let plain = "x".repeat(len);
            check(&format!("\"{plain}\"\\"), ValueKind::Text, &plain);
            check(&format!("\"{plain}\\\"é\" \""), ValueKind::Escaped, &format!("{plain}\\\"é"));
            let spaces = " ".repeat(len);
            check(&format!("\n{spaces}\t7 "), ValueKind::Number, "7");
        }
    }

    #[test]
    fn brackets_must_match_and_end_somewhere() {
        let damaged =
            |bytes: &[u8]| matches!(Tokens::new(bytes, Tail::Closed).value(), Err(TokenStop::Damaged(_)));
        assert!(damaged(b"[1}"));
        assert!(damaged(&[b'['; 1000]));
        assert!(damaged(b":"));
        assert!(damaged(b"/x"));
    }
}

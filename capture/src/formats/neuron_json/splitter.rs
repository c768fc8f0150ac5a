//! Finds the rows of an object of arrays of objects in a stream, without parsing them.
//!
//! A row is found by matching brackets outside strings. If a quote is lost, strings and the text
//! between them change places. The seam between two rows, `},{"`, then seems to lie in a string. If
//! a bracket is lost, a row seems to lie in the row before it. The splitter remembers such places.
//! If a row turns out to be damaged, the search restarts there.

use super::input::Input;
use nprof_engine::exec::step;
use nprof_engine::makers::neuron::schema;

/// Longest row in bytes; beyond it something is broken. The largest rows of neuron-profile have
/// some 30 KiB.
pub(super) const MAX_ROW: usize = 16 << 20;

/// Bytes to follow a row after a seam between rows seemed to lie in one of its strings. This bounds
/// the work that damage costs, since these bytes are scanned again.
const AFTER_SEAM: usize = 8 << 10;
/// The same once all such bytes are more than [`AGAIN_FREE`] and [`AGAIN_RATIO`] for each byte
/// before the row.
const LITTLE_AFTER_SEAM: usize = 64;
const AGAIN_FREE: u64 = 1 << 20;
const AGAIN_RATIO: u64 = 16;

/// Longest key of a table in bytes.
const MAX_KEY: usize = 1 << 10;

/// One piece of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputPiece {
    /// A table starts. The text is its key as JSON. The rows that follow belong to it.
    Table(String),
    /// An object of the table; see [`Splitter::text`].
    Row,
    /// A value under a key in the place of a table; see [`Splitter::text`].
    Scalar(String),
    /// Unexpected bytes were skipped. The text is the reason.
    Damage(&'static str),
    /// The input ends before the outermost object does.
    CutOff,
    /// The outermost object ends.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Before the outermost object.
    Outside,
    /// Between tables.
    Tables,
    /// Between the rows of a table.
    Rows,
    /// A single object stands in for the table's rows.
    OnlyRow,
}

pub(super) struct Splitter<'a> {
    input: Input<'a>,
    depth: Depth,
    /// Length of the row or value that [`Splitter::text`] returns.
    current: usize,
    /// Bytes to skip before the next piece.
    passed: usize,
    /// Possible start of the next row, relative to this one, if this one is damaged.
    seam: Option<usize>,
    /// Bytes that were followed behind seams so far, and are scanned again.
    again: u64,
    /// Open brackets at the point up to which the current row has been followed.
    open: Vec<u8>,
    /// How many of them are braces.
    braces: usize,
    /// Whether the outermost object has ended.
    ended: bool,
}

/// Result of the search for the end of an object.
enum ObjectEnd {
    /// Length of the object.
    Complete(usize),
    /// Longer than allowed. The number is the length that was scanned.
    TooLong(usize),
    CutOff,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self {
            input,
            depth: Depth::Outside,
            current: 0,
            passed: 0,
            seam: None,
            again: 0,
            open: Vec::new(),
            braces: 0,
            ended: false,
        }
    }

    /// Offset of the current piece in the input.
    pub(super) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// The bytes of the current row or value.
    pub(super) fn text(&self) -> &[u8] {
        self.input.here().get(..self.current).unwrap_or_default()
    }

    /// Rejects the current row as unreadable. The search continues inside it if its bounds are in
    /// doubt.
    pub(super) fn reject(&mut self) {
        if let Some(seam) = self.seam {
            self.restart(seam, self.current);
        }
    }

    /// Continues at a seam within the bytes that were followed.
    fn restart(&mut self, seam: usize, followed: usize) {
        self.passed = seam;
        self.again += followed.saturating_sub(seam) as u64;
        step(followed.saturating_sub(seam));
    }

    /// Bytes to follow the current row after a seam.
    fn after_seam(&self) -> usize {
        let most = AGAIN_FREE.saturating_add(self.input.offset().saturating_mul(AGAIN_RATIO));
        if self.again < most { AFTER_SEAM } else { LITTLE_AFTER_SEAM }
    }

    /// Moves to the next piece.
    pub(super) fn next(&mut self) -> std::io::Result<InputPiece> {
        self.input.skip(std::mem::take(&mut self.passed));
        self.current = 0;
        self.seam = None;
        match self.depth {
            Depth::Outside => {
                self.input.skip_while(|byte| byte.is_ascii_whitespace() || byte >= 0x80)?;
                self.input.skip(1);
                self.depth = Depth::Tables;
                self.table()
            }
            Depth::Tables => self.table(),
            Depth::Rows => self.row(),
            Depth::OnlyRow => {
                self.depth = Depth::Tables;
                self.object()
            }
        }
    }

    fn table(&mut self) -> std::io::Result<InputPiece> {
        match self.input.skip_while(is_between)? {
            None => Ok(InputPiece::CutOff),
            Some(b'"') => match self.key()? {
                Some(key) => self.value(key),
                None => {
                    self.input.skip(1);
                    self.damage("a key without a value", |byte| byte != b'"' && byte != b'}' && byte != b'{')
                }
            },
            Some(b'}') => {
                self.ended = true;
                self.input.skip(1);
                match self.input.skip_while(is_between)? {
                    None => Ok(InputPiece::End),
                    Some(_) => Ok(InputPiece::Damage("text after the end")),
                }
            }
            Some(b'{') => {
                // A row outside a table: the end of the table was detected too early.
                self.depth = Depth::Rows;
                Ok(InputPiece::Damage("a row outside a table"))
            }
            Some(_) => {
                self.damage("text between tables", |byte| byte != b'"' && byte != b'}' && byte != b'{')
            }
        }
    }

    /// Reads `"key":`. Reads nothing if there is something else.
    fn key(&mut self) -> std::io::Result<Option<String>> {
        let Some(end) = self.string_end(0, MAX_KEY)? else { return Ok(None) };
        let key = String::from_utf8_lossy(self.input.here().get(..end).unwrap_or_default()).into_owned();
        let mut at = end;
        while self.input.peek(at)?.is_some_and(|byte| byte.is_ascii_whitespace()) && at < end + MAX_KEY {
            at += 1;
        }
        if self.input.peek(at)? != Some(b':') {
            return Ok(None);
        }
        self.input.skip(at + 1);
        Ok(Some(key))
    }

    fn value(&mut self, key: String) -> std::io::Result<InputPiece> {
        match self.input.skip_while(|byte| byte.is_ascii_whitespace())? {
            None => Ok(InputPiece::CutOff),
            Some(b'[') => {
                self.input.skip(1);
                self.depth = Depth::Rows;
                Ok(InputPiece::Table(key))
            }
            Some(b'{') => {
                self.depth = Depth::OnlyRow;
                Ok(InputPiece::Table(key))
            }
            Some(b'"') => match self.string_end(0, MAX_ROW)? {
                Some(end) => Ok(self.scalar(key, end)),
                None => self.damage("text without an end", |byte| byte != b'{'),
            },
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let mut end = 0;
                while self
                    .input
                    .peek(end)?
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                {
                    end += 1;
                    if end > MAX_KEY {
                        break;
                    }
                }
                Ok(self.scalar(key, end))
            }
            Some(_) => {
                self.depth = Depth::Tables;
                self.damage("a key without a value", |byte| byte != b'"' && byte != b'}' && byte != b'{')
            }
        }
    }

    fn scalar(&mut self, key: String, end: usize) -> InputPiece {
        self.current = end;
        self.passed = end;
        self.depth = Depth::Tables;
        InputPiece::Scalar(key)
    }

    fn row(&mut self) -> std::io::Result<InputPiece> {
        match self.input.skip_while(is_between)? {
            None => Ok(InputPiece::CutOff),
            Some(b'{') => self.object(),
            Some(b']') => {
                self.input.skip(1);
                match self.input.skip_while(|byte| byte.is_ascii_whitespace())? {
                    // A key directly after it belongs to a field. The bracket replaces the start of
                    // a row.
                    Some(b'"') => Ok(InputPiece::Damage("a bracket instead of a row")),
                    _ => {
                        self.depth = Depth::Tables;
                        self.table()
                    }
                }
            }
            Some(b'"') => match self.key()? {
                // The table's own end is missing.
                Some(key) if is_table(&key) => self.value(key),
                // Quotes can be inverted from here on, so only brackets count.
                _ => {
                    self.input.skip_while(|byte| byte == b'"')?;
                    self.damage("text among the rows", |byte| !b"{]".contains(&byte))
                }
            },
            Some(_) => self.damage("a value that is not a row", |byte| !b"{]\"".contains(&byte)),
        }
    }

    fn object(&mut self) -> std::io::Result<InputPiece> {
        match self.object_extent()? {
            ObjectEnd::Complete(length) => {
                self.current = length;
                self.passed = length;
                Ok(InputPiece::Row)
            }
            ObjectEnd::TooLong(followed) => {
                match self.seam {
                    Some(seam) => self.restart(seam, followed),
                    None => self.passed = followed,
                }
                Ok(InputPiece::Damage("a row without an end"))
            }
            ObjectEnd::CutOff => match self.seam {
                Some(seam) => {
                    self.restart(seam, self.input.here().len());
                    Ok(InputPiece::Damage("a row without an end"))
                }
                None => Ok(InputPiece::CutOff),
            },
        }
    }

    /// Follows an object to its end.
    fn object_extent(&mut self) -> std::io::Result<ObjectEnd> {
        self.open.clear();
        self.braces = 0;
        let (mut at, after_seam) = (0, self.after_seam());
        loop {
            let limit = self.seam.map_or(MAX_ROW, |seam| seam + after_seam);
            if at > limit {
                return Ok(ObjectEnd::TooLong(limit));
            }
            let here = self.input.here();
            let structural = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
            let Some(found) = here.get(at..).and_then(|rest| rest.iter().position(structural)) else {
                at = at.max(here.len());
                if !self.input.extend()? {
                    return Ok(ObjectEnd::CutOff);
                }
                continue;
            };
            at += found;
            if here[at] != b'"' {
                if self.bracket(at) {
                    return Ok(ObjectEnd::Complete(at + 1));
                }
                at += 1;
                continue;
            }
            let Some(end) = self.string_end(at, limit + after_seam)? else {
                let too_long = self.input.here().len() >= limit + after_seam;
                return Ok(if too_long { ObjectEnd::TooLong(limit) } else { ObjectEnd::CutOff });
            };
            if self.seam.is_none() {
                self.seam = seam(self.input.here().get(at + 1..end - 1).unwrap_or_default(), at + 1);
            }
            at = end;
        }
    }

    /// Applies the byte at this distance if it is a bracket. Returns true if no bracket is open any
    /// more.
    fn bracket(&mut self, at: usize) -> bool {
        let here = self.input.here();
        let byte = here[at];
        match byte {
            b'{' | b'[' => {
                let after_comma = here[..at].trim_ascii_end().ends_with(b",");
                // Members of an object start with a key, so this brace starts the next row.
                if byte == b'{' && after_comma && self.open.last() == Some(&b'{') && self.seam.is_none() {
                    self.seam = Some(at);
                }
                self.open.push(byte);
                self.braces += usize::from(byte == b'{');
            }
            // Also closes brackets left open inside, whose own ends are missing. An end without a
            // begin looks at none of them: they can be millions.
            b'}' if self.braces > 0 => self.close(b'{'),
            b']' if self.open.len() > self.braces => self.close(b'['),
            _ => {}
        }
        self.open.is_empty()
    }

    /// Closes the last open bracket of this kind, and all brackets inside.
    fn close(&mut self, opening: u8) {
        while let Some(open) = self.open.pop() {
            step(1);
            self.braces -= usize::from(open == b'{');
            if open == opening {
                break;
            }
        }
    }

    /// Distance behind the closing quote of the string whose opening quote is at `quote`, if at
    /// most `limit`.
    fn string_end(&mut self, quote: usize, limit: usize) -> std::io::Result<Option<usize>> {
        let mut at = quote + 1;
        loop {
            let here = self.input.here();
            match here.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
                Some(found) if at + found >= limit => return Ok(None),
                Some(found) if here[at + found] == b'"' => return Ok(Some(at + found + 1)),
                Some(found) => at += found + 2,
                None => {
                    at = at.max(here.len());
                    if at >= limit || !self.input.extend()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Skips unexpected bytes.
    fn damage(&mut self, what: &'static str, fits: impl Fn(u8) -> bool) -> std::io::Result<InputPiece> {
        self.input.skip_while(fits)?;
        Ok(InputPiece::Damage(what))
    }
}

/// Whether a key as JSON text is that of a known table, and not a field's.
fn is_table(key: &str) -> bool {
    schema::table(key.trim_matches('"')).is_some()
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}

/// Position of the brace in `},{`, if a string's content ends with that text.
fn seam(content: &[u8], start: usize) -> Option<usize> {
    let rest = content.trim_ascii_end();
    let brace = rest.len().checked_sub(1)?;
    let before = rest.strip_suffix(b"{")?.trim_ascii_end().strip_suffix(b",")?.trim_ascii_end();
    before.ends_with(b"}").then_some(start + brace)
}

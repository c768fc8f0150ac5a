//! Columns of texts.
//!
//! Forms: plain or front-coded, each stored or under zstd; or lines.
//!
//! Layout of the front-coded forms: the length (varint) and bytes of a column of integers, the
//! number of bytes that each text shares with the one before. All but lines continue with the
//! length and bytes of a column of the lengths of the rests. Then the rests follow one after the
//! other, as they are or as one zstd frame.
//!
//! Lines are used inside a frame: each text followed by a line feed.

use super::{BlockDecoder, Encoder, MAX_TEXT_BYTES, MAX_VALUES, OuterCompression, TEXTS, check_count};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

const PLAIN: u8 = TEXTS;
const FRONT: u8 = TEXTS + 2;
/// Added to the id of a form whose bytes are a zstd frame.
const COMPRESSED: u8 = 1;
/// Names of the forms by id, from [`TEXTS`] on.
pub const NAMES: [&str; 5] = ["plain", "zstd", "front-coded", "front-coded zstd", "lines"];
/// Id of the form in which a line feed follows each text.
const LINES: u8 = TEXTS + 4;
const LINE_FEED: u8 = b'\n';

/// Memory that decoding takes for each text besides its bytes: two lengths, as integers and as
/// sizes, and two ends.
const LENGTH_BYTES: usize =
    2 * (size_of::<i64>() + size_of::<usize>()) + size_of::<usize>() + size_of::<u32>();

/// Most bytes of working memory that are kept from column to column.
const KEPT_BYTES: usize = 4 << 20;

/// Front coding is tried if it saves at least one byte of this many.
const FRONT_SHARE: usize = 8;

/// Texts of a column: one string, and the end of each text in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnTexts {
    /// All texts, one after the other.
    pub bytes: String,
    /// End of each text in `bytes`.
    pub ends: Vec<u32>,
}

impl ColumnTexts {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a text.
    ///
    /// # Panics
    /// If all texts together have 4 GiB or more.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(u32::try_from(self.bytes.len()).expect("the texts of a block are far from 4 GiB"));
    }

    /// Bytes of memory that the texts take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    /// The text of row `index`.
    ///
    /// # Panics
    /// If the row does not exist.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[index] as usize]
    }

    /// Returns all texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Number of bytes that two texts share at their beginnings. Can end inside a character: the
/// decoder joins bytes, not characters.
fn shared_len(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

impl<T: AsRef<str>> FromIterator<T> for ColumnTexts {
    fn from_iter<I: IntoIterator<Item = T>>(of: I) -> Self {
        let mut texts = Self::default();
        of.into_iter().for_each(|text| texts.push(text.as_ref()));
        texts
    }
}

pub fn encode<'a>(texts: impl Iterator<Item = &'a str> + Clone, encoder: &mut Encoder, out: &mut Vec<u8>) {
    let total: usize = texts.clone().map(str::len).sum();
    assert!(total <= MAX_TEXT_BYTES, "the texts of a block hold at most MAX_TEXT_BYTES");
    if encoder.around == OuterCompression::Frame
        && !texts.clone().any(|text| text.as_bytes().contains(&LINE_FEED))
    {
        out.push(LINES);
        texts.for_each(|text| out.extend(text.bytes().chain([LINE_FEED])));
        return;
    }
    let befores = std::iter::once("").chain(texts.clone());
    let shared: Vec<i64> =
        texts.clone().zip(befores).map(|(text, before)| shared_len(text, before) as i64).collect();
    assert!(shared.len() <= MAX_VALUES, "a block holds at most MAX_VALUES values");
    let mut best = form(PLAIN, texts.clone(), &[], encoder);
    if shared.iter().sum::<i64>() as usize * FRONT_SHARE > total {
        let front = form(FRONT, texts, &shared, encoder);
        if front.len() < best.len() {
            best = front;
        }
    }
    out.extend_from_slice(&best);
}

/// Encodes the column in one form, under zstd if that is smaller. `shared` is empty in the plain
/// form.
fn form<'a>(id: u8, texts: impl Iterator<Item = &'a str>, shared: &[i64], encoder: &mut Encoder) -> Vec<u8> {
    let (mut lengths, mut rests) = (Vec::new(), Vec::new());
    for (index, text) in texts.enumerate() {
        let rest = &text.as_bytes()[shared.get(index).map_or(0, |shared| *shared as usize)..];
        lengths.push(rest.len() as i64);
        rests.extend_from_slice(rest);
    }
    let mut out = vec![id];
    let mut column = Vec::new();
    for integers in (id == FRONT).then_some(shared).into_iter().chain([lengths.as_slice()]) {
        column.clear();
        encoder.ints(integers, &mut column);
        out.put_bytes(&column);
    }
    let Encoder { text_packer, frame, .. } = encoder;
    if text_packer.pack(&rests, frame) && frame.len() < rests.len() {
        out[0] += COMPRESSED;
        out.extend_from_slice(frame);
    } else {
        out.extend_from_slice(&rests);
    }
    out
}

/// Decodes a column of lengths, each at most [`MAX_TEXT_BYTES`].
fn lengths(cursor: &mut Cursor<'_>, count: usize, decoder: &mut BlockDecoder) -> Result<Vec<usize>> {
    let mut integers = Vec::new();
    decoder.ints(cursor.bytes()?, count, &mut integers)?;
    let lengths = integers
        .iter()
        .map(|length| usize::try_from(*length).ok().filter(|length| *length <= MAX_TEXT_BYTES));
    lengths.collect::<Option<_>>().ok_or_else(|| cursor.corrupt())
}

/// Reads what [`encode`] wrote. `room` is told the bytes of memory that this takes, before the
/// texts are unpacked, and can refuse them.
pub fn decode(
    bytes: &[u8],
    count: usize,
    room: &mut dyn FnMut(usize) -> Result<()>,
    decoder: &mut BlockDecoder,
) -> Result<ColumnTexts> {
    check_count(count)?;
    let mut cursor = Cursor::new(bytes, 0, "text column");
    let id = cursor.u8()?;
    let (front, compressed) = match id {
        LINES => {
            room(cursor.remaining().saturating_add(count * LENGTH_BYTES))?;
            return lines(cursor, count);
        }
        PLAIN | FRONT => (id == FRONT, false),
        _ if id == PLAIN + COMPRESSED || id == FRONT + COMPRESSED => (id > FRONT, true),
        _ => return Err(cursor.corrupt()),
    };
    let shared = if front { lengths(&mut cursor, count, decoder)? } else { Vec::new() };
    let lengths = lengths(&mut cursor, count, decoder)?;
    let corrupt = cursor.corrupt();
    // MAX_VALUES lengths of MAX_TEXT_BYTES add up to less than 2^48. A 32-bit usize must not wrap.
    let sum = |lengths: &[usize]| lengths.iter().map(|length| *length as u64).sum::<u64>();
    let (rest_len, total) = (sum(&lengths), sum(&lengths) + sum(&shared));
    if total > MAX_TEXT_BYTES as u64 {
        return Err(corrupt);
    }
    let (rest_len, total) = (rest_len as usize, total as usize);
    // Long rests are unpacked into the texts themselves, unless they are joined with other bytes.
    let is_own = !front && rest_len > KEPT_BYTES;
    room(total + if is_own { 0 } else { rest_len } + count * LENGTH_BYTES)?;
    let stored = cursor.take(cursor.remaining())?;
    let BlockDecoder { unpacker, planes: unpacked } = decoder;
    let rests = if compressed {
        unpacker.unpack(stored, rest_len, unpacked)?;
        unpacked.as_slice()
    } else {
        stored
    };
    if rests.len() != rest_len {
        return Err(corrupt);
    }
    let joined = match (front, compressed && is_own) {
        (true, _) => join(rests, &shared, &lengths, total),
        (false, true) => Some(std::mem::take(unpacked)),
        (false, false) => Some(rests.to_vec()),
    };
    // A column of long texts must not leave its size behind.
    unpacked.clear();
    unpacked.shrink_to(KEPT_BYTES);
    let bytes = String::from_utf8(joined.ok_or(corrupt)?).map_err(|_| corrupt)?;
    let ends = ends_of(&lengths, &shared);
    if ends.iter().any(|end| !bytes.is_char_boundary(*end)) {
        return Err(corrupt);
    }
    Ok(ColumnTexts { bytes, ends: ends.into_iter().map(|end| end as u32).collect() })
}

/// The end of each text, from the lengths of the rests and of what texts share.
fn ends_of(lengths: &[usize], shared: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().enumerate().scan(0, |end, (index, length)| {
        *end += length + shared.get(index).copied().unwrap_or(0);
        Some(*end)
    });
    ends.collect()
}

/// Decodes texts that are lines.
fn lines(mut cursor: Cursor<'_>, count: usize) -> Result<ColumnTexts> {
    let stored = cursor.take(cursor.remaining())?;
    let lines = std::str::from_utf8(stored).ok().filter(|lines| lines.len() <= MAX_TEXT_BYTES);
    let lines = lines.filter(|lines| lines.is_empty() || lines.as_bytes().ends_with(&[LINE_FEED]));
    let texts: Option<ColumnTexts> =
        lines.map(|lines| lines.split_terminator(char::from(LINE_FEED)).collect());
    texts.filter(|texts| texts.len() == count).ok_or_else(|| cursor.corrupt())
}

/// Joins the shared bytes and the rest of each text. `None` if a text shares more than the text
/// before has.
fn join(rests: &[u8], shared: &[usize], lengths: &[usize], total: usize) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(total);
    let (mut before, mut rest_at) = (0, 0);
    for (shared, length) in shared.iter().zip(lengths) {
        let start = joined.len();
        if *shared > start - before {
            return None;
        }
        joined.extend_from_within(before..before + shared);
        joined.extend_from_slice(&rests[rest_at..rest_at + length]);
        rest_at += length;
        before = start;
    }
    Some(joined)
}

//! The text between the values of an object: white space, a comma, a key, a colon.
//!
//! Such stretches repeat from event to event. The stretch that followed last time is therefore
//! compared with the next bytes before they are parsed, and so is the short value that came behind
//! it. The result is the same, because tokens depend on nothing but the bytes.

use rustc_hash::FxHashMap;

use super::text::bytes_of;
use super::tokens::{Raw, TokenStop, Tokens, ValueKind};

/// Longest stretch that is remembered.
const MAX_STEP_LEN: usize = 128;

/// Most stretches. More different ones are no repetition.
pub(super) const MAX_STEPS: usize = 2048;

/// Number of stretches that are tried.
const GUESSES: usize = 4;

/// The number of no stretch.
pub(super) const NONE: u32 = u32::MAX;

/// The next item of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextItem<K> {
    /// A value, with its key. The number stands for the stretch, [`NONE`] if it is not remembered.
    /// It is a hint at the key, which has the same number next time.
    Value(K, Raw, u32),
    /// The end: the closing bracket has been read.
    End,
}

#[derive(Debug)]
struct ObjectStretch<K> {
    text: Box<[u8]>,
    /// The first eight bytes as a number, and the bits of it that the text has.
    head: (u64, u64),
    next: NextItem<K>,
    guesses: [u32; GUESSES],
    /// The value that came last behind the stretch.
    value: Recalled,
}

/// Bytes that are compared at once.
const WORD: usize = size_of::<u64>();

/// A short value that is expected to come again, such as a phase, a category or a thread's number.
#[derive(Debug, Default)]
struct Recalled {
    /// The bytes of the value and of the one that ends it, and their bits in both words.
    words: [u64; 2],
    bits: [u64; 2],
    /// The value, in bytes that begin with it.
    raw: Raw,
    /// Length in bytes; 0 if there is no value.
    len: u8,
    /// Number of values in a row that were others.
    misses: u8,
}

impl Recalled {
    /// Values that are never the same, such as times, are not compared for long.
    const MAX_MISSES: u8 = 32;

    /// The value, if `bytes` begin with it.
    #[inline(always)]
    fn find(&self, bytes: &[u8]) -> Option<(Raw, usize)> {
        let (words, _) = bytes.first_chunk::<{ 2 * WORD }>()?.as_chunks::<WORD>();
        let differ = |at: usize| (u64::from_le_bytes(words[at]) ^ self.words[at]) & self.bits[at];
        (self.len > 0 && differ(0) | differ(1) == 0).then_some((self.raw, usize::from(self.len)))
    }

    /// Keeps the value that `bytes` begin with, instead of another.
    fn replace(&mut self, bytes: &[u8], len: usize, raw: Raw) {
        // The byte that ends a number belongs to it: with another one, the number could go on.
        let compared = match raw.kind() {
            ValueKind::Number => len + 1,
            ValueKind::Text => len,
            _ => return,
        };
        self.misses += 1;
        let mut kept = [0; 2 * WORD];
        let (Some(from), Some(to)) = (bytes.get(..compared), kept.get_mut(..compared)) else { return };
        to.copy_from_slice(from);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum: u64, &byte| sum << 8 | u64::from(byte));
        self.words = [word(&kept[..WORD]), word(&kept[WORD..])];
        self.bits = [bits_of(compared.min(WORD)), bits_of(compared.saturating_sub(WORD))];
        (self.raw, self.len) = (raw, len as u8);
    }
}

/// The bits of the first bytes of a word.
fn bits_of(len: usize) -> u64 {
    u64::MAX.checked_shr((WORD - len) as u32 * u8::BITS).unwrap_or(0)
}

impl<K> ObjectStretch<K> {
    fn new(text: &[u8], next: NextItem<K>) -> Self {
        let mut word = [0; WORD];
        let len = text.len().min(WORD);
        word[..len].copy_from_slice(&text[..len]);
        let head = (u64::from_le_bytes(word), bits_of(len));
        Self { text: text.into(), head, next, guesses: [NONE; GUESSES], value: Recalled::default() }
    }

    /// Whether `bytes` begin with the text. `false` also if they are too few to tell at once.
    #[inline(always)]
    fn leads(&self, bytes: &[u8]) -> bool {
        let Some(first) = bytes.first_chunk::<WORD>() else { return false };
        let (head, bits) = self.head;
        (u64::from_le_bytes(*first) ^ head) & bits == 0
            && (self.text.len() <= WORD || ends_alike(bytes, &self.text))
    }
}

/// Whether `bytes` begin with `text`, a word or longer, if both begin with the same word. The last
/// word overlaps the one before it, so that no byte is compared by itself.
#[inline(always)]
fn ends_alike(bytes: &[u8], text: &[u8]) -> bool {
    let Some(bytes) = bytes.get(..text.len()) else { return false };
    let word = |bytes: &[u8; WORD]| u64::from_ne_bytes(*bytes);
    let ((words, _), (of_text, _)) = (bytes.as_chunks::<WORD>(), text.as_chunks::<WORD>());
    bytes.last_chunk::<WORD>().map(word) == text.last_chunk::<WORD>().map(word)
        && words.iter().zip(of_text).skip(1).all(|(a, b)| word(a) == word(b))
}

/// Most sequences of stretches that are numbered. A trace with more has few equal events.
const MAX_PATHS: usize = 1 << 14;

/// Numbers of sequences of stretches. Events with the same number have the same keys in the same
/// order.
#[derive(Debug)]
pub(super) struct StretchPaths {
    /// For each sequence, the last stretch that followed, and the number of the longer sequence.
    last: Vec<(u32, u32)>,
    longer: FxHashMap<(u32, u32), u32>,
}

impl Default for StretchPaths {
    fn default() -> Self {
        Self { last: vec![(NONE, NONE)], longer: FxHashMap::default() }
    }
}

impl StretchPaths {
    /// The number of no stretches.
    pub(super) const START: u32 = 0;

    /// The number of a sequence with one more stretch; [`NONE`] if the sequence or the stretch is
    /// not numbered.
    #[inline(always)]
    pub(super) fn step(&mut self, path: u32, step: u32) -> u32 {
        match self.last.get(path as usize) {
            Some(&(known, longer)) if known == step && step != NONE => longer,
            Some(_) if step != NONE => self.other(path, step),
            _ => NONE,
        }
    }

    fn other(&mut self, path: u32, step: u32) -> u32 {
        let next = self.last.len();
        let longer = match self.longer.get(&(path, step)) {
            Some(&known) => known,
            None if next >= MAX_PATHS => return NONE,
            None => {
                let longer = u32::try_from(next).unwrap_or(NONE);
                self.last.push((NONE, NONE));
                self.longer.insert((path, step), longer);
                longer
            }
        };
        self.last[path as usize] = (step, longer);
        longer
    }
}

/// The stretches of all objects of a kind. `K` is the caller's meaning of a key.
#[derive(Debug)]
pub(super) struct ObjectShape<K> {
    steps: Vec<ObjectStretch<K>>,
    by_text: FxHashMap<Box<[u8]>, u32>,
    /// The stretch before the next bytes.
    last: u32,
}

impl<K> Default for ObjectShape<K> {
    fn default() -> Self {
        Self { steps: Vec::new(), by_text: FxHashMap::default(), last: NONE }
    }
}

/// The same as `starts_with`, eight bytes at a time. Stretches and keys are too short to be worth
/// its call.
#[inline]
pub(super) fn begins_with(bytes: &[u8], text: &[u8]) -> bool {
    let Some(bytes) = bytes.get(..text.len()) else { return false };
    let ((words, rest), (text_words, text_rest)) = (bytes.as_chunks::<8>(), text.as_chunks::<8>());
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    words.iter().zip(text_words).all(|(a, b)| word(a) == word(b)) && rest.iter().eq(text_rest)
}

impl<K: Copy> ObjectShape<K> {
    /// Reads up to the next value, or past the closing bracket. `meaning` is called for new keys.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        tokens: &mut Tokens<'_>,
        meaning: impl Fn(&[u8]) -> K,
    ) -> Result<NextItem<K>, TokenStop> {
        if let Some(last) = self.steps.get(self.last as usize) {
            let rest = tokens.rest();
            for guess in last.guesses {
                let Some(step) = self.steps.get(guess as usize) else { break };
                if step.leads(rest) {
                    self.last = guess;
                    let at = tokens.position();
                    tokens.skip(step.text.len());
                    return Ok(match step.next {
                        NextItem::Value(meaning, key, _) => NextItem::Value(meaning, key.moved(at), guess),
                        NextItem::End => NextItem::End,
                    });
                }
            }
        }
        // Taken apart and put together, so that the result above stays in registers. If both were
        // one value in memory, each key would wait until the parts of its value are written.
        match self.read(tokens, meaning)? {
            NextItem::Value(meaning, key, hint) => Ok(NextItem::Value(meaning, key, hint)),
            NextItem::End => Ok(NextItem::End),
        }
    }

    /// Reads the value behind a stretch.
    #[inline(always)]
    pub(super) fn value(&mut self, step: u32, tokens: &mut Tokens<'_>) -> Result<Raw, TokenStop> {
        let start = tokens.position();
        let Some(ObjectStretch { value: recalled, .. }) = self.steps.get_mut(step as usize) else {
            return tokens.value();
        };
        if recalled.misses > Recalled::MAX_MISSES {
            return tokens.value();
        }
        if let Some((raw, len)) = recalled.find(tokens.rest()) {
            recalled.misses = 0;
            tokens.skip(len);
            return Ok(raw.moved(start));
        }
        let raw = tokens.value()?;
        let bytes = tokens.bytes().get(start..).unwrap_or_default();
        recalled.replace(bytes, tokens.position() - start, raw.moved_back(start));
        Ok(raw)
    }

    #[inline(never)]
    fn read(
        &mut self,
        tokens: &mut Tokens<'_>,
        meaning: impl Fn(&[u8]) -> K,
    ) -> Result<NextItem<K>, TokenStop> {
        let start = tokens.position();
        let next = if tokens.peek_item()?.0 == b'}' {
            tokens.advance();
            NextItem::End
        } else {
            let key = tokens.key()?;
            // Bytes before the value belong to the stretch.
            tokens.peek()?;
            NextItem::Value(meaning(&bytes_of(tokens.bytes(), key)), key, NONE)
        };
        let text = &tokens.bytes()[start..tokens.position()];
        let number = self.remember(text, start, next);
        Ok(match next {
            NextItem::Value(meaning, key, _) => NextItem::Value(meaning, key, number),
            NextItem::End => NextItem::End,
        })
    }

    fn remember(&mut self, text: &[u8], start: usize, next: NextItem<K>) -> u32 {
        let index = match self.by_text.get(text) {
            Some(&known) => known,
            None if text.len() > MAX_STEP_LEN || self.steps.len() >= MAX_STEPS => NONE,
            None => {
                let next = match next {
                    NextItem::Value(meaning, key, _) => NextItem::Value(meaning, key.moved_back(start), NONE),
                    NextItem::End => NextItem::End,
                };
                let index = u32::try_from(self.steps.len()).unwrap_or(NONE);
                self.steps.push(ObjectStretch::new(text, next));
                self.by_text.insert(text.into(), index);
                index
            }
        };
        if let Some(last) = self.steps.get_mut(self.last as usize)
            && index != NONE
        {
            last.guesses.rotate_right(1);
            last.guesses[0] = index;
        }
        self.last = index;
        index
    }
}

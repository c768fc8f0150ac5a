//! The text between the values of an object: white space, a comma, a key, a colon.
//!
//! Such stretches repeat from event to event. The stretch that followed last time is therefore
//! compared with the next bytes before they are parsed. The result is the same, because tokens
//! depend on nothing but the bytes.

use rustc_hash::FxHashMap;

use super::event::bytes_of;
use super::tokens::{Raw, Stop, Tokens};

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
pub(super) enum Next<K> {
    /// A value, with its key. The number stands for the stretch, [`NONE`] if it is not remembered.
    /// It is a hint at the key, which has the same number next time.
    Value(K, Raw, u32),
    /// The end: the closing bracket has been read.
    End,
}

#[derive(Debug)]
struct Step<K> {
    text: Box<[u8]>,
    next: Next<K>,
    guesses: [u32; GUESSES],
}

/// The stretches of all objects of a kind. `K` is the caller's meaning of a key.
#[derive(Debug)]
pub(super) struct Shape<K> {
    steps: Vec<Step<K>>,
    by_text: FxHashMap<Box<[u8]>, u32>,
    /// The stretch before the next bytes.
    last: u32,
}

impl<K> Default for Shape<K> {
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

impl<K: Copy> Shape<K> {
    /// Reads up to the next value, or past the closing bracket. `meaning` is called for new keys.
    #[inline]
    pub(super) fn next(
        &mut self,
        tokens: &mut Tokens<'_>,
        meaning: impl Fn(&[u8]) -> K,
    ) -> Result<Next<K>, Stop> {
        if let Some(last) = self.steps.get(self.last as usize) {
            let rest = tokens.rest();
            for guess in last.guesses {
                let Some(step) = self.steps.get(guess as usize) else { break };
                if begins_with(rest, &step.text) {
                    self.last = guess;
                    let next = match step.next {
                        Next::Value(meaning, key, _) => {
                            Next::Value(meaning, key.moved(tokens.position()), guess)
                        }
                        Next::End => Next::End,
                    };
                    tokens.skip(step.text.len());
                    return Ok(next);
                }
            }
        }
        self.read(tokens, meaning)
    }

    fn read(&mut self, tokens: &mut Tokens<'_>, meaning: impl Fn(&[u8]) -> K) -> Result<Next<K>, Stop> {
        let start = tokens.position();
        let next = if tokens.peek_item()?.0 == b'}' {
            tokens.advance();
            Next::End
        } else {
            let key = tokens.key()?;
            // Bytes before the value belong to the stretch.
            tokens.peek()?;
            Next::Value(meaning(&bytes_of(tokens.bytes(), key)), key, NONE)
        };
        let text = &tokens.bytes()[start..tokens.position()];
        let number = self.remember(text, start, next);
        Ok(match next {
            Next::Value(meaning, key, _) => Next::Value(meaning, key, number),
            Next::End => Next::End,
        })
    }

    fn remember(&mut self, text: &[u8], start: usize, next: Next<K>) -> u32 {
        let index = match self.by_text.get(text) {
            Some(&known) => known,
            None if text.len() > MAX_STEP_LEN || self.steps.len() >= MAX_STEPS => NONE,
            None => {
                let next = match next {
                    Next::Value(meaning, key, _) => Next::Value(meaning, key.moved_back(start), NONE),
                    Next::End => Next::End,
                };
                let index = u32::try_from(self.steps.len()).unwrap_or(NONE);
                self.steps.push(Step { text: text.into(), next, guesses: [NONE; GUESSES] });
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

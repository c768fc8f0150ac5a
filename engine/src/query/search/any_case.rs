//! Finds an ASCII text without regard to the case of its letters, at about the speed of memory.
//!
//! If several bytes in a row are not letters, they are found first by an exact search. Otherwise
//! the two rarest bytes are compared at many places at once, in a form that compilers vectorise.
//! The whole text is compared only if both fit.

use memchr::memmem::Finder;

/// Number of places that are checked together.
const STEP: usize = 64;
/// Number of samples that show which bytes are rare.
const SAMPLES: usize = 8;
/// Bytes of a sample: a cache line.
const SAMPLE: usize = 64;
/// Minimum length of a run without letters that is searched first.
const FIXED_MIN: usize = 3;
/// Bit that turns an ASCII capital into a small letter.
const SMALL: u8 = 0x20;

/// A text to find, in small letters.
#[derive(Debug, Clone)]
pub struct AnyCase {
    text: Vec<u8>,
    /// For each byte, the bit that makes it a small letter; 0 if it is not a letter.
    small: Vec<u8>,
    /// The longest run without letters, with its position in the text.
    fixed: Option<(usize, Box<Finder<'static>>)>,
}

/// Two positions in the text.
#[derive(Debug, Clone, Copy)]
pub struct Probes(usize, usize);

impl AnyCase {
    /// Creates a finder for an ASCII text of at least one byte.
    pub fn new(text: &str) -> Self {
        let text = text.to_ascii_lowercase().into_bytes();
        let small: Vec<u8> =
            text.iter().map(|byte| if byte.is_ascii_lowercase() { SMALL } else { 0 }).collect();
        let runs = small.chunk_by(|a, b| a == b).scan(0, |next, run| {
            let start = *next;
            *next += run.len();
            Some((start, run))
        });
        let runs = runs.filter(|(_, run)| run[0] == 0 && run.len() >= FIXED_MIN);
        let fixed = runs
            .max_by_key(|(_, run)| run.len())
            .map(|(start, run)| (start, Box::new(Finder::new(&text[start..start + run.len()]).into_owned())));
        Self { text, small, fixed }
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Chooses the two bytes of the text that are rarest in `bytes`.
    pub fn probes(&self, bytes: &[u8]) -> Probes {
        let mut counts = [0_u32; 256];
        for sample in bytes.chunks((bytes.len() / SAMPLES).max(SAMPLE)) {
            let sample = &sample[..sample.len().min(SAMPLE)];
            sample.iter().for_each(|byte| counts[usize::from(byte.to_ascii_lowercase())] += 1);
        }
        let count = |&at: &usize| counts[usize::from(self.text[at])];
        let rarest = (0..self.text.len()).min_by_key(count).unwrap_or_default();
        // The second byte must differ: the same byte again adds less information.
        let others = (0..self.text.len()).filter(|&at| self.text[at] != self.text[rarest]);
        Probes(rarest, others.min_by_key(count).unwrap_or(rarest))
    }

    /// The next position of the text in `bytes`, from `from` on.
    pub fn find(&self, probes: Probes, bytes: &[u8], from: usize) -> Option<usize> {
        match &self.fixed {
            Some((offset, finder)) => self.find_around(finder, *offset, bytes, from),
            None => self.find_by(probes, bytes, from),
        }
    }

    /// Finds the text by the run of its bytes that begins at `offset`.
    fn find_around(&self, part: &Finder<'_>, offset: usize, bytes: &[u8], from: usize) -> Option<usize> {
        let mut from = from + offset;
        loop {
            let at = from + part.find(bytes.get(from..)?)?;
            if self.is_at(bytes, at - offset) {
                return Some(at - offset);
            }
            from = at + 1;
        }
    }

    fn find_by(&self, Probes(one, two): Probes, bytes: &[u8], from: usize) -> Option<usize> {
        let (one_text, one_small) = (self.text[one], self.small[one]);
        let (two_text, two_small) = (self.text[two], self.small[two]);
        // Number of places where the text can stand.
        let places = (bytes.len() + 1).saturating_sub(self.text.len());
        let mut at = from;
        while at + STEP <= places {
            let ones = &bytes[at + one..][..STEP];
            let twos = &bytes[at + two..][..STEP];
            let fits = |(a, b): (&u8, &u8)| (a | one_small == one_text) & (b | two_small == two_text);
            if ones.iter().zip(twos).fold(0, |any, pair| any | u8::from(fits(pair))) != 0
                && let Some(step) = self.first_of(&bytes[at..])
            {
                return Some(at + step);
            }
            at += STEP;
        }
        (at..places).find(|&at| self.is_at(bytes, at))
    }

    /// The first of the places at which the text stands. Compares each byte of the text at all
    /// places.
    fn first_of(&self, bytes: &[u8]) -> Option<usize> {
        let mut fits = [1_u8; STEP];
        for (offset, (text, small)) in self.text.iter().zip(&self.small).enumerate() {
            let mut any = 0;
            for (fit, byte) in fits.iter_mut().zip(&bytes[offset..][..STEP]) {
                *fit &= u8::from(byte | small == *text);
                any |= *fit;
            }
            if any == 0 {
                return None;
            }
        }
        fits.iter().position(|&fit| fit != 0)
    }

    fn is_at(&self, bytes: &[u8], at: usize) -> bool {
        let Some(here) = bytes.get(at..at + self.text.len()) else { return false };
        let mut pairs = here.iter().zip(self.text.iter().zip(&self.small));
        pairs.all(|(byte, (text, small))| byte | small == *text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_comparison_place_by_place_finds(
            bytes in "[abAB@`\\[{0 ]{0,200}|[ab0]{0,200}",
            text in "[abAB@`\\[{0 ]{1,4}|[ab]0{3}[ab]",
            from in 0_usize..40,
        ) {
            let lower = bytes.to_ascii_lowercase();
            let expected = lower.get(from..).and_then(|rest| rest.find(&text.to_ascii_lowercase()));
            let finder = AnyCase::new(&text);
            let found = finder.find(finder.probes(bytes.as_bytes()), bytes.as_bytes(), from);
            prop_assert_eq!(found, expected.map(|at| at + from));
        }
    }
}

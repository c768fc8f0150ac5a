//! Names of slices that only wait.
//!
//! A wait covers time without using the hardware. If semaphore waits are drawn and counted as work,
//! they dominate a real Neuron trace and hide the microseconds in which it computes.

use memchr::memchr3;

/// Words that say that a call or an instruction waits, in lower case.
const WORDS: [&str; 5] = ["wait", "waiting", "synchronize", "synchronise", "barrier"];
/// Neuron's instruction that waits for a semaphore and then changes it.
pub const NEURON_WAIT: &str = "EVENT_SEMAPHORE";
/// Calls of CUDA and HIP that enqueue a wait in a stream and return at once.
const ENQUEUED: &str = "StreamWaitEvent";
/// Longest name that is examined. Longer names are sentences or operands.
const LONGEST: usize = 256;

/// Whether a slice of this name waits. Only whole words count: `cudaStreamSynchronize` and
/// `event_wait` wait, `Awaitable` and `asynchronous_copy` do not.
#[must_use]
pub fn is_wait(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.len() > LONGEST || !may_wait(bytes) {
        return name == NEURON_WAIT;
    }
    !name.contains(ENQUEUED)
        && words(name).any(|word| WORDS.iter().any(|wait| word.eq_ignore_ascii_case(wait)))
}

/// Whether one of the rarer letters of the words occurs: this settles most names.
fn may_wait(bytes: &[u8]) -> bool {
    memchr3(b'w', b'W', b'b', bytes).or_else(|| memchr3(b'y', b'Y', b'B', bytes)).is_some()
}

/// Words of an identifier: runs of letters, cut before each capital letter that follows a small
/// one.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|sign: char| !sign.is_ascii_alphabetic()).flat_map(|part| {
        let bytes = part.as_bytes();
        let is_edge = |at: &usize| bytes[*at].is_ascii_uppercase() && bytes[*at - 1].is_ascii_lowercase();
        let edges = (1..bytes.len()).filter(is_edge).chain([bytes.len()]);
        edges.scan(0, move |start, end| Some(&part[std::mem::replace(start, end)..end]))
    })
}

/// Numbers of the texts that name waits. Names of slices are asked for again and again, so most
/// numbers have a bit each. A hostile number beyond them is looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitNames {
    /// Ascending.
    numbers: Vec<u32>,
    /// By number, up to the last wait below [`WaitNames::MAX_BITS`].
    bits: Vec<u64>,
}

impl WaitNames {
    const MAX_BITS: u32 = 1 << 20;

    /// Adds a number that is larger than all others.
    pub fn push(&mut self, number: u32) {
        debug_assert!(self.numbers.last().is_none_or(|last| *last < number), "numbers ascend");
        self.numbers.push(number);
        if number < Self::MAX_BITS {
            let at = (number / u64::BITS) as usize;
            self.bits.resize(at + 1, 0);
            self.bits[at] |= 1 << (number % u64::BITS);
        }
    }

    /// Whether the text with this number names a wait.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        if number < Self::MAX_BITS {
            let bits = self.bits.get((number / u64::BITS) as usize).copied().unwrap_or_default();
            return bits >> (number % u64::BITS) & 1 == 1;
        }
        self.numbers.binary_search(&number).is_ok()
    }

    /// Whether the text with this number, as a column stores it, names a wait.
    #[must_use]
    pub fn contains_stored(&self, number: i64) -> bool {
        u32::try_from(number).is_ok_and(|number| self.contains(number))
    }

    /// The numbers, ascending.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
}

/// The numbers ascend.
impl FromIterator<u32> for WaitNames {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut waits = Self::default();
        numbers.into_iter().for_each(|number| waits.push(number));
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_decide() {
        for name in [
            "EVENT_SEMAPHORE",
            "WAIT_FOR_RANKS",
            "cudaStreamSynchronize",
            "synchronizeStream",
            "event_wait",
            "threading.py(359): wait",
            "## all2all_data:lengths_wait ##",
            "KJTListAwaitable wait()",
            "All2All_Pooled_Wait",
            "nrt_barrier",
        ] {
            assert!(is_wait(name), "{name}");
        }
        for name in [
            "",
            "EVENT_SEMAPHORE_RANGE_CLEAR",
            "MATMUL",
            "KJTListAwaitable",
            "fb::asynchronous_complete_cumsum",
            "cudaStreamWaitEvent",
            "waitress",
            "éWÿ",
        ] {
            assert!(!is_wait(name), "{name}");
        }
        assert!(!is_wait(&"wait ".repeat(100)));
    }
    #[test]
    fn numbers_of_any_size_are_found_and_no_others() {
        let numbers = [0, 63, 64, WaitNames::MAX_BITS - 1, WaitNames::MAX_BITS, u32::MAX];
        let waits: WaitNames = numbers.into_iter().collect();
        assert_eq!(waits.numbers(), numbers);
        assert!(numbers.into_iter().all(|number| waits.contains(number)));
        let others = [1, 62, 65, WaitNames::MAX_BITS - 2, WaitNames::MAX_BITS + 1, u32::MAX - 1];
        assert!(!others.into_iter().any(|number| waits.contains(number)));
        assert!(!WaitNames::default().contains(0));
    }
}

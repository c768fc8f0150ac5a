//! Pseudorandom numbers from a seed, by SplitMix64 (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", 2014). The algorithm is written here so that a seed gives the
//! same profile in every version of nprof.

/// The golden ratio as a fraction of 2^64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(super) struct SplitMix(u64);

impl SplitMix {
    pub(super) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A random part of a length: at least `low` thousandths, less than `high`.
    pub(super) fn part(&mut self, length: i64, low: i64, high: i64) -> i64 {
        // Ten bits of fraction below a thousandth keep neighbouring picoseconds apart.
        let span = ((high - low) << 10).max(1);
        let fraction = (low << 10) + i64::try_from(self.next() >> 33).unwrap_or(0) % span;
        length / 1024 * fraction / 1000
    }
}

/// Scatters a number over 64 bits; different numbers stay different.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_in_their_range_and_fill_it() {
        let mut random = SplitMix::new(7);
        let parts: Vec<i64> = (0..1000).map(|_| random.part(1_024_000, 250, 750)).collect();
        assert!(parts.iter().all(|part| (256_000..768_000).contains(part)));
        assert!(parts.iter().any(|&part| part < 300_000) && parts.iter().any(|&part| part > 700_000));
    }
}

//! Random numbers that are the same on every machine, in separate streams for each part of the
//! data.

/// Purpose of a stream of random numbers. Each kind of draw has its own stream, so that one part
/// can be regenerated without the others.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// The instructions of the program.
    Program,
    /// Times of the instructions of one engine in one layer.
    Timing,
    /// The pause between two layers.
    Pause,
    /// The layout of a layer's transfers.
    TransferPlan,
    /// Times of the transfers of one queue in one layer.
    Transfers,
    /// Questions to the stores.
    Questions,
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct RandomStream(u64);

impl RandomStream {
    /// The stream of one purpose, layer and lane (engine or queue).
    #[must_use]
    pub fn stream(seed: u64, purpose: Purpose, layer: usize, lane: usize) -> Self {
        let mut state = Self(seed);
        for part in [purpose as u64, layer as u64, lane as u64] {
            state = Self(state.bits() ^ part.wrapping_mul(0xd1b5_4a32_d192_ed03));
        }
        Self(state.bits())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A uniform integer in `[from, to)`.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        let span = (to - from) as u128;
        from + ((u128::from(self.bits()) * span) >> 64) as i64
    }

    /// True with this probability.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// An exponentially distributed number with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Number of trials until the first success: 1, 2, 3 …
    pub fn geometric(&mut self, success: f64) -> i64 {
        ((1.0 - self.unit()).ln() / (1.0 - success).ln()).floor() as i64 + 1
    }

    /// A normally distributed number with mean 0, by Box and Muller.
    pub fn normal(&mut self, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        deviation * radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An index, chosen by weights that need not sum to 1.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        for (at, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return at;
            }
        }
        weights.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draw: impl FnMut() -> f64) -> f64 {
        let draws = 200_000;
        std::iter::repeat_with(draw).take(draws).sum::<f64>() / draws as f64
    }

    #[test]
    fn draws_have_their_means() {
        let mut random = RandomStream::stream(1, Purpose::Program, 0, 0);
        assert!((mean(|| random.unit()) - 0.5).abs() < 0.01);
        assert!((mean(|| random.exponential(40.0)) - 40.0).abs() < 0.5);
        assert!((mean(|| random.geometric(0.4) as f64) - 2.5).abs() < 0.03);
        assert!(mean(|| random.normal(1.0)).abs() < 0.01);
        assert!((mean(|| random.between(-3, 4) as f64)).abs() < 0.03);
        assert!((mean(|| random.weighted(&[1.0, 3.0]) as f64) - 0.75).abs() < 0.01);
    }

    #[test]
    fn streams_differ_in_every_part() {
        let first = |purpose, layer, lane| RandomStream::stream(7, purpose, layer, lane).bits();
        let base = first(Purpose::Timing, 0, 0);
        assert_eq!(base, first(Purpose::Timing, 0, 0));
        assert_ne!(base, first(Purpose::Timing, 1, 0));
        assert_ne!(base, first(Purpose::Timing, 0, 1));
        assert_ne!(base, first(Purpose::Transfers, 0, 0));
        assert_ne!(first(Purpose::Timing, 1, 0), first(Purpose::Timing, 0, 1));
    }
}

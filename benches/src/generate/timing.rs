//! Times of instructions: the program's usual durations with hardware jitter, layer after layer.

use super::program::{EXECUTED_PER_LAYER, LayerProgram};
use super::random::{Purpose, RandomStream};
use super::text::ENGINES;

/// Start of the first layer.
const ORIGIN_NS: i64 = 10_261_883_214;
/// Shortest pause after a layer.
const PAUSE_NS: i64 = 200;
/// Share of instructions of each engine that are long and block nothing after them: waits, custom
/// operations, collectives.
const LONG_SHARES: [f64; 5] = [2e-5, 5e-5, 5e-5, 5e-4, 2e-3];
/// Range of durations of long instructions.
const LONG_NS: std::ops::RangeInclusive<f64> = 2e4..=5e6;
/// Minimum duration of an event.
const SHORTEST_NS: i64 = 2;
/// Maximum duration of a stall.
const LONGEST_STALL_NS: f64 = 100_000.0;

/// Variation of durations between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Jitter {
    /// Like an accelerator: 55 % exact, 35 % off by 1 to 8 ns, 9 % longer by 5 to 30 %, 1 %
    /// stalled.
    Narrow,
    /// Like a GPU: log-normal with a deviation of 15 %.
    Wide,
}

/// A duration of one run, from the usual duration.
pub fn jittered(usual_ns: i64, jitter: Jitter, random: &mut RandomStream) -> i64 {
    let usual = usual_ns as f64;
    if jitter == Jitter::Wide {
        return ((usual * random.normal(0.15).exp()) as i64).max(SHORTEST_NS);
    }
    let draw = random.unit();
    let added = if draw < 0.55 {
        0
    } else if draw < 0.90 {
        random.geometric(0.4).min(8) * if random.chance(0.5) { 1 } else { -1 }
    } else if draw < 0.99 {
        (usual * (0.05 + 0.25 * random.unit())) as i64
    } else {
        (random.exponential(8.0) * usual).min(LONGEST_STALL_NS) as i64
    };
    (usual_ns + added).max(SHORTEST_NS)
}

/// Times of one engine in one layer.
#[derive(Debug, Default)]
pub struct LayerTimes {
    /// Starts relative to the layer's start, ascending.
    pub starts_ns: Vec<i64>,
    /// Recorded durations.
    pub durations_ns: Vec<i64>,
    /// Time until the engine was done.
    pub length_ns: i64,
}

impl LayerTimes {
    /// Runs `program` for layer number `at` of the whole profile.
    pub fn run(&mut self, program: &LayerProgram, engine: usize, seed: u64, at: usize, jitter: Jitter) {
        let mut random = RandomStream::stream(seed, Purpose::Timing, at, engine);
        self.starts_ns.clear();
        self.durations_ns.clear();
        let mut start = random.between(0, 40);
        let mut before = 0;
        for (position, of) in program.executed.iter().enumerate() {
            let duration = jittered(of.duration_ns, jitter, &mut random);
            let wait = match jitter {
                Jitter::Wide => random.exponential(40.0) as i64,
                Jitter::Narrow if random.chance(0.3) => random.geometric(0.3),
                Jitter::Narrow => 0,
            };
            let gap = of.gap_ns + wait;
            start += if position == 0 { gap.max(0) } else { (before + gap).max(1) };
            before = duration;
            self.starts_ns.push(start);
            let long = random.chance(LONG_SHARES[engine]);
            self.durations_ns.push(if long { long_duration(&mut random) } else { duration });
        }
        self.length_ns = start + before;
    }
}

fn long_duration(random: &mut RandomStream) -> i64 {
    (5e4 * random.normal(1.2).exp()).clamp(*LONG_NS.start(), *LONG_NS.end()) as i64
}

/// Start of each layer of the profile, then the end of the last layer.
#[must_use]
pub fn layer_starts(programs: &[LayerProgram], seed: u64, layers: usize, jitter: Jitter) -> Vec<i64> {
    let mut layer = LayerTimes::default();
    let mut starts = Vec::with_capacity(layers + 1);
    let mut start = ORIGIN_NS;
    for at in 0..layers {
        starts.push(start);
        let lengths = programs.iter().enumerate().map(|(engine, program)| {
            layer.run(program, engine, seed, at, jitter);
            layer.length_ns
        });
        let longest = lengths.max().unwrap_or(0);
        start += longest + PAUSE_NS + RandomStream::stream(seed, Purpose::Pause, at, 0).between(0, 30);
    }
    starts.push(start);
    starts
}

/// Number of layers of a profile with this many instructions.
#[must_use]
pub fn layers_of(instructions: u64) -> usize {
    (instructions as usize / EXECUTED_PER_LAYER).max(1)
}

const _: () = assert!(LONG_SHARES.len() == ENGINES.len());

#[cfg(test)]
mod tests {
    use super::super::program::programs;
    use super::*;

    #[test]
    fn a_layer_runs_the_same_on_its_own() {
        let programs = programs(7);
        let (mut one, mut again) = (LayerTimes::default(), LayerTimes::default());
        one.run(&programs[0], 0, 7, 40, Jitter::Narrow);
        again.run(&programs[1], 1, 7, 3, Jitter::Narrow);
        again.run(&programs[0], 0, 7, 40, Jitter::Narrow);
        assert_eq!(one.starts_ns, again.starts_ns);
        assert_eq!(one.durations_ns, again.durations_ns);
        assert!(one.starts_ns.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn most_durations_are_near_the_usual_one() {
        let mut random = RandomStream::stream(1, Purpose::Timing, 0, 0);
        let runs: Vec<i64> = (0..100_000).map(|_| jittered(100, Jitter::Narrow, &mut random)).collect();
        let share = |wanted: &dyn Fn(i64) -> bool| {
            runs.iter().filter(|&&run| wanted(run)).count() as f64 / runs.len() as f64
        };
        assert!((share(&|run| run == 100) - 0.55).abs() < 0.01);
        assert!((share(&|run| (run - 100).abs() <= 8) - 0.90).abs() < 0.02);
        assert!(share(&|run| run > 400) > 0.004);
    }
}

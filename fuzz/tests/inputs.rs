//! Every target on every input to begin with, and on changed ones. Coverage guides no change here;
//! `scripts/fuzz.sh` does that.

use nprof_fuzz::seeds::{Seeds, kept, made};
use nprof_fuzz::targets::{TARGETS, Target, target};

/// Changed inputs for each input that is not changed.
const CHANGED: u64 = 24;
/// Longer inputs are not changed: they are many times as slow.
const MOST_CHANGED_BYTES: usize = 16 << 10;

/// Pseudo-random numbers, the same in each run (xorshift64*, Vigna 2016).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        usize::try_from(number).unwrap_or_default() % end.max(1)
    }
}

/// The input with some bytes changed, cut, or repeated.
fn changed(input: &[u8], numbers: &mut RandomNumbers) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=numbers.below(4) {
        let (at, until) = (numbers.below(bytes.len() + 1), numbers.below(bytes.len() + 1));
        match numbers.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_within(at.min(until)..at.max(until)),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
        }
    }
    bytes
}

// One test: the bounds of memory are those of the process.
#[test]
fn every_target_survives_its_inputs_and_changed_ones() {
    let all: Vec<Seeds> = made().unwrap().into_iter().chain(kept().unwrap()).collect();
    for Target { name, run } in TARGETS {
        let mut inputs: Vec<&Vec<u8>> =
            all.iter().filter(|seeds| seeds.target == name).flat_map(|seeds| &seeds.inputs).collect();
        let empty = Vec::new();
        inputs.push(&empty);
        let mut numbers = RandomNumbers(0x9e37_79b9_7f4a_7c15);
        for input in inputs {
            run(input);
            if input.len() <= MOST_CHANGED_BYTES {
                (0..CHANGED).for_each(|_| run(&changed(input, &mut numbers)));
            }
        }
    }
    for seeds in &all {
        assert!(target(seeds.target).is_some(), "{} is no target", seeds.target);
    }
}

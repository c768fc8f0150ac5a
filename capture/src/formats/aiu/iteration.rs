//! Iterations of a run: the kernels whose order repeats.
//!
//! The first kernels are searched for two equal words in a row, which begin within the first third.
//! The word is then found again in all further kernels. The time of an iteration is that from its
//! start to the start of the next one that follows without other kernels between them. Names are
//! compared exactly, so a trace always has the same iterations. The search takes quadratic time in
//! the kernels before the second word ends; after it, time is linear and memory that of a word.

use std::collections::VecDeque;

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::schema::AiuIteration;
use nprof_engine::model::{Sink, Value};

use super::summary::count;

/// Fewest kernels that a search takes.
const MIN_KERNELS: usize = 10;
/// Most kernels that are searched. A run that has not repeated by then has no iterations.
const MAX_KERNELS: usize = 1 << 15;

/// The iterations of a rank.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    /// Kernels that are searched: number of the name, and start.
    names: Vec<u32>,
    starts: Vec<i64>,
    /// For each length the number of last kernels that equal those so many places before them.
    runs: Vec<u32>,
    known: Option<IterationKernels>,
    times: StartTimes,
    /// Repetitions of the word, with the first.
    words: u64,
}

/// The kernels of an iteration, and the place in the one that is running.
#[derive(Debug)]
struct IterationKernels {
    names: Vec<u32>,
    /// For each kernel the length of the longest start of the word that ends there, too.
    borders: Vec<usize>,
    /// Starts of the kernels of the running iteration.
    open: VecDeque<i64>,
    /// Start of the iteration that has just ended.
    last: Option<i64>,
}

/// Times between starts, in picoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StartTimes {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
}

impl StartTimes {
    fn add(&mut self, ps: i64) {
        (self.min, self.max) = if self.count == 0 { (ps, ps) } else { (self.min.min(ps), self.max.max(ps)) };
        self.count += 1;
        self.sum += i128::from(ps);
    }
}

impl Iterations {
    /// Takes a kernel. Kernels come by start.
    pub(super) fn take(&mut self, name: u32, start_ps: i64) {
        match &mut self.known {
            Some(word) => self.words += u64::from(word.take(name, start_ps, &mut self.times)),
            None if self.names.len() < MAX_KERNELS => self.search(name, start_ps),
            None => {}
        }
    }

    /// Number of iterations of this many kernels, which may begin and end within one. 0 if no
    /// kernels repeat.
    pub(super) fn count(&self, kernels: usize) -> u64 {
        let whole = self.known.as_ref().map_or(0, |word| kernels / word.names.len().max(1));
        self.words.max(whole as u64)
    }

    fn search(&mut self, name: u32, start_ps: i64) {
        self.names.push(name);
        self.starts.push(start_ps);
        let count = self.names.len();
        self.runs.push(0);
        // Longer words do not fit. Shorter ones would leave more than a third before them.
        for (length, run) in self.runs.iter_mut().enumerate().skip(usize::max(count / 3, 1)) {
            *run = if self.names[count - 1 - length] == name { run.saturating_add(1) } else { 0 };
        }
        if count < MIN_KERNELS {
            return;
        }
        let found = (count / 3..=count / 2).rev().find(|&length| {
            let begin = count - 2 * length;
            begin < count.div_ceil(3) && self.runs[length] as usize >= length
        });
        if let Some(length) = found {
            let (first, second) = (count - 2 * length, count - length);
            self.times.add(self.starts[second].saturating_sub(self.starts[first]));
            self.words = 2;
            self.known = Some(IterationKernels::new(self.names[second..].to_vec(), self.starts[second]));
            (self.names, self.starts, self.runs) = (Vec::new(), Vec::new(), Vec::new());
        }
    }

    /// Writes the iterations of a device, if there are any.
    pub(super) fn finish(self, sink: &mut dyn Sink, device: Option<u16>) -> Result<()> {
        let Some(word) = self.known else { return Ok(()) };
        let (fields, times) = (AiuIteration::define(sink)?, self.times);
        let ns = |ps: f64| Value::Float(ps / 1e3);
        let mut values = vec![
            (fields.iterations, count(times.count)),
            (fields.mean, ns(times.sum as f64 / times.count.max(1) as f64)),
            (fields.min, ns(times.min as f64)),
            (fields.max, ns(times.max as f64)),
            (fields.kernels, count(word.names.len() as u64)),
        ];
        values.extend(device.map(|device| (fields.device, Value::Int(device.into()))));
        sink.row(fields.table, &values)
    }
}

impl IterationKernels {
    fn new(names: Vec<u32>, last: i64) -> Self {
        let mut borders = vec![0; names.len()];
        for at in 1..names.len() {
            let mut length: usize = borders[at - 1];
            while length > 0 && names[at] != names[length] {
                length = borders[length - 1];
            }
            borders[at] = length + usize::from(names[at] == names[length]);
        }
        Self { names, borders, open: VecDeque::new(), last: Some(last) }
    }

    /// Takes a kernel. Returns whether it ends an iteration.
    fn take(&mut self, name: u32, start_ps: i64, times: &mut StartTimes) -> bool {
        self.open.push_back(start_ps);
        let mut length = self.open.len() - 1;
        while length > 0 && self.names[length] != name {
            length = self.borders[length - 1];
        }
        length += usize::from(self.names[length] == name);
        if self.open.len() > length {
            // Other kernels lie between this iteration and the last one.
            self.open.drain(..self.open.len() - length);
            self.last = None;
        }
        let is_whole = length == self.names.len();
        if is_whole {
            let start_ps = self.open[0];
            if let Some(last) = self.last {
                times.add(start_ps.saturating_sub(last));
            }
            self.last = Some(start_ps);
            self.open.clear();
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Number and mean of the iterations of a text with a letter for each kernel. Kernels start a
    /// picosecond apart, and each blank is a pause of 100.
    fn found(text: &str) -> Option<(u64, f64)> {
        let mut iterations = Iterations::default();
        let mut time = 0;
        for letter in text.chars() {
            if letter == ' ' {
                time += 100;
            } else {
                iterations.take(u32::from(letter), time);
                time += 1;
            }
        }
        iterations.known.as_ref()?;
        let StartTimes { count, sum, .. } = iterations.times;
        Some((count, sum as f64 / count as f64))
    }

    #[test]
    fn kernels_that_repeat_are_iterations() {
        for (text, expected) in [
            ("abcdeabcde", Some((1, 5.0))),
            ("wabcdeabcdeabcde", Some((2, 5.0))),
            ("abcdeabcde abcde", Some((2, 55.0))),
            // A kernel between two iterations drops the time between them.
            ("abcdeabcdeXabcdeabcde", Some((2, 5.0))),
            ("abcdeabcdeabXabcdeabcdeabc", Some((2, 5.0))),
            ("abababababab", Some((1, 4.0))),
            ("abcdefghijklmnop", None),
            ("abab", None),
            ("", None),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    proptest! {
        /// Any number of other kernels before them, and any number of kernels in an iteration.
        #[test]
        fn repeated_kernels_are_found(length in 5_u32..60, before in 0_u32..5, more in 1_u32..9) {
            let mut iterations = Iterations::default();
            let word = 0..length;
            let names = (100..100 + before).chain((0..=more).flat_map(|_| word.clone()));
            names.zip((0..).step_by(1_000)).for_each(|(name, start)| iterations.take(name, start));
            let period = i64::from(length) * 1_000;
            let sum = i128::from(period) * i128::from(more);
            let expected = StartTimes { count: more.into(), sum, min: period, max: period };
            prop_assert_eq!(iterations.times, expected);
        }
    }
}

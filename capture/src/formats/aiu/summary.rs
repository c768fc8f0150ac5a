//! Kernels by name: times, and cycles between their counters.

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, Value};
use nprof_engine::vendor::aiu::schema::{AiuCycles, AiuKernel};
use rustc_hash::FxHashMap;

use super::names::{Names, label};

/// Steps between neighbouring counters.
const STEPS: [&str; 4] = ["TS2-1", "TS3-2", "TS4-3", "TS5-4"];

/// Measurements of the kernels of one name.
#[derive(Debug, Default)]
struct Kernels {
    label: String,
    /// Durations in picoseconds.
    durations: Vec<i64>,
    /// Cycles of each step.
    cycles: [Vec<i64>; 4],
}

/// All kernels of a rank.
#[derive(Debug, Default)]
pub(super) struct Summary {
    all: Vec<Kernels>,
    by_label: FxHashMap<String, usize>,
    /// Position in `all` by the number of the name.
    by_name: FxHashMap<u32, usize>,
}

impl Summary {
    /// Takes a kernel with its duration in picoseconds, and the cycles of its steps if known.
    pub(super) fn take(&mut self, names: &Names, name: u32, duration_ps: i64, steps: Option<[u32; 4]>) {
        let at = match self.by_name.get(&name) {
            Some(&known) => known,
            None => {
                let label = label(&names.of(name).text);
                let at = *self.by_label.entry(label.clone()).or_insert_with(|| {
                    self.all.push(Kernels { label, ..Kernels::default() });
                    self.all.len() - 1
                });
                self.by_name.insert(name, at);
                at
            }
        };
        let kernels = &mut self.all[at];
        kernels.durations.push(duration_ps);
        for (list, cycles) in kernels.cycles.iter_mut().zip(steps.into_iter().flatten()) {
            list.push(i64::from(cycles));
        }
    }

    /// Writes the tables, the name with the most time first.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let total = |kernels: &Kernels| kernels.durations.iter().map(|&ps| i128::from(ps)).sum::<i128>();
        self.all.sort_by_cached_key(|kernels| (std::cmp::Reverse(total(kernels)), kernels.label.clone()));
        let whole: i128 = self.all.iter().map(total).sum();
        let (times, steps) = (AiuKernel::define(sink)?, AiuCycles::define(sink)?);
        for kernels in &mut self.all {
            let sum = total(kernels);
            let of = Spread::of(&mut kernels.durations);
            let ns = |ps: f64| Value::Float(ps / 1e3);
            let values = [
                (times.share, Value::Float(share(sum as f64, whole as f64))),
                (times.total, ns(sum as f64)),
                (times.calls, count(of.count)),
                (times.mean, ns(of.mean)),
                (times.median, ns(of.median)),
                (times.min, ns(of.min)),
                (times.max, ns(of.max)),
                (times.stdev, ns(of.stdev)),
                (times.name, Value::Text(&kernels.label)),
            ];
            sink.row(times.table, &values)?;
        }
        for kernels in &mut self.all {
            for (step, cycles) in STEPS.into_iter().zip(&mut kernels.cycles) {
                if cycles.is_empty() {
                    continue;
                }
                let of = Spread::of(cycles);
                let values = [
                    (steps.calls, count(of.count)),
                    (steps.step, Value::Text(step)),
                    (steps.mean, Value::Float(of.mean)),
                    (steps.median, Value::Float(of.median)),
                    (steps.min, Value::Float(of.min)),
                    (steps.max, Value::Float(of.max)),
                    (steps.stdev, Value::Float(of.stdev)),
                    (steps.name, Value::Text(&kernels.label)),
                ];
                sink.row(steps.table, &values)?;
            }
        }
        Ok(())
    }
}

/// Statistics of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    count: u64,
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
    /// With n - 1; 0 for one number.
    stdev: f64,
}

impl Spread {
    /// Statistics of at least one number. Sorts them.
    fn of(values: &mut [i64]) -> Self {
        values.sort_unstable();
        let count = values.len();
        let mean = values.iter().map(|&value| i128::from(value)).sum::<i128>() as f64 / count.max(1) as f64;
        let middle = |at: usize| values.get(at).map_or(0.0, |&value| value as f64);
        let median = f64::midpoint(middle(count.saturating_sub(1) / 2), middle(count / 2));
        let squares: f64 = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        let stdev = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        let (min, max) = (middle(0), middle(count.saturating_sub(1)));
        Self { count: count as u64, mean, median, min, max, stdev }
    }
}

/// A share; 0 if the whole is 0.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A count as a field's value.
pub(super) fn count(count: u64) -> Value<'static> {
    i64::try_from(count).map_or(Value::Uint(count), Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_few_numbers() {
        let of = |mut values: Vec<i64>| Spread::of(&mut values);
        let one = Spread { count: 1, mean: 7.0, median: 7.0, min: 7.0, max: 7.0, stdev: 0.0 };
        assert_eq!(of(vec![7]), one);
        let four = of(vec![4, 1, 3, 2]);
        assert_eq!((four.mean, four.median, four.min, four.max), (2.5, 2.5, 1.0, 4.0));
        assert!((four.stdev - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}

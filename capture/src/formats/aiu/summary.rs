//! Kernels by name: times, and cycles between their counters. Measurements wait in a sorter, so
//! memory is bounded for any number of kernels.

use std::collections::BTreeMap;

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{Result, narrow};
use nprof_engine::makers::aiu::schema::{AiuCycles, AiuKernel};
use nprof_engine::model::{Sink, Value};
use nprof_engine::spill::{NoBytes, Scratch, Sorter, Space, SpillKey};
use rustc_hash::FxHashMap;

use super::names::{SliceNames, label};

/// Steps between neighbouring counters.
const STEPS: [&str; 4] = ["TS2-1", "TS3-2", "TS4-3", "TS5-4"];

/// Kinds of measurements: the duration, then each of [`STEPS`].
const KINDS: usize = 1 + STEPS.len();

/// A measurement, ordered by name, kind and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Measured {
    /// Position of the name in [`KernelSummary::all`].
    kernel: u32,
    kind: u8,
    /// Picoseconds or cycles.
    value: i64,
}

impl SpillKey for Measured {
    type Span = NoBytes;
    const MAX_LEN: usize = 16;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(u64::from(self.kernel));
        out.push(self.kind);
        out.put_signed(self.value);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { kernel: cursor.varint_u32()?, kind: cursor.u8()?, value: cursor.signed()? })
    }
}

/// The kernels of one name on a device.
#[derive(Debug, Default)]
struct NamedKernels {
    device: u16,
    label: String,
    /// Start of the first one, by the corrected clock.
    first_ps: i64,
    /// Number and sum of the measurements of each kind.
    sums: [(u64, i128); KINDS],
}

/// A kernel that ran.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    pub(super) device: u16,
    /// Number of the name.
    pub(super) name: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// Cycles of the steps, if known.
    pub(super) steps: Option<[u32; 4]>,
}

/// All kernels of a rank.
pub(super) struct KernelSummary<'s> {
    all: Vec<NamedKernels>,
    by_label: FxHashMap<(u16, String), u32>,
    /// Position in `all` by the device and the number of the name.
    by_name: FxHashMap<(u16, u32), u32>,
    measured: Sorter<Measured, &'s dyn Scratch>,
}

impl<'s> KernelSummary<'s> {
    pub(super) fn new(space: Space<'s>) -> Self {
        Self {
            all: Vec::new(),
            by_label: FxHashMap::default(),
            by_name: FxHashMap::default(),
            measured: space.sorter(4),
        }
    }

    /// Takes a kernel.
    pub(super) fn take(&mut self, names: &SliceNames, ran: Ran) -> Result<()> {
        let Ran { device, name, start_ps, end_ps, steps } = ran;
        let kernel = self.kernel(names, device, name);
        let first_ps = &mut self.all[kernel as usize].first_ps;
        *first_ps = start_ps.min(*first_ps);
        self.measure(kernel, 0, end_ps.saturating_sub(start_ps))?;
        self.steps(kernel, steps)
    }

    /// Counts the cycles of the steps of a kernel that was taken without them.
    pub(super) fn count(
        &mut self,
        names: &SliceNames,
        device: u16,
        name: u32,
        steps: [u32; 4],
    ) -> Result<()> {
        let kernel = self.kernel(names, device, name);
        self.steps(kernel, Some(steps))
    }

    /// Position of the kernels of a name on a device.
    fn kernel(&mut self, names: &SliceNames, device: u16, name: u32) -> u32 {
        if let Some(&known) = self.by_name.get(&(device, name)) {
            return known;
        }
        let label = label(&names.of(name).text);
        let at = *self.by_label.entry((device, label.clone())).or_insert_with(|| {
            self.all.push(NamedKernels { device, label, first_ps: i64::MAX, ..NamedKernels::default() });
            narrow(self.all.len() - 1)
        });
        self.by_name.insert((device, name), at);
        at
    }

    fn steps(&mut self, kernel: u32, steps: Option<[u32; 4]>) -> Result<()> {
        let mut values = (1..).zip(steps.into_iter().flatten().map(i64::from));
        values.try_for_each(|(kind, value)| self.measure(kernel, kind, value))
    }

    fn measure(&mut self, kernel: u32, kind: u8, value: i64) -> Result<()> {
        let (count, sum) = &mut self.all[kernel as usize].sums[usize::from(kind)];
        (*count, *sum) = (*count + 1, *sum + i128::from(value));
        self.measured.push(Measured { kernel, kind, value })
    }

    /// Writes the tables, the name with the most time first. If times are equal, the name that
    /// ran first comes first, as in acelyzer's tables. Rows of several devices state theirs.
    pub(super) fn finish(self, sink: &mut dyn Sink, has_devices: bool) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let mut spreads: Vec<[OrderedStats; KINDS]> = self
            .all
            .iter()
            .map(|kernels| kernels.sums.map(|(count, sum)| OrderedStats::begin(count, sum)))
            .collect();
        let mut sorted = self.measured.finish()?;
        while let Some(&Measured { kernel, kind, value }) = sorted.next()? {
            spreads[kernel as usize][usize::from(kind)].take(value);
        }
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        let total = |at: &usize| self.all[*at].sums[0].1;
        order.sort_by_key(|at| {
            let NamedKernels { device, label, first_ps, .. } = &self.all[*at];
            (*device, std::cmp::Reverse(total(at)), *first_ps, label)
        });
        let mut wholes = BTreeMap::<u16, i128>::new();
        order.iter().for_each(|at| *wholes.entry(self.all[*at].device).or_default() += total(at));
        let device = |at: usize| has_devices.then(|| Value::Int(self.all[at].device.into()));
        let (times, steps) = (AiuKernel::define(sink)?, AiuCycles::define(sink)?);
        for &at in &order {
            let (sum, of) = (total(&at), &spreads[at][0]);
            let ns = |ps: f64| Value::Float(ps / 1e3);
            let whole = wholes.get(&self.all[at].device).copied().unwrap_or(0);
            let mut values = vec![
                (times.share, Value::Float(share(sum as f64, whole as f64))),
                (times.total, ns(sum as f64)),
                (times.calls, count(of.count)),
                (times.mean, ns(of.mean)),
                (times.median, ns(of.median)),
                (times.min, ns(of.min)),
                (times.max, ns(of.max)),
                (times.stdev, ns(of.stdev())),
                (times.name, Value::Text(&self.all[at].label)),
            ];
            values.extend(device(at).map(|device| (times.device, device)));
            sink.row(times.table, &values)?;
        }
        for &at in &order {
            for (step, of) in STEPS.into_iter().zip(&spreads[at][1..]).filter(|(_, of)| of.count > 0) {
                let mut values = vec![
                    (steps.calls, count(of.count)),
                    (steps.step, Value::Text(step)),
                    (steps.mean, Value::Float(of.mean)),
                    (steps.median, Value::Float(of.median)),
                    (steps.min, Value::Float(of.min)),
                    (steps.max, Value::Float(of.max)),
                    (steps.stdev, Value::Float(of.stdev())),
                    (steps.name, Value::Text(&self.all[at].label)),
                ];
                values.extend(device(at).map(|device| (steps.device, device)));
                sink.row(steps.table, &values)?;
            }
        }
        Ok(())
    }
}

/// Statistics of numbers that come in order, and whose count and sum are known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedStats {
    count: u64,
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
    squares: f64,
    taken: u64,
}

impl OrderedStats {
    fn begin(count: u64, sum: i128) -> Self {
        let mean = sum as f64 / count.max(1) as f64;
        Self { count, mean, median: 0.0, min: 0.0, max: 0.0, squares: 0.0, taken: 0 }
    }

    fn take(&mut self, value: i64) {
        let value = value as f64;
        if self.taken == 0 {
            self.min = value;
        }
        self.max = value;
        // The two numbers in the middle; they are one if the count is odd.
        let middle = [self.count.saturating_sub(1) / 2, self.count / 2];
        self.median += middle.into_iter().filter(|at| *at == self.taken).count() as f64 * value / 2.0;
        self.squares += (value - self.mean).powi(2);
        self.taken += 1;
    }

    /// Standard deviation with n - 1; 0 for one number.
    fn stdev(&self) -> f64 {
        if self.count > 1 { (self.squares / (self.count - 1) as f64).sqrt() } else { 0.0 }
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
        let of = |values: &[i64]| {
            let sum = values.iter().map(|&value| i128::from(value)).sum();
            let mut spread = OrderedStats::begin(values.len() as u64, sum);
            values.iter().for_each(|&value| spread.take(value));
            spread
        };
        let one = of(&[7]);
        assert_eq!((one.mean, one.median, one.min, one.max, one.stdev()), (7.0, 7.0, 7.0, 7.0, 0.0));
        let four = of(&[1, 2, 3, 4]);
        assert_eq!((four.mean, four.median, four.min, four.max), (2.5, 2.5, 1.0, 4.0));
        assert!((four.stdev() - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}

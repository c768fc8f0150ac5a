//! The kernels that a rank executed, by device: their summary, iterations, times, and their use of
//! the PT arrays over time.

use std::collections::BTreeMap;

use nprof_engine::base::{Interval, Result};
use nprof_engine::model::Sink;
use nprof_engine::spill::{Pile, Scratch, Space};

use super::edges::Edges;
use super::iteration::Iterations;
use super::kernel::Lot;
use super::names::SliceNames;
use super::summary::{KernelSummary, Ran};
use super::watts::ActivityChange;

/// Units of a ratio in [`Edges`].
pub(super) const RATIO: f64 = 1e12;

/// Times of the kernels of a device, in picoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Active {
    /// Sum of all durations.
    pub(super) kernel_ps: i64,
    /// Time in which a kernel runs.
    pub(super) busy_ps: i64,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
}

/// The kernels so far.
pub(super) struct KernelRuns<'s> {
    summary: KernelSummary<'s>,
    iterations: BTreeMap<u16, Iterations>,
    running: Edges<'s>,
    /// Use of the arrays.
    used: Edges<'s>,
    actives: BTreeMap<u16, Active>,
    /// Spans of the kernels of lots whose use of the arrays is known as a whole.
    wholes: BTreeMap<Lot, Interval>,
}

impl<'s> KernelRuns<'s> {
    pub(super) fn new(space: Space<'s>) -> Self {
        Self {
            summary: KernelSummary::new(space),
            iterations: BTreeMap::new(),
            running: Edges::new(space),
            used: Edges::new(space),
            actives: BTreeMap::new(),
            wholes: BTreeMap::new(),
        }
    }

    /// Takes a kernel.
    pub(super) fn take(&mut self, names: &SliceNames, ran: Ran) -> Result<()> {
        let Ran { device, name, start_ps, end_ps, .. } = ran;
        self.summary.take(names, ran)?;
        self.iterations.entry(device).or_default().take(name, start_ps);
        self.running.add_on(device, Interval::new(start_ps, end_ps), 1)?;
        let fresh = Active { start_ps, end_ps, ..Active::default() };
        let active = self.actives.entry(device).or_insert(fresh);
        active.kernel_ps = active.kernel_ps.saturating_add(end_ps.saturating_sub(start_ps));
        (active.start_ps, active.end_ps) = (active.start_ps.min(start_ps), active.end_ps.max(end_ps));
        Ok(())
    }

    /// Counts the cycles of the steps of a kernel that was taken without them.
    pub(super) fn count(
        &mut self,
        names: &SliceNames,
        device: u16,
        name: u32,
        steps: [u32; 4],
    ) -> Result<()> {
        self.summary.count(names, device, name, steps)
    }

    /// Notes the use of the arrays by a kernel.
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    pub(super) fn uses(&mut self, device: u16, span: Interval, share: f64) -> Result<()> {
        self.used.add_on(device, span, (share * RATIO).round() as i64)
    }

    /// Notes a kernel of a lot whose use of the arrays is known as a whole.
    pub(super) fn covers(&mut self, lot: Lot, span: Interval) {
        let whole = self.wholes.entry(lot).or_insert(span);
        *whole = whole.cover(span);
    }

    /// The use of the arrays over time. `share` tells that of a lot as a whole.
    pub(super) fn used(&mut self, share: impl Fn(Lot) -> f64, space: Space<'s>) -> Result<Edges<'s>> {
        for (lot, span) in std::mem::take(&mut self.wholes) {
            self.uses(lot.device, span, share(lot))?;
        }
        Ok(std::mem::replace(&mut self.used, Edges::new(space)))
    }

    /// Adds the times at which kernels of the first device with some begin and end to run, and
    /// finds the busy times.
    pub(super) fn changes(
        &mut self,
        changes: &mut Pile<ActivityChange, &'s dyn Scratch>,
        space: Space<'s>,
    ) -> Result<()> {
        let running = std::mem::replace(&mut self.running, Edges::new(space));
        // Only the runtime's traces tell a power, and their ranks have one device.
        let first = self.actives.keys().next().copied();
        let busy = running.finish(|device, time_ps, sum| match Some(device) == first {
            true => changes.push(ActivityChange { time_ps, runs: sum > 0 }),
            false => Ok(()),
        })?;
        for (device, busy_ps) in busy {
            self.actives.entry(device).or_default().busy_ps = busy_ps;
        }
        Ok(())
    }

    /// Writes the tables of kernels and iterations. Rows of several devices state theirs. Returns
    /// the times of the kernels by device.
    pub(super) fn finish(self, sink: &mut dyn Sink, has_devices: bool) -> Result<BTreeMap<u16, Active>> {
        self.summary.finish(sink, has_devices)?;
        for (device, iterations) in self.iterations {
            iterations.finish(sink, has_devices.then_some(device))?;
        }
        Ok(self.actives)
    }
}

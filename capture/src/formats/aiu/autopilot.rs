//! Use of the PT arrays by whole jobs: the autopilot arranges kernels anew, so its tables give only
//! the total of an iteration.

use std::collections::BTreeMap;

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::Phase;
use rustc_hash::FxHashMap;

use super::choice::{Measure, TableChoices};
use super::ideal::{IdealTable, IdealTableKind};
use super::iteration::Iterations;
use super::kernel::{Kernel, Lot};

/// The use of the arrays of a device by a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JobShare {
    /// Position of the autopilot's table.
    pub(super) table: usize,
    /// Repetitions of the table's kernels.
    pub(super) iterations: u64,
    /// Ideal time of all iterations over the time of all kernels.
    pub(super) utilization: f64,
}

/// The use of the arrays by each job on each device.
pub(super) type JobShares = BTreeMap<Lot, JobShare>;

/// The jobs' use of the arrays. Kernels come by job, device and start.
pub(super) fn shares(
    mut kernels: impl FnMut() -> Result<Option<Kernel>>,
    choices: &TableChoices,
    Measure { tables, names, clock, core_hz }: Measure<'_, '_>,
) -> Result<JobShares> {
    let mut shares = JobShares::new();
    if tables.iter().all(|table| table.kind == IdealTableKind::Kernels) {
        return Ok(shares);
    }
    let mut tally = JobKernels::default();
    let mut lot = Lot::default();
    while let Some(kernel) = kernels()? {
        if kernel.lot() != lot {
            let share = std::mem::take(&mut tally).finish(tables, core_hz);
            shares.extend(share.map(|share| (lot, share)));
            lot = kernel.lot();
        }
        let name = Phase::kernel(&names.of(kernel.name).text);
        let chosen = choices.of(lot, tally.count);
        let row = chosen.and_then(|at| Some((at, tables.get(at)?.row(name)?)));
        tally.take(&kernel, row, kernel.duration_ps(clock));
    }
    shares.extend(tally.finish(tables, core_hz).map(|share| (lot, share)));
    Ok(shares)
}

/// The kernels of a job on a device.
#[derive(Default)]
struct JobKernels {
    count: usize,
    ps: i64,
    /// Calls by table and row.
    calls: FxHashMap<(usize, usize), u64>,
    iterations: Iterations,
}

impl JobKernels {
    fn take(&mut self, kernel: &Kernel, row: Option<(usize, usize)>, duration_ps: i64) {
        self.count += 1;
        self.ps = self.ps.saturating_add(duration_ps);
        self.iterations.take(kernel.name, kernel.start_ps);
        if let Some(row) = row {
            *self.calls.entry(row).or_default() += 1;
        }
    }

    fn finish(self, tables: &[IdealTable], core_hz: f64) -> Option<JobShare> {
        let calls_of = |at: usize| {
            let mut calls: Vec<u64> =
                self.calls.iter().filter(|((table, _), _)| *table == at).map(|(_, calls)| *calls).collect();
            calls.sort_unstable();
            calls
        };
        let most =
            (0..tables.len()).max_by_key(|&at| (calls_of(at).iter().sum::<u64>(), std::cmp::Reverse(at)))?;
        let calls = calls_of(most);
        // Tables whose names are not those of the trace: there must be one only.
        if self.count == 0
            || tables[most].kind != IdealTableKind::Autopilot
            || (calls.is_empty() && tables.len() > 1)
        {
            return None;
        }
        // Kernels that run once, before or after the iterations, do not count.
        let iterations = calls.get(calls.len() / 2).copied();
        let iterations = iterations.unwrap_or_else(|| self.iterations.count(self.count).max(1));
        let ideal_s = tables[most].cycles() as f64 * iterations as f64 / core_hz;
        let utilization = if self.ps > 0 { ideal_s * 1e12 / self.ps as f64 } else { 0.0 };
        Some(JobShare { table: most, iterations, utilization })
    }
}

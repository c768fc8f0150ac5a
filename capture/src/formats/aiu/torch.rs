//! Ideals of the kernels of PyTorch's dialect. The ordinary reader writes their slices while it
//! reads, so the table of each kernel must be known before.

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::Phase;

use super::autopilot::{JobShares, shares};
use super::choice::{Measure, choose};
use super::ideal::IdealTable;
use super::kernel::{Kernel, Lot};
use super::usage::{MatchedIdeal, OTHER};

/// Facts about the kernels before they are written.
#[derive(Debug)]
pub(super) struct TorchIdeals<'t> {
    tables: &'t [IdealTable],
    core_hz: f64,
    /// Table of each kernel by its number, if there are several.
    chosen: Option<Vec<Option<u16>>>,
    shares: JobShares,
}

impl<'t> TorchIdeals<'t> {
    /// The only table gives the ideals of all kernels.
    pub(super) fn of_one(tables: &'t [IdealTable], core_hz: f64) -> Self {
        Self { tables, core_hz, chosen: None, shares: JobShares::new() }
    }

    /// Chooses tables. `kernels` starts a reading of all kernels, by job and start.
    pub(super) fn choose<R: FnMut() -> Result<Option<Kernel>>>(
        kernels: impl Fn() -> R,
        measure: Measure<'t, '_>,
    ) -> Result<Self> {
        let mut choices = choose(kernels(), measure)?;
        let shares = shares(kernels(), &choices, measure)?;
        let (mut all, mut chosen) = (kernels(), Vec::new());
        while let Some(kernel) = all()? {
            let at = kernel.number as usize;
            if chosen.len() <= at {
                chosen.resize(at + 1, None);
            }
            chosen[at] = choices.next(kernel.lot()).and_then(|table| u16::try_from(table).ok());
        }
        let Measure { tables, core_hz, .. } = measure;
        Ok(Self { tables, core_hz, chosen: Some(chosen), shares })
    }

    /// The category of a kernel of a lot, and its use of the arrays if it has one.
    pub(super) fn of(&self, kernel: &str, lot: Lot, number: u32, measured_ps: i64) -> (&'t str, Option<f64>) {
        if let Some(share) = self.shares.get(&lot) {
            return (OTHER, Some(share.utilization));
        }
        let table = match &self.chosen {
            None => Some(0),
            Some(chosen) => chosen.get(number as usize).copied().flatten(),
        };
        let table = table.and_then(|at| self.tables.get(usize::from(at)));
        let row = table.and_then(|table| Some((table, table.row(Phase::kernel(kernel))?)));
        let Some((table, row)) = row else { return (OTHER, None) };
        let matched = MatchedIdeal::of(table, row, measured_ps, self.core_hz);
        (matched.category, matched.utilization.filter(|utilization| *utilization > 0.0))
    }
}

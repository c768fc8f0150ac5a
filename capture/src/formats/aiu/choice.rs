//! Choice of the compiler's table for a kernel, if there are several.
//!
//! A table describes one iteration of one phase of the model, and a job repeats tables. The kernels
//! of a job on a device are cut into iterations: from the current kernel on, the table with the
//! longest run of kernels in the order of its rows wins. If runs are equal, the table whose ideal
//! times exceed the fewest measured times wins, then the one with the most ideal cycles.

use std::collections::VecDeque;

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::Phase;
use rustc_hash::FxHashMap;

use super::clock::CounterClock;
use super::ideal::{IdealTable, IdealTableKind};
use super::kernel::{Kernel, Lot};
use super::names::SliceNames;

/// Most kernels of an iteration that are compared.
const MAX_RUN: usize = 1 << 12;

/// The table of each kernel of a rank, by job and device.
#[derive(Debug, Default)]
pub(super) struct TableChoices {
    by_lot: FxHashMap<Lot, Lots>,
    has_one: bool,
}

/// The tables of the kernels of a lot, and the number of kernels that got theirs.
#[derive(Debug, Default)]
struct Lots {
    tables: Vec<u16>,
    told: usize,
}

/// Marks a kernel that is in no table.
const NONE: u16 = u16::MAX;

impl TableChoices {
    /// The only table for all kernels, or none.
    pub(super) fn of_one() -> Self {
        Self { has_one: true, ..Self::default() }
    }

    /// The table of the next kernel of a lot. Kernels must come as in [`choose`].
    pub(super) fn next(&mut self, lot: Lot) -> Option<usize> {
        if self.has_one {
            return Some(0);
        }
        let Lots { tables, told } = self.by_lot.get_mut(&lot)?;
        let choice = tables.get(*told).copied().filter(|&choice| choice != NONE);
        *told += 1;
        choice.map(usize::from)
    }

    /// The table of a kernel, by its position among the kernels of its lot.
    pub(super) fn of(&self, lot: Lot, kernel: usize) -> Option<usize> {
        if self.has_one {
            return Some(0);
        }
        let choice = self.by_lot.get(&lot)?.tables.get(kernel).copied();
        choice.filter(|&choice| choice != NONE).map(usize::from)
    }

    fn push(&mut self, lot: Lot, choice: u16) {
        self.by_lot.entry(lot).or_default().tables.push(choice);
    }
}

/// Facts that kernels are compared with tables by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure<'t, 'a> {
    pub(super) tables: &'t [IdealTable],
    pub(super) names: &'a SliceNames,
    pub(super) clock: &'a CounterClock,
    /// Frequency that ideal cycles count at.
    pub(super) core_hz: f64,
}

/// Chooses a table for each kernel.
pub(super) fn choose(
    mut kernels: impl FnMut() -> Result<Option<Kernel>>,
    Measure { tables, names, core_hz, .. }: Measure<'_, '_>,
) -> Result<TableChoices> {
    if tables.len() < 2 {
        return Ok(TableChoices::of_one());
    }
    let mut choices = TableChoices::default();
    let chooser = Chooser { tables, core_hz };
    // Kernels of one lot that wait for their choice: row by table, and duration in seconds.
    let mut waiting: VecDeque<WaitingKernel> = VecDeque::new();
    let mut lot = Lot::default();
    let mut last = None;
    while let Some(kernel) = kernels()? {
        if kernel.lot() != lot {
            chooser.settle(&mut waiting, lot, &mut choices, 0, &mut last);
            (lot, last) = (kernel.lot(), None);
        }
        let name = Phase::kernel(&names.of(kernel.name).text);
        let rows = tables.iter().map(|table| table.row(name)).collect();
        let seconds = kernel.end_ps.saturating_sub(kernel.start_ps) as f64 / 1e12;
        waiting.push_back(WaitingKernel { rows, seconds });
        if waiting.len() >= 2 * MAX_RUN {
            chooser.settle(&mut waiting, lot, &mut choices, MAX_RUN, &mut last);
        }
    }
    chooser.settle(&mut waiting, lot, &mut choices, 0, &mut last);
    Ok(choices)
}

/// A kernel that waits for its table.
struct WaitingKernel {
    rows: Vec<Option<usize>>,
    seconds: f64,
}

struct Chooser<'t> {
    tables: &'t [IdealTable],
    core_hz: f64,
}

impl Chooser<'_> {
    /// Chooses tables until at most `keep` kernels wait.
    fn settle(
        &self,
        waiting: &mut VecDeque<WaitingKernel>,
        lot: Lot,
        choices: &mut TableChoices,
        keep: usize,
        last: &mut Option<usize>,
    ) {
        while waiting.len() > keep {
            let best = (0..self.tables.len().min(usize::from(NONE)))
                .map(|table| (self.score(waiting, table, *last), table))
                .filter(|((len, ..), _)| *len > 0)
                .max_by(|(a, first), (b, second)| a.cmp(b).then(second.cmp(first)));
            let Some(((len, ..), table)) = best else {
                waiting.pop_front();
                choices.push(lot, NONE);
                continue;
            };
            *last = Some(table);
            waiting.drain(..len);
            let choice = u16::try_from(table).unwrap_or(NONE);
            (0..len).for_each(|_| choices.push(lot, choice));
        }
    }

    /// Length of the run of a table, kernels that are not too short for it, and its ideal cycles.
    /// The table of the run before wins over others with equal scores.
    fn score(
        &self,
        waiting: &VecDeque<WaitingKernel>,
        table: usize,
        last: Option<usize>,
    ) -> (usize, usize, u64, bool) {
        let of = &self.tables[table];
        let (mut before, mut len, mut fitting, mut cycles) = (None, 0, 0, 0_u64);
        for kernel in waiting.iter().take(MAX_RUN) {
            let Some(row) = kernel.rows[table].filter(|row| before.is_none_or(|before| before < *row)) else {
                break;
            };
            let ideal = of.rows[row].cycles;
            before = Some(row);
            len += 1;
            fitting += usize::from(ideal as f64 / self.core_hz <= kernel.seconds);
            cycles = cycles.saturating_add(ideal);
        }
        if of.kind == IdealTableKind::Autopilot && len == 0 {
            len = usize::from(self.tables.len() == 1);
        }
        (len, fitting, cycles, last == Some(table))
    }
}

//! Use of the PT arrays: ideal over measured time, by category of kernels and phase of the model.

use std::collections::BTreeMap;

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::metrics::TOTAL;
use nprof_engine::makers::aiu::schema::{AiuCategory, AiuIdeal, AiuOp};
use nprof_engine::model::{FieldId, Sink, Value};

use super::autopilot::{JobShare, JobShares};
use super::ideal::{IdealTable, IdealTableKind, NO_PHASE};
use super::kernel::Lot;
use super::summary::{count, share};

/// Category of kernels that are in no table.
pub(super) const OTHER: &str = "other";
/// Categories that are always listed.
const ALWAYS: [&str; 2] = ["StcdpHbm", OTHER];

/// Measured and ideal time of some kernels.
#[derive(Debug, Clone, Copy, Default)]
struct UsageCell {
    calls: u64,
    measured_ps: i64,
    ideal_cycles: u64,
}

impl UsageCell {
    fn add(&mut self, measured_ps: i64, ideal_cycles: u64) {
        self.calls += 1;
        self.measured_ps = self.measured_ps.saturating_add(measured_ps);
        self.ideal_cycles = self.ideal_cycles.saturating_add(ideal_cycles);
    }
}

/// A kernel's ideal.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchedIdeal<'t> {
    pub(super) category: &'t str,
    pub(super) phase: &'static str,
    /// Ideal cycles, if the table has them for the kernel alone.
    pub(super) cycles: Option<u64>,
    /// Ideal over measured time; `None` if the kernel took no time. With the autopilot, that of all
    /// kernels of the job.
    pub(super) utilization: Option<f64>,
}

impl<'t> MatchedIdeal<'t> {
    /// The ideal of a kernel by its row in a table of kernels.
    pub(super) fn of(table: &'t IdealTable, row: usize, measured_ps: i64, core_hz: f64) -> Self {
        let ideal = &table.rows[row];
        let ideal_ps = ideal.cycles as f64 / core_hz * 1e12;
        let utilization = (measured_ps > 0).then(|| ideal_ps / measured_ps as f64);
        Self { category: &ideal.category, phase: table.phase, cycles: Some(ideal.cycles), utilization }
    }

    /// The fields of the kernel's slice.
    pub(super) fn fields(&self, op: &AiuOp) -> Vec<(FieldId, Value<'t>)> {
        let mut fields = vec![(op.category, Value::Text(self.category))];
        fields.extend(named(self.phase).map(|phase| (op.phase, phase)));
        fields.extend(self.cycles.map(|cycles| (op.ideal_cycles, count(cycles))));
        fields.extend(self.utilization.map(|utilization| (op.pt_active, Value::Float(utilization))));
        fields
    }
}

/// The phase of a table, unless the log names none.
fn named(phase: &'static str) -> Option<Value<'static>> {
    (phase != NO_PHASE).then_some(Value::Text(phase))
}

/// Sums by category.
type UsageCells<'t> = BTreeMap<&'t str, UsageCell>;

/// Sums of a rank, by device and phase.
#[derive(Debug)]
pub(super) struct ArrayUsage<'t> {
    tables: &'t [IdealTable],
    core_hz: f64,
    /// Use of the arrays by job, if the autopilot's tables tell it.
    shares: JobShares,
    /// The categories of each phase, for a device without kernels.
    empty: BTreeMap<&'static str, UsageCells<'t>>,
    by_phase: BTreeMap<(u16, &'static str), UsageCells<'t>>,
    /// Kernels that took less than their ideal time.
    pub(super) too_short: u64,
    /// Whether a kernel is in a table, or in a job of the autopilot.
    pub(super) is_known: bool,
    /// Number of kernels that are in no table, and the name of the first one.
    pub(super) unknown: (u64, String),
}

impl<'t> ArrayUsage<'t> {
    pub(super) fn new(tables: &'t [IdealTable], core_hz: f64, shares: JobShares) -> Self {
        let mut empty: BTreeMap<&'static str, UsageCells<'t>> = BTreeMap::new();
        for table in tables {
            let of_phase = empty.entry(table.phase).or_default();
            let own = table.rows.iter().map(|row| &*row.category);
            of_phase.extend(own.chain(ALWAYS).map(|category| (category, UsageCell::default())));
        }
        let by_phase = BTreeMap::new();
        Self {
            tables,
            core_hz,
            shares,
            empty,
            by_phase,
            too_short: 0,
            is_known: false,
            unknown: (0, String::new()),
        }
    }

    /// The use of the arrays of a device by a job as a whole.
    pub(super) fn share(&self, lot: Lot) -> Option<JobShare> {
        self.shares.get(&lot).copied()
    }

    /// Takes a kernel with its lot and the number of its table. Returns its ideal, if there is one.
    pub(super) fn take(
        &mut self,
        kernel: &str,
        lot: Lot,
        table: Option<usize>,
        measured_ps: i64,
    ) -> Option<MatchedIdeal<'t>> {
        let first = self.tables.first()?;
        let device = lot.device;
        if let Some(share) = self.share(lot) {
            let phase = self.tables[share.table].phase;
            self.cell(device, phase, OTHER).add(measured_ps, 0);
            self.is_known = true;
            return Some(MatchedIdeal {
                category: OTHER,
                phase,
                cycles: None,
                utilization: Some(share.utilization),
            });
        }
        let found = table.and_then(|at| Some((at, self.tables[at].row(kernel)?)));
        let Some((at, row)) = found else {
            if self.unknown.0 == 0 {
                kernel.clone_into(&mut self.unknown.1);
            }
            self.unknown.0 += 1;
            let phase = table.map_or(first.phase, |at| self.tables[at].phase);
            self.cell(device, phase, OTHER).add(measured_ps, 0);
            return None;
        };
        self.is_known = true;
        let table = &self.tables[at];
        if table.kind == IdealTableKind::Autopilot {
            self.cell(device, table.phase, OTHER).add(measured_ps, 0);
            return None;
        }
        let matched = MatchedIdeal::of(table, row, measured_ps, self.core_hz);
        let cycles = table.rows[row].cycles;
        let is_too_short = cycles > 0 && matched.utilization.is_none_or(|utilization| utilization > 1.0);
        self.too_short += u64::from(is_too_short);
        let ideal_cycles = if is_too_short { 0 } else { cycles };
        self.cell(device, table.phase, matched.category).add(measured_ps, ideal_cycles);
        Some(matched)
    }

    /// The sums of a category. A device with kernels lists the categories of all phases.
    fn cell(&mut self, device: u16, phase: &'static str, category: &'t str) -> &mut UsageCell {
        if !self.by_phase.contains_key(&(device, phase)) {
            self.list(device);
        }
        self.by_phase.entry((device, phase)).or_default().entry(category).or_default()
    }

    /// Lists the categories of all phases for a device.
    fn list(&mut self, device: u16) {
        for (&phase, cells) in &self.empty {
            self.by_phase.entry((device, phase)).or_insert_with(|| cells.clone());
        }
    }

    /// Ideal cycles of the autopilot's tables of a phase: the total of an iteration, times the
    /// iterations of each job on the device.
    fn autopilot(&self, device: u16, phase: &str) -> u64 {
        let is_it = |(lot, share): &(&Lot, &JobShare)| {
            lot.device == device && self.tables[share.table].phase == phase
        };
        let cycles = |share: &JobShare| self.tables[share.table].cycles().saturating_mul(share.iterations);
        self.shares.iter().filter(is_it).map(|(_, share)| cycles(share)).fold(0, u64::saturating_add)
    }

    /// Positions of the categories of a phase, as acelyzer lists them: those that are always there,
    /// then the others in the order of the compiler's tables.
    fn positions(&self, phase: &str) -> BTreeMap<&str, usize> {
        let of_phase = self.tables.iter().filter(|table| table.phase == phase);
        let own = of_phase.flat_map(|table| &table.rows).map(|row| &*row.category);
        let mut positions = BTreeMap::new();
        for (at, category) in ALWAYS.into_iter().chain(own).enumerate() {
            positions.entry(category).or_insert(at);
        }
        positions
    }

    /// Writes the tables of categories and of ideal cycles. Rows of several devices state theirs.
    pub(super) fn finish(&mut self, sink: &mut dyn Sink, has_devices: bool) -> Result<()> {
        if self.tables.is_empty() {
            return Ok(());
        }
        if self.by_phase.is_empty() {
            self.list(0);
        }
        let fields = AiuCategory::define(sink)?;
        for (&(device, phase), cells) in &self.by_phase {
            let mut total = UsageCell::default();
            for cell in cells.values() {
                total.calls += cell.calls;
                total.measured_ps = total.measured_ps.saturating_add(cell.measured_ps);
                total.ideal_cycles = total.ideal_cycles.saturating_add(cell.ideal_cycles);
            }
            total.ideal_cycles = total.ideal_cycles.saturating_add(self.autopilot(device, phase));
            let mut rows: Vec<(&str, UsageCell)> = cells.iter().map(|(&name, &cell)| (name, cell)).collect();
            let positions = self.positions(phase);
            rows.sort_by_key(|(name, cell)| (cell.measured_ps, positions.get(name)));
            rows.push((TOTAL, total));
            for (category, cell) in rows {
                let mut values = self.row(&fields, category, cell, total).to_vec();
                values.extend(named(phase).map(|phase| (fields.phase, phase)));
                values.extend(has_devices.then(|| (fields.device, Value::Int(device.into()))));
                sink.row(fields.table, &values)?;
            }
        }
        self.ideals(sink)
    }

    /// The values of a row.
    fn row<'v>(
        &self,
        fields: &AiuCategory,
        category: &'v str,
        cell: UsageCell,
        total: UsageCell,
    ) -> [(FieldId, Value<'v>); 8] {
        let (measured_ns, ideal_ns) =
            (cell.measured_ps as f64 / 1e3, cell.ideal_cycles as f64 / self.core_hz * 1e9);
        let ideal_share = share(cell.ideal_cycles as f64, total.ideal_cycles as f64);
        [
            (fields.category, Value::Text(category)),
            (fields.kernel_time, Value::Float(measured_ns)),
            (fields.share, Value::Float(share(measured_ns, total.measured_ps as f64 / 1e3))),
            (fields.calls, count(cell.calls)),
            (fields.ideal_time, Value::Float(ideal_ns)),
            (fields.ideal_cycles, count(cell.ideal_cycles)),
            (fields.ideal_share, Value::Float(ideal_share)),
            (fields.pt_util, Value::Float(share(ideal_ns, measured_ns))),
        ]
    }

    fn ideals(&self, sink: &mut dyn Sink) -> Result<()> {
        let fields = AiuIdeal::define(sink)?;
        for (number, table) in (1..).zip(self.tables) {
            let rows = table.rows.iter().map(|row| (&*row.kernel, &*row.category, row.cycles));
            for (kernel, category, cycles) in rows.chain(table.total.map(|total| (TOTAL, "", total))) {
                let mut values = vec![
                    (fields.number, Value::Int(number)),
                    (fields.kernel, Value::Text(kernel)),
                    (fields.category, Value::Text(category)),
                    (fields.cycles, count(cycles)),
                ];
                values.extend(named(table.phase).map(|phase| (fields.phase, phase)));
                sink.row(fields.table, &values)?;
            }
        }
        Ok(())
    }
}

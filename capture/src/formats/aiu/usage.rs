//! Use of the PT arrays: ideal over measured time, by category of kernels and phase of the model.

use std::collections::BTreeMap;

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, Value};
use nprof_engine::vendor::aiu::metrics::TOTAL;
use nprof_engine::vendor::aiu::schema::{AiuCategory, AiuIdeal};

use super::ideal::{NO_PHASE, Table, TableKind};
use super::summary::{count, share};

/// Category of kernels that are in no table.
const OTHER: &str = "other";
/// Categories that are always listed.
const ALWAYS: [&str; 2] = ["StcdpHbm", OTHER];

/// Measured and ideal time of some kernels.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    calls: u64,
    measured_ps: i64,
    ideal_cycles: u64,
}

impl Cell {
    fn add(&mut self, measured_ps: i64, ideal_cycles: u64) {
        self.calls += 1;
        self.measured_ps = self.measured_ps.saturating_add(measured_ps);
        self.ideal_cycles = self.ideal_cycles.saturating_add(ideal_cycles);
    }
}

/// A kernel's ideal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matched<'t> {
    pub(super) category: &'t str,
    pub(super) phase: &'static str,
    pub(super) cycles: u64,
    /// Ideal over measured time; `None` if the kernel took no time.
    pub(super) utilization: Option<f64>,
}

/// Sums of a rank.
#[derive(Debug)]
pub(super) struct Usage<'t> {
    tables: &'t [Table],
    core_hz: f64,
    /// Calls of each row of each table.
    rows: Vec<Vec<u64>>,
    by_phase: BTreeMap<&'static str, BTreeMap<&'t str, Cell>>,
    /// Kernels that took less than their ideal time.
    pub(super) too_short: u64,
    /// Kernels that are in no table.
    pub(super) unknown: u64,
}

impl<'t> Usage<'t> {
    pub(super) fn new(tables: &'t [Table], core_hz: f64) -> Self {
        let mut by_phase: BTreeMap<&'static str, BTreeMap<&'t str, Cell>> = BTreeMap::new();
        for table in tables {
            let of_phase = by_phase.entry(table.phase).or_default();
            let own = table.rows.iter().map(|row| &*row.category);
            of_phase.extend(own.chain(ALWAYS).map(|category| (category, Cell::default())));
        }
        let rows = tables.iter().map(|table| vec![0; table.rows.len()]).collect();
        Self { tables, core_hz, rows, by_phase, too_short: 0, unknown: 0 }
    }

    /// Takes a kernel with the number of its table. Returns its ideal, if the table has one.
    pub(super) fn take(
        &mut self,
        kernel: &str,
        table: Option<usize>,
        measured_ps: i64,
    ) -> Option<Matched<'t>> {
        let first = self.tables.first()?;
        let found = table.and_then(|at| Some((at, self.tables[at].row(kernel)?)));
        let Some((at, row)) = found else {
            self.unknown += 1;
            let phase = table.map_or(first.phase, |at| self.tables[at].phase);
            self.cell(phase, OTHER).add(measured_ps, 0);
            return None;
        };
        self.rows[at][row] += 1;
        let table = &self.tables[at];
        if table.kind == TableKind::Autopilot {
            self.cell(table.phase, OTHER).add(measured_ps, 0);
            return None;
        }
        let ideal = &table.rows[row];
        let ideal_ps = ideal.cycles as f64 / self.core_hz * 1e12;
        let utilization = (measured_ps > 0).then(|| ideal_ps / measured_ps as f64);
        let is_too_short = ideal.cycles > 0 && utilization.is_none_or(|utilization| utilization > 1.0);
        self.too_short += u64::from(is_too_short);
        let counted = if is_too_short { 0 } else { ideal.cycles };
        self.cell(table.phase, &ideal.category).add(measured_ps, counted);
        Some(Matched { category: &ideal.category, phase: table.phase, cycles: ideal.cycles, utilization })
    }

    fn cell(&mut self, phase: &'static str, category: &'t str) -> &mut Cell {
        self.by_phase.entry(phase).or_default().entry(category).or_default()
    }

    /// Ideal cycles of the autopilot's tables of a phase: the total of an iteration, times the
    /// iterations.
    fn autopilot(&self, phase: &str) -> u64 {
        let of_phase = self.tables.iter().zip(&self.rows);
        let is_it = |table: &Table| table.kind == TableKind::Autopilot && table.phase == phase;
        let cycles = of_phase.filter(|(table, _)| is_it(table)).map(|(table, calls)| {
            let mut calls: Vec<u64> = calls.iter().copied().filter(|&calls| calls > 0).collect();
            calls.sort_unstable();
            // Kernels that run once, before or after the iterations, do not count.
            let iterations = calls.get(calls.len() / 2).copied().unwrap_or(1);
            table.cycles().saturating_mul(iterations)
        });
        cycles.sum()
    }

    /// Writes the tables of categories and of ideal cycles.
    pub(super) fn finish(&self, sink: &mut dyn Sink) -> Result<()> {
        if self.tables.is_empty() {
            return Ok(());
        }
        let fields = AiuCategory::define(sink)?;
        for (&phase, cells) in &self.by_phase {
            let mut total = Cell::default();
            for cell in cells.values() {
                total.calls += cell.calls;
                total.measured_ps = total.measured_ps.saturating_add(cell.measured_ps);
                total.ideal_cycles = total.ideal_cycles.saturating_add(cell.ideal_cycles);
            }
            total.ideal_cycles = total.ideal_cycles.saturating_add(self.autopilot(phase));
            let mut rows: Vec<(&str, Cell)> = cells.iter().map(|(&name, &cell)| (name, cell)).collect();
            rows.sort_by_key(|(name, cell)| (cell.measured_ps, *name));
            rows.push((TOTAL, total));
            for (category, cell) in rows {
                self.row(sink, &fields, (phase, category), (cell, total))?;
            }
        }
        self.ideals(sink)
    }

    fn row(
        &self,
        sink: &mut dyn Sink,
        fields: &AiuCategory,
        (phase, category): (&str, &str),
        (cell, total): (Cell, Cell),
    ) -> Result<()> {
        let (measured_ns, ideal_ns) =
            (cell.measured_ps as f64 / 1e3, cell.ideal_cycles as f64 / self.core_hz * 1e9);
        let phase = if phase == NO_PHASE { "" } else { phase };
        sink.row(
            fields.table,
            &[
                (fields.phase, Value::Text(phase)),
                (fields.category, Value::Text(category)),
                (fields.kernel_time, Value::Float(measured_ns)),
                (fields.share, Value::Float(share(measured_ns, total.measured_ps as f64 / 1e3))),
                (fields.calls, count(cell.calls)),
                (fields.ideal_time, Value::Float(ideal_ns)),
                (fields.ideal_cycles, count(cell.ideal_cycles)),
                (
                    fields.ideal_share,
                    Value::Float(share(cell.ideal_cycles as f64, total.ideal_cycles as f64)),
                ),
                (fields.pt_util, Value::Float(share(ideal_ns, measured_ns))),
            ],
        )
    }

    fn ideals(&self, sink: &mut dyn Sink) -> Result<()> {
        let fields = AiuIdeal::define(sink)?;
        for (number, table) in (1..).zip(self.tables) {
            let phase = if table.phase == NO_PHASE { "" } else { table.phase };
            let rows = table.rows.iter().map(|row| (&*row.kernel, &*row.category, row.cycles));
            for (kernel, category, cycles) in rows.chain(table.total.map(|total| (TOTAL, "", total))) {
                let values = [
                    (fields.number, Value::Int(number)),
                    (fields.phase, Value::Text(phase)),
                    (fields.kernel, Value::Text(kernel)),
                    (fields.category, Value::Text(category)),
                    (fields.cycles, count(cycles)),
                ];
                sink.row(fields.table, &values)?;
            }
        }
        Ok(())
    }
}

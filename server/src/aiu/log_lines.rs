//! Facts about the ranks that acelyzer states in its log: iterations, and statistics of the power.

use nprof_engine::base;
use nprof_engine::exec::Cancel;
use nprof_engine::makers::FieldCell;
use nprof_engine::makers::aiu::schema::{ClockRow, IterationRow, PowerRow};
use nprof_engine::native::SegmentFile;

use super::error::Result;
use crate::export::RanksOf;

/// The lines about the iterations of all ranks. A rank without iterations has none.
pub fn iterations(of: RanksOf<'_>) -> Result<Vec<String>> {
    let line = |rank: u32, row: &IterationRow<FieldCell>| {
        let (mean_us, count) = (row.mean.float_or_zero() / 1e3, row.iterations.float_or_zero());
        let device = row.device.int();
        let whose = device.map_or_else(|| rank.to_string(), |device| format!("{rank}, device {device}"));
        format!("ITSTATS: [{whose}] avg_iteration_time={mean_us:?}, iterations={count:.0}")
    };
    lines(of, IterationRow::read, line)
}

/// Frequencies that differ by more are worth a line, in megahertz.
const MAX_OFF_MHZ: f64 = 0.1;

/// The lines about frequencies: which one keeps the times of the device together with those of the
/// host, if it is not the stated one.
pub fn frequencies(of: RanksOf<'_>, stated_mhz: Option<f64>) -> Result<Vec<String>> {
    let Some(stated_mhz) = stated_mhz else { return Ok(Vec::new()) };
    let line = |rank: u32, row: &ClockRow<FieldCell>| {
        let found_mhz = row.found_hz.float_or_zero() / 1e6;
        let drift_us = row.used_drift.float_or_zero().abs() / 1e3;
        let is_off = (found_mhz - stated_mhz).abs() > MAX_OFF_MHZ && found_mhz > 0.0;
        is_off.then(|| {
            format!(
                "FREQ: [{rank}] the counters run at {found_mhz:.3} MHz; use --freq={found_mhz:.3}, \
                 or leave it out (largest drift with the stated one: {drift_us:.0} us)"
            )
        })
    };
    Ok(lines(of, ClockRow::read, line)?.into_iter().flatten().collect())
}

/// The lines about the power of all ranks.
pub fn power(of: RanksOf<'_>) -> Result<Vec<String>> {
    let is_one = of.ranks.len() == 1;
    let line = |rank: u32, row: &PowerRow<FieldCell>| {
        let whose = if is_one { String::new() } else { format!(" of rank {rank}") };
        let (number, ms) = (FieldCell::float_or_zero, |cell: &FieldCell| cell.float_or_zero() / 1e6);
        format!(
            "Power{whose} {}: min_non_zero={:.2}W, max={:.2}W, mean_non_zero={:.2}W, median_non_zero={:.2}W, \
             avg_total={:.2}W (time-weighted, dur_total={:.2}ms, dur_non_zero={:.2}ms)",
            row.part.text_or_empty(),
            number(&row.min),
            number(&row.max),
            number(&row.mean),
            number(&row.median),
            number(&row.average),
            ms(&row.duration),
            ms(&row.duration_above),
        )
    };
    let found = lines(of, PowerRow::read, line)?;
    let none = || vec!["--power-stats: no slice states a charge, so there is no power".to_owned()];
    Ok(if found.is_empty() { none() } else { found })
}

/// A line for each row of all ranks.
fn lines<R, T>(
    of: RanksOf<'_>,
    read: impl Fn(&SegmentFile, Cancel<'_>) -> base::Result<Vec<R>>,
    line: impl Fn(u32, &R) -> T,
) -> Result<Vec<T>> {
    let mut lines = Vec::new();
    for opened in of.open()? {
        let rows = read(opened.segment(), Cancel::NEVER)?;
        lines.extend(rows.iter().map(|row| line(opened.rank.rank, row)));
    }
    Ok(lines)
}

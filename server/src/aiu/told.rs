//! Facts about the ranks that acelyzer states in its log: iterations, and statistics of the power.

use nprof_engine::makers::aiu::schema::{CLOCK, ITERATIONS, POWER};

use super::error::Result;
use super::rows::{self, Row};
use crate::export::RanksOf;

/// The lines about the iterations of all ranks. A rank without iterations has none.
///
/// # Errors
/// If a segment cannot be read.
pub fn iterations(of: RanksOf<'_>) -> Result<Vec<String>> {
    let line = |rank: u32, row: &Row| {
        let (mean_us, count) = (row.number("mean") / 1e3, row.number("iterations"));
        let device = row.get("device").and_then(rows::integer);
        let whose = device.map_or_else(|| rank.to_string(), |device| format!("{rank}, device {device}"));
        format!("ITSTATS: [{whose}] avg_iteration_time={mean_us:?}, iterations={count:.0}")
    };
    lines(of, ITERATIONS.name, line)
}

/// Frequencies that differ by more are worth a line, in megahertz.
const MAX_OFF_MHZ: f64 = 0.1;

/// The lines about frequencies: which one keeps the times of the device together with those of the
/// host, if it is not the stated one.
///
/// # Errors
/// If a segment cannot be read.
pub fn frequencies(of: RanksOf<'_>, stated_mhz: Option<f64>) -> Result<Vec<String>> {
    let Some(stated_mhz) = stated_mhz else { return Ok(Vec::new()) };
    let line = |rank: u32, row: &Row| {
        let (found_mhz, drift_us) = (row.number("found_hz") / 1e6, row.number("used_drift").abs() / 1e3);
        let is_off = (found_mhz - stated_mhz).abs() > MAX_OFF_MHZ && found_mhz > 0.0;
        is_off.then(|| {
            format!(
                "FREQ: [{rank}] the counters run at {found_mhz:.3} MHz; use --freq={found_mhz:.3}, \
                 or leave it out (largest drift with the stated one: {drift_us:.0} us)"
            )
        })
    };
    Ok(lines(of, CLOCK.name, line)?.into_iter().flatten().collect())
}

/// The lines about the power of all ranks.
///
/// # Errors
/// If a segment cannot be read.
pub fn power(of: RanksOf<'_>) -> Result<Vec<String>> {
    let is_one = of.ranks.len() == 1;
    let line = |rank: u32, row: &Row| {
        let whose = if is_one { String::new() } else { format!(" of rank {rank}") };
        let (number, ms) = (|field: &str| row.number(field), |field: &str| row.number(field) / 1e6);
        format!(
            "Power{whose} {}: min_non_zero={:.2}W, max={:.2}W, mean_non_zero={:.2}W, median_non_zero={:.2}W, \
             avg_total={:.2}W (time-weighted, dur_total={:.2}ms, dur_non_zero={:.2}ms)",
            row.text("part"),
            number("min"),
            number("max"),
            number("mean"),
            number("median"),
            number("average"),
            ms("duration"),
            ms("duration_above"),
        )
    };
    let found = lines(of, POWER.name, line)?;
    let none = || vec!["--power-stats: no slice states a charge, so there is no power".to_owned()];
    Ok(if found.is_empty() { none() } else { found })
}

fn lines<T>(of: RanksOf<'_>, table: &str, line: impl Fn(u32, &Row) -> T) -> Result<Vec<T>> {
    let mut lines = Vec::new();
    for opened in of.open()? {
        let rows = rows::of(opened.segment(), table)?;
        lines.extend(rows.iter().map(|row| line(opened.rank.rank, row)));
    }
    Ok(lines)
}

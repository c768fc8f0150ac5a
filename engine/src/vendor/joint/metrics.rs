//! The summary of a joint segment, from its side tables.

use super::schema::{CAUSES, JOB, RANKS, SIZES};
use crate::base::Result;
use crate::exec::Work;
use crate::metrics::{Metric, MetricGroup};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};
use crate::vendor::columns::Columns;
use crate::vendor::rows::{Row, by_name, float_of, of, single, text_of};
use crate::vendor::table::Table;

/// Key of the group of waits by rank.
pub const WAITS: &str = "joint_waits";

/// Number of listed ranks, causes and sizes.
const MOST: usize = 20;

/// All metrics of a joint segment.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let rows = |table: &Table| {
        Columns::of(segment, table.name, work.cancel).map_or(Ok(Vec::new()), |of| of.all_rows())
    };
    let ranks = rows(&RANKS)?;
    let mut groups = vec![
        by_name("joint_causes", "Where waiting began", causes(&rows(&CAUSES)?)),
        single("joint_job", "All ranks", &JOB, &rows(&JOB)?),
        by_name(WAITS, "Waiting by rank", waits(&ranks)),
        by_name("joint_sizes", "Bus bandwidth by kind, size and ranks", sizes(&rows(&SIZES)?)),
    ];
    groups.retain(|group| !group.metrics.is_empty());
    Ok(groups)
}

fn seconds(ps: f64) -> OwnedValue {
    OwnedValue::Float(ps / 1e12)
}

fn causes(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Waiting of all ranks that began there, and time of a link's own ranks beyond the usual.";
    let metric = |row: &Row<'_>| {
        let excess = of(row, "excess").and_then(float_of).unwrap_or(0.0);
        let cost = float_of(of(row, "root_blame")?)? + excess;
        Some(Metric::new(&text_of(row, "cause")?, seconds(cost), Unit::Seconds, doc))
    };
    rows.iter().filter_map(metric).take(MOST).collect()
}

fn waits(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Time that the rank waited for other ranks.";
    let mut by_wait: Vec<(f64, &OwnedValue)> = rows
        .iter()
        .filter_map(|row| Some((float_of(of(row, "wait")?)?, of(row, "rank")?)))
        .filter(|(wait, _)| *wait > 0.0)
        .collect();
    by_wait.sort_by(|a, b| b.0.total_cmp(&a.0));
    let metric = |(wait, rank): (f64, &OwnedValue)| {
        let rank = float_of(rank)?;
        Some(Metric::new(&format!("rank {rank}"), seconds(wait), Unit::Seconds, doc))
    };
    by_wait.into_iter().take(MOST).filter_map(metric).collect()
}

/// A number of bytes with the largest unit that leaves at least 1.
fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
    format!("{text} {}", UNITS[unit])
}

fn sizes(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Median bus bandwidth of the transfers, as nccl-tests defines it.";
    let metric = |row: &Row<'_>| {
        let (kind, bytes) = (text_of(row, "kind")?, float_of(of(row, "bytes")?)?);
        let ranks = float_of(of(row, "ranks")?)?;
        // Older traces do not tell the members of a group.
        let ranks = if ranks > 0.0 { format!("{ranks} ranks") } else { "unknown ranks".to_owned() };
        let name = format!("{kind}, {}, {ranks}", size(bytes));
        Some(Metric::new(&name, of(row, "bus_rate")?.clone(), Unit::BytesPerSecond, doc))
    };
    rows.iter().filter_map(metric).take(MOST).collect()
}

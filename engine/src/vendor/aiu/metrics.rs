//! The summary of an AIU profile. The reader computes its numbers while it reads, and stores them
//! in side tables; `docs/aiu.md` gives the formulas.

use super::schema::{ACTIVE, CATEGORIES, CLOCK, ITERATIONS, KERNELS, POWER};
use crate::base::Result;
use crate::exec::Work;
use crate::metrics::{Metric, MetricGroup, trace};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};
use crate::vendor::columns::Columns;
use crate::vendor::rows::{Row, by_name, float_of, of, single, text_of};
use crate::vendor::table::Table;

/// Name of the row that sums up all categories.
pub const TOTAL: &str = "Total";

/// Number of listed kernels.
const TOP_KERNELS: usize = 20;

/// All metrics of an AIU profile: clock, kernels, use of the PT arrays, then those of any trace.
pub fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let rows = |table: &Table| {
        Columns::of(segment, table.name, work.cancel).map_or(Ok(Vec::new()), |of| of.all_rows())
    };
    let mut groups = vec![
        single("aiu_activity", "Kernels", &ACTIVE, &rows(&ACTIVE)?),
        single("aiu_clock", "Clock of the device", &CLOCK, &rows(&CLOCK)?),
        single("aiu_iterations", "Iterations", &ITERATIONS, &rows(&ITERATIONS)?),
        by_name("aiu_power", "Power in watts", powers(&rows(&POWER)?)),
        by_name("aiu_pt_utilization", "PT utilization by category", utilizations(&rows(&CATEGORIES)?)),
        by_name("aiu_kernel_time", "Time by kernel", kernels(&rows(&KERNELS)?)),
    ];
    groups.retain(|group| !group.metrics.is_empty());
    groups.extend(trace::groups(segment, work)?);
    Ok(groups)
}

fn utilizations(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Ideal time of the kernels of a category over their measured time.";
    let metric = |row: &Row<'_>| {
        let (phase, category) = (text_of(row, "phase")?, text_of(row, "category")?);
        let name = if phase.is_empty() { category } else { format!("{phase} / {category}") };
        let (calls, util) = (of(row, "calls")?, of(row, "pt_util")?);
        (float_of(calls)? > 0.0).then(|| Metric::new(&name, util.clone(), Unit::Ratio, doc))
    };
    rows.iter().filter_map(metric).collect()
}

fn powers(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Mean power in watts, weighted with time.";
    let metric = |row: &Row<'_>| {
        let average = of(row, "average")?;
        // Readings of an unknown scale count as 0, which is no power of a device that runs.
        let is_known = float_of(average)? > 0.0;
        is_known.then_some(Metric::new(&text_of(row, "part")?, average.clone(), Unit::None, doc))
    };
    rows.iter().filter_map(metric).collect()
}

fn kernels(rows: &[Row<'_>]) -> Vec<Metric> {
    let doc = "Sum of the durations of the kernels of this name.";
    let metric = |row: &Row<'_>| {
        // Seconds, like the other metrics of times.
        let seconds = float_of(of(row, "total")?)? / 1e9;
        Some(Metric::new(&text_of(row, "name")?, OwnedValue::Float(seconds), Unit::Seconds, doc))
    };
    rows.iter().filter_map(metric).take(TOP_KERNELS).collect()
}

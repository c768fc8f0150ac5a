//! The summary of an AIU profile. The reader computes its numbers while it reads, and stores them
//! in side tables; `docs/aiu.md` gives the formulas.

use std::borrow::Cow;

use super::schema::{ACTIVE, CLOCK, CategoryRow, ITERATIONS, KernelRow, PowerRow};
use super::{exposed_time, kernel_cycles};
use crate::base::Result;
use crate::exec::Work;
use crate::makers::FieldCell;
use crate::makers::metric_groups::{by_name, single};
use crate::makers::rows::{NamedValues, named, of};
use crate::makers::table::TableSchema;
use crate::metrics::{
    AbsentMetrics, DefinedMetric, Metric, MetricFamily, MetricGroup, MetricScope, RankMetrics, roofline,
    trace,
};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Name of the row that sums up all categories.
pub const TOTAL: &str = "Total";

/// Number of listed kernels of a device.
const TOP_KERNELS: usize = 20;

/// Metrics that are those of a whole run.
const OF_RUN: AbsentMetrics = AbsentMetrics {
    key: "aiu",
    title: "AIU kernels, iterations and power",
    reason: Cow::Borrowed("the reader counts them over the whole run, not in a window"),
};

/// Kernels have ideal cycles, which say how much of the reachable rate they reach, and no place on
/// a roofline.
const NO_ROOFLINE: AbsentMetrics = roofline::no_roofline(
    "traces of AIUs state ideal cycles of kernels, and no bytes that kernels move: the use of PT arrays by category \
     compares ideal and measured time",
);

/// All metrics of an AIU profile: clock, kernels, use of the PT arrays, then those of any trace.
pub(super) fn read<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<RankMetrics> {
    let mut metrics = trace::read(segment, scope, work)?;
    let mut groups = match scope.window {
        None => groups(segment, work)?,
        Some(_) => Vec::new(),
    };
    groups.push(exposed_time::group(segment, scope.window, work.cancel)?);
    groups.retain(|group| !group.metrics.is_empty());
    groups.append(&mut metrics.groups);
    metrics.groups = groups;
    match kernel_cycles::table(segment, scope.window, work.cancel)? {
        Some(table) => metrics.tables.push(table),
        None => metrics.absent.push((&kernel_cycles::FAMILY).into()),
    }
    metrics.absent.push(NO_ROOFLINE);
    metrics.absent.extend(scope.window.map(|_| OF_RUN));
    Ok(metrics)
}

/// The families that are computed from slices.
pub(in crate::makers) const FAMILIES: [&MetricFamily; 2] = [&exposed_time::FAMILY, &kernel_cycles::FAMILY];

/// The tables whose columns are metrics, with their headings.
pub(in crate::makers) const TABLES: [(&str, &TableSchema); 3] =
    [("Kernels", &ACTIVE), ("Clock of the device", &CLOCK), ("Iterations", &ITERATIONS)];

/// The definitions of the metrics that each category of kernels has.
pub(in crate::makers) fn by_category() -> impl Iterator<Item = DefinedMetric> {
    BY_CATEGORY.iter().map(|of| DefinedMetric {
        family: of.title,
        name: "category",
        unit: of.unit,
        doc: of.doc,
        of: "AIU",
        source: "acelyzer",
    })
}

fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let rows = |table: &TableSchema| named(segment, table.name, work.cancel);
    let mut groups = vec![
        by_device("aiu_activity", "Kernels", &ACTIVE, &rows(&ACTIVE)?),
        single("aiu_clock", "Clock of the device", &CLOCK, &rows(&CLOCK)?),
        by_device("aiu_iterations", "Iterations", &ITERATIONS, &rows(&ITERATIONS)?),
        by_name("aiu_power", "Power", powers(&PowerRow::read(segment, work.cancel)?)),
    ];
    let categories = CategoryRow::read(segment, work.cancel)?;
    groups.extend(BY_CATEGORY.iter().map(|of| by_name(of.key, of.title, of.metrics(&categories))));
    groups.push(by_name(
        "aiu_kernel_time",
        "Time by kernel",
        kernels(&KernelRow::read(segment, work.cancel)?),
    ));
    groups.retain(|group| !group.metrics.is_empty());
    Ok(groups)
}

/// The rows of a table with one row for each device. Without several devices it has one.
fn by_device(
    key: &'static str,
    title: &'static str,
    table: &TableSchema,
    rows: &[NamedValues<'_>],
) -> MetricGroup {
    let of_row = |row: &NamedValues<'_>| {
        let metrics = single(key, title, table, std::slice::from_ref(row)).metrics.into_iter();
        let shown = metrics.filter(|metric| rows.len() == 1 || metric.name != DEVICE);
        // These names are columns, which the page shows as words.
        let name = |name: &str| match device_of(row) {
            Some(device) => format!("device_{device}_{name}"),
            None => name.to_owned(),
        };
        shown.map(|metric| Metric { name: name(&metric.name), ..metric }).collect::<Vec<_>>()
    };
    MetricGroup { key, title, has_names_of_trace: false, metrics: rows.iter().flat_map(of_row).collect() }
}

/// Column with the device of a row.
const DEVICE: &str = "device";

/// The device that a row states.
fn device_of(row: &NamedValues<'_>) -> Option<f64> {
    of(row, DEVICE)?.float()
}

/// A name of the trace, with the device if its row states one.
fn with_device(name: &str, device: Option<f64>) -> String {
    match device {
        Some(device) => format!("device {device}: {name}"),
        None => name.to_owned(),
    }
}

/// A column of the table of categories as metrics.
struct ByCategory {
    key: &'static str,
    title: &'static str,
    column: fn(&CategoryRow<FieldCell>) -> &FieldCell,
    unit: Unit,
    doc: &'static str,
}

/// The columns, in display order.
const BY_CATEGORY: [ByCategory; 6] = [
    ByCategory {
        key: "aiu_pt_utilization",
        title: "PT utilization by category",
        column: |row| &row.pt_util,
        unit: Unit::Ratio,
        doc: "Ideal time of the kernels of a category over their measured time.",
    },
    ByCategory {
        key: "aiu_category_time",
        title: "Time by category",
        column: |row| &row.kernel_time,
        unit: Unit::Seconds,
        doc: "Sum of the measured durations of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_share",
        title: "Share of the time by category",
        column: |row| &row.share,
        unit: Unit::Ratio,
        doc: "Share of the measured time of the phase.",
    },
    ByCategory {
        key: "aiu_category_calls",
        title: "Calls by category",
        column: |row| &row.calls,
        unit: Unit::Count,
        doc: "Executions of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_ideal_cycles",
        title: "Ideal cycles by category",
        column: |row| &row.ideal_cycles,
        unit: Unit::Cycles,
        doc: "Sum of the ideal cycles of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_ideal_time",
        title: "Ideal time by category",
        column: |row| &row.ideal_time,
        unit: Unit::Seconds,
        doc: "Ideal cycles over the frequency of the cores.",
    },
];

impl ByCategory {
    fn metrics(&self, rows: &[CategoryRow<FieldCell>]) -> Vec<Metric> {
        let metric = |row: &CategoryRow<FieldCell>| {
            let phase = row.phase.text().unwrap_or_default();
            let category = row.category.text()?;
            let name = if phase.is_empty() { category.to_owned() } else { format!("{phase} / {category}") };
            let name = with_device(&name, row.device.float());
            let is_used = row.calls.float()? > 0.0;
            let cell = (self.column)(row);
            let value = match self.unit {
                // Tables have nanoseconds, metrics have seconds.
                Unit::Seconds => OwnedValue::Float(cell.float()? / 1e9),
                _ => cell.0.clone()?,
            };
            is_used.then(|| Metric::new(&name, value, self.unit, self.doc))
        };
        rows.iter().filter_map(metric).collect()
    }
}

/// A statistic of the power.
struct Statistic {
    column: fn(&PowerRow<FieldCell>) -> &FieldCell,
    /// The word behind the part.
    word: &'static str,
    doc: &'static str,
}

/// The statistics, in display order.
const STATISTICS: [Statistic; 5] = [
    Statistic { column: |row| &row.average, word: "", doc: "Mean power, weighted with time." },
    Statistic { column: |row| &row.min, word: ", minimum", doc: "Lowest power above 0." },
    Statistic {
        column: |row| &row.median,
        word: ", median",
        doc: "Median of the power above 0, weighted with time.",
    },
    Statistic {
        column: |row| &row.mean,
        word: ", mean above 0",
        doc: "Mean of the power above 0, weighted with time.",
    },
    Statistic { column: |row| &row.max, word: ", maximum", doc: "Highest power." },
];

fn powers(rows: &[PowerRow<FieldCell>]) -> Vec<Metric> {
    // Readings of an unknown scale count as 0, which is no power of a device that runs.
    let is_known = |row: &&PowerRow<FieldCell>| row.average.float().is_some_and(|watts| watts > 0.0);
    let metrics = |row: &PowerRow<FieldCell>| -> Vec<Metric> {
        let part = row.part.text().unwrap_or_default();
        let metric = |one: &Statistic| {
            let value = (one.column)(row).0.clone()?;
            Some(Metric::new(&format!("{part}{}", one.word), value, Unit::Watts, one.doc))
        };
        STATISTICS.iter().filter_map(metric).collect()
    };
    rows.iter().filter(is_known).flat_map(metrics).collect()
}

fn kernels(rows: &[KernelRow<FieldCell>]) -> Vec<Metric> {
    let doc = "Sum of the durations of the kernels of this name.";
    let metric = |row: &KernelRow<FieldCell>| {
        // Seconds, like the other metrics of times.
        let seconds = row.total.float()? / 1e9;
        let name = with_device(row.name.text()?, row.device.float());
        Some(Metric::new(&name, OwnedValue::Float(seconds), Unit::Seconds, doc))
    };
    let of_device = rows.chunk_by(|a, b| a.device == b.device);
    of_device.flat_map(|rows| rows.iter().filter_map(metric).take(TOP_KERNELS)).collect()
}

//! The summary of an AIU profile. The reader computes its numbers while it reads, and stores them
//! in side tables; `docs/aiu.md` gives the formulas.

use super::schema::{ACTIVE, CATEGORIES, CLOCK, ITERATIONS, KERNELS, POWER};
use crate::base::Result;
use crate::exec::Work;
use crate::makers::columns::Columns;
use crate::makers::rows::{NamedValues, by_name, float_of, of, single, text_of};
use crate::makers::table::TableSchema;
use crate::metrics::{Metric, MetricGroup, trace};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Name of the row that sums up all categories.
pub const TOTAL: &str = "Total";

/// Number of listed kernels of a device.
const TOP_KERNELS: usize = 20;

/// All metrics of an AIU profile: clock, kernels, use of the PT arrays, then those of any trace.
pub fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let rows = |table: &TableSchema| {
        Columns::of(segment, table.name, work.cancel).map_or(Ok(Vec::new()), |of| of.all_rows())
    };
    let mut groups = vec![
        by_device("aiu_activity", "Kernels", &ACTIVE, &rows(&ACTIVE)?),
        single("aiu_clock", "Clock of the device", &CLOCK, &rows(&CLOCK)?),
        by_device("aiu_iterations", "Iterations", &ITERATIONS, &rows(&ITERATIONS)?),
        by_name("aiu_power", "Power", powers(&rows(&POWER)?)),
    ];
    let categories = rows(&CATEGORIES)?;
    groups.extend(BY_CATEGORY.iter().map(|of| by_name(of.key, of.title, of.metrics(&categories))));
    groups.push(by_name("aiu_kernel_time", "Time by kernel", kernels(&rows(&KERNELS)?)));
    groups.retain(|group| !group.metrics.is_empty());
    groups.extend(trace::groups(segment, work)?);
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
    of(row, DEVICE).and_then(float_of)
}

/// A name of the trace, with the device if its row states one.
fn named(name: &str, row: &NamedValues<'_>) -> String {
    match device_of(row) {
        Some(device) => format!("device {device}: {name}"),
        None => name.to_owned(),
    }
}

/// A column of the table of categories as metrics.
struct ByCategory {
    key: &'static str,
    title: &'static str,
    column: &'static str,
    unit: Unit,
    doc: &'static str,
}

/// The columns, in display order.
const BY_CATEGORY: [ByCategory; 6] = [
    ByCategory {
        key: "aiu_pt_utilization",
        title: "PT utilization by category",
        column: "pt_util",
        unit: Unit::Ratio,
        doc: "Ideal time of the kernels of a category over their measured time.",
    },
    ByCategory {
        key: "aiu_category_time",
        title: "Time by category",
        column: "kernel_time",
        unit: Unit::Seconds,
        doc: "Sum of the measured durations of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_share",
        title: "Share of the time by category",
        column: "share",
        unit: Unit::Ratio,
        doc: "Share of the measured time of the phase.",
    },
    ByCategory {
        key: "aiu_category_calls",
        title: "Calls by category",
        column: "calls",
        unit: Unit::Count,
        doc: "Executions of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_ideal_cycles",
        title: "Ideal cycles by category",
        column: "ideal_cycles",
        unit: Unit::Cycles,
        doc: "Sum of the ideal cycles of the kernels of a category.",
    },
    ByCategory {
        key: "aiu_category_ideal_time",
        title: "Ideal time by category",
        column: "ideal_time",
        unit: Unit::Seconds,
        doc: "Ideal cycles over the frequency of the cores.",
    },
];

impl ByCategory {
    fn metrics(&self, rows: &[NamedValues<'_>]) -> Vec<Metric> {
        let metric = |row: &NamedValues<'_>| {
            let phase = text_of(row, "phase").unwrap_or_default();
            let category = text_of(row, "category")?;
            let name = if phase.is_empty() { category } else { format!("{phase} / {category}") };
            let name = named(&name, row);
            let is_used = float_of(of(row, "calls")?)? > 0.0;
            let value = of(row, self.column)?;
            let value = match self.unit {
                // Tables have nanoseconds, metrics have seconds.
                Unit::Seconds => OwnedValue::Float(float_of(value)? / 1e9),
                _ => value.clone(),
            };
            is_used.then(|| Metric::new(&name, value, self.unit, self.doc))
        };
        rows.iter().filter_map(metric).collect()
    }
}

/// Statistics of the power beside its average: column, word behind the part, and meaning.
const POWERS: [(&str, &str, &str); 5] = [
    ("average", "", "Mean power, weighted with time."),
    ("min", ", minimum", "Lowest power above 0."),
    ("median", ", median", "Median of the power above 0, weighted with time."),
    ("mean", ", mean above 0", "Mean of the power above 0, weighted with time."),
    ("max", ", maximum", "Highest power."),
];

fn powers(rows: &[NamedValues<'_>]) -> Vec<Metric> {
    // Readings of an unknown scale count as 0, which is no power of a device that runs.
    let is_known =
        |row: &&NamedValues<'_>| of(row, "average").and_then(float_of).is_some_and(|watts| watts > 0.0);
    let metrics = |row: &NamedValues<'_>| -> Vec<Metric> {
        let part = text_of(row, "part").unwrap_or_default();
        let metric = |&(column, word, doc): &(&str, &str, &str)| {
            Some(Metric::new(&format!("{part}{word}"), of(row, column)?.clone(), Unit::Watts, doc))
        };
        POWERS.iter().filter_map(metric).collect()
    };
    rows.iter().filter(is_known).flat_map(metrics).collect()
}

fn kernels(rows: &[NamedValues<'_>]) -> Vec<Metric> {
    let doc = "Sum of the durations of the kernels of this name.";
    let metric = |row: &NamedValues<'_>| {
        // Seconds, like the other metrics of times.
        let seconds = float_of(of(row, "total")?)? / 1e9;
        Some(Metric::new(&named(&text_of(row, "name")?, row), OwnedValue::Float(seconds), Unit::Seconds, doc))
    };
    let of_device = rows.chunk_by(|a, b| of(a, DEVICE) == of(b, DEVICE));
    of_device.flat_map(|rows| rows.iter().filter_map(metric).take(TOP_KERNELS)).collect()
}

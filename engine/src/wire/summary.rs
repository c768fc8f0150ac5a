//! The metrics of a rank.

use serde::{Deserialize, Serialize};

use super::detail::FieldContent;
use super::message_times::{TimeField, Timed};
use super::rank_ref::RankRef;

/// All metrics of a rank, in groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The rank.
    pub rank: RankRef,
    /// Groups in display order.
    pub groups: Vec<MetricGroupEntry>,
    /// Metrics of many things, e.g. of each stream, in display order.
    pub tables: Vec<MetricTableEntry>,
    /// Families of metrics that this trace does not give.
    pub absent: Vec<AbsentMetricsEntry>,
}

/// The same metrics of several things.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricTableEntry {
    /// Identifies the table, e.g. `kernels_by_name`.
    pub key: String,
    /// The heading.
    pub title: String,
    /// Word for a row, e.g. `stream`.
    pub row: String,
    /// The columns in display order.
    pub columns: Vec<MetricColumnEntry>,
    /// Rows in display order.
    pub rows: Vec<MetricRowEntry>,
}

/// A column of a table of metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricColumnEntry {
    /// Exported name, e.g. `host_wait`.
    pub name: String,
    /// Symbol of the unit; empty for a plain number or a text.
    pub unit: String,
    /// Definition and computation.
    pub doc: String,
}

/// The values of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRowEntry {
    /// Name of the thing.
    pub name: String,
    /// A value for each column. `None` if it cannot be computed.
    pub values: Vec<Option<FieldContent>>,
}

/// A family of metrics without values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbsentMetricsEntry {
    /// Identifies the family.
    pub key: String,
    /// Its heading.
    pub title: String,
    /// Reason, and what would give the values.
    pub reason: String,
}

/// Metrics under one heading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricGroupEntry {
    /// Identifies the group, e.g. `tensor_engine`.
    pub key: String,
    /// The heading.
    pub title: String,
    /// Whether the metrics have names of the trace instead of names of nprof.
    pub has_names_of_trace: bool,
    /// Metrics in display order.
    pub metrics: Vec<MetricEntry>,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricEntry {
    /// Exported name, e.g. `tensor_engine_active_time`.
    pub name: String,
    /// The value.
    pub value: FieldContent,
    /// Symbol of the unit: `s`, `B`, `B/s`, `ratio`, `FLOP` …; empty for a plain number.
    pub unit: String,
    /// Definition and computation.
    pub doc: String,
    /// The place that shows it. Only metrics of all ranks have one.
    pub place: Option<MetricPlaceEntry>,
}

/// A place in a job that shows what a metric is about: a rank that came late, the slowest transfer
/// of a link, the first of several mismatches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricPlaceEntry {
    /// The rank to look at.
    pub rank: u32,
    /// The time to look at, in picoseconds of the clock that all ranks share, since the profile's
    /// origin. `None` if the whole rank is meant.
    pub at_ps: Option<i64>,
    /// Number of the operation, as the table of operations has it.
    pub operation: Option<u32>,
    /// All ranks that it is about: of a link those that it joins.
    pub ranks: Vec<u32>,
}

/// Families without values for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentReason<'s> {
    /// The reason.
    pub reason: &'s str,
    /// Headings of the families.
    pub titles: Vec<&'s str>,
}

impl Summary {
    /// The reasons why families have no values, each once.
    #[must_use]
    pub fn absent_by_reason(&self) -> Vec<AbsentReason<'_>> {
        let mut reasons: Vec<AbsentReason<'_>> = Vec::new();
        for AbsentMetricsEntry { title, reason, .. } in &self.absent {
            match reasons.iter_mut().find(|known| known.reason == reason) {
                Some(known) => known.titles.push(title),
                None => reasons.push(AbsentReason { reason, titles: vec![title] }),
            }
        }
        reasons
    }
}

/// Places of metrics have shared times.
impl Timed for Summary {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

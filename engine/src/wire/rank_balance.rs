//! The ranks of a run beside each other. [`RankBalance::of`] alone makes the rows, so the command
//! line, the API, the page and HTML files give the same answer.

use serde::{Deserialize, Serialize};

use super::detail::FieldContent;
use super::message_times::{TimeField, Timed};
use super::regions::RegionKindEntry;
use super::summary::{MetricColumnEntry, MetricRowEntry, MetricTableEntry};
use crate::base::clamped;
use crate::base::time::PS_PER_S;
use crate::insight::JobGraph;
use crate::insight::finding::short_name;
use crate::insight::rank_balance::{NameDifference, RegionImbalance, name_differences, region_imbalances};
use crate::insight::region::RankRegions;
use crate::metrics::MetricDefinition;
use crate::model::Unit;

/// Work of the ranks of a run beside that of the others. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankBalance {
    /// Number of differences, also of those that the limit left out.
    pub total_names: u64,
    /// The time of work of a name on a rank beside the median of the other ranks, the largest
    /// difference first.
    pub names: Vec<NameDifferenceEntry>,
    /// Number of regions, also of those that the limit left out.
    pub total_regions: u64,
    /// The work in the regions that all ranks have, the largest time beyond the mean first.
    pub regions: Vec<RegionImbalanceEntry>,
}

/// Work of a name on a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameDifferenceEntry {
    /// Number of the rank.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// Compared slices of the rank.
    pub count: u64,
    /// Their time.
    pub time_ps: i64,
    /// The median of the time of as many slices on the other ranks.
    pub median_ps: i64,
    /// The time less the median.
    pub difference_ps: i64,
}

/// The work of all ranks in the regions of a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionImbalanceEntry {
    /// The meaning of the regions.
    pub kind: RegionKindEntry,
    /// Their name.
    pub name: String,
    /// Compared regions of each rank.
    pub count: u64,
    /// Number of the rank that works longest in them.
    pub most_rank: u32,
    /// Its time.
    pub most_ps: i64,
    /// The mean of all ranks.
    pub mean_ps: i64,
    /// The most over the mean, minus 1.
    pub imbalance: f64,
}

impl RankBalance {
    /// The balance of a run: at most `most` rows of each kind. `regions` has those of the ranks of
    /// the graph, in its order and on its clock.
    #[must_use]
    pub fn of(graph: &JobGraph, regions: &[&RankRegions], most: usize) -> Self {
        let (names, imbalances) = (name_differences(graph), region_imbalances(graph, regions));
        Self {
            total_names: names.len() as u64,
            names: names.into_iter().take(most).map(NameDifferenceEntry::from).collect(),
            total_regions: imbalances.len() as u64,
            regions: imbalances.into_iter().take(most).map(RegionImbalanceEntry::from).collect(),
        }
    }

    /// The rows as tables for people, those with rows.
    #[must_use]
    pub fn tables(&self) -> Vec<MetricTableEntry> {
        let names = MetricTableEntry {
            key: "rank_differences".to_owned(),
            title: "Work by name, beside the median of the other ranks".to_owned(),
            row: "rank and name".to_owned(),
            columns: columns(&[
                MetricDefinition::new("difference", Unit::Seconds, "Time less the median."),
                MetricDefinition::new("time", Unit::Seconds, "Time of the compared slices of the rank."),
                MetricDefinition::new(
                    "median",
                    Unit::Seconds,
                    "Median of the time of as many slices on the other ranks.",
                ),
                MetricDefinition::new("count", Unit::Count, "Compared slices of the rank."),
            ]),
            rows: self.names.iter().map(NameDifferenceEntry::row).collect(),
        };
        let regions = MetricTableEntry {
            key: "region_imbalance".to_owned(),
            title: "Imbalance of the regions of all ranks".to_owned(),
            row: "region".to_owned(),
            columns: columns(&[
                MetricDefinition::new(
                    "imbalance",
                    Unit::Ratio,
                    "Most time of work of a rank over the mean of all ranks, minus 1.",
                ),
                MetricDefinition::new("most_rank", Unit::None, "Rank that works longest in the region."),
                MetricDefinition::new("most", Unit::Seconds, "Its time."),
                MetricDefinition::new("mean", Unit::Seconds, "Mean of all ranks."),
                MetricDefinition::new("count", Unit::Count, "Compared regions of each rank."),
            ]),
            rows: self.regions.iter().map(RegionImbalanceEntry::row).collect(),
        };
        [names, regions].into_iter().filter(|table| !table.rows.is_empty()).collect()
    }

    /// The first rows of each kind.
    #[must_use]
    pub fn first(mut self, most: usize) -> Self {
        self.names.truncate(most);
        self.regions.truncate(most);
        self
    }
}

fn columns(all: &[MetricDefinition]) -> Vec<MetricColumnEntry> {
    let column = |of: &MetricDefinition| MetricColumnEntry {
        name: of.name.to_owned(),
        unit: of.unit.symbol().to_owned(),
        doc: of.doc.to_owned(),
    };
    all.iter().map(column).collect()
}

fn time(ps: i64) -> Option<FieldContent> {
    Some(FieldContent::Float(ps as f64 / PS_PER_S as f64))
}

fn count(number: u64) -> Option<FieldContent> {
    Some(FieldContent::Int(clamped(number)))
}

impl NameDifferenceEntry {
    fn row(&self) -> MetricRowEntry {
        let values =
            vec![time(self.difference_ps), time(self.time_ps), time(self.median_ps), count(self.count)];
        MetricRowEntry { name: format!("rank {}: {}", self.rank, short_name(&self.name)), values }
    }
}

impl RegionImbalanceEntry {
    fn row(&self) -> MetricRowEntry {
        let imbalance = Some(FieldContent::Float(self.imbalance));
        let rank = count(self.most_rank.into());
        let values = vec![imbalance, rank, time(self.most_ps), time(self.mean_ps), count(self.count)];
        MetricRowEntry { name: self.name.clone(), values }
    }
}

impl Timed for RankBalance {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

impl From<NameDifference> for NameDifferenceEntry {
    fn from(of: NameDifference) -> Self {
        let difference_ps = of.difference_ps();
        let NameDifference { rank, name, count, time_ps, median_ps } = of;
        Self { rank, name, count: count as u64, time_ps, median_ps, difference_ps }
    }
}

impl From<RegionImbalance> for RegionImbalanceEntry {
    fn from(of: RegionImbalance) -> Self {
        let imbalance = of.imbalance();
        let RegionImbalance { kind, name, count, most_rank, most_ps, mean_ps } = of;
        Self { kind: kind.into(), name, count: count as u64, most_rank, most_ps, mean_ps, imbalance }
    }
}

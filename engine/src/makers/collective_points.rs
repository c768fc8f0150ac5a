//! Collective operations as points by kind and size: their times, the spread of those that are
//! alike, and the outliers among them, as [`UsualTime`] defines them.
//!
//! Operations are alike if kind, size and number of ranks are the same. The tables are bounded: all
//! kinds and sizes are summed up, and of many points some are left out, outliers last.

use std::collections::BTreeMap;

use crate::base::time::PS_PER_S;
use crate::base::{Interval, bytes_in_words, clamped, median, narrow, quantile, signed};
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow, MetricTable, UsualTime};
use crate::model::collective::NO_NUMBER;
use crate::model::{CollectiveKind, OwnedValue, RankCalls, Unit};

/// Points of a table at most.
const MOST_POINTS: usize = 1_000;
/// Rows of kinds and sizes at most, those with the most time. A further row has the number of the
/// others.
const MOST_SPREADS: usize = 200;

const SOURCE: &str = "nprof; bandwidths as nccl-tests defines them";
const NEEDS: &str = "the trace has no collective operations; a profile of a job of several ranks has them";

const KIND: MetricDefinition = MetricDefinition::new("kind", Unit::None, "Kind of operation.");
const BYTES: MetricDefinition =
    MetricDefinition::new("bytes", Unit::Bytes, "The larger of input and output of a rank, if known.");
const RANKS: MetricDefinition =
    MetricDefinition::new("ranks", Unit::Count, "Ranks that take part, as far as the traces tell.");

/// The spread of the times of operations that are alike.
pub(super) const SPREADS: MetricFamily = MetricFamily {
    key: "collective_spreads",
    title: "Collective operations by kind and size",
    row: Some("kind, size and ranks"),
    metrics: &[
        KIND,
        BYTES,
        RANKS,
        MetricDefinition::new("count", Unit::Count, "Operations that are alike."),
        MetricDefinition::new(
            "outliers",
            Unit::Count,
            "Operations that take more than three times the median of at least four that are alike.",
        ),
        MetricDefinition::new("shortest", Unit::Seconds, "The shortest time."),
        MetricDefinition::new("quarter", Unit::Seconds, "A quarter of the operations take less."),
        MetricDefinition::new("median", Unit::Seconds, "Half of the operations take less."),
        MetricDefinition::new("three_quarters", Unit::Seconds, "Three quarters of the operations take less."),
        MetricDefinition::new("p95", Unit::Seconds, "95 % of the operations take less."),
        MetricDefinition::new("longest", Unit::Seconds, "The longest time."),
        MetricDefinition::new("bus_rate", Unit::BytesPerSecond, "Median bus bandwidth."),
    ],
    source: SOURCE,
    needs: NEEDS,
};

/// Position of the two counts in [`SPREADS`].
const COUNTS_AT: usize = 3;

/// The operations, each one a point.
pub(super) const POINTS: MetricFamily = MetricFamily {
    key: "collective_points",
    title: "Collective operations",
    row: Some("operation"),
    metrics: &[
        KIND,
        BYTES,
        RANKS,
        MetricDefinition::new(
            "time",
            Unit::Seconds,
            "Of one rank from its call to its end, with its wait for other ranks. Of all ranks from the last \
             arrival to the last end.",
        ),
        MetricDefinition::new("of_usual", Unit::None, "Time over the median of those that are alike."),
        MetricDefinition::new("bus_rate", Unit::BytesPerSecond, "Bus bandwidth in this time."),
        MetricDefinition::new(
            "outlier",
            Unit::None,
            "Whether it takes more than three times the median of at least four that are alike. Of all ranks \
             only operations with all their calls are outliers, in which all ranks wait for each other.",
        ),
        MetricDefinition::new("row", Unit::None, "Row of its slice."),
    ],
    source: SOURCE,
    needs: NEEDS,
};

/// Properties that operations have in common which are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OperationLike {
    pub(super) kind: CollectiveKind,
    /// `None` if the size is not known or there is no data.
    pub(super) bytes: Option<u64>,
    /// `None` if the number is not known.
    pub(super) ranks: Option<u32>,
}

impl OperationLike {
    /// The properties in words: `all-reduce, 4 MiB, 8 ranks`.
    pub(super) fn words(self) -> String {
        let size = self.bytes.map(|bytes| format!(", {}", bytes_in_words(bytes as f64)));
        // Older traces do not tell the members of a group.
        let ranks = self.ranks.map_or_else(|| "unknown ranks".to_owned(), |ranks| format!("{ranks} ranks"));
        format!("{}{}, {ranks}", self.kind.name(), size.unwrap_or_default())
    }

    fn values(self) -> [Option<OwnedValue>; 3] {
        [
            Some(OwnedValue::Text(self.kind.name().to_owned())),
            self.bytes.map(|bytes| OwnedValue::Int(clamped(bytes))),
            self.ranks.map(|ranks| OwnedValue::Int(ranks.into())),
        ]
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CollectivePoint {
    pub(super) like: OperationLike,
    /// Number of the operation, if the trace or the comparison of ranks states it.
    pub(super) number: Option<u32>,
    /// Row of its slice.
    pub(super) row: u32,
    /// Start in picoseconds.
    pub(super) start_ps: i64,
    /// Time in picoseconds.
    pub(super) time_ps: i64,
    /// Bus bandwidth in bytes a second.
    pub(super) bus_rate: Option<f64>,
    /// Whether the time says something about the operation itself, so that it can be an outlier.
    pub(super) is_sure: bool,
}

/// The calls of a rank that start in a window; all of them without one.
pub(super) fn points_of_rank(calls: &RankCalls, window: Option<Interval>) -> Vec<CollectivePoint> {
    let list = &calls.calls;
    let point = |at: usize| {
        let signature = &calls.signatures[list.signatures[at] as usize];
        let size = calls.communicators[signature.communicator as usize].size;
        let like = OperationLike {
            kind: signature.kind,
            bytes: Some(signature.bytes).filter(|bytes| *bytes > 0),
            ranks: Some(size).filter(|size| *size > 0),
        };
        let time_ps = list.durations_ps[at];
        let rate = |bytes: u64, ranks: u32| {
            like.kind.bus_factor(ranks) * bytes as f64 * PS_PER_S as f64 / time_ps as f64
        };
        let known = like.bytes.zip(like.ranks).filter(|_| time_ps > 0);
        CollectivePoint {
            like,
            number: Some(list.numbers[at]).filter(|number| *number != NO_NUMBER),
            row: list.rows[at],
            start_ps: list.starts_ps[at],
            time_ps,
            bus_rate: known.map(|(bytes, ranks)| rate(bytes, ranks)),
            is_sure: true,
        }
    };
    let is_inside = |at: &usize| {
        window.is_none_or(|window| (window.start.0..window.end.0).contains(&list.starts_ps[*at]))
    };
    (0..list.len()).filter(is_inside).map(point).collect()
}

/// The tables of points: their spreads, then the points with the outliers first. None without
/// points.
pub(super) fn tables(mut points: Vec<CollectivePoint>) -> Vec<MetricTable> {
    if points.is_empty() {
        return Vec::new();
    }
    points.sort_unstable_by_key(|point| (point.start_ps, point.row));
    let spreads = LikePoints::of(&points);
    let rows = point_rows(&points, &spreads);
    vec![
        MetricTable { family: &SPREADS, rows: spread_rows(&points, &spreads) },
        MetricTable { family: &POINTS, rows },
    ]
}

/// Operations that are alike.
#[derive(Debug, Default)]
struct LikePoints {
    /// Their positions, by start.
    points: Vec<u32>,
    /// Their times, sorted.
    times_ps: Vec<i64>,
}

impl LikePoints {
    fn of(points: &[CollectivePoint]) -> BTreeMap<OperationLike, Self> {
        let mut all: BTreeMap<OperationLike, Self> = BTreeMap::new();
        for (at, point) in points.iter().enumerate() {
            let like = all.entry(point.like).or_default();
            like.points.push(narrow(at));
            like.times_ps.push(point.time_ps);
        }
        all.values_mut().for_each(|like| like.times_ps.sort_unstable());
        all
    }

    fn all<'p>(&'p self, points: &'p [CollectivePoint]) -> impl Iterator<Item = &'p CollectivePoint> {
        self.points.iter().map(|at| &points[*at as usize])
    }

    fn usual(&self) -> Option<UsualTime> {
        UsualTime::of_sorted(&self.times_ps)
    }

    fn is_outlier(&self, point: &CollectivePoint) -> bool {
        point.is_sure && self.usual().is_some_and(|usual| usual.makes_outlier(point.time_ps))
    }
}

fn spread_rows(points: &[CollectivePoint], spreads: &BTreeMap<OperationLike, LikePoints>) -> Vec<MetricRow> {
    let mut longest: Vec<(&OperationLike, &LikePoints)> = spreads.iter().collect();
    let sum = |of: &LikePoints| of.times_ps.iter().fold(0_i64, |sum, time_ps| sum.saturating_add(*time_ps));
    longest.sort_by_cached_key(|(_, of)| std::cmp::Reverse(sum(of)));
    let others = longest.split_off(longest.len().min(MOST_SPREADS));
    let outliers = |of: &LikePoints| of.all(points).filter(|point| of.is_outlier(point)).count();
    let counts = |of: [usize; 2]| of.map(|count| Some(OwnedValue::Int(signed(count))));
    let row = |(like, of): (&OperationLike, &LikePoints)| {
        let time = |percent: usize| quantile(&of.times_ps, percent).map(seconds);
        let rate = median(of.all(points).filter_map(|point| point.bus_rate).collect());
        let values = like.values().into_iter().chain(counts([of.points.len(), outliers(of)]));
        let values = values.chain([0, 25, 50, 75, 95, 100].map(time));
        MetricRow { name: like.words(), values: values.chain([rate.map(OwnedValue::Float)]).collect() }
    };
    let rest = (!others.is_empty()).then(|| {
        let sum = |count: &dyn Fn(&LikePoints) -> usize| others.iter().map(|(_, of)| count(of)).sum();
        let mut values = vec![None; SPREADS.metrics.len()];
        let counts = counts([sum(&|of| of.points.len()), sum(&outliers)]);
        values.splice(COUNTS_AT..COUNTS_AT + counts.len(), counts);
        MetricRow { name: format!("{} others", others.len()), values }
    });
    longest.into_iter().map(row).chain(rest).collect()
}

/// The outliers, those beyond the usual time by the most first; then others, by start.
fn point_rows(points: &[CollectivePoint], spreads: &BTreeMap<OperationLike, LikePoints>) -> Vec<MetricRow> {
    let (mut outliers, mut others) = (Vec::new(), Vec::new());
    for of in spreads.values() {
        let at = of.points.iter().copied();
        let (out, usual): (Vec<u32>, Vec<u32>) = at.partition(|at| of.is_outlier(&points[*at as usize]));
        outliers.extend(out);
        others.push(usual);
    }
    let usual_ps = |point: &CollectivePoint| spreads.get(&point.like).and_then(|of| Some(of.usual()?.ps));
    let excess_ps = |at: &u32| {
        let point = &points[*at as usize];
        point.time_ps.saturating_sub(usual_ps(point).unwrap_or(point.time_ps))
    };
    outliers.sort_by_key(|at| (std::cmp::Reverse(excess_ps(at)), *at));
    outliers.truncate(MOST_POINTS);
    let mut others = thinned(others, MOST_POINTS - outliers.len());
    others.sort_unstable();
    let row = |at: u32, is_outlier: bool| {
        let point = &points[at as usize];
        let usual_ps = usual_ps(point).filter(|usual_ps| *usual_ps > 0);
        let values = point.like.values().into_iter().chain([
            Some(seconds(point.time_ps)),
            usual_ps.map(|usual_ps| OwnedValue::Float(point.time_ps as f64 / usual_ps as f64)),
            point.bus_rate.map(OwnedValue::Float),
            Some(OwnedValue::Bool(is_outlier)),
            Some(OwnedValue::Int(point.row.into())),
        ]);
        let number =
            point.number.map_or_else(|| format!("at row {}", point.row), |number| number.to_string());
        MetricRow { name: format!("{} {number}", point.like.kind.name()), values: values.collect() }
    };
    let outliers = outliers.into_iter().map(|at| row(at, true));
    outliers.chain(others.into_iter().map(|at| row(at, false))).collect()
}

/// At most so many points, as many of each of the lists as there is room for, evenly taken.
fn thinned(mut lists: Vec<Vec<u32>>, most: usize) -> Vec<u32> {
    lists.sort_by_key(Vec::len);
    let (count, mut kept) = (lists.len(), Vec::new());
    for (at, list) in lists.into_iter().enumerate() {
        let room = (most - kept.len()) / (count - at);
        let share = room.min(list.len());
        kept.extend((0..share).map(|of| list[of * list.len() / share]));
    }
    kept
}

fn seconds(ps: i64) -> OwnedValue {
    OwnedValue::Float(ps as f64 / PS_PER_S as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(kind: CollectiveKind, bytes: u64, time_ps: i64) -> CollectivePoint {
        CollectivePoint {
            like: OperationLike { kind, bytes: Some(bytes), ranks: Some(4) },
            number: None,
            row: 0,
            start_ps: 0,
            time_ps,
            bus_rate: None,
            is_sure: true,
        }
    }

    /// Points one after another, numbered from 0.
    fn numbered(points: &[CollectivePoint]) -> Vec<CollectivePoint> {
        let next = |(at, point): (usize, &CollectivePoint)| CollectivePoint {
            number: Some(narrow(at)),
            row: narrow(at) + 10,
            start_ps: signed(at),
            ..*point
        };
        points.iter().enumerate().map(next).collect()
    }

    fn value<'t>(table: &'t MetricTable, row: usize, name: &str) -> &'t OwnedValue {
        let at = table.family.metrics.iter().position(|of| of.name == name).unwrap();
        table.rows[row].values[at].as_ref().unwrap()
    }

    #[test]
    fn outliers_are_named_first_among_those_that_are_alike() {
        use CollectiveKind::{AllGather, AllReduce};
        let mut drawn: Vec<_> = [10, 11, 9, 40, 10].map(|ps| point(AllReduce, 64, ps)).to_vec();
        // As long, and usual for its size.
        drawn.push(point(AllReduce, 4096, 40));
        drawn.push(point(AllGather, 64, 500));
        let tables = tables(numbered(&drawn));
        let [spreads, points] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(points.rows.len(), drawn.len());
        assert_eq!(points.rows[0].name, "all-reduce 3");
        assert_eq!(*value(points, 0, "outlier"), OwnedValue::Bool(true));
        assert_eq!(*value(points, 0, "of_usual"), OwnedValue::Float(4.0));
        assert_eq!(*value(points, 0, "row"), OwnedValue::Int(13));
        assert!((1..points.rows.len()).all(|at| *value(points, at, "outlier") == OwnedValue::Bool(false)));
        // The kind with the most time comes first.
        let names: Vec<&str> = spreads.rows.iter().map(|row| row.name.as_str()).collect();
        let sizes = ["all-gather, 64 B, 4 ranks", "all-reduce, 64 B, 4 ranks", "all-reduce, 4 KiB, 4 ranks"];
        assert_eq!(names, sizes);
        assert_eq!(*value(spreads, 1, "count"), OwnedValue::Int(5));
        assert_eq!(*value(spreads, 1, "outliers"), OwnedValue::Int(1));
        assert_eq!(*value(spreads, 1, "median"), OwnedValue::Float(10e-12));
        assert!(super::tables(Vec::new()).is_empty());
    }

    #[test]
    fn an_operation_that_waited_for_ranks_that_were_not_recorded_is_no_outlier() {
        let mut drawn = numbered(&[10, 10, 10, 10, 90].map(|ps| point(CollectiveKind::AllReduce, 64, ps)));
        drawn[4].is_sure = false;
        let tables = tables(drawn);
        assert_eq!(*value(&tables[0], 0, "outliers"), OwnedValue::Int(0));
        assert_eq!(*value(&tables[0], 0, "longest"), OwnedValue::Float(90e-12));
    }

    #[test]
    fn of_many_points_outliers_and_rare_kinds_stay() {
        let usual = (0..5_000).map(|_| point(CollectiveKind::AllReduce, 64, 10));
        let rare = (0..3).map(|_| point(CollectiveKind::Barrier, 64, 10));
        let slow = (0..7).map(|_| point(CollectiveKind::AllReduce, 64, 31));
        let drawn: Vec<_> = slow.chain(usual).chain(rare).collect();
        let tables = tables(numbered(&drawn));
        assert_eq!(tables[1].rows.len(), MOST_POINTS);
        let count =
            |is_it: &dyn Fn(&MetricRow) -> bool| tables[1].rows.iter().filter(|row| is_it(row)).count();
        assert_eq!(count(&|row| row.values.contains(&Some(OwnedValue::Bool(true)))), 7);
        assert_eq!(count(&|row| row.name.starts_with("barrier")), 3);
        assert_eq!(*value(&tables[0], 0, "count"), OwnedValue::Int(5_007));
    }
}

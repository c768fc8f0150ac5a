//! The collective operations of a summary as points by size and time, one colour for each kind,
//! with the spread of those that are alike. Pure.

use std::collections::BTreeSet;

use nprof_engine::makers::job::schema::OperationRow;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricRowEntry, MetricTableEntry, Summary};

use super::log_axis::{AxisTick, LogAxis, LogBase};
use super::table_columns::TableColumns;

/// Key of the table of points.
const POINTS: &str = "collective_points";
/// Key of the table of spreads.
const SPREADS: &str = "collective_spreads";
/// A point is under the pointer from this distance on, in pixels.
const NEAR_PX: f64 = 12.0;

/// A picture of collective operations. Positions are from 0 to 1, from the left and from the
/// bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectivePicture {
    /// The kinds, the one with the most time first.
    pub kinds: Vec<String>,
    /// The operations, outliers first.
    pub points: Vec<CollectiveMark>,
    /// The spreads of operations that are alike.
    pub spreads: Vec<SpreadMark>,
    /// Powers of two of the size.
    pub sizes: Vec<AxisTick>,
    /// Powers of ten of the time in seconds.
    pub times: Vec<AxisTick>,
    /// All operations.
    pub count: u64,
    /// All outliers.
    pub outliers: u64,
    /// Whether some operations have no size. They stand at the left edge.
    pub has_unsized: bool,
}

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectiveMark {
    /// Kind and number.
    pub name: String,
    /// Position in [`CollectivePicture::kinds`].
    pub kind: usize,
    /// Position by size and by time.
    pub at: (f64, f64),
    /// Bytes, if known.
    pub bytes: Option<f64>,
    /// Ranks, if known.
    pub ranks: Option<f64>,
    /// Time in seconds.
    pub time_s: f64,
    /// Time over the usual one.
    pub of_usual: Option<f64>,
    /// Bus bandwidth in bytes a second.
    pub bus_rate: Option<f64>,
    /// Whether it stands out.
    pub is_outlier: bool,
    /// Row of its slice.
    pub row: Option<u32>,
}

/// Operations that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct SpreadMark {
    /// Kind, size and ranks.
    pub name: String,
    /// Position in [`CollectivePicture::kinds`].
    pub kind: usize,
    /// Position by size.
    pub across: f64,
    /// Positions of the shortest time, the quarters, and the 95th percentile.
    pub up: [f64; 5],
    /// The same times in seconds.
    pub times_s: [f64; 5],
    /// Number of operations.
    pub count: f64,
    /// Median bus bandwidth in bytes a second.
    pub bus_rate: Option<f64>,
}

/// The thing under the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointedAt {
    /// The operation at this position.
    Point(usize),
    /// The spread at this position.
    Spread(usize),
}

/// A place in a picture of a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PicturePlace {
    /// Pixels from the left.
    pub across_px: f64,
    /// Pixels from the bottom.
    pub above_px: f64,
    /// Width of the picture in pixels.
    pub width_px: f64,
    /// Height of the picture in pixels.
    pub height_px: f64,
}

impl PicturePlace {
    /// Distance in pixels to a position from 0 to 1.
    fn distance_px(self, across: f64, above: f64) -> f64 {
        (across * self.width_px - self.across_px).hypot(above * self.height_px - self.above_px)
    }

    /// Its position from the bottom, from 0 to 1.
    fn above(self) -> f64 {
        self.above_px / self.height_px.max(1.0)
    }
}

/// Columns of the times of a spread, ascending.
const SPREAD_TIMES: [&str; 5] = ["shortest", "quarter", "median", "three_quarters", "p95"];

/// Both tables with their columns.
struct CollectiveTables<'s> {
    points: &'s MetricTableEntry,
    spreads: &'s MetricTableEntry,
}

impl CollectivePicture {
    /// The picture of a summary. `None` if it has no operations that take time.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let table = |key: &str| summary.tables.iter().find(|table| table.key == key);
        let of = CollectiveTables { points: table(POINTS)?, spreads: table(SPREADS)? };
        let (points, spreads) = (TableColumns(of.points), TableColumns(of.spreads));
        let rows = || of.points.rows.iter();
        let sizes = rows().filter_map(|row| points.above_zero(row, "bytes"));
        // Without any size all points stand at the left edge, and there is no scale.
        let x = LogAxis::around(LogBase::Two, sizes).map(LogAxis::padded);
        let y = LogAxis::around(LogBase::Ten, rows().filter_map(|row| points.above_zero(row, "time")))?;
        let kinds = of.kinds();
        // The column of operations has the same name.
        let bus_rate = OperationRow::by(|field| field.name).bus_rate;
        let across = |bytes: Option<f64>| bytes.zip(x).map_or(0.0, |(bytes, x)| x.at(bytes));
        let mark = |row: &MetricRowEntry| {
            let (time_s, bytes) = (points.above_zero(row, "time")?, points.above_zero(row, "bytes"));
            Some(CollectiveMark {
                name: row.name.clone(),
                kind: kinds.iter().position(|kind| kind == points.text(row, "kind"))?,
                at: (across(bytes), y.at(time_s)),
                bytes,
                ranks: points.above_zero(row, "ranks"),
                time_s,
                of_usual: points.above_zero(row, "of_usual"),
                bus_rate: points.above_zero(row, bus_rate),
                is_outlier: points.value(row, "outlier") == Some(&FieldContent::Bool(true)),
                row: points.number(row, "row").map(|row| row as u32),
            })
        };
        let spread = |row: &MetricRowEntry| {
            let times_s: Option<Vec<f64>> =
                SPREAD_TIMES.iter().map(|name| spreads.above_zero(row, name)).collect();
            let times_s: [f64; 5] = times_s?.try_into().ok()?;
            Some(SpreadMark {
                name: row.name.clone(),
                kind: kinds.iter().position(|kind| kind == spreads.text(row, "kind"))?,
                across: across(spreads.above_zero(row, "bytes")),
                up: times_s.map(|time_s| y.at(time_s).clamp(0.0, 1.0)),
                times_s,
                count: spreads.number(row, "count")?,
                bus_rate: spreads.above_zero(row, bus_rate),
            })
        };
        let sum =
            |name: &str| -> f64 { of.spreads.rows.iter().filter_map(|row| spreads.number(row, name)).sum() };
        Some(Self {
            points: rows().filter_map(mark).collect(),
            spreads: of.spreads.rows.iter().filter_map(spread).collect(),
            sizes: x.map(|x| x.ticks()).unwrap_or_default(),
            times: y.ticks(),
            count: sum("count") as u64,
            outliers: sum("outliers") as u64,
            has_unsized: rows().any(|row| points.above_zero(row, "bytes").is_none()),
            kinds,
        })
    }

    /// The operations that stand out, of kinds that are shown.
    pub fn outliers(&self, hidden: &BTreeSet<String>) -> impl Iterator<Item = &CollectiveMark> {
        self.points.iter().filter(|point| point.is_outlier && !hidden.contains(&self.kinds[point.kind]))
    }

    /// The point, else the spread, that is nearest to a place.
    #[must_use]
    pub fn nearest(&self, place: PicturePlace, hidden: &BTreeSet<String>) -> Option<PointedAt> {
        let is_shown = |kind: usize| !hidden.contains(&self.kinds[kind]);
        let points = self.points.iter().enumerate().filter(|(_, point)| is_shown(point.kind));
        let points =
            points.map(|(at, point)| (place.distance_px(point.at.0, point.at.1), PointedAt::Point(at)));
        let nearest = |a: &(f64, PointedAt), b: &(f64, PointedAt)| a.0.total_cmp(&b.0);
        let found = points.min_by(nearest).filter(|(px, _)| *px <= NEAR_PX);
        let spreads = self.spreads.iter().enumerate().filter(|(_, spread)| is_shown(spread.kind));
        let spreads = spreads.map(|(at, spread)| {
            let above = place.above().clamp(spread.up[0], spread.up[4].max(spread.up[0]));
            (place.distance_px(spread.across, above), PointedAt::Spread(at))
        });
        let found = found.or_else(|| spreads.min_by(nearest).filter(|(px, _)| *px <= NEAR_PX));
        found.map(|(_, at)| at)
    }
}

impl CollectiveTables<'_> {
    /// The kinds in the order of their spreads, which is that of their times.
    fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = Vec::new();
        for table in [self.spreads, self.points] {
            let columns = TableColumns(table);
            for kind in table.rows.iter().map(|row| columns.text(row, "kind")) {
                if !kind.is_empty() && !kinds.iter().any(|known| known == kind) {
                    kinds.push(kind.to_owned());
                }
            }
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::summary::MetricColumnEntry;

    use super::*;

    fn table(key: &str, columns: &[&str], rows: &[(&str, &[FieldContent])]) -> MetricTableEntry {
        let column = |name: &&str| MetricColumnEntry {
            name: (*name).to_owned(),
            unit: String::new(),
            doc: String::new(),
        };
        let row = |(name, values): &(&str, &[FieldContent])| MetricRowEntry {
            name: (*name).to_owned(),
            values: values.iter().cloned().map(Some).collect(),
        };
        MetricTableEntry {
            key: key.to_owned(),
            title: String::new(),
            row: String::new(),
            columns: columns.iter().map(column).collect(),
            rows: rows.iter().map(row).collect(),
        }
    }

    /// Points `name, kind, bytes, seconds, is_outlier`; each is a spread of its own, too.
    fn drawn(points: &[(&str, &str, i64, f64, bool)]) -> CollectivePicture {
        use FieldContent::{Bool, Float, Int, Text};
        let of_points: Vec<_> = points
            .iter()
            .zip(7..)
            .map(|((name, kind, bytes, time_s, is_outlier), row)| {
                let (kind, bytes) = (Text((*kind).to_owned()), Int(*bytes));
                (*name, vec![kind, bytes, Float(*time_s), Bool(*is_outlier), Int(row)])
            })
            .collect();
        let of_spreads: Vec<_> = points
            .iter()
            .map(|(name, kind, bytes, time_s, is_outlier)| {
                let (kind, bytes) = (Text((*kind).to_owned()), Int(*bytes));
                let counts = [Int(3), Int(i64::from(*is_outlier))];
                let times = SPREAD_TIMES.map(|_| Float(*time_s));
                (*name, [kind, bytes].into_iter().chain(counts).chain(times).collect::<Vec<_>>())
            })
            .collect();
        let point_rows: Vec<(&str, &[FieldContent])> =
            of_points.iter().map(|(name, values)| (*name, &values[..])).collect();
        let spread_rows: Vec<(&str, &[FieldContent])> =
            of_spreads.iter().map(|(name, values)| (*name, &values[..])).collect();
        let columns: Vec<&str> =
            ["kind", "bytes", "count", "outliers"].into_iter().chain(SPREAD_TIMES).collect();
        let tables = vec![
            table(SPREADS, &columns, &spread_rows),
            table(POINTS, &["kind", "bytes", "time", "outlier", "row"], &point_rows),
        ];
        let summary = Summary { rank: 0.into(), groups: Vec::new(), tables, absent: Vec::new() };
        CollectivePicture::of(&summary).unwrap()
    }

    #[test]
    fn points_stand_by_size_and_time_in_the_colour_of_their_kind() {
        let picture = drawn(&[
            ("all-reduce 1", "all-reduce", 1024, 1e-3, true),
            ("barrier 2", "barrier", 0, 1e-5, false),
            ("all-reduce 3", "all-reduce", 4096, 1e-4, false),
        ]);
        assert_eq!(picture.kinds, ["all-reduce", "barrier"]);
        // From 512 B to 8 KiB, and from 10 µs to 1 ms.
        let at: Vec<_> = picture.points.iter().map(|point| point.at).collect();
        assert_eq!(at, [(0.25, 1.0), (0.0, 0.0), (0.75, 0.5)]);
        assert_eq!(picture.points[0].row, Some(7));
        assert!(picture.has_unsized);
        assert_eq!((picture.count, picture.outliers), (9, 1));
        assert_eq!(picture.spreads[2].up, [0.5; 5]);
        assert_eq!(picture.outliers(&BTreeSet::new()).count(), 1);
    }

    #[test]
    fn the_pointer_meets_points_of_kinds_that_are_shown() {
        let picture = drawn(&[
            ("a 1", "a", 1024, 1e-3, true),
            ("b 2", "b", 1024, 1e-3, false),
            ("b 3", "b", 4096, 1e-4, false),
        ]);
        let place =
            |across_px, above_px| PicturePlace { across_px, above_px, width_px: 200.0, height_px: 100.0 };
        let none = BTreeSet::new();
        assert_eq!(picture.nearest(place(52.0, 97.0), &none), Some(PointedAt::Point(0)));
        assert_eq!(picture.nearest(place(100.0, 50.0), &none), None);
        let hidden = BTreeSet::from(["a".to_owned()]);
        assert_eq!(picture.nearest(place(52.0, 97.0), &hidden), Some(PointedAt::Point(1)));
        assert_eq!(picture.outliers(&hidden).count(), 0);
    }

    #[test]
    fn a_summary_without_operations_has_no_picture() {
        let summary = Summary { rank: 0.into(), groups: Vec::new(), tables: Vec::new(), absent: Vec::new() };
        assert_eq!(CollectivePicture::of(&summary), None);
    }
}

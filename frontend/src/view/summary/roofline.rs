//! The roofline of a device: work by its intensity and its rate, below the rates that the device
//! can reach, on logarithmic axes. Pure.

use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricRowEntry, Summary};

use super::log_axis::{AxisTick, LogAxis, LogBase};
use super::table_columns::TableColumns;

/// Key of the table.
const TABLE: &str = "roofline";
/// Points that are drawn, those with the most time.
const MOST_POINTS: usize = 60;
/// Share of all time that a point has at least: the others only make the axes longer.
const LEAST_SHARE: f64 = 0.005;

/// A picture of a roofline. Positions are from 0 to 1, from the left and from the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    /// All work first, then the parts of it with the most time.
    pub points: Vec<RooflineMark>,
    /// Further points, which take less time.
    pub left_out: usize,
    /// The rates that the device can reach: a roof for each peak, from the left edge over the ridge
    /// to the right edge.
    pub roofs: Vec<[(f64, f64); 3]>,
    /// Powers of ten of the intensity, with their positions.
    pub intensities: Vec<AxisTick>,
    /// Powers of ten of the rate.
    pub rates: Vec<AxisTick>,
}

/// Work in the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflineMark {
    /// Name of the work.
    pub name: String,
    /// Position by the intensity, and by the rate.
    pub at: (f64, f64),
    /// Time on the device as a share of all time in the table.
    pub share: f64,
    /// Time on the device in seconds.
    pub time_s: f64,
    /// Operations a second.
    pub rate: f64,
    /// Operations per byte.
    pub intensity: f64,
    /// Rate as a share of the reachable one.
    pub of_reachable: Option<f64>,
    /// Whether the memory limits it. `None` if the peaks are not known.
    pub is_memory_bound: Option<bool>,
}

impl TableColumns<'_> {
    /// The peak rates of a row: operations and bytes a second.
    fn peak(&self, row: &MetricRowEntry) -> Option<(f64, f64)> {
        Some((self.above_zero(row, "peak_rate")?, self.above_zero(row, "peak_bandwidth")?))
    }
}

impl Roofline {
    /// The picture of a summary's roofline. `None` if it has none.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let table = summary.tables.iter().find(|table| table.key == TABLE)?;
        let of = TableColumns(table);
        let placed = |row: &MetricRowEntry| {
            Some((
                of.above_zero(row, "intensity")?,
                of.above_zero(row, "flops_rate")?,
                of.above_zero(row, "time")?,
            ))
        };
        let rows: Vec<_> = table.rows.iter().filter_map(|row| Some((row, placed(row)?))).collect();
        // The first row is that of all work.
        let whole_s = rows.first().map_or(f64::INFINITY, |(_, (_, _, time_s))| *time_s);
        let is_shown =
            |(_, (_, _, time_s)): &(&MetricRowEntry, (f64, f64, f64))| time_s / whole_s >= LEAST_SHARE;
        let all = rows.len();
        let rows: Vec<_> = rows.into_iter().filter(is_shown).take(MOST_POINTS).collect();
        let mut peaks: Vec<(f64, f64)> = table.rows.iter().filter_map(|row| of.peak(row)).collect();
        peaks.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        peaks.dedup();
        let ridges = || peaks.iter().map(|(flops, bytes)| flops / bytes);
        let x = LogAxis::around(LogBase::Ten, rows.iter().map(|(_, placed)| placed.0).chain(ridges()))?;
        let tops = peaks.iter().map(|(flops, _)| *flops);
        let y = LogAxis::around(LogBase::Ten, rows.iter().map(|(_, placed)| placed.1).chain(tops))?;
        let mark = |(row, (intensity, rate, time_s)): &(&MetricRowEntry, (f64, f64, f64))| RooflineMark {
            name: row.name.clone(),
            at: (x.at(*intensity), y.at(*rate)),
            share: time_s / whole_s,
            time_s: *time_s,
            rate: *rate,
            intensity: *intensity,
            of_reachable: of.above_zero(row, "of_reachable"),
            is_memory_bound: of
                .value(row, "bound")
                .map(|bound| matches!(bound, FieldContent::Text(word) if word == "memory")),
        };
        let roof = |(flops, bytes): &(f64, f64)| {
            let left = x.begin();
            [(0.0, y.at(left * bytes)), (x.at(flops / bytes), y.at(*flops)), (1.0, y.at(*flops))]
        };
        Some(Self {
            points: rows.iter().map(mark).collect(),
            left_out: all - rows.len(),
            roofs: peaks.iter().map(roof).collect(),
            intensities: x.ticks(),
            rates: y.ticks(),
        })
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::metrics::{PeakRates, RooflinePoint, roofline};
    use nprof_engine::wire::summary::{MetricColumnEntry, MetricTableEntry};

    use super::*;

    fn summary(points: Vec<RooflinePoint>) -> Summary {
        let column = |of: &nprof_engine::metrics::MetricDefinition| MetricColumnEntry {
            name: of.name.to_owned(),
            unit: of.unit.symbol().to_owned(),
            doc: of.doc.to_owned(),
        };
        let row = |point: RooflinePoint| {
            let row = point.row();
            MetricRowEntry {
                name: row.name,
                values: row
                    .values
                    .into_iter()
                    .map(|value| value.map(nprof_engine::wire::answer::content))
                    .collect(),
            }
        };
        let table = MetricTableEntry {
            key: roofline::FAMILY.key.to_owned(),
            title: String::new(),
            row: String::new(),
            columns: roofline::FAMILY.metrics.iter().map(column).collect(),
            rows: points.into_iter().map(row).collect(),
        };
        Summary { rank: 0.into(), groups: Vec::new(), tables: vec![table], absent: Vec::new() }
    }

    fn point(flops: f64, bytes: f64, peak: Option<PeakRates>) -> RooflinePoint {
        RooflinePoint {
            name: "mm".to_owned(),
            count: 1,
            time_ps: 1_000_000_000_000,
            flops,
            bytes,
            least: peak.map(|peak| peak.least_time(flops, bytes)),
            peak,
        }
    }

    #[test]
    fn work_lies_below_its_roof() {
        let peak = PeakRates { flops: 1e4, bytes: 1e2 };
        let drawn =
            Roofline::of(&summary(vec![point(1e3, 1e2, Some(peak)), point(1e3, 1.0, Some(peak))])).unwrap();
        // Intensities 10 to 1000, rates 1000 to 10,000; the ridge is at 100.
        assert_eq!(drawn.points.iter().map(|point| point.at).collect::<Vec<_>>(), [(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(drawn.roofs, [[(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)]]);
        assert_eq!(drawn.points[0].is_memory_bound, Some(true));
        assert_eq!(drawn.points[1].is_memory_bound, Some(false));
        let intensities: Vec<_> = drawn.intensities.iter().map(|tick| (tick.at, tick.value)).collect();
        assert_eq!(intensities, [(0.0, 10.0), (0.5, 100.0), (1.0, 1_000.0)]);
    }

    /// All work, and so many layers that share its time in the order of a triangle.
    fn layers(count: usize) -> Vec<RooflinePoint> {
        let of = |at: usize| RooflinePoint {
            name: format!("layer {at}"),
            time_ps: 1_000_000_000_000 * (count - at) as i64 / (count * (count + 1) / 2).max(1) as i64,
            ..point(1e3 + at as f64, 1e2, None)
        };
        std::iter::once(point(1e6, 1e4, None)).chain((0..count).map(of)).collect()
    }

    #[test]
    fn the_points_with_the_most_time_are_drawn_and_the_others_are_counted() {
        for (count, drawn_count) in [(0, 1), (1, 2), (11, 12)] {
            let drawn = Roofline::of(&summary(layers(count))).unwrap();
            assert_eq!((drawn.points.len(), drawn.left_out), (drawn_count, 0), "{count}");
        }
        let drawn = Roofline::of(&summary(layers(200))).unwrap();
        assert_eq!(drawn.points.len() + drawn.left_out, 201);
        assert_eq!((drawn.points.len(), drawn.points[1].name.as_str()), (60, "layer 0"));
        let least = drawn.points.last().unwrap();
        assert!(least.share >= LEAST_SHARE && least.name == "layer 58", "{least:?}");
    }

    #[test]
    fn without_peaks_there_are_points_and_no_roof() {
        let drawn = Roofline::of(&summary(vec![point(1e3, 1e2, None), point(0.0, 1.0, None)])).unwrap();
        assert_eq!((drawn.points.len(), drawn.roofs.len()), (1, 0));
        assert_eq!(drawn.points[0].is_memory_bound, None);
        assert_eq!(Roofline::of(&summary(Vec::new())), None);
    }
}

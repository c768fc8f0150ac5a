//! Bands under the ruler: named spans such as steps, and the places of findings.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nprof_engine::base::Interval;
use nprof_engine::base::order::sort_by_key;

use super::TimeScale;

/// Spans that a band shows at once.
pub const MOST_IN_SIGHT: usize = 96;
/// A span that is narrower is shown as wide as this.
const LEAST_PX: f64 = 3.0;

/// A band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionBand {
    /// The name at its left.
    pub title: &'static str,
    /// Its spans, by start.
    pub spans: Vec<BandSpan>,
    /// Spans that are shown at once: the widest ones.
    pub most: usize,
}

/// A span of a band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandSpan {
    /// Its times.
    pub span: Interval,
    /// Its name.
    pub label: String,
    /// All that is said about it.
    pub title: String,
    /// The target of a click.
    pub target: BandTarget,
}

/// The target of a click on a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandTarget {
    /// The span itself comes into sight. An outlier stands out.
    Span {
        /// Whether it stands out.
        is_outlier: bool,
    },
    /// The span, which a user named, is marked and comes into sight.
    Named,
    /// The finding at this position among those that are shown.
    Finding(usize),
}

/// A span in sight. Lengths are in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedSpan {
    /// Position in the band.
    pub at: usize,
    /// Left end.
    pub left_px: f64,
    /// Width.
    pub width_px: f64,
}

/// The spans in lanes without overlaps, the longest first; those that fit into none of `most` lanes
/// are left out.
#[must_use]
pub fn lanes(mut spans: Vec<BandSpan>, most: usize) -> Vec<Vec<BandSpan>> {
    sort_by_key(&mut spans, |of| (Reverse(of.span.duration_ps()), of.span.start.0, of.span.end.0));
    // By start, as a lane is shown.
    let mut lanes: Vec<BTreeMap<i64, BandSpan>> = Vec::new();
    for of in spans {
        let (start, end) = (of.span.start.0, of.span.end.0);
        let is_free = |lane: &BTreeMap<i64, BandSpan>| {
            let before = lane.range(..=start).next_back().is_none_or(|(_, other)| other.span.end.0 <= start);
            before && lane.range(start..).next().is_none_or(|(other, _)| *other >= end.max(start + 1))
        };
        match lanes.iter().position(is_free) {
            Some(at) => {
                lanes[at].insert(start, of);
            }
            None if lanes.len() < most => lanes.push(BTreeMap::from([(start, of)])),
            None => {}
        }
    }
    lanes.into_iter().map(|lane| lane.into_values().collect()).collect()
}

/// The spans in sight, those of many that are widest. Spans do not reach beyond the edges, so that
/// their labels can be read.
#[must_use]
pub fn in_sight(band: &RegionBand, scale: &TimeScale) -> Vec<PlacedSpan> {
    let placed = |(at, of): (usize, &BandSpan)| {
        let left_px = scale.px_from_time(of.span.start.0).max(0.0);
        let right_px = scale.px_from_time(of.span.end.0).min(scale.width_px);
        PlacedSpan {
            at,
            left_px: left_px.min(scale.width_px - LEAST_PX),
            width_px: (right_px - left_px).max(LEAST_PX),
        }
    };
    let is_here = |of: &BandSpan| of.span.start <= scale.window.end && of.span.end >= scale.window.start;
    let spans = band.spans.iter().enumerate().filter(|(_, of)| is_here(of));
    let mut shown: Vec<PlacedSpan> = spans.map(placed).collect();
    if shown.len() > band.most {
        shown.sort_by(|a, b| b.width_px.total_cmp(&a.width_px).then(a.at.cmp(&b.at)));
        shown.truncate(band.most);
        shown.sort_by_key(|of| of.at);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(spans: &[(i64, i64)]) -> RegionBand {
        let span = |&(start, end): &(i64, i64)| BandSpan {
            span: Interval::new(start, end),
            label: String::new(),
            title: String::new(),
            target: BandTarget::Span { is_outlier: false },
        };
        RegionBand { title: "Steps", spans: spans.iter().map(span).collect(), most: MOST_IN_SIGHT }
    }

    #[test]
    fn spans_in_sight_end_at_the_edges() {
        let scale = TimeScale { window: Interval::new(100, 200), width_px: 1000.0 };
        let placed = in_sight(&band(&[(0, 90), (50, 120), (130, 130), (150, 900), (300, 400)]), &scale);
        let drawn: Vec<_> = placed.iter().map(|of| (of.at, of.left_px, of.width_px)).collect();
        assert_eq!(drawn, [(1, 0.0, 200.0), (2, 300.0, 3.0), (3, 500.0, 500.0)]);
    }

    #[test]
    fn lanes_have_no_overlaps_and_the_longest_spans_come_first() {
        let spans = band(&[(0, 10), (5, 6), (8, 20), (10, 15), (5, 7), (20, 20)]).spans;
        let times = |most| {
            let lanes = lanes(spans.clone(), most).into_iter();
            lanes
                .map(|lane| lane.iter().map(|of| (of.span.start.0, of.span.end.0)).collect())
                .collect::<Vec<Vec<(i64, i64)>>>()
        };
        assert_eq!(times(1), [vec![(5, 7), (8, 20), (20, 20)]]);
        assert_eq!(times(2), [vec![(5, 7), (8, 20), (20, 20)], vec![(0, 10), (10, 15)]]);
        assert_eq!(times(9).iter().map(Vec::len).sum::<usize>(), spans.len());
    }

    #[test]
    fn of_many_spans_the_widest_are_shown() {
        let spans: Vec<(i64, i64)> = (0..1_000).map(|at| (at * 10, at * 10 + at % 10)).collect();
        let scale = TimeScale { window: Interval::new(0, 10_000), width_px: 10_000.0 };
        let placed = in_sight(&band(&spans), &scale);
        assert_eq!(placed.len(), MOST_IN_SIGHT);
        assert!(
            placed.iter().all(|of| of.width_px >= 9.0) && placed.windows(2).all(|two| two[0].at < two[1].at)
        );
    }
}

//! One look for the values of a counter at every zoom: the range of the values that begin in a
//! cell, then the last one until the next cell with values. A cell is one to two device pixels
//! wide.
//!
//! A tile has samples if there are few of them, else the ranges of its cells. Without the same
//! cells in both forms, a counter would change its look at the edge of a tile.

use nprof_engine::tile::{CELLS, FINEST_CELL_PS};
use nprof_engine::wire::tile::{Content, Tile, TileRange, TileSample};

/// Values of a counter over some cells of a tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    /// Left edge, in cells from the tile's start.
    pub start: f64,
    /// Right edge, in cells from the tile's start.
    pub end: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Values {
    /// The values of a lane, in the order of time. The last value of a tile holds to its end.
    #[must_use]
    pub fn of(content: &Content, tile: &Tile) -> Vec<Self> {
        match content {
            Content::Samples(samples) => of_samples(samples, tile.cell_ps.max(1)),
            Content::Ranges(ranges) => of_ranges(ranges),
            Content::Slices(_) | Content::Cells(_) | Content::Limits(_) => Vec::new(),
        }
    }

    fn held(start: f64, end: f64, value: f64) -> Self {
        Self { start, end, min: value, max: value }
    }
}

fn of_samples(samples: &[TileSample], cell_ps: i64) -> Vec<Values> {
    if cell_ps == FINEST_CELL_PS {
        // These cells can be wide on the screen.
        return of_exact(samples);
    }
    let cell = |sample: &TileSample| sample.time_ps.div_euclid(cell_ps);
    let cells: Vec<&[TileSample]> = samples.chunk_by(|a, b| cell(a) == cell(b)).collect();
    let mut out = Vec::with_capacity(samples.len());
    for (number, of) in cells.iter().enumerate() {
        let start = cell(&of[0]) as f64;
        let next = cells.get(number + 1).map_or(CELLS as f64, |next| cell(&next[0]) as f64);
        let (min, max) = of
            .iter()
            .fold((f64::NAN, f64::NAN), |(min, max), sample| (sample.value.min(min), sample.value.max(max)));
        add(&mut out, Values { start, end: start + 1.0, min, max }, next, of[of.len() - 1].value);
    }
    out
}

/// Each sample from its time on, to the picosecond.
fn of_exact(samples: &[TileSample]) -> Vec<Values> {
    let at = |sample: &TileSample| sample.time_ps as f64 / FINEST_CELL_PS as f64;
    let ends = samples.iter().skip(1).map(at).chain([CELLS as f64]);
    samples.iter().zip(ends).map(|(sample, end)| Values::held(at(sample), end, sample.value)).collect()
}

/// Adds the range of a cell, and its last value until the next cell with values.
fn add(out: &mut Vec<Values>, range: Values, next: f64, last: f64) {
    let end = range.end;
    out.push(range);
    if next > end {
        out.push(Values::held(end, next, last));
    }
}

fn of_ranges(ranges: &[TileRange]) -> Vec<Values> {
    let mut out = Vec::with_capacity(ranges.len());
    for (number, range) in ranges.iter().enumerate() {
        let next = ranges.get(number + 1).map_or(CELLS as f64, |next| f64::from(next.cell));
        let TileRange { cell, min, max, last, .. } = *range;
        let start = f64::from(cell);
        add(&mut out, Values { start, end: start + 1.0, min, max }, next, last);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture::tile;

    #[track_caller]
    fn check(content: Content, cell_ps: i64, expected: &str) {
        let values = Values::of(&content, &tile(cell_ps, &[], vec![]));
        let texts = values.iter().map(|of| format!("{}..{} {}..{}", of.start, of.end, of.min, of.max));
        assert_eq!(texts.collect::<Vec<_>>().join(" | "), expected);
    }

    fn samples(all: &[(i64, f64)]) -> Content {
        let sample = |&(time_ps, value): &(i64, f64)| TileSample { time_ps, value, row: 0 };
        Content::Samples(all.iter().map(sample).collect())
    }

    #[test]
    fn a_value_holds_from_its_cell_on() {
        check(
            samples(&[(-4_096, 5.0), (3_072, 7.0)]),
            2_048,
            "-2..-1 5..5 | -1..1 5..5 | 1..2 7..7 | 2..512 7..7",
        );
        check(samples(&[]), 2_048, "");
        // The finest cells can be wide on the screen.
        check(samples(&[(0, 1.0), (512, 5.0)]), 1_024, "0..0.5 1..1 | 0.5..512 5..5");
    }

    #[test]
    fn samples_of_one_cell_are_a_range() {
        check(
            samples(&[(0, 1.0), (4_096, 5.0), (4_100, 9.0), (4_200, 2.0), (9_216, 3.0)]),
            2_048,
            "0..1 1..1 | 1..2 1..1 | 2..3 2..9 | 3..4 2..2 | 4..5 3..3 | 5..512 3..3",
        );
    }

    /// Both forms of the same samples.
    #[test]
    fn ranges_look_like_their_samples() {
        let range = |cell, min, max, last| TileRange { cell, min, max, last };
        let ranges = Content::Ranges(vec![
            range(0, 1.0, 3.0, 2.0),
            range(1, 0.0, 9.0, 9.0),
            range(4, 5.0, 6.0, 5.0),
            range(10, 4.0, 4.0, 4.0),
        ]);
        let expected =
            "0..1 1..3 | 1..2 0..9 | 2..4 9..9 | 4..5 5..6 | 5..10 5..5 | 10..11 4..4 | 11..512 4..4";
        check(ranges, 2_048, expected);
        let all = [
            (0, 1.0),
            (1, 3.0),
            (2, 2.0),
            (2_048, 0.0),
            (2_049, 9.0),
            (8_192, 6.0),
            (8_193, 5.0),
            (20_480, 4.0),
        ];
        check(samples(&all), 2_048, expected);
    }
}

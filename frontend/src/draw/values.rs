//! One look for the values of a counter at every zoom. A value that holds for long is exact.
//! Samples that share a cell are the range of their values.
//!
//! A tile has samples if there are few of them, else the ranges of its cells. Without the same
//! cells in both forms, a steady counter would change its look at the edge of a tile.

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
            Content::Slices(_) | Content::Cells(_) => Vec::new(),
        }
    }

    fn held(start: f64, end: f64, value: f64) -> Self {
        Self { start, end, min: value, max: value }
    }
}

fn of_samples(samples: &[TileSample], cell_ps: i64) -> Vec<Values> {
    // The cells of the finest tiles can be wide on the screen.
    let cell = |sample: &TileSample| match cell_ps {
        FINEST_CELL_PS => sample.time_ps,
        _ => sample.time_ps.div_euclid(cell_ps),
    };
    let at = |ps: i64| ps as f64 / cell_ps as f64;
    let cells: Vec<&[TileSample]> = samples.chunk_by(|a, b| cell(a) == cell(b)).collect();
    let is_exact = |samples: &[TileSample]| samples.len() == 1 || cell_ps == FINEST_CELL_PS;
    let start = |samples: &[TileSample]| match is_exact(samples) {
        true => at(samples[0].time_ps),
        false => cell(&samples[0]) as f64,
    };
    let mut out = Vec::with_capacity(samples.len());
    for (number, of) in cells.iter().enumerate() {
        let end = cells.get(number + 1).map_or(CELLS as f64, |next| start(next));
        let (start, last) = (start(of), of[of.len() - 1].value);
        if is_exact(of) {
            out.push(Values::held(start, end, last));
            continue;
        }
        let (min, max) = of
            .iter()
            .fold((f64::NAN, f64::NAN), |(min, max), sample| (sample.value.min(min), sample.value.max(max)));
        out.push(Values { start, end: start + 1.0, min, max });
        if end > start + 1.0 {
            out.push(Values::held(start + 1.0, end, last));
        }
    }
    out
}

fn of_ranges(ranges: &[TileRange]) -> Vec<Values> {
    let mut out = Vec::with_capacity(ranges.len());
    for (number, range) in ranges.iter().enumerate() {
        let start = f64::from(range.cell);
        out.push(Values { start, end: start + 1.0, min: range.min, max: range.max });
        let next = ranges.get(number + 1).map_or(CELLS as f64, |next| f64::from(next.cell));
        if next > start + 1.0 {
            out.push(Values::held(start + 1.0, next, range.last));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(cell_ps: i64) -> Tile {
        Tile { version: 1, start_ps: 0, cell_ps, names: vec![], waits: vec![], lanes: vec![] }
    }

    #[track_caller]
    fn check(content: Content, cell_ps: i64, expected: &str) {
        let values = Values::of(&content, &tile(cell_ps));
        let texts = values.iter().map(|of| format!("{}..{} {}..{}", of.start, of.end, of.min, of.max));
        assert_eq!(texts.collect::<Vec<_>>().join(" | "), expected);
    }

    fn samples(all: &[(i64, f64)]) -> Content {
        let sample = |&(time_ps, value): &(i64, f64)| TileSample { time_ps, value, row: 0 };
        Content::Samples(all.iter().map(sample).collect())
    }

    #[test]
    fn lonely_samples_are_exact() {
        check(samples(&[(-4_096, 5.0), (3_072, 7.0)]), 2_048, "-2..1.5 5..5 | 1.5..512 7..7");
        check(samples(&[]), 2_048, "");
    }

    #[test]
    fn samples_of_one_cell_are_a_range() {
        check(
            samples(&[(0, 1.0), (4_096, 5.0), (4_100, 9.0), (4_200, 2.0), (9_216, 3.0)]),
            2_048,
            "0..2 1..1 | 2..3 2..9 | 3..4.5 2..2 | 4.5..512 3..3",
        );
        // The finest cells can be wide on the screen.
        check(samples(&[(0, 1.0), (512, 5.0)]), 1_024, "0..0.5 1..1 | 0.5..512 5..5");
    }

    /// Both forms of the same samples, if each cell has several.
    #[test]
    fn ranges_look_like_their_samples() {
        let range = |cell, min, max, last| TileRange { cell, min, max, last };
        let ranges =
            Content::Ranges(vec![range(0, 1.0, 3.0, 2.0), range(1, 0.0, 9.0, 9.0), range(4, 5.0, 6.0, 5.0)]);
        let expected = "0..1 1..3 | 1..2 0..9 | 2..4 9..9 | 4..5 5..6 | 5..512 5..5";
        check(ranges, 2_048, expected);
        let all = [(0, 1.0), (1, 3.0), (2, 2.0), (2_048, 0.0), (2_049, 9.0), (8_192, 6.0), (8_193, 5.0)];
        check(samples(&all), 2_048, expected);
    }
}

//! Finds the item at a timestamp of a lane in a tile.

use nprof_engine::base::Interval;
use nprof_engine::model::SliceForm;
use nprof_engine::wire::tile::{
    Content, Tile, TileCell, TileLane, TileLimit, TileRange, TileSample, TileSlice,
};

use super::hover::Hovered;

/// The item at `time_ps`, or at most `slop_ps` away: items thinner than the pointer can still be
/// hit.
#[must_use]
pub fn hit(tile: &Tile, lane: &TileLane, time_ps: i64, slop_ps: i64) -> Option<Hovered> {
    let at = time_ps.saturating_sub(tile.start_ps);
    let cell_span = |cell: u32| {
        let start = tile.start_ps.saturating_add(i64::from(cell).saturating_mul(tile.cell_ps));
        Interval::new(start, start.saturating_add(tile.cell_ps))
    };
    match &lane.content {
        Content::Slices(slices) => hit_slice(slices, at, slop_ps).map(|slice| Hovered::Slice {
            row: slice.row,
            name: tile.names.get(slice.name as usize).cloned().unwrap_or_default(),
            start_ps: tile.start_ps.saturating_add(slice.start_ps),
            duration_ps: slice.duration_ps,
            form: slice.form,
        }),
        Content::Cells(cells) => hit_cell(cells, at, slop_ps, tile.cell_ps).map(|cell| Hovered::Cell {
            span: cell_span(cell.cell),
            busy_ps: cell.busy_ps,
            wait_ps: cell.wait_ps,
            count: cell.count,
            name: tile.names.get(cell.name as usize).cloned().unwrap_or_default(),
            longest_row: cell.longest_row,
            longest_ps: cell.longest_ps,
        }),
        Content::Samples(samples) => hit_sample(samples, at).map(|sample| Hovered::Sample {
            row: sample.row,
            time_ps: tile.start_ps.saturating_add(sample.time_ps),
            value: sample.value,
        }),
        Content::Ranges(ranges) => hit_range(ranges, at, tile.cell_ps).map(|range| Hovered::Range {
            span: cell_span(range.cell),
            min: range.min,
            max: range.max,
            last: range.last,
        }),
        Content::Limits(limits) => hit_limit(limits, at, slop_ps).map(|limit| Hovered::Limit {
            row: limit.row,
            name: tile.names.get(limit.name as usize).cloned().unwrap_or_default(),
            start_ps: tile.start_ps.saturating_add(limit.start_ps),
            duration_ps: limit.duration_ps,
            share: limit.share,
            part: limit.part,
        }),
    }
}

/// The nearest limit: the last one before the timestamp, or the next one.
fn hit_limit(limits: &[TileLimit], at: i64, slop_ps: i64) -> Option<&TileLimit> {
    let distance = |limit: &TileLimit| {
        let end = limit.start_ps.saturating_add(limit.duration_ps);
        if at < limit.start_ps { limit.start_ps - at } else { at.saturating_sub(end).max(0) }
    };
    let next = limits.partition_point(|limit| limit.start_ps <= at);
    let near = &limits[next.saturating_sub(1)..(next + 1).min(limits.len())];
    near.iter().filter(|limit| distance(limit) <= slop_ps).min_by_key(|limit| distance(limit))
}

/// Distance of a slice from a timestamp; 0 inside.
fn distance(slice: &TileSlice, at: i64) -> i64 {
    let end = slice.start_ps.saturating_add(slice.duration_ps);
    if at < slice.start_ps { slice.start_ps.saturating_sub(at) } else { at.saturating_sub(end).max(0) }
}

/// The nearest slice. Instants win over slices below them, which would otherwise hide them. Slices
/// of a lane do not overlap. So only the last slice before the timestamp, instants around it, and
/// the next slice can be near.
fn hit_slice(slices: &[TileSlice], at: i64, slop_ps: i64) -> Option<&TileSlice> {
    let from = slices.partition_point(|slice| slice.start_ps < at.saturating_sub(slop_ps));
    let to = slices.partition_point(|slice| slice.start_ps <= at.saturating_add(slop_ps));
    let before = slices[..from].iter().rev().find(|slice| slice.form != SliceForm::Instant);
    before
        .into_iter()
        .chain(&slices[from..to])
        .filter(|slice| distance(slice, at) <= slop_ps)
        .min_by_key(|slice| (slice.form != SliceForm::Instant, distance(slice, at)))
}

fn hit_cell(cells: &[TileCell], at: i64, slop_ps: i64, cell_ps: i64) -> Option<&TileCell> {
    let distance = |cell: &TileCell| {
        let start = i64::from(cell.cell).saturating_mul(cell_ps);
        if at < start { start - at } else { at.saturating_sub(start.saturating_add(cell_ps - 1)).max(0) }
    };
    let next = cells.partition_point(|cell| i64::from(cell.cell).saturating_mul(cell_ps) <= at);
    let near = next.saturating_sub(1)..(next + 1).min(cells.len());
    cells[near].iter().filter(|cell| distance(cell) <= slop_ps).min_by_key(|cell| distance(cell))
}

/// The sample whose value holds at this timestamp.
fn hit_sample(samples: &[TileSample], at: i64) -> Option<&TileSample> {
    samples[..samples.partition_point(|sample| sample.time_ps <= at)].last()
}

/// The range at this timestamp, or the one before, whose last value holds.
fn hit_range(ranges: &[TileRange], at: i64, cell_ps: i64) -> Option<&TileRange> {
    ranges[..ranges.partition_point(|range| i64::from(range.cell).saturating_mul(cell_ps) <= at)].last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;

    /// Builds a tile: one column is 10 ps, runs of a letter are slices of that name, `!` is an
    /// instant above the slice before it.
    fn slices_of(text: &str) -> Tile {
        let mut names: Vec<String> = Vec::new();
        let mut slices: Vec<TileSlice> = Vec::new();
        let mut previous = '.';
        for (column, c) in text.chars().enumerate() {
            let start_ps = column as i64 * 10;
            if c == previous && !matches!(c, '!' | '.') {
                slices
                    .iter_mut()
                    .rev()
                    .find(|slice| slice.form == SliceForm::Complete)
                    .unwrap()
                    .duration_ps += 10;
            } else if c != '.' {
                let (form, duration_ps) =
                    if c == '!' { (SliceForm::Instant, 0) } else { (SliceForm::Complete, 10) };
                let row = slices.len() as u32;
                slices.push(TileSlice { start_ps, duration_ps, row, name: names.len() as u32, form });
                names.push(c.to_string());
            }
            previous = c;
        }
        let lane = fixture::lane(0, Content::Slices(slices));
        Tile { version: 1, start_ps: 1_000, cell_ps: 10, names, waits: vec![], lanes: vec![lane] }
    }

    #[track_caller]
    fn check(text: &str, time_ps: i64, slop_ps: i64, expected: Option<&str>) {
        let tile = slices_of(text);
        let found = hit(&tile, &tile.lanes[0], 1_000 + time_ps, slop_ps).map(|hovered| match hovered {
            Hovered::Slice { name, .. } => name,
            other => panic!("{other:?}"),
        });
        assert_eq!(found.as_deref(), expected, "{text} at {time_ps}");
    }

    #[test]
    fn slices_are_hit_inside_and_a_little_beside() {
        check("..aa..b", 25, 0, Some("a"));
        check("..aa..b", 45, 0, None);
        check("..aa..b", 45, 5, Some("a"));
        check("..aa..b", 58, 5, Some("b"));
        check("..aa..b", 200, 5, None);
        check("", 0, 5, None);
    }

    #[test]
    fn instants_win_over_slices() {
        check("a...!.b", 41, 3, Some("!"));
        check("a...!.b", 1, 3, Some("a"));
    }

    #[track_caller]
    fn check_cell(cells: &[u32], time_ps: i64, slop_ps: i64, expected: Option<i64>) {
        let cell = |cell| TileCell {
            cell,
            busy_ps: 5,
            wait_ps: 0,
            count: 2,
            name: 0,
            longest_row: 0,
            longest_ps: 3,
        };
        let content = Content::Cells(cells.iter().copied().map(cell).collect());
        let lane = fixture::lane(0, content);
        let tile = fixture::tile(10, &["x"], vec![]);
        let found = hit(&tile, &lane, time_ps, slop_ps).map(|hovered| match hovered {
            Hovered::Cell { span, .. } => span.start.0,
            other => panic!("{other:?}"),
        });
        assert_eq!(found, expected, "{time_ps}");
    }

    #[test]
    fn cells_are_hit_inside_and_a_little_beside() {
        check_cell(&[1, 4], 15, 0, Some(10));
        check_cell(&[1, 4], 9, 1, Some(10));
        check_cell(&[1, 4], 22, 3, Some(10));
        check_cell(&[1, 4], 38, 3, Some(40));
        check_cell(&[1, 4], 30, 3, None);
    }

    #[test]
    fn counters_hold_their_value() {
        let samples = [5, 20].map(|time_ps| TileSample { time_ps, value: time_ps as f64, row: 0 });
        assert_eq!(hit_sample(&samples, 19).map(|sample| sample.value), Some(5.0));
        assert_eq!(hit_sample(&samples, 20).map(|sample| sample.value), Some(20.0));
        assert!(hit_sample(&samples, 4).is_none());
        let ranges = [1, 3].map(|cell| TileRange { cell, min: 0.0, max: 1.0, last: f64::from(cell) });
        assert_eq!(hit_range(&ranges, 29, 10).map(|range| range.cell), Some(1));
    }
}

//! One look for a lane at every zoom. Wide slices are bars. Narrow slices are the shares of each
//! cell that are worked and waited in.
//!
//! The width of a slice decides, not whether the tile has slices or cells. So a lane of short
//! slices looks the same in both kinds of tiles. A bar that shrinks below the limit turns into
//! cells of the same area.

use nprof_engine::model::SliceForm;
use nprof_engine::wire::tile::{Content, Tile, TileCell, TileSlice};

/// Least width of a bar, in cells. A cell is one to two device pixels wide.
pub const BAR_CELLS: i64 = 4;
/// Least distance between diamonds, in cells. Nearer instants are ticks, because diamonds would
/// cover each other.
const TICK_CELLS: f64 = 6.0;

/// Content of a lane.
#[derive(Debug, Default, PartialEq)]
pub struct Strip<'a> {
    /// Slices that are wide enough for a bar.
    pub bars: Vec<&'a TileSlice>,
    /// The cells of all other slices, ordered, at most one entry per cell.
    pub shares: Vec<Share>,
    /// Events without duration, in order.
    pub points: Vec<StripInstant>,
}

/// The sum of narrow slices in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Index of the cell in the tile.
    pub cell: u32,
    /// Share of the cell with work, from 0 to 1.
    pub work: f32,
    /// Share of the cell with waiting, from 0 to 1.
    pub wait: f32,
    /// The name with the most time, of the work if there is any. Indexes the tile's texts.
    pub name: u32,
}

/// An event without duration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripInstant {
    /// Position in cells from the tile's start.
    pub at: f64,
    /// Index into the tile's texts.
    pub name: u32,
    /// True if other points are so near that this one must be thin.
    pub is_dense: bool,
}

/// The part of a cell that one slice covers.
struct CellPart {
    cell: u32,
    name: u32,
    share: f32,
    is_wait: bool,
}

impl<'a> Strip<'a> {
    /// The strip of a lane of this tile. `cells` is the tile's number of cells; content beyond is
    /// left out.
    #[must_use]
    pub fn new(content: &'a Content, tile: &Tile, cells: u32) -> Self {
        let cell_ps = tile.cell_ps.max(1);
        let mut strip = Self::default();
        match content {
            Content::Slices(slices) => {
                let mut parts = Vec::new();
                for slice in slices {
                    if slice.form == SliceForm::Instant || slice.duration_ps == 0 {
                        let at = slice.start_ps as f64 / cell_ps as f64;
                        strip.points.push(StripInstant { at, name: slice.name, is_dense: false });
                    } else if slice.duration_ps >= cell_ps.saturating_mul(BAR_CELLS) {
                        strip.bars.push(slice);
                    } else {
                        let is_wait = tile.waits.binary_search(&slice.name).is_ok();
                        add_parts(slice, cell_ps, cells, is_wait, &mut parts);
                    }
                }
                strip.shares = shares(parts);
            }
            Content::Cells(all) => {
                for cell in all.iter().filter(|cell| cell.cell < cells) {
                    if cell.busy_ps == 0 {
                        let at = f64::from(cell.cell) + 0.5;
                        strip.points.push(StripInstant { at, name: cell.name, is_dense: cell.count > 1 });
                    } else {
                        strip.shares.push(share_of(cell, cell_ps));
                    }
                }
            }
            Content::Samples(_) | Content::Ranges(_) | Content::Limits(_) => {}
        }
        mark_dense(&mut strip.points);
        strip
    }
}

fn share_of(cell: &TileCell, cell_ps: i64) -> Share {
    let share = |ps: u64| (ps as f64 / cell_ps as f64).clamp(0.0, 1.0) as f32;
    let wait_ps = cell.wait_ps.min(cell.busy_ps);
    Share { cell: cell.cell, work: share(cell.busy_ps - wait_ps), wait: share(wait_ps), name: cell.name }
}

/// Adds the part of each cell that a slice covers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the tile's cells")]
fn add_parts(slice: &TileSlice, cell_ps: i64, cells: u32, is_wait: bool, parts: &mut Vec<CellPart>) {
    let at = |ps: i64| ps as f64 / cell_ps as f64;
    let (from, to) = (at(slice.start_ps), at(slice.start_ps.saturating_add(slice.duration_ps)));
    let first = from.floor().max(0.0);
    let end = to.ceil().max(from.floor() + 1.0).min(f64::from(cells));
    if to < 0.0 || (to <= 0.0 && from < 0.0) || first >= end {
        return;
    }
    for cell in first as u32..end as u32 {
        let inside = to.min(f64::from(cell + 1)) - from.max(f64::from(cell));
        parts.push(CellPart { cell, name: slice.name, share: inside.max(0.0) as f32, is_wait });
    }
}

/// Sums the parts of each cell.
fn shares(mut parts: Vec<CellPart>) -> Vec<Share> {
    // Slices come in order, so only the parts of one cell are out of order, and few cells have
    // several.
    if !parts.is_sorted_by_key(|part| part.cell) {
        sort(&mut parts);
    }
    let cells = parts.chunk_by_mut(|a, b| a.cell == b.cell).map(|cell| {
        if cell.len() > 1 {
            sort(cell);
        }
        let sum = |is_wait: bool| {
            let parts = cell.iter().filter(|part| part.is_wait == is_wait);
            // Slices of a lane do not overlap, apart from rounding.
            parts.fold(0.0, |sum, part| sum + part.share).min(1.0)
        };
        let names = cell.chunk_by(|a, b| (a.is_wait, a.name) == (b.is_wait, b.name));
        let time = |parts: &[CellPart]| parts.iter().map(|part| part.share).sum::<f32>();
        // Waits come last: the first of equal maxima is work, if there is any.
        let best = names.reduce(|best, other| {
            let is_better = !other[0].is_wait || best[0].is_wait;
            if is_better && time(other) > time(best) { other } else { best }
        });
        let name = best.map_or(0, |parts| parts[0].name);
        Share { cell: cell[0].cell, work: sum(false), wait: sum(true), name }
    });
    cells.collect()
}

fn sort(parts: &mut [CellPart]) {
    parts.sort_unstable_by_key(|part| (part.cell, part.is_wait, part.name));
}

/// Marks the points that have a neighbour nearby.
fn mark_dense(points: &mut [StripInstant]) {
    for at in 1..points.len() {
        if points[at].at - points[at - 1].at < TICK_CELLS {
            points[at].is_dense = true;
            points[at - 1].is_dense = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;

    const CELL_PS: i64 = 100;

    fn tile() -> Tile {
        fixture::tile(CELL_PS, &["work", "wait", "more"], vec![])
    }

    fn slice(start_ps: i64, duration_ps: i64, name: u32) -> TileSlice {
        TileSlice { start_ps, duration_ps, row: 0, name, form: SliceForm::Complete }
    }

    /// `bars | cell:work+wait name … | point …`, dense points with an exclamation mark.
    fn text(strip: &Strip<'_>) -> String {
        let bars = strip.bars.iter().map(|bar| format!("{}+{}", bar.start_ps, bar.duration_ps));
        let shares =
            strip.shares.iter().map(|s| format!("{}:{:.2}+{:.2} {}", s.cell, s.work, s.wait, s.name));
        let points = strip.points.iter().map(|p| format!("{}{}", p.at, if p.is_dense { "!" } else { "" }));
        let join = |all: Vec<String>| all.join(" ");
        format!("{} | {} | {}", join(bars.collect()), join(shares.collect()), join(points.collect()))
    }

    #[track_caller]
    fn check(content: &Content, expected: &str) {
        assert_eq!(text(&Strip::new(content, &tile(), 512)), expected);
    }

    #[test]
    fn the_width_of_a_slice_decides() {
        check(
            &Content::Slices(vec![slice(0, 400, 0), slice(450, 399, 0)]),
            "0+400 | 4:0.50+0.00 0 5:1.00+0.00 0 6:1.00+0.00 0 7:1.00+0.00 0 8:0.49+0.00 0 | ",
        );
    }

    #[test]
    fn cells_and_slices_of_the_same_load_look_the_same() {
        let slices = (0..512).map(|at| slice(at * CELL_PS + 7, 20, 0)).collect();
        let cell = |cell| TileCell {
            cell,
            busy_ps: 20,
            wait_ps: 0,
            count: 1,
            name: 0,
            longest_row: 0,
            longest_ps: 20,
        };
        let (slices, cells) = (Content::Slices(slices), Content::Cells((0..512).map(cell).collect()));
        let (tile, other) = (tile(), tile());
        let (one, two) = (Strip::new(&slices, &tile, 512), Strip::new(&cells, &other, 512));
        assert_eq!(one.shares, two.shares);
    }

    #[test]
    fn waits_are_apart_and_work_gives_the_name() {
        check(
            &Content::Slices(vec![slice(0, 60, 1), slice(60, 10, 0), slice(70, 20, 2), slice(100, 50, 1)]),
            " | 0:0.30+0.60 2 1:0.00+0.50 1 | ",
        );
        let cell =
            TileCell { cell: 3, busy_ps: 90, wait_ps: 60, count: 4, name: 2, longest_row: 0, longest_ps: 60 };
        check(&Content::Cells(vec![cell]), " | 3:0.30+0.60 2 | ");
    }

    #[test]
    fn instants_close_to_each_other_are_dense() {
        let instant = |start_ps| TileSlice { form: SliceForm::Instant, ..slice(start_ps, 0, 0) };
        let instants = [0, 1_000, 1_500, 3_000].map(instant).to_vec();
        check(&Content::Slices(instants), " |  | 0 10! 15! 30");
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        check(&Content::Slices(vec![slice(-50, 60, 0), slice(-90, 80, 0)]), " | 0:0.10+0.00 0 | ");
        let hostile = vec![slice(i64::MIN, 5, 0), slice(i64::MAX, 5, 0), slice(51_190, 20, 0)];
        check(&Content::Slices(hostile), " | 511:0.10+0.00 0 | ");
        let far = TileCell {
            cell: u32::MAX,
            busy_ps: u64::MAX,
            wait_ps: u64::MAX,
            count: 0,
            name: 0,
            longest_row: 0,
            longest_ps: 0,
        };
        check(&Content::Cells(vec![far]), " |  | ");
    }
}

//! How busy a closed group is: of each tile, one row of cells over all its lanes below that group.
//!
//! A group may take several tiles for one span. Each is drawn with its own share; where they lie on each other they add
//! up to what is busy together, nearly.

use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::{Content, Lane, Tile};

use super::batch::{Instance, Paint};
use super::palette::COUNTER;
use super::shape::Shape;

/// The faintest of a band: what is there at all must be seen.
const LEAST_ALPHA: f32 = 36.0;
/// What has events in it but next to no time, such as instants, counts as so much of a lane.
const LEAST_SHARE: f32 = 0.02;
/// Shares are told apart in so many steps: neighbours of one step are one rectangle.
const STEPS: f32 = 24.0;

/// Each group above the tile's slices, by its index, with its rectangles.
#[must_use]
pub fn bands(tile: &Tile, shape: &Shape) -> Vec<(usize, Vec<Instance>)> {
    let mut busy: Vec<(usize, Vec<f32>)> = Vec::new();
    for lane in &tile.lanes {
        let Some(track) = shape.track(lane.track) else { continue };
        let mut group = shape.parent(track);
        // The shares of the lane itself are worked out once, for all groups above it.
        let own = group.map(|_| shares(lane, tile.cell_ps));
        while let (Some(at), Some(own)) = (group, &own) {
            let all = match busy.iter().position(|(of, _)| *of == at) {
                Some(position) => &mut busy[position].1,
                None => &mut busy.push_mut((at, vec![0.0; CELLS as usize])).1,
            };
            all.iter_mut().zip(own).for_each(|(sum, share)| *sum += share);
            group = shape.parent(at);
        }
    }
    let band = |(group, shares): (usize, Vec<f32>)| {
        let lanes = shape.lanes_below(group).max(1) as f32;
        Some((group, rectangles(&shares, lanes, shape.lane(group, 0)?)))
    };
    busy.into_iter().filter_map(band).collect()
}

/// How busy a lane is in each cell, from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the tile's cells")]
fn shares(lane: &Lane, cell_ps: i64) -> Vec<f32> {
    let mut shares = vec![0.0_f32; CELLS as usize];
    let cell_ps = cell_ps.max(1) as f64;
    match &lane.content {
        Content::Cells(cells) => {
            for cell in cells {
                if let Some(share) = shares.get_mut(cell.cell as usize) {
                    *share = ((cell.busy_ps as f64 / cell_ps) as f32).clamp(LEAST_SHARE, 1.0);
                }
            }
        }
        Content::Slices(slices) => {
            for slice in slices {
                let cells = |ps: i64| (ps as f64 / cell_ps).clamp(0.0, CELLS as f64);
                let (from, to) =
                    (cells(slice.start_ps), cells(slice.start_ps.saturating_add(slice.duration_ps)));
                let is_before = slice.start_ps < 0 && to <= 0.0;
                if is_before || from >= CELLS as f64 {
                    continue;
                }
                let (first, end) = (from as usize, (to.ceil() as usize).max(from as usize + 1));
                for (cell, share) in shares.iter_mut().enumerate().take(end).skip(first) {
                    let inside = (to.min((cell + 1) as f64) - from.max(cell as f64)) as f32;
                    // Slices of a lane do not overlap, rounding aside.
                    *share = (*share + inside.max(LEAST_SHARE)).min(1.0);
                }
            }
        }
        Content::Samples(_) | Content::Ranges(_) => {}
    }
    shares
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 0 to 1 times 255")]
fn rectangles(shares: &[f32], lanes: f32, lane: u32) -> Vec<Instance> {
    // The root lifts what few of many lanes do out of the ground.
    let step = |sum: &f32| ((sum / lanes).min(1.0).sqrt() * STEPS).ceil();
    let mut out = Vec::new();
    let mut start = 0;
    for run in shares.chunk_by(|a, b| step(a) == step(b)) {
        let end = start + run.len();
        let share = step(&run[0]) / STEPS;
        if share > 0.0 {
            out.push(Instance {
                start: start as f32,
                end: end as f32,
                low: 0.0,
                high: 1.0,
                lane,
                paint: Paint::Cell,
                colour: u16::from(COUNTER),
                alpha: (LEAST_ALPHA + (255.0 - LEAST_ALPHA) * share) as u8,
            });
        }
        start = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::scene::tests::rank_of;
    use nprof_engine::wire::tile::{TileCell, TileSlice};

    /// Bands as `group: cells@alpha …`.
    #[track_caller]
    fn check(lanes: Vec<Lane>, expected: &str) {
        let rank = rank_of("DMA/\n  Q/\n    a\n    b\n  Power~\nlone");
        let tile = Tile { version: 1, start_ps: 0, cell_ps: 100, names: vec!["x".into()], lanes };
        let bands = bands(&tile, &Shape::new(&rank));
        let text = bands.iter().map(|(group, band)| {
            let cells = band.iter().map(|one| format!("{}..{}@{}", one.start, one.end, one.alpha));
            format!("{}: {}", rank.tracks[*group].name, cells.collect::<Vec<_>>().join(" "))
        });
        assert_eq!(text.collect::<Vec<_>>().join(" | "), expected);
    }

    fn slice(start_ps: i64, duration_ps: i64) -> TileSlice {
        TileSlice { start_ps, duration_ps, row: 0, name: 0, form: 0 }
    }

    fn cell(cell: u32, busy_ps: u64) -> TileCell {
        TileCell { cell, busy_ps, count: 1, name: 0, longest_row: 0, longest_ps: 1 }
    }

    #[test]
    fn a_group_is_as_busy_as_its_lanes_together() {
        let a = Lane { track: 102, lane: 0, content: Content::Slices(vec![slice(-50, 250)]) };
        let b = Lane { track: 103, lane: 0, content: Content::Cells(vec![cell(1, 100), cell(9, 1)]) };
        check(vec![a, b], "Q: 0..1@191 1..2@255 9..10@63 | DMA: 0..1@191 1..2@255 9..10@63");
    }

    #[test]
    fn instants_are_seen() {
        let a = Lane {
            track: 102,
            lane: 0,
            content: Content::Slices(vec![slice(0, 0), slice(250, 0), slice(51_200, 0)]),
        };
        check(vec![a], "Q: 0..1@63 2..3@63 | DMA: 0..1@63 2..3@63");
    }

    #[test]
    fn tracks_without_a_group_have_no_band() {
        check(vec![Lane { track: 105, lane: 0, content: Content::Slices(vec![slice(0, 100)]) }], "");
        check(vec![Lane { track: 999, lane: 0, content: Content::Slices(vec![slice(0, 100)]) }], "");
    }

    #[test]
    fn hostile_cells_stay_inside() {
        let a = Lane {
            track: 102,
            lane: 0,
            content: Content::Cells(vec![cell(u32::MAX, u64::MAX), cell(2, u64::MAX)]),
        };
        let b = Lane {
            track: 103,
            lane: 0,
            content: Content::Slices(vec![slice(i64::MIN, i64::MAX), slice(i64::MAX, 1)]),
        };
        check(vec![a, b], "Q: 2..3@191 | DMA: 2..3@191");
    }
}

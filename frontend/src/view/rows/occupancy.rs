//! Which lanes have anything in the window, as far as tiles tell. Pure.

use std::collections::BTreeMap;

use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::tile::{Content, Tile, TileLane};

use super::sheet::SheetSource;
use super::sheet_track::SheetTrack;
use crate::view::source_id::SourceId;

/// Number of lanes up to the last one that has anything in the window, by track. A track that is
/// not here is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Occupied(BTreeMap<(SourceId, u32), u32>);

impl Occupied {
    /// Adds the tracks of a tile group, of which `tiles` are all tiles in `window`. The window has
    /// the times of the rank.
    pub fn add<'a>(
        &mut self,
        source: &SheetSource,
        group: u32,
        window: Interval,
        tiles: impl Iterator<Item = &'a Tile>,
    ) {
        let SheetSource { id, rank } = source;
        let own = rank.tracks.iter().filter(|track| track.group == Some(group));
        let slices = own.filter(|track| track.kind == TrackKind::Slices);
        self.0.extend(slices.map(|track| ((*id, track.id), 0)));
        for tile in tiles {
            for lane in tile.lanes.iter().filter(|lane| has_any(tile, lane, window)) {
                if let Some(lanes) = self.0.get_mut(&(*id, lane.track)) {
                    *lanes = (*lanes).max(lane.lane.saturating_add(1));
                }
            }
        }
    }

    /// Number of lanes of a track up to the last one that has anything in the window. `None` if it
    /// is not known, and for tracks that keep their height: those of ranks, which stand for their
    /// ranks, and pinned ones, which the user wants to see.
    #[must_use]
    pub fn lanes(&self, track: &SheetTrack) -> Option<u32> {
        if track.rank.is_some() || track.pin.is_some() {
            return None;
        }
        self.0.get(&(track.source, track.number?)).copied()
    }

    /// Returns true if no track is known to have anything in the window.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.0.values().all(|lanes| *lanes == 0)
    }
}

/// Returns true if a lane of a tile has anything that touches the window.
fn has_any(tile: &Tile, lane: &TileLane, window: Interval) -> bool {
    let touches = |start_ps: i64, duration_ps: i64| {
        let start_ps = tile.start_ps.saturating_add(start_ps);
        start_ps <= window.end.0 && start_ps.saturating_add(duration_ps) >= window.start.0
    };
    match &lane.content {
        Content::Slices(slices) => slices.iter().any(|one| touches(one.start_ps, one.duration_ps)),
        Content::Cells(cells) => {
            let start_ps = |cell: u32| i64::from(cell).saturating_mul(tile.cell_ps);
            cells.iter().any(|one| touches(start_ps(one.cell), tile.cell_ps))
        }
        Content::Limits(limits) => limits.iter().any(|one| touches(one.start_ps, one.duration_ps)),
        Content::Samples(samples) => !samples.is_empty(),
        Content::Ranges(ranges) => !ranges.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::tile::{TileCell, TileSlice};

    use std::sync::Arc;

    use super::*;
    use crate::view::fixture;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::tests::rank_with;

    fn slice(start_ps: i64, duration_ps: i64) -> TileSlice {
        TileSlice { start_ps, duration_ps, row: 0, name: 0, form: SliceForm::Complete }
    }

    #[test]
    fn lanes_count_up_to_the_last_one_in_the_window() {
        // Tracks 100 to 103 in one group; a cell is 100 ps.
        let rank = Arc::new(rank_with(3, tracks("a*3\nb*2\nc\nPower~")));
        let source = SheetSource { id: SourceId::of_first(3), rank };
        let lane = |track, lane, content| TileLane { track, lane, content };
        let cell =
            TileCell { cell: 5, busy_ps: 1, wait_ps: 0, count: 1, name: 0, longest_row: 0, longest_ps: 1 };
        let lanes = vec![
            lane(100, 0, Content::Slices(vec![slice(0, 100)])),
            lane(100, 1, Content::Slices(vec![slice(150, 20), slice(900, 10)])),
            lane(100, 2, Content::Slices(vec![slice(901, 10)])),
            lane(101, 1, Content::Cells(vec![cell])),
        ];
        let tile = fixture::tile(100, &["x"], lanes);
        let of = |start_ps, end_ps| {
            let mut occupied = Occupied::default();
            occupied.add(&source, 0, Interval::new(start_ps, end_ps), [&tile].into_iter());
            occupied.0.into_iter().map(|((_, track), lanes)| (track, lanes)).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 1_000), [(100, 3), (101, 2), (102, 0)]);
        assert_eq!(of(120, 300), [(100, 2), (101, 0), (102, 0)]);
        assert_eq!(of(171, 499), [(100, 0), (101, 0), (102, 0)]);
        assert_eq!(of(550, 560), [(100, 0), (101, 2), (102, 0)]);
        // A slice that ends where the window begins is at its edge, and seen.
        assert_eq!(of(100, 149), [(100, 1), (101, 0), (102, 0)]);
    }
}

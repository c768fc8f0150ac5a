//! Finds the item at a point of the tracks, in the tile that is drawn there.

use leptos::prelude::window;
use nprof_engine::base::Time;
use nprof_engine::tile::{CELLS, TileId};
use nprof_engine::wire::catalog::RankDetail;

use super::stage::{Hit, Stage};
use crate::fetch::cache::Piece;
use crate::view::group_load::GroupLoad;
use crate::view::layout::Row;
use crate::view::{Hovered, hit};

/// Greatest distance at which the pointer hits an item.
const SLOP_PX: f64 = 3.0;

impl Stage {
    /// The item at a point of the tracks, in CSS pixels.
    #[must_use]
    pub fn hit(&self, x_px: f64, y_px: f64) -> Option<Hit> {
        let rank = self.shown.rank.as_deref()?;
        let row = self.shown.layout.row_at(y_px + self.shown.scroll_px)?;
        let track = rank.tracks.get(row.track)?;
        if row.is_closed {
            let what = self.group_at(rank, row, self.shown.scale().time_from_px(x_px))?;
            return Some(Hit { track: track.id, lane: 0, what });
        }
        let lane = row.lane_at(track, y_px + self.shown.scroll_px);
        let scale = self.shown.scale();
        let what =
            self.at(track.group?, track.id, lane, scale.time_from_px(x_px), scale.ps_from_px(SLOP_PX))?;
        Some(Hit { track: track.id, lane, what })
    }

    /// Load of a closed group at a timestamp.
    fn group_at(&self, rank: &RankDetail, row: &Row, time_ps: i64) -> Option<Hovered> {
        let mut load = GroupLoad::new(time_ps);
        for group in self.shown.layout.tile_groups(&rank.tracks, row) {
            let Some(piece) = self.piece_at(group, time_ps) else { continue };
            for lane in &piece.tile.lanes {
                let above = std::iter::successors(self.shape.track(lane.track), |at| self.shape.parent(*at));
                if above.skip(1).any(|at| at == row.track) {
                    load.add(&piece.tile, lane);
                }
            }
        }
        load.finish(rank.tracks.get(row.track)?.id, self.shape.lanes_below(row.track))
    }

    /// The piece that shows a timestamp of a tile group.
    fn piece_at(&self, group: u32, time_ps: i64) -> Option<Piece> {
        let level = self.shown.scale().level(window().device_pixel_ratio().max(0.5));
        let index = level.cell_of(Time(time_ps)).div_euclid(CELLS);
        let mut pieces = Vec::new();
        self.tiles.cache().pieces(TileId { group, level, index }, &mut pieces);
        pieces.into_iter().find(|piece| piece.clip.overlaps(time_ps, time_ps))
    }

    fn at(&self, group: u32, track: u32, lane: u32, time_ps: i64, slop_ps: i64) -> Option<Hovered> {
        let piece = self.piece_at(group, time_ps)?;
        let lane = piece.tile.lanes.iter().find(|one| one.track == track && one.lane == lane)?;
        hit::hit(&piece.tile, lane, time_ps, slop_ps)
    }

    /// The slice nearest to the middle of the window in the topmost visible track. Stepping starts
    /// there.
    #[must_use]
    pub fn slice_in_sight(&self) -> Option<u32> {
        let rank = self.shown.rank.as_deref()?;
        let shown = &self.shown;
        let half_ps = shown.window.duration_ps() / 2;
        let middle_ps = shown.window.start.0.saturating_add(half_ps);
        let rows = shown.layout.visible(shown.scroll_px, shown.scroll_px + shown.size_px.1);
        rows.iter().find_map(|row| {
            let track = rank.tracks.get(row.track)?;
            self.at(track.group?, track.id, 0, middle_ps, half_ps)?.slice_row()
        })
    }
}

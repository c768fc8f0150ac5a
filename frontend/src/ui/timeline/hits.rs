//! Finds the item at a point of the tracks, in the tile that is drawn there.

use std::sync::Arc;

use leptos::prelude::window;
use nprof_engine::base::Time;
use nprof_engine::tile::{CELLS, TileId};
use nprof_engine::wire::tile::TileLane;

use super::canvas_content::Hit;
use super::stage::Stage;
use crate::fetch::TileKey;
use crate::fetch::cache::Piece;
use crate::view::pointing::group_load::GroupLoad;
use crate::view::pointing::hit;
use crate::view::rows::layout::Row;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::source_id::SourceId;
use crate::view::{Hovered, Point, Sheet};

/// Greatest distance at which the pointer hits an item.
const SLOP_PX: f64 = 3.0;

impl Stage {
    /// The item at a point of the tracks.
    #[must_use]
    pub fn hit(&self, at: Point) -> Option<Hit> {
        if let Some(tag) = self.tags.iter().rev().find(|tag| tag.has(at)) {
            return Some(Hit { track: tag.track, lane: 0, what: Hovered::Finding(Arc::clone(&tag.mark)) });
        }
        let sheet = &*self.shown.sheet;
        let row_px = self.shown.sight.row_px(at.y_px);
        let row = self.shown.layout.row_at(row_px)?;
        let track = sheet.tracks().get(row.track)?;
        let scale = self.shown.scale();
        if row.is_closed {
            let what = self.group_at(sheet, row, scale.time_from_px(at.x_px))?;
            return Some(Hit { track: row.track, lane: 0, what });
        }
        let lane = row.lane_at(track, row_px);
        let what = self.at(track, lane, scale.time_from_px(at.x_px), scale.ps_from_px(SLOP_PX))?;
        Some(Hit { track: row.track, lane, what })
    }

    /// Load of a closed group at a timestamp.
    fn group_at(&self, sheet: &Sheet, row: &Row, time_ps: i64) -> Option<Hovered> {
        let axis = sheet.axis(sheet.tracks().get(row.track)?.source);
        let time_ps = axis.local(time_ps);
        let mut load = GroupLoad::new(time_ps);
        for (source, group) in self.shown.layout.tile_groups(sheet, row) {
            let Some(piece) = self.piece_at(source, group, time_ps) else { continue };
            for lane in &piece.tile.lanes {
                let Some(at) = sheet.position(source, lane.track) else { continue };
                let is_below = sheet.above(at).any(|group| group == row.track);
                if is_below && sheet.tracks().get(at).is_none_or(|track| track.is_work) {
                    load.add(&piece.tile, lane);
                }
            }
        }
        Some(load.finish(self.shape.lanes_below(row.track))?.moved(axis))
    }

    /// The piece that shows a timestamp of a tile group, in the time of its rank.
    fn piece_at(&self, source: SourceId, group: u32, time_ps: i64) -> Option<Piece> {
        let level = self.shown.scale().level(window().device_pixel_ratio().max(0.5));
        let index = level.cell_of(Time(time_ps)).div_euclid(CELLS);
        let mut pieces = Vec::new();
        let key = TileKey { source, tile: TileId { group, level, index } };
        self.tiles.cache().pieces(key, &mut pieces);
        pieces.into_iter().find(|piece| piece.clip.overlaps(time_ps, time_ps))
    }

    fn at(&self, track: &SheetTrack, lane: u32, time_ps: i64, slop_ps: i64) -> Option<Hovered> {
        let axis = self.shown.sheet.axis(track.source);
        let time_ps = axis.local(time_ps);
        let piece = self.piece_at(track.source, track.group?, time_ps)?;
        let is_here = |one: &&TileLane| Some(one.track) == track.number && one.lane == lane;
        let lane = piece.tile.lanes.iter().find(is_here)?;
        Some(hit::hit(&piece.tile, lane, time_ps, slop_ps)?.moved(axis))
    }

    /// The slice nearest to the middle of the window in the topmost visible track, and its rank.
    /// Stepping starts there.
    #[must_use]
    pub fn slice_in_sight(&self) -> Option<(SourceId, u32)> {
        let shown = &self.shown;
        let half_ps = shown.window.duration_ps() / 2;
        let middle_ps = shown.window.start.0.saturating_add(half_ps);
        shown.sight.rows(&shown.layout).find_map(|row| {
            let track = shown.sheet.tracks().get(row.track)?;
            Some((track.source, self.at(track, 0, middle_ps, half_ps)?.slice_row()?))
        })
    }
}

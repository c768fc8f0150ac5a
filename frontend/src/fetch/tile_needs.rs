//! The tiles that a frame needs. Pure.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::base::order::gathered;
use nprof_engine::tile::{Level, TileId};
use nprof_engine::wire::catalog::RankDetail;

use super::key::TileKey;
use crate::view::rows::layout::Row;
use crate::view::source_id::SourceId;
use crate::view::{Layout, Sheet, TimeScale};

/// Least number of cells of the overview over the whole rank: one or two tiles per group.
const OVERVIEW_CELLS: f64 = 256.0;

/// The tiles that a frame needs, by purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TileNeeds {
    /// Tiles in sight.
    pub shown: Vec<TileKey>,
    /// Tiles likely to be in sight next: next to the window, and at the next coarser level.
    pub ahead: Vec<TileKey>,
}

impl TileNeeds {
    /// The tiles for these rows of a sheet. Tracks below closed groups are wanted one level
    /// coarser, because only a band of them is shown.
    #[must_use]
    pub fn new(
        sheet: &Sheet,
        layout: &Layout,
        rows: &[Row],
        scale: &TimeScale,
        device_pixel_ratio: f64,
    ) -> Self {
        let level = scale.level(device_pixel_ratio);
        let (closed, open): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_closed);
        let groups = |rows: &[&Row]| -> BTreeSet<(SourceId, u32)> {
            gathered(rows.iter().flat_map(|row| layout.tile_groups(sheet, row)))
        };
        let (mut wanted, open) = (Self::default(), groups(&open));
        for &(source, group) in &open {
            wanted.add(sheet, source, group, level, scale.window);
        }
        // If a tile group has both shown tracks and tracks in closed groups, the finer tiles serve
        // both.
        for &(source, group) in groups(&closed).difference(&open) {
            wanted.add(sheet, source, group, level.coarser(), scale.window);
        }
        wanted
    }

    /// Returns true if the frame shows the group of this tile.
    #[must_use]
    pub fn is_in_sight(&self, key: &TileKey) -> bool {
        let is_of = |shown: &TileKey| shown.source == key.source && shown.tile.group == key.tile.group;
        self.shown.iter().any(is_of)
    }

    fn add(&mut self, sheet: &Sheet, source: SourceId, group: u32, level: Level, window: Interval) {
        let Some(rank) = sheet.source(source) else { return };
        let Some(window) = inside(sheet.axis(source).local_span(window), rank) else { return };
        let (shown, coarser) = (level.tiles_of(window), level.coarser());
        let beside = [shown.start().saturating_sub(1), shown.end().saturating_add(1)];
        let tile = |level, index| TileKey { source, tile: TileId { group, level, index } };
        self.shown.extend(shown.map(|index| tile(level, index)));
        let ahead = beside.map(|index| tile(level, index)).into_iter();
        let ahead = ahead.filter(|id| id.interval().overlaps(rank.entry.start_ps, rank.entry.end_ps));
        self.ahead.extend(ahead.chain(coarser.tiles_of(window).map(|index| tile(coarser, index))));
    }
}

/// The tiles of all groups over a whole rank: for the minimap, and as a replacement for tiles in
/// flight.
#[must_use]
pub fn overview(source: SourceId, rank: &RankDetail) -> Vec<TileKey> {
    overview_of(source, rank, Interval::new(rank.entry.start_ps, rank.entry.end_ps))
}

/// The tiles of all groups over a part of a rank, in its own times.
#[must_use]
pub fn overview_of(source: SourceId, rank: &RankDetail, part: Interval) -> Vec<TileKey> {
    let level = Level::for_cell_ps(part.end.0.saturating_sub(part.start.0) as f64 / OVERVIEW_CELLS);
    let indexes = level.tiles_of(part);
    let tiles =
        |group| indexes.clone().map(move |index| TileKey { source, tile: TileId { group, level, index } });
    rank.groups.iter().flat_map(|group| tiles(group.id)).collect()
}

/// The part of a window that overlaps the rank's events.
fn inside(window: Interval, rank: &RankDetail) -> Option<Interval> {
    let start = window.start.0.max(rank.entry.start_ps);
    // The last timestamp belongs to the rank, because an instant can be there.
    let end = window.end.0.min(rank.entry.end_ps.saturating_add(1));
    (start < end).then(|| Interval::new(start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::tests::{rank_with, sheet_with};

    fn text(ids: &[TileKey]) -> String {
        let ids = ids
            .iter()
            .map(|TileKey { tile, .. }| format!("{}:{}/{}", tile.group, tile.level.number(), tile.index));
        ids.collect::<Vec<_>>().join(" ")
    }

    /// A rank of 1 µs. Its tracks alternate between groups 0 and 1.
    #[track_caller]
    fn check(start_ps: i64, end_ps: i64, rows: std::ops::Range<usize>, shown: &str, ahead: &str) {
        let mut tracks = tracks("a\nb\nc");
        for (at, track) in tracks.iter_mut().enumerate() {
            track.group = Some(at as u32 % 2);
        }
        let sheet = sheet_with(tracks);
        let layout = Layout::new(&sheet, |_| false);
        let scale = TimeScale { window: Interval::new(start_ps, end_ps), width_px: 500.0 };
        let wanted = TileNeeds::new(&sheet, &layout, &layout.rows[rows], &scale, 1.0);
        assert_eq!((text(&wanted.shown).as_str(), text(&wanted.ahead).as_str()), (shown, ahead));
    }

    #[test]
    fn only_the_groups_in_sight_are_wanted() {
        // A cell of level 1 is 2048 ps; a pixel is 2000.
        check(0, 1_000_000, 0..3, "0:1/0 1:1/0", "0:2/0 1:2/0");
        check(0, 1_000_000, 1..2, "1:1/0", "1:2/0");
        check(0, 250_000, 0..1, "0:0/0", "0:0/1 0:1/0");
        check(600_000, 850_000, 0..1, "0:0/1", "0:0/0 0:1/0");
    }

    #[test]
    fn closed_groups_want_coarser_tiles() {
        let mut tracks = tracks("a\nQ/\n  b\n  c");
        (tracks[2].group, tracks[3].group) = (Some(1), Some(0));
        let sheet = sheet_with(tracks);
        let scale = TimeScale { window: Interval::new(0, 1_000_000), width_px: 500.0 };
        let shown = |is_closed: bool| {
            let layout = Layout::new(&sheet, |_| is_closed);
            text(&TileNeeds::new(&sheet, &layout, &layout.rows, &scale, 1.0).shown)
        };
        assert_eq!((shown(false).as_str(), shown(true).as_str()), ("0:1/0 1:1/0", "0:1/0 1:2/0"));
    }

    #[test]
    fn nothing_is_wanted_outside_of_the_rank() {
        check(-10_000, 0, 0..3, "", "");
        check(-100_000, 150_000, 0..1, "0:0/0", "0:0/1 0:1/0");
    }

    #[test]
    fn the_overview_is_one_or_two_tiles_a_group() {
        let mut rank = rank_with(0, tracks("a"));
        for duration_ps in [1, 1_000, 123_456_789, 1 << 50] {
            rank.entry.end_ps = duration_ps;
            assert!((1..=2).contains(&overview(SourceId::default(), &rank).len()), "{duration_ps}");
            let middle_ps = duration_ps / 2;
            let part = Interval::new(middle_ps, middle_ps + (duration_ps / 8).max(1));
            let of_part = overview_of(SourceId::default(), &rank, part);
            assert!((1..=2).contains(&of_part.len()) && of_part[0].tile.interval().start.0 <= part.start.0);
        }
    }
}

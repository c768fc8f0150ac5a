//! Content of a frame: the visible rectangles of each tile. A value that tests can read.

use std::ops::Range;

use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::TrackKind;

use super::band::ColumnLoad;
use super::batch::Batch;
use super::instance::Instance;
use super::names::NameColours;
use super::palette::Ground;
use super::rectangle::DIAMOND_PX;
use super::shape::Shape;
use crate::fetch::TileKey;
use crate::fetch::cache::Piece;
use crate::view::rows::layout::sight::{Area, RowSight};
use crate::view::source_id::SourceId;
use crate::view::{Layout, Sheet, TimeScale};

/// The visible part of a sheet.
#[derive(Debug, Clone, Copy)]
pub struct Camera<'a> {
    /// The visible time, over the width in CSS pixels.
    pub scale: TimeScale,
    /// The areas of the frame.
    pub sight: RowSight,
    /// The area that is drawn. Rows of other areas are out of its sight.
    pub area: Area,
    /// The tracks.
    pub sheet: &'a Sheet,
    /// The source of the selected slice.
    pub source: SourceId,
    /// The lanes of the tracks.
    pub shape: &'a Shape,
    /// The rows of the tracks.
    pub layout: &'a Layout,
    /// Colours of names.
    pub names: &'a NameColours,
    /// Background of the frame.
    pub ground: Ground,
}

/// The visible rectangles of one tile.
#[derive(Debug, Clone, PartialEq)]
pub struct Quads {
    /// The tile.
    pub tile: TileKey,
    /// Position of the tile's start, in CSS pixels.
    pub offset_px: f64,
    /// Width of a cell in CSS pixels.
    pub cell_px: f64,
    /// Horizontal clip in CSS pixels. Nothing is drawn outside of it.
    pub clip_px: (f64, f64),
    /// Ranges of visible instances in the tile's [`Batch`].
    pub instances: Vec<Range<u32>>,
}

/// A rectangle on the frame, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x_px: f64,
    /// Upper edge.
    pub y_px: f64,
    /// Width.
    pub width_px: f64,
    /// Height.
    pub height_px: f64,
}

impl Camera<'_> {
    /// The visible instances of a piece. `None` if there are none.
    #[must_use]
    pub fn quads(&self, piece: &Piece, batch: &Batch) -> Option<Quads> {
        let mut instances: Vec<Range<u32>> = Vec::new();
        for span in &batch.lanes {
            if span.instances.is_empty() || self.band_px(span.track, span.lane).is_none() {
                continue;
            }
            match instances.last_mut() {
                Some(last) if last.end == span.instances.start => last.end = span.instances.end,
                _ => instances.push(span.instances.clone()),
            }
        }
        let axis = self.sheet.axis(piece.id.source);
        let clip_px = self.clip_px(axis.shared_span(piece.clip))?;
        let (offset_px, cell_px) = self.place(piece);
        (!instances.is_empty()).then_some(Quads { tile: piece.id, offset_px, cell_px, clip_px, instances })
    }

    /// Position of a tile's start and width of its cells, in CSS pixels.
    fn place(&self, piece: &Piece) -> (f64, f64) {
        let axis = self.sheet.axis(piece.id.source);
        let cell_px = piece.tile.cell_ps as f64 * self.scale.px_per_ps() * axis.rate();
        (self.scale.px_from_time(axis.shared(piece.tile.start_ps)), cell_px)
    }

    /// The visible bands of closed groups, in device pixels.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width in pixels")]
    pub fn group_bands<'b>(
        &self,
        pieces: impl Iterator<Item = (&'b Piece, &'b Batch)> + Clone,
        ratio: f64,
    ) -> Vec<Instance> {
        let width = (self.scale.width_px * ratio).round().max(1.0) as usize;
        let area = &self.area;
        let closed = self.layout.visible(area.scroll_px, area.scroll_px + area.height_px);
        let mut out = Vec::new();
        for row in closed.iter().filter(|row| row.is_closed) {
            let Some(lane) = self.shape.lane(row.track, 0) else { continue };
            let mut columns = ColumnLoad::new(self.scale.window, width);
            for (piece, batch) in pieces.clone() {
                if let Some(load) = batch.loads.iter().find(|load| load.group == row.track) {
                    columns.add(&piece.tile, piece.clip, load, self.sheet.axis(piece.id.source));
                }
            }
            out.extend(columns.rectangles(self.shape.lanes_below(row.track), lane));
        }
        out
    }

    /// The diamonds that the edge of a piece cuts, whole and in pixels of the screen.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a position on the screen")]
    pub fn cut_diamonds<'b>(
        &self,
        pieces: impl Iterator<Item = (&'b Piece, &'b Batch)>,
        ratio: f64,
    ) -> Vec<Instance> {
        let mut out = Vec::new();
        for (piece, batch) in pieces.filter(|(_, batch)| !batch.diamonds.is_empty()) {
            let axis = self.sheet.axis(piece.id.source);
            let Some((left, right)) = self.clip_px(axis.shared_span(piece.clip)) else { continue };
            let (offset_px, cell_px) = self.place(piece);
            let px = |one: &Instance| f64::from(one.start) * cell_px + offset_px;
            let near = |from_px: f64, to_px: f64| {
                let from = batch.diamonds.partition_point(|one| px(one) < from_px);
                let to = batch.diamonds.partition_point(|one| px(one) < to_px);
                &batch.diamonds[from..to.max(from)]
            };
            // A piece that is narrower than two diamonds has each only once.
            let middle_px = f64::midpoint(left, right);
            let first = near(left, (left + DIAMOND_PX + 1.0).min(middle_px));
            let last = near((right - DIAMOND_PX - 1.0).max(middle_px), right);
            out.extend(first.iter().chain(last).map(|one| {
                let at = (px(one) * ratio) as f32;
                Instance { start: at, end: at, ..*one }
            }));
        }
        out
    }

    /// Position of a slice on the frame, possibly outside of it. `track` is an index. `None` if the
    /// track is hidden.
    #[must_use]
    pub fn rect(&self, track: usize, lane: u32, start_ps: i64, duration_ps: i64) -> Option<Rect> {
        let (top_px, height_px) = self.layout.row_of(track)?.lane_px(self.sheet.tracks().get(track)?, lane);
        let x_px = self.scale.px_from_time(start_ps);
        let end_px = self.scale.px_from_time(start_ps.saturating_add(duration_ps));
        Some(Rect { x_px, y_px: self.area.shown_px(top_px), width_px: end_px - x_px, height_px })
    }

    /// Position of a timestamp on a hidden track: on the heading of the closed group around the
    /// track. `None` if there is no such group.
    #[must_use]
    pub fn closed_rect(&self, track: usize, time_ps: i64) -> Option<Rect> {
        let row = self.sheet.above(track).find_map(|group| self.layout.row_of(group))?;
        let (x_px, y_px) = (self.scale.px_from_time(time_ps), self.area.shown_px(row.top_px));
        Some(Rect { x_px, y_px, width_px: 0.0, height_px: row.height_px })
    }

    /// The camera of the area in which a track is, or the heading of the closed group around it.
    pub(super) fn on(&self, track: usize) -> Self {
        let row = self.layout.row_of(track);
        let row = row.or_else(|| self.sheet.above(track).find_map(|group| self.layout.row_of(group)));
        Self { area: row.map_or(self.area, |row| self.sight.area_of(row)), ..*self }
    }

    /// A lane's band on the frame: distance from the frame's top, and height. `None` if it is out
    /// of sight.
    pub(super) fn band_px(&self, track: usize, lane: u32) -> Option<(f64, f64)> {
        let (row, of) = (self.layout.row_of(track)?, self.sheet.tracks().get(track)?);
        if of.kind == TrackKind::Group && !row.is_closed {
            return None;
        }
        let (top_px, height_px) = row.lane_px(of, lane);
        let top_px = self.area.shown_px(top_px);
        let is_in_sight = top_px < self.area.foot_px() && top_px + height_px > self.area.top_px;
        is_in_sight.then_some((top_px, height_px))
    }

    fn clip_px(&self, clip: Interval) -> Option<(f64, f64)> {
        let left = self.scale.px_from_time(clip.start.0).max(0.0);
        let right = self.scale.px_from_time(clip.end.0).min(self.scale.width_px);
        (right > left).then_some((left, right))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::draw::instance::Paint;
    use crate::draw::label::labels;
    use crate::view::fixture;
    use crate::view::rows::sheet::tests::sheet_of;
    use nprof_engine::model::SliceForm;
    use nprof_engine::tile::{Level, TileId};
    use nprof_engine::wire::tile::{Content, TileLane, TileSlice};

    /// A tile of the finest level with slices `track lane start..end name`, in picoseconds.
    pub(crate) fn piece(text: &str) -> Piece {
        let tile = TileId { group: 0, level: Level::new(0).unwrap(), index: 0 };
        let id = TileKey { source: SourceId::of_first(0), tile };
        let mut tile = fixture::tile(id.tile.level.cell_ps(), &[], vec![]);
        for line in text.lines().filter(|line| !line.is_empty()) {
            let [track, lane, span, name] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let (start, end) = span.split_once("..").unwrap();
            let start_ps: i64 = start.parse().unwrap();
            let duration_ps = end.parse::<i64>().unwrap() - start_ps;
            let row = tile.names.len() as u32;
            let slice = TileSlice { start_ps, duration_ps, row, name: row, form: SliceForm::Complete };
            tile.waits.extend((name == "wait").then_some(slice.name));
            tile.names.push(name.to_owned());
            let (track, lane) = (track.parse().unwrap(), lane.parse().unwrap());
            tile.lanes.push(TileLane { track, lane, content: Content::Slices(vec![slice]) });
        }
        Piece { id, tile: Rc::new(tile), clip: id.interval() }
    }

    const TRACKS: &str = "
Engines/
  Tensor*2
  Vector
Queue";

    const SLICES: &str = "
101 0 0..50000 matmul
101 1 50000..100000 a rather long name
102 0 60000..61000 short
103 0 0..100000 copy";

    /// Checks a frame. One pixel is 1000 ps; letters are 6 pixels wide.
    #[track_caller]
    fn check(window: Interval, scroll_px: f64, height_px: f64, closed: &[&str], expected: &str) {
        let sheet = sheet_of(TRACKS);
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let shape = Shape::new(&sheet);
        let scale = TimeScale { window, width_px: window.duration_ps() as f64 / 1_000.0 };
        let piece = piece(SLICES);
        let names = NameColours::default();
        let batch = Batch::new(&piece.tile, SourceId::of_first(0), &sheet, &shape, &names);
        let (sheet, shape, layout, ground) = (&sheet, &shape, &layout, Ground::Light);
        let (source, sight) = (SourceId::of_first(0), RowSight::unpinned(height_px, scroll_px));
        let camera =
            Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names: &names, ground };
        let quads = camera.quads(&piece, &batch);
        let width_px = &mut |text: &str| text.chars().count() as f64 * 6.0;
        let labels = labels(&camera, [(&piece, &batch)].into_iter(), width_px);
        let mut lines = vec![quads.map_or("nothing".to_owned(), |quads| {
            format!("{:?} at {} clip {:?}", quads.instances, quads.offset_px, quads.clip_px)
        })];
        lines.extend(labels.iter().map(|label| format!("{}@{},{}", label.text, label.x_px, label.y_px)));
        assert_eq!(lines.join(" | "), expected);
    }

    #[test]
    fn everything_in_sight_is_drawn() {
        check(
            Interval::new(0, 100_000),
            0.0,
            500.0,
            &[],
            "[0..5] at 0 clip (0.0, 100.0) | matmul@4,35 | a rath…@54,53 | copy@4,101",
        );
    }

    #[test]
    fn closed_groups_and_rows_out_of_sight_are_not() {
        check(
            Interval::new(0, 100_000),
            0.0,
            500.0,
            &["Engines"],
            "[4..5] at 0 clip (0.0, 100.0) | copy@4,35",
        );
        check(
            Interval::new(0, 100_000),
            26.0,
            20.0,
            &[],
            "[0..2] at 0 clip (0.0, 100.0) | matmul@4,9 | a rath…@54,27",
        );
        check(Interval::new(0, 100_000), 900.0, 20.0, &[], "nothing");
    }

    #[test]
    fn closed_groups_have_bands_as_high_as_their_load() {
        let sheet = sheet_of(TRACKS);
        let layout = Layout::new(&sheet, |track| track.name == "Engines");
        let shape = Shape::new(&sheet);
        let scale = TimeScale { window: Interval::new(0, 100_000), width_px: 10.0 };
        let piece = piece(SLICES);
        let batch = Batch::new(&piece.tile, SourceId::of_first(0), &sheet, &shape, &NameColours::default());
        let names = NameColours::default();
        let (sheet, shape, layout, ground) = (&sheet, &shape, &layout, Ground::Light);
        let (source, sight) = (SourceId::of_first(0), RowSight::unpinned(500.0, 0.0));
        let camera =
            Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names: &names, ground };
        let bands = camera.group_bands([(&piece, &batch)].into_iter(), 2.0);
        let text: Vec<_> =
            bands.iter().map(|band| format!("{}..{}@{:.2}", band.start, band.end, band.high)).collect();
        // One of three lanes works all the time, another one for a nanosecond.
        assert_eq!(text.join(" "), "0..12@0.33 12..13@0.38 13..19@0.33 19..20@0.32");
    }

    #[test]
    fn diamonds_at_the_edge_of_a_piece_are_whole() {
        let sheet = sheet_of("a");
        let (layout, shape) = (Layout::new(&sheet, |_| false), Shape::new(&sheet));
        let names = NameColours::default();
        // One pixel is 1000 ps. The piece shows 20 to 80 pixels.
        let scale = TimeScale { window: Interval::new(0, 100_000), width_px: 100.0 };
        let (sheet, shape, layout, names) = (&sheet, &shape, &layout, &names);
        let (source, ground) = (SourceId::of_first(0), Ground::Light);
        let sight = RowSight::unpinned(50.0, 0.0);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let instants = [18_000, 21_000, 50_000, 76_000, 81_000];
        let text: Vec<_> = instants.iter().map(|at| format!("100 0 {at}..{at} x")).collect();
        let mut piece = piece(&text.join("\n"));
        piece.clip = Interval::new(20_000, 80_000);
        let batch = Batch::new(&piece.tile, source, sheet, shape, names);
        let cut = |ratio| {
            let all = camera.cut_diamonds([(&piece, &batch)].into_iter(), ratio);
            all.iter().map(|one| (one.paint, one.start.round())).collect::<Vec<_>>()
        };
        assert_eq!(cut(1.0), [(Paint::Instant, 21.0), (Paint::Instant, 76.0)]);
        assert_eq!(cut(2.0), [(Paint::Instant, 42.0), (Paint::Instant, 152.0)]);
        piece.clip = Interval::new(16_000, 26_000);
        let batch = Batch::new(&piece.tile, source, sheet, shape, names);
        let all = camera.cut_diamonds([(&piece, &batch)].into_iter(), 1.0);
        assert_eq!(all.iter().map(|one| one.start.round()).collect::<Vec<_>>(), [18.0, 21.0]);
    }

    #[test]
    fn texts_stay_in_the_window() {
        check(
            Interval::new(10_000, 80_000),
            0.0,
            500.0,
            &[],
            "[0..5] at -10 clip (0.0, 70.0) | matm…@4,35 | copy@4,101",
        );
    }
}

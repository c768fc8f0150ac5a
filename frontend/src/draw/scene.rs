//! Content of a frame: the visible rectangles of each tile, and the texts. A value that tests can
//! read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::tile::{Content, Tile};

use super::band::Columns;
use super::batch::{Batch, Instance};
use super::names::Names;
use super::palette::{self, Ground, Ink};
use super::shape::Shape;
use crate::fetch::TileKey;
use crate::fetch::cache::Piece;
use crate::view::sheet::SourceId;
use crate::view::{Layout, Sheet, TimeScale, hit};

/// The visible part of a sheet.
#[derive(Debug, Clone, Copy)]
pub struct Camera<'a> {
    /// The visible time, over the width in CSS pixels.
    pub scale: TimeScale,
    /// Distance of the frame's top from the top of the first row, in CSS pixels.
    pub scroll_px: f64,
    /// Height in CSS pixels.
    pub height_px: f64,
    /// The tracks.
    pub sheet: &'a Sheet,
    /// The source of the selected slice.
    pub source: SourceId,
    /// The lanes of the tracks.
    pub shape: &'a Shape,
    /// The rows of the tracks.
    pub layout: &'a Layout,
    /// Colours of names.
    pub names: &'a Names,
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

/// A text on a slice.
#[derive(Debug, Clone, PartialEq)]
pub struct Label<'a> {
    /// Left end, in CSS pixels.
    pub x_px: f64,
    /// Vertical middle, in CSS pixels from the frame's top.
    pub y_px: f64,
    /// The text, possibly shortened.
    pub text: Cow<'a, str>,
    /// Colour of the text.
    pub ink: Ink,
    /// Width of the gap that the text needs in a hatched band, in CSS pixels. 0 on a bar.
    pub gap_px: f64,
}

/// The texts of a frame. No two texts of a lane overlap, even if they come from different tiles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Labels<'a> {
    /// The texts.
    pub all: Vec<Label<'a>>,
    /// End of the last text in each lane, in CSS pixels by track and lane.
    end_px: HashMap<(usize, u32), f64>,
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

/// Least width of a bar with a text.
const LABEL_PX: f64 = 28.0;
/// Least height of a bar with a text.
const LABEL_HEIGHT_PX: f64 = 11.0;
/// Space between a bar's edge and its text.
const INSET_PX: f64 = 4.0;
/// Part of a wait's band that stays in sight before its text, and behind it.
const BAND_PX: f64 = 12.0;

impl<'a> Camera<'a> {
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
        (!instances.is_empty()).then(|| Quads {
            tile: piece.id,
            offset_px: self.scale.px_from_time(axis.shared(piece.tile.start_ps)),
            cell_px: piece.tile.cell_ps as f64 * self.scale.px_per_ps() * axis.rate(),
            clip_px,
            instances,
        })
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
        let closed = self.layout.visible(self.scroll_px, self.scroll_px + self.height_px);
        let mut out = Vec::new();
        for row in closed.iter().filter(|row| row.is_closed) {
            let Some(lane) = self.shape.lane(row.track, 0) else { continue };
            let mut columns = Columns::new(self.scale.window, width);
            for (piece, batch) in pieces.clone() {
                if let Some(load) = batch.loads.iter().find(|load| load.group == row.track) {
                    columns.add(&piece.tile, piece.clip, load, self.sheet.axis(piece.id.source));
                }
            }
            out.extend(columns.rectangles(self.shape.lanes_below(row.track), lane));
        }
        out
    }

    /// The texts on a piece's slices. `width_px` measures a text.
    pub fn labels(
        &self,
        piece: &'a Piece,
        batch: &Batch,
        width_px: &mut dyn FnMut(&str) -> f64,
        out: &mut Labels<'a>,
    ) {
        let tile: &'a Tile = &piece.tile;
        let least_ps = self.scale.ps_from_px(LABEL_PX);
        let axis = self.sheet.axis(piece.id.source);
        let clip = axis.shared_span(piece.clip);
        let shown = Interval::new(
            clip.start.0.max(self.scale.window.start.0),
            clip.end.0.min(self.scale.window.end.0),
        );
        let inks = palette::inks(self.ground);
        let mut add = |(track, lane): (usize, u32), start_ps: i64, duration_ps: i64, name: u32| {
            let (top_px, height_px) = self.band_px(track, lane).filter(|band| band.1 >= LABEL_HEIGHT_PX)?;
            let start_ps = tile.start_ps.saturating_add(start_ps);
            let span = Interval::new(start_ps, start_ps.saturating_add(duration_ps.max(0)));
            let is_wait = tile.waits.binary_search(&name).is_ok();
            let band_px = if is_wait { BAND_PX } else { 0.0 };
            let (x_px, room_px) = self.text_room(axis.shared_span(span), shown, INSET_PX + band_px)?;
            let end_px = out.end_px.entry((track, lane)).or_insert(f64::NEG_INFINITY);
            if x_px < *end_px {
                return None;
            }
            let name = tile.names.get(name as usize)?;
            let full_px = width_px(name);
            let text = fitted(name, full_px, room_px, width_px)?;
            let text_px = full_px.min(room_px);
            *end_px = x_px + text_px;
            let (ink, gap_px) = match is_wait {
                true => (Ink::of_ground(self.ground), text_px),
                false => (inks[usize::from(self.names.colour(name))], 0.0),
            };
            out.all.push(Label { x_px, y_px: top_px + height_px / 2.0, text, ink, gap_px });
            Some(())
        };
        for lane in &tile.lanes {
            let Content::Slices(slices) = &lane.content else { continue };
            let Some(track) = self.sheet.position(piece.id.source, lane.track) else { continue };
            if self.band_px(track, lane.lane).is_none() {
                continue;
            }
            for slice in
                slices.iter().filter(|slice| slice.duration_ps >= least_ps && slice.form != hit::INSTANT)
            {
                add((track, lane.lane), slice.start_ps, slice.duration_ps, slice.name);
            }
        }
        for run in batch.runs.iter().filter(|run| run.duration_ps >= least_ps) {
            add((run.track, run.lane), run.start_ps, run.duration_ps, run.name);
        }
    }

    /// The visible part of a slice between two insets, if it has room for text. If several pieces
    /// show a slice, only the piece in which the visible part begins gives the text.
    fn text_room(&self, slice: Interval, shown: Interval, inset_px: f64) -> Option<(f64, f64)> {
        let end_ps = slice.end.0.min(self.scale.window.end.0);
        let visible_ps = slice.start.0.max(self.scale.window.start.0);
        if visible_ps < shown.start.0 || visible_ps >= shown.end.0 {
            return None;
        }
        let x_px = self.scale.px_from_time(visible_ps) + inset_px;
        let room_px = self.scale.px_from_time(end_ps) - inset_px - x_px;
        (room_px >= LABEL_PX - 2.0 * INSET_PX).then_some((x_px, room_px))
    }

    /// Position of a slice on the frame, possibly outside of it. `track` is an index. `None` if the
    /// track is hidden.
    #[must_use]
    pub fn rect(&self, track: usize, lane: u32, start_ps: i64, duration_ps: i64) -> Option<Rect> {
        let (top_px, height_px) = self.layout.row_of(track)?.lane_px(self.sheet.tracks().get(track)?, lane);
        let x_px = self.scale.px_from_time(start_ps);
        let end_px = self.scale.px_from_time(start_ps.saturating_add(duration_ps));
        Some(Rect { x_px, y_px: top_px - self.scroll_px, width_px: end_px - x_px, height_px })
    }

    /// Position of a timestamp on a hidden track: on the heading of the closed group around the
    /// track. `None` if there is no such group.
    #[must_use]
    pub fn closed_rect(&self, track: usize, time_ps: i64) -> Option<Rect> {
        let row = self.sheet.above(track).find_map(|group| self.layout.row_of(group))?;
        let (x_px, y_px) = (self.scale.px_from_time(time_ps), row.top_px - self.scroll_px);
        Some(Rect { x_px, y_px, width_px: 0.0, height_px: row.height_px })
    }

    /// A lane's band on the frame: distance from the frame's top, and height. `None` if it is out
    /// of sight.
    fn band_px(&self, track: usize, lane: u32) -> Option<(f64, f64)> {
        let (row, of) = (self.layout.row_of(track)?, self.sheet.tracks().get(track)?);
        if of.kind == TrackKind::Group && !row.is_closed {
            return None;
        }
        let (top_px, height_px) = row.lane_px(of, lane);
        let top_px = top_px - self.scroll_px;
        (top_px < self.height_px && top_px + height_px > 0.0).then_some((top_px, height_px))
    }

    fn clip_px(&self, clip: Interval) -> Option<(f64, f64)> {
        let left = self.scale.px_from_time(clip.start.0).max(0.0);
        let right = self.scale.px_from_time(clip.end.0).min(self.scale.width_px);
        (right > left).then_some((left, right))
    }
}

/// The longest part of a text that fits, with an ellipsis if it was cut. `None` if not even two
/// letters fit. Letters are measured one by one, and each letter only once for all names.
fn fitted<'a>(
    text: &'a str,
    full_px: f64,
    room_px: f64,
    width_px: &mut dyn FnMut(&str) -> f64,
) -> Option<Cow<'a, str>> {
    /// Least number of letters that make sense alone.
    const LEAST: usize = 2;
    const ELLIPSIS: &str = "…";
    if full_px <= room_px {
        return Some(Cow::Borrowed(text));
    }
    let mut left_px = room_px - width_px(ELLIPSIS);
    let mut letter = [0; 4];
    let mut end = 0;
    for (at, sign) in text.char_indices() {
        left_px -= width_px(sign.encode_utf8(&mut letter));
        if left_px < 0.0 {
            break;
        }
        end = at + sign.len_utf8();
    }
    let shown = text[..end].trim_end();
    (shown.chars().nth(LEAST - 1).is_some()).then(|| Cow::Owned(format!("{shown}{ELLIPSIS}")))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::view::sheet::tests::sheet_of;
    use nprof_engine::tile::{Level, TileId};
    use nprof_engine::wire::tile::{Lane, TileSlice};

    /// A tile of the finest level with slices `track lane start..end name`, in picoseconds.
    fn piece(text: &str) -> Piece {
        let tile = TileId { group: 0, level: Level::new(0).unwrap(), index: 0 };
        let id = TileKey { source: SourceId(0), tile };
        let mut tile = Tile {
            version: 1,
            start_ps: 0,
            cell_ps: id.tile.level.cell_ps(),
            names: vec![],
            waits: vec![],
            lanes: vec![],
        };
        for line in text.lines().filter(|line| !line.is_empty()) {
            let [track, lane, span, name] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let (start, end) = span.split_once("..").unwrap();
            let start_ps: i64 = start.parse().unwrap();
            let duration_ps = end.parse::<i64>().unwrap() - start_ps;
            let slice = TileSlice { start_ps, duration_ps, row: 0, name: tile.names.len() as u32, form: 0 };
            tile.waits.extend((name == "wait").then_some(slice.name));
            tile.names.push(name.to_owned());
            let (track, lane) = (track.parse().unwrap(), lane.parse().unwrap());
            tile.lanes.push(Lane { track, lane, content: Content::Slices(vec![slice]) });
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
        let names = Names::default();
        let batch = Batch::new(&piece.tile, SourceId(0), &sheet, &shape, &names);
        let (sheet, shape, layout, ground) = (&sheet, &shape, &layout, Ground::Light);
        let source = SourceId(0);
        let camera =
            Camera { scale, scroll_px, height_px, sheet, source, shape, layout, names: &names, ground };
        let quads = camera.quads(&piece, &batch);
        let mut labels = Labels::default();
        camera.labels(&piece, &batch, &mut |text| text.chars().count() as f64 * 6.0, &mut labels);
        let mut lines = vec![quads.map_or("nothing".to_owned(), |quads| {
            format!("{:?} at {} clip {:?}", quads.instances, quads.offset_px, quads.clip_px)
        })];
        lines.extend(labels.all.iter().map(|label| format!("{}@{},{}", label.text, label.x_px, label.y_px)));
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
        let batch = Batch::new(&piece.tile, SourceId(0), &sheet, &shape, &Names::default());
        let names = Names::default();
        let (sheet, shape, layout, ground) = (&sheet, &shape, &layout, Ground::Light);
        let source = SourceId(0);
        let (scroll_px, height_px) = (0.0, 500.0);
        let camera =
            Camera { scale, scroll_px, height_px, sheet, source, shape, layout, names: &names, ground };
        let bands = camera.group_bands([(&piece, &batch)].into_iter(), 2.0);
        let text: Vec<_> =
            bands.iter().map(|band| format!("{}..{}@{:.2}", band.start, band.end, band.high)).collect();
        // One of three lanes works all the time, another one for a nanosecond.
        assert_eq!(text.join(" "), "0..12@0.33 12..13@0.38 13..19@0.33 19..20@0.32");
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

    /// Places, texts and gaps of the labels of these pieces on one lane of 100 pixels.
    fn labels_of(pieces: &[Piece]) -> Vec<(f64, String, f64)> {
        let sheet = sheet_of("a");
        let (layout, shape) = (Layout::new(&sheet, |_| false), Shape::new(&sheet));
        let scale = TimeScale { window: Interval::new(0, 100_000), width_px: 100.0 };
        let names = Names::default();
        let camera = Camera {
            scale,
            scroll_px: 0.0,
            height_px: 50.0,
            sheet: &sheet,
            source: SourceId(0),
            shape: &shape,
            layout: &layout,
            names: &names,
            ground: Ground::Light,
        };
        let mut labels = Labels::default();
        for piece in pieces {
            let batch = Batch::new(&piece.tile, SourceId(0), &sheet, &shape, &Names::default());
            camera.labels(piece, &batch, &mut |text| text.chars().count() as f64 * 6.0, &mut labels);
        }
        labels.all.iter().map(|label| (label.x_px, label.text.to_string(), label.gap_px)).collect()
    }

    #[test]
    fn texts_of_a_lane_never_overlap() {
        // Two tiles hold the same slice. The second one has only the part in a cell of its own.
        let pieces =
            ["100 0 0..90000 matmul", "100 0 20000..90000 matmul", "100 0 50000..90000 matmul"].map(piece);
        let places: Vec<_> = labels_of(&pieces).iter().map(|label| label.0).collect();
        assert_eq!(places, [4.0, 54.0]);
    }

    #[test]
    fn the_band_of_a_wait_stays_in_sight_on_both_sides_of_its_text() {
        let wait = |end| piece(&format!("100 0 0..{end} wait"));
        assert_eq!(labels_of(&[wait(90_000)]), [(16.0, "wait".to_owned(), 24.0)]);
        assert_eq!(labels_of(&[wait(56_000)]), [(16.0, "wait".to_owned(), 24.0)]);
        assert_eq!(labels_of(&[wait(50_000)]), []);
    }

    #[test]
    fn texts_are_cut_between_letters() {
        let fitted = |text, room_px| {
            let mut width_px = |text: &str| text.chars().count() as f64 * 10.0;
            fitted(text, width_px(text), room_px, &mut width_px).map(Cow::into_owned)
        };
        assert_eq!(fitted("ééééé", 50.0).as_deref(), Some("ééééé"));
        assert_eq!(fitted("ééééé", 49.0).as_deref(), Some("ééé…"));
        assert_eq!(fitted("ab cdef", 40.0).as_deref(), Some("ab…"));
        assert_eq!(fitted("ééééé", 29.0), None);
    }
}

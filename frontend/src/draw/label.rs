//! Texts on slices. A slice has one text, also if several tiles show it.

use std::borrow::Cow;

use nprof_engine::base::Interval;
use nprof_engine::model::SliceForm;
use nprof_engine::wire::tile::Content;

use super::batch::Batch;
use super::palette::{self, Ink};
use super::scene::Camera;
use crate::fetch::cache::Piece;

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

/// A slice, or the part of it that a tile shows.
#[derive(Debug, Clone, Copy)]
struct Named<'a> {
    /// Index of the track, and the lane.
    lane: (usize, u32),
    row: u32,
    /// In shared time.
    span: Interval,
    name: &'a str,
    is_wait: bool,
}

/// Least width of a bar with a text.
const LABEL_PX: f64 = 28.0;
/// Least height of a bar with a text.
const LABEL_HEIGHT_PX: f64 = 11.0;
/// Space between a bar's edge and its text.
const INSET_PX: f64 = 4.0;
/// Part of a wait's band that stays in sight before its text, and behind it.
const BAND_PX: f64 = 12.0;

/// The texts of a frame, from left to right in each lane. No two texts of a lane overlap.
/// `width_px` measures a text.
#[must_use]
pub fn labels<'a, 'b>(
    camera: &Camera<'_>,
    pieces: impl Iterator<Item = (&'a Piece, &'b Batch)>,
    width_px: &mut dyn FnMut(&str) -> f64,
) -> Vec<Label<'a>> {
    let mut named = Vec::new();
    for (piece, batch) in pieces {
        add_named(camera, piece, batch, &mut named);
    }
    let inks = palette::inks(camera.ground);
    let mut end_px = f64::NEG_INFINITY;
    let mut lane = None;
    let mut label = |one: &Named<'a>| {
        let (top_px, height_px) = camera.band_px(one.lane.0, one.lane.1)?;
        let inset_px = INSET_PX + if one.is_wait { BAND_PX } else { 0.0 };
        let (x_px, room_px) = text_room(camera, one.span, inset_px)?;
        if lane.replace(one.lane) != Some(one.lane) {
            end_px = f64::NEG_INFINITY;
        }
        if x_px < end_px {
            return None;
        }
        let full_px = width_px(one.name);
        let text = fitted(one.name, full_px, room_px, width_px)?;
        let text_px = full_px.min(room_px);
        end_px = x_px + text_px;
        let (ink, gap_px) = match one.is_wait {
            true => (Ink::of_ground(camera.ground), text_px),
            false => (inks[usize::from(camera.names.colour(one.name))], 0.0),
        };
        Some(Label { x_px, y_px: top_px + height_px / 2.0, text, ink, gap_px })
    };
    joined(named).iter().filter_map(&mut label).collect()
}

/// A band with a name, which belongs to no tile.
#[derive(Debug, Clone, Copy)]
pub struct NamedBand<'a> {
    /// Index of the track, and the lane.
    pub lane: (usize, u32),
    /// In shared time.
    pub span: Interval,
    /// The name.
    pub name: &'a str,
}

/// The texts in hatched bands, which do not overlap.
#[must_use]
pub fn band_labels<'a>(
    camera: &Camera<'_>,
    bands: impl Iterator<Item = NamedBand<'a>>,
    width_px: &mut dyn FnMut(&str) -> f64,
) -> Vec<Label<'a>> {
    let label = |NamedBand { lane: (track, lane), span, name }: NamedBand<'a>| {
        let (top_px, height_px) = camera.band_px(track, lane)?;
        let has_room = height_px >= LABEL_HEIGHT_PX;
        let (x_px, room_px) = text_room(camera, span, INSET_PX + BAND_PX).filter(|_| has_room)?;
        let full_px = width_px(name);
        let text = fitted(name, full_px, room_px, width_px)?;
        let (ink, gap_px) = (Ink::of_ground(camera.ground), full_px.min(room_px));
        Some(Label { x_px, y_px: top_px + height_px / 2.0, text, ink, gap_px })
    };
    bands.filter_map(label).collect()
}

/// Adds the slices of a piece that have room for a text, perhaps with their part in other pieces.
fn add_named<'a>(camera: &Camera<'_>, piece: &'a Piece, batch: &Batch, out: &mut Vec<Named<'a>>) {
    let (tile, source) = (&piece.tile, piece.id.source);
    let axis = camera.sheet.axis(source);
    let least_ps = camera.scale.ps_from_px(LABEL_PX);
    let has_room = |(track, lane): (usize, u32)| {
        camera.band_px(track, lane).is_some_and(|(_, height_px)| height_px >= LABEL_HEIGHT_PX)
    };
    let mut add = |lane: (usize, u32), (start_ps, duration_ps): (i64, i64), name: u32, row: u32| {
        let start_ps = tile.start_ps.saturating_add(start_ps);
        let own = Interval::new(start_ps, start_ps.saturating_add(duration_ps.max(0)));
        let Some(text) = tile.names.get(name as usize) else { return };
        let is_wait = tile.waits.binary_search(&name).is_ok();
        out.push(Named { lane, row, span: axis.shared_span(own), name: text, is_wait });
    };
    for lane in &tile.lanes {
        let Content::Slices(slices) = &lane.content else { continue };
        let place = camera.sheet.position(source, lane.track).map(|track| (track, lane.lane));
        let Some(place) = place.filter(|place| has_room(*place)) else { continue };
        let wide = slices.iter().filter(|one| one.duration_ps >= least_ps && one.form != SliceForm::Instant);
        wide.for_each(|one| add(place, (one.start_ps, one.duration_ps), one.name, one.row));
    }
    for run in batch.runs.iter().filter(|run| has_room((run.track, run.lane))) {
        add((run.track, run.lane), (run.start_ps, run.duration_ps), run.name, run.row);
    }
}

/// Each slice once, with all its parts, in the order of lanes and times.
fn joined(mut named: Vec<Named<'_>>) -> Vec<Named<'_>> {
    sort(&mut named, |one| (one.lane, i64::from(one.row), one.span.start.0));
    let mut joined: Vec<Named<'_>> = Vec::with_capacity(named.len());
    for one in named {
        match joined.last_mut() {
            Some(last) if (last.lane, last.row) == (one.lane, one.row) => {
                last.span = last.span.cover(one.span)
            }
            _ => joined.push(one),
        }
    }
    sort(&mut joined, |one| (one.lane, one.span.start.0, i64::from(one.row)));
    joined
}

/// A lane, and two numbers by which its slices are ordered.
type LabelOrder = ((usize, u32), i64, i64);

/// The library's sort, which a program holds once for each type of function.
fn sort(named: &mut [Named<'_>], key: fn(&Named<'_>) -> LabelOrder) {
    named.sort_unstable_by_key(key);
}

/// The left end and the width of the part of a slice in sight, between two insets. `None` if it has
/// no room for text.
fn text_room(camera: &Camera<'_>, slice: Interval, inset_px: f64) -> Option<(f64, f64)> {
    let (scale, window) = (&camera.scale, camera.scale.window);
    let (start_ps, end_ps) = (slice.start.0.max(window.start.0), slice.end.0.min(window.end.0));
    if start_ps >= end_ps || end_ps - start_ps < scale.ps_from_px(LABEL_PX) {
        return None;
    }
    let x_px = scale.px_from_time(start_ps) + inset_px;
    let room_px = scale.px_from_time(end_ps) - inset_px - x_px;
    (room_px >= LABEL_PX - 2.0 * INSET_PX).then_some((x_px, room_px))
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
mod tests {
    use std::rc::Rc;

    use nprof_engine::wire::tile::TileCell;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::scene::tests::piece;
    use crate::draw::shape::Shape;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// Places, texts and gaps of the labels of these pieces on one lane of 100 pixels.
    fn labels_of(pieces: &[Piece]) -> Vec<(f64, String, f64)> {
        let sheet = sheet_of("a");
        let (layout, shape) = (Layout::new(&sheet, |_| false), Shape::new(&sheet));
        let scale = TimeScale { window: Interval::new(0, 100_000), width_px: 100.0 };
        let names = NameColours::default();
        let sight = RowSight::unpinned(50.0, 0.0);
        let camera = Camera {
            scale,
            sight,
            area: sight.others,
            sheet: &sheet,
            source: SourceId::of_first(0),
            shape: &shape,
            layout: &layout,
            names: &names,
            ground: Ground::Light,
        };
        let batch = |piece: &Piece| {
            Batch::new(&piece.tile, SourceId::of_first(0), &sheet, &shape, &NameColours::default())
        };
        let batches: Vec<Batch> = pieces.iter().map(batch).collect();
        let width_px = &mut |text: &str| text.chars().count() as f64 * 6.0;
        let labels = labels(&camera, pieces.iter().zip(&batches), width_px);
        labels.iter().map(|label| (label.x_px, label.text.to_string(), label.gap_px)).collect()
    }

    #[test]
    fn texts_of_a_lane_never_overlap() {
        let text = "100 0 0..90000 matmul\n100 0 20000..90000 matmul\n100 0 50000..90000 matmul";
        let places: Vec<_> = labels_of(&[piece(text)]).iter().map(|label| label.0).collect();
        assert_eq!(places, [4.0, 54.0]);
    }

    #[test]
    fn a_slice_in_several_tiles_has_one_text_over_all_its_parts() {
        let pieces = ["100 0 0..30000 a long name", "100 0 30000..90000 a long name"].map(piece);
        assert_eq!(labels_of(&pieces), [(4.0, "a long name".to_owned(), 0.0)]);
        // Cells at the edge of a tile are a part of the slice that is a bar in the next one.
        let cells = (508..512).map(|cell| TileCell {
            cell,
            busy_ps: 100,
            wait_ps: 0,
            count: 0,
            name: 0,
            longest_row: 0,
            longest_ps: 100,
        });
        let mut first = piece("100 0 0..1 a long name");
        let tile = Rc::make_mut(&mut first.tile);
        (tile.start_ps, tile.cell_ps) = (-41_200, 100);
        tile.lanes[0].content = Content::Cells(cells.collect());
        let second = piece("100 0 10000..90000 a long name");
        let labels = labels_of(&[first, second]);
        assert_eq!(labels, [(13.6, "a long name".to_owned(), 0.0)]);
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

//! Boxes around the places of findings: outlines over rows, with the saving on a corner. Cost: a
//! comparison for each box out of sight.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::scene::{Camera, Rect};
use crate::view::Point;
use crate::view::band::BandSpan;
use crate::view::finding_box::PlacedBox;

/// A box that is narrower is shown as wide as this.
const LEAST_PX: f64 = 3.0;
/// The edges of a box that goes on are this far out of sight.
const BEYOND_PX: f64 = 4.0;
/// Height of a tag: it stands on the edge between two rows, where bars have their gap, so that it
/// covers no name.
const TAG_PX: f64 = 12.0;
/// Space on both sides of the text of a tag.
const TAG_PADDING_PX: f64 = 4.0;
/// Tags of an area. Their texts take more time than all outlines.
const MOST_TAGS: usize = 24;
/// Edges in the same step of a row are one, so that many boxes leave most of the data in sight.
const EDGE_STEP_PX: f64 = 8.0;

/// The boxes in an area.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawnBoxes {
    /// The outlines; those that the user followed are the last.
    pub outlines: Vec<BoxOutline>,
    /// The tags, without overlaps.
    pub tags: Vec<BoxTag>,
}

/// An outline, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxOutline {
    /// The place.
    pub rect: Rect,
    /// Whether the user went to it last.
    pub is_followed: bool,
}

/// A saving on the corner of a box.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxTag {
    /// The place, in CSS pixels.
    pub rect: Rect,
    /// Index of the track of the first row of the box.
    pub track: usize,
    /// The finding.
    pub mark: Arc<BandSpan>,
    /// Whether the user went to it last.
    pub is_followed: bool,
}

impl BoxTag {
    /// Left end of its text.
    #[must_use]
    pub fn text_px(&self) -> f64 {
        self.rect.x_px + TAG_PADDING_PX
    }

    /// Whether a point is on it.
    #[must_use]
    pub fn has(&self, at: Point) -> bool {
        let Rect { x_px, y_px, width_px, height_px } = self.rect;
        (x_px..x_px + width_px).contains(&at.x_px) && (y_px..y_px + height_px).contains(&at.y_px)
    }
}

impl DrawnBoxes {
    /// The boxes in the area of a camera. `width_px` measures a text. If tags would overlap, the
    /// one of the finding that the user followed stays, else that of the first one. A box whose
    /// edges are those of others is left out.
    #[must_use]
    pub fn of(camera: &Camera<'_>, boxes: &[PlacedBox], width_px: &mut dyn FnMut(&str) -> f64) -> Self {
        let mut drawn = Self::default();
        let (mut places, mut edges) = (TagPlaces::default(), BoxEdges::default());
        let (window, area) = (camera.scale.window, camera.area);
        let in_time = boxes.iter().filter(|of| window.overlaps(of.mark.span.start.0, of.mark.span.end.0));
        let (followed, others): (Vec<_>, Vec<_>) = in_time.partition(|of| of.is_followed);
        for of in followed.into_iter().chain(others) {
            let (left_px, right_px) = ends_px(camera, of);
            for rows in of.stretches.iter() {
                let (y_px, height_px) = (area.shown_px(rows.top_px), rows.height_px);
                if y_px >= area.foot_px() || y_px + height_px <= area.top_px {
                    continue;
                }
                if !edges.add(rows.track, left_px, right_px) {
                    continue;
                }
                let rect = Rect { x_px: left_px, y_px, width_px: right_px - left_px, height_px };
                drawn.outlines.push(BoxOutline { rect, is_followed: of.is_followed });
                if drawn.tags.len() < MOST_TAGS {
                    let wide_px = width_px(&of.mark.label) + 2.0 * TAG_PADDING_PX;
                    drawn.tags.extend(places.take(camera, rect, wide_px).map(|rect| BoxTag {
                        rect,
                        track: rows.track,
                        mark: Arc::clone(&of.mark),
                        is_followed: of.is_followed,
                    }));
                }
            }
        }
        drawn.outlines.sort_by_key(|of| of.is_followed);
        drawn
    }
}

/// Left and right end of a box, not far out of sight.
fn ends_px(camera: &Camera<'_>, of: &PlacedBox) -> (f64, f64) {
    let scale = &camera.scale;
    let px = |ps: i64| scale.px_from_time(ps).clamp(-BEYOND_PX, scale.width_px + BEYOND_PX);
    let (left_px, right_px) = (px(of.mark.span.start.0), px(of.mark.span.end.0));
    (left_px, right_px.max(left_px + LEAST_PX))
}

/// The steps of rows that have an edge, by the track of the first row.
#[derive(Debug, Default)]
struct BoxEdges(HashSet<(usize, i64)>);

impl BoxEdges {
    /// Adds the edges of a box. Returns false if both are there.
    #[expect(clippy::cast_possible_truncation, reason = "a position on the screen")]
    fn add(&mut self, track: usize, left_px: f64, right_px: f64) -> bool {
        let step = |px: f64| (px / EDGE_STEP_PX).round() as i64;
        let is_new = self.0.insert((track, step(left_px)));
        self.0.insert((track, step(right_px))) || is_new
    }
}

/// The places of tags that are taken, by the height of their rows.
#[derive(Debug, Default)]
struct TagPlaces(HashMap<i64, Vec<(f64, f64)>>);

impl TagPlaces {
    /// The place of a tag on the upper left corner of a box, if it is free. If the upper edge is
    /// out of sight, the tag is on the lower left corner.
    #[expect(clippy::cast_possible_truncation, reason = "a position on the screen")]
    fn take(&mut self, camera: &Camera<'_>, of: Rect, width_px: f64) -> Option<Rect> {
        let (area, half_px) = (camera.area, TAG_PX / 2.0);
        let (above_px, below_px) = (of.y_px - half_px, of.y_px + of.height_px - half_px);
        let y_px = match (above_px >= area.top_px, below_px + TAG_PX <= area.foot_px()) {
            (true, _) => above_px,
            (false, true) => below_px,
            (false, false) => area.top_px,
        };
        let x_px = of.x_px.clamp(0.0, (camera.scale.width_px - width_px).max(0.0));
        let taken = self.0.entry(y_px.round() as i64).or_default();
        let is_free = taken.iter().all(|(left, right)| x_px >= *right || x_px + width_px <= *left);
        is_free.then(|| {
            taken.push((x_px, x_px + width_px));
            Rect { x_px, y_px, width_px, height_px: TAG_PX }
        })
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::band::BandTarget;
    use crate::view::finding_box::{FindingBox, placed_boxes};
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// A box `track start..end label`; the one with `!` is followed.
    fn box_of(at: usize, text: &str) -> FindingBox {
        let [track, span, label] = text.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
        let (start, end) = span.split_once("..").unwrap();
        let mark = BandSpan {
            span: Interval::new(start.parse().unwrap(), end.parse().unwrap()),
            label: label.to_owned(),
            title: String::new(),
            target: BandTarget::Finding(at),
        };
        FindingBox {
            mark: Arc::new(mark),
            ranks: [SourceId::of_first(0)].into(),
            track: Some(track.to_owned()),
            is_followed: label.contains('!'),
        }
    }

    /// The boxes of a frame of 1000 pixels of a picosecond each; letters are 6 pixels wide.
    fn drawn(texts: &[&str], height_px: f64, scroll_px: f64) -> DrawnBoxes {
        let sheet = sheet_of("Engines/\n  Tensor\n  Vector\nlow");
        let layout = Layout::new(&sheet, |_| false);
        let (shape, names) = (Shape::new(&sheet), NameColours::default());
        let scale = TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 };
        let (source, shape, names, ground) = (SourceId::of_first(0), &shape, &names, Ground::Light);
        let sight = RowSight::unpinned(height_px, scroll_px);
        let boxes: Vec<_> = texts.iter().enumerate().map(|(at, text)| box_of(at, text)).collect();
        let boxes = placed_boxes(&boxes, &sheet, &layout);
        let (sheet, layout) = (&sheet, &layout);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        DrawnBoxes::of(&camera, &boxes, &mut |text| text.chars().count() as f64 * 6.0)
    }

    #[track_caller]
    fn check(texts: &[&str], height_px: f64, scroll_px: f64, expected: &str) {
        let drawn = drawn(texts, height_px, scroll_px);
        let place = |of: &Rect| format!("{},{} {}x{}", of.x_px, of.y_px, of.width_px, of.height_px);
        let outlines = drawn.outlines.iter().map(|of| place(&of.rect));
        let tags =
            drawn.tags.iter().map(|of| format!("[{} {},{}]", of.mark.label, of.rect.x_px, of.rect.y_px));
        assert_eq!(outlines.chain(tags).collect::<Vec<_>>().join(" | "), expected);
    }

    #[test]
    fn boxes_are_over_their_rows_and_their_times() {
        check(&["Vector 100..300 −1 µs"], 500.0, 0.0, "100,48 200x24 | [−1 µs 100,42]");
        check(&["Vector 100..100 −1 µs"], 500.0, 0.0, "100,48 3x24 | [−1 µs 100,42]");
        check(&["Vector 1100..1200 −1 µs"], 500.0, 0.0, "");
        check(&["Vector 100..300 −1 µs"], 500.0, 80.0, "");
    }

    #[test]
    fn what_goes_on_out_of_sight_has_no_edge_there() {
        check(&["Vector -900..3000 a"], 500.0, 0.0, "-4,48 1008x24 | [a 0,42]");
        check(&["Vector 990..3000 a long label"], 500.0, 0.0, "990,48 14x24 | [a long label 920,42]");
        check(&["Vector 100..300 a"], 500.0, 50.0, "100,-2 200x24 | [a 100,16]");
    }

    #[test]
    fn of_tags_that_overlap_the_first_or_the_followed_one_stays() {
        let both = "100,48 200x24 | 110,48 200x24 | ";
        check(&["Vector 100..300 a", "Vector 110..310 b"], 500.0, 0.0, &format!("{both}[a 100,42]"));
        check(&["Vector 100..300 a", "Vector 110..310 !"], 500.0, 0.0, &format!("{both}[! 110,42]"));
        let apart = "100,48 200x24 | 114,48 200x24 | [a 100,42] | [b 114,42]";
        check(&["Vector 100..300 a", "Vector 114..314 b"], 500.0, 0.0, apart);
    }

    #[test]
    fn a_point_on_a_tag_is_its_finding() {
        let drawn = drawn(&["Vector 100..300 a", "Tensor 100..300 b"], 500.0, 0.0);
        let at = |x_px, y_px| drawn.tags.iter().find(|tag| tag.has(Point::new(x_px, y_px)));
        let finding = |x_px, y_px| at(x_px, y_px).map(|tag| tag.mark.target);
        assert_eq!(finding(105.0, 48.0), Some(BandTarget::Finding(0)));
        assert_eq!(finding(105.0, 24.0), Some(BandTarget::Finding(1)));
        assert_eq!(finding(105.0, 60.0), None, "data under a box is not covered");
    }

    #[test]
    fn many_boxes_leave_data_in_sight() {
        let texts: Vec<String> = (0..1_000).map(|at| format!("Vector {at}..{} a", at + 5)).collect();
        let drawn = drawn(&texts.iter().map(String::as_str).collect::<Vec<_>>(), 500.0, 0.0);
        assert_eq!(drawn.tags.len(), MOST_TAGS);
        let edges: f64 = drawn.outlines.iter().map(|of| 2.0 * of.rect.width_px.min(1.0)).sum();
        assert!(edges < 1_000.0 / 3.0, "the data under {} boxes is hidden", drawn.outlines.len());
    }
}

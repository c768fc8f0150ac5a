//! The arrows of the selected slice, to every slice that it depends on or that depends on it. The
//! other slice can be in a closed group or out of sight.

use nprof_engine::wire::detail::{Neighbour, SliceDetail, SliceEntry};

use super::scene::Camera;

/// Limit of drawn arrows. The details list the others.
const MOST_ARROWS: usize = 64;
/// Distance from the area's edge at which arrows to slices out of sight end.
const EDGE_PX: f64 = 28.0;
const EDGE_Y_PX: f64 = 12.0;
/// Least distance between tags, across and down. Nearer tags would cover each other.
const TAG_PX: (f64, f64) = (96.0, 17.0);

/// An arrow from one slice's end to another's start, in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrow {
    /// Start of the arrow.
    pub from_px: (f64, f64),
    /// Tip of the arrow.
    pub to_px: (f64, f64),
    /// Text at the end that is out of sight. Such an arrow is dashed. The text is empty if the tag
    /// of another arrow stands in the same place.
    pub tag: Option<Tag>,
}

/// A text at the edge of the frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// Middle of the text, in CSS pixels.
    pub at_px: (f64, f64),
    /// Direction of the other slice, and the time between both.
    pub text: String,
}

/// One end of an arrow.
#[derive(Debug, Clone, Copy)]
struct ArrowTip {
    at_px: (f64, f64),
    /// Direction in which the end lies outside of the frame; `None` inside.
    outside: Option<char>,
}

/// The arrows of a slice. If the slice itself is out of sight, only its arrows to slices in sight.
/// `duration` formats picoseconds.
#[must_use]
pub fn arrows(camera: &Camera<'_>, detail: &SliceDetail, duration: fn(i64) -> String) -> Vec<Arrow> {
    let own = &detail.slice;
    let into = detail.predecessors.iter().map(|other| (other, &other.slice, own));
    let out = detail.successors.iter().map(|other| (other, own, &other.slice));
    let mut arrows = Vec::new();
    for (other, from, to) in into.chain(out) {
        let end_ps = from.start_ps.saturating_add(from.duration_ps);
        let ends = camera_end(camera, from, end_ps).zip(camera_end(camera, to, to.start_ps));
        let Some((from_end, to_end)) = ends else { continue };
        let outside = match (from_end.outside, to_end.outside) {
            (Some(_), Some(_)) => continue,
            (Some(direction), None) => Some((direction, from_end)),
            (None, Some(direction)) => Some((direction, to_end)),
            (None, None) => None,
        };
        let tag = outside.map(|(direction, end)| {
            let gap = duration(to.start_ps.saturating_sub(end_ps));
            tag(direction, end, gap, camera, other)
        });
        arrows.push(Arrow { from_px: from_end.at_px, to_px: to_end.at_px, tag });
        if arrows.len() == MOST_ARROWS {
            break;
        }
    }
    thin_out(&mut arrows);
    arrows
}

/// Position of a timestamp of a slice: on its lane, or on the heading of the closed group around
/// it. If that is out of sight, the position is at the edge of its area.
fn camera_end(camera: &Camera<'_>, slice: &SliceEntry, time_ps: i64) -> Option<ArrowTip> {
    let track = camera.sheet.position(camera.source, slice.track)?;
    let camera = &camera.on(track);
    let rect = camera.rect(track, slice.lane, time_ps, 0).or_else(|| camera.closed_rect(track, time_ps))?;
    let (x_px, y_px) = (rect.x_px, rect.y_px + rect.height_px / 2.0);
    let (width_px, (top_px, foot_px)) = (camera.scale.width_px, (camera.area.top_px, camera.area.foot_px()));
    let outside = if x_px < 0.0 {
        Some('←')
    } else if x_px > width_px {
        Some('→')
    } else if y_px < top_px {
        Some('↑')
    } else if y_px > foot_px {
        Some('↓')
    } else {
        None
    };
    let inside = |at: f64, (start, end): (f64, f64), edge: f64| {
        let middle = f64::midpoint(start, end);
        at.clamp((start + edge).min(middle), (end - edge).max(middle))
    };
    let (mut x, mut y) = (x_px, y_px);
    if outside.is_some() {
        x = if (0.0..=width_px).contains(&x_px) { x_px } else { inside(x_px, (0.0, width_px), EDGE_PX) };
        y = if (top_px..=foot_px).contains(&y_px) {
            y_px
        } else {
            inside(y_px, (top_px, foot_px), EDGE_Y_PX)
        };
    }
    Some(ArrowTip { at_px: (x, y), outside })
}

fn tag(direction: char, end: ArrowTip, gap: String, camera: &Camera<'_>, other: &Neighbour) -> Tag {
    let text = match direction {
        '↑' | '↓' => {
            let track = camera.sheet.track(camera.source, other.slice.track);
            format!("{direction} {}", track.map_or("", |track| &track.name))
        }
        _ => format!("{direction} {gap}"),
    };
    Tag { at_px: end.at_px, text }
}

/// Removes overlapping tags: the first one stays and counts the others.
fn thin_out(arrows: &mut [Arrow]) {
    let mut kept: Vec<(usize, u32)> = Vec::new();
    for at in 0..arrows.len() {
        let Some(place) = arrows[at].tag.as_ref().map(|tag| tag.at_px) else { continue };
        let covers = |(of, _): &&mut (usize, u32)| {
            arrows[*of].tag.as_ref().is_some_and(|tag| {
                (tag.at_px.0 - place.0).abs() < TAG_PX.0 && (tag.at_px.1 - place.1).abs() < TAG_PX.1
            })
        };
        match kept.iter_mut().find(covers) {
            Some((_, more)) => {
                *more += 1;
                if let Some(tag) = &mut arrows[at].tag {
                    tag.text.clear();
                }
            }
            None => kept.push((at, 0)),
        }
    }
    for (at, more) in kept.into_iter().filter(|(_, more)| *more > 0) {
        if let Some(tag) = &mut arrows[at].tag {
            tag.text.push_str(&format!(" and {more} more"));
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::fixture;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    const TRACKS: &str = "Engines/\n  Tensor\nDMA/\n  q0/\n    a\n    b\nlow";

    fn entry(track: u32, start_ps: i64, duration_ps: i64) -> SliceEntry {
        SliceEntry { track, ..fixture::slice(start_ps, duration_ps) }
    }

    /// The arrows from one slice to others. The frame is 1000 pixels wide, each of them a
    /// picosecond. `closed` are the closed groups.
    #[track_caller]
    fn check(closed: &[&str], height_px: f64, own: SliceEntry, others: Vec<SliceEntry>, expected: &str) {
        let sheet = sheet_of(TRACKS);
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let shape = Shape::new(&sheet);
        let scale = TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 };
        let (names, ground) = (NameColours::default(), Ground::Light);
        let (sheet, source, shape, layout) = (&sheet, SourceId::of_first(0), &shape, &layout);
        let (sight, names) = (RowSight::unpinned(height_px, 0.0), &names);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let neighbour = |slice| Neighbour { flow: "needs".into(), slice };
        let successors = others.into_iter().map(neighbour).collect();
        let detail = SliceDetail { successors, ..fixture::detail(own) };
        let text = arrows(&camera, &detail, |ps| format!("{ps} ps")).into_iter().map(|arrow| {
            let tag = arrow.tag.map_or(String::new(), |tag| format!(" [{}]", tag.text));
            format!("{:?} to {:?}{tag}", arrow.from_px, arrow.to_px)
        });
        assert_eq!(text.collect::<Vec<_>>().join(" | "), expected);
    }

    #[test]
    fn an_arrow_ends_on_the_heading_of_a_closed_group() {
        let own = || entry(101, 100, 50);
        let other = || vec![entry(104, 300, 10)];
        check(&[], 500.0, own(), other(), "(150.0, 35.0) to (300.0, 107.0)");
        check(&["q0"], 500.0, own(), other(), "(150.0, 35.0) to (300.0, 84.0)");
        check(&["DMA"], 500.0, own(), other(), "(150.0, 35.0) to (300.0, 60.0)");
    }

    #[test]
    fn what_is_out_of_sight_has_a_tag_at_the_edge() {
        let own = || entry(101, 100, 50);
        check(&[], 500.0, own(), vec![entry(104, 9_000, 10)], "(150.0, 35.0) to (972.0, 107.0) [→ 8850 ps]");
        check(&[], 100.0, own(), vec![entry(106, 200, 10)], "(150.0, 35.0) to (200.0, 88.0) [↓ low]");
        check(&[], 500.0, entry(101, -500, 9), vec![entry(104, 9_000, 10)], "");
    }

    #[test]
    fn tags_do_not_cover_each_other() {
        let far = vec![entry(104, 9_000, 10), entry(104, 9_500, 10), entry(106, 9_000, 10)];
        check(
            &[],
            500.0,
            entry(101, 100, 50),
            far,
            "(150.0, 35.0) to (972.0, 107.0) [→ 8850 ps and 1 more] | (150.0, 35.0) to (972.0, 107.0) [] | \
             (150.0, 35.0) to (972.0, 155.0) [→ 8850 ps]",
        );
    }
}

//! The line of the critical path: below the slices that it leads through, from track to track.

use std::collections::BTreeMap;

use nprof_engine::wire::catalog::TrackKind;

use super::arrow::Tag;
use super::front::FAR_PX;
use super::scene::Camera;
use crate::view::run_path::PathStretch;
use crate::view::source_id::SourceId;

/// Distance of the line from the lower edge of a slice, in CSS pixels.
const INSET_PX: f64 = 2.0;
/// Half of the height of a tag, with a margin, in CSS pixels.
const TAG_HALF_PX: f64 = 10.0;
/// Least time of another rank that has a tag, in CSS pixels.
const TAG_PX: f64 = 64.0;

/// A piece of the line, in CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct PathStroke {
    /// The points, which are connected.
    pub points: Vec<(f64, f64)>,
    /// Whether nothing worked meanwhile. Such a stroke is thin.
    pub is_idle: bool,
}

/// The line of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathLine {
    /// The pieces.
    pub strokes: Vec<PathStroke>,
    /// The ranks on which the path goes on where none of its tracks is shown.
    pub tags: Vec<Tag>,
}

impl PathLine {
    /// The line through the rows of a camera. Rows out of sight have it at the edge of their area.
    #[must_use]
    pub fn of(camera: &Camera<'_>, stretches: &[PathStretch]) -> Self {
        let window = camera.scale.window;
        // On their own clocks, ranks do not follow each other in the order of time.
        let in_sight = stretches.iter().filter(|one| window.overlaps(one.span.start.0, one.span.end.0));
        let rows = rank_rows(camera);
        let mut line = Self::default();
        let (mut last, mut away): (Option<(f64, f64)>, Option<HiddenStretch>) = (None, None);
        for one in in_sight {
            let x = |ps: i64| camera.scale.px_from_time(ps).clamp(-FAR_PX, camera.scale.width_px + FAR_PX);
            let (left, right) = (x(one.span.start.0), x(one.span.end.0));
            let Some(y) = y_px(camera, &rows, one) else {
                if away.is_none_or(|of| of.source != one.source) {
                    line.tag(camera, away.take());
                    let y = last.map_or(camera.area.top_px, |(_, y)| y).max(camera.area.top_px + TAG_HALF_PX);
                    away = Some(HiddenStretch { source: one.source, left, right, y });
                }
                if let Some(of) = &mut away {
                    of.right = right;
                }
                last = None;
                continue;
            };
            line.tag(camera, away.take());
            line.stroke(one.is_idle, last, [(left, y), (right, y)]);
            last = Some((right, y));
        }
        line.tag(camera, away.take());
        line
    }

    /// Adds points to the last stroke, or to a new one that begins where that one ends.
    fn stroke(&mut self, is_idle: bool, last: Option<(f64, f64)>, points: [(f64, f64); 2]) {
        match self.strokes.last_mut().filter(|stroke| last.is_some() && stroke.is_idle == is_idle) {
            Some(stroke) => stroke.points.extend(points),
            None => {
                let points = last.into_iter().chain(points).collect();
                self.strokes.push(PathStroke { points, is_idle });
            }
        }
    }

    fn tag(&mut self, camera: &Camera<'_>, of: Option<HiddenStretch>) {
        let Some(HiddenStretch { source, left, right, y }) = of else { return };
        let (left, right) = (left.max(0.0), right.min(camera.scale.width_px));
        if right - left >= TAG_PX {
            let text = format!("path: {}", source.rank.in_words());
            self.tags.push(Tag { at_px: (f64::midpoint(left, right), y), text });
        }
    }
}

/// A stretch of a path on a rank that is not shown.
#[derive(Debug, Clone, Copy)]
struct HiddenStretch {
    source: SourceId,
    left: f64,
    right: f64,
    y: f64,
}

/// The index of the track of each rank.
pub(super) type RankTracks = BTreeMap<SourceId, usize>;

/// The tracks that show the calls of a rank among those of all ranks, by the rank.
pub(super) fn rank_rows(camera: &Camera<'_>) -> RankTracks {
    let tracks = camera.sheet.tracks().iter().enumerate().rev();
    let of_calls = tracks.filter(|(_, track)| track.kind == TrackKind::Slices);
    of_calls.filter_map(|(at, track)| Some((track.source.sibling(track.rank?), at))).collect()
}

/// The track and lane of a stretch: its own, or those of its rank among all ranks. `None` if the
/// sheet has neither.
pub(super) fn row_of(camera: &Camera<'_>, rows: &RankTracks, one: &PathStretch) -> Option<(usize, u32)> {
    let own = camera.sheet.position(one.source, one.track).map(|track| (track, one.lane));
    own.or_else(|| Some((*rows.get(&one.source)?, 0)))
}

/// The height of the line in the row of a stretch. `None` if no row shows it.
fn y_px(camera: &Camera<'_>, rows: &RankTracks, one: &PathStretch) -> Option<f64> {
    let (track, lane) = row_of(camera, rows, one)?;
    let camera = &camera.on(track);
    let start_ps = one.span.start.0;
    let rect = camera.rect(track, lane, start_ps, 0).or_else(|| camera.closed_rect(track, start_ps))?;
    Some((rect.y_px + rect.height_px - INSET_PX).clamp(camera.area.top_px, camera.area.foot_px()))
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;
    use nprof_engine::wire::rank_ref::RankRef;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::Sheet;
    use crate::view::rows::sheet::tests::{rank_with, sheet_of};
    use crate::view::{Layout, TimeScale};

    /// The line through stretches `rank track start..end`, on a frame of 1000 pixels of a
    /// picosecond each.
    #[track_caller]
    fn check(height_px: f64, stretches: &[(u32, u32, i64, i64, bool)], expected: &str) {
        check_on(&sheet_of("Engines/\n  Tensor\n  Vector\nlow"), height_px, stretches, expected);
    }

    #[track_caller]
    fn check_on(sheet: &Sheet, height_px: f64, stretches: &[(u32, u32, i64, i64, bool)], expected: &str) {
        let layout = Layout::new(sheet, |_| false);
        let shape = Shape::new(sheet);
        let scale = TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 };
        let (names, ground) = (NameColours::default(), Ground::Light);
        let (source, shape, layout) = (SourceId::of_first(0), &shape, &layout);
        let (sight, names) = (RowSight::unpinned(height_px, 0.0), &names);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let stretch = |&(rank, track, start_ps, end_ps, is_idle): &(u32, u32, i64, i64, bool)| PathStretch {
            source: SourceId::of_first(rank),
            track,
            lane: 0,
            span: Interval::new(start_ps, end_ps),
            is_idle,
        };
        let line = PathLine::of(&camera, &stretches.iter().map(stretch).collect::<Vec<_>>());
        let stroke = |stroke: &PathStroke| {
            let points: Vec<String> = stroke.points.iter().map(|(x, y)| format!("{x},{y}")).collect();
            format!("{}{}", if stroke.is_idle { "thin " } else { "" }, points.join(" "))
        };
        let tags = line.tags.iter().map(|tag| format!("[{} at {}]", tag.text, tag.at_px.0));
        let text: Vec<String> = line.strokes.iter().map(stroke).chain(tags).collect();
        assert_eq!(text.join(" | "), expected);
    }

    #[test]
    fn the_line_leads_from_track_to_track() {
        let stretches = [(0, 101, -50, 100, false), (0, 102, 100, 300, false), (0, 102, 300, 350, true)];
        check(500.0, &stretches, "-50,41 100,41 100,65 300,65 | thin 300,65 300,65 350,65");
        check(500.0, &[(0, 101, 1_000, 1_100, false)], "");
    }

    #[test]
    fn parts_of_ranks_on_their_own_clocks_are_all_found() {
        check(500.0, &[(0, 101, 1_200, 1_300, false), (0, 102, 100, 200, false)], "100,65 200,65");
    }

    #[test]
    fn rows_out_of_sight_have_the_line_at_the_edge() {
        check(60.0, &[(0, 103, 10, 20, false)], "10,60 20,60");
    }

    #[test]
    fn other_ranks_have_a_tag() {
        let stretches = [(0, 101, 0, 100, false), (7, 101, 100, 300, false), (0, 102, 300, 400, false)];
        check(500.0, &stretches, "0,41 100,41 | 300,65 400,65 | [path: rank 7 at 200]");
        check(500.0, &[(7, 101, 100, 130, false)], "");
    }

    #[test]
    fn among_all_ranks_the_line_leads_from_rank_to_rank() {
        let all = rank_with(RankRef::All, tracks("all\nRanks/\n  Rank 0\n  Rank 1*2\n  Rank 2"));
        let sheet = Sheet::of(vec![std::sync::Arc::new(all)]);
        let stretches = [(0, 7, 0, 100, false), (2, 7, 100, 300, false)];
        check_on(&sheet, 500.0, &stretches, "0,65 100,65 100,131 300,131");
    }
}

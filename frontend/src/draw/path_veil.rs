//! The veil over the rows while the critical path is shown: everything is dimmer but the slices on
//! the path.

use std::collections::BTreeMap;

use super::path_line::{RankTracks, rank_rows, row_of};
use super::scene::{Camera, Rect};
use crate::view::run_path::PathStretch;

/// A slice that is narrower is as clear as this.
const LEAST_PX: f64 = 2.0;

/// The clear places of an area, without overlaps.
#[must_use]
pub fn clear_places(camera: &Camera<'_>, stretches: &[PathStretch]) -> Vec<Rect> {
    let (window, rows, area) = (camera.scale.window, rank_rows(camera), camera.area);
    // By the upper edge of their lane.
    let mut lanes: BTreeMap<u64, Vec<Rect>> = BTreeMap::new();
    let in_sight = stretches.iter().filter(|one| window.overlaps(one.span.start.0, one.span.end.0));
    for one in in_sight.filter(|one| !one.is_idle) {
        let Some(rect) = rect_of(camera, &rows, one) else { continue };
        if rect.y_px < area.foot_px() && rect.y_px + rect.height_px > area.top_px {
            lanes.entry(rect.y_px.to_bits()).or_default().push(rect);
        }
    }
    lanes.into_values().flat_map(merged).collect()
}

/// The place of a stretch, from one edge of the frame to the other at most.
fn rect_of(camera: &Camera<'_>, rows: &RankTracks, one: &PathStretch) -> Option<Rect> {
    let (track, lane) = row_of(camera, rows, one)?;
    let start_ps = one.span.start.0;
    let rect = camera.rect(track, lane, start_ps, 0).or_else(|| camera.closed_rect(track, start_ps))?;
    let px = |ps: i64| camera.scale.px_from_time(ps).clamp(0.0, camera.scale.width_px);
    let (left, right) = (px(start_ps), px(one.span.end.0));
    Some(Rect { x_px: left, width_px: (right - left).max(LEAST_PX), ..rect })
}

/// The same places without overlaps.
fn merged(mut places: Vec<Rect>) -> Vec<Rect> {
    places.sort_by(|a, b| a.x_px.total_cmp(&b.x_px));
    let mut merged: Vec<Rect> = Vec::with_capacity(places.len());
    for place in places {
        match merged.last_mut().filter(|last| place.x_px <= last.x_px + last.width_px) {
            Some(last) => last.width_px = last.width_px.max(place.x_px + place.width_px - last.x_px),
            None => merged.push(place),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// The clear places on a frame of 1000 pixels of a picosecond each.
    #[track_caller]
    fn check(closed: &[&str], stretches: &[(u32, i64, i64, bool)], expected: &str) {
        let sheet = sheet_of("Engines/\n  Tensor\n  Vector\nlow");
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let (shape, names) = (Shape::new(&sheet), NameColours::default());
        let scale = TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 };
        let (source, sight, ground) = (SourceId::of_first(0), RowSight::unpinned(500.0, 0.0), Ground::Light);
        let (sheet, layout, shape, names) = (&sheet, &layout, &shape, &names);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let stretch = |&(track, start_ps, end_ps, is_idle): &(u32, i64, i64, bool)| PathStretch {
            source,
            track,
            lane: 0,
            span: Interval::new(start_ps, end_ps),
            is_idle,
        };
        let places = clear_places(&camera, &stretches.iter().map(stretch).collect::<Vec<_>>());
        let place = |of: &Rect| format!("{},{} {}x{}", of.x_px, of.y_px, of.width_px, of.height_px);
        assert_eq!(places.iter().map(place).collect::<Vec<_>>().join(" | "), expected);
    }

    #[test]
    fn slices_on_the_path_are_clear() {
        check(&[], &[(101, 100, 200, false), (102, 200, 300, false)], "100,27 100x16 | 200,51 100x16");
        check(&[], &[(101, 100, 200, true), (101, 1_200, 1_300, false)], "");
        check(&[], &[(101, -50, 200, false)], "0,27 200x16");
    }

    #[test]
    fn places_do_not_overlap() {
        let short = [(101, 100, 101, false), (101, 101, 102, false), (101, 500, 900, false)];
        check(&[], &short, "100,27 3x16 | 500,27 400x16");
    }

    #[test]
    fn a_closed_group_is_clear_where_the_path_leads_through_it() {
        check(&["Engines"], &[(101, 100, 200, false)], "100,0 100x24");
    }
}

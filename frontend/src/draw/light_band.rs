//! Dim and lit parts of the rows of an area while a search is shown. Cost: a band for each lane in
//! sight, whatever the number of hits.

use nprof_engine::wire::catalog::TrackKind;

use super::scene::Camera;
use crate::view::light::{Light, LitRow};
use crate::view::rows::layout::Row;
use crate::view::rows::sheet_track::SheetTrack;

/// A lane, or the heading of a closed group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LightBand {
    /// Distance of its upper edge from that of the frame, in CSS pixels.
    pub y_px: f64,
    /// Its height in CSS pixels.
    pub height_px: f64,
    /// The part with hits. Without any, all of it is dim.
    pub lit: Option<LitBand>,
}

/// The part of a band whose light is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LitBand {
    /// The row of light.
    pub row: LitRow,
    /// Its ends on the frame, in CSS pixels.
    pub x_px: (f64, f64),
    /// Its ends in the parts of the light.
    pub cells: (f64, f64),
}

/// The bands of the visible rows of a camera's area. Rows of ranks whose light is not known have
/// none.
#[must_use]
pub fn light_bands(camera: &Camera<'_>, light: &Light) -> Vec<LightBand> {
    let area = &camera.area;
    let rows = camera.layout.visible(area.scroll_px, area.scroll_px + area.height_px);
    let mut bands = Vec::new();
    for row in rows {
        let Some(track) = camera.sheet.tracks().get(row.track) else { continue };
        bands.extend(of_row(camera, light, row, track).into_iter().flatten());
    }
    bands
}

/// The bands of a row. `None` if its rank has no light.
fn of_row(camera: &Camera<'_>, light: &Light, row: &Row, track: &SheetTrack) -> Option<Vec<LightBand>> {
    let (time, rank) = light.best(track.source, camera.scale.window)?;
    let dim = |(top_px, height_px): (f64, f64)| LightBand {
        y_px: camera.area.shown_px(top_px),
        height_px,
        lit: None,
    };
    let (span, cells) = (rank.span, f64::from(rank.cells));
    let x = |ps: i64| camera.scale.px_from_time(ps).clamp(0.0, camera.scale.width_px);
    let (left_px, right_px) = (x(span.start.0), x(span.end.0));
    // A position within the span, so that pixels far out of sight need not be told apart.
    let cell = |px: f64| {
        let past_ps = camera.scale.time_from_px(px).saturating_sub(span.start.0);
        (past_ps as f64 / span.duration_ps().max(1) as f64).clamp(0.0, 1.0) * cells
    };
    let lit = |lane: Option<u32>| {
        let row = LitRow { source: track.source, track: row.track, lane, time };
        (right_px > left_px).then(|| LitBand {
            row,
            x_px: (left_px, right_px),
            cells: (cell(left_px), cell(right_px)),
        })
    };
    Some(match track.kind {
        TrackKind::Group if row.is_closed => {
            vec![LightBand { lit: lit(None), ..dim(row.lane_px(track, 0)) }]
        }
        TrackKind::Group => Vec::new(),
        TrackKind::Counter => vec![dim(row.lane_px(track, 0))],
        TrackKind::Slices => {
            let lanes = 0..track.lanes.max(1);
            lanes.map(|lane| LightBand { lit: lit(Some(lane)), ..dim(row.lane_px(track, lane)) }).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nprof_engine::base::Interval;
    use nprof_engine::wire::light::{SearchLight, TrackHitsEntry};

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::light::{RankLight, RankLights};
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// The bands on a frame of 1000 pixels that shows `window`, while the light of 0 to 1000
    /// picoseconds in 100 parts is known.
    #[track_caller]
    fn check(closed: &[&str], window: (i64, i64), of_rank: u32, expected: &str) {
        let sheet = sheet_of("Engines/\n  Tensor\n  Vector\nlow");
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let (shape, names) = (Shape::new(&sheet), NameColours::default());
        let scale = TimeScale { window: Interval::new(window.0, window.1), width_px: 1_000.0 };
        let (source, sight, ground) = (SourceId::of_first(0), RowSight::unpinned(500.0, 0.0), Ground::Light);
        let (sheet, layout, shape, names) = (&sheet, &layout, &shape, &names);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let tracks = vec![TrackHitsEntry { track: 0, hits: 1 }];
        let answer = SearchLight { end_ps: 1_000, cells: 100, tracks, ..SearchLight::default() };
        let ranks = RankLights::from([(SourceId::of_first(of_rank), RankLight::of(&answer))]);
        let light = Light::of(Some(Arc::new(ranks)), None).unwrap();
        let band = |of: &LightBand| {
            let lit = of.lit.map(|lit| {
                let lane = lit.row.lane.map_or("all".to_owned(), |lane| lane.to_string());
                format!(" {}.{lane} {:?} of {:?}", lit.row.track, lit.x_px, lit.cells)
            });
            format!("{} {}{}", of.y_px, of.height_px, lit.unwrap_or_default())
        };
        let bands = light_bands(&camera, &light);
        assert_eq!(bands.iter().map(band).collect::<Vec<_>>().join(" | "), expected);
    }

    #[test]
    fn each_lane_has_a_band() {
        check(
            &[],
            (0, 500),
            0,
            "27 16 1.0 (0.0, 1000.0) of (0.0, 50.0) | 51 16 2.0 (0.0, 1000.0) of (0.0, 50.0) \
             | 75 16 3.0 (0.0, 1000.0) of (0.0, 50.0)",
        );
    }

    #[test]
    fn a_closed_group_has_one() {
        check(
            &["Engines"],
            (0, 1_000),
            0,
            "3 18 0.all (0.0, 1000.0) of (0.0, 100.0) \
             | 27 16 3.0 (0.0, 1000.0) of (0.0, 100.0)",
        );
    }

    #[test]
    fn light_ends_with_its_span() {
        check(
            &["Engines"],
            (500, 1_500),
            0,
            "3 18 0.all (0.0, 500.0) of (50.0, 100.0) \
             | 27 16 3.0 (0.0, 500.0) of (50.0, 100.0)",
        );
        check(&["Engines"], (2_000, 3_000), 0, "3 18 | 27 16");
    }

    #[test]
    fn a_rank_without_light_is_not_dim() {
        check(&[], (0, 500), 7, "");
    }
}

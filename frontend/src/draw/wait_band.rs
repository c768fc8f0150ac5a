//! The waits of a run: hatched bands in the rows of those that waited, as the waits of operations
//! have them.

use super::batch::wait_band;
use super::front::FAR_PX;
use super::instance::Instance;
use super::label::{Label, NamedBand, band_labels};
use super::scene::Camera;
use crate::view::run_waits::WaitStretch;

/// The bands in the area of a camera, in pixels of the screen.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a position on the screen")]
pub fn wait_bands(camera: &Camera<'_>, waits: &[WaitStretch], ratio: f64) -> Vec<Instance> {
    let px = |ps: i64| {
        let px = camera.scale.px_from_time(ps).clamp(-FAR_PX, camera.scale.width_px + FAR_PX);
        (px * ratio) as f32
    };
    let band = |(track, one): (usize, &WaitStretch)| {
        let lane = camera.shape.lane(track, one.lane)?;
        Some(wait_band(px(one.span.start.0), px(one.span.end.0), lane))
    };
    in_sight(camera, waits).filter_map(band).collect()
}

/// The names of the bands that have room for them, from left to right in each lane. `width_px`
/// measures a text.
#[must_use]
pub fn wait_names<'a>(
    camera: &Camera<'_>,
    waits: &'a [WaitStretch],
    width_px: &mut dyn FnMut(&str) -> f64,
) -> Vec<Label<'a>> {
    let named = |(track, one): (usize, &'a WaitStretch)| {
        Some(NamedBand { lane: (track, one.lane), span: one.span, name: one.name.as_deref()? })
    };
    band_labels(camera, in_sight(camera, waits).filter_map(named), width_px)
}

/// The waits in the window whose lanes are in sight, with the positions of their tracks.
fn in_sight<'a>(
    camera: &Camera<'_>,
    waits: &'a [WaitStretch],
) -> impl Iterator<Item = (usize, &'a WaitStretch)> {
    let window = camera.scale.window;
    waits.iter().filter(move |one| window.overlaps(one.span.start.0, one.span.end.0)).filter_map(|one| {
        let track = camera.sheet.position(one.source, one.track)?;
        camera.band_px(track, one.lane).map(|_| (track, one))
    })
}

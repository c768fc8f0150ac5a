//! Scrolls rows into sight: that of a new selection, and those of a track that was just pinned.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::detail::SliceDetail;

use super::{Scene, TimelineElements};
use crate::view::Reading;
use crate::view::rows::layout::sight::RowPart;
use crate::view::rows::track_path::TrackPath;

/// The item that must stay in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selected {
    /// A slice, by its row.
    Slice(u32),
    /// A counter, by the index of its track.
    Counter(usize),
}

/// A lane in its part of the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LanePlace {
    part: RowPart,
    /// Distance from the top of the part's first row.
    top_px: f64,
    height_px: f64,
}

/// Scrolls to the lane of the selected slice or counter if it is newly selected and out of sight,
/// or if the tracks get so low that it is.
pub fn keep_selected_in_sight(
    scene: Scene,
    parts: TimelineElements,
    selected: Signal<Option<Arc<SliceDetail>>>,
) {
    let reading = Memo::new(move |_| scene.view.with(|view| view.selection.reading.clone()));
    let selected = Memo::new(move |_| {
        let sheet = scene.tracks.sheet.get();
        let current = scene.tracks.current.get();
        let (what, at, lane) = match reading.get() {
            Some(Reading { track, .. }) => {
                let at = sheet.find(current, &track)?;
                (Selected::Counter(at), at, 0)
            }
            None => {
                let slice = &selected.get()?.slice;
                (Selected::Slice(slice.row), sheet.position(current, slice.track)?, slice.lane)
            }
        };
        scene.layout.with(|layout| {
            let row = layout.row_of(at)?;
            let (part, (top_px, height_px)) =
                (layout.part_of(row), row.lane_px(sheet.tracks().get(at)?, lane));
            Some((what, LanePlace { part, top_px: top_px - layout.start_px(part), height_px }))
        })
    });
    Effect::new(move |before: Option<Option<(Selected, f64)>>| {
        let (what, LanePlace { part, top_px, height_px }) = selected.get()?;
        let sight_px = scene.sight.with(|sight| sight.area(part).height_px);
        // Before the first measurement the visible area is empty, so a scroll would be wrong.
        if sight_px <= 0.0 {
            return None;
        }
        let scroll_px = untrack(|| scene.scrolled_px(part));
        let is_in = |sight_px: f64| top_px >= scroll_px && top_px + height_px <= scroll_px + sight_px;
        // Opening a group above must not scroll. A panel that opens over the slice must.
        let to_px = match before.flatten() {
            Some((before, was_px)) if before == what => {
                let is_covered = was_px > sight_px && is_in(was_px) && !is_in(sight_px);
                is_covered.then_some(top_px + 2.0 * height_px - sight_px)
            }
            _ => (!is_in(sight_px)).then_some(top_px - sight_px / 2.0),
        };
        if let (Some(to_px), Some(rows)) = (to_px, parts.scrollers.of(part).get_untracked()) {
            rows.set_scroll_top(to_px as i32);
        }
        Some((what, sight_px))
    });
}

/// The pinned tracks, and the one among them whose rows have not come into sight yet.
type Pinned = (BTreeSet<TrackPath>, Option<TrackPath>);

/// Scrolls to the rows of a track that was just pinned, once they are here. Pinned tracks stand in
/// the order of their paths, so the new one can be out of sight.
pub fn show_new_pin(scene: Scene, parts: TimelineElements) {
    let pins = Memo::new(move |_| scene.view.with(|view| view.tracks.pins.paths.clone()));
    Effect::new(move |before: Option<Pinned>| {
        let pins = pins.get();
        let (before, awaited) = before.unwrap_or_else(|| (pins.clone(), None));
        let new = pins.difference(&before).next().cloned().or(awaited);
        let heading = new.as_ref().map(TrackPath::of_pin);
        let top_px = scene.layout.with(|layout| {
            let tracks = scene.tracks.sheet.get_untracked();
            let heading = heading.as_ref()?;
            let at = tracks.tracks().iter().position(|track| track.path == *heading)?;
            Some(layout.row_of(at)?.top_px)
        });
        if let (Some(top_px), Some(rows)) = (top_px, parts.scrollers.pinned.get_untracked()) {
            // The list gets its height from the same layout.
            let scroll = move || rows.set_scroll_top(top_px as i32);
            leptos::leptos_dom::helpers::request_animation_frame(scroll);
            return (pins, None);
        }
        (pins, new)
    });
}

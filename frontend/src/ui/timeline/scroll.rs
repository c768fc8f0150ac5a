//! The scroll positions of the rows in the view, and so in the address: of the pinned rows and of
//! all others, the first visible track and its first visible lane.

use leptos::prelude::*;
use web_sys::HtmlDivElement;

use super::{Scene, TimelineElements};
use crate::view::Command;
use crate::view::rows::layout::sight::RowPart;
use crate::view::rows::layout::sight::TopRow;
use crate::view::rows::sheet::Sheet;

/// Reports the first visible track of a part when the user scrolls. Scrolls when the view names
/// another place.
///
/// The rows of a link arrive rank by rank, so its place can be below all that is here. The part
/// then scrolls as far as it can, reports nothing, and goes on when more rows have arrived.
pub fn follow(part: RowPart, scene: Scene, parts: TimelineElements, on_command: Callback<Command>) {
    let scrolled_px = Memo::new(move |_| scene.scrolled_px(part));
    // Position of the part after the last scroll that the view asked for or was told of. If the
    // part stands elsewhere, the user has scrolled, and the event is in flight.
    let stands_px = StoredValue::new(0.0);
    Effect::new(move |is_first: Option<()>| {
        let scroll_px = scrolled_px.get();
        // Before the first scroll, the view can name a track to which the rows have not scrolled
        // yet.
        if is_first.is_some() && stands_px.get_value() != scroll_px {
            stands_px.set_value(scroll_px);
            on_command.run(Command::ScrollTo(part, first_in_sight(part, scene, scroll_px)));
        }
    });
    let wanted = Memo::new(move |_| scene.view.with(|view| view.tracks.top_of(part).cloned()));
    Effect::new(move |before: Option<Option<TopRow>>| {
        let wanted = wanted.get();
        let is_new = before.as_ref().is_none_or(|before| *before != wanted);
        // Opening a group above moves all rows. The first visible track stays.
        let current = scene.tracks.current.get_untracked();
        let top_px = scene.layout.with(|layout| match &wanted {
            Some(row) => scene.tracks.sheet.with_untracked(|sheet| {
                let source = row.source.unwrap_or(current);
                let at = sheet.find(source, &row.path)?;
                let found = layout.row_of(at).filter(|row| layout.part_of(row) == part)?;
                Some(found.top_of_lane_px(sheet.tracks().get(at)?, row.lane) - layout.start_px(part))
            }),
            None => (is_new && before.is_some()).then_some(0.0),
        });
        // Before the first measurement nothing scrolls.
        let is_measured = scene.times.tracks_size.with(|size| size.height_px > 0.0);
        let scroll_px = scrolled_px.get_untracked();
        if let (true, Some(top_px), Some(rows)) = (is_measured, top_px, parts.scrollers.of(part).get())
            && (is_new || f64::from(rows.scroll_top()) == stands_px.get_value())
            && untrack(|| first_in_sight(part, scene, scroll_px)) != wanted
        {
            bring(&rows, top_px.ceil() as i32, stands_px);
        }
        wanted
    });
}

/// Scrolls rows. The list can get the height for it in this frame, after this call. It then scrolls
/// on, unless the user has scrolled.
fn bring(rows: &HtmlDivElement, top_px: i32, stands_px: StoredValue<f64>) {
    let scroll = move |rows: &HtmlDivElement| {
        rows.set_scroll_top(top_px);
        stands_px.try_set_value(f64::from(rows.scroll_top()));
        rows.scroll_top()
    };
    let reached_px = scroll(rows);
    if reached_px < top_px {
        let rows = rows.clone();
        request_animation_frame(move || {
            if rows.scroll_top() == reached_px {
                scroll(&rows);
            }
        });
    }
}

/// The first visible track of a part. `None` if nothing is scrolled away.
fn first_in_sight(part: RowPart, scene: Scene, scroll_px: f64) -> Option<TopRow> {
    if scroll_px <= 0.0 {
        return None;
    }
    let (row, row_px) = scene.layout.with_untracked(|layout| {
        let row_px = layout.start_px(part) + scroll_px;
        Some((*layout.row_at(row_px)?, row_px))
    })?;
    scene.tracks.sheet.with_untracked(|sheet| {
        let top = TopRow::of(sheet, row.track)?;
        Some(TopRow { lane: row.lane_at(sheet.tracks().get(row.track)?, row_px), ..top })
    })
}

/// The command that scrolls to the row of a track.
pub fn scroll_to(sheet: &Sheet, at: usize) -> Option<Command> {
    let part = if sheet.tracks().get(at)?.pin.is_some() { RowPart::Pinned } else { RowPart::Others };
    Some(Command::ScrollTo(part, Some(TopRow::of(sheet, at)?)))
}

//! The scroll position of the rows in the view, and so in the address: the first visible track.

use leptos::prelude::*;

use super::{Parts, Scene};
use crate::view::Command;

/// Reports the first visible track when the rows scroll. Scrolls when the view names another track.
pub fn follow(scene: Scene, parts: Parts, on_command: Callback<Command>) {
    Effect::new(move |is_first: Option<()>| {
        let scroll_px = scene.scroll_px.get();
        // Before the first scroll, the view can name a track to which the rows have not scrolled
        // yet.
        if is_first.is_some() {
            on_command.run(Command::ScrollTo(first_in_sight(scene, scroll_px)));
        }
    });
    let wanted = Memo::new(move |_| scene.view.with(|view| view.top));
    Effect::new(move |before: Option<Option<u32>>| {
        let wanted = wanted.get();
        let is_new = before.is_none_or(|before| before != wanted);
        // Opening a group above moves all rows. The first visible track stays.
        let top_px = scene.layout.with(|layout| match wanted {
            Some(track) => scene.rank.with_untracked(|rank| {
                let at = rank.as_ref()?.tracks.iter().position(|of| of.id == track)?;
                Some(layout.row_of(at)?.top_px)
            }),
            None => (is_new && before.is_some()).then_some(0.0),
        });
        // Before the first measurement nothing scrolls.
        let is_measured = scene.size_px.with(|(_, height_px)| *height_px > 0.0);
        let scroll_px = scene.scroll_px.get_untracked();
        if let (true, Some(top_px), Some(rows)) = (is_measured, top_px, parts.rows.get())
            && untrack(|| first_in_sight(scene, scroll_px)) != wanted
        {
            rows.set_scroll_top(top_px.ceil() as i32);
        }
        wanted
    });
}

/// The first visible track. `None` if nothing is scrolled away.
fn first_in_sight(scene: Scene, scroll_px: f64) -> Option<u32> {
    if scroll_px <= 0.0 {
        return None;
    }
    let at = scene.layout.with_untracked(|layout| layout.row_at(scroll_px).map(|row| row.track))?;
    scene.rank.with_untracked(|rank| rank.as_ref()?.tracks.get(at).map(|track| track.id))
}

//! Rows without anything in the window get low, once the window rests. While it moves or anything
//! is held, all rows stay where they are.

use std::collections::BTreeMap;
use std::time::Duration;

use leptos::leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle};
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::tile::Tile;

use super::stage::{Stage, StageHandle};
use crate::fetch::TileNeeds;
use crate::view::rows::occupancy::Occupied;
use crate::view::source_id::SourceId;

/// Length of the window's rest.
const REST: Duration = Duration::from_millis(300);

/// Lets the stage look for empty rows whenever the window has rested. Nothing rests under a pressed
/// button or a finger: rows stay where they are held.
pub fn follow(stage: StageHandle, window: Memo<Interval>) {
    let rest = StoredValue::new(None::<TimeoutHandle>);
    let is_held = StoredValue::new(false);
    let forget = move || {
        rest.try_update_value(Option::take).flatten().iter().for_each(TimeoutHandle::clear);
    };
    let settle = move || {
        stage.with(|stage| stage.is_settled = true);
        stage.invalidate();
    };
    let begin_rest = move || {
        forget();
        stage.with(|stage| stage.is_settled = false);
        if !is_held.get_value() {
            rest.set_value(set_timeout_with_handle(settle, REST).ok());
        }
    };
    let hold = move |now: bool| {
        is_held.set_value(now);
        begin_rest();
    };
    Effect::new(move |_| {
        window.track();
        begin_rest();
    });
    let pressed = window_event_listener(leptos::ev::pointerdown, move |_| hold(true));
    let released = window_event_listener(leptos::ev::pointerup, move |_| hold(false));
    let lost = window_event_listener(leptos::ev::pointercancel, move |_| hold(false));
    on_cleanup(move || {
        forget();
        [pressed, released, lost].into_iter().for_each(|listener| listener.remove());
    });
}

impl Stage {
    /// Facts of the tiles of all tracks about the window, if it has rested, all tiles in sight are
    /// here, and there is anything new to tell.
    pub(super) fn newly_occupied(&mut self, wanted: &TileNeeds) -> Option<Occupied> {
        let cache = self.tiles.cache();
        if !self.is_settled || !cache.has_all(&wanted.shown) {
            return None;
        }
        let looked = (self.shown.window, wanted.shown.clone(), cache.present());
        if self.looked.as_ref() == Some(&looked) {
            return None;
        }
        self.looked = Some(looked);
        let mut in_sight: BTreeMap<(SourceId, u32), Vec<&Tile>> = BTreeMap::new();
        for key in &wanted.shown {
            let tiles = in_sight.entry((key.source, key.tile.group)).or_default();
            tiles.extend(self.tiles.cache().tile(*key).map(|tile| &**tile));
        }
        let mut occupied = Occupied::default();
        for of in self.shown.sheet.sources() {
            let source = of.id;
            let window = self.shown.sheet.axis(source).local_span(self.shown.window);
            for group in &of.rank.groups {
                // Tiles in sight are finer than the overview.
                let tiles = in_sight.remove(&(source, group.id));
                if let Some(tiles) = tiles.or_else(|| self.tiles.overview_of_group(source, group.id)) {
                    occupied.add(of, group.id, window, tiles.into_iter());
                }
            }
        }
        Some(occupied)
    }
}

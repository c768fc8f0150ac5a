//! Follows the size of the tracks.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::ResizeObserver;

use crate::view::Size;

/// Keeps `size` equal to the visible size: the width of `width` and the height of `frame`,
/// without scrollbars.
pub fn follow(frame: NodeRef<Div>, width: NodeRef<Div>, size: RwSignal<Size>) {
    Effect::new(move |_| {
        let (Some(frame), Some(width)) = (frame.get(), width.get()) else { return };
        let measured = {
            let (frame, width) = (frame.clone(), width.clone());
            move || Size::new(width.get_bounding_client_rect().width(), f64::from(frame.client_height()))
        };
        let changed = Closure::<dyn FnMut()>::new(move || {
            let now = measured();
            if size.try_get_untracked().is_some_and(|before| before != now) {
                size.set(now);
            }
        });
        let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) else { return };
        // The first observation reports the current size.
        observer.observe(&frame);
        observer.observe(&width);
        let kept = StoredValue::new_local((observer, changed));
        on_cleanup(move || {
            kept.try_with_value(|(observer, _)| observer.disconnect());
        });
    });
}

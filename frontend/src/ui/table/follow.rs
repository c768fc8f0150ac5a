//! Follows the size of an element.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlDivElement, ResizeObserver};

/// Keeps `height_px` equal to the visible height.
pub fn follow_height(of: NodeRef<Div>, height_px: RwSignal<f64>) {
    follow(of, height_px, |element| f64::from(element.client_height()));
}

/// Keeps `width_px` equal to the visible width.
pub fn follow_width(of: NodeRef<Div>, width_px: RwSignal<f64>) {
    follow(of, width_px, |element| f64::from(element.client_width()));
}

/// Keeps `size_px` equal to what `measure` finds.
fn follow(of: NodeRef<Div>, size_px: RwSignal<f64>, measure: fn(&HtmlDivElement) -> f64) {
    Effect::new(move |_| {
        let Some(element) = of.get() else { return };
        let measured = element.clone();
        let changed = Closure::<dyn FnMut()>::new(move || {
            let now = measure(&measured);
            if size_px.try_get_untracked().is_some_and(|before| before != now) {
                size_px.set(now);
            }
        });
        let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) else { return };
        observer.observe(&element);
        let kept = StoredValue::new_local((observer, changed));
        on_cleanup(move || {
            kept.try_with_value(|(observer, _)| observer.disconnect());
        });
    });
}

//! Held keys: the view moves on from frame to frame until the key is released.

use leptos::leptos_dom::helpers::request_animation_frame;
use leptos::prelude::*;

use super::tiles::now_ms;
use crate::ui::shell::pressed_in;
use crate::view::act::Pressed;
use crate::view::act::keys::Scope;
use crate::view::pointing::glide::Glide;
use crate::view::{Act, Command};

/// The movement of a held key, if one is held.
#[derive(Debug, Clone, Copy)]
struct HeldKey {
    glide: StoredValue<Option<Glide>>,
    on_command: Callback<Command>,
}

/// Listens to the keys that move the view, until the current component goes. The first press is a
/// command like others. A key is held once it repeats: on a slow page, the release of a short press
/// can come late.
pub fn listen(on_command: Callback<Command>) {
    let held = HeldKey { glide: StoredValue::new(None), on_command };
    let pressed = window_event_listener(leptos::ev::keydown, move |event| {
        // A press that did nothing belongs to a field, or to another page.
        let is_held = event.repeat() && event.default_prevented();
        if let Some(act) = gliding(&event).filter(|act| is_held && !held.is(*act)) {
            held.start(act);
        }
    });
    let released = window_event_listener(leptos::ev::keyup, move |event| {
        if gliding(&event).is_some_and(|act| held.is(act)) {
            held.release();
        }
    });
    // The release of a key is not told to a page without the focus.
    let left = window_event_listener(leptos::ev::blur, move |_| held.release());
    on_cleanup(move || {
        pressed.remove();
        released.remove();
        left.remove();
    });
}

/// The moving command of a key.
fn gliding(event: &web_sys::KeyboardEvent) -> Option<Act> {
    match pressed_in(event, Scope::Page, false) {
        Pressed::Row(row) => Some(row.act).filter(|act| act.glides()),
        Pressed::First | Pressed::Nothing => None,
    }
}

impl HeldKey {
    fn is(self, act: Act) -> bool {
        self.glide.try_with_value(|glide| glide.is_some_and(|glide| glide.act() == act)) == Some(true)
    }

    fn start(self, act: Act) {
        let before = self.glide.get_value();
        self.glide.set_value(Some(Glide::new(act, now_ms())));
        if before.is_none() {
            request_animation_frame(move || self.frame());
        }
    }

    fn release(self) {
        self.glide.try_update_value(|glide| glide.iter_mut().for_each(|glide| glide.release(now_ms())));
    }

    fn frame(self) {
        let now_ms = now_ms();
        let step = self.glide.try_update_value(|glide| {
            let command = glide.as_mut()?.frame(now_ms);
            if glide.is_some_and(|glide| glide.is_over(now_ms)) {
                *glide = None;
            }
            command
        });
        // `None` if the timeline is gone.
        let Some(command) = step else { return };
        command.into_iter().for_each(|command| self.on_command.run(command));
        if self.glide.try_with_value(Option::is_some) == Some(true) {
            request_animation_frame(move || self.frame());
        }
    }
}

//! Runs the commands of the page, from keys, the palette and buttons. Each part of the page that is
//! shown registers a [`Handler`] for its own commands.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::view::act::keys::{GO_MS, Held, KeyPress, Scope};
use crate::view::act::{Act, ActRow, Need, Pressed, pressed};
use crate::view::sought::Sought;

/// The commands of a part of the page.
#[derive(Clone, Copy)]
pub struct Handler {
    /// Runs a command. Returns false if it belongs to another part.
    pub run: Callback<Act, bool>,
    /// The needs that are met because of this part.
    pub given: Callback<(), Vec<Need>>,
    /// Finds the places of this part, if it has any, by what the palette seeks.
    pub find: Option<Callback<Sought, Vec<FoundPlace>>>,
}

/// A place that the palette found.
#[derive(Clone)]
pub struct FoundPlace {
    /// The kind in a word, such as `rank`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// Goes there. It outlives the palette, which a callback of the page would not.
    pub go: Arc<dyn Fn() + Send + Sync>,
}

/// All commands. One for the whole page, as a context.
#[derive(Debug, Clone, Copy)]
pub struct Commands {
    /// The registered handlers with their numbers.
    handlers: StoredValue<Vec<(u32, Handler)>>,
    last: StoredValue<u32>,
    /// Time of the first of two keys, in milliseconds.
    going_ms: StoredValue<Option<f64>>,
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handler")
    }
}

impl Commands {
    /// Listens to the keyboard.
    #[must_use]
    pub fn new() -> Self {
        let commands = Self {
            handlers: StoredValue::new(Vec::new()),
            last: StoredValue::new(0),
            going_ms: StoredValue::new(None),
        };
        let keys = window_event_listener(leptos::ev::keydown, move |event| {
            if commands.press(&event) {
                event.prevent_default();
            }
        });
        on_cleanup(move || keys.remove());
        commands
    }

    /// Registers a handler until the current component goes.
    pub fn handle(self, handler: Handler) {
        let number = self.last.get_value() + 1;
        self.last.set_value(number);
        self.handlers.update_value(|handlers| handlers.push((number, handler)));
        on_cleanup(move || {
            self.handlers.try_update_value(|handlers| handlers.retain(|(at, _)| *at != number));
        });
    }

    /// All needs that are met.
    #[must_use]
    pub fn given(self) -> Vec<Need> {
        let handlers = self.handlers.get_value();
        handlers.into_iter().flat_map(|(_, handler)| untrack(|| handler.given.run(()))).collect()
    }

    /// The places of all parts.
    #[must_use]
    pub fn find(self, sought: &Sought) -> Vec<FoundPlace> {
        let handlers = self.handlers.get_value();
        let finders = handlers.into_iter().filter_map(|(_, handler)| handler.find);
        finders.flat_map(|find| untrack(|| find.run(sought.clone()))).collect()
    }

    /// Runs a command if it works now. Returns false if it does not.
    pub fn run(self, row: &ActRow) -> bool {
        row.missing(&self.given()).is_none() && {
            let handlers = self.handlers.get_value();
            handlers.into_iter().rev().any(|(_, handler)| untrack(|| handler.run.run(row.act)))
        }
    }

    /// Returns true if a key press is used up.
    fn press(self, event: &web_sys::KeyboardEvent) -> bool {
        let Some(scope) = scope_of(event) else { return false };
        let now_ms = event.time_stamp();
        let since_ms = self.going_ms.try_update_value(Option::take).flatten();
        let is_going = since_ms.is_some_and(|since_ms| now_ms - since_ms < GO_MS);
        match pressed_in(event, scope, is_going) {
            // The timeline goes on by itself while the key is held.
            Pressed::Row(row) if row.act.glides() && event.repeat() => row.missing(&self.given()).is_none(),
            Pressed::Row(row) => self.run(row),
            Pressed::First => {
                self.going_ms.set_value(Some(now_ms));
                true
            }
            Pressed::Nothing => false,
        }
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self::new()
    }
}

/// Scope of a pressed key. `None` if it belongs to a dialog, or to an element that took it.
fn scope_of(event: &web_sys::KeyboardEvent) -> Option<Scope> {
    if event.default_prevented() {
        return None;
    }
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    // `closest` fails only for an invalid selector.
    let is_in =
        |selector| target.as_ref().is_some_and(|target| matches!(target.closest(selector), Ok(Some(_))));
    match (is_in("dialog"), is_in("input, select, textarea")) {
        (true, _) => None,
        (false, true) => Some(Scope::Field),
        (false, false) => Some(Scope::Page),
    }
}

/// The meaning of a key press in a part of the page.
#[must_use]
pub fn pressed_in(event: &web_sys::KeyboardEvent, scope: Scope, is_going: bool) -> Pressed {
    let (key, code) = (event.key(), event.code());
    let held = Held {
        control: event.ctrl_key(),
        alt: event.alt_key(),
        meta: event.meta_key(),
        shift: event.shift_key(),
    };
    pressed(KeyPress { key: &key, code: &code, held }, scope, is_going)
}

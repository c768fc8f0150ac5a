//! The browser's address bar and history. The state of the page is one value, the [`PagePlace`].
//! The address follows it, and "back" and "forward" set it.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::view::state::trail::{Entry, Trail, TrailPlace};
use crate::view::time::window::Reach;
use crate::view::url::page::{ListView, PagePlace};
use crate::view::url::single_profile::Only;
use crate::view::{Command, History, View};

/// Least time between rewrites of the address. Browsers refuse more than about a hundred in 30 s; a
/// pan makes sixty a second.
const REWRITE_EVERY: Duration = Duration::from_millis(320);

/// The current place of the page. One for the whole page, as a context.
#[derive(Debug, Clone, Copy)]
pub struct Address {
    place: RwSignal<PagePlace>,
    /// The only profile of a page without a server. The place of such a page is in the fragment,
    /// because its path is the path of a file.
    only: StoredValue<Option<Only>>,
    /// The timer of a delayed rewrite.
    rewrite: StoredValue<Option<TimeoutHandle>>,
    /// The entries of the history.
    trail: StoredValue<Trail>,
}

impl Address {
    /// Reads the address bar and listens to "back" and "forward". `only` names the profile of a
    /// page without a server.
    #[must_use]
    pub fn new(only: Option<Only>) -> Self {
        let address = Self {
            place: RwSignal::new(place_of(only.as_ref())),
            only: StoredValue::new(only),
            rewrite: StoredValue::new(None),
            trail: StoredValue::new(Trail::at(entry_place().unwrap_or_default())),
        };
        // The browser tells "back" to this entry by its place.
        if let Ok(history) = window().history() {
            history.replace_state(&address.entry(), "").ok();
        }
        let listener = window_event_listener(leptos::ev::popstate, move |_| {
            address.drop_rewrite();
            address.trail.update_value(|trail| trail.come_to(entry_place()));
            address.place.set(address.only.with_value(|only| place_of(only.as_ref())));
        });
        on_cleanup(move || listener.remove());
        address
    }

    /// The current place.
    #[must_use]
    pub fn place(self) -> Signal<PagePlace> {
        self.place.into()
    }

    /// The link to a place, within this page.
    #[must_use]
    pub fn link(self, place: &PagePlace) -> String {
        self.written(&self.reached(place.clone()).url())
    }

    /// The link to a place with everything that a colleague needs.
    #[must_use]
    pub fn full_link(self, place: &PagePlace) -> String {
        let location = window().location();
        let base = if self.is_in_fragment() {
            let page = location.href().unwrap_or_default();
            page.split('#').next().unwrap_or_default().to_owned()
        } else {
            location.origin().unwrap_or_default()
        };
        base + &self.link(place)
    }

    fn reached(self, place: PagePlace) -> PagePlace {
        self.only.with_value(|only| match only {
            Some(only) => only.reached(place),
            None => place,
        })
    }

    fn is_in_fragment(self) -> bool {
        self.only.with_value(Option::is_some)
    }

    fn written(self, url: &str) -> String {
        if self.is_in_fragment() { format!("#{url}") } else { url.to_owned() }
    }

    /// Opens another page as a new step in the history.
    pub fn open(self, place: PagePlace) {
        let place = self.reached(place);
        self.settle();
        let profiles = |place: &PagePlace| place.view().map(|view| view.profiles.clone());
        let is_other = self.place.with_untracked(profiles) != profiles(&place);
        self.trail.update_value(|trail| {
            trail.rest();
            trail.push(is_other);
        });
        self.push(&self.link(&place));
        self.place.set(place);
    }

    /// Applies a command to the view of an open profile. `segment` is the segment of its row and
    /// track numbers.
    pub fn apply(self, command: &Command, reach: Reach, segment: Option<&str>) {
        let Some(now) = self.place.with_untracked(|place| place.view().cloned()) else { return };
        let next = now.clone().apply(command, reach).numbered_by(segment);
        if next != now {
            self.step(command.history(), next);
        }
    }

    /// Returns true if the open profile had a view before this one.
    #[must_use]
    pub fn can_undo(self) -> bool {
        self.trail.with_value(Trail::can_undo)
    }

    /// Returns true if there was a view after this one.
    #[must_use]
    pub fn can_redo(self) -> bool {
        self.trail.with_value(Trail::can_redo)
    }

    /// Goes back to the view before this one, if it is of the open profile.
    pub fn undo(self) {
        if self.can_undo() {
            self.travel(web_sys::History::back);
        }
    }

    /// Goes forward to the view after this one.
    pub fn redo(self) {
        if self.can_redo() {
            self.travel(web_sys::History::forward);
        }
    }

    fn travel(self, go: fn(&web_sys::History) -> Result<(), JsValue>) {
        self.settle();
        if let Ok(history) = window().history() {
            // Fails only in a page that is being closed.
            go(&history).ok();
        }
    }

    /// Changes the filter or order of the list of profiles.
    pub fn show_list(self, view: ListView) {
        self.rewrite_soon();
        self.place.set(PagePlace::List(view));
    }

    fn step(self, history: History, next: View) {
        let mut trail = self.trail.get_value();
        match trail.step(history, now_ms()) {
            Entry::New => {
                // The current entry is written before another one comes behind it.
                self.settle();
                self.trail.set_value(trail);
                self.push(&self.written(&next.to_string()));
            }
            Entry::Same => {
                self.trail.set_value(trail);
                self.rewrite_soon();
            }
        }
        self.place.set(PagePlace::Profile(next));
    }

    /// Replaces the address by an equivalent view.
    pub fn correct(self, view: &View) {
        self.drop_rewrite();
        self.replace(&self.written(&view.to_string()));
    }

    /// Replaces the current view by another one, without a new step in the history.
    pub fn amend(self, view: View) {
        self.drop_rewrite();
        self.replace(&self.written(&view.to_string()));
        self.place.set(PagePlace::Profile(view));
    }

    fn rewrite_soon(self) {
        if self.rewrite.with_value(Option::is_some) {
            return;
        }
        let write = move || {
            self.rewrite.set_value(None);
            self.place.with_untracked(|place| self.replace(&self.link(place)));
        };
        self.rewrite.set_value(set_timeout_with_handle(write, REWRITE_EVERY).ok());
    }

    /// Writes a delayed rewrite at once, so that "back" returns to it.
    fn settle(self) {
        if self.drop_rewrite() {
            self.place.with_untracked(|place| self.replace(&self.link(place)));
        }
    }

    /// Pushes an address. If the browser refuses (too many steps, a page from a file), only the
    /// address is out of date; the page goes on.
    fn push(self, url: &str) {
        if let Ok(history) = window().history() {
            history.push_state_with_url(&self.entry(), "", Some(url)).ok();
        }
    }

    fn replace(self, url: &str) {
        if let Ok(history) = window().history() {
            history.replace_state_with_url(&self.entry(), "", Some(url)).ok();
        }
    }

    /// The place of the current entry, as the browser keeps it.
    fn entry(self) -> JsValue {
        self.trail.with_value(|trail| JsValue::from_str(&trail.place().to_string()))
    }

    /// Cancels a delayed rewrite. Returns true if there was one.
    fn drop_rewrite(self) -> bool {
        let waiting = self.rewrite.try_update_value(Option::take).flatten();
        waiting.inspect(TimeoutHandle::clear).is_some()
    }
}

fn now_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// The place that the address names.
fn place_of(only: Option<&Only>) -> PagePlace {
    let location = window().location();
    // Fails only in pages that are being closed.
    let Some(only) = only else {
        let url = location.pathname().unwrap_or_default() + &location.search().unwrap_or_default();
        return PagePlace::from_url(&url);
    };
    let hash = location.hash().unwrap_or_default();
    only.place(hash.strip_prefix('#').unwrap_or_default())
}

/// The place of the current entry, if the page gave it one.
fn entry_place() -> Option<TrailPlace> {
    window().history().ok()?.state().ok()?.as_string()?.parse().ok()
}

/// A link to another page of nprof. It opens without reloading the page, and is an ordinary link
/// otherwise (new tab, copy).
#[component]
pub fn Link(
    /// Target of the link.
    place: PagePlace,
    /// CSS class.
    #[prop(default = "")]
    class: &'static str,
    /// Text of the link.
    children: Children,
) -> impl IntoView {
    let address = expect_context::<Address>();
    let url = address.link(&place);
    let open = move |event: web_sys::MouseEvent| {
        let elsewhere = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
        if event.button() == 0 && !elsewhere {
            event.prevent_default();
            address.open(place.clone());
        }
    };
    view! {
        <a class=class href=url on:click=open>
            {children()}
        </a>
    }
}

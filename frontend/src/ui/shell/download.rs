//! The downloads of a profile, as a menu of its page and as a dialog of the list of profiles. The
//! server lists the formats; the page requests the list when menu or dialog opens.
//!
//! In the menu the arrow keys lead from entry to entry. Escape closes the menu and returns to its
//! button.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::ProfileEntry;
use nprof_engine::wire::export::{ExportFormat, ExportList};
use nprof_engine::wire::rank_ref::RankRef;
use wasm_bindgen::JsCast;

use crate::fetch::FetchError;
use crate::fetch::server::{ExportPart, Server};
use crate::ui::controls::{Dialog, Glyph, Icon, If, keeps_focus};

/// Id of the entries, for the button that opens the menu.
const ENTRIES_ID: &str = "downloads";
/// Name of the button.
const LABEL: &str = "Download";

/// The part of a profile that a page shows, for files of just that.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InSight {
    /// The rank, if there are several.
    pub rank: Option<RankRef>,
    /// The address of the view.
    pub view: Option<String>,
    /// The window, if it is a part of the profile.
    pub window: Option<ShownWindow>,
}

/// The window of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownWindow {
    /// Start and end, counted from the profile's first event.
    pub span_ps: (i64, i64),
    /// Its length in words.
    pub duration: String,
    /// The address of the view in a file of this window. Such a file numbers its rows anew.
    pub view: String,
}

/// The button and its menu.
#[component]
pub fn DownloadMenu(
    /// The server that writes the files.
    server: Server,
    /// The profile's name in URLs.
    profile: String,
    /// The part that the page shows.
    shown: Memo<InSight>,
) -> impl IntoView {
    let menu = Menu { is_open: RwSignal::new(false), button: NodeRef::new(), entries: NodeRef::new() };
    let Menu { is_open, button, entries } = menu;
    let (profile, is_window_only) = (StoredValue::new(profile), RwSignal::new(false));
    view! {
        <div
            class="downloads"
            on:keydown=move |event| menu.press(&event)
            on:focusout=move |event| menu.leave(&event)
        >
            <button
                node_ref=button
                class="button button-icon"
                type="button"
                aria-label=LABEL
                title="Download the profile as a file"
                aria-expanded=move || is_open.get().to_string()
                aria-controls=ENTRIES_ID
                on:click=move |event| menu.toggle(&event)
            >
                <Icon glyph=Glyph::Download />
                <span class="bar-label">{LABEL}</span>
            </button>
            <div
                node_ref=entries
                id=ENTRIES_ID
                class="downloads-entries"
                class:is-open=is_open
                role="group"
                aria-label="Formats"
                on:click=move |_| menu.close()
            >
                <If is=move || is_open.get()>
                    <WindowOnly shown is_window_only />
                    <Formats server profile shown is_window_only ranks=1 />
                </If>
            </div>
        </div>
    }
}

/// The button with its entries.
#[derive(Clone, Copy)]
struct Menu {
    is_open: RwSignal<bool>,
    button: NodeRef<html::Button>,
    entries: NodeRef<html::Div>,
}

impl Menu {
    fn close(self) {
        self.is_open.set(false);
        if let Some(button) = self.button.get_untracked() {
            button.focus().ok();
        }
    }

    fn press(self, event: &web_sys::KeyboardEvent) {
        if !self.is_open.get_untracked() {
            return;
        }
        match event.key().as_str() {
            "Escape" => self.close(),
            "ArrowDown" => move_focus(self.entries.get_untracked().as_deref(), 1),
            "ArrowUp" => move_focus(self.entries.get_untracked().as_deref(), -1),
            _ => return,
        }
        // The page has keys of its own, and the menu around this one closes by Escape, too.
        event.prevent_default();
        event.stop_propagation();
    }

    fn leave(self, event: &web_sys::FocusEvent) {
        if !keeps_focus(event) {
            self.is_open.set(false);
        }
    }

    fn toggle(self, event: &web_sys::MouseEvent) {
        // Another click would close the menu around this one on a narrow screen.
        event.stop_propagation();
        self.is_open.update(|open| *open = !*open);
    }
}

/// A dialog with the downloads of a profile in the list.
#[component]
pub fn DownloadDialog(
    /// The profile. `None` while the dialog is closed.
    of: RwSignal<Option<ProfileEntry>>,
    /// The server that writes the files.
    server: Server,
) -> impl IntoView {
    let title = Signal::derive(move || match &*of.read() {
        Some(profile) => format!("Download {}", profile.display_name),
        None => String::new(),
    });
    let (shown, is_window_only) = (Memo::new(|_| InSight::default()), RwSignal::new(false));
    let formats = move || {
        let of = of.read();
        let profile = of.as_ref().map(|profile| (StoredValue::new(profile.slug.clone()), profile.ranks));
        profile.map(|(profile, ranks)| view! { <Formats server profile shown is_window_only ranks /> })
    };
    view! {
        <Dialog open=Signal::derive(move || of.read().is_some()) on_close=move |()| of.set(None) title>
            <div class="downloads-list" on:click=move |_| of.set(None)>
                {formats}
            </div>
        </Dialog>
    }
}

/// The choice between the whole profile and the window of the page.
#[component]
fn WindowOnly(shown: Memo<InSight>, is_window_only: RwSignal<bool>) -> impl IntoView {
    let choice = move |window: ShownWindow| {
        view! {
            // The click stays here: one on the menu closes it.
            <label class="downloads-window" on:click=move |event| event.stop_propagation()>
                <input
                    type="checkbox"
                    prop:checked=is_window_only
                    on:change=move |event| is_window_only.set(event_target_checked(&event))
                />
                <span>
                    "Of this window only" <span class="muted">{format!(" · {}", window.duration)}</span>
                </span>
            </label>
        }
    };
    move || shown.with(|shown| shown.window.clone()).map(choice)
}

/// A link for each format. Files of one rank are left out if the links are about several `ranks`,
/// or if the page shows what all ranks have in common.
#[component]
fn Formats(
    server: Server,
    profile: StoredValue<String>,
    shown: Memo<InSight>,
    is_window_only: RwSignal<bool>,
    ranks: u32,
) -> impl IntoView {
    let formats = RwSignal::new(None::<Result<ExportList, FetchError>>);
    // The page of another place may be open when the answer comes.
    spawn_local(async move { drop(formats.try_set(Some(server.exports().await))) });
    move || match formats.get() {
        None => view! { <p class="downloads-note">"Loading …"</p> }.into_any(),
        Some(Err(error)) => view! { <p class="downloads-note">{error.to_string()}</p> }.into_any(),
        Some(Ok(list)) => {
            let is_of_ranks = ranks > 1 || shown.with(|shown| shown.rank.is_some_and(RankRef::is_all));
            let fits = |format: &ExportFormat| !is_of_ranks || !format.is_per_rank;
            let entry = |format| view! { <Entry format profile shown is_window_only /> };
            list.formats.into_iter().filter(fits).map(entry).collect_view().into_any()
        }
    }
}

/// A link that downloads the profile in one format.
#[component]
fn Entry(
    format: ExportFormat,
    profile: StoredValue<String>,
    shown: Memo<InSight>,
    is_window_only: RwSignal<bool>,
) -> impl IntoView {
    let ExportFormat { key, title, doc, is_per_rank, has_view, .. } = format;
    let part = Memo::new(move |_| {
        let InSight { rank, view, window } = shown.get();
        let window = window.filter(|_| is_window_only.get());
        let view = window.as_ref().map_or(view, |window| Some(window.view.clone()));
        ExportPart {
            rank: rank.and_then(RankRef::number).filter(|_| is_per_rank),
            span_ps: window.map(|window| window.span_ps),
            view: view.filter(|_| has_view),
        }
    });
    let href = move || profile.with_value(|profile| Server::export_path(profile, &key, &part.get()));
    // The texts of the command line mark code.
    let doc = doc.replace('`', "");
    let what = move || {
        part.with(|part| {
            let of_rank = part.rank.map_or_else(String::new, |rank| format!(" of rank {rank}"));
            let of = match (part.span_ps.is_some(), part.view.is_some()) {
                (true, _) => " of this window only",
                (false, true) => " of this view",
                (false, false) => "",
            };
            format!("{of_rank}{of}")
        })
    };
    view! {
        <a class="downloads-entry" href=href download="">
            <span>{title}{what}</span>
            <small class="muted">{doc}</small>
        </a>
    }
}

/// Moves the focus to the next entry, or by -1 to the previous one. The first follows the last.
fn move_focus(entries: Option<&web_sys::HtmlElement>, step: i32) {
    let Some(entries) = entries else { return };
    let Ok(links) = entries.query_selector_all("a") else { return };
    let count = i32::try_from(links.length()).unwrap_or(i32::MAX);
    if count == 0 {
        return;
    }
    let focused = document().active_element();
    let link_at = |at: i32| u32::try_from(at).ok().and_then(|at| links.get(at));
    let current = (0..count).find(|&at| {
        link_at(at)
            .is_some_and(|link| focused.as_ref().is_some_and(|focused| link.is_same_node(Some(focused))))
    });
    let next = match current {
        Some(at) => (at + step).rem_euclid(count),
        None if step > 0 => 0,
        None => count - 1,
    };
    if let Some(link) = link_at(next).and_then(|link| link.dyn_into::<web_sys::HtmlElement>().ok()) {
        link.focus().ok();
    }
}

//! The list of ranks: a field for a number, and below it the ranks with a strip that shows how late
//! each was. Only the rows in sight are in the page, so it serves thousands of ranks.

use std::sync::Arc;

use leptos::html::{Div, Input};
use leptos::prelude::*;
use nprof_engine::base::narrow;
use nprof_engine::wire::rank_ref::RankRef;
use wasm_bindgen::JsCast;

use super::rank_choice::toggle_beside;
use crate::ui::controls::{Glyph, Icon, If, RankOrderMenu, RankTime, keeps_focus, keyed, scrolled_px};
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::follow_height;
use crate::ui::text::format;
use crate::view::ranks::rank_list::listed;
use crate::view::ranks::standing::RankOrder;
use crate::view::source_id::SourceId;
use crate::view::source_id::rank_label;
use crate::view::table::{Scroller, Sight};
use crate::view::{Act, Command};

/// Height of a row in CSS pixels; the style sheet has the same.
const ROW_PX: f64 = 28.0;
/// Height of the rows in sight before it is measured, in CSS pixels.
const FIRST_SIGHT_PX: f64 = 384.0;
const LIST_ID: &str = "rank-list";
/// Id of the field, to which a key leads.
const FIELD_ID: &str = "rank-field";

/// Moves the focus to the field, which opens the list. Returns false if there is none.
pub fn find_rank() -> bool {
    let field = document().get_element_by_id(FIELD_ID);
    let field = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok());
    field.is_some_and(|field| field.focus().is_ok())
}

/// State of the list.
#[derive(Clone, Copy)]
struct Finder {
    opened: Opened,
    typed: RwSignal<String>,
    is_open: RwSignal<bool>,
    /// The listed ranks, in order.
    found: Memo<Arc<Vec<u32>>>,
    /// The place that the keys have reached.
    at: RwSignal<u32>,
    order: Memo<RankOrder>,
    field: NodeRef<Input>,
    scrolled: NodeRef<Div>,
    scroller: Memo<Scroller>,
}

impl Finder {
    fn new(opened: Opened, ranks: Memo<Vec<RankRef>>, sight_px: RwSignal<f64>) -> Self {
        let (typed, is_open) = (RwSignal::new(String::new()), RwSignal::new(false));
        let order = Memo::new(move |_| opened.session.view.with(|view| view.tracks.order));
        let found = Memo::new(move |_| {
            let standings = opened.profile.rank_times.known.get();
            Arc::new(ranks.with(|ranks| typed.with(|typed| listed(ranks, typed, &standings, order.get()))))
        });
        let scroller = Memo::new(move |_| Scroller {
            rows: found.with(|found| narrow(found.len())),
            row_px: ROW_PX,
            sight_px: sight_px.get(),
        });
        let (field, scrolled, at) = (NodeRef::new(), NodeRef::new(), RwSignal::new(0));
        Self { opened, typed, is_open, found, at, order, field, scrolled, scroller }
    }

    /// Opens the list at the current rank.
    fn open(self) {
        if self.is_open.get_untracked() {
            return;
        }
        self.opened.profile.rank_times.show();
        self.is_open.set(true);
        let current = self.opened.current.source.get_untracked().and_then(|source| source.rank.number());
        let at = self.found.with_untracked(|found| found.iter().position(|rank| Some(*rank) == current));
        self.at.set(at.and_then(|at| u32::try_from(at).ok()).unwrap_or_default());
        // The list is in the page after this frame. A key may have moved the place until then.
        request_animation_frame(move || self.at.try_get_untracked().into_iter().for_each(|at| self.go(at)));
    }

    fn close(self) {
        self.is_open.set(false);
        self.typed.set(String::new());
    }

    fn go(self, at: u32) {
        let scroller = self.scroller.get_untracked();
        self.at.set(at.min(scroller.rows.saturating_sub(1)));
        if let Some(list) = self.scrolled.get_untracked() {
            list.set_scroll_top(scroller.revealing(f64::from(list.scroll_top()), at).ceil() as i32);
        }
    }

    fn choose(self, rank: u32) {
        self.close();
        if let Some(field) = self.field.get_untracked() {
            // Fails only if the element is not in the page.
            field.blur().ok();
        }
        self.opened.act(&Command::OpenRank(SourceId::of_first(rank)));
    }

    fn typed(self, text: String) {
        self.open();
        self.typed.set(text);
        self.go(0);
    }

    fn press(self, event: &web_sys::KeyboardEvent) {
        let scroller = self.scroller.get_untracked();
        let (at, last) = (self.at.get_untracked(), scroller.rows.saturating_sub(1));
        let next = match event.key().as_str() {
            "ArrowDown" if self.is_open.get_untracked() => at.saturating_add(1).min(last),
            "ArrowDown" => return self.open(),
            "ArrowUp" => at.saturating_sub(1),
            "PageDown" => at.saturating_add(scroller.page()).min(last),
            "PageUp" => at.saturating_sub(scroller.page()),
            "Enter" => {
                let rank = self.found.with_untracked(|found| found.get(at as usize).copied());
                rank.into_iter().for_each(|rank| self.choose(rank));
                return event.prevent_default();
            }
            "Escape" => {
                self.close();
                return event.stop_propagation();
            }
            _ => return,
        };
        event.prevent_default();
        self.go(next);
    }
}

/// The field with its list.
#[component]
pub fn RankFinder(
    /// The opened profile.
    opened: Opened,
    /// All ranks.
    ranks: Memo<Vec<RankRef>>,
) -> impl IntoView {
    let sight_px = RwSignal::new(FIRST_SIGHT_PX);
    let finder = Finder::new(opened, ranks, sight_px);
    let leave = move |event: web_sys::FocusEvent| {
        if !keeps_focus(&event) {
            finder.close();
        }
    };
    let is_open = finder.is_open;
    view! {
        <div class="rank-finder" on:focusout=leave>
            <label class="field">
                <span class="unseen">"Go to the rank with this number"</span>
                <input
                    id=FIELD_ID
                    node_ref=finder.field
                    type="text"
                    inputmode="numeric"
                    autocomplete="off"
                    role="combobox"
                    title=Act::FindRank.titled("Find a rank")
                    placeholder="Go to rank"
                    aria-expanded=move || is_open.get().to_string()
                    aria-controls=LIST_ID
                    aria-autocomplete="list"
                    aria-activedescendant=move || is_open.get().then(|| option_id(finder.at.get()))
                    prop:value=finder.typed
                    on:focus=move |_| finder.open()
                    on:click=move |_| finder.open()
                    on:input=move |event| finder.typed(event_target_value(&event))
                    on:keydown=move |event| finder.press(&event)
                />
                <Icon glyph=Glyph::Down />
            </label>
            <If is=move || is_open.get()>
                <RankList finder sight_px />
            </If>
        </div>
    }
}

fn option_id(at: u32) -> String {
    format!("rank-option-{at}")
}

/// The list below the field.
#[component]
fn RankList(finder: Finder, sight_px: RwSignal<f64>) -> impl IntoView {
    let scroll_px = RwSignal::new(0.0);
    follow_height(finder.scrolled, sight_px);
    let known = finder.opened.profile.rank_times.known;
    let quantity = move || known.with(|known| known.is_known()).then(|| finder.order.get().quantity());
    let none = move || {
        let typed = finder.typed.get();
        finder.found.with(|found| found.is_empty()).then(|| format!("There is no rank “{}”.", typed.trim()))
    };
    let sort = Callback::new(move |order| {
        finder.opened.act(&Command::SortRanks(order));
        finder.go(0);
    });
    let scrolled = move |event| scrolled_px(&event).into_iter().for_each(|now_px| scroll_px.set(now_px));
    let height = move || format!("{:.0}px", finder.scroller.get().height_px());
    view! {
        <div class="rank-list">
            <div class="rank-list-head">
                <RankOrderMenu order=finder.order known on_choose=sort />
                <span class="muted">{quantity}</span>
            </div>
            <p class="rank-list-none muted" role="status">{none}</p>
            <div
                id=LIST_ID
                class="rank-list-rows"
                role="listbox"
                aria-label="Ranks"
                tabindex="-1"
                node_ref=finder.scrolled
                on:scroll=scrolled
            >
                <div role="presentation" style:height=height>
                    <RankRows finder scroll_px />
                </div>
            </div>
        </div>
    }
}

/// A row of the list.
#[derive(Clone)]
struct RankRow {
    place: u32,
    rank: u32,
    top_px: f64,
    host: Option<String>,
    time: Option<(i64, f64)>,
}

/// The rows in sight.
#[component]
fn RankRows(finder: Finder, scroll_px: RwSignal<f64>) -> impl IntoView {
    let known = finder.opened.profile.rank_times.known;
    let rows = move || {
        let Sight { first, end, top_px } = finder.scroller.get().sight(scroll_px.get());
        let (found, known, order) = (finder.found.get(), known.get(), finder.order.get());
        let row = |(at, rank): (u32, &u32)| RankRow {
            place: first + at,
            rank: *rank,
            top_px: top_px + f64::from(at) * ROW_PX,
            host: known.host(*rank).filter(|_| known.has_hosts()).map(str::to_owned),
            time: known.time_ps(*rank, order).map(|time_ps| (time_ps, known.share(*rank, order))),
        };
        (0..).zip(found.get(first as usize..end as usize).unwrap_or_default()).map(row).collect()
    };
    let key = |row: &RankRow| format!("{} {} {:.0} {:?}", row.place, row.rank, row.top_px, row.time);
    keyed(rows, key, move |row| view! { <RankOption finder row /> }.into_any())
}

#[component]
fn RankOption(finder: Finder, row: RankRow) -> impl IntoView {
    let RankRow { place, rank, top_px, host, time } = row;
    let opened = finder.opened;
    let count = move || finder.found.with(|found| found.len().to_string());
    let click = move |event: web_sys::MouseEvent| match event.ctrl_key() || event.meta_key() {
        true => toggle_beside(opened, rank.into()),
        false => finder.choose(rank),
    };
    let spoken =
        time.map(|(ps, _)| format!(", {} {}", finder.order.get_untracked().quantity(), format::duration(ps)));
    let on_host = host.as_ref().map(|host| format!(" on {host}"));
    view! {
        <div
            id=option_id(place)
            class="rank-option"
            class:is-open=move || opened.current.source.get().is_some_and(|source| source.rank == rank.into())
            role="option"
            aria-label=format!("{}{}{}", rank_label(rank.into()), on_host.unwrap_or_default(), spoken.unwrap_or_default())
            aria-selected=move || (finder.at.get() == place).to_string()
            aria-setsize=count
            aria-posinset=(place + 1).to_string()
            style:top=format!("{top_px:.2}px")
            // The field keeps the focus.
            on:mousedown=move |event| event.prevent_default()
            on:click=click
        >
            <span class="rank-name">{rank_label(rank.into())}</span>
            {host.map(|host| view! { <span class="rank-host">{host}</span> })}
            {time.map(|(time_ps, share)| view! { <RankTime time_ps share /> })}
        </div>
    }
}

//! The menu of the orders of ranks, and the strip that shows the time of a rank.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::text::format;
use crate::view::ranks::standing::{RankOrder, Standings};

/// The menu. The rows of ranks and the list of ranks share their order.
#[component]
pub fn RankOrderMenu(
    /// The current order.
    #[prop(into)]
    order: Signal<RankOrder>,
    /// Known facts of the ranks. Ranks of one host have no order by host.
    known: Memo<Arc<Standings>>,
    /// Called with the chosen order.
    on_choose: Callback<RankOrder>,
) -> impl IntoView {
    let option = move |one: RankOrder| {
        view! {
            <option value=one.name() prop:selected=move || order.get() == one>
                {one.words()}
            </option>
        }
    };
    let has_hosts = Memo::new(move |_| known.with(|known| known.has_hosts()));
    let is_offered = move |one: &RankOrder| *one != RankOrder::Host || has_hosts.get() || order.get() == *one;
    let options = move || RankOrder::ALL.into_iter().filter(is_offered).map(option).collect_view();
    let choose = move |event| {
        RankOrder::from_name(&event_target_value(&event)).into_iter().for_each(|order| on_choose.run(order));
    };
    view! {
        <select class="select rank-order" aria-label="Order of the ranks" on:change=choose>
            {options}
        </select>
    }
}

/// A time of a rank with a bar: as long as its share of the longest time of all ranks.
#[component]
pub fn RankTime(
    /// The time in picoseconds.
    time_ps: i64,
    /// Share of the longest time.
    share: f64,
) -> impl IntoView {
    view! {
        <span class="rank-strip" aria-hidden="true">
            <span style:width=format!("{:.1}%", share * 100.0)></span>
        </span>
        <span class="rank-time">{format::duration(time_ps)}</span>
    }
}

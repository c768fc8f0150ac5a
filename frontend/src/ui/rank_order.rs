//! The menu of the orders of ranks, and the strip that shows the time of a rank.

use leptos::prelude::*;

use super::format;
use crate::view::standing::RankOrder;

/// The menu. The rows of ranks and the list of ranks share their order.
#[component]
pub fn RankOrderMenu(
    /// The current order.
    #[prop(into)]
    order: Signal<RankOrder>,
    /// Called with the chosen order.
    on_choose: Callback<RankOrder>,
) -> impl IntoView {
    let option = |one: RankOrder| {
        view! {
            <option value=one.name() prop:selected=move || order.get() == one>
                {one.words()}
            </option>
        }
    };
    let choose = move |event| {
        RankOrder::from_name(&event_target_value(&event)).into_iter().for_each(|order| on_choose.run(order));
    };
    view! {
        <select class="select rank-order" aria-label="Order of the ranks" on:change=choose>
            {RankOrder::ALL.map(option).collect_view()}
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

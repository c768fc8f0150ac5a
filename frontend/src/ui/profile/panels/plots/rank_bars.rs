//! The times of all ranks as bars: upwards how long others waited for a rank, downwards how long it
//! waited. A click opens the rank in the operation in which others waited longest for it.

use std::fmt::Write as _;

use leptos::html::Div;
use leptos::prelude::*;
use nprof_engine::makers::job::schema::RANKS;

use crate::ui::controls::RankOrderMenu;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::ranks::standing::{RankOrder, Standings};
use crate::view::source_id::rank_label;
use crate::view::{Command, DataChange};

/// The heading.
pub const TITLE: &str = "By rank";
/// The plot's id, to which the list of plots leads.
pub const ID: &str = "plot-by-rank";

/// The bars with their tools.
#[component]
pub fn RankBars(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let order = Memo::new(move |_| opened.session.view.with(|view| view.tracks.order));
    let ranks = Memo::new(move |_| {
        let mut ranks: Vec<u32> = opened.profile.info.with(|answer| match answer {
            Some(Ok(profile)) => profile.ranks.iter().filter_map(|rank| rank.rank.number()).collect(),
            _ => Vec::new(),
        });
        opened.profile.rank_times.known.with(|known| known.sort(&mut ranks, order.get()));
        ranks
    });
    let (node, pointed) = (NodeRef::<Div>::new(), RwSignal::new(None::<u32>));
    let at = move |event: &web_sys::MouseEvent| {
        let width_px = f64::from(node.get_untracked()?.client_width()).max(1.0);
        let share = (f64::from(event.offset_x()) / width_px).clamp(0.0, 1.0);
        ranks.with_untracked(|ranks| ranks.get((share * ranks.len() as f64) as usize).copied())
    };
    let said = move || match pointed.get() {
        Some(rank) => opened.profile.rank_times.known.with(|known| said(known, rank)),
        None => "Above: how long others waited for a rank. Below: how long it waited.".to_owned(),
    };
    let bars = move || {
        let known = opened.profile.rank_times.known.get();
        let ranks = ranks.get();
        let path = |order| path(&known, &ranks, order);
        view! {
            <svg viewBox=format!("0 -1 {} 2", ranks.len().max(1)) preserveAspectRatio="none" aria-hidden="true">
                <path class="plot-late" d=path(RankOrder::Late) />
                <path class="plot-wait" d=path(RankOrder::Wait) transform="scale(1 -1)" />
            </svg>
        }
    };
    let sort = Callback::new(move |order| opened.act(&Command::SortRanks(order)));
    let table = move |_| opened.act(&Command::Data(DataChange::Open(RANKS.name.to_owned())));
    view! {
        <section class="plot" id=ID aria-label="Waiting by rank">
            <div class="plot-head">
                <h2>{TITLE}</h2>
                <RankOrderMenu order known=opened.profile.rank_times.known on_choose=sort />
                <span class="muted">{said}</span>
                <button class="button-link plot-table-link" type="button" on:click=table>"Table"</button>
            </div>
            <div
                class="plot-ranks"
                node_ref=node
                on:pointermove=move |event| pointed.set(at(&event))
                on:pointerleave=move |_| pointed.set(None)
                on:click=move |event| at(&event).into_iter().for_each(|rank| opened.reveal_worst(rank))
            >
                {bars}
            </div>
        </section>
    }
}

/// The bars of all ranks as one path, from 0 upwards to −1.
fn path(known: &Standings, ranks: &[u32], order: RankOrder) -> String {
    let most_ps = known.most_ps().max(1) as f64;
    let mut path = String::new();
    for (at, rank) in ranks.iter().enumerate() {
        let share = known.time_ps(*rank, order).unwrap_or_default().max(0) as f64 / most_ps;
        // A text takes everything.
        write!(path, "M{at} 0V{:.4}h.85V0", -share).ok();
    }
    path
}

fn said(known: &Standings, rank: u32) -> String {
    let time = |order: RankOrder| {
        let time_ps = known.time_ps(rank, order).unwrap_or_default();
        format!("{} {}", order.quantity(), format::duration(time_ps))
    };
    format!("{}: {}, {}", rank_label(rank.into()), time(RankOrder::Late), time(RankOrder::Wait))
}

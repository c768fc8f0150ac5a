//! The hits of a search in each rank, while all ranks together are shown: how many and when. A rank
//! opens with the same search.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::wire::questions::{SearchQuestion, Toward};
use web_sys::AbortSignal;

use crate::fetch::FetchError;
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::search::Search;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::source_id::{SourceId, rank_label};
use crate::view::summary::lit_place::density_path;
use crate::view::time::window::widest;

/// Parts of the time in which hits are counted.
const CELLS: u32 = 256;

/// A search in all ranks.
#[derive(Clone, PartialEq)]
struct RankSearch {
    ranks: Vec<SourceId>,
    text: String,
    syntax: Syntax,
    span: Interval,
}

/// The hits of a rank.
#[derive(Debug, Clone, PartialEq)]
struct RankHits {
    source: SourceId,
    total: u64,
    /// Their number in each part of the time.
    density: Vec<u32>,
}

/// The hits of each rank that has any. Nothing for a single rank.
#[component]
pub(super) fn RankHitsList(
    /// The search.
    search: Search,
) -> impl IntoView {
    let opened = search.opened;
    let question = Memo::new(move |_| {
        let all = opened.current.source.get().filter(|source| source.rank.is_all())?;
        let (text, syntax) = opened.session.view.with(|view| (view.search.query.clone(), view.search.syntax));
        let ranks = opened.profile.info.with(|answer| {
            let info = answer.as_ref()?.as_ref().ok()?;
            Some(info.ranks.iter().map(|entry| entry.rank).filter(|rank| !rank.is_all()).collect::<Vec<_>>())
        })?;
        let ranks = ranks.into_iter().map(|rank| all.sibling(rank)).collect();
        let span = widest(opened.times.whole.get());
        Some(RankSearch { ranks, text, syntax, span }).filter(|asked| !asked.text.is_empty())
    });
    let asked = QuestionAnswers::new(question, move |of, cancel| hits_of_ranks(opened, of, cancel));
    move || {
        let wanted = question.get()?;
        let answer = asked.last.get().filter(|(of, _)| of.text == wanted.text && of.syntax == wanted.syntax);
        Some(match answer.map(|(_, answer)| answer) {
            None => view! { <Loading what="Searching all ranks …" /> }.into_any(),
            // The box shows a mistake.
            Some(Err(_)) if search.mistake().is_some() => ().into_any(),
            Some(Err(error)) => {
                let reason = error.to_string();
                view! { <Failure title="The ranks were not searched" reason on_retry=asked.retry /> }
                    .into_any()
            }
            Some(Ok(found)) => view! { <FoundRanks opened found count=wanted.ranks.len() /> }.into_any(),
        })
    }
}

/// The hits of all ranks that have any. A query can mean something on some ranks alone.
async fn hits_of_ranks(
    opened: Opened,
    of: RankSearch,
    cancel: AbortSignal,
) -> Result<Vec<RankHits>, FetchError> {
    let RankSearch { ranks, text, syntax, span } = of;
    let zero_ps = opened.times.zero.get_untracked().0;
    let (mut found, mut failure, mut answers) = (Vec::new(), None, 0_u32);
    for source in ranks {
        let (at, toward, text) = (HitPlace::FIRST, Toward::Next, text.clone());
        let search =
            SearchQuestion { text, syntax, zero_ps, at, toward, limit: 0, cells: CELLS, span: Some(span) };
        match opened.ask(source, search, Some(&cancel)).await {
            Ok(answer) => {
                answers += 1;
                let hits = RankHits { source, total: answer.total, density: answer.density };
                found.extend((hits.total > 0).then_some(hits));
            }
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if answers == 0 => Err(error),
        _ => Ok(found),
    }
}

#[component]
fn FoundRanks(opened: Opened, found: Arc<Vec<RankHits>>, count: usize) -> impl IntoView {
    let total = found.iter().map(|of| of.total).sum();
    let ranks = format::counted(count as u64, "rank", "ranks");
    let words = match found.len() {
        0 => format!("None of {ranks} has such slices of its own."),
        some => format!(
            "{} in {} of {ranks}. A rank opens with this search.",
            format::counted(total, "hit", "hits"),
            format::count(some as u64)
        ),
    };
    let rows = found.iter().cloned().map(|of| view! { <RankRow opened of /> }).collect_view();
    view! {
        <section class="rank-hits" aria-label="Hits by rank">
            <p class="muted">{words}</p>
            <ul>{rows}</ul>
        </section>
    }
}

/// A rank with its number of hits, and when they are. Each picture has its own height, because a
/// rank with few hits shows when they are, too.
#[component]
fn RankRow(opened: Opened, of: RankHits) -> impl IntoView {
    let RankHits { source, total, density } = of;
    view! {
        <li>
            <button
                type="button"
                class="rank-hits-row"
                on:click=move |_| opened.act(&Command::OpenRank(source))
            >
                <span>{rank_label(source.rank)}</span>
                <span class="number">{format::counted(total, "hit", "hits")}</span>
                <svg viewBox=format!("0 0 {CELLS} 1") preserveAspectRatio="none" aria-hidden="true">
                    <path d=density_path(&density)></path>
                </svg>
            </button>
        </li>
    }
}

//! The tiles of the shown rank: plans requests, sends them and takes the answers.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::window;
use leptos::task::spawn_local;
use nprof_engine::tile::TileId;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::tile::Tile;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::cache::TileCache;
use crate::fetch::decode::PackedTile;
use crate::fetch::wanted::{Wanted, overview};
use crate::fetch::{FetchError, RankSource};
use crate::view::layout::Row;
use crate::view::{Layout, TimeScale};

/// Size limit of the decoded tiles.
const CACHE_BYTES: usize = 192 << 20;

/// The tiles of one rank.
#[derive(Debug)]
pub struct Tiles {
    cache: TileCache,
    under_way: HashMap<TileId, AbortController>,
    /// Answers that have not been unpacked yet.
    inbox: VecDeque<(TileId, Result<PackedTile, FetchError>)>,
    shown: Option<ShownRank>,
    overview: Vec<TileId>,
    /// Counts the shown ranks. Answers for an earlier rank are dropped.
    generation: u64,
    /// Time of the scheduled retry.
    retry_at_ms: Option<f64>,
}

/// The shown rank and the source of its tiles.
#[derive(Debug, Clone)]
struct ShownRank {
    source: RankSource,
    rank: Arc<RankDetail>,
}

/// Requests to send, and the time to plan again.
#[derive(Debug, Default)]
pub struct Orders {
    /// Requests, most urgent first.
    pub start: Vec<Order>,
    /// Time until failed requests are due.
    pub retry_in_ms: Option<u64>,
}

/// One request to send.
#[derive(Debug)]
pub struct Order {
    id: TileId,
    generation: u64,
    of: ShownRank,
    cancel: AbortSignal,
}

impl Order {
    /// Sends the request. `arrived` takes the answer.
    pub fn send(self, arrived: impl FnOnce(TileId, u64, Result<PackedTile, FetchError>) + 'static) {
        spawn_local(async move {
            let ShownRank { source, rank } = self.of;
            let answer = source.tile(rank.entry.content.clone(), self.id, &self.cancel).await;
            arrived(self.id, self.generation, answer);
        });
    }
}

impl Default for Tiles {
    fn default() -> Self {
        Self {
            cache: TileCache::new(CACHE_BYTES),
            under_way: HashMap::new(),
            inbox: VecDeque::new(),
            shown: None,
            overview: Vec::new(),
            generation: 0,
            retry_at_ms: None,
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        self.under_way.values().for_each(AbortController::abort);
    }
}

impl Tiles {
    /// Shows another rank. All tiles of the previous one are dropped.
    pub fn open(&mut self, source: Option<RankSource>, rank: Option<Arc<RankDetail>>) {
        let generation = self.generation + 1;
        let mut fresh = Self::default();
        fresh.generation = generation;
        fresh.overview = rank.as_deref().map(overview).unwrap_or_default();
        fresh.shown = source.zip(rank).map(|(source, rank)| ShownRank { source, rank });
        *self = fresh;
    }

    /// The cache of tiles.
    #[must_use]
    pub fn cache(&self) -> &TileCache {
        &self.cache
    }

    /// The present tiles of the overview.
    pub fn overview(&self) -> impl Iterator<Item = &Rc<Tile>> + Clone {
        self.overview.iter().filter_map(|id| self.cache.tile(*id))
    }

    /// Tiles dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<TileId> {
        self.cache.take_dropped()
    }

    /// The tiles that a frame needs, and the requests to send for it.
    pub fn plan(&mut self, layout: &Layout, rows: &[Row], scale: &TimeScale, ratio: f64) -> (Wanted, Orders) {
        let Some(shown) = self.shown.clone() else { return (Wanted::default(), Orders::default()) };
        let wanted = Wanted::new(&shown.rank, layout, rows, scale, ratio);
        // Until the rest arrives, the overview of the visible groups is shown in its place, so it
        // comes first. Tiles ahead come after all others.
        let is_first = |id: &TileId| wanted.shown.iter().any(|shown| shown.group == id.group);
        let (mut ids, elsewhere): (Vec<_>, Vec<_>) = self.overview.iter().copied().partition(is_first);
        ids.extend(&wanted.shown);
        ids.extend(elsewhere);
        if self.cache.has_all(&ids) {
            ids.extend(&wanted.ahead);
        }
        let now_ms = now_ms();
        let plan = self.cache.plan(&ids, now_ms);
        for id in plan.cancel {
            if let Some(request) = self.under_way.remove(&id) {
                request.abort();
            }
        }
        let mut orders = Orders::default();
        for id in plan.start {
            let Ok(request) = AbortController::new() else { continue };
            let cancel = request.signal();
            orders.start.push(Order { id, generation: self.generation, of: shown.clone(), cancel });
            self.under_way.insert(id, request);
        }
        if plan.retry_at_ms != self.retry_at_ms {
            self.retry_at_ms = plan.retry_at_ms;
            // Add a millisecond: timers are rounded down.
            orders.retry_in_ms = plan.retry_at_ms.map(|at| (at - now_ms).max(0.0).ceil() as u64 + 1);
        }
        (wanted, orders)
    }

    /// Takes an answer, which a frame unpacks later. Returns true if it is for the shown rank.
    pub fn arrived(&mut self, id: TileId, generation: u64, answer: Result<PackedTile, FetchError>) -> bool {
        if generation != self.generation || answer == Err(FetchError::Cancelled) {
            return false;
        }
        self.under_way.remove(&id);
        self.inbox.push_back((id, answer));
        true
    }

    /// Unpacks answers for about `at_most_ms`, at least one. Returns true if some are left: many
    /// can arrive during one slow frame, and the next frame must not be slow because of that.
    pub fn unpack(&mut self, at_most_ms: f64) -> bool {
        let start_ms = now_ms();
        while let Some((id, answer)) = self.inbox.pop_front() {
            self.cache.provide(id, answer.and_then(|tile| tile.unpack()), now_ms());
            if now_ms() - start_ms >= at_most_ms {
                break;
            }
        }
        !self.inbox.is_empty()
    }

    /// Allows failed requests to be sent again at once.
    pub fn forgive(&mut self) {
        self.cache.forgive();
    }
}

fn now_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

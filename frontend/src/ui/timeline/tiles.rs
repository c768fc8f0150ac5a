//! The tiles of the shown ranks: plans requests, sends them and takes the answers.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use leptos::prelude::window;
use leptos::task::spawn_local;
use nprof_engine::wire::questions::TileQuestion;
use nprof_engine::wire::tile::Tile;
use web_sys::{AbortController, AbortSignal};

use crate::fetch::cache::TileCache;
use crate::fetch::decode::PackedTile;
use crate::fetch::tile_needs::{TileNeeds, overview};
use crate::fetch::{FetchError, RankSource, Source, TileKey};
use crate::view::Sheet;
use crate::view::rows::sheet::SheetSource;
use crate::view::source_id::SourceId;
use crate::view::state::profile_names::ProfileNames;

/// Size limit of the decoded tiles.
const CACHE_BYTES: usize = 192 << 20;

/// The tiles of all shown ranks.
#[derive(Debug)]
pub struct Tiles {
    cache: TileCache,
    under_way: HashMap<TileKey, TileRequest>,
    /// Answers that have not been unpacked yet.
    inbox: VecDeque<(TileKey, Result<PackedTile, FetchError>)>,
    /// The answer that was unpacked last, until it is put into the cache.
    unpacked: Option<(TileKey, Result<Tile, FetchError>)>,
    sources: HashMap<SourceId, TileSource>,
    /// Number of the next request.
    next_ticket: u64,
    /// Time of the scheduled retry.
    retry_at_ms: Option<f64>,
}

/// A source of tiles.
#[derive(Debug, Clone)]
struct TileSource {
    source: RankSource,
    /// Content of the segment, as its tiles name it.
    content: String,
    overview: Vec<TileKey>,
}

/// A step in taking an answer. Both take about as long, so a frame that has no more time can stop
/// between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileStep {
    /// The bytes of an answer became a tile.
    Unpacked,
    /// The cache has this tile, if it was not too late or damaged. Its rectangles are to be
    /// computed.
    Cached(TileKey),
}

/// A request in flight.
#[derive(Debug)]
struct TileRequest {
    ticket: u64,
    cancel: AbortController,
}

/// Requests to send, and the time to plan again.
#[derive(Debug, Default)]
pub struct TileOrders {
    /// Requests, most urgent first.
    pub start: Vec<Order>,
    /// True if the next frame has more requests to send.
    pub has_more: bool,
    /// Time until failed requests are due.
    pub retry_in_ms: Option<u64>,
}

/// One request to send.
#[derive(Debug)]
pub struct Order {
    key: TileKey,
    ticket: u64,
    source: RankSource,
    content: String,
    cancel: AbortSignal,
}

impl Order {
    /// Sends the request. `arrived` takes the answer.
    pub fn send(self, arrived: impl FnOnce(TileKey, u64, Result<PackedTile, FetchError>) + 'static) {
        spawn_local(async move {
            let question = TileQuestion { content: self.content, id: self.key.tile };
            let answer = self.source.tile(question, &self.cancel).await;
            arrived(self.key, self.ticket, answer);
        });
    }
}

impl Default for Tiles {
    fn default() -> Self {
        Self {
            cache: TileCache::new(CACHE_BYTES),
            under_way: HashMap::new(),
            inbox: VecDeque::new(),
            unpacked: None,
            sources: HashMap::new(),
            next_ticket: 0,
            retry_at_ms: None,
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        self.under_way.values().for_each(|request| request.cancel.abort());
    }
}

impl Tiles {
    /// Shows other ranks. The tiles of ranks that stay are kept.
    pub fn open(&mut self, source: Source, profiles: &ProfileNames, sheet: &Sheet) {
        let sources = sheet.sources().iter().filter_map(|SheetSource { id, rank }| {
            let source = source.rank(profiles.at(id.profile)?.to_owned(), id.rank);
            let (content, overview) = (rank.entry.content.clone(), overview(*id, rank));
            Some((*id, TileSource { source, content, overview }))
        });
        let before = std::mem::replace(&mut self.sources, sources.collect());
        let is_kept = |id: SourceId| match (before.get(&id), self.sources.get(&id)) {
            (Some(before), Some(now)) => before.source == now.source && before.content == now.content,
            _ => false,
        };
        self.cache.keep_sources(is_kept);
        self.inbox.retain(|(key, _)| is_kept(key.source));
        self.unpacked.take_if(|(key, _)| !is_kept(key.source));
        self.under_way.retain(|key, request| {
            let stays = is_kept(key.source);
            if !stays {
                request.cancel.abort();
            }
            stays
        });
    }

    /// The cache of tiles.
    #[must_use]
    pub fn cache(&self) -> &TileCache {
        &self.cache
    }

    /// The tiles of a group in a source's overview. `None` if any is missing.
    #[must_use]
    pub fn overview_of_group(&self, source: SourceId, group: u32) -> Option<Vec<&Tile>> {
        let keys = &self.sources.get(&source)?.overview;
        let of_group: Vec<_> = keys.iter().filter(|key| key.tile.group == group).collect();
        let tiles = of_group.iter().map(|key| Some(&**self.cache.tile(**key)?));
        tiles.collect::<Option<Vec<_>>>().filter(|tiles| !tiles.is_empty())
    }

    /// The present tiles of a source's overview.
    pub fn overview(&self, source: SourceId) -> impl Iterator<Item = (TileKey, &Rc<Tile>)> {
        self.present(self.sources.get(&source).map_or(&[][..], |source| &source.overview))
    }

    /// Those of these tiles that are present.
    pub fn present<'k>(
        &self,
        keys: &'k [TileKey],
    ) -> impl Iterator<Item = (TileKey, &Rc<Tile>)> + use<'_, 'k> {
        keys.iter().filter_map(|key| Some((*key, self.cache.tile(*key)?)))
    }

    /// Tiles dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<TileKey> {
        self.cache.take_dropped()
    }

    /// The tiles that a frame needs, and the requests to send for it, `at_most` of them. `current`
    /// is the source of the minimap.
    pub fn plan(&mut self, wanted: &TileNeeds, current: SourceId, at_most: usize) -> TileOrders {
        // Until the rest arrives, the overview of the visible groups is shown in its place, so it
        // comes first. Tiles ahead come after all others.
        let overviews = self.sources.values().flat_map(|source| source.overview.iter().copied());
        let (mut keys, elsewhere): (Vec<_>, Vec<_>) = overviews.partition(|key| wanted.is_in_sight(key));
        keys.extend(&wanted.shown);
        keys.extend(elsewhere.into_iter().filter(|key| key.source == current));
        if self.cache.has_all(&keys) {
            keys.extend(&wanted.ahead);
        }
        let now_ms = now_ms();
        let plan = self.cache.plan(&keys, now_ms, at_most);
        for key in plan.cancel {
            if let Some(request) = self.under_way.remove(&key) {
                request.cancel.abort();
            }
        }
        let mut orders = TileOrders { has_more: plan.has_more, ..TileOrders::default() };
        for key in plan.start {
            let Some(TileSource { source, content, .. }) = self.sources.get(&key.source).cloned() else {
                continue;
            };
            let Ok(controller) = AbortController::new() else { continue };
            let (ticket, cancel) = (self.next_ticket, controller.signal());
            self.next_ticket += 1;
            orders.start.push(Order { key, ticket, source, content, cancel });
            self.under_way.insert(key, TileRequest { ticket, cancel: controller });
        }
        if plan.retry_at_ms != self.retry_at_ms {
            self.retry_at_ms = plan.retry_at_ms;
            // Add a millisecond: timers are rounded down.
            orders.retry_in_ms = plan.retry_at_ms.map(|at| (at - now_ms).max(0.0).ceil() as u64 + 1);
        }
        orders
    }

    /// Takes an answer, which a frame unpacks later. Returns true if it answers a request that is
    /// still in flight.
    pub fn arrived(&mut self, key: TileKey, ticket: u64, answer: Result<PackedTile, FetchError>) -> bool {
        let is_awaited = self.under_way.get(&key).is_some_and(|request| request.ticket == ticket);
        if !is_awaited || answer == Err(FetchError::Cancelled) {
            return false;
        }
        self.under_way.remove(&key);
        self.inbox.push_back((key, answer));
        true
    }

    /// Does the next step for the answer that waits longest. `None` if no answer waits.
    pub fn take_step(&mut self) -> Option<TileStep> {
        if let Some((key, tile)) = self.unpacked.take() {
            self.cache.provide(key, tile, now_ms());
            return Some(TileStep::Cached(key));
        }
        let (key, answer) = self.inbox.pop_front()?;
        self.unpacked = Some((key, answer.and_then(|tile| tile.unpack())));
        Some(TileStep::Unpacked)
    }

    /// Returns true if answers wait for a step.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        self.unpacked.is_some() || !self.inbox.is_empty()
    }

    /// Allows failed requests to be sent again at once.
    pub fn forgive(&mut self) {
        self.cache.forgive();
    }
}

pub(super) fn now_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

//! Cache of tiles: present, in flight or failed. Decides which tiles to request next, and what to
//! draw until they arrive.
//!
//! Pure: the caller sends the requests that [`TileCache::plan`] names and passes the answers to
//! [`TileCache::provide`]. The tiles seen last are kept longest. Tiles that are wanted now are
//! never dropped.

use std::collections::HashMap;
use std::rc::Rc;

use nprof_engine::base::Interval;
use nprof_engine::base::order::sort_by_key;
use nprof_engine::wire::tile::{Content, Tile, TileCell, TileLimit, TileRange, TileSample, TileSlice};

use super::error::FetchError;
use super::key::TileKey;
use crate::view::source_id::SourceId;

/// Limit of requests in flight. Browsers open six connections to a host; the others queue, so that
/// a slow frame leaves no connection idle.
const MOST_REQUESTS: usize = 16;
/// Wait after the first failure. Each further failure doubles it.
const FIRST_RETRY_MS: f64 = 500.0;
/// Longest wait between two attempts.
const LONGEST_RETRY_MS: f64 = 30_000.0;
/// Number of levels below a missing tile from which finer tiles replace it: up to eight tiles.
const FINER_LEVELS: u32 = 3;

/// A present tile with its size in memory.
#[derive(Debug)]
struct CachedTile {
    tile: Rc<Tile>,
    size_bytes: usize,
    /// Number of the plan that wanted the tile last.
    last_wanted: u64,
}

/// A request that failed.
#[derive(Debug)]
struct Failure {
    error: FetchError,
    attempts: i32,
    retry_at_ms: f64,
}

#[derive(Debug)]
enum Slot {
    OnItsWay { attempts: i32 },
    Here(CachedTile),
    Failed(Failure),
}

/// The next actions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// Requests to send, most urgent first.
    pub start: Vec<TileKey>,
    /// Requests to cancel.
    pub cancel: Vec<TileKey>,
    /// True if more requests could be sent.
    pub has_more: bool,
    /// Time to plan again even if nothing changed, because a failed request is due then.
    pub retry_at_ms: Option<f64>,
}

/// A tile to draw, and its visible part.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Id of the tile.
    pub id: TileKey,
    /// The tile.
    pub tile: Rc<Tile>,
    /// The span that shows this tile.
    pub clip: Interval,
}

/// The cache of decoded tiles.
#[derive(Debug)]
pub struct TileCache {
    slots: HashMap<TileKey, Slot>,
    size_bytes: usize,
    limit_bytes: usize,
    plans: u64,
    dropped: Vec<TileKey>,
}

impl TileCache {
    /// Creates an empty cache that keeps about `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self { slots: HashMap::new(), size_bytes: 0, limit_bytes, plans: 0, dropped: Vec::new() }
    }

    /// Decides which requests to send, `at_most` of them, and which to cancel. `wanted` lists the
    /// wanted tiles, most urgent first.
    pub fn plan(&mut self, wanted: &[TileKey], now_ms: f64, at_most: usize) -> Plan {
        self.plans += 1;
        let mut plan = Plan::default();
        for id in wanted {
            if let Some(Slot::Here(kept)) = self.slots.get_mut(id) {
                kept.last_wanted = self.plans;
            }
        }
        let is_wanted: std::collections::HashSet<_> = wanted.iter().collect();
        plan.cancel = self.on_their_way().filter(|id| !is_wanted.contains(id)).collect();
        for id in &plan.cancel {
            self.slots.remove(id);
        }
        let mut free = MOST_REQUESTS.saturating_sub(self.on_their_way().count());
        for &id in wanted {
            let attempts = match self.slots.get(&id) {
                None => 0,
                Some(Slot::Failed(failure)) if failure.retry_at_ms <= now_ms => failure.attempts,
                Some(Slot::Failed(failure)) => {
                    let earliest =
                        plan.retry_at_ms.map_or(failure.retry_at_ms, |at| at.min(failure.retry_at_ms));
                    plan.retry_at_ms = Some(earliest);
                    continue;
                }
                Some(Slot::Here(_) | Slot::OnItsWay { .. }) => continue,
            };
            if free == 0 {
                continue;
            }
            if plan.start.len() == at_most {
                plan.has_more = true;
                continue;
            }
            free -= 1;
            self.slots.insert(id, Slot::OnItsWay { attempts });
            plan.start.push(id);
        }
        plan
    }

    /// Takes the answer to a request. Answers to requests that were cancelled are ignored.
    pub fn provide(&mut self, id: TileKey, answer: Result<Tile, FetchError>, now_ms: f64) {
        let Some(Slot::OnItsWay { attempts }) = self.slots.get(&id) else { return };
        let attempts = *attempts;
        let slot = match answer {
            Ok(tile) => {
                let size_bytes = size_bytes(&tile);
                self.size_bytes += size_bytes;
                Slot::Here(CachedTile { tile: Rc::new(tile), size_bytes, last_wanted: self.plans })
            }
            Err(error) => {
                let wait_ms = (FIRST_RETRY_MS * 2_f64.powi(attempts.min(16))).min(LONGEST_RETRY_MS);
                let failure =
                    Failure { error, attempts: attempts.saturating_add(1), retry_at_ms: now_ms + wait_ms };
                Slot::Failed(failure)
            }
        };
        self.slots.insert(id, slot);
        self.shrink();
    }

    /// Drops all tiles and requests of other sources than these.
    pub fn keep_sources(&mut self, is_kept: impl Fn(SourceId) -> bool) {
        let gone: Vec<TileKey> = self.slots.keys().copied().filter(|key| !is_kept(key.source)).collect();
        for key in gone {
            if let Some(Slot::Here(kept)) = self.slots.remove(&key) {
                self.size_bytes -= kept.size_bytes;
                self.dropped.push(key);
            }
        }
    }

    /// Lets all failed requests be sent again at once.
    pub fn forgive(&mut self) {
        self.slots.retain(|_, slot| !matches!(slot, Slot::Failed(_)));
    }

    /// A tile, if it is present.
    #[must_use]
    pub fn tile(&self, id: TileKey) -> Option<&Rc<Tile>> {
        match self.slots.get(&id) {
            Some(Slot::Here(kept)) => Some(&kept.tile),
            _ => None,
        }
    }

    /// Returns true if all of these tiles are present.
    #[must_use]
    pub fn has_all(&self, ids: &[TileKey]) -> bool {
        ids.iter().all(|id| self.tile(*id).is_some())
    }

    /// Number of present tiles.
    #[must_use]
    pub fn present(&self) -> usize {
        self.slots.values().filter(|slot| matches!(slot, Slot::Here(_))).count()
    }

    /// The reason why one of these tiles is missing, if a request for it failed.
    #[must_use]
    pub fn failure(&self, ids: &[TileKey]) -> Option<&FetchError> {
        ids.iter().find_map(|id| match self.slots.get(id) {
            Some(Slot::Failed(failure)) => Some(&failure.error),
            _ => None,
        })
    }

    /// The tiles dropped since the last call. Objects made from them can be freed too.
    pub fn take_dropped(&mut self) -> Vec<TileKey> {
        std::mem::take(&mut self.dropped)
    }

    /// The pieces to draw for a tile: the tile itself, else present finer tiles, and the nearest
    /// coarser tile for the rest.
    pub fn pieces(&self, id: TileKey, out: &mut Vec<Piece>) {
        self.fill(id, FINER_LEVELS, out);
    }

    fn fill(&self, id: TileKey, finer_levels: u32, out: &mut Vec<Piece>) {
        if let Some(tile) = self.tile(id) {
            out.push(Piece { id, tile: Rc::clone(tile), clip: id.interval() });
        } else if self.has_finer(id, finer_levels) {
            for child in id.children() {
                self.fill(child, finer_levels - 1, out);
            }
        } else if let Some((coarser, tile)) = self.coarser(id) {
            out.push(Piece { id: coarser, tile: Rc::clone(tile), clip: id.interval() });
        }
    }

    fn has_finer(&self, id: TileKey, levels: u32) -> bool {
        levels > 0
            && id.children().any(|child| self.tile(child).is_some() || self.has_finer(child, levels - 1))
    }

    fn coarser(&self, id: TileKey) -> Option<(TileKey, &Rc<Tile>)> {
        let mut at = id;
        while at.parent() != at {
            at = at.parent();
            if let Some(tile) = self.tile(at) {
                return Some((at, tile));
            }
        }
        None
    }

    fn on_their_way(&self) -> impl Iterator<Item = TileKey> {
        self.slots.iter().filter(|(_, slot)| matches!(slot, Slot::OnItsWay { .. })).map(|(id, _)| *id)
    }

    /// Drops the tiles that were not wanted for longest, until the rest fits.
    fn shrink(&mut self) {
        if self.size_bytes <= self.limit_bytes {
            return;
        }
        let mut old: Vec<_> = self
            .slots
            .iter()
            .filter_map(|(id, slot)| match slot {
                Slot::Here(kept) if kept.last_wanted < self.plans => {
                    Some((kept.last_wanted, *id, kept.size_bytes))
                }
                _ => None,
            })
            .collect();
        sort_by_key(&mut old, |(last_wanted, ..)| *last_wanted);
        for (_, id, size_bytes) in old {
            if self.size_bytes <= self.limit_bytes {
                break;
            }
            self.slots.remove(&id);
            self.size_bytes -= size_bytes;
            self.dropped.push(id);
        }
    }
}

/// Approximate size of a tile in memory, in bytes.
fn size_bytes(tile: &Tile) -> usize {
    let names: usize = tile.names.iter().map(|name| size_of::<String>() + name.capacity()).sum();
    let lanes: usize = tile.lanes.iter().map(|lane| size_of_val(lane) + content_bytes(&lane.content)).sum();
    size_of::<Tile>() + names + lanes
}

fn content_bytes(content: &Content) -> usize {
    match content {
        Content::Slices(slices) => slices.capacity() * size_of::<TileSlice>(),
        Content::Cells(cells) => cells.capacity() * size_of::<TileCell>(),
        Content::Samples(samples) => samples.capacity() * size_of::<TileSample>(),
        Content::Ranges(ranges) => ranges.capacity() * size_of::<TileRange>(),
        Content::Limits(limits) => limits.capacity() * size_of::<TileLimit>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;
    use nprof_engine::tile::{Level, TileId};

    /// No limit of the requests of one plan.
    const ALL: usize = usize::MAX;

    fn id(level: u8, index: i64) -> TileKey {
        let tile = TileId { group: 0, level: Level::new(level).unwrap(), index };
        TileKey { source: SourceId::of_first(0), tile }
    }

    fn tile_of(id: TileKey) -> Tile {
        let interval = id.interval();
        Tile { start_ps: interval.start.0, ..fixture::tile(id.tile.level.cell_ps(), &[], vec![]) }
    }

    /// A cache with these tiles.
    fn holding(limit_bytes: usize, ids: &[TileKey]) -> TileCache {
        let mut cache = TileCache::new(limit_bytes);
        for id in ids {
            assert_eq!(cache.plan(&[*id], 0.0, ALL).start, [*id]);
            cache.provide(*id, Ok(tile_of(*id)), 0.0);
        }
        cache
    }

    #[test]
    fn a_tile_is_asked_for_once() {
        let mut cache = TileCache::new(usize::MAX);
        assert_eq!(cache.plan(&[id(3, 0), id(3, 1)], 0.0, ALL).start, [id(3, 0), id(3, 1)]);
        assert_eq!(cache.plan(&[id(3, 0), id(3, 1)], 0.0, ALL), Plan::default());
        cache.provide(id(3, 0), Ok(tile_of(id(3, 0))), 0.0);
        assert_eq!(cache.plan(&[id(3, 0), id(3, 1)], 0.0, ALL), Plan::default());
        assert!(cache.tile(id(3, 0)).is_some() && !cache.has_all(&[id(3, 0), id(3, 1)]));
    }

    #[test]
    fn what_is_no_longer_wanted_is_called_off_and_its_answer_ignored() {
        let mut cache = TileCache::new(usize::MAX);
        cache.plan(&[id(3, 0)], 0.0, ALL);
        assert_eq!(
            cache.plan(&[id(3, 5)], 0.0, ALL),
            Plan { start: vec![id(3, 5)], cancel: vec![id(3, 0)], ..Plan::default() }
        );
        cache.provide(id(3, 0), Err(FetchError::Cancelled), 0.0);
        assert_eq!(cache.failure(&[id(3, 0)]), None);
        assert_eq!(cache.plan(&[id(3, 0), id(3, 5)], 0.0, ALL).start, [id(3, 0)]);
    }

    #[test]
    fn few_requests_are_under_way_and_the_urgent_ones_go_first() {
        let wanted: Vec<_> = (0..20).map(|index| id(2, index)).collect();
        let mut cache = TileCache::new(usize::MAX);
        assert_eq!(cache.plan(&wanted, 0.0, ALL).start, wanted[..MOST_REQUESTS]);
        cache.provide(wanted[3], Ok(tile_of(wanted[3])), 0.0);
        assert_eq!(cache.plan(&wanted, 0.0, ALL).start, [wanted[MOST_REQUESTS]]);
    }

    #[test]
    fn a_plan_can_leave_requests_to_the_next_one() {
        let wanted = [id(2, 0), id(2, 1), id(2, 2)];
        let mut cache = TileCache::new(usize::MAX);
        let plan = cache.plan(&wanted, 0.0, 2);
        assert_eq!((plan.start.as_slice(), plan.has_more), (&wanted[..2], true));
        let plan = cache.plan(&wanted, 0.0, 2);
        assert_eq!((plan.start.as_slice(), plan.has_more), (&wanted[2..], false));
    }

    #[test]
    fn failures_wait_longer_each_time() {
        let mut cache = TileCache::new(usize::MAX);
        let mut now_ms = 0.0;
        for wait_ms in [500.0, 1_000.0, 2_000.0] {
            assert_eq!(cache.plan(&[id(1, 1)], now_ms, ALL).start, [id(1, 1)]);
            cache.provide(id(1, 1), Err(FetchError::Unreachable), now_ms);
            assert_eq!(cache.failure(&[id(1, 1)]), Some(&FetchError::Unreachable));
            let plan = cache.plan(&[id(1, 1)], now_ms, ALL);
            assert_eq!((plan.start.len(), plan.retry_at_ms), (0, Some(now_ms + wait_ms)));
            now_ms += wait_ms;
        }
        cache.forgive();
        assert_eq!(cache.plan(&[id(1, 1)], 0.0, ALL).start, [id(1, 1)]);
    }

    #[test]
    fn the_longest_unseen_goes_first_and_the_wanted_stay() {
        let one = size_bytes(&tile_of(id(0, 0)));
        let mut cache = holding(3 * one, &[id(0, 0), id(0, 1), id(0, 2)]);
        cache.plan(&[id(0, 0), id(0, 3)], 0.0, ALL);
        cache.provide(id(0, 3), Ok(tile_of(id(0, 3))), 0.0);
        assert_eq!(cache.take_dropped(), [id(0, 1)]);
        let many: Vec<_> = (10..15).map(|index| id(0, index)).collect();
        cache.plan(&many, 0.0, ALL);
        for id in &many {
            cache.provide(*id, Ok(tile_of(*id)), 0.0);
        }
        assert!(cache.has_all(&many), "wanted tiles stay, however many");
    }

    /// Checks which tiles (`level/index`) are drawn for tile 1 of level 5, and over which quarters
    /// of it.
    #[track_caller]
    fn check_pieces(here: &[(u8, i64)], expected: &str) {
        let ids: Vec<_> = here.iter().map(|(level, index)| id(*level, *index)).collect();
        let cache = holding(usize::MAX, &ids);
        let wanted = id(5, 1);
        let mut pieces = Vec::new();
        cache.pieces(wanted, &mut pieces);
        let quarter = wanted.tile.level.tile_ps() / 4;
        let place =
            |time: nprof_engine::base::Time| (time.0 - wanted.interval().start.0) as f64 / quarter as f64;
        let text: Vec<_> = pieces
            .iter()
            .map(|Piece { id, clip, .. }| {
                format!(
                    "{}/{}:{}-{}",
                    id.tile.level.number(),
                    id.tile.index,
                    place(clip.start),
                    place(clip.end)
                )
            })
            .collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn something_is_drawn_as_soon_as_anything_is_here() {
        check_pieces(&[], "");
        check_pieces(&[(5, 1), (6, 0), (4, 2)], "5/1:0-4");
        check_pieces(&[(8, 0)], "8/0:0-4");
        check_pieces(&[(8, 0), (6, 0)], "6/0:0-4");
        check_pieces(&[(4, 2), (4, 3)], "4/2:0-2 4/3:2-4");
        check_pieces(&[(4, 2), (9, 0)], "4/2:0-2 9/0:2-4");
        check_pieces(&[(3, 5), (9, 0)], "9/0:0-1 3/5:1-2 9/0:2-4");
        check_pieces(&[(3, 5)], "3/5:1-2");
    }
}

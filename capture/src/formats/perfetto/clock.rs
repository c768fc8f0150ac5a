//! The clocks of a trace, and the way from each of them to the trace's own clock.
//!
//! A packet states its time on any clock. Snapshots relate clocks: each has the readings of several
//! clocks at one moment. Between two snapshots a clock runs as fast as the others.

use std::collections::{BTreeMap, VecDeque};

use nprof_engine::base::clamped;
use rustc_hash::FxHashMap;

use crate::protobuf::{MessageDamage, MessageFields};

/// Wall clock.
const REAL: ClockId = ClockId { sequence: 0, id: 1 };
/// The clock of the older times in events.
pub(super) const MONOTONIC: ClockId = ClockId { sequence: 0, id: 3 };
/// The usual clock of a trace: time since the machine's start.
const BOOT: ClockId = ClockId { sequence: 0, id: 6 };
/// Clocks with these numbers belong to the sequence of the packet.
const OF_SEQUENCE: std::ops::Range<u32> = 64..128;
/// Most readings of one snapshot that are used.
const MAX_READINGS: usize = 32;
/// Most clocks, and most pairs of clocks that snapshots relate.
const MAX_PAIRS: usize = 1 << 16;
/// Most readings of all pairs, 16 bytes each.
const MAX_POINTS: usize = 1 << 20;
/// Most clocks that are visited on the way to the trace's clock.
const MAX_VISITED: usize = 64;

/// A clock: its number, and the sequence that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClockId {
    /// The sequence; 0 for a clock of all.
    pub(super) sequence: u32,
    /// Number of the clock.
    pub(super) id: u32,
}

impl ClockId {
    /// The clock with this number, as a sequence means it.
    pub(super) fn new(sequence: u32, id: u32) -> Self {
        Self { sequence: if OF_SEQUENCE.contains(&id) { sequence } else { 0 }, id }
    }
}

/// Form of the readings of a clock.
#[derive(Debug, Clone, Copy)]
struct ClockUnit {
    ns: i64,
    /// Whether a timestamp is the distance from the one before.
    is_incremental: bool,
    /// The last time on the clock.
    last_ns: i64,
}

/// All clocks of a trace.
#[derive(Debug, Default)]
pub(super) struct TraceClocks {
    /// The clock of the trace, if a snapshot names it.
    primary: Option<ClockId>,
    units: FxHashMap<ClockId, ClockUnit>,
    /// Equal moments on two clocks, ascending by the first.
    points: BTreeMap<(ClockId, ClockId), Vec<(i64, i64)>>,
    point_count: usize,
    /// Known ways to the trace's clock.
    ways: FxHashMap<ClockId, Option<Vec<ClockId>>>,
}

impl TraceClocks {
    /// The clock of the trace.
    pub(super) fn primary(&self) -> ClockId {
        self.primary.unwrap_or(BOOT)
    }

    /// Makes a clock the trace's.
    pub(super) fn adopt(&mut self, clock: ClockId) {
        self.primary = Some(clock);
        self.ways.clear();
    }

    /// Takes a snapshot in a packet of a sequence. `false` if parts of it did not fit into memory.
    pub(super) fn snapshot(&mut self, sequence: u32, bytes: &[u8]) -> Result<bool, MessageDamage> {
        let mut readings: Vec<(ClockId, i64)> = Vec::new();
        let mut fields = MessageFields::new(bytes);
        let mut is_whole = true;
        while let Some((number, value)) = fields.next()? {
            match number {
                1 if readings.len() < MAX_READINGS => {
                    if let Some(reading) = self.reading(sequence, value.bytes(), &mut is_whole)? {
                        readings.push(reading);
                    }
                }
                1 => is_whole = false,
                2 if self.primary.is_none() => {
                    let id = u32::try_from(value.number()).unwrap_or(0);
                    self.primary = (id > 0).then_some(ClockId::new(0, id));
                    self.ways.clear();
                }
                _ => {}
            }
        }
        // All clocks are related to one, so that a snapshot adds few pairs.
        let hub = readings.iter().find(|(clock, _)| *clock == self.primary());
        let hub = hub.or_else(|| readings.iter().find(|(clock, _)| clock.sequence == 0)).or(readings.first());
        if let Some(&(hub, hub_ns)) = hub {
            for &(clock, ns) in readings.iter().filter(|(clock, _)| *clock != hub) {
                is_whole &= self.relate(clock, ns, hub, hub_ns) && self.relate(hub, hub_ns, clock, ns);
            }
        }
        Ok(is_whole)
    }

    fn reading(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        is_whole: &mut bool,
    ) -> Result<Option<(ClockId, i64)>, MessageDamage> {
        let (mut id, mut timestamp, mut is_incremental, mut ns) = (0, 0, false, 1);
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => id = u32::try_from(value.number()).unwrap_or(0),
                2 => timestamp = value.number(),
                3 => is_incremental = value.number() != 0,
                4 => ns = i64::try_from(value.number()).unwrap_or(1).max(1),
                _ => {}
            }
        }
        if id == 0 {
            return Ok(None);
        }
        let clock = ClockId::new(sequence, id);
        let last_ns = ns_of(timestamp, ns);
        let is_plain = ns == 1 && !is_incremental;
        if self.units.contains_key(&clock) || !is_plain {
            if self.units.len() < MAX_PAIRS || self.units.contains_key(&clock) {
                self.units.insert(clock, ClockUnit { ns, is_incremental, last_ns });
            } else {
                *is_whole = false;
            }
        }
        Ok(Some((clock, last_ns)))
    }

    /// Notes that two clocks had these readings at one moment. `false` if there is no memory.
    fn relate(&mut self, from: ClockId, from_ns: i64, to: ClockId, to_ns: i64) -> bool {
        let pairs = self.points.len();
        let is_new = !self.points.contains_key(&(from, to));
        if is_new {
            if pairs >= MAX_PAIRS {
                return false;
            }
            self.ways.clear();
        }
        let points = self.points.entry((from, to)).or_default();
        // Two clocks of one rate have the same distance in all snapshots.
        let is_known = points.last().is_some_and(|&(last_from, last_to)| {
            from_ns >= last_from && from_ns.wrapping_sub(last_from) == to_ns.wrapping_sub(last_to)
        });
        if is_known {
            return true;
        }
        if self.point_count >= MAX_POINTS {
            return false;
        }
        let at = points.partition_point(|&(before, _)| before <= from_ns);
        // A snapshot in the middle of many is moved in from the end; hostile traces stop here.
        if points.len() - at > 1 << 10 {
            return false;
        }
        points.insert(at, (from_ns, to_ns));
        self.point_count += 1;
        true
    }

    /// A timestamp of a packet as nanoseconds on its own clock.
    pub(super) fn read(&mut self, clock: ClockId, timestamp: u64) -> i64 {
        let Some(unit) = self.units.get_mut(&clock) else { return ns_of(timestamp, 1) };
        let ns = ns_of(timestamp, unit.ns);
        if !unit.is_incremental {
            return ns;
        }
        unit.last_ns = unit.last_ns.saturating_add(ns);
        unit.last_ns
    }

    /// Whether times of the clock follow from the packets before.
    pub(super) fn is_incremental(&self, clock: ClockId) -> bool {
        self.units.get(&clock).is_some_and(|unit| unit.is_incremental)
    }

    /// A time on the trace's clock. `None` if no snapshot so far leads there.
    pub(super) fn trace_ns(&mut self, clock: ClockId, ns: i64) -> Option<i64> {
        let primary = self.primary();
        if clock == primary {
            return Some(ns);
        }
        if !self.ways.contains_key(&clock) {
            if self.ways.len() >= MAX_PAIRS {
                self.ways.clear();
            }
            let way = self.way(clock, primary);
            self.ways.insert(clock, way);
        }
        let way = self.ways.get(&clock)?.as_ref()?;
        let (mut ns, mut from) = (ns, clock);
        for &to in way {
            ns = self.convert(from, to, ns)?;
            from = to;
        }
        Some(ns)
    }

    /// Nanoseconds since 1970 at a time on the trace's clock, if a snapshot states it.
    pub(super) fn wall_ns(&self, trace_ns: i64) -> Option<i64> {
        let primary = self.primary();
        if primary == REAL { Some(trace_ns) } else { self.convert(primary, REAL, trace_ns) }
    }

    /// Converts between two clocks that snapshots relate, by the last snapshot before the time.
    fn convert(&self, from: ClockId, to: ClockId, ns: i64) -> Option<i64> {
        let points = self.points.get(&(from, to))?;
        let at = points.partition_point(|&(before, _)| before <= ns).saturating_sub(1);
        let &(from_ns, to_ns) = points.get(at)?;
        Some(to_ns.saturating_add(ns.saturating_sub(from_ns)))
    }

    /// The shortest way from one clock to another, without the first one.
    fn way(&self, from: ClockId, to: ClockId) -> Option<Vec<ClockId>> {
        let mut before: BTreeMap<ClockId, ClockId> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(clock) = queue.pop_front() {
            if clock == to {
                let mut way: Vec<ClockId> =
                    std::iter::successors(Some(to), |clock| before.get(clock).copied()).collect();
                way.pop();
                way.reverse();
                return Some(way);
            }
            let least = (clock, ClockId { sequence: 0, id: 0 });
            let next =
                self.points.range(least..).map_while(|((of, next), _)| (*of == clock).then_some(*next));
            for next in next.take(MAX_VISITED) {
                if next != from && before.len() < MAX_VISITED && !before.contains_key(&next) {
                    before.insert(next, clock);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

fn ns_of(timestamp: u64, unit_ns: i64) -> i64 {
    clamped(timestamp).saturating_mul(unit_ns)
}

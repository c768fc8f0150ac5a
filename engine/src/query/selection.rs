//! Statistics of the slices in a span of time. Tracks are shared among all cores.

use std::hash::Hash;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::load::{BlockLoad, TrackLoad};
use super::self_time::Sweep;
use crate::base::order::sort_by_key;
use crate::base::{Error, Interval, Result, narrow};
use crate::exec::Work;
use crate::model::{MachineSide, NameId, Nesting, Role, TrackContent, TrackId, WaitNames};
use crate::segment::{BlockNameTotal, BlockReader, Bytes, ColumnRole, Segment};

/// Statistics of a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Statistics by name: work before waits, and most self time first. If tracks of hosts and of
    /// devices were requested, a name has an entry for each side of the machine, and one for
    /// annotations. Names of states such as throttling are not listed.
    pub by_name: Vec<NameTime>,
    /// Statistics by track, in the requested order. Tracks of annotations and of states are never
    /// busy, so they are not listed.
    pub by_track: Vec<TrackStats>,
}

/// Slices of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameTime {
    /// The name.
    pub name: NameId,
    /// The side of the machine. `None` if not all sides are apart, or if it is not known.
    pub side: Option<MachineSide>,
    /// Whether slices of this name only wait ([`crate::model::is_wait`]).
    pub is_wait: bool,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Sum of the parts inside the span. Calls inside calls count in each.
    pub total_ps: u64,
    /// Like the total, but calls inside a call of the same name do not count again.
    pub union_ps: u64,
    /// Like the total, without the calls inside.
    pub self_ps: u64,
    /// Longest full duration.
    pub longest_ps: u64,
    /// Row of the longest slice.
    pub longest_row: u32,
}

/// Slices of one track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackStats {
    /// The track.
    pub track: TrackId,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Time of the span in which at least one slice ran that is no wait.
    pub busy_ps: u64,
    /// Time of the span in which at least one slice waited. Work beside the wait counts as busy,
    /// too.
    pub wait_ps: u64,
    /// Time of the span in which at least one slice ran or waited.
    pub covered_ps: u64,
}

/// Statistics by number of the name.
type NameStats = FxHashMap<u32, NameTime>;

/// Statistics of the slices of these tracks in a span.
pub fn select<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[TrackId],
    span: Interval,
    work: Work<'_>,
) -> Result<Selection> {
    select_rows(segment, tracks, span, None, work)
}

/// Like [`select`], of these rows alone if there are any given.
pub fn select_rows<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[TrackId],
    span: Interval,
    rows: Option<&RoaringBitmap>,
    work: Work<'_>,
) -> Result<Selection> {
    let side = sides_apart(segment, tracks);
    let totals = work.gather(tracks.len(), |at| select_of_track(segment, tracks[at], span, rows, work))?;
    let mut names = FxHashMap::default();
    let mut selection = Selection::default();
    for (total, of_track) in totals {
        selection.count += total.count;
        let role = role(segment, total.track);
        if total.count > 0 && role.is_work() {
            selection.by_track.push(total);
        }
        if role.is_state() {
            continue;
        }
        let side = side(total.track);
        for of in of_track.into_values() {
            add(&mut names, (side, of.name), NameTime { side, ..of });
        }
    }
    selection.by_name = names.into_values().collect();
    sort_by_key(&mut selection.by_name, |name| {
        (name.is_wait, std::cmp::Reverse((name.self_ps, name.total_ps)), name.name, name.side)
    });
    Ok(selection)
}

fn role<B: Bytes>(segment: &Segment<B>, track: TrackId) -> Role {
    segment.footer().tracks[track.0 as usize].spec.identity.role
}

/// The side of each track, if these are tracks of hosts, of devices and of annotations, at least
/// two of them.
fn sides_apart<'s, B: Bytes>(
    segment: &'s Segment<B>,
    tracks: &[TrackId],
) -> impl Fn(TrackId) -> Option<MachineSide> + use<'s, B> {
    let has = |is_wanted: fn(Role) -> bool| tracks.iter().any(|&track| is_wanted(role(segment, track)));
    let of_host = has(|role| role.side() == Some(MachineSide::Host));
    let of_device = has(|role| role.side() == Some(MachineSide::Device));
    let is_apart = of_host && of_device || (of_host || of_device) && has(|role| role == Role::Annotations);
    move |track| role(segment, track).side().filter(|_| is_apart)
}

fn select_of_track<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    span: Interval,
    rows: Option<&RoaringBitmap>,
    work: Work<'_>,
) -> Result<(TrackStats, NameStats)> {
    let mut tally = TrackSums::new(segment, track, span);
    let meta = &segment.footer().tracks[track.0 as usize];
    let (Some(table), TrackContent::Slices(_, nesting)) = (segment.table_of(track), meta.spec.kind) else {
        return Ok((tally.total, tally.names));
    };
    let blocks = segment.blocks_of(track)?;
    let list = segment.blocks(table)?;
    // A single lane has no calls inside calls. Its union and segment time equal the total, which
    // is stored.
    let has_calls = nesting == Nesting::Calls && meta.lanes > 1;
    let totals = segment.totals(track)?.filter(|_| !has_calls && rows.is_none());
    let mut calls = has_calls.then(|| Sweep::new(span));
    let first_row = segment.footer().tables[usize::from(table.0)].first_row;
    let first_block = blocks.start;
    let mut blocks = list.overlapping(blocks, span).peekable();
    while let Some(block) = blocks.next() {
        work.cancel.check()?;
        let of_block = Interval::new(list.starts()[block], list.end(block));
        let first_row = first_row + list.first_row(block);
        let of_rows = first_row..first_row.saturating_add(narrow(list.rows(block)));
        if rows.is_some_and(|rows| rows.range_cardinality(of_rows) == 0) {
            continue;
        }
        // The stored sums are enough for a block inside the span. A block that ends with the
        // span can have slices without duration at the end, which are outside.
        if let Some(totals) = totals.filter(|_| of_block.start >= span.start && of_block.end < span.end) {
            let names = totals.names(block - first_block);
            // Slices that reach in from earlier blocks were counted with their block.
            let covered_ps = totals.covered_ps(block - first_block);
            let is_apart = blocks.peek().is_none_or(|&next| list.starts()[next] >= of_block.end.0);
            let load = BlockLoad::of(names, tally.waits);
            if !tally.load.add_block(&load, of_block, covered_ps, is_apart) {
                tally.add_load_of_rows(&mut BlockReader::new(segment, table, block)?)?;
            }
            names.iter().for_each(|of| tally.add_stored(of, first_row));
            continue;
        }
        let counts = |row: u32| rows.is_none_or(|rows| rows.contains(row));
        tally.add_rows(BlockReader::new(segment, table, block)?, first_row, counts, calls.as_mut())?;
    }
    let TrackSums { load, total, .. } = &mut tally;
    (total.busy_ps, total.wait_ps, total.covered_ps) = (load.busy_ps(), load.wait_ps(), load.covered_ps());
    Ok((tally.total, tally.names))
}

/// The sums of one track.
struct TrackSums<'s> {
    waits: &'s WaitNames,
    span: Interval,
    total: TrackStats,
    names: NameStats,
    load: TrackLoad,
}

impl<'s> TrackSums<'s> {
    fn new<B: Bytes>(segment: &'s Segment<B>, track: TrackId, span: Interval) -> Self {
        let total = TrackStats { track, count: 0, busy_ps: 0, wait_ps: 0, covered_ps: 0 };
        let load = TrackLoad::after(span.start.0);
        Self { waits: &segment.footer().waits, span, total, names: NameStats::default(), load }
    }

    /// Adds when the rows of a block worked and when they waited, if its sums do not tell it.
    fn add_load_of_rows<B: Bytes>(&mut self, block: &mut BlockReader<'_, B>) -> Result<()> {
        let starts = block.core_ints(ColumnRole::Start)?;
        let durations = block.core_ints(ColumnRole::Duration)?;
        let names = block.core_ints(ColumnRole::Name)?;
        for ((start, duration), name) in starts.into_iter().zip(durations).zip(names) {
            self.load.add(self.waits.contains_stored(name), Interval::lasting(start, duration));
        }
        Ok(())
    }

    /// Adds the rows of a block that overlap the span and count. `calls` has the earlier slices, if
    /// the track has calls inside calls.
    fn add_rows<B: Bytes>(
        &mut self,
        mut block: BlockReader<'_, B>,
        first_row: u32,
        counts: impl Fn(u32) -> bool,
        mut calls: Option<&mut Sweep>,
    ) -> Result<()> {
        let starts = block.core_ints(ColumnRole::Start)?;
        let durations = block.core_ints(ColumnRole::Duration)?;
        let names = block.core_ints(ColumnRole::Name)?;
        for at in self.span.runs_of(&starts, &durations).into_iter().flatten() {
            let damaged = Error::Inconsistent { what: "core column" };
            let name = u32::try_from(names[at]).map_err(|_| damaged)?;
            // A block has at most 65,535 rows.
            let row = first_row + at as u32;
            if counts(row) {
                let slice = Interval::lasting(starts[at], durations[at]);
                self.add_slice(NameId(name), slice, row, calls.as_deref_mut());
            }
        }
        Ok(())
    }

    /// Adds the stored sums of a name in a block without calls inside calls.
    fn add_stored(&mut self, of: &BlockNameTotal, first_row: u32) {
        self.total.count += u64::from(of.count);
        let time = NameTime {
            name: NameId(of.name),
            side: None,
            is_wait: self.waits.contains(of.name),
            count: u64::from(of.count),
            total_ps: of.total_ps,
            union_ps: of.total_ps,
            self_ps: of.total_ps,
            longest_ps: of.longest_ps,
            longest_row: first_row + u32::from(of.longest_at),
        };
        add(&mut self.names, of.name, time);
    }

    /// Adds a slice that overlaps the span. `calls` has the earlier slices, if the track has calls
    /// inside calls.
    fn add_slice(&mut self, name: NameId, slice: Interval, row: u32, calls: Option<&mut Sweep>) {
        let (start, end) = (slice.start.0, slice.end.0);
        let inside_ps = self.span.overlap_ps(start, end).unsigned_abs();
        let added = calls.map(|calls| calls.add(name.0, start, end));
        let is_wait = self.waits.contains(name.0);
        let time = NameTime {
            name,
            side: None,
            is_wait,
            count: 1,
            total_ps: inside_ps,
            union_ps: added.map_or(inside_ps, |added| added.union_ps),
            self_ps: inside_ps,
            longest_ps: slice.duration_ps().unsigned_abs(),
            longest_row: row,
        };
        add(&mut self.names, name.0, time);
        if let Some((caller, taken_ps)) = added.and_then(|added| added.caller)
            && let Some(caller) = self.names.get_mut(&caller)
        {
            caller.self_ps = caller.self_ps.saturating_sub(taken_ps);
        }
        self.total.count += 1;
        self.load.add(is_wait, Interval { end: slice.end.min(self.span.end), ..slice });
    }
}

/// Adds the slices of a name.
fn add<K: Eq + Hash>(names: &mut FxHashMap<K, NameTime>, key: K, of: NameTime) {
    let none = NameTime { count: 0, total_ps: 0, union_ps: 0, self_ps: 0, ..of };
    let entry = names.entry(key).or_insert(none);
    entry.count += of.count;
    entry.total_ps += of.total_ps;
    entry.union_ps += of.union_ps;
    entry.self_ps += of.self_ps;
    if of.longest_ps > entry.longest_ps {
        (entry.longest_ps, entry.longest_row) = (of.longest_ps, of.longest_row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};

    /// Statistics of a rank with these tracks: `track: busy wait` and `name: self`, waits in
    /// brackets.
    #[track_caller]
    fn check(tracks: &[RankTrack<'_>], span: (i64, i64), expected: &str) {
        let segment = rank_of("trace_event", tracks);
        let all = crate::query::slice::tracks(&segment, None);
        let selection = select(&segment, &all, Interval::new(span.0, span.1), Work::IN_PLACE).unwrap();
        let tracks =
            selection.by_track.iter().map(|of| format!("{}: {} {}", of.track.0, of.busy_ps, of.wait_ps));
        let names = selection.by_name.iter().map(|of| {
            let name = segment.text(of.name).unwrap();
            if of.is_wait { format!("[{name}: {}]", of.self_ps) } else { format!("{name}: {}", of.self_ps) }
        });
        assert_eq!(tracks.chain(names).collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn waits_are_not_busy_and_come_below_the_names() {
        let engine = Role::Engine(crate::model::EngineKind::Vector);
        let slices =
            [("EVENT_SEMAPHORE", 0, 90), ("ADD", 90, 93), ("EVENT_SEMAPHORE", 93, 99), ("COPY", 99, 100)];
        let tracks = [RankTrack::of(engine, &slices)];
        check(&tracks, (0, 100), "0: 4 96, ADD: 3, COPY: 1, [EVENT_SEMAPHORE: 96]");
        check(&tracks, (50, 92), "0: 2 40, ADD: 2, [EVENT_SEMAPHORE: 40]");
        // Work beside a wait.
        let tracks = [RankTrack::of(engine, &[("EVENT_SEMAPHORE", 0, 90), ("ADD", 10, 20)])];
        check(&tracks, (0, 100), "0: 10 90, ADD: 10, [EVENT_SEMAPHORE: 90]");
    }

    #[test]
    fn a_wait_in_a_call_is_part_of_the_call() {
        let slices = [("step", 0, 100), ("cudaDeviceSynchronize", 10, 90)];
        let tracks = [RankTrack::of(Role::HostThread, &slices).with_calls()];
        check(&tracks, (0, 100), "0: 100 80, step: 20, [cudaDeviceSynchronize: 80]");
    }

    #[test]
    fn states_are_no_work_and_in_no_list_of_names() {
        let tracks = [
            RankTrack::of(Role::Queue, &[("copy", 5, 9)]),
            RankTrack::of(Role::Throttling, &[("unthrottled", 0, 90), ("activity_0", 90, 100)]),
        ];
        check(&tracks, (0, 100), "0: 4 0, copy: 4");
    }

    #[test]
    fn rows_alone_count() {
        let slices: Vec<_> = (0..20_000)
            .map(|at| if at % 4 == 0 { ("event_wait", at, at + 1) } else { ("add", at, at + 1) })
            .collect();
        let segment = rank_of("trace_event", &[RankTrack::of(Role::Kernels, &slices)]);
        let (all, span) = (crate::query::slice::tracks(&segment, None), Interval::new(0, 20_001));
        let of_rows = |rows: &RoaringBitmap| select_rows(&segment, &all, span, Some(rows), Work::IN_PLACE);
        let few = of_rows(&[0, 1, 2, 19_999].into_iter().collect()).unwrap();
        let stats = &few.by_track[0];
        assert_eq!((few.count, stats.count, stats.busy_ps, stats.wait_ps), (4, 4, 3, 1));
        assert_eq!(of_rows(&RoaringBitmap::new()).unwrap(), Selection::default());
        let whole = of_rows(&(0..20_000).collect()).unwrap();
        assert_eq!(whole, select(&segment, &all, span, Work::IN_PLACE).unwrap());
    }

    #[test]
    fn stored_sums_of_many_blocks_tell_waits_from_work() {
        let slices: Vec<_> = (0..20_000)
            .map(|at| if at % 3 == 0 { ("event_wait", at, at + 1) } else { ("add", at, at + 1) })
            .collect();
        let tracks = [RankTrack::of(Role::Kernels, &slices)];
        check(&tracks, (0, 20_001), "0: 13333 6667, add: 13333, [event_wait: 6667]");
        check(&tracks, (10, 19_990), "0: 13320 6660, add: 13320, [event_wait: 6660]");
    }
}

//! Statistics of the slices in a span of time. Tracks are shared among all cores.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::self_time::Sweep;
use crate::base::order::sort_by_key;
use crate::base::{Covered, Error, Interval, Result};
use crate::exec::Work;
use crate::model::{NameId, Nesting, Role, Side, TrackId, TrackKind};
use crate::segment::{BlockNameTotal, BlockReader, Bytes, ColumnRole, Segment};

/// Statistics of a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Statistics by name, most self time first. If tracks of hosts and of devices were requested,
    /// a name has an entry for each side of the machine, and one for annotations.
    pub by_name: Vec<NameTime>,
    /// Statistics by track, in the requested order. Tracks of annotations are never busy, so they
    /// are not listed.
    pub by_track: Vec<TrackTime>,
}

/// Slices of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameTime {
    /// The name.
    pub name: NameId,
    /// The side of the machine. `None` if not all sides are apart, or if it is not known.
    pub side: Option<Side>,
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
pub struct TrackTime {
    /// The track.
    pub track: TrackId,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Time of the span in which at least one slice ran.
    pub busy_ps: u64,
}

/// Statistics by number of the name.
type Names = FxHashMap<u32, NameTime>;

/// Statistics of the slices of these tracks in a span.
///
/// # Errors
/// If bytes are missing or damaged; `Cancelled` if the work was cancelled.
pub fn select<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[TrackId],
    span: Interval,
    work: Work<'_>,
) -> Result<Selection> {
    let side = sides_apart(segment, tracks);
    let totals = work.gather(tracks.len(), |at| select_of_track(segment, tracks[at], span, work))?;
    let mut names = FxHashMap::default();
    let mut selection = Selection::default();
    for (total, of_track) in totals {
        selection.count += total.count;
        if total.count > 0 && role(segment, total.track).is_work() {
            selection.by_track.push(total);
        }
        let side = side(total.track);
        for of in of_track.into_values() {
            add(&mut names, (side, of.name), NameTime { side, ..of });
        }
    }
    selection.by_name = names.into_values().collect();
    sort_by_key(&mut selection.by_name, |name| {
        (std::cmp::Reverse((name.self_ps, name.total_ps)), name.name, name.side)
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
) -> impl Fn(TrackId) -> Option<Side> + use<'s, B> {
    let has = |is_wanted: fn(Role) -> bool| tracks.iter().any(|&track| is_wanted(role(segment, track)));
    let of_host = has(|role| role.side() == Some(Side::Host));
    let of_device = has(|role| role.side() == Some(Side::Device));
    let is_apart = of_host && of_device || (of_host || of_device) && has(|role| !role.is_work());
    move |track| role(segment, track).side().filter(|_| is_apart)
}

fn select_of_track<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    span: Interval,
    work: Work<'_>,
) -> Result<(TrackTime, Names)> {
    let mut tally = Tally::new(track, span);
    let meta = &segment.footer().tracks[track.0 as usize];
    let (Some(table), TrackKind::Slices(_, nesting)) = (segment.table_of(track), meta.spec.kind) else {
        return Ok((tally.total, tally.names));
    };
    let blocks = segment.blocks_of(track)?;
    let list = segment.blocks(table)?;
    // A single lane has no calls inside calls. Its union and segment time equal the total, which
    // is stored.
    let has_calls = nesting == Nesting::Calls && meta.lanes > 1;
    let totals = segment.totals(track)?.filter(|_| !has_calls);
    let mut calls = has_calls.then(|| Sweep::new(span));
    let first_row = segment.footer().tables[usize::from(table.0)].first_row;
    let first_block = blocks.start;
    for block in list.overlapping(blocks, span) {
        work.cancel.check()?;
        let (start, end) = (list.starts()[block], list.end(block));
        let first_row = first_row + list.first_row(block);
        // The stored sums are enough for a block inside the span. A block that ends with the
        // span can have slices without duration at the end, which are outside.
        if let Some(totals) = totals.filter(|_| start >= span.start.0 && end < span.end.0) {
            totals.names(block - first_block).iter().for_each(|of| tally.add_stored(of, first_row));
            // Slices that reach in from earlier blocks were counted with their block.
            tally.covered.add_known(totals.covered_ps(block - first_block), end);
            continue;
        }
        let mut reader = BlockReader::new(segment, table, block)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let block_names = reader.core_ints(ColumnRole::Name)?;
        for at in span.runs_of(&starts, &durations).into_iter().flatten() {
            let damaged = Error::Inconsistent { what: "core column" };
            let name = u32::try_from(block_names[at]).map_err(|_| damaged)?;
            // A block has at most 65,535 rows.
            let row = first_row + at as u32;
            tally.add_slice(NameId(name), (starts[at], durations[at]), row, calls.as_mut());
        }
    }
    tally.total.busy_ps = tally.covered.total_ps();
    Ok((tally.total, tally.names))
}

/// The sums of one track.
struct Tally {
    span: Interval,
    total: TrackTime,
    names: Names,
    covered: Covered,
}

impl Tally {
    fn new(track: TrackId, span: Interval) -> Self {
        let total = TrackTime { track, count: 0, busy_ps: 0 };
        Self { span, total, names: Names::default(), covered: Covered::after(span.start.0) }
    }

    /// Adds the stored sums of a name in a block without calls inside calls.
    fn add_stored(&mut self, of: &BlockNameTotal, first_row: u32) {
        self.total.count += u64::from(of.count);
        let time = NameTime {
            name: NameId(of.name),
            side: None,
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
    fn add_slice(
        &mut self,
        name: NameId,
        (start, duration): (i64, i64),
        row: u32,
        calls: Option<&mut Sweep>,
    ) {
        let end = start.saturating_add(duration);
        let inside_ps = self.span.overlap_ps(start, end).unsigned_abs();
        let added = calls.map(|calls| calls.add(name.0, start, end));
        let time = NameTime {
            name,
            side: None,
            count: 1,
            total_ps: inside_ps,
            union_ps: added.map_or(inside_ps, |added| added.union_ps),
            self_ps: inside_ps,
            longest_ps: duration.unsigned_abs(),
            longest_row: row,
        };
        add(&mut self.names, name.0, time);
        if let Some((caller, taken_ps)) = added.and_then(|added| added.caller)
            && let Some(caller) = self.names.get_mut(&caller)
        {
            caller.self_ps = caller.self_ps.saturating_sub(taken_ps);
        }
        self.total.count += 1;
        self.covered.add(start, end.min(self.span.end.0));
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

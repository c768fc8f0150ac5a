//! Statistics of the slices in a span of time. Tracks are shared among all hands.

use rustc_hash::FxHashMap;

use super::hands::{Hands, gather};
use super::self_time::Sweep;
use crate::base::{Covered, Error, Interval, Result};
use crate::model::{NameId, TrackId, TrackKind};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// What lies in a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Slices that overlap it.
    pub count: u64,
    /// By name, most self time first.
    pub by_name: Vec<NameTime>,
    /// By track, in the order asked for.
    pub by_track: Vec<TrackTime>,
}

/// Slices of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameTime {
    /// The name.
    pub name: NameId,
    /// How many overlap the span.
    pub count: u64,
    /// Sum of the parts inside the span; calls inside calls count in each.
    pub total_ps: u64,
    /// Time of the span in which at least one ran, summed over tracks.
    pub union_ps: u64,
    /// As the total, without the calls inside.
    pub self_ps: u64,
    /// Longest full length.
    pub longest_ps: u64,
    /// Row of the longest.
    pub longest_row: u32,
}

/// Slices of one track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackTime {
    /// The track.
    pub track: TrackId,
    /// How many overlap the span.
    pub count: u64,
    /// Time of the span in which at least one ran.
    pub busy_ps: u64,
}

/// Slices by name.
type Names = FxHashMap<u32, NameTime>;

impl<B: Bytes> Segment<B> {
    /// Statistics of the slices of these tracks in a span.
    ///
    /// # Errors
    /// Where bytes are missing or damaged; `Unwanted` where nobody waits for the answer any more.
    pub fn selection(&self, tracks: &[TrackId], span: Interval, hands: &dyn Hands) -> Result<Selection> {
        let totals = gather(hands, tracks.len(), |at| self.track_selection(tracks[at], span, hands))?;
        let mut names = Names::default();
        let mut selection = Selection::default();
        for (total, of_track) in totals {
            selection.count += total.count;
            if total.count > 0 {
                selection.by_track.push(total);
            }
            for of in of_track.into_values() {
                add(&mut names, of);
            }
        }
        selection.by_name = names.into_values().collect();
        selection.by_name.sort_by_key(|name| (std::cmp::Reverse((name.self_ps, name.total_ps)), name.name));
        Ok(selection)
    }

    fn track_selection(
        &self,
        track: TrackId,
        span: Interval,
        hands: &dyn Hands,
    ) -> Result<(TrackTime, Names)> {
        let mut total = TrackTime { track, count: 0, busy_ps: 0 };
        let mut names = Names::default();
        let Some(table) = self.table_of(track) else { return Ok((total, names)) };
        let blocks = self.blocks_of(track)?;
        let list = self.blocks(table)?;
        let meta = &self.footer().tracks[track.0 as usize];
        let TrackKind::Slices(_, nesting) = meta.spec.kind else { return Ok((total, names)) };
        // In a single lane nothing overlaps: union and self time are the total.
        let totals = self.totals(track)?.filter(|_| meta.lanes <= 1);
        let mut sweep = Sweep::new(nesting, span);
        let first_row = self.footer().tables[usize::from(table.0)].first_row;
        let first_block = blocks.start;
        let mut covered = Covered::after(span.start.0);
        for block in list.overlapping(blocks, span) {
            if !hands.is_wanted() {
                return Err(Error::Unwanted);
            }
            let (start, end) = (list.starts()[block], list.end(block));
            // Slices of a block that lies inside (not at the very end: what has no duration there is outside) are known
            // without their rows.
            if let Some(totals) = totals.filter(|_| start >= span.start.0 && end < span.end.0) {
                for of in totals.names(block - first_block) {
                    let row = first_row + list.first_row(block) + u32::from(of.longest_at);
                    total.count += u64::from(of.count);
                    let (name, total_ps) = (NameId(of.name), of.total_ps);
                    let (count, longest_ps) = (u64::from(of.count), of.longest_ps);
                    let (union_ps, self_ps) = (total_ps, total_ps);
                    add(
                        &mut names,
                        NameTime { name, count, total_ps, union_ps, self_ps, longest_ps, longest_row: row },
                    );
                }
                // Those of the blocks before that reach into this one reach into the span, too: they have been counted.
                covered.add_known(totals.covered_ps(block - first_block), end);
                continue;
            }
            let mut reader = BlockReader::new(self, table, block)?;
            let starts = reader.core_ints(ColumnRole::Start)?;
            let durations = reader.core_ints(ColumnRole::Duration)?;
            let block_names = reader.core_ints(ColumnRole::Name)?;
            let first_row = first_row + list.first_row(block);
            for at in span.runs_of(&starts, &durations).into_iter().flatten() {
                let (start, duration) = (starts[at], durations[at]);
                let end = start.saturating_add(duration);
                let damaged = Error::Corrupt { what: "core column", offset: 0 };
                let name = u32::try_from(block_names[at]).map_err(|_| damaged)?;
                let inside = span.overlap_ps(start, end).unsigned_abs();
                // A block has at most 65,535 rows.
                let row = first_row + at as u32;
                let added = sweep.add(name, start, end);
                add(
                    &mut names,
                    NameTime {
                        name: NameId(name),
                        count: 1,
                        total_ps: inside,
                        union_ps: added.union_ps,
                        self_ps: inside,
                        longest_ps: duration.unsigned_abs(),
                        longest_row: row,
                    },
                );
                if let Some((caller, taken_ps)) = added.caller
                    && let Some(caller) = names.get_mut(&caller)
                {
                    caller.self_ps = caller.self_ps.saturating_sub(taken_ps);
                }
                total.count += 1;
                covered.add(start, end.min(span.end.0));
            }
        }
        total.busy_ps = covered.total_ps();
        Ok((total, names))
    }
}

/// Adds slices of a name.
fn add(names: &mut Names, of: NameTime) {
    let entry =
        names.entry(of.name.0).or_insert(NameTime { count: 0, total_ps: 0, union_ps: 0, self_ps: 0, ..of });
    entry.count += of.count;
    entry.total_ps += of.total_ps;
    entry.union_ps += of.union_ps;
    entry.self_ps += of.self_ps;
    if of.longest_ps > entry.longest_ps {
        (entry.longest_ps, entry.longest_row) = (of.longest_ps, of.longest_row);
    }
}

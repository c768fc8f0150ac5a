//! The extent of slices: from the first start to the last end of slices that take time.
//!
//! A trace can mark the begin and the end of its recording with instants long before and after all
//! slices. Nothing happened there, so shares of time are not taken of it. Stored totals tell which
//! blocks have time, so a track costs a few blocks at its ends.

use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{Role, TableId, TrackContent, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The extent of the slices on tracks of these roles. `None` if no slice takes time.
pub fn extent<B: Bytes>(
    segment: &Segment<B>,
    is_wanted: impl Fn(Role) -> bool,
    cancel: Cancel<'_>,
) -> Result<Option<Interval>> {
    let mut extent: Option<Interval> = None;
    for (at, track) in (0..).zip(&segment.footer().tracks) {
        let is_of_slices = matches!(track.spec.kind, TrackContent::Slices(..)) && track.rows > 0;
        let span = Interval::new(track.start_ps, track.end_ps);
        let is_inside = extent.is_some_and(|extent| extent.cover(span) == extent);
        if !is_of_slices || is_inside || !is_wanted(track.spec.identity.role) {
            continue;
        }
        cancel.check()?;
        let of_track = of_track(segment, TrackId(at), cancel)?;
        extent = extent.into_iter().chain(of_track).reduce(Interval::cover);
    }
    Ok(extent)
}

fn of_track<B: Bytes>(segment: &Segment<B>, track: TrackId, cancel: Cancel<'_>) -> Result<Option<Interval>> {
    let Some(table) = segment.table_of(track) else { return Ok(None) };
    let (blocks, list, totals) = (segment.blocks_of(track)?, segment.blocks(table)?, segment.totals(track)?);
    let first = blocks.start;
    let has_time = |block: &usize| {
        totals.is_none_or(|totals| totals.names(*block - first).iter().any(|name| name.total_ps > 0))
    };
    let mut start = None;
    for block in blocks.clone().filter(has_time) {
        cancel.check()?;
        // Starts ascend, so the first slice with time is the earliest.
        start = timed(segment, table, block)?.first().map(|slice| slice.start.0);
        if start.is_some() {
            break;
        }
    }
    let Some(start) = start else { return Ok(None) };
    let mut by_end: Vec<usize> = blocks.filter(has_time).collect();
    by_end.sort_unstable_by_key(|&block| std::cmp::Reverse(list.end(block)));
    let mut end = start;
    for block in by_end {
        if list.end(block) <= end {
            break;
        }
        cancel.check()?;
        end = timed(segment, table, block)?.iter().map(|slice| slice.end.0).fold(end, i64::max);
    }
    Ok(Some(Interval::new(start, end)))
}

/// The slices of a block that take time, by start.
fn timed<B: Bytes>(segment: &Segment<B>, table: TableId, block: usize) -> Result<Vec<Interval>> {
    let mut reader = BlockReader::new(segment, table, block)?;
    let starts = reader.core_ints(ColumnRole::Start)?;
    let durations = reader.core_ints(ColumnRole::Duration)?;
    let slices = starts.iter().zip(&durations).filter(|(_, duration)| **duration > 0);
    Ok(slices.map(|(&start, &duration)| Interval::new(start, start.saturating_add(duration))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};

    /// The extent of tracks with slices from start to end.
    #[track_caller]
    fn check(tracks: &[&[(i64, i64)]], expected: Option<(i64, i64)>) {
        let named = |slices: &&[(i64, i64)]| {
            let slices: Vec<_> = slices.iter().map(|&(start, end)| ("x", start, end)).collect();
            RankTrack::of(Role::Kernels, &slices)
        };
        let segment = rank_of("trace_event", &tracks.iter().map(named).collect::<Vec<_>>());
        let found = extent(&segment, |_| true, Cancel::NEVER).unwrap();
        assert_eq!(found.map(|extent| (extent.start.0, extent.end.0)), expected);
    }

    #[test]
    fn instants_outside_of_all_slices_do_not_count() {
        check(&[&[(10, 15), (12, 32)], &[(0, 0), (90, 90)]], Some((10, 32)));
        check(&[&[(0, 0), (10, 15), (12, 12), (90, 90)]], Some((10, 15)));
        check(&[&[(0, 0)], &[(5, 5)]], None);
        check(&[], None);
    }

    #[test]
    fn blocks_of_instants_are_passed_over() {
        let instants = |from: i64| (from..from + 6_000).map(|at| (at, at));
        let slices = instants(0).chain([(7_000, 7_003), (7_001, 7_041)]).chain(instants(8_000));
        check(&[&slices.collect::<Vec<_>>()], Some((7_000, 7_041)));
        // A long slice of an early block ends last.
        let long = [(3, 50_003)].into_iter().chain((10..9_000).map(|at| (at, at + 2)));
        check(&[&long.collect::<Vec<_>>(), &[(60_000, 60_000)]], Some((3, 50_003)));
    }

    #[test]
    fn tracks_of_other_roles_do_not_count() {
        let tracks =
            [RankTrack::of(Role::HostThread, &[("a", 0, 90)]), RankTrack::of(Role::Kernels, &[("b", 5, 7)])];
        let segment = rank_of("trace_event", &tracks);
        let found = extent(&segment, |role| role == Role::Kernels, Cancel::NEVER).unwrap();
        assert_eq!(found, Some(Interval::new(5, 7)));
    }
}

//! Light on the rows of a query: for each lane, the equal parts of a span in which one of them is.
//!
//! A track has its rows one after the other, so tracks without any are left out unread, and so are
//! blocks. The others are shared among all cores.

use std::collections::BTreeMap;
use std::ops::Range;

use roaring::RoaringBitmap;

use super::density::DensityCells;
use crate::base::{Result, narrow};
use crate::exec::Work;
use crate::model::{TableKind, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The rows of a query on their tracks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HitLight {
    /// Number of rows that overlap the span.
    pub in_span: u64,
    /// The tracks that have any, in their order.
    pub tracks: Vec<TrackHits>,
    /// The lanes that have any in the span, by track.
    pub lanes: Vec<LitLane>,
}

/// The rows of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackHits {
    /// The track.
    pub track: TrackId,
    /// Their number, also outside of the span.
    pub count: u64,
}

/// The light on a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LitLane {
    /// The track.
    pub track: TrackId,
    /// The lane in it.
    pub lane: u32,
    /// The parts, as stretches that do not touch, in the order of time.
    pub stretches: Vec<Range<u32>>,
}

/// The light on slices that are known by their rows. A slice without duration lights the part of
/// its start.
pub fn light<B: Bytes>(
    segment: &Segment<B>,
    rows: &RoaringBitmap,
    cells: DensityCells,
    work: Work<'_>,
) -> Result<HitLight> {
    let ids = (0..).zip(&segment.footer().tracks).map(|(id, meta)| (TrackId(id), meta));
    let hits = ids.filter_map(|(track, meta)| {
        let table = segment.table_of(track)?;
        let is_slices = segment.footer().tables[usize::from(table.0)].spec.kind == TableKind::Slices;
        let of_track = meta.first_row..meta.first_row.saturating_add(meta.rows);
        let count = if is_slices { rows.range_cardinality(of_track) } else { 0 };
        (count > 0).then_some(TrackHits { track, count })
    });
    let tracks: Vec<TrackHits> = hits.collect();
    let of_tracks = work.gather(tracks.len(), |at| of_track(segment, tracks[at].track, rows, cells, work))?;
    let mut light = HitLight { tracks, ..HitLight::default() };
    for of_track in of_tracks {
        light.in_span += of_track.in_span;
        light.lanes.extend(of_track.lanes);
    }
    Ok(light)
}

/// The light on a track.
fn of_track<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    rows: &RoaringBitmap,
    cells: DensityCells,
    work: Work<'_>,
) -> Result<HitLight> {
    let Some(table) = segment.table_of(track) else { return Ok(HitLight::default()) };
    let list = segment.blocks(table)?;
    let has_lanes = segment.footer().tracks[track.0 as usize].lanes > 1;
    let first_row_of_table = segment.footer().tables[usize::from(table.0)].first_row;
    let (mut in_span, mut lanes) = (0, BTreeMap::<u32, Vec<Range<u32>>>::new());
    for block in list.overlapping(segment.blocks_of(track)?, cells.span) {
        work.cancel.check()?;
        let first_row = first_row_of_table + list.first_row(block);
        let of_block = first_row..first_row.saturating_add(narrow(list.rows(block)));
        let count = rows.range_cardinality(of_block.clone());
        let is_inside = list.starts()[block] >= cells.span.start.0 && list.end(block) < cells.span.end.0;
        if count == 0 || cells.count == 0 && is_inside {
            in_span += count;
            continue;
        }
        let mut reader = BlockReader::new(segment, table, block)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let of_lanes = if has_lanes { reader.core_ints(ColumnRole::Lane)? } else { Vec::new() };
        for row in rows.range(of_block) {
            let at = (row - first_row) as usize;
            let (Some(&start_ps), Some(&duration_ps)) = (starts.get(at), durations.get(at)) else { break };
            let end_ps = start_ps.saturating_add(duration_ps);
            if !cells.span.overlaps(start_ps, end_ps) {
                continue;
            }
            in_span += 1;
            if let Some(lit) = cells.of(start_ps, end_ps) {
                let lane = of_lanes.get(at).map_or(0, |&lane| u32::try_from(lane).unwrap_or(0));
                add(lanes.entry(lane).or_default(), lit);
            }
        }
    }
    let lanes = lanes.into_iter().map(|(lane, stretches)| LitLane { track, lane, stretches });
    Ok(HitLight { in_span, tracks: Vec::new(), lanes: lanes.collect() })
}

/// Adds a stretch that begins after the starts of all others.
fn add(stretches: &mut Vec<Range<u32>>, lit: Range<u32>) {
    match stretches.last_mut() {
        Some(last) if lit.start <= last.end => last.end = last.end.max(lit.end),
        _ => stretches.push(lit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Interval;
    use crate::fixture::{RankTrack, rank_of};
    use crate::model::Role;

    /// Slices `start, end` of two tracks.
    const TRACKS: [&[(i64, i64)]; 2] = [&[(0, 10), (10, 12), (40, 41), (90, 100)], &[(50, 70), (55, 60)]];

    /// Lanes as `track.lane first..end`, and the number of rows in the span, of the rows that a
    /// test takes.
    #[track_caller]
    fn check(is_wanted: impl Fn(u32) -> bool, span: (i64, i64), count: usize, expected: (&str, u64)) {
        let slices = TRACKS.map(|of| of.iter().map(|&(start, end)| ("x", start, end)).collect::<Vec<_>>());
        let segment = rank_of("trace_event", &slices.each_ref().map(|of| RankTrack::of(Role::Kernels, of)));
        let rows = (0..6).filter(|row| is_wanted(*row)).collect();
        let cells = DensityCells { span: Interval::new(span.0, span.1), count };
        let light = light(&segment, &rows, cells, Work::IN_PLACE).unwrap();
        let lane = |of: &LitLane| {
            let stretches = of.stretches.iter().map(|of| format!("{of:?}"));
            format!("{}.{} {}", of.track.0, of.lane, stretches.collect::<Vec<_>>().join(" "))
        };
        let lanes = light.lanes.iter().map(lane).collect::<Vec<_>>().join(", ");
        assert_eq!((lanes.as_str(), light.in_span), expected);
        assert_eq!(light.tracks.iter().map(|of| of.count).sum::<u64>(), rows.len());
    }

    #[test]
    fn lanes_are_lit_where_their_slices_are() {
        check(|_| true, (0, 100), 10, ("0.0 0..2 4..5 9..10, 1.0 5..7, 1.1 5..6", 6));
        check(|row| row == 2, (0, 100), 10, ("0.0 4..5", 1));
        check(|_| false, (0, 100), 10, ("", 0));
    }

    #[test]
    fn a_span_cuts_off() {
        check(|_| true, (5, 45), 4, ("0.0 0..1 3..4", 3));
        check(|_| true, (60, 80), 2, ("1.0 0..1", 1));
        check(|_| true, (80, 85), 2, ("", 0));
    }

    #[test]
    fn without_parts_rows_are_counted() {
        check(|_| true, (0, 1_000), 0, ("", 6));
        check(|_| true, (5, 45), 0, ("", 3));
    }
}

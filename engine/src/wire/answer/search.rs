//! Answers about the hits of a search.

use super::entry;
use crate::base::{Result, narrow};
use crate::exec::Work;
use crate::query::{self, DensityCells, HitPage, LitLane, ResolvedFilter};
use crate::rank::RankView;
use crate::segment::{Bytes, ColumnRole};
use crate::wire::allowance::AnswerAllowance;
use crate::wire::light::{LitLaneEntry, SearchLight, TrackHitsEntry};
use crate::wire::search::{SearchHit, SearchResult};

/// The slices that a query or a pattern finds; the hits of one page in detail.
pub fn search<B: Bytes>(
    rank: RankView<'_, B>,
    filter: &ResolvedFilter,
    page: HitPage,
    parts: DensityCells,
    work: Work<'_>,
) -> Result<SearchResult> {
    let (segment, left) = (rank.segment, AnswerAllowance::of_answer());
    let found = filter.find(segment, page, work)?;
    let hits = found.hits.iter().map(|hit| {
        let field = match hit.role {
            ColumnRole::Field(id) => segment.footer().fields[id.0 as usize].1.name.as_str(),
            _ => "name",
        };
        let field = left.text(field)?;
        work.cancel.check()?;
        Ok(SearchHit { slice: entry(segment, &query::slice::read(segment, hit.row)?, &left)?, field })
    });
    Ok(SearchResult {
        hits: hits.collect::<Result<_>>()?,
        before: found.before,
        total: found.rows.len(),
        density: query::density(segment, &found.rows, parts, work)?,
    })
}

/// The hits of a search on their tracks.
pub fn light<B: Bytes>(
    rank: RankView<'_, B>,
    filter: &ResolvedFilter,
    cells: DensityCells,
    work: Work<'_>,
) -> Result<SearchLight> {
    let (segment, left) = (rank.segment, AnswerAllowance::of_answer());
    let rows = filter.rows(segment, work)?;
    let light = query::light(segment, &rows, cells, work)?;
    let lane = |of: &LitLane| {
        left.take(size_of::<LitLaneEntry>() + size_of_val(&of.stretches[..]))?;
        let lengths = LitLaneEntry::lengths_of(&of.stretches);
        Ok(LitLaneEntry { track: of.track.0, lane: of.lane, lengths })
    };
    Ok(SearchLight {
        start_ps: cells.span.start.0,
        end_ps: cells.span.end.0,
        cells: narrow(cells.count),
        total: rows.len(),
        in_span: light.in_span,
        lanes: light.lanes.iter().map(lane).collect::<Result<_>>()?,
        tracks: light.tracks.iter().map(|of| TrackHitsEntry { track: of.track.0, hits: of.count }).collect(),
    })
}

//! Answers that sum up a rank: statistics of a span, metrics, waits and activity over time.

use rustc_hash::FxHashSet;

use super::{content, tracks_of};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::makers::job;
use crate::makers::job::activity::ActivityQuantity;
use crate::metrics::MetricScope;
use crate::query::ResolvedFilter;
use crate::rank::RankView;
use crate::segment::Bytes;
use crate::wire::activity::{AbsentQuantity, ActivityRate, ActivityShares, RankShares};
use crate::wire::allowance::AnswerAllowance;
use crate::wire::rank_ref::RankRef;
use crate::wire::selection::{NameTotal, SelectionSummary, Side, TrackTotal};
use crate::wire::summary::{
    AbsentMetricsEntry, MetricColumnEntry, MetricEntry, MetricGroupEntry, MetricPlaceEntry, MetricRowEntry,
    MetricTableEntry, Summary,
};
use crate::wire::waits::{WaitShares, WaitSteps};
use crate::{makers, metrics, query};

/// Statistics of a span, over all tracks or the requested ones, and over all slices or those that a
/// query finds.
pub fn selection<B: Bytes>(
    rank: RankView<'_, B>,
    span: Interval,
    tracks: Option<&[u32]>,
    filter: Option<&ResolvedFilter>,
    work: Work<'_>,
) -> Result<SelectionSummary> {
    let (segment, left) = (rank.segment, AnswerAllowance::of_answer());
    let rows = filter.map(|filter| filter.rows(segment, work)).transpose()?;
    let tracks = tracks_of(segment, tracks);
    let selection = query::selection::select_rows(segment, &tracks, span, rows.as_ref(), work)?;
    let by_name = selection.by_name.iter().map(|name| {
        left.take(size_of::<NameTotal>())?;
        Ok(NameTotal {
            name: left.text(segment.text(name.name)?)?,
            side: name.side.map(Side::from),
            is_wait: name.is_wait,
            count: name.count,
            total_ps: name.total_ps,
            union_ps: name.union_ps,
            self_ps: name.self_ps,
            longest_ps: name.longest_ps,
            longest_row: name.longest_row,
        })
    });
    Ok(SelectionSummary {
        start_ps: span.start.0,
        end_ps: span.end.0,
        count: selection.count,
        by_name: by_name.collect::<Result<_>>()?,
        by_track: selection
            .by_track
            .iter()
            .map(|t| TrackTotal { track: t.track.0, count: t.count, busy_ps: t.busy_ps, wait_ps: t.wait_ps })
            .collect(),
    })
}

/// The metrics of a rank or of a part of it.
pub fn summary<B: Bytes>(
    rank: RankView<'_, B>,
    number: impl Into<RankRef>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<Summary> {
    let metrics = makers::metrics(rank.segment, scope, work)?;
    let absent = |of: metrics::AbsentMetrics| AbsentMetricsEntry {
        key: of.key.to_owned(),
        title: of.title.to_owned(),
        reason: of.reason.into_owned(),
    };
    Ok(Summary {
        rank: number.into(),
        groups: metrics.groups.into_iter().map(group_entry).collect(),
        tables: metrics.tables.into_iter().map(table_entry).collect(),
        absent: metrics.absent.into_iter().map(absent).collect(),
    })
}

fn group_entry(group: metrics::MetricGroup) -> MetricGroupEntry {
    let place = |place: metrics::MetricPlace| MetricPlaceEntry {
        rank: place.rank,
        at_ps: place.at_ps,
        operation: place.operation,
        ranks: place.ranks,
    };
    let metric = |metric: metrics::Metric| MetricEntry {
        name: metric.name,
        value: content(metric.value),
        unit: metric.unit.symbol().to_owned(),
        doc: metric.doc,
        place: metric.place.map(place),
    };
    MetricGroupEntry {
        key: group.key.to_owned(),
        title: group.title.to_owned(),
        has_names_of_trace: group.has_names_of_trace,
        metrics: group.metrics.into_iter().map(metric).collect(),
    }
}

fn table_entry(table: metrics::MetricTable) -> MetricTableEntry {
    let column = |of: &metrics::MetricDefinition| MetricColumnEntry {
        name: of.name.to_owned(),
        unit: of.unit.symbol().to_owned(),
        doc: of.doc.to_owned(),
    };
    let row = |row: metrics::MetricRow| MetricRowEntry {
        name: row.name,
        values: row.values.into_iter().map(|value| value.map(content)).collect(),
    };
    MetricTableEntry {
        key: table.family.key.to_owned(),
        title: table.family.title.to_owned(),
        row: table.family.row.unwrap_or_default().to_owned(),
        columns: table.family.metrics.iter().map(column).collect(),
        rows: table.rows.into_iter().map(row).collect(),
    }
}

/// Shares of time that ranks waited, in steps; empty for a rank's own segment. The spread is that
/// of all ranks, also if a few are requested.
pub fn waits<B: Bytes>(
    rank: RankView<'_, B>,
    span: Interval,
    most_steps: u32,
    ranks: Option<&[u32]>,
    work: Work<'_>,
) -> Result<WaitSteps> {
    let over_time = job::over_time::over_time(rank.segment, span, most_steps, work)?;
    let spreads = over_time.spreads();
    let ranks = ranks.map(|ranks| ranks.iter().copied().collect::<FxHashSet<u32>>());
    let is_wanted = |rank: u32| ranks.as_ref().is_none_or(|ranks| ranks.contains(&rank));
    Ok(WaitSteps {
        start_ps: over_time.start_ps,
        step_ps: over_time.step_ps,
        least: spreads.iter().map(|spread| spread.least.0 as f32).collect(),
        median: spreads.iter().map(|spread| spread.median as f32).collect(),
        most: spreads.iter().map(|spread| spread.most.0 as f32).collect(),
        ranks: over_time
            .ranks
            .iter()
            .filter(|waits| is_wanted(waits.rank))
            .map(|waits| WaitShares {
                rank: waits.rank,
                shares: waits.shares.iter().map(|share| *share as f32).collect(),
            })
            .collect(),
    })
}

/// A quantity of all ranks in equal spans of time; empty for a rank's own segment.
pub fn activity<B: Bytes>(
    rank: RankView<'_, B>,
    quantity: ActivityQuantity,
    work: Work<'_>,
) -> Result<ActivityShares> {
    let found = job::activity::activity(rank.segment, quantity, work.cancel)?;
    let absent = |of: ActivityQuantity| AbsentQuantity {
        quantity: of.name().to_owned(),
        reason: of.reason().to_owned(),
    };
    Ok(ActivityShares {
        start_ps: found.start_ps,
        end_ps: found.end_ps,
        step_ps: found.step_ps,
        ranks: found.ranks.into_iter().map(|of| RankShares { rank: of.rank, shares: of.shares }).collect(),
        absent: found.absent.into_iter().map(absent).collect(),
        rate: found.rate.map(|of| ActivityRate { top_flops: of.top_flops, is_peak: of.is_peak }),
    })
}

//! Waiting of ranks over time, in steps of the grid of tiles.
//!
//! Waits of coarse steps come from the stored cells of the rows of ranks, so a window of any width
//! costs a few hundred cells a rank.

use super::rank_of;
use super::schema::WaitStepFields;
use crate::base::{Interval, Result, Time, signed};
use crate::exec::{Cancel, Work};
use crate::metrics::trace;
use crate::model::{Sink, TrackId, Value};
use crate::segment::{Bytes, Segment};
use crate::tile::{self, LaneContent, Level, TileId};

/// Most steps of an answer.
pub const MOST_STEPS: u32 = 1_024;

/// The waiting of all ranks in steps of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WaitsOverTime {
    /// Start of the first step, in picoseconds.
    pub start_ps: i64,
    /// Width of a step, in picoseconds.
    pub step_ps: i64,
    /// The ranks, by number.
    pub ranks: Vec<RankWaits>,
}

/// The waiting of a rank in steps of time.
#[derive(Debug, Clone, PartialEq)]
pub struct RankWaits {
    /// Number of the rank.
    pub rank: u32,
    /// Waited share of each step, from 0 to 1. Time outside of the recording does not count. Waits
    /// in several operations at once count as 1.
    pub shares: Vec<f64>,
}

/// The ranks that waited least and most in a step, and the share of the rank between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSpread {
    /// Share and number of the rank that waited least: the others wait for it.
    pub least: (f64, u32),
    /// Half of the ranks waited no more than this share.
    pub median: f64,
    /// Share and number of the rank that waited most.
    pub most: (f64, u32),
}

impl WaitsOverTime {
    /// Number of steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.ranks.first().map_or(0, |rank| rank.shares.len())
    }

    /// The spread of each step over all ranks. The first of equal ranks is named.
    #[must_use]
    pub fn spreads(&self) -> Vec<StepSpread> {
        let mut shares = Vec::with_capacity(self.ranks.len());
        let spread = |step: usize| {
            shares.clear();
            shares.extend(self.ranks.iter().map(|rank| (rank.shares[step], rank.rank)));
            shares.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let last = *shares.last()?;
            let most = shares.iter().find(|one| one.0 >= last.0).copied().unwrap_or(last);
            Some(StepSpread { least: shares[0], median: shares[shares.len() / 2].0, most })
        };
        (0..self.steps()).map_while(spread).collect()
    }

    /// Writes a row for each step. `whole` is the recorded span.
    pub fn write(&self, whole: Interval, sink: &mut dyn Sink) -> Result<()> {
        let of = WaitStepFields::define(sink)?;
        for (at, StepSpread { least, median, most }) in (0..).zip(self.spreads()) {
            let start_ps = self.start_ps.saturating_add(self.step_ps.saturating_mul(at));
            let from_ps = start_ps.max(whole.start.0).saturating_sub(whole.start.0);
            let fields = [
                (of.from, Value::Int(from_ps)),
                (of.start, Value::Int(start_ps)),
                (of.end, Value::Int(start_ps.saturating_add(self.step_ps))),
                (of.least, Value::Float(least.0)),
                (of.least_rank, Value::Int(least.1.into())),
                (of.median, Value::Float(median)),
                (of.most, Value::Float(most.0)),
                (of.most_rank, Value::Int(most.1.into())),
            ];
            sink.row(of.table, &fields)?;
        }
        Ok(())
    }
}

/// The waiting of all ranks of a job segment in a span, in at most `most_steps` steps. A step is
/// a cell of the grid, so the first and the last one can reach beyond the span. Without steps if
/// nothing was recorded in the span, or the segment is no job segment.
pub fn over_time<B: Bytes>(
    segment: &Segment<B>,
    span: Interval,
    most_steps: u32,
    work: Work<'_>,
) -> Result<WaitsOverTime> {
    let footer = segment.footer();
    let whole = trace::span(segment);
    let (start, end) = (span.start.max(whole.start), span.end.min(whole.end));
    if start >= end {
        return Ok(WaitsOverTime::default());
    }
    let steps = NeighbourCells::of(Interval::new(start.0, end.0), most_steps);
    let mut rows: Vec<(u32, TrackId)> = (0..)
        .map(TrackId)
        .zip(&footer.tracks)
        .filter_map(|(track, _)| Some((rank_of(footer, track)?, track)))
        .collect();
    rows.sort_unstable();
    let ranks = work.gather(rows.len(), |at| {
        let (rank, track) = rows[at];
        let waited_ps = steps.waited_ps(segment, track, work.cancel)?;
        Ok(RankWaits { rank, shares: steps.shares(&waited_ps, whole) })
    })?;
    Ok(WaitsOverTime {
        start_ps: steps.first.saturating_mul(steps.level.cell_ps()),
        step_ps: steps.level.cell_ps(),
        ranks,
    })
}

/// Neighbouring cells of a level.
#[derive(Debug, Clone, Copy)]
struct NeighbourCells {
    level: Level,
    first: i64,
    count: usize,
    span: Interval,
}

impl NeighbourCells {
    /// The finest cells of which no more than `most` overlap the span.
    fn of(span: Interval, most: u32) -> Self {
        let most = most.clamp(1, MOST_STEPS);
        let mut level = Level::for_cell_ps(span.duration_ps() as f64 / f64::from(most));
        loop {
            let first = level.cell_of(span.start);
            let last = level.cell_of(Time(span.end.0 - 1));
            let count = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
            if count <= most as usize || level == Level::COARSEST {
                return Self { level, first, count, span };
            }
            level = level.coarser();
        }
    }

    /// The span of a step.
    fn step(&self, at: usize) -> Interval {
        let cell = self.first.saturating_add(signed(at));
        let start_ps = cell.saturating_mul(self.level.cell_ps());
        Interval::new(start_ps, start_ps.saturating_add(self.level.cell_ps()))
    }

    /// The waited time of a row in each step, in picoseconds.
    fn waited_ps<B: Bytes>(
        &self,
        segment: &Segment<B>,
        track: TrackId,
        cancel: Cancel<'_>,
    ) -> Result<Vec<u64>> {
        let waits = &segment.footer().waits;
        let mut waited_ps = vec![0_u64; self.count];
        for index in self.level.tiles_of(self.span) {
            // Tracks are cut one by one, so the group has no meaning.
            let tile = TileId { group: 0, level: self.level, index };
            for lane in tile::cut(segment, track, tile, cancel)? {
                match lane.content {
                    LaneContent::SliceCells(cells) => {
                        for cell in cells {
                            let at = usize::try_from(cell.index - self.first).ok();
                            if let Some(step) = at.and_then(|at| waited_ps.get_mut(at)) {
                                *step = step.saturating_add(cell.content.wait_ps);
                            }
                        }
                    }
                    LaneContent::Slices(slices) => {
                        let of_wait = |name: u32| waits.contains(name);
                        for slice in slices.iter().filter(|slice| of_wait(slice.name)) {
                            let wait = Interval::lasting(slice.start_ps, slice.duration_ps);
                            self.add(tile.interval(), wait, &mut waited_ps);
                        }
                    }
                    LaneContent::Samples(_) | LaneContent::Ranges(_) => {}
                }
            }
        }
        Ok(waited_ps)
    }

    /// Adds the part of a wait within a tile. The tiles beside it have the other parts.
    fn add(&self, tile: Interval, wait: Interval, waited_ps: &mut [u64]) {
        let inside = wait.intersection(tile);
        let from = usize::try_from(self.level.cell_of(inside.start) - self.first).unwrap_or(0);
        for (at, waited_ps) in waited_ps.iter_mut().enumerate().skip(from) {
            let step = self.step(at);
            if step.start >= inside.end {
                break;
            }
            let of_step = inside.intersection(step).duration_ps();
            *waited_ps = waited_ps.saturating_add(of_step.unsigned_abs());
        }
    }

    /// Shares of the recorded part of each step.
    fn shares(&self, waited_ps: &[u64], whole: Interval) -> Vec<f64> {
        let share = |(at, waited_ps): (usize, &u64)| {
            let step = self.step(at);
            let recorded_ps = step.end.0.min(whole.end.0).saturating_sub(step.start.0.max(whole.start.0));
            if recorded_ps > 0 { (*waited_ps as f64 / recorded_ps as f64).min(1.0) } else { 0.0 }
        };
        waited_ps.iter().enumerate().map(share).collect()
    }
}

//! Writes the job segment: operations of all ranks, calls of each rank with their waits, and
//! tables that compare ranks.
//!
//! It is a function of the ranks' segments, like the overlay, so it can be lost and written again.
//! As a segment it has tiles, search, details and exports like any rank. Times are those of the
//! clock that all ranks share.

mod activity;
mod awaited_rank;
mod call_facts;
mod calls;
mod finder;
mod names;
mod operation_step;
mod operations;
mod schedule;
mod sends;
pub mod tables;
mod tracks;

use self::awaited_rank::Awaited;
use self::names::SegmentNames;
use self::schedule::ScheduleFacts;
use self::tracks::{SegmentTables, SegmentTracks};
use super::{Job, Report, steps};
use crate::base::{Interval, Result, Time};
use crate::exec::Cancel;
use crate::makers::job::SOURCE;
use crate::makers::job::schema::{Call, Computation, Operation};
use crate::model::{RankInfo, Sink, Value, WarningKind};

pub use call_facts::{CallWaits, Derived, MemberCall, of_row};
pub use finder::{OperationSend, Sense};
pub use operation_step::beside;

/// Version of the job segment. One of another version is written again.
pub const VERSION: u32 = 15;

/// Times are whole nanoseconds: those of ranks are known to much less, and half of the bits of a
/// picosecond time would be noise.
const STEP_PS: i64 = 1_000;

/// A warning about a job of which some ranks are there.
const MISSING_RANKS: &str =
    "ranks of the job were not recorded; waits, blame and last ranks are those among the others";

/// A warning about calls of which nobody can tell to which process group they belong.
const NO_GROUP: &str = "calls state no process group, and several are possible; they are not compared";

/// The time as it is written. An order of times stays.
fn shown(ps: i64) -> i64 {
    ps.div_euclid(STEP_PS).saturating_mul(STEP_PS)
}

/// Start and end of a call on the shared clock, in picoseconds.
fn span_of(job: &Job, report: &Report, rank: usize, call: usize) -> Interval {
    let (calls, clock) = (&job.ranks[rank].calls, &report.used[rank]);
    let shared_ps = |local_ps: i64| clock.to_shared(Time(local_ps)).0;
    Interval::new(shared_ps(calls.starts_ps[call]), shared_ps(calls.end_ps(call)))
}

/// The operations in the order of their first arrivals.
fn order_of(report: &Report) -> Vec<usize> {
    let mut order: Vec<usize> = (0..report.operations.len()).collect();
    order.sort_unstable_by_key(|&at| (report.operations[at].span.first_ps, at));
    order
}

fn numbers_of(order: &[usize]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    for (number, &at) in (1..).zip(order) {
        numbers[at] = number;
    }
    numbers
}

/// The number of each operation, from 1 on. Numbers follow the first arrivals, so they grow along
/// each row of the timeline.
#[must_use]
pub fn numbers(report: &Report) -> Vec<u32> {
    numbers_of(&order_of(report))
}

/// Writes the job segment of a job.
pub fn write(job: &Job, report: &Report, sink: &mut dyn Sink, cancel: Cancel<'_>) -> Result<()> {
    sink.rank(RankInfo { source: SOURCE.to_owned(), title: "All ranks".to_owned(), ..RankInfo::default() });
    if (job.world as usize) > job.ranks.len() && !job.ranks.is_empty() {
        let place = || format!("{} of {} ranks are there", job.ranks.len(), job.world);
        sink.warn(WarningKind::MissingData, MISSING_RANKS, &place);
    }
    for one in &job.unplaced {
        let place = || format!("rank {}: {}", one.rank, one.reason());
        sink.warn_times(WarningKind::MissingData, NO_GROUP, one.calls, &place);
    }
    let order = order_of(report);
    let numbers = numbers_of(&order);
    let awaited: Vec<Option<Awaited>> = (0..report.operations.len())
        .map(|at| cancel.check().map(|()| Awaited::of(job, report, at)))
        .collect::<Result<_>>()?;
    let (operation, call) = (Operation::define(sink)?, Call::define(sink)?);
    let computation = Computation::define(sink)?;
    let tables =
        SegmentTables { operations: operation.table, calls: call.table, computation: computation.table };
    let tracks = SegmentTracks::define(job, report, tables, sink)?;
    let names = SegmentNames::define(job, sink)?;
    let mut writer = operations::OperationWriter {
        sink: &mut *sink,
        tracks: &tracks,
        fields: operations::OperationFields { job, report, of: operation, names: &names },
    };
    for &at in &order {
        cancel.check()?;
        writer.operation(numbers[at], at, awaited[at])?;
    }
    let by_call = report.instances.by_call(job);
    let facts = ScheduleFacts {
        job,
        report,
        order: &order,
        numbers: &numbers,
        awaited: &awaited,
        names: &names,
        by_call: &by_call,
    };
    if let Some(schedule) = facts.schedule(call.operation, cancel)? {
        sink.schedule(call.table, schedule)?;
    }
    // Rank by rank, so that rows come in their order and need no sorting.
    let mut writer = calls::CallWriter { job, report, sink: &mut *sink, of: call, names: &names };
    for (rank, of_calls) in by_call.iter().enumerate() {
        for (at, &instance) in of_calls.iter().enumerate() {
            cancel.check()?;
            let instance = instance as usize;
            writer.call(rank, at, tracks.ranks[rank], numbers[instance], awaited[instance])?;
        }
    }
    write_computation(job, report, &tracks, computation, sink)?;
    sends::write(job, report, &order, &numbers, sink, cancel)?;
    tables::write(job, report, &numbers, sink)?;
    tables::write_steps(&steps(job, report, &by_call), sink)?;
    activity::write(&facts, sink, cancel)
}

/// Writes the computation of the ranks that state some.
fn write_computation(
    job: &Job,
    report: &Report,
    tracks: &SegmentTracks,
    of: Computation,
    sink: &mut dyn Sink,
) -> Result<()> {
    for (at, track) in tracks.computation.iter().enumerate() {
        let Some(track) = *track else { continue };
        let (rank, clock) = (&job.ranks[at], &report.used[at]);
        let fields = [(of.rank, Value::Int(rank.rank.into()))];
        for (start_ps, share) in rank.rest.compute_load.changes() {
            sink.sample(track, shown(clock.to_shared(Time(start_ps)).0), share, &fields)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

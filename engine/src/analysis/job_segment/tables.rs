//! Tables that compare ranks, sizes and causes.

use std::ops::Range;

use super::names::SegmentNames;
use super::operations::{OperationFields, rounded};
use super::shown;
use crate::analysis::table::{By, RowKey, rows};
use crate::analysis::{ClockVerdict, Job, Report, StepReport, Suspect, costs, shown_by, steps, totals};
use crate::base::{Result, clamped};
use crate::makers::job::schema::{
    Cause, JobFields, MismatchFields, Operation, RankFields, SizeFields, StepFields,
};
use crate::model::{FieldId, Sink, Value};

/// Writes the tables that compare ranks, sizes and causes. `numbers` has the number of each
/// operation.
pub(super) fn write(job: &Job, report: &Report, numbers: &[u32], sink: &mut dyn Sink) -> Result<()> {
    whole(job, report, sink)?;
    causes(job, report, numbers, sink)?;
    ranks(job, report, sink)?;
    rows_by(job, report, By::Size, sink)?;
    mismatches(job, report, numbers, sink)
}

fn share(part: i64, whole: i64) -> Value<'static> {
    Value::Float(if whole > 0 { part as f64 / whole as f64 } else { 0.0 })
}

fn count(number: u64) -> Value<'static> {
    Value::Int(clamped(number))
}

/// Writes the table of the job as a whole.
pub fn whole(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = JobFields::define(sink)?;
    let totals = totals(job, report);
    let clocks = match report.clocks.verdict {
        ClockVerdict::Unknown => "unknown: no operation has two ranks",
        ClockVerdict::Agree => "agree",
        ClockVerdict::Aligned => "aligned by the calls",
    };
    let mut fields = vec![
        (of.ranks, count(totals.ranks)),
        (of.ranks_of_job, count(totals.world)),
        (of.operations, count(totals.operations)),
        (of.operations_of_one_rank, count(totals.alone)),
        (of.calls, count(totals.calls)),
        (of.lost_calls, count(totals.lost)),
        (of.clocks, Value::Text(clocks)),
        (of.compute, share(totals.compute_ps, totals.span_ps)),
        (of.overlapped, share(totals.overlap_ps, totals.span_ps)),
        (of.exposed_transfer, share(totals.exposed_transfer_ps(), totals.span_ps)),
        (of.exposed_wait, share(totals.exposed_wait_ps, totals.span_ps)),
        (of.copies, share(totals.copy_ps, totals.span_ps)),
        (of.idle, share(totals.idle_ps, totals.span_ps)),
    ];
    fields.extend(totals.imbalance.map(|imbalance| (of.imbalance, Value::Float(imbalance))));
    fields.push((of.wait, Value::Int(totals.wait_ps)));
    if let Some(straggler) = totals.straggler {
        fields.push((of.straggler, Value::Int(straggler.into())));
        fields.push((of.straggler_delay, Value::Int(totals.straggler_delay_ps)));
    }
    if totals.late_ranks_delay_ps > 0 {
        fields.push((of.late_ranks_delay, Value::Int(totals.late_ranks_delay_ps)));
    }
    sink.row(of.table, &fields)
}

/// Writes rows of operations at these places of the report, with the fields of their slices.
/// `numbers` has the number of each operation.
pub fn operations(
    job: &Job,
    report: &Report,
    numbers: &[u32],
    places: Range<usize>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let (of, names) = (Operation::define(sink)?, SegmentNames::define(job, sink)?);
    let fields = OperationFields { job, report, of, names: &names };
    places.into_iter().try_for_each(|at| sink.row(of.table, &fields.of(numbers[at], at)))
}

/// Writes the causes of waiting.
pub fn causes(job: &Job, report: &Report, numbers: &[u32], sink: &mut dyn Sink) -> Result<()> {
    let of = Cause::define(sink)?;
    let waited: f64 = report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    for cost in costs(report) {
        let cause = cost.culprit.name(job);
        let ranks = list(&match cost.culprit {
            Suspect::Rank(rank) => vec![rank],
            Suspect::Link(group) => job.groups[group as usize].ranks(),
        });
        let share = if waited > 0.0 { cost.root_blame_ps / waited } else { 0.0 };
        let mut fields = vec![
            (of.cause, Value::Text(&cause)),
            (of.ranks, Value::Json(&ranks)),
            (of.root_blame, Value::Int(rounded(cost.root_blame_ps))),
            (of.share, Value::Float(share)),
            (of.stands_out, Value::Bool(cost.stands_out)),
        ];
        match cost.culprit {
            Suspect::Rank(rank) => fields.push((of.rank, Value::Int(rank.into()))),
            Suspect::Link(group) => {
                let communicator = &job.groups[group as usize].communicator.name;
                fields.push((of.communicator, Value::Text(communicator)));
                fields.push((of.excess, Value::Int(rounded(cost.excess_ps))));
                slow_transfers(job, report, &of, group, numbers, &mut fields);
            }
        }
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

/// Numbers as a JSON array.
fn list(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// Adds the slow transfers of a link: how many, how slow, and where they are seen best.
fn slow_transfers(
    job: &Job,
    report: &Report,
    of: &Cause,
    group: u32,
    numbers: &[u32],
    fields: &mut Vec<(FieldId, Value<'_>)>,
) {
    let Some(link) = report.links.iter().find(|link| link.group == group) else { return };
    let Some(slow) = shown_by(job, report, link) else { return };
    fields.push((of.operations, count(link.operations)));
    fields.push((of.slower, Value::Int(rounded(link.slower_ps))));
    fields.push((of.operation, Value::Int(numbers[slow.instance].into())));
    fields.push((of.rank, Value::Int(slow.rank.into())));
    fields.push((of.start, Value::Int(shown(slow.start_ps))));
}

/// Writes the table of steps.
pub(super) fn write_steps(steps: &[StepReport], sink: &mut dyn Sink) -> Result<()> {
    let of = StepFields::define(sink)?;
    for step in steps {
        let mut fields = vec![
            (of.number, Value::Int(step.number.into())),
            (of.operations, count(step.operations)),
            (of.start, Value::Int(step.start_ps)),
            (of.span, Value::Int(step.span_ps)),
            (of.skew, Value::Int(step.skew_ps)),
            (of.wait, Value::Int(step.wait_ps)),
        ];
        fields.extend(step.slowest.map(|rank| (of.slowest, Value::Int(rank.into()))));
        fields.extend(step.imbalance.map(|imbalance| (of.imbalance, Value::Float(imbalance))));
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

/// Writes the table of ranks.
pub fn ranks(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = RankFields::define(sink)?;
    let clocks = report.clocks_of_segments(job).zip(report.bounds_of_segments(job));
    let found = report.ranks.iter().zip(&report.clocks.ranks).zip(&job.ranks);
    for (((rank, found), input), (fit, (low, high))) in found.zip(clocks) {
        let busy = rank.compute_ps.saturating_add(rank.exposed_ps);
        let exposed_transfer_ps = rank.exposed_ps.saturating_sub(rank.exposed_wait_ps);
        let mut fields: Vec<(FieldId, Value<'_>)> = vec![
            (of.rank, Value::Int(rank.rank.into())),
            (of.collectives, count(rank.collectives)),
            (of.lost, count(rank.lost)),
            (of.root_blame, Value::Int(rounded(rank.root_blame_ps))),
            (of.blame, Value::Int(rounded(rank.blame_ps))),
            (of.last_takes_all, Value::Int(rounded(rank.last_takes_all_ps))),
            (of.last, count(rank.last)),
            (of.first, count(rank.first)),
            (of.saving, Value::Int(rounded(rank.saving_ps))),
            (of.job_delay, Value::Int(rank.job_delay_ps)),
            (of.wait, Value::Int(rank.wait_ps)),
            (of.compute, Value::Int(rank.compute_ps)),
            (of.communication, Value::Int(rank.communication_ps)),
            (of.overlap, Value::Int(rank.overlap_ps)),
            (of.exposed, Value::Int(rank.exposed_ps)),
            (of.exposed_wait, Value::Int(rank.exposed_wait_ps)),
            (of.exposed_transfer, Value::Int(exposed_transfer_ps)),
            (of.copy, Value::Int(rank.copy_ps)),
            (of.idle, Value::Int(rank.idle_ps)),
            (of.span, Value::Int(rank.span_ps)),
            (of.offset, Value::Int(fit.offset_ps())),
            (of.at, Value::Int(fit.at_ps())),
            (of.drift_ppm, Value::Float(f64::from(fit.drift_ppb()) / 1e3)),
            (of.residual, count(found.residual_ps)),
            (of.clock_calls, count(found.calls.into())),
            (of.set_by, Value::Text(if input.given.is_some() { "hand" } else { "calls" })),
        ];
        if rank.span_ps > 0 {
            fields.extend([
                (of.busy, share(busy, rank.span_ps)),
                (of.exposed_share, share(rank.exposed_ps, rank.span_ps)),
                (of.exposed_wait_share, share(rank.exposed_wait_ps, rank.span_ps)),
            ]);
        }
        fields.extend(input.rest.host.as_deref().map(|host| (of.host, Value::Text(host))));
        fields.extend(low.map(|low| (of.low, Value::Int(low))));
        fields.extend(high.map(|high| (of.high, Value::Int(high))));
        let unbounded = found.unbounded.filter(|_| input.given.is_none());
        fields.extend(unbounded.map(|why| (of.no_bounds, Value::Text(why.words()))));
        fields.extend(fit.bound_ps().map(|bound| (of.bound, count(bound))));
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

/// Writes the rows of operations with a property in common.
pub fn rows_by(job: &Job, report: &Report, by: By, sink: &mut dyn Sink) -> Result<()> {
    let of = SizeFields::define(sink)?;
    let of_steps = if by == By::Step { steps(job, report, &report.by_call(job)) } else { Vec::new() };
    for row in rows(job, report, by) {
        let algorithms = row.algorithms.join(", ");
        let mut fields = match row.key {
            RowKey::Kind(kind) => vec![(of.kind, Value::Text(kind.name()))],
            RowKey::Size(kind, bytes, ranks) => {
                let fields = [(of.kind, Value::Text(kind.name())), (of.operation_bytes, count(bytes))];
                // Older traces do not tell the members of a group.
                let ranks = (ranks > 0).then_some((of.ranks, Value::Int(ranks.into())));
                fields.into_iter().chain(ranks).collect()
            }
            RowKey::Rank(rank) => vec![(of.last_rank, Value::Int(rank.into()))],
            RowKey::Step(number) => {
                let step = of_steps.iter().find(|step| Some(step.number) == number);
                number
                    .map(|step| (of.step, Value::Int(step.into())))
                    .into_iter()
                    .chain(step.into_iter().flat_map(|step| in_step(&of, step)))
                    .collect()
            }
        };
        if !algorithms.is_empty() {
            fields.push((of.algorithm, Value::Text(&algorithms)));
        }
        fields.extend([
            (of.count, count(row.count)),
            (of.of_one_rank, count(row.alone)),
            (of.bytes, count(row.bytes)),
            (of.total_wait, Value::Int(row.total_wait_ps)),
        ]);
        // A step has the rank for which the others waited most.
        if !fields.iter().any(|(field, _)| *field == of.slowest_rank) {
            fields.extend(row.slowest.map(|rank| (of.slowest_rank, Value::Int(rank.into()))));
        }
        for (of, times) in [
            ([of.wait_median, of.wait_p95, of.wait_max], row.wait_ps),
            ([of.transfer_median, of.transfer_p95, of.transfer_max], row.transfer_ps),
        ] {
            let times = times.into_iter().flatten();
            fields.extend(of.into_iter().zip(times).map(|(field, ps)| (field, Value::Int(ps))));
        }
        for (field, rate) in [
            (of.algorithm_rate, row.algorithm_rate),
            (of.algorithm_rate_with_wait, row.algorithm_rate_with_wait),
            (of.bus_rate, row.bus_rate),
            (of.bus_rate_with_wait, row.bus_rate_with_wait),
        ] {
            fields.extend(rate.map(|rate| (field, Value::Float(rate))));
        }
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

/// Facts about a step besides its operations.
fn in_step(of: &SizeFields, step: &StepReport) -> Vec<(FieldId, Value<'static>)> {
    let mut fields = vec![
        (of.start, Value::Int(step.start_ps)),
        (of.span, Value::Int(step.span_ps)),
        (of.skew, Value::Int(step.skew_ps)),
    ];
    fields.extend(step.slowest.map(|rank| (of.slowest_rank, Value::Int(rank.into()))));
    fields.extend(step.imbalance.map(|imbalance| (of.imbalance, Value::Float(imbalance))));
    fields
}

/// Writes the calls that do not fit to those of other ranks.
pub fn mismatches(job: &Job, report: &Report, numbers: &[u32], sink: &mut dyn Sink) -> Result<()> {
    let of = MismatchFields::define(sink)?;
    for one in &report.contradictions {
        let at = one.instance as usize;
        let fields = [
            (of.operation, Value::Int(numbers[at].into())),
            (of.rank, Value::Int(job.ranks[one.rank as usize].rank.into())),
            (of.what, Value::Text(one.what.name())),
            (of.start, Value::Int(report.operations[at].span.first_ps)),
        ];
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

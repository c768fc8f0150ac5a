//! Tables that compare ranks, sizes and causes.

use super::operations::rounded;
use super::tracks::members;
use crate::analysis::table::{By, RowKey, rows};
use crate::analysis::{ClockVerdict, Job, RankReport, Report};
use crate::base::Result;
use crate::model::{FieldId, Sink, Value};
use crate::vendor::joint::schema::{Cause, JointJob, JointMismatch, JointRank, JointSize};

/// Writes the side tables. `order` has the operations by number.
pub(super) fn write(job: &Job, report: &Report, order: &[usize], sink: &mut dyn Sink) -> Result<()> {
    whole(job, report, sink)?;
    causes(job, report, sink)?;
    ranks(job, report, sink)?;
    sizes(job, report, sink)?;
    mismatches(job, report, order, sink)
}

fn share(part: i64, whole: i64) -> Value<'static> {
    Value::Float(if whole > 0 { part as f64 / whole as f64 } else { 0.0 })
}

fn count(number: u64) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn whole(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = JointJob::define(sink)?;
    let sum = |part: fn(&RankReport) -> i64| report.ranks.iter().map(part).fold(0, i64::saturating_add);
    let span = sum(|rank| rank.span_ps);
    let mean = sum(|rank| rank.compute_ps) as f64 / report.ranks.len().max(1) as f64;
    let most = report.ranks.iter().map(|rank| rank.compute_ps).max().unwrap_or(0);
    let clocks = match report.clocks.verdict {
        ClockVerdict::Unknown => "unknown: no operation has two ranks",
        ClockVerdict::Agree => "agree",
        ClockVerdict::Aligned => "aligned by the calls",
    };
    let calls = job.ranks.iter().map(|rank| rank.calls.len() as u64).sum();
    let mut fields = vec![
        (of.ranks, count(job.ranks.len() as u64)),
        (of.operations, count(report.operations.len() as u64)),
        (of.calls, count(calls)),
        (of.clocks, Value::Text(clocks)),
        (of.compute, share(sum(|rank| rank.compute_ps), span)),
        (of.overlapped, share(sum(|rank| rank.overlap_ps), span)),
        (of.exposed_transfer, share(sum(|rank| rank.exposed_ps - rank.exposed_wait_ps), span)),
        (of.exposed_wait, share(sum(|rank| rank.exposed_wait_ps), span)),
        (of.idle, share(sum(|rank| rank.idle_ps), span)),
    ];
    if mean > 0.0 {
        fields.push((of.imbalance, Value::Float(most as f64 / mean - 1.0)));
    }
    sink.row(of.table, &fields)
}

fn causes(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = Cause::define(sink)?;
    let ranks = report.ranks.iter().map(|rank| (rank.root_blame_ps, format!("rank {}", rank.rank)));
    let links = report.links.iter().map(|link| {
        let who = members(&job.groups[link.group as usize]);
        (link.root_blame_ps, format!("slow transfers among {who}"))
    });
    let mut causes: Vec<(f64, String)> = ranks.chain(links).filter(|(ps, _)| *ps > 0.0).collect();
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let waited: f64 = report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    for (ps, cause) in &causes {
        let fields = [
            (of.cause, Value::Text(cause)),
            (of.root_blame, Value::Int(rounded(*ps))),
            (of.share, Value::Float(if waited > 0.0 { ps / waited } else { 0.0 })),
        ];
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

fn ranks(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = JointRank::define(sink)?;
    for (rank, fit) in report.ranks.iter().zip(report.clocks_of_segments(job)) {
        let busy = rank.compute_ps.saturating_add(rank.exposed_ps);
        let mut fields: Vec<(FieldId, Value<'_>)> = vec![
            (of.rank, Value::Int(rank.rank.into())),
            (of.operations, count(rank.collectives)),
            (of.lost, count(rank.lost)),
            (of.root_blame, Value::Int(rounded(rank.root_blame_ps))),
            (of.blame, Value::Int(rounded(rank.blame_ps))),
            (of.last, count(rank.last)),
            (of.first, count(rank.first)),
            (of.saving, Value::Int(rounded(rank.saving_ps))),
            (of.wait, Value::Int(rank.wait_ps)),
            (of.busy, share(busy, rank.span_ps)),
            (of.exposed, share(rank.exposed_ps, rank.span_ps)),
            (of.exposed_wait, share(rank.exposed_wait_ps, rank.span_ps)),
            (of.compute, Value::Int(rank.compute_ps)),
            (of.communication, Value::Int(rank.communication_ps)),
            (of.span, Value::Int(rank.span_ps)),
            (of.offset, Value::Int(fit.offset_ps())),
            (of.at, Value::Int(fit.at_ps())),
            (of.drift_ppb, Value::Int(fit.drift_ppb().into())),
        ];
        if let Some(bound) = fit.bound_ps() {
            fields.push((of.bound, count(bound)));
        }
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

fn sizes(job: &Job, report: &Report, sink: &mut dyn Sink) -> Result<()> {
    let of = JointSize::define(sink)?;
    for row in rows(job, report, By::Size) {
        let RowKey::Size(kind, bytes, ranks) = row.key else { continue };
        let mut fields = vec![
            (of.kind, Value::Text(kind.name())),
            (of.bytes, count(bytes)),
            (of.ranks, Value::Int(ranks.into())),
            (of.count, count(row.count)),
        ];
        if let Some(slowest) = row.slowest {
            fields.push((of.slowest, Value::Int(slowest.into())));
        }
        let [wait_median, wait_p95, wait_max] = row.wait_ps;
        let [transfer_median, transfer_p95, transfer_max] = row.transfer_ps;
        for (field, ps) in [
            (of.wait, row.total_wait_ps),
            (of.wait_median, wait_median),
            (of.wait_p95, wait_p95),
            (of.wait_max, wait_max),
            (of.transfer_median, transfer_median),
            (of.transfer_p95, transfer_p95),
            (of.transfer_max, transfer_max),
        ] {
            fields.push((field, Value::Int(ps)));
        }
        for (field, rate) in [
            (of.algorithm_rate, row.algorithm_rate),
            (of.bus_rate, row.bus_rate),
            (of.bus_rate_with_wait, row.bus_rate_with_wait),
        ] {
            fields.extend(rate.map(|rate| (field, Value::Float(rate))));
        }
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

fn mismatches(job: &Job, report: &Report, order: &[usize], sink: &mut dyn Sink) -> Result<()> {
    let of = JointMismatch::define(sink)?;
    let mut numbers = vec![0_i64; order.len()];
    (1..).zip(order).for_each(|(number, &at)| numbers[at] = number);
    for finding in &report.findings {
        let at = finding.instance as usize;
        let fields = [
            (of.operation, Value::Int(numbers[at])),
            (of.rank, Value::Int(job.ranks[finding.rank as usize].rank.into())),
            (of.what, Value::Text(finding.what.name())),
            (of.start, Value::Int(report.operations[at].span.first_ps)),
        ];
        sink.row(of.table, &fields)?;
    }
    Ok(())
}

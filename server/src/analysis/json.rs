//! The analysis as JSON. Numbers are nanoseconds, with decimals where the trace has them.

use std::collections::BTreeMap;
use std::io::Write;

use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::table::rates;
use nprof_engine::analysis::{
    ClockVerdict, Culprit, Presence, Unplaced, algorithm, costs, passages, shown_by, totals,
};
use nprof_engine::base::Time;
use serde_json::{Value, json};

use super::Analysed;
use crate::store::Profile;

/// Nanoseconds of picoseconds.
fn ns(ps: i64) -> f64 {
    ps as f64 / 1e3
}

/// Rows of the clocks, one for each rank.
#[must_use]
pub fn clocks(of: &Analysed, profile: &Profile) -> Vec<Value> {
    let ranks = of.job.ranks.iter().zip(&of.report.clocks.ranks);
    let fits = of.report.clocks_of_segments(&of.job).zip(of.report.bounds_of_segments(&of.job));
    let rows = ranks.zip(fits).map(|((rank, found), (fit, bounds))| {
        let mut row = json!({
            "rank": rank.rank,
            "offset_ns": ns(fit.offset_ps()),
            "drift_ppm": f64::from(fit.drift_ppb()) / 1e3,
            "at_ns": ns(fit.at_ps()),
            "residual_ns": found.residual_ps as f64 / 1e3,
            "calls": found.calls,
            "set_by": if rank.given.is_some() { "hand" } else { "calls" },
        });
        let origin = profile.manifest.ranks.iter().find(|file| file.rank == rank.rank);
        if let Some(origin) = origin.and_then(|file| file.origin_unix_ns) {
            row["at_unix_ns"] = json!(origin.saturating_add(Time(fit.at_ps()).floor_ns()));
        }
        if let (Some(low), Some(high)) = bounds {
            (row["low_ns"], row["high_ns"]) = (json!(ns(low)), json!(ns(high)));
        }
        if let Some(why) = found.unbounded.filter(|_| rank.given.is_none()) {
            row["no_bounds"] = json!(why.words());
        }
        row
    });
    rows.collect()
}

/// Rows of the ranks with their clocks, for a table of one row a rank.
#[must_use]
pub fn ranks_with_clocks(of: &Analysed, profile: &Profile) -> Vec<Value> {
    let mut rows = ranks(of, profile);
    for (row, clock) in rows.iter_mut().zip(clocks(of, profile)) {
        for key in ["offset_ns", "low_ns", "high_ns", "no_bounds", "drift_ppm", "residual_ns"] {
            row[key] = clock.get(key).cloned().unwrap_or_default();
        }
        row["clock_calls"] = clock.get("calls").cloned().unwrap_or_default();
    }
    rows
}

/// Rows of the ranks.
#[must_use]
pub fn ranks(of: &Analysed, profile: &Profile) -> Vec<Value> {
    let rows = of.report.ranks.iter().map(|rank| {
        json!({
            "rank": rank.rank,
            "host": profile.manifest.host_of(rank.rank),
            "collectives": rank.collectives,
            "lost": rank.lost,
            "wait_ns": ns(rank.wait_ps),
            "blame_ns": rank.blame_ps / 1e3,
            "last_takes_all_ns": rank.last_takes_all_ps / 1e3,
            "root_blame_ns": rank.root_blame_ps / 1e3,
            "saving_ns": rank.saving_ps / 1e3,
            "job_delay_ns": ns(rank.job_delay_ps),
            "last": rank.last,
            "first": rank.first,
            "compute_ns": ns(rank.compute_ps),
            "communication_ns": ns(rank.communication_ps),
            "overlap_ns": ns(rank.overlap_ps),
            "exposed_ns": ns(rank.exposed_ps),
            "exposed_wait_ns": ns(rank.exposed_wait_ps),
            "exposed_transfer_ns": ns(rank.exposed_ps - rank.exposed_wait_ps),
            "copy_ns": ns(rank.copy_ps),
            "idle_ns": ns(rank.idle_ps),
            "span_ns": ns(rank.span_ps),
        })
    });
    rows.collect()
}

/// Rows of the slow links.
#[must_use]
pub fn links(of: &Analysed) -> Vec<Value> {
    let numbers = numbers(&of.report);
    let rows = of.report.links.iter().map(|link| {
        let group = &of.job.groups[link.group as usize];
        let worst = shown_by(&of.job, &of.report, link).map(|slow| {
            let operation = numbers[slow.instance];
            json!({"operation": operation, "rank": slow.rank, "start_ns": ns(slow.start_ps)})
        });
        json!({
            "communicator": group.communicator.name,
            "ranks": group.ranks(),
            "root_blame_ns": link.root_blame_ps / 1e3,
            "excess_ns": link.excess_ps / 1e3,
            "operations": link.operations,
            "slower_ns": link.slower_ps / 1e3,
            "worst": worst,
        })
    });
    rows.collect()
}

/// Rows of ranks and links in one list, the largest cost first.
fn causes(of: &Analysed) -> Vec<Value> {
    let rows = costs(&of.report).into_iter().map(|cost| {
        let ranks = match cost.culprit {
            Culprit::Rank(rank) => vec![rank],
            Culprit::Link(group) => of.job.groups[group as usize].ranks(),
        };
        json!({
            "cause": cost.culprit.name(&of.job),
            "ranks": ranks,
            "root_blame_ns": cost.root_blame_ps / 1e3,
            "excess_ns": cost.excess_ps / 1e3,
            "stands_out": cost.stands_out,
        })
    });
    rows.collect()
}

/// The job as a whole.
fn job(of: &Analysed) -> Value {
    let totals = totals(&of.job, &of.report);
    json!({
        "ranks": totals.ranks,
        "ranks_of_job": totals.world,
        "operations": totals.operations,
        "operations_of_one_rank": totals.alone,
        "calls": totals.calls,
        "lost_calls": totals.lost,
        "span_ns": ns(totals.span_ps),
        "compute_ns": ns(totals.compute_ps),
        "communication_ns": ns(totals.communication_ps),
        "overlap_ns": ns(totals.overlap_ps),
        "exposed_ns": ns(totals.exposed_ps),
        "exposed_wait_ns": ns(totals.exposed_wait_ps),
        "exposed_transfer_ns": ns(totals.exposed_transfer_ps()),
        "copy_ns": ns(totals.copy_ps),
        "idle_ns": ns(totals.idle_ps),
        "wait_ns": ns(totals.wait_ps),
        "imbalance": totals.imbalance,
        "straggler": totals.straggler,
        "straggler_delay_ns": ns(totals.straggler_delay_ps),
        "late_ranks_delay_ns": ns(totals.late_ranks_delay_ps),
    })
}

fn mismatches(of: &Analysed) -> Vec<Value> {
    let numbers = numbers(&of.report);
    let rows = of.report.findings.iter().map(|finding| {
        let rank = of.job.ranks[finding.rank as usize].rank;
        let (instance, number) = (finding.instance, numbers[finding.instance as usize]);
        json!({"rank": rank, "what": finding.what.name(), "instance": instance, "operation": number})
    });
    rows.collect()
}

/// The verdict about the clocks in a word.
#[must_use]
pub fn verdict(of: &Analysed) -> &'static str {
    match of.report.clocks.verdict {
        ClockVerdict::Unknown => "unknown",
        ClockVerdict::Agree => "agree",
        ClockVerdict::Aligned => "aligned",
    }
}

/// Facts about the whole, without the operations.
fn head(of: &Analysed, profile: &Profile) -> Vec<(&'static str, Value)> {
    let clocks_found = &of.report.clocks;
    vec![
        ("reference", json!(of.job.ranks.get(clocks_found.reference).map(|rank| rank.rank))),
        ("verdict", json!(verdict(of))),
        ("violations", json!(clocks_found.violations)),
        ("cut_waits", json!(of.report.cuts)),
        ("job", job(of)),
        ("causes", Value::Array(causes(of))),
        ("clocks", Value::Array(clocks(of, profile))),
        ("ranks", Value::Array(ranks(of, profile))),
        ("links", Value::Array(links(of))),
        ("mismatches", Value::Array(mismatches(of))),
        ("calls_without_group", Value::Array(unplaced(of))),
    ]
}

/// Calls of which nobody can tell to which group they belong, a row for each rank.
fn unplaced(of: &Analysed) -> Vec<Value> {
    let row = |one: &Unplaced| json!({"rank": one.rank, "calls": one.calls, "reason": one.reason()});
    of.job.unplaced.iter().map(row).collect()
}

/// Writes everything, one operation a line.
///
/// # Errors
/// If the output cannot be written.
pub fn write(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(b"{")?;
    for (key, value) in head(of, profile) {
        write!(out, "\"{key}\": ")?;
        serde_json::to_writer(&mut *out, &value)?;
        out.write_all(b",\n")?;
    }
    out.write_all(b"\"instances\": [")?;
    for at in 0..of.report.operations.len() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &instance(of, at))?;
    }
    out.write_all(b"\n]}\n")
}

/// Writes the ranks alone.
///
/// # Errors
/// If the output cannot be written.
pub fn write_ranks(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> std::io::Result<()> {
    let all: serde_json::Map<String, Value> =
        head(of, profile).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}

/// Name of a presence in JSON.
fn presence(of: Presence) -> &'static str {
    match of {
        Presence::GroupUnknown => "group unknown",
        Presence::Complete => "complete",
        Presence::Partial => "partial",
        Presence::Lost => "member lost",
        Presence::MissingAtEnd => "member missing at the end",
    }
}

/// The transfers from rank to rank within an operation.
fn transfers(of: &Analysed, at: usize) -> Vec<Value> {
    let rank = |position: usize| of.job.ranks[position].rank;
    let rows = passages(&of.job, &of.report, at).into_iter().map(|one| {
        json!({
            "from": rank(one.from),
            "to": rank(one.to),
            "sent_ns": ns(one.sent_ps),
            "received_ns": ns(one.received_ps),
        })
    });
    rows.collect()
}

fn instance(of: &Analysed, at: usize) -> Value {
    let one = &of.report.operations[at];
    let signature = &of.job.signatures[one.signature as usize];
    let rank = |position: Option<u32>| position.map(|at| of.job.ranks[at as usize].rank);
    let (mut members, mut waits) = (BTreeMap::new(), BTreeMap::new());
    for arrival in of.report.arrivals(&of.job, at) {
        let rank = &of.job.ranks[arrival.member.rank];
        let id = rank.calls.ids.get(arrival.member.call).copied();
        let id = id.unwrap_or_else(|| rank.calls.rows[arrival.member.call].into());
        members.insert(rank.rank.to_string(), id);
        waits.insert(rank.rank.to_string(), ns(arrival.wait_ps));
    }
    let mut row = json!({
        "communicator": of.job.groups[one.group as usize].communicator.name,
        "kind": signature.kind.name(),
        "dtype": signature.dtype,
        "count": signature.count,
        "bytes": signature.bytes,
        "state": presence(one.state.presence),
        "first_ns": ns(one.span.first_ps),
        "last_ns": ns(one.span.last_ps),
        "end_ns": ns(one.span.end_ps),
        "transfer_ns": ns(one.transfer_ps()),
        "last_rank": rank(one.last),
        "members": members,
        "wait_ns": waits,
    });
    if let Some(algorithm) = algorithm(&of.job, &of.report, at) {
        row["algorithm"] = json!(algorithm);
    }
    let transfers = transfers(of, at);
    if !transfers.is_empty() {
        row["transfers"] = Value::Array(transfers);
    }
    if one.state.absent > 0 {
        row["absent"] = json!(one.state.absent);
    }
    if let Some(step) = one.step {
        row["step"] = json!(step);
    }
    if let Some(rates) = rates(&of.job, one) {
        row["algorithm_bytes_per_s"] = json!(rates.algorithm);
        row["algorithm_bytes_per_s_with_wait"] = json!(rates.algorithm_with_wait);
        row["bus_bytes_per_s"] = json!(rates.bus);
        row["bus_bytes_per_s_with_wait"] = json!(rates.bus_with_wait);
    }
    row
}

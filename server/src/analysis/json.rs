//! The analysis as JSON. Numbers are nanoseconds, with decimals where the trace has them.

use std::collections::BTreeMap;
use std::io::Write;

use nprof_engine::analysis::table::rates;
use nprof_engine::analysis::{ClockVerdict, Presence, Unplaced, algorithm, passages, totals};
use nprof_engine::base::{Error, Time};
use nprof_engine::makers::job::schema::{CLOCK, CauseRow, JobRow, OperationRow, RankRow};
use nprof_engine::model::{FieldSpec, ValueTable};
use serde_json::{Value, json};

use super::Analysed;
use crate::print::json::rows;
use crate::store::Profile;

/// Nanoseconds of picoseconds.
fn ns(ps: i64) -> f64 {
    ps as f64 / 1e3
}

/// Rows of the ranks: the columns about clocks, or all others.
fn ranks(table: &ValueTable, are_clocks: bool) -> Vec<Value> {
    let mut table = table.clone();
    let names = RankRow::by(|field| field.name);
    let is_wanted = |field: &FieldSpec| field.name == names.rank || (field.group == CLOCK) == are_clocks;
    table.keep_columns(is_wanted);
    rows(&table)
}

/// Rows of the clocks, one for each rank.
fn clocks(table: &ValueTable, of: &Analysed, profile: &Profile) -> Vec<Value> {
    let mut rows = ranks(table, true);
    let names = RankRow::by(|field| field.name);
    let fits = of.job.ranks.iter().zip(of.report.clocks_of_segments(&of.job));
    for (row, (rank, fit)) in rows.iter_mut().zip(fits) {
        row["calls"] = row[names.clock_calls].take();
        let origin = profile.manifest.ranks.iter().find(|file| file.rank == rank.rank);
        if let Some(origin) = origin.and_then(|file| file.origin_unix_ns) {
            row["at_unix_ns"] = json!(origin.saturating_add(Time(fit.at_ps()).floor_ns()));
        }
    }
    rows
}

/// Rows of the slow links: the causes that are no rank, with the transfer that shows each best.
fn links(causes: &ValueTable) -> Vec<Value> {
    let names = CauseRow::by(|field| field.name);
    let is_link = |row: &&Value| row.get(names.communicator).is_some();
    let all = rows(causes);
    let row = |row: &Value| {
        let mut row = row.clone();
        let slowest = json!({
            "operation": row[names.operation], "rank": row[names.rank], "start_ns": row["start_ns"],
        });
        row["worst"] = if row[names.operation].is_null() { Value::Null } else { slowest };
        row
    };
    all.iter().filter(is_link).map(row).collect()
}

/// The job as a whole.
fn job(of: &Analysed) -> Value {
    let totals = totals(&of.job, &of.report);
    let names = JobRow::by(|field| field.name);
    json!({
        "ranks": totals.ranks,
        (names.ranks_of_job): totals.world,
        "operations": totals.operations,
        (names.operations_of_one_rank): totals.alone,
        "calls": totals.calls,
        (names.lost_calls): totals.lost,
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

/// Rows of the mismatches, each with the place of its operation among the instances.
fn mismatches(of: &Analysed) -> Result<Vec<Value>, Error> {
    let mut rows = rows(&of.mismatches()?);
    for (row, finding) in rows.iter_mut().zip(&of.report.findings) {
        row["instance"] = json!(finding.instance);
    }
    Ok(rows)
}

/// The verdict about the clocks in a word.
fn verdict(of: &Analysed) -> &'static str {
    match of.report.clocks.verdict {
        ClockVerdict::Unknown => "unknown",
        ClockVerdict::Agree => "agree",
        ClockVerdict::Aligned => "aligned",
    }
}

/// Facts about the whole, without the operations.
fn head(of: &Analysed, profile: &Profile) -> Result<Vec<(&'static str, Value)>, Error> {
    let clocks_found = &of.report.clocks;
    let (causes, table) = (of.causes()?, of.ranks()?);
    Ok(vec![
        ("reference", json!(of.job.ranks.get(clocks_found.reference).map(|rank| rank.rank))),
        ("verdict", json!(verdict(of))),
        ("violations", json!(clocks_found.violations)),
        ("cut_waits", json!(of.report.cuts)),
        ("job", job(of)),
        ("causes", Value::Array(rows(&causes))),
        ("clocks", Value::Array(clocks(&table, of, profile))),
        ("ranks", Value::Array(ranks(&table, false))),
        ("links", Value::Array(links(&causes))),
        ("mismatches", Value::Array(mismatches(of)?)),
        ("calls_without_group", Value::Array(unplaced(of))),
    ])
}

/// Calls of which nobody can tell to which group they belong, a row for each rank.
fn unplaced(of: &Analysed) -> Vec<Value> {
    let row = |one: &Unplaced| json!({"rank": one.rank, "calls": one.calls, "reason": one.reason()});
    of.job.unplaced.iter().map(row).collect()
}

/// Writes everything, one operation a line.
pub fn write(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    out.write_all(b"{")?;
    for (key, value) in head(of, profile)? {
        write!(out, "\"{key}\": ")?;
        serde_json::to_writer(&mut *out, &value)?;
        out.write_all(b",\n")?;
    }
    out.write_all(b"\"instances\": [")?;
    for at in 0..of.report.operations.len() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &instance(of, at))?;
    }
    Ok(out.write_all(b"\n]}\n")?)
}

/// Writes the ranks alone.
pub fn write_ranks(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    let all: serde_json::Map<String, Value> =
        head(of, profile)?.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    Ok(writeln!(out)?)
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
        (OperationRow::by(|field| field.name).last_rank): rank(one.last),
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

//! The analysis as JSON: rows of the tables of the job segment, and facts that no table has. Times
//! are nanoseconds, with decimals where the trace has them.

use std::collections::BTreeMap;
use std::io::Write;

use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::{Analysed, Passage, Unplaced, passages};
use nprof_engine::base::{Error, Time};
use nprof_engine::insight::finding::{RuleName, RuleVerdict};
use nprof_engine::makers::job::schema::{CLOCK, CauseRow, RankRow};
use nprof_engine::model::ValueTable;
use nprof_engine::wire::findings::entries;
use nprof_engine::wire::rank_balance::{NameDifferenceEntry, RankBalance, RegionImbalanceEntry};
use serde_json::{Map, Value, json};

use super::late_ranks::LateRanks;
use crate::print::answer_keys::{scope, with_counts};
use crate::print::bracket::bracket;
use crate::print::json::{document, rows};
use crate::store::Profile;

/// Nanoseconds of picoseconds.
fn ns(ps: i64) -> f64 {
    ps as f64 / 1e3
}

/// The columns of ranks about clocks, and the Unix times at which the offsets hold.
fn clocks(mut table: ValueTable, of: &Analysed, profile: &Profile) -> Vec<Value> {
    let names = RankRow::by(|field| field.name);
    table.keep_columns(|field| field.name == names.rank || field.group == CLOCK);
    let mut rows = rows(&table);
    let fits = of.job.ranks.iter().zip(of.report.clocks_of_segments(&of.job));
    for (row, (rank, fit)) in rows.iter_mut().zip(fits) {
        let file = profile.manifest.ranks.iter().find(|file| file.rank == rank.rank);
        if let Some(origin) = file.and_then(|file| file.origin_unix_ns) {
            row["at_unix_ns"] = json!(origin.saturating_add(Time(fit.at_ps()).floor_ns()));
        }
    }
    rows
}

/// Facts about the whole, without the operations.
fn head(of: &Analysed, profile: &Profile) -> Result<Map<String, Value>, Error> {
    let clocks_found = &of.report.clocks;
    let (causes, ranks) = (rows(&of.causes()?), of.ranks()?);
    let communicator = CauseRow::by(|field| field.name).communicator;
    let links = causes.iter().filter(|row| row.get(communicator).is_some()).cloned().collect();
    // Calls of which nobody can tell to which group they belong, a row for each rank.
    let unplaced = |one: &Unplaced| json!({"rank": one.rank, "calls": one.calls, "reason": one.reason()});
    let facts = [
        ("reference", json!(of.job.ranks.get(clocks_found.reference).map(|rank| rank.rank))),
        ("verdict", json!(clocks_found.verdict.name())),
        ("violations", json!(clocks_found.violations)),
        ("cut_waits", json!(of.report.cuts)),
        ("job", json!(rows(&of.whole()?).pop())),
        ("links", Value::Array(links)),
        ("causes", Value::Array(causes)),
        ("ranks", Value::Array(rows(&ranks))),
        ("clocks", Value::Array(clocks(ranks, of, profile))),
        ("mismatches", Value::Array(rows(&of.mismatches()?))),
        ("calls_without_group", of.job.unplaced.iter().map(unplaced).collect()),
    ];
    let mut keys = scope(profile, "ns");
    keys.extend(facts.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Ok(keys)
}

/// Writes everything, one operation a line.
pub fn write(of: &Analysed, profile: &Profile, out: &mut dyn Write) -> anyhow::Result<()> {
    /// Operations in memory as rows.
    const AT_ONCE: usize = 4_096;
    out.write_all(b"{")?;
    // Files of operations are never cut: they are compared as a whole.
    let total = of.report.operations.len();
    for (key, value) in with_counts(head(of, profile)?, total, total) {
        writeln!(out, "\"{key}\": {value},")?;
    }
    out.write_all(b"\"instances\": [")?;
    let (numbers, count) = (numbers(&of.report), of.report.operations.len());
    for first in (0..count).step_by(AT_ONCE) {
        let places = first..count.min(first + AT_ONCE);
        for (at, row) in places.clone().zip(rows(&of.operations(&numbers, places)?)) {
            write!(out, "{}{}", if at == 0 { "\n" } else { ",\n" }, instance(of, at, row))?;
        }
    }
    Ok(out.write_all(b"\n]}\n")?)
}

/// Writes the ranks alone.
pub fn write_ranks(
    of: &Analysed,
    late: &LateRanks,
    balance: &RankBalance,
    profile: &Profile,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let total = of.job.ranks.len();
    let mut document_of_ranks = with_counts(head(of, profile)?, total, total);
    let late_ranks = entries(&[RuleVerdict { rule: RuleName::LateRank, verdict: late.verdict.clone() }]);
    document_of_ranks.insert("late_ranks".to_owned(), json!(late_ranks));
    document_of_ranks
        .insert("saving_without_late_ranks_ps".to_owned(), json!(late.all.as_ref().map(bracket)));
    let difference = |of: &NameDifferenceEntry| {
        json!({
            "rank": of.rank,
            "name": of.name,
            "count": of.count,
            "time_ns": ns(of.time_ps),
            "median_ns": ns(of.median_ps),
            "difference_ns": ns(of.difference_ps),
        })
    };
    let region = |of: &RegionImbalanceEntry| {
        json!({
            "kind": of.kind,
            "name": of.name,
            "count": of.count,
            "most_rank": of.most_rank,
            "most_ns": ns(of.most_ps),
            "mean_ns": ns(of.mean_ps),
            "imbalance": of.imbalance,
        })
    };
    let lists = [
        ("differences", balance.names.iter().map(difference).collect()),
        ("total_differences", json!(balance.total_names)),
        ("regions", balance.regions.iter().map(region).collect()),
        ("total_regions", json!(balance.total_regions)),
    ];
    document_of_ranks.extend(lists.map(|(key, value): (&str, Value)| (key.to_owned(), value)));
    Ok(document(&document_of_ranks, out)?)
}

/// An operation: its row of the table of operations, its times, and its members by rank.
fn instance(of: &Analysed, at: usize, mut row: Value) -> Value {
    let one = &of.report.operations[at];
    let (mut members, mut waits) = (BTreeMap::new(), BTreeMap::new());
    for arrival in of.report.arrivals(&of.job, at) {
        let rank = &of.job.ranks[arrival.member.rank];
        let id = rank.calls.ids.get(arrival.member.call).copied();
        let id = id.unwrap_or_else(|| rank.calls.rows[arrival.member.call].into());
        members.insert(rank.rank.to_string(), id);
        waits.insert(rank.rank.to_string(), ns(arrival.wait_ps));
    }
    row["members"] = json!(members);
    row["wait_ns"] = json!(waits);
    row["count"] = json!(of.job.signatures[one.signature as usize].count);
    for (key, ps) in
        [("first_ns", one.span.first_ps), ("last_ns", one.span.last_ps), ("end_ns", one.span.end_ps)]
    {
        row[key] = json!(ns(ps));
    }
    if one.state.absent > 0 {
        row["absent"] = json!(one.state.absent);
    }
    let transfers = passages(&of.job, &of.report, at);
    if !transfers.is_empty() {
        row["transfers"] = transfers.iter().map(|one| transfer(of, one)).collect();
    }
    row
}

/// A transfer from rank to rank within an operation.
fn transfer(of: &Analysed, one: &Passage) -> Value {
    let [from, to] = [one.from, one.to].map(|position| of.job.ranks[position].rank);
    json!({"from": from, "to": to, "sent_ns": ns(one.sent_ps), "received_ns": ns(one.received_ps)})
}

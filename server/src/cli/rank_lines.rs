//! Sentences of `nprof ranks` and `nprof collectives`: clocks, totals, causes, mismatches.

use std::collections::BTreeMap;

use nprof_engine::analysis::job_segment::numbers;
use nprof_engine::analysis::{
    Analysed, ClockVerdict, Contradiction, Cost, Mismatch, Suspect, Unbounded, costs, shown_by, totals,
};
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::Finding;
use nprof_engine::insight::finding::sentence::between;

use super::size;
use crate::analysis::late_ranks::LateRanks;
use crate::print::text;

/// The clocks of the job, in a sentence.
pub(super) fn verdict(of: &Analysed) -> String {
    let clocks = &of.report.clocks;
    let calls = clocks.ranks.iter().map(|clock| clock.calls).max().unwrap_or(0);
    let residual = clocks.ranks.iter().map(|clock| clock.residual_ps).max().unwrap_or(0);
    let reference = of.job.ranks.get(clocks.reference).map_or(0, |rank| rank.rank);
    match clocks.verdict {
        ClockVerdict::Unknown => "clocks: no operation has two ranks, so nothing is known".to_owned(),
        ClockVerdict::Agree if of.job.has_one_clock() => format!(
            "clocks: unmoved; all ranks have that of their host (ends differ by {}, {})",
            short_duration(residual as f64),
            size::counted(calls.into(), "operation")
        ),
        ClockVerdict::Agree => format!(
            "clocks: unmoved; they agree within {} ({})",
            short_duration(residual as f64),
            size::counted(calls.into(), "operation")
        ),
        ClockVerdict::Aligned => format!(
            "clocks: aligned with rank {reference} by {}; ends differ by {}",
            size::counted(calls.into(), "operation"),
            short_duration(residual as f64)
        ),
    }
}

/// The shares of the time of the job, in a sentence.
pub(super) fn whole(of: &Analysed) -> String {
    let totals = totals(&of.job, &of.report);
    let share = |ps: i64| text::share(ps as f64, totals.span_ps as f64);
    let copies = match totals.copy_ps {
        0 => String::new(),
        copy_ps => format!("{} copies, ", share(copy_ps)),
    };
    let imbalance = text::ratio(totals.imbalance);
    format!(
        "time of all ranks: {} compute, {} communication under it, {} exposed transfer, {} exposed wait, \
         {copies}{} idle; imbalance {imbalance}",
        share(totals.compute_ps),
        share(totals.overlap_ps),
        share(totals.exposed_transfer_ps()),
        share(totals.exposed_wait_ps),
        share(totals.idle_ps),
    )
}

/// The time by which the job would be shorter without its late ranks,
/// in sentences.
pub(super) fn late(of: &LateRanks) -> Vec<String> {
    let saving = |saving: &Bracket| {
        format!("{} shorter, {}", short_duration(saving.middle_ps.max(0) as f64), between(saving))
    };
    let of_rank = |one: &Finding| {
        let (rank, bracket) = (one.place.rank?, one.saving.as_ref()?);
        let if_fast = format!("if rank {rank} were as fast as the median rank");
        Some(format!("the job would be {}, {if_fast}: {}", saving(bracket), one.text()))
    };
    let all = of.all.as_ref().map(|all| format!("the job would be {}, if all of these were", saving(all)));
    of.costly().filter_map(of_rank).chain(all).collect()
}

/// The operations of the job, in a sentence.
pub(super) fn operations(of: &Analysed) -> String {
    let totals = totals(&of.job, &of.report);
    format!(
        "{} with {} of {}",
        size::counted(totals.operations, "collective operation"),
        size::counted(totals.calls, "call"),
        size::counted(totals.ranks, "rank"),
    )
}

/// The part of the job that was recorded, if it is not the whole.
pub(super) fn recorded(of: &Analysed) -> Vec<String> {
    let totals = totals(&of.job, &of.report);
    let ranks = (totals.ranks < totals.world).then(|| {
        format!(
            "recorded: {} of {}; waits, blame and last ranks are those among them",
            size::count(totals.ranks),
            size::counted(totals.world, "rank"),
        )
    });
    let alone = (totals.alone > 0).then(|| {
        let verb = if totals.alone == 1 { "has" } else { "have" };
        format!(
            "{} of {} {verb} a call of one rank only, and no part in waits, medians and bandwidths",
            size::count(totals.alone),
            size::counted(totals.operations, "operation"),
        )
    });
    let lost = (totals.lost > 0).then(|| {
        let all = totals.lost + totals.calls;
        let verb = if totals.lost == 1 { "was" } else { "were" };
        format!(
            "{} ({} of all) {verb} not recorded: the job went on with their ranks",
            size::counted(totals.lost, "call"),
            text::share(totals.lost as f64, all as f64),
        )
    });
    ranks.into_iter().chain(alone).chain(lost).chain(unplaced(of)).collect()
}

/// The calls of which nobody can tell to which group they belong, and why.
fn unplaced(of: &Analysed) -> Vec<String> {
    let mut by_reason: BTreeMap<String, (u64, Vec<u32>)> = BTreeMap::new();
    for one in &of.job.unplaced {
        let (calls, ranks) = by_reason.entry(one.reason()).or_default();
        *calls += one.calls;
        ranks.push(one.rank);
    }
    let line = |(reason, (calls, ranks)): (String, (u64, Vec<u32>))| {
        let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
        let calls = size::counted(calls, "call");
        format!("cannot tell the process group of {calls} of {noun} {}: {reason}", list(&ranks))
    };
    by_reason.into_iter().map(line).collect()
}

/// The main causes of waiting, in sentences. If no rank is one of them, a sentence says so.
pub(super) fn findings(of: &Analysed) -> Vec<String> {
    /// Shown causes.
    const MOST: usize = 5;
    let total: f64 = of.report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    let numbers = numbers(&of.report);
    let costs = costs(&of.report);
    let named: Vec<&Cost> = costs.iter().filter(|cost| cost.stands_out).take(MOST).collect();
    let has_rank = named.iter().any(|cost| matches!(cost.culprit, Suspect::Rank(_)));
    let mut lines: Vec<String> = named.iter().map(|cost| cause(of, cost, total, &numbers)).collect();
    if !has_rank && of.report.clocks.verdict != ClockVerdict::Unknown {
        lines.push(
            "no rank stands out: none has clearly more root blame than the others, beyond chance and errors of \
             clocks"
                .to_owned(),
        );
    }
    lines.extend(mismatches(of, &numbers));
    lines
}

/// Why LOW or HIGH of ranks are not known, and what helps.
pub(super) fn unbounded(of: &Analysed) -> Vec<String> {
    let clocks = of.job.ranks.iter().zip(&of.report.clocks.ranks);
    let found: Vec<(Unbounded, u32)> = clocks
        .filter(|(rank, _)| rank.given.is_none())
        .filter_map(|(rank, clock)| Some((clock.unbounded?, rank.rank)))
        .collect();
    let of_reason = |why: Unbounded| {
        let ranks: Vec<u32> = found.iter().filter(|one| one.0 == why).map(|one| one.1).collect();
        let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
        let line =
            format!("{noun} {}: LOW or HIGH is not known, {}; {}", list(&ranks), why.words(), why.advice());
        (!ranks.is_empty()).then_some(line)
    };
    Unbounded::ALL.into_iter().filter_map(of_reason).collect()
}

/// The first numbers of a list, and how many there are.
fn list(ranks: &[u32]) -> String {
    /// Shown numbers.
    const MOST: usize = 8;
    let shown: Vec<String> = ranks.iter().take(MOST).map(u32::to_string).collect();
    let more = if ranks.len() > MOST { format!(" … ({} in all)", ranks.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The first ranks that are missing or differ in an operation, in sentences. `numbers` has the
/// number of each operation.
pub(super) fn mismatches(of: &Analysed, numbers: &[u32]) -> Vec<String> {
    /// Shown mismatches.
    const MOST: usize = 5;
    let line = |one: &Contradiction| {
        let rank = of.job.ranks[one.rank as usize].rank;
        format!("rank {rank}: {} in operation {}", one.what.name(), numbers[one.instance as usize])
    };
    let mut lines: Vec<String> = of.report.contradictions.iter().take(MOST).map(line).collect();
    let more = of.report.contradictions.len().saturating_sub(MOST) as u64;
    if more > 0 {
        let noun = if more == 1 { "mismatch" } else { "mismatches" };
        lines.push(format!("{} more {noun}; --output-format json lists all", size::count(more)));
    }
    let is_missing = of.report.contradictions.iter().any(|one| one.what == Mismatch::Missing);
    if is_missing && of.report.ranks.iter().any(|rank| rank.lost > 0) {
        lines.push(
            "the traces lack other calls too, so a missing call can be one that was not recorded".to_owned(),
        );
    }
    lines
}

/// A cause in a sentence. `total` is the waiting of all ranks, `numbers` has the number of each
/// operation.
fn cause(of: &Analysed, cost: &Cost, total: f64, numbers: &[u32]) -> String {
    let mut parts = Vec::new();
    if let Suspect::Link(group) = cost.culprit
        && let Some(link) = of.report.links.iter().find(|link| link.group == group && link.operations > 0)
    {
        let operations = size::counted(link.operations, "operation");
        parts.push(format!("+{} per operation, {operations}", short_duration(link.slower_ps)));
        if let Some(slow) = shown_by(&of.job, &of.report, link) {
            let number = numbers[slow.instance];
            parts.push(format!("slowest in operation {number}, see rank {}", slow.rank));
        }
    }
    if cost.root_blame_ps > 0.0 {
        let (time, share) = (short_duration(cost.root_blame_ps), text::share(cost.root_blame_ps, total));
        parts.push(format!("others waited {time} for it, summed over them: {share} of all waiting"));
    }
    if cost.excess_ps > 0.0 {
        let time = short_duration(cost.excess_ps);
        parts.push(format!("the transfers themselves took the ranks {time} longer than usual"));
    }
    format!("{}: {}", cost.culprit.name(&of.job), parts.join("; "))
}

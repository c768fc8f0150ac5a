//! A rank for which the others wait, with the reason.
//!
//! A rank is late because its work takes longer than the same work on the other ranks, because a
//! slice begins later, or because it was not recorded from the begin on. Each is a deviation from
//! the median of the other ranks that is many times as large as the spread among them. The saving
//! is the replay with the rank as fast as the median one.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, ranks_in_words, short_name};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MOST_ALONE, MetricsNeed};
use crate::analysis::{Suspect, costs};
use crate::base::{Result, upper_median};
use crate::insight::Scenario;
use crate::insight::median_rank::MedianRank;
use crate::insight::rank_balance::{NameOnRanks, WorkOfName, names_on_ranks, own_work};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::LateRank,
    id: "late-rank",
    title: "do ranks wait for a rank that is late?",
    advice: "compare its work with that of another rank: clocks and temperature of the device, other jobs on \
             its host, the amount of its data",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least saving or lateness, as a share of the run, and of its median step. With many steps a
/// share of one of them is too little to matter, so [`LEAST_TIME`] of the run counts, too.
const LEAST_OF_RUN: f64 = 0.005;
const LEAST_OF_STEP: f64 = 0.03;
/// Work takes longer from this part of its time on. Equal kernels of generated and real jobs differ
/// by up to 1.5 % a name and rank.
const LEAST_LONGER: f64 = 0.02;
/// The same among less than [`FEW`] ranks, whose spread says little.
const LEAST_LONGER_OF_FEW: f64 = 0.05;
const FEW: usize = 4;
/// A deviation counts from this multiple of the median deviation of the other ranks on.
const LEAST_DEVIATIONS: f64 = 8.0;
/// The least time by which all slices of a name take longer, and by which a slice begins later, as
/// a share of the run.
const LEAST_TIME: f64 = 0.001;
/// Ranks leave an operation within this time, in picoseconds.
const SAME_MOMENT_PS: i64 = 10_000_000;
/// Ranks that are replayed.
const MOST_RANKS: usize = 8;

/// Slices of a name that take longer on a rank.
#[derive(Debug, Clone)]
struct LongerWork {
    name: String,
    by_ps: i64,
    factor: f64,
    /// Position of the other rank of median time.
    usual: Option<usize>,
}

/// A slice that begins later than what corresponds to it on the other ranks.
#[derive(Debug, Clone, Copy)]
struct LaterBegin {
    node: u32,
    by_ps: i64,
}

/// A begin of a rank that is later than that of most ranks.
#[derive(Debug, Clone, Copy)]
struct LateStart {
    /// Position of the rank that began first.
    first: usize,
    after_ps: i64,
    /// Position of the other rank of median begin.
    usual: usize,
    /// Time of the work of the rank, as a multiple of the median of the others.
    own_work: Option<f64>,
}

/// Why a rank is late.
#[derive(Debug, Clone, Default)]
struct Lateness {
    start: Option<LateStart>,
    longer: Vec<LongerWork>,
    later: Vec<LaterBegin>,
    /// Whether others waited for it more than chance explains.
    is_blamed: bool,
}

impl Lateness {
    fn sum_ps(&self) -> i64 {
        let longer = self.longer.iter().map(|one| one.by_ps);
        longer.chain(self.later.iter().map(|one| one.by_ps)).fold(0, i64::saturating_add)
    }
}

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let missing = facts.missing_of_ranks();
    if facts.graph.ranks.len() < 2 {
        return Ok(Judgement::of(Vec::new(), missing));
    }
    let of_ranks = lateness(facts);
    let mut late: Vec<usize> =
        (0..of_ranks.len()).filter(|&at| of_ranks[at].sum_ps() > 0 || of_ranks[at].is_blamed).collect();
    late.sort_by_key(|&at| (std::cmp::Reverse(of_ranks[at].sum_ps()), at));
    let clearly_late_ps = clearly_late_ps(facts, &of_ranks);
    let mut found = Vec::new();
    for at in late.into_iter().take(MOST_RANKS) {
        let saving = facts.saving(&Scenario::with_median_rank(facts.median_rank(), at))?;
        // A rank that is clearly later than most can cost nothing as long as another one is later.
        let is_costless = saving.low_ps < 0 || saving.middle_ps <= least_ps(facts);
        if !is_costless
            || saving.middle_ps >= -facts.part_ps(LEAST_TIME)
                && clearly_late_ps.is_some_and(|ps| of_ranks[at].sum_ps() > ps)
        {
            let mut finding = facts.finding(
                RuleName::LateRank,
                place(facts, at, &of_ranks[at]),
                Some(saving.not_negative()),
            );
            finding.evidence = evidence(facts, at, &of_ranks[at]);
            finding.place.usual_rank = usual_rank(facts, at, &of_ranks);
            found.push(finding);
        }
    }
    found.extend(together(facts, &found)?);
    Ok(Judgement::of(found, missing))
}

/// The late ranks together, if they cover each other: without one of them, the run waits for the
/// next one. `found` has the findings about each.
fn together(facts: &Facts<'_>, found: &[Finding]) -> Result<Option<Finding>> {
    let [first, _, ..] = found else { return Ok(None) };
    let mut ranks: Vec<u32> = found.iter().filter_map(|one| one.place.rank).collect();
    ranks.sort_unstable();
    let saving = facts.saving_as_median(&ranks)?;
    let saved_ps = || found.iter().filter_map(Finding::saved_ps);
    let alone_ps = saved_ps().fold(0, i64::saturating_add);
    if saving.middle_ps <= least_ps(facts) || alone_ps as f64 > saving.middle_ps as f64 * MOST_ALONE {
        return Ok(None);
    }
    let place = Place { ranks, ..Place::of_rank(first.place.rank.unwrap_or_default()) };
    let alone =
        FindingEvidence::new(EvidenceMeasure::Alone, EvidenceValue::Time(saved_ps().max().unwrap_or(0)));
    let mut of = facts.finding(RuleName::LateRank, place, Some(saving.not_negative()));
    of.evidence = [alone].into_iter().chain(first.evidence.iter().cloned()).collect();
    Ok(Some(of))
}

/// The other rank that does the same as usual: the median one in what makes the rank late most,
/// else that of median lateness. `None` without another one.
fn usual_rank(facts: &Facts<'_>, at: usize, of_ranks: &[Lateness]) -> Option<u32> {
    let of = &of_ranks[at];
    let by_reason = of.longer.first().map_or(of.start.map(|start| start.usual), |longer| longer.usual);
    if let Some(usual) = by_reason {
        return Some(facts.graph.ranks[usual].rank);
    }
    let mut others: Vec<usize> = (0..of_ranks.len()).filter(|other| *other != at).collect();
    others.sort_by_key(|&other| (of_ranks[other].sum_ps(), other));
    let median = others.get(others.len().saturating_sub(1) / 2)?;
    Some(facts.graph.ranks[*median].rank)
}

/// The lateness from which on a rank is named even if it costs nothing, in picoseconds. `None` if
/// there are too few ranks to tell who is late.
fn clearly_late_ps(facts: &Facts<'_>, of_ranks: &[Lateness]) -> Option<i64> {
    if of_ranks.len() < FEW {
        return None;
    }
    let usual_ps = upper_median(of_ranks.iter().map(Lateness::sum_ps).collect(), i64::cmp)?;
    Some(least_ps(facts).max((usual_ps as f64 * LEAST_DEVIATIONS) as i64))
}

/// The least saving or lateness of a finding, in picoseconds.
fn least_ps(facts: &Facts<'_>) -> i64 {
    let of_run_ps = facts.part_ps(LEAST_OF_RUN);
    let step_ps = facts.median_step_ps().unwrap_or(i64::MAX);
    facts.part_ps(LEAST_TIME).max(of_run_ps.min((step_ps as f64 * LEAST_OF_STEP) as i64))
}

/// The lateness of each rank.
fn lateness(facts: &Facts<'_>) -> Vec<Lateness> {
    let median = facts.median_rank();
    let mut of_ranks = vec![Lateness::default(); facts.graph.ranks.len()];
    let names = names_on_ranks(facts.graph, median);
    longer_work(facts, &names, &mut of_ranks);
    late_starts(facts, &names, &mut of_ranks);
    later_begins(facts, median, &mut of_ranks);
    leave_out_unseen_meetings(facts, &mut of_ranks);
    for cost in costs(facts.report).iter().filter(|cost| cost.stands_out) {
        if let Suspect::Rank(rank) = cost.culprit
            && let Some(at) = facts.job.position(rank)
        {
            of_ranks[at].is_blamed = true;
        }
    }
    for one in &mut of_ranks {
        one.longer.sort_by(|a, b| b.by_ps.cmp(&a.by_ps).then_with(|| a.name.cmp(&b.name)));
        one.later.sort_by_key(|later| (std::cmp::Reverse(later.by_ps), later.node));
    }
    of_ranks
}

/// Compares the time that work of each name takes on the ranks.
fn longer_work(facts: &Facts<'_>, names: &[NameOnRanks<'_>], of_ranks: &mut [Lateness]) {
    let least_ps = facts.part_ps(LEAST_TIME);
    for NameOnRanks { name, ranks } in names {
        let factor = |of: &WorkOfName| {
            let median_ps = of.median_ps.filter(|ps| *ps > 0)?;
            Some((of.time_ps.saturating_sub(median_ps), of.time_ps as f64 / median_ps as f64))
        };
        let spread = spread(ranks.iter().filter_map(factor).map(|(_, factor)| factor - 1.0));
        let least = if ranks.len() < FEW { LEAST_LONGER_OF_FEW } else { LEAST_LONGER };
        for of in ranks {
            if let Some((by_ps, factor)) = factor(of)
                && by_ps > least_ps
                && factor - 1.0 > least.max(spread)
            {
                let others = ranks.iter().filter(|other| other.rank != of.rank);
                let usual = upper_median(others.map(|other| (other.time_ps, other.rank)).collect(), Ord::cmp);
                let usual = usual.map(|(_, rank)| rank);
                let name = (*name).to_owned();
                of_ranks[of.rank].longer.push(LongerWork { name, by_ps, factor, usual });
            }
        }
    }
}

/// Finds the ranks that began later than most. A rank whose recording begins later says nothing.
fn late_starts(facts: &Facts<'_>, names: &[NameOnRanks<'_>], of_ranks: &mut [Lateness]) {
    let is_known = |rank: &usize| facts.coverage.ranks[*rank].late_ps <= 0;
    let start = |rank: usize| {
        let of_step = facts.step_starts_ps.get(rank).copied();
        Some((of_step.or_else(|| facts.graph.ranks[rank].first_start_ps())?, rank))
    };
    let starts: Vec<(i64, usize)> = (0..of_ranks.len()).filter(is_known).filter_map(start).collect();
    let Some(&(first_ps, first)) = starts.iter().min() else { return };
    for &(start_ps, rank) in &starts {
        let others = starts.iter().filter(|(_, other)| *other != rank).copied().collect();
        let Some((usual_ps, usual)) = upper_median(others, Ord::cmp) else { continue };
        if start_ps.saturating_sub(usual_ps) > least_ps(facts) {
            let after_ps = start_ps.saturating_sub(first_ps);
            of_ranks[rank].start =
                Some(LateStart { first, after_ps, usual, own_work: own_work(names, rank) });
        }
    }
}

/// The least deviation that stands out: many times the median one. Half of the deviations can be
/// those of a few ranks that stand out.
fn spread(deviations: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = deviations.map(f64::abs).collect();
    if sizes.len() < FEW {
        return 0.0;
    }
    sizes.sort_unstable_by(f64::total_cmp);
    LEAST_DEVIATIONS * sizes[(sizes.len() - 1) / 2]
}

/// A gap before a slice of a rank, in picoseconds.
#[derive(Debug, Clone, Copy)]
struct GapOfRank {
    rank: usize,
    node: u32,
    gap_ps: i64,
}

/// Finds the slices with gaps before them that the other ranks do not have.
fn later_begins(facts: &Facts<'_>, median: &MedianRank<'_>, of_ranks: &mut [Lateness]) {
    let least_ps = facts.part_ps(LEAST_TIME);
    let mut of_meetings: FxHashMap<u32, Vec<GapOfRank>> = FxHashMap::default();
    let calls = |rank: usize| {
        let graph = &facts.graph.ranks[rank];
        graph.calls.iter().filter(|call| !facts.graph.is_step(call) && graph.row_of(call.node).is_some())
    };
    for (rank, of) in of_ranks.iter_mut().enumerate() {
        let graph = &facts.graph.ranks[rank];
        for call in calls(rank).filter(|call| median.gap_ps(rank, call.node) > least_ps) {
            of_meetings.entry(call.meeting).or_default();
        }
        for (node, _) in graph.device_work() {
            let gap_ps = median.gap_ps(rank, node);
            if gap_ps > least_ps && !facts.lacks_call(rank, node, gap_ps) {
                let usual = median.usual_gaps_ps(rank, node);
                of.later.extend(later_begin(GapOfRank { rank, node, gap_ps }, usual, least_ps));
            }
        }
    }
    for rank in 0..of_ranks.len() {
        for call in calls(rank) {
            if let Some(gaps) = of_meetings.get_mut(&call.meeting) {
                gaps.push(GapOfRank { rank, node: call.node, gap_ps: median.gap_ps(rank, call.node) });
            }
        }
    }
    for gaps in of_meetings.values() {
        for one in gaps.iter().filter(|one| one.gap_ps > least_ps) {
            let others = gaps.iter().filter(|other| other.rank != one.rank).map(|other| other.gap_ps);
            if !facts.lacks_call(one.rank, one.node, one.gap_ps) {
                of_ranks[one.rank].later.extend(later_begin(*one, others.collect(), least_ps));
            }
        }
    }
}

/// Leaves out slices that begin later on two ranks in the same moment: these have left an operation
/// together whose calls both traces lack.
fn leave_out_unseen_meetings(facts: &Facts<'_>, of_ranks: &mut [Lateness]) {
    let start_ps =
        |rank: usize, later: &LaterBegin| facts.graph.ranks[rank].work.nodes[later.node as usize].start_ps;
    let mut starts: Vec<(i64, usize)> = Vec::new();
    for (rank, of) in of_ranks.iter().enumerate() {
        starts.extend(of.later.iter().map(|later| (start_ps(rank, later), rank)));
    }
    starts.sort_unstable();
    for (rank, of) in of_ranks.iter_mut().enumerate() {
        of.later.retain(|later| {
            let at_ps = start_ps(rank, later);
            let from =
                starts.partition_point(|(other_ps, _)| *other_ps < at_ps.saturating_sub(SAME_MOMENT_PS));
            let near = starts[from..].iter().take_while(|(other_ps, _)| *other_ps <= at_ps + SAME_MOMENT_PS);
            near.filter(|(_, other)| *other != rank).count() == 0
        });
    }
}

/// A slice that begins later than usual, if the gap before it is much longer than `usual_ps`.
fn later_begin(of: GapOfRank, usual_ps: Vec<i64>, least_ps: i64) -> Option<LaterBegin> {
    let median_ps = upper_median(usual_ps.clone(), i64::cmp)?;
    let by_ps = of.gap_ps.saturating_sub(median_ps);
    let deviations = usual_ps.into_iter().map(|ps| ps.saturating_sub(median_ps) as f64);
    let stands_out = by_ps > least_ps && by_ps as f64 > spread(deviations);
    stands_out.then_some(LaterBegin { node: of.node, by_ps })
}

fn place(facts: &Facts<'_>, at: usize, of: &Lateness) -> Place {
    let graph = &facts.graph.ranks[at];
    let place = Place::of_rank(graph.rank);
    let longer_ps = of.longer.first().map_or(0, |one| one.by_ps);
    // The longest gap shows a pause best. Work that takes longer does so all the time.
    let Some(later) = of.later.first().filter(|one| one.by_ps > longer_ps) else { return place };
    let start_ps = graph.work.nodes[later.node as usize].start_ps;
    Place::of_node(graph, later.node, start_ps.saturating_sub(later.by_ps), start_ps)
}

fn evidence(facts: &Facts<'_>, at: usize, of: &Lateness) -> Vec<FindingEvidence> {
    /// Names of work that are listed.
    const MOST_NAMES: usize = 3;
    let mut evidence = Vec::new();
    for one in of.longer.iter().take(MOST_NAMES) {
        evidence.push(FindingEvidence::about(
            EvidenceMeasure::LongerBy,
            &one.name,
            EvidenceValue::Time(one.by_ps),
        ));
        evidence.push(FindingEvidence::about(
            EvidenceMeasure::LongerTimes,
            &one.name,
            EvidenceValue::Factor(one.factor),
        ));
    }
    if let Some(start) = of.start {
        let first = format!("rank {}", facts.graph.ranks[start.first].rank);
        let after = EvidenceValue::Time(start.after_ps);
        let measure = match facts.step_starts_ps.is_empty() {
            true => EvidenceMeasure::BeganAfter,
            false => EvidenceMeasure::BeganStepAfter,
        };
        evidence.push(FindingEvidence::about(measure, &first, after));
        let own_work = start.own_work.map(EvidenceValue::Factor);
        evidence.extend(own_work.map(|factor| FindingEvidence::new(EvidenceMeasure::OwnWork, factor)));
    }
    if !of.later.is_empty() {
        let sum_ps = of.later.iter().map(|one| one.by_ps).fold(0, i64::saturating_add);
        let graph = &facts.graph.ranks[at];
        let name = facts.name_of(graph, of.later[0].node);
        evidence.push(FindingEvidence::about(EvidenceMeasure::LaterBy, name, EvidenceValue::Time(sum_ps)));
        evidence
            .push(FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(of.later.len() as u64)));
    }
    let late_ps = facts.coverage.ranks[at].late_ps;
    if late_ps > 0 {
        evidence.push(FindingEvidence::new(EvidenceMeasure::RecordedLater, EvidenceValue::Time(late_ps)));
    }
    let waited_ps = facts.report.ranks[at].root_blame_ps as i64;
    evidence.push(FindingEvidence::new(EvidenceMeasure::Waited, EvidenceValue::Time(waited_ps)));
    evidence
}

fn words(of: &Finding) -> String {
    let rank = of.place.rank.unwrap_or_default();
    if of.measured(EvidenceMeasure::Alone).is_some() {
        return format!(
            "{} are late and cover each other, so that one alone costs at most {}; rank {rank}: {}",
            ranks_in_words(&of.place.ranks),
            of.words(EvidenceMeasure::Alone),
            reasons(of)
        );
    }
    let costs = match of.saving {
        Some(saving) if saving.middle_ps > 0 => "",
        _ => ", which costs nothing as long as others are later",
    };
    format!("rank {rank} is late{costs}: {}", reasons(of))
}

fn reasons(of: &Finding) -> String {
    let mut reasons = Vec::new();
    if let Some(longer) = of.measured(EvidenceMeasure::LongerTimes) {
        let name = short_name(longer.of.as_deref().unwrap_or_default());
        let by = of.words(EvidenceMeasure::LongerBy);
        reasons.push(format!(
            "`{name}` takes {} as long as on the median rank, {by} in all",
            longer.quantity.words()
        ));
    }
    reasons.extend(began_after(of));
    if let Some(later) = of.measured(EvidenceMeasure::LaterBy) {
        let name = short_name(later.of.as_deref().unwrap_or_default());
        let by = later.quantity.words();
        reasons.push(match of.measured(EvidenceMeasure::Count).map(|one| one.quantity) {
            Some(EvidenceValue::Count(1)) | None => {
                format!("`{name}` begins {by} later than on the other ranks")
            }
            Some(count) => format!(
                "{} slices, first of all `{name}`, begin later than on the other ranks, {by} in all",
                count.words()
            ),
        });
    }
    if of.measured(EvidenceMeasure::RecordedLater).is_some() {
        reasons.push(format!("its recording begins {} late", of.words(EvidenceMeasure::RecordedLater)));
    }
    if reasons.is_empty() {
        reasons.push(format!("others waited {} for it, summed over them", of.words(EvidenceMeasure::Waited)));
    }
    reasons.join("; ")
}

/// The late begin of a rank. Its work is the reason only if it takes longer, too.
fn began_after(of: &Finding) -> Option<String> {
    let of_step = of.measured(EvidenceMeasure::BeganStepAfter).map(|after| (after, "began its step"));
    let of_rank = || of.measured(EvidenceMeasure::BeganAfter).map(|after| (after, "began"));
    let (after, began) = of_step.or_else(of_rank)?;
    let first = after.of.as_deref().unwrap_or_default();
    let own = match of.measured(EvidenceMeasure::OwnWork).map(|one| one.quantity) {
        Some(EvidenceValue::Factor(factor)) if (factor - 1.0).abs() <= LEAST_LONGER => {
            ", its own work took as long as on the median rank"
        }
        _ => "",
    };
    Some(format!("it {began} {} after {first}{own}", after.quantity.words()))
}

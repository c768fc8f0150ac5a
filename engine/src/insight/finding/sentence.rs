//! Sentences about findings. The command line, JSON, the page and HTML files show the same ones.

use super::coverage::{Coverage, RankCoverage};
use super::evidence::percent;
use super::place::Place;
use super::rule_name::RuleName;
use super::verdict::{Finding, Judgement};
use crate::base::time::short_duration;
use crate::insight::Bracket;

/// The answer about a profile in which no rule can look at anything.
pub const NO_WORK: &str = "the profile has no work: no kernels, transfers or instructions of a device, and \
                           no operators of threads";

/// The rule of a finding, and its most likely saving.
#[derive(Debug, Clone, Copy)]
pub struct FoundCost<'a> {
    /// Name of the rule.
    pub rule: &'a str,
    /// Time in picoseconds. `None` if it costs nothing that is known.
    pub saved_ps: Option<i64>,
}

impl From<&Finding> for FoundCost<'_> {
    fn from(of: &Finding) -> Self {
        Self { rule: of.rule.rule().id, saved_ps: of.saved_ps() }
    }
}

/// The answer about a run. The findings are in the order of their savings, the largest first.
#[must_use]
pub fn answer(found: &[FoundCost<'_>], length_ps: i64) -> String {
    // Errors make the results doubtful, whatever the run costs.
    let errors = RuleName::Errors.rule().id;
    if found.iter().any(|one| one.rule == errors) {
        let others: Vec<FoundCost<'_>> = found.iter().copied().filter(|one| one.rule != errors).collect();
        return format!("{}; the hardware reported errors", answer(&others, length_ps));
    }
    let saving = |one: &FoundCost<'_>| one.saved_ps.unwrap_or(0);
    let costly = found.iter().filter(|one| saving(one) > 0).count();
    let Some(first) = found.first().filter(|_| costly > 0) else {
        return "nothing was found that makes the run longer".to_owned();
    };
    let time = short_duration(saving(first) as f64);
    let (id, whole) = (first.rule, of_run(saving(first), length_ps));
    match costly {
        1 => format!("one thing makes the run longer: {id}, by {time} ({whole})"),
        _ => format!("{costly} things make the run longer, most of all {id}: by {time} ({whole})"),
    }
}

/// A time as a share of the run.
#[must_use]
pub fn of_run(ps: i64, length_ps: i64) -> String {
    if length_ps > 0 { percent(ps as f64 / length_ps as f64) } else { "-".to_owned() }
}

/// The bounds of a time that is not negative.
#[must_use]
pub fn between(of: &Bracket) -> String {
    let time = |ps: i64| short_duration(ps as f64);
    format!("between {} and {}", time(of.low_ps.max(0)), time(of.high_ps))
}

/// The answer of a rule that has no findings. `None` if it has some.
#[must_use]
pub fn without_findings(of: &Judgement) -> Option<String> {
    match of {
        Judgement::Found(_) => None,
        Judgement::Nothing => Some("nothing found".to_owned()),
        Judgement::CannotTell(missing) => Some(format!("cannot tell: {}", missing.words())),
    }
}

/// The place to look at. `time` writes a time of the clock that all ranks share. `None` if a
/// finding is about the run as a whole.
#[must_use]
pub fn place(of: &Place, time: impl Fn(i64) -> String) -> Option<String> {
    let rank = of.rank.map(|rank| format!("rank {rank}"));
    let span = of.span_ps.map(|(start_ps, end_ps)| format!("{} to {}", time(start_ps), time(end_ps)));
    let parts: Vec<String> = [rank, of.track.clone(), span].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The recorded part of a job.
#[must_use]
pub fn coverage(of: &Coverage) -> String {
    if of.is_complete() {
        return "recorded: all of the run, as far as the profile tells".to_owned();
    }
    let absent = match of.absent_ranks() {
        0 => String::new(),
        _ => format!("{} of {} ranks; of these ", of.ranks.len(), of.world),
    };
    let late = match of.ranks.iter().filter(|rank| rank.late_ps > 0 || rank.cut_ps > 0).count() {
        0 => String::new(),
        1 => ", one rank not from begin to end".to_owned(),
        late => format!(", {late} ranks not from begin to end"),
    };
    let unplaced = match of.unplaced_calls {
        0 => String::new(),
        calls => format!(", {calls} calls of no known group"),
    };
    let unlaunched = match of.ranks.iter().any(RankCoverage::lacks_launches) {
        true => format!(", without the launches of {} of the work", percent(of.unlaunched())),
        false => String::new(),
    };
    format!(
        "recorded: {absent}{} of the time, {} of the calls of operations{late}{unplaced}{unlaunched}",
        percent(of.of_own_time()),
        percent(of.of_own_calls())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::finding::{RuleName, Severity};

    fn finding(rule: RuleName, middle_ps: i64) -> Finding {
        let saving = Some(Bracket::around(0, middle_ps, 2 * middle_ps));
        Finding {
            rule,
            severity: Severity::of(middle_ps, 1_000),
            place: Place::default(),
            evidence: Vec::new(),
            saving,
        }
    }

    #[test]
    fn the_answer_names_the_most_costly_one_and_counts_the_others() {
        let all = [finding(RuleName::LateRank, 125), finding(RuleName::SlowLink, 25)];
        let found = |most: usize| all.iter().take(most).map(FoundCost::from).collect::<Vec<_>>();
        assert_eq!(answer(&found(0), 1_000), "nothing was found that makes the run longer");
        let one = "one thing makes the run longer: late-rank, by 125 ps (12.5 %)";
        assert_eq!(answer(&found(1), 1_000), one);
        let both = "2 things make the run longer, most of all late-rank: by 125 ps (12.5 %)";
        assert_eq!(answer(&found(2), 1_000), both);
        let free = finding(RuleName::LateRank, 0);
        assert_eq!(answer(&[FoundCost::from(&free)], 1_000), "nothing was found that makes the run longer");
    }

    #[test]
    fn a_place_names_its_parts() {
        let time = |ps: i64| format!("{ps} ps");
        assert_eq!(place(&Place::default(), time), None);
        assert_eq!(place(&Place::of_rank(3), time).as_deref(), Some("rank 3"));
        let whole = Place { track: Some("Stream 7".to_owned()), ..Place::of_span(5, 9) };
        assert_eq!(place(&whole, time).as_deref(), Some("Stream 7, 5 ps to 9 ps"));
    }

    #[test]
    fn a_job_without_gaps_was_recorded_as_a_whole() {
        let of = Coverage { world: 0, ..Coverage::default() };
        assert_eq!(coverage(&of), "recorded: all of the run, as far as the profile tells");
        let part = Coverage { world: 4, unplaced_calls: 2, ..Coverage::default() };
        let text = "recorded: 0 of 4 ranks; of these 100.0 % of the time, 100.0 % of the calls of operations, \
                    2 calls of no known group";
        assert_eq!(coverage(&part), text);
    }
}

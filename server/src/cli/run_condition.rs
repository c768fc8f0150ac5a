//! The grammar of conditions about one profile: a metric of its ranks, a finding of a rule, or what
//! the collective operations of a job tell about its worst rank.

use std::str::FromStr;

use nprof_engine::analysis::Analysed;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::makers::CallIds;
use nprof_engine::wire::summary::Summary;

use super::finding_condition::{self, FINDING, FindingCondition};
use super::metric_condition::MetricCondition;
use super::metric_list::listed;
use super::progress::analysing;
use super::region_spans::within_region;
use crate::analysis::analyse;
use crate::analysis::condition::Condition;
use crate::analysis::findings::of_profile;
use crate::export::RanksOf;
use crate::export::summary::summaries;
use crate::print::condition_report::CheckedCondition;
use crate::store::Profile;

/// A condition about a profile.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RunCondition {
    /// A metric of all ranks.
    Metric(MetricCondition),
    /// A finding.
    Finding(FindingCondition),
    /// The worst rank of a job.
    Rank(RankCondition),
}

/// A condition about the worst rank of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankCondition {
    condition: Condition,
    /// The words of the user.
    text: String,
}

impl FromStr for RunCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with(FINDING) {
            return text.parse().map(Self::Finding);
        }
        match Condition::is_about(text) {
            true => {
                let condition = text.parse()?;
                Ok(Self::Rank(RankCondition { condition, text: text.to_owned() }))
            }
            false => text.parse().map(Self::Metric),
        }
    }
}

/// The facts that conditions are about, as far as a command has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownFacts<'f> {
    /// Metrics by the number of the rank.
    pub(super) summaries: Option<&'f [(u32, &'f Summary)]>,
    /// The analysis of all ranks together.
    pub(super) analysed: Option<&'f Analysed>,
    /// The region in which findings count; `None` for the whole run.
    pub(super) region: Option<&'f str>,
}

/// Checks the conditions, in their order. Facts that are missing are found once.
pub(super) fn checked(
    conditions: &[RunCondition],
    profile: &Profile,
    known: KnownFacts<'_>,
) -> anyhow::Result<Vec<CheckedCondition>> {
    let has = |is_wanted: fn(&RunCondition) -> bool| conditions.iter().any(is_wanted);
    let needs_rules = has(|one| matches!(one, RunCondition::Finding(_)));
    let needs_ranks = has(|one| matches!(one, RunCondition::Rank(_))) && known.analysed.is_none();
    let of_rules = match needs_rules {
        true => {
            let message = analysing(|cancel| of_profile(profile, cancel))?.message;
            Some(within_region(message, profile, known.region)?)
        }
        false => None,
    };
    let of_job = match needs_ranks {
        true => Some(analysing(|cancel| analyse(profile, CallIds::Skipped, cancel))?),
        false => None,
    };
    let needs_metrics = has(|one| matches!(one, RunCondition::Metric(_))) && known.summaries.is_none();
    let of_ranks = match needs_metrics {
        true => summaries(
            RanksOf::some(profile, &profile.manifest.ranks),
            Work { cancel: Cancel::NEVER, ..Work::IN_PLACE },
        )?,
        false => Vec::new(),
    };
    let read: Vec<(u32, &Summary)> = of_ranks.iter().map(|(file, summary)| (file.rank, summary)).collect();
    let metrics = known.summaries.unwrap_or(&read);
    check_words(conditions, metrics)?;
    let analysed = known.analysed.or(of_job.as_ref());
    let check = |condition: &RunCondition| match condition {
        RunCondition::Metric(metric) => metric.checked(metrics),
        RunCondition::Finding(finding) => match of_rules.as_ref().filter(|of| of.recorded_ps.is_some()) {
            Some(found) => finding_condition::checked(std::slice::from_ref(finding), found).remove(0),
            None => {
                let reason = format!("{}: the profile has no work of a device", finding.text());
                CheckedCondition::of(finding.text(), Vec::new(), vec![reason])
            }
        },
        RunCondition::Rank(RankCondition { condition, text }) => {
            let broken = analysed.and_then(|analysed| condition.broken_by(analysed));
            let broken = broken.map(|one| one.to_string()).into_iter().collect();
            CheckedCondition::of(text, broken, Vec::new())
        }
    };
    Ok(conditions.iter().map(check).collect())
}

/// Checks the names and units of metrics.
fn check_words(conditions: &[RunCondition], of: &[(u32, &Summary)]) -> anyhow::Result<()> {
    let metrics = conditions.iter().filter_map(|condition| match condition {
        RunCondition::Metric(metric) => Some(metric),
        RunCondition::Finding(_) | RunCondition::Rank(_) => None,
    });
    let metrics: Vec<&MetricCondition> = metrics.collect();
    let known = if metrics.is_empty() { Vec::new() } else { listed()? };
    metrics.iter().try_for_each(|metric| Ok(metric.check_words(&known, of)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_grammar_has_metrics_rules_and_ranks() {
        let kind = |text: &str| match text.parse::<RunCondition>() {
            Ok(RunCondition::Metric(_)) => "metric",
            Ok(RunCondition::Finding(_)) => "finding",
            Ok(RunCondition::Rank(_)) => "rank",
            Err(_) => "wrong",
        };
        let all =
            ["mfu < 30%", "finding:spill > 1%", "finding:any", "wait > 10%", "root-blame > 5 ms", " lost>0"];
        assert_eq!(all.map(kind), ["metric", "finding", "finding", "rank", "rank", "rank"]);
        let wrong = ["finding:spil > 1%", "wait < 10%", "wait > x", "mfu", "total_time > +2%"];
        assert_eq!(wrong.map(kind), ["wrong"; 5]);
    }
}

//! Conditions of `nprof summary --fail-on`, such as `mfu < 30%`.

use std::str::FromStr;

use nprof_engine::wire::summary::{MetricEntry, Summary};

use crate::print::condition_report::CheckedCondition;
use crate::print::metric::shown;
use crate::units::{time_ps, with_unit};

/// A metric, and the limit that no rank may be above or below.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MetricCondition {
    metric: String,
    /// Whether values below the limit break it, rather than values above.
    is_lower_bound: bool,
    limit: MetricLimit,
    /// The words of the user.
    text: String,
}

/// A limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MetricLimit {
    /// A ratio, written in percent.
    Share(f64),
    /// A time in seconds.
    Time(f64),
    /// A number in the unit of the metric.
    Number(f64),
}

impl FromStr for MetricCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is no condition; write a metric, `>` or `<`, and a limit, such as `mfu < 30%` or `total_time > 5 ms`"
            )
        };
        let at = text.find(['>', '<']).ok_or_else(wrong)?;
        let (metric, limit) = (text[..at].trim(), text[at + 1..].trim());
        if metric.is_empty() {
            return Err(wrong());
        }
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let limit = match limit.strip_suffix('%') {
            Some(percent) => MetricLimit::Share(number(percent).ok_or_else(wrong)? / 100.0),
            None => match with_unit(limit).ok_or_else(wrong)? {
                (_, "") => MetricLimit::Number(number(limit).ok_or_else(wrong)?),
                _ => MetricLimit::Time(time_ps(limit)? as f64 / 1e12),
            },
        };
        let is_lower_bound = text[at..].starts_with('<');
        Ok(Self { metric: metric.to_owned(), is_lower_bound, limit, text: text.trim().to_owned() })
    }
}

impl MetricCondition {
    /// The limit in the unit of the metric. `None` if the limit has another unit.
    fn limit_of(&self, metric: &MetricEntry) -> Option<f64> {
        match (self.limit, metric.unit.as_str()) {
            (MetricLimit::Share(share), "ratio") => Some(share),
            (MetricLimit::Time(seconds), "s") => Some(seconds),
            (MetricLimit::Number(number), unit) if unit != "s" => Some(number),
            _ => None,
        }
    }

    fn is_broken(&self, value: f64, limit: f64) -> bool {
        if self.is_lower_bound { value < limit } else { value > limit }
    }

    /// Checks the metric of each rank. A rank without the metric keeps nothing.
    pub(super) fn checked(&self, ranks: &[(u32, &Summary)]) -> CheckedCondition {
        let (mut broken, mut undecided) = (Vec::new(), Vec::new());
        for (rank, summary) in ranks {
            let of = if ranks.len() > 1 { format!(" of rank {rank}") } else { String::new() };
            let all = summary.groups.iter().flat_map(|group| &group.metrics);
            let Some(metric) = all.into_iter().find(|metric| metric.name == self.metric) else {
                undecided.push(format!(
                    "{}: {}{of} is not known; {}",
                    self.text,
                    self.metric,
                    reason(summary)
                ));
                continue;
            };
            let value = metric.value.number().filter(|value| value.is_finite());
            match (self.limit_of(metric), value) {
                (Some(limit), Some(value)) if self.is_broken(value, limit) => {
                    let value = shown(&metric.value, &metric.unit);
                    broken.push(format!("{}: {}{of} is {value}", self.text, self.metric));
                }
                (Some(_), Some(_)) => {}
                _ => {
                    let unit = if metric.unit.is_empty() { "a number" } else { &metric.unit };
                    undecided.push(format!("{}: {} is in another unit: {unit}", self.text, self.metric));
                }
            }
        }
        undecided.dedup();
        CheckedCondition::of(&self.text, broken, undecided)
    }
}

/// The way to the reason why a metric is absent.
fn reason(summary: &Summary) -> &'static str {
    match summary.absent.is_empty() {
        true => "`nprof metrics` lists all names",
        false => "`nprof summary --all` says which families the trace does not give, and why",
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::detail::FieldContent;
    use nprof_engine::wire::summary::MetricGroupEntry;

    use super::*;
    use crate::print::condition_report::ConditionState;

    fn summary(name: &str, value: f64, unit: &str) -> Summary {
        let metric = MetricEntry {
            name: name.to_owned(),
            value: FieldContent::Float(value),
            unit: unit.to_owned(),
            doc: String::new(),
            place: None,
        };
        let group = MetricGroupEntry {
            key: "group".to_owned(),
            title: "Group".to_owned(),
            has_names_of_trace: false,
            metrics: vec![metric],
        };
        Summary { rank: 0.into(), groups: vec![group], tables: Vec::new(), absent: Vec::new() }
    }

    #[track_caller]
    fn check(condition: &str, of: &Summary, state: ConditionState) {
        let condition: MetricCondition = condition.parse().unwrap();
        assert_eq!(condition.checked(&[(0, of)]).state, state);
    }

    #[test]
    fn a_limit_has_the_unit_of_its_metric() {
        let (share, time, count) =
            (summary("mfu", 0.25, "ratio"), summary("idle", 0.002, "s"), summary("n", 3.0, ""));
        check("mfu < 30%", &share, ConditionState::Broken);
        check("mfu < 20 %", &share, ConditionState::Kept);
        check("mfu > 1ms", &share, ConditionState::Undecided);
        check("idle > 1 ms", &time, ConditionState::Broken);
        check("idle > 3ms", &time, ConditionState::Kept);
        check("idle > 3", &time, ConditionState::Undecided);
        check("n > 2", &count, ConditionState::Broken);
        check("other > 2", &count, ConditionState::Undecided);
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for wrong in ["", "mfu", "< 3", "mfu <", "mfu < x%", "mfu < nan%", "idle > 3 parsecs"] {
            assert!(wrong.parse::<MetricCondition>().is_err(), "{wrong}");
        }
    }
}

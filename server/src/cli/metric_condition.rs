//! Conditions about metrics, such as `mfu < 30%`.

use std::str::FromStr;

use nprof_engine::wire::summary::{MetricEntry, Summary};

use super::metric_list::{ListedMetric, is_called, nearest};
use super::wrong_condition::WrongCondition;
use crate::analysis::condition::QUANTITY_NAMES;
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
    /// The limit in the words of the user.
    limit_text: String,
    /// The words of the user.
    text: String,
}

/// A limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MetricLimit {
    /// A ratio, written in percent.
    Share(f64),
    /// A time in picoseconds.
    Time(i64),
    /// A number in the unit of the metric.
    Number(f64),
}

impl FromStr for MetricCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is no condition; write a metric, `>` or `<`, and a limit, such as `mfu < 30%` or `idle_time > 5 ms`"
            )
        };
        let at = text.find(['>', '<']).ok_or_else(wrong)?;
        let (metric, limit_text) = (text[..at].trim(), text[at + 1..].trim());
        if metric.is_empty() {
            return Err(wrong());
        }
        if limit_text.starts_with(['+', '-']) {
            return Err(format!(
                "\"{text}\" is about a change: `nprof diff` checks those of total_time and work:NAME"
            ));
        }
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let limit = match limit_text.strip_suffix('%') {
            Some(percent) => MetricLimit::Share(number(percent).ok_or_else(wrong)? / 100.0),
            None => match with_unit(limit_text).ok_or_else(wrong)? {
                (_, "") => MetricLimit::Number(number(limit_text).ok_or_else(wrong)?),
                _ => MetricLimit::Time(time_ps(limit_text)?),
            },
        };
        Ok(Self {
            metric: metric.to_owned(),
            is_lower_bound: text[at..].starts_with('<'),
            limit,
            limit_text: limit_text.to_owned(),
            text: text.trim().to_owned(),
        })
    }
}

impl MetricLimit {
    /// The limit in a unit. `None` if it has another one.
    fn in_unit(self, unit: &str) -> Option<f64> {
        match (self, unit) {
            (Self::Share(share), "ratio") => Some(share),
            (Self::Time(ps), "s") => Some(ps as f64 / 1e12),
            (Self::Time(ps), "ns") => Some(ps as f64 / 1e3),
            (Self::Time(ps), "ps") => Some(ps as f64),
            // A share without its sign could be one of 1 or of 100.
            (Self::Number(number), unit) if unit != "ratio" && !TIMES.contains(&unit) => Some(number),
            _ => None,
        }
    }
}

/// Units of times, which a limit has to name.
const TIMES: [&str; 3] = ["s", "ns", "ps"];

impl MetricCondition {
    fn is_broken(&self, value: f64, limit: f64) -> bool {
        if self.is_lower_bound { value < limit } else { value > limit }
    }

    /// Checks the name and the unit. Some names depend on the trace, so those of these ranks count
    /// as well. The error has the nearest name, or the right unit.
    pub(super) fn check_words(
        &self,
        listed: &[ListedMetric],
        ranks: &[(u32, &Summary)],
    ) -> Result<(), WrongCondition> {
        let of_ranks = || ranks.iter().flat_map(|(_, summary)| metrics(summary));
        let names = listed.iter().map(|one| (one.name.as_str(), one.unit.as_str()));
        let names = names.chain(of_ranks().map(|one| (one.name.as_str(), one.unit.as_str())));
        let names: Vec<(&str, &str)> = names.collect();
        let mut unit = None;
        for (name, of) in names.iter().copied().filter(|(name, _)| is_called(name, &self.metric)) {
            if self.limit.in_unit(of).is_some() {
                return Ok(());
            }
            unit = unit.or(Some((name, of)));
        }
        let text = &self.text;
        if let Some((name, unit)) = unit {
            let expected = match unit {
                "ratio" => "a ratio: write a share, such as 30%",
                _ if TIMES.contains(&unit) => "a time: write it with its unit, such as 5 ms",
                _ => "a number: write it without a unit, such as 1000",
            };
            return Err(WrongCondition(format!("\"{text}\" has the wrong unit: {name} is {expected}")));
        }
        let short = listed.iter().filter_map(|one| one.alias.as_deref());
        let all = names.into_iter().map(|(name, _)| name).chain(short).chain(QUANTITY_NAMES);
        let nearest = nearest(&self.metric, all).unwrap_or_default();
        Err(WrongCondition(format!(
            "\"{text}\": no metric is named `{}`; the nearest is `{nearest}`, and `nprof metrics` lists all",
            self.metric
        )))
    }

    /// The metric of a rank. One that has the unit of the limit comes first.
    fn of_rank<'s>(&self, summary: &'s Summary) -> Option<&'s MetricEntry> {
        let called = || metrics(summary).filter(|metric| is_called(&metric.name, &self.metric));
        called().find(|metric| self.limit.in_unit(&metric.unit).is_some())
    }

    /// Checks the metric of each rank. A rank without the metric keeps nothing.
    pub(super) fn checked(&self, ranks: &[(u32, &Summary)]) -> CheckedCondition {
        let (mut broken, mut unknown) = (Vec::new(), Vec::new());
        for (rank, summary) in ranks {
            let of = if ranks.len() > 1 { format!(" of rank {rank}") } else { String::new() };
            let metric = self.of_rank(summary);
            let limit = metric.and_then(|metric| self.limit.in_unit(&metric.unit));
            let value = metric.and_then(|metric| metric.value.number()).filter(|value| value.is_finite());
            let Some(((metric, limit), value)) = metric.zip(limit).zip(value) else {
                unknown.push(*rank);
                continue;
            };
            if self.is_broken(value, limit) {
                let than = if self.is_lower_bound { "less" } else { "more" };
                let value = shown(&metric.value, &metric.unit);
                let (text, name, limit) = (&self.text, &metric.name, &self.limit_text);
                broken.push(format!("{text}: {name}{of} is {value}, {than} than {limit}"));
            }
        }
        let undecided = (!unknown.is_empty()).then(|| self.unknown(&unknown, ranks));
        CheckedCondition::of(&self.text, broken, undecided.into_iter().collect())
    }

    /// Why the metric of these ranks is not known.
    fn unknown(&self, unknown: &[u32], ranks: &[(u32, &Summary)]) -> String {
        let numbers: Vec<String> = unknown.iter().map(u32::to_string).collect();
        let of = match unknown.len() == ranks.len() {
            true => String::new(),
            false => format!(" of rank {}", numbers.join(", ")),
        };
        let first = ranks.iter().find(|(rank, _)| unknown.contains(rank));
        let reason = first.map_or("", |(_, summary)| reason(summary));
        format!("{}: {}{of} is not known; {reason}", self.text, self.metric)
    }
}

fn metrics(of: &Summary) -> impl Iterator<Item = &MetricEntry> {
    of.groups.iter().flat_map(|group| &group.metrics)
}

/// The way to the reason why a metric is absent.
fn reason(summary: &Summary) -> &'static str {
    match summary.absent.is_empty() {
        true => "`nprof metrics` says of which traces it is",
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
        assert_eq!(condition.check_words(&[], &[(0, of)]).map_err(|wrong| wrong.0), Ok(()));
        assert_eq!(condition.checked(&[(0, of)]).state, state);
    }

    #[track_caller]
    fn check_wrong(condition: &str, of: &Summary, expected: &str) {
        let condition: MetricCondition = condition.parse().unwrap();
        let WrongCondition(text) = condition.check_words(&[], &[(0, of)]).unwrap_err();
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_limit_has_the_unit_of_its_metric() {
        let (share, time, count) =
            (summary("mfu", 0.25, "ratio"), summary("idle", 0.002, "s"), summary("n", 3.0, ""));
        check("mfu < 30%", &share, ConditionState::Broken);
        check("mfu < 20 %", &share, ConditionState::Kept);
        check("idle > 1 ms", &time, ConditionState::Broken);
        check("idle > 3ms", &time, ConditionState::Kept);
        check("elapsed > 2us", &summary("elapsed", 3_000.0, "ns"), ConditionState::Broken);
        check("n > 2", &count, ConditionState::Broken);
        check_wrong("mfu > 1ms", &share, "mfu is a ratio: write a share");
        check_wrong("idle > 3", &time, "idle is a time: write it with its unit");
        check_wrong("n > 2%", &count, "n is a number");
        check_wrong("idel > 2 ms", &time, "the nearest is `idle`");
        check_wrong("wiat > 2%", &time, "the nearest is `wait`");
    }

    #[test]
    fn a_short_name_means_the_metric_of_its_unit() {
        let of = summary("mfu_estimated_percent", 0.25, "ratio");
        check("mfu < 30%", &of, ConditionState::Broken);
        check("mfu_estimated_percent < 30%", &of, ConditionState::Broken);
        let condition: MetricCondition = "mfu < 30%".parse().unwrap();
        assert_eq!(
            condition.checked(&[(0, &of)]).reasons,
            ["mfu < 30%: mfu_estimated_percent is 25.0 %, less than 30%"]
        );
        let mut both = summary("dma_active_time", 0.002, "s");
        both.groups.extend(summary("dma_active_time_percent", 0.5, "ratio").groups);
        check("dma_active_time > 40%", &both, ConditionState::Broken);
        check("dma_active_time > 1 ms", &both, ConditionState::Broken);
        check("dma_active_time > 3 ms", &both, ConditionState::Kept);
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for wrong in
            ["", "mfu", "< 3", "mfu <", "mfu < x%", "mfu < nan%", "idle > 3 parsecs", "total_time > +2%"]
        {
            assert!(wrong.parse::<MetricCondition>().is_err(), "{wrong}");
        }
    }
}

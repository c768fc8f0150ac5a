//! Shares of metrics, which the Summary place draws as bars.

use nprof_engine::makers::is_limit;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry};

/// The share of each metric of a group, from 0 to 1: a ratio is its own, and a time by name is that
/// of the longest in the group. `None` for other metrics, and for ratios that are no part of a
/// whole, such as limits.
#[must_use]
pub fn shares(group: &MetricGroupEntry) -> Vec<Option<f64>> {
    let times = || group.metrics.iter().filter_map(|metric| number_in(metric, "s"));
    let longest = times().fold(0.0, f64::max);
    let share = |metric: &MetricEntry| match number_in(metric, "ratio") {
        Some(_) if is_limit(&metric.name) => None,
        Some(ratio) => Some(ratio),
        None if group.has_names_of_trace && longest > 0.0 => Some(number_in(metric, "s")? / longest),
        None => None,
    };
    let is_part = |share: &f64| (0.0..=1.0).contains(share);
    group.metrics.iter().map(|metric| share(metric).filter(is_part)).collect()
}

/// The value of a metric in a unit.
fn number_in(metric: &MetricEntry, unit: &str) -> Option<f64> {
    match metric.value {
        FieldContent::Float(value) if metric.unit == unit => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(has_names_of_trace: bool, metrics: &[(f64, &str)], expected: &[Option<f64>]) {
        let metric = |&(value, unit): &(f64, &str)| MetricEntry {
            name: "a".to_owned(),
            value: FieldContent::Float(value),
            unit: unit.to_owned(),
            doc: String::new(),
            place: None,
        };
        let group = MetricGroupEntry {
            key: "g".to_owned(),
            title: "G".to_owned(),
            has_names_of_trace,
            metrics: metrics.iter().map(metric).collect(),
        };
        assert_eq!(shares(&group), expected);
    }

    #[test]
    fn ratios_are_shares_unless_they_are_no_part_of_a_whole() {
        let metrics = [(0.25, "ratio"), (1.0, "ratio"), (-26.1, "ratio"), (f64::NAN, "ratio"), (0.5, "B")];
        check(false, &metrics, &[Some(0.25), Some(1.0), None, None, None]);
    }

    #[test]
    fn a_limit_has_no_bar() {
        let metric = |name: &str| MetricEntry {
            name: name.to_owned(),
            value: FieldContent::Float(1.0),
            unit: "ratio".to_owned(),
            doc: String::new(),
            place: None,
        };
        let metrics =
            ["throttle_unknown_avg_util_limit_nc0_percent", "throttle_activity_0_active_time_nc0_percent"];
        let group = MetricGroupEntry {
            key: "g".to_owned(),
            title: "G".to_owned(),
            has_names_of_trace: false,
            metrics: metrics.map(metric).to_vec(),
        };
        assert_eq!(shares(&group), [None, Some(1.0)]);
    }

    #[test]
    fn times_by_name_are_shares_of_the_longest() {
        check(true, &[(8.0, "s"), (2.0, "s"), (0.0, "s")], &[Some(1.0), Some(0.25), Some(0.0)]);
        check(true, &[(0.0, "s"), (f64::NAN, "s")], &[None, None]);
        check(false, &[(8.0, "s")], &[None]);
    }
}

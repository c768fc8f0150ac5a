//! The time as one bar: parts that sum up to the whole.

use nprof_engine::makers::{SummaryLayout, TimePart};
use nprof_engine::wire::summary::Summary;

use super::cards::seconds;

/// The parts of the time that take any.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimeBar {
    /// In the order of the bar.
    pub parts: Vec<TimeBarPart>,
    /// Length of the active stretch in seconds; 0 if the parts are shares.
    pub active_s: f64,
}

/// A part of the bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeBarPart {
    /// The part.
    pub part: TimePart,
    /// Share of the whole.
    pub share: f64,
    /// Share of the active stretch. `None` outside of it.
    pub of_active: Option<f64>,
    /// The time in seconds, if it is known.
    pub seconds: Option<f64>,
}

impl TimeBar {
    /// The bar of a summary. `None` if it has no such metrics.
    #[must_use]
    pub fn of(layout: &SummaryLayout, summary: &Summary) -> Option<Self> {
        let mut times: Vec<(TimePart, f64)> = Vec::new();
        let mut is_share = false;
        for of in layout.time {
            let group = summary.groups.iter().find(|group| group.key == of.group);
            let metric = group.and_then(|group| group.metrics.iter().find(|metric| metric.name == of.metric));
            let Some((metric, time)) = metric.and_then(|metric| Some((metric, seconds(&metric.value)?)))
            else {
                continue;
            };
            is_share |= metric.unit == "ratio";
            match times.iter_mut().find(|(part, _)| *part == of.part) {
                Some((_, sum)) => *sum += time,
                None => times.push((of.part, time)),
            }
        }
        let sum = |is_wanted: fn(TimePart) -> bool| {
            times.iter().filter(|(part, _)| is_wanted(*part)).map(|(_, time)| time).sum::<f64>()
        };
        let (whole, active) = (sum(|_| true), sum(TimePart::is_active));
        if whole <= 0.0 {
            return None;
        }
        let part = |&(part, time): &(TimePart, f64)| TimeBarPart {
            part,
            share: time / whole,
            of_active: (part.is_active() && active > 0.0).then(|| time / active),
            seconds: (!is_share).then_some(time),
        };
        let parts = times.iter().filter(|(_, time)| *time > 0.0).map(part).collect();
        Some(Self { parts, active_s: if is_share { 0.0 } else { active } })
    }

    /// The parts of the active stretch alone, if most of the whole lies outside of it: else they
    /// could not be seen.
    #[must_use]
    pub fn zoomed(&self) -> Option<Vec<TimeBarPart>> {
        /// Share of the whole above which all parts can be seen.
        const ENOUGH: f64 = 0.5;
        let active = || self.parts.iter().filter(|part| part.part.is_active());
        let share: f64 = active().map(|part| part.share).sum();
        (0.0 < share && share < ENOUGH).then(|| active().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::makers::{summary_layout, summary_layout_of_job};
    use nprof_engine::wire::detail::FieldContent;
    use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry};

    use super::*;

    fn summary(group: &str, unit: &str, metrics: &[(&str, f64)]) -> Summary {
        let metric = |(name, value): &(&str, f64)| MetricEntry {
            name: (*name).to_owned(),
            value: FieldContent::Float(*value),
            unit: unit.to_owned(),
            doc: String::new(),
            place: None,
        };
        let metrics = metrics.iter().map(metric).collect();
        let group = MetricGroupEntry {
            key: group.to_owned(),
            title: String::new(),
            has_names_of_trace: false,
            metrics,
        };
        Summary { rank: 0.into(), groups: vec![group], tables: Vec::new(), absent: Vec::new() }
    }

    #[test]
    fn parts_are_shares_of_the_whole_and_of_the_active_stretch() {
        let times =
            [("time_starting_up", 6.0), ("time_computing", 1.0), ("time_waiting", 0.0), ("time_idle", 1.0)];
        let bar = TimeBar::of(summary_layout("neuron"), &summary("time", "s", &times)).unwrap();
        let parts: Vec<_> = bar.parts.iter().map(|of| (of.part.title(), of.share, of.of_active)).collect();
        assert_eq!(
            parts,
            [("start-up", 0.75, None), ("compute", 0.125, Some(0.5)), ("idle", 0.125, Some(0.5))]
        );
        assert!((bar.active_s - 2.0).abs() < 1e-12);
        assert_eq!(bar.zoomed().map(|parts| parts.len()), Some(2));
    }

    #[test]
    fn shares_of_a_job_have_no_length() {
        let shares = [("compute", 0.5), ("exposed_transfer", 0.125), ("copies", 0.125), ("idle", 0.25)];
        let bar = TimeBar::of(summary_layout_of_job(), &summary("job_job", "ratio", &shares)).unwrap();
        let parts: Vec<_> = bar.parts.iter().map(|of| (of.part.title(), of.share, of.seconds)).collect();
        assert_eq!(parts, [("compute", 0.5, None), ("transfer", 0.25, None), ("idle", 0.25, None)]);
        assert_eq!((bar.active_s, bar.zoomed()), (0.0, None));
        assert_eq!(TimeBar::of(summary_layout_of_job(), &summary("time", "s", &[("time_idle", 1.0)])), None);
    }
}

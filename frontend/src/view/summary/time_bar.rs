//! The time as one bar: parts that sum up to the whole.

use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_S;
use nprof_engine::makers::{SummaryLayout, SummaryTarget, TimePart, summary_target};
use nprof_engine::wire::summary::Summary;

use super::cards::seconds;

/// The parts of the time that take any.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimeBar {
    /// In the order of the bar.
    pub parts: Vec<TimeBarPart>,
    /// Length of the active stretch in seconds; 0 if the parts are shares.
    pub active_s: f64,
    /// Length of the whole in seconds; 0 if the parts are shares.
    pub whole_s: f64,
}

/// The time of a part, or its share.
struct PartTime {
    part: TimePart,
    time: f64,
    target: Option<SummaryTarget>,
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
    /// The place that shows it.
    pub target: Option<SummaryTarget>,
}

impl TimeBar {
    /// The bar of a summary. `None` if it has no such metrics.
    #[must_use]
    pub fn of(layout: &SummaryLayout, summary: &Summary) -> Option<Self> {
        let mut times: Vec<PartTime> = Vec::new();
        let mut is_share = false;
        for of in layout.time {
            let group = summary.groups.iter().find(|group| group.key == of.group);
            let metric = group.and_then(|group| group.metrics.iter().find(|metric| metric.name == of.metric));
            let Some((metric, time)) = metric.and_then(|metric| Some((metric, seconds(&metric.value)?)))
            else {
                continue;
            };
            is_share |= metric.unit == "ratio";
            match times.iter_mut().find(|known| known.part == of.part) {
                Some(known) => known.time += time,
                None => {
                    times.push(PartTime { part: of.part, time, target: summary_target(of.group, of.metric) });
                }
            }
        }
        let sum = |is_wanted: fn(TimePart) -> bool| {
            times.iter().filter(|of| is_wanted(of.part)).map(|of| of.time).sum::<f64>()
        };
        let (whole, active) = (sum(|_| true), sum(TimePart::is_active));
        if whole <= 0.0 {
            return None;
        }
        let part = |&PartTime { part, time, target }: &PartTime| TimeBarPart {
            part,
            share: time / whole,
            of_active: (part.is_active() && active > 0.0).then(|| time / active),
            seconds: (!is_share).then_some(time),
            target,
        };
        let parts = times.iter().filter(|of| of.time > 0.0).map(part).collect();
        let seconds = |time: f64| if is_share { 0.0 } else { time };
        Some(Self { parts, active_s: seconds(active), whole_s: seconds(whole) })
    }

    /// The part of the recording in which a part of the time lies. `whole` is the recording.
    #[must_use]
    pub fn stretch(&self, part: TimePart, whole: Interval) -> Interval {
        let outside = |wanted: TimePart| {
            let seconds = self.parts.iter().find(|of| of.part == wanted).and_then(|of| of.seconds);
            (seconds.unwrap_or(0.0) * PS_PER_S as f64).round() as i64
        };
        let start = whole.start.0.saturating_add(outside(TimePart::StartUp)).min(whole.end.0);
        let end = whole.end.0.saturating_sub(outside(TimePart::TearDown)).max(start);
        match part {
            TimePart::StartUp => Interval::new(whole.start.0, start),
            TimePart::TearDown => Interval::new(end, whole.end.0),
            _ => Interval::new(start, end),
        }
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
        let whole = Interval::new(PS_PER_S, 9 * PS_PER_S);
        let start = whole.start.0 + 6 * PS_PER_S;
        assert_eq!(bar.stretch(TimePart::StartUp, whole), Interval::new(whole.start.0, start));
        assert_eq!(bar.stretch(TimePart::Idle, whole), Interval::new(start, whole.end.0));
        assert_eq!(bar.stretch(TimePart::TearDown, whole).duration_ps(), 0);
        assert_eq!(bar.parts[0].target, Some(SummaryTarget::Stretch(TimePart::StartUp)));
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

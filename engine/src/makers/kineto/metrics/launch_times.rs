//! How long launches of kernels take, and how late the kernels come.

use super::kernel_slice::{KernelSlice, LaunchCall, StreamSlices};
use super::{count, seconds};
use crate::metrics::{KernelLimits, MetricDefinition, MetricFamily, MetricGroup};
use crate::model::Unit;

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "launches",
    title: "Launches",
    row: None,
    metrics: &[
        MetricDefinition::new(
            "launch_count",
            Unit::Count,
            "Kernels, copies and fills whose launch the trace has. One launch can start several.",
        ),
        MetricDefinition::new(
            "mean_launch_time",
            Unit::Seconds,
            "Mean duration of the calls that launched them.",
        ),
        MetricDefinition::new(
            "mean_launch_delay",
            Unit::Seconds,
            "Mean time from the end of the call to the start of the kernel; 0 if it started before.",
        ),
        MetricDefinition::new(
            "short_kernel_count",
            Unit::Count,
            "Kernels, copies and fills that are shorter than the call that launched them.",
        ),
        MetricDefinition::new(
            "long_launch_count",
            Unit::Count,
            "Kernels, copies and fills whose call took longer than the limit `long_launch`.",
        ),
        MetricDefinition::new(
            "late_kernel_count",
            Unit::Count,
            "Kernels, copies and fills that started later after their call than the limit `late_kernel`.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, kernel launch statistics",
    needs: "no call of the host has the correlation of a kernel: profile with `ProfilerActivity.CPU`, too",
};

/// The launches of a rank. `None` if the trace has none.
pub(super) fn group(streams: &[StreamSlices], limits: KernelLimits) -> Option<MetricGroup> {
    let launch = |slice: &KernelSlice| slice.launch.map(|launch| (*slice, launch));
    let pairs: Vec<(KernelSlice, LaunchCall)> =
        streams.iter().flat_map(|stream| &stream.slices).filter_map(launch).collect();
    if pairs.is_empty() {
        return None;
    }
    let call_ps = |launch: &LaunchCall| launch.end_ps.saturating_sub(launch.start_ps);
    let delay_ps =
        |(slice, launch): &(KernelSlice, LaunchCall)| slice.start_ps.saturating_sub(launch.end_ps).max(0);
    let mean = |of: &dyn Fn(&(KernelSlice, LaunchCall)) -> i64| {
        let sum: i64 = pairs.iter().map(of).fold(0, i64::saturating_add);
        seconds((sum as f64 / pairs.len() as f64).round() as i64)
    };
    let number = |is_wanted: &dyn Fn(&(KernelSlice, LaunchCall)) -> bool| {
        count(pairs.iter().filter(|pair| is_wanted(pair)).count() as u64)
    };
    let values = [
        count(pairs.len() as u64),
        mean(&|(_, launch)| call_ps(launch)),
        mean(&delay_ps),
        number(&|(slice, launch)| slice.duration_ps() < call_ps(launch)),
        number(&|(_, launch)| call_ps(launch) > limits.long_launch_ps),
        number(&|pair| delay_ps(pair) > limits.late_kernel_ps),
    ];
    let metrics = FAMILY.metrics.iter().zip(values).map(|(definition, value)| definition.metric(value));
    let (key, title) = (FAMILY.key, FAMILY.title);
    Some(MetricGroup { key, title, has_names_of_trace: false, metrics: metrics.collect() })
}

#[cfg(test)]
mod tests {
    //! Drawn launches against numbers counted by hand.

    use super::*;
    use crate::makers::kineto::metrics::fixture::launched;
    use crate::model::OwnedValue;

    #[test]
    fn launches_are_counted_by_the_limits() {
        let streams = launched("   ##      #  ####", "# ####  ###     ");
        let limits = KernelLimits { long_launch_ps: 3, late_kernel_ps: 1, ..KernelLimits::default() };
        let group = group(&streams, limits).unwrap();
        let values: Vec<String> = group.metrics.iter().map(|of| format!("{:?}", of.value)).collect();
        // Calls take 1, 4 and 3; kernels take 2, 1 and 4, and come 2, 5 and 3 after them.
        let mean = |ps: i64| format!("{:?}", seconds(ps));
        let expected = [
            "Int(3)".to_owned(),
            mean(3),
            mean(3),
            "Int(1)".to_owned(),
            "Int(1)".to_owned(),
            "Int(3)".to_owned(),
        ];
        assert_eq!(values, expected);
        assert!(matches!(group.metrics[0].value, OwnedValue::Int(3)));
    }

    #[test]
    fn without_launches_there_is_no_group() {
        assert_eq!(group(&launched("## ##", ""), KernelLimits::default()), None);
    }
}

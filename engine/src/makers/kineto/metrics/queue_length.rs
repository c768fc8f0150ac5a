//! How many launches wait in the queue of a stream.

use super::kernel_slice::StreamSlices;
use super::{count, seconds};
use crate::metrics::{KernelLimits, MetricDefinition, MetricFamily, MetricRow};
use crate::model::{OwnedValue, Unit};

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "queue_by_stream",
    title: "Queue length by stream",
    row: Some("stream"),
    metrics: &[
        MetricDefinition::new(
            "longest_queue",
            Unit::Count,
            "Most kernels, copies and fills that were launched and had not started.",
        ),
        MetricDefinition::new(
            "mean_queue",
            Unit::Count,
            "Mean of the lengths after each launch and each start.",
        ),
        MetricDefinition::new(
            "full_queue_time",
            Unit::Seconds,
            "Time in which at least as many waited as the limit `full_queue`: further launches block the host.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, queue length summary",
    needs: super::launch_times::FAMILY.needs,
};

/// The lengths of the queue of a stream over time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct QueueLengths {
    longest: i64,
    mean: f64,
    full_ps: i64,
}

impl QueueLengths {
    /// `None` if no launch is known.
    fn of(stream: &StreamSlices, limits: KernelLimits) -> Option<Self> {
        let of_launch = |slice: &super::kernel_slice::KernelSlice| {
            let launch = slice.launch?;
            // Clocks of host and device can differ: a kernel does not start before its launch.
            Some([(launch.start_ps, 1), (slice.start_ps.max(launch.start_ps), -1_i64)])
        };
        let mut changes: Vec<(i64, i64)> = stream.slices.iter().filter_map(of_launch).flatten().collect();
        // Launches come before starts of the same time.
        changes.sort_unstable_by_key(|(time_ps, change)| (*time_ps, -change));
        let (mut lengths, mut sum, mut length) = (Self::default(), 0.0, 0_i64);
        for (at, (time_ps, change)) in changes.iter().enumerate() {
            length += change;
            sum += length as f64;
            lengths.longest = lengths.longest.max(length);
            if let Some((next_ps, _)) = changes.get(at + 1).filter(|_| length >= i64::from(limits.full_queue))
            {
                lengths.full_ps = lengths.full_ps.saturating_add(next_ps.saturating_sub(*time_ps));
            }
        }
        lengths.mean = sum / changes.len() as f64;
        (!changes.is_empty()).then_some(lengths)
    }
}

/// A row for each stream with launches.
pub(super) fn rows(streams: &[StreamSlices], limits: KernelLimits) -> Vec<MetricRow> {
    let row = |stream: &StreamSlices| {
        let QueueLengths { longest, mean, full_ps } = QueueLengths::of(stream, limits)?;
        let values = [count(longest.unsigned_abs()), OwnedValue::Float(mean), seconds(full_ps)];
        Some(MetricRow { name: stream.name.clone(), values: values.map(Some).to_vec() })
    };
    streams.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    //! A drawn queue against lengths counted by hand.

    use super::*;
    use crate::makers::kineto::metrics::fixture::launched;

    #[test]
    fn launches_wait_until_their_kernels_start() {
        let streams = launched("     ##  # #", "# # #");
        let limits = KernelLimits { full_queue: 2, ..KernelLimits::default() };
        // Lengths 1, 2, 3 from 0, 2 and 4 on, then 2, 1, 0 from 5, 9 and 11 on.
        let expected = QueueLengths { longest: 3, mean: 9.0 / 6.0, full_ps: 2 + 1 + 4 };
        assert_eq!(QueueLengths::of(&streams[0], limits), Some(expected));
        assert_eq!(QueueLengths::of(&launched("##", "")[0], limits), None);
    }
}

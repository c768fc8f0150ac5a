//! The gaps between the kernels of a stream, by what they wait for.

use std::cmp::Reverse;

use super::kernel_slice::StreamSlices;
use super::seconds;
use crate::metrics::{KernelLimits, MetricDefinition, MetricFamily, MetricRow};
use crate::model::Unit;

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "idle_by_stream",
    title: "Idle time by stream",
    row: Some("stream"),
    metrics: &[
        MetricDefinition::new(
            "host_wait",
            Unit::Seconds,
            "Gaps whose next kernel was launched after the end of the kernel before: the host was too slow.",
        ),
        MetricDefinition::new(
            "kernel_wait",
            Unit::Seconds,
            "Other gaps shorter than the limit `kernel_gap`, as the device needs them between two kernels.",
        ),
        MetricDefinition::new(
            "other_wait",
            Unit::Seconds,
            "All other gaps: the kernel was there, and waited for something else, e.g. another stream.",
        ),
    ],
    source: "Holistic Trace Analysis 0.5, idle time breakdown",
    needs: "no stream has two kernels",
};

/// The gaps of one stream, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Gaps {
    host_ps: i64,
    kernel_ps: i64,
    other_ps: i64,
}

impl Gaps {
    fn of(stream: &StreamSlices, limits: KernelLimits) -> Self {
        let mut gaps = Self::default();
        let mut until_ps: Option<i64> = None;
        for slice in &stream.slices {
            if let Some(until_ps) = until_ps {
                let gap_ps = slice.start_ps.saturating_sub(until_ps).max(0);
                let sum = match slice.launch {
                    Some(launch) if launch.start_ps > until_ps => &mut gaps.host_ps,
                    _ if gap_ps < limits.kernel_gap_ps => &mut gaps.kernel_ps,
                    _ => &mut gaps.other_ps,
                };
                *sum = sum.saturating_add(gap_ps);
            }
            until_ps = until_ps.max(Some(slice.end_ps));
        }
        gaps
    }
}

/// A row for each stream with a gap that was looked at. The one with the most kernels comes first:
/// that of the computation.
pub(super) fn rows(streams: &[StreamSlices], limits: KernelLimits) -> Vec<MetricRow> {
    let row = |stream: &StreamSlices| {
        let Gaps { host_ps, kernel_ps, other_ps } = Gaps::of(stream, limits);
        let values = [host_ps, kernel_ps, other_ps].map(|ps| Some(seconds(ps))).to_vec();
        MetricRow { name: stream.name.clone(), values }
    };
    let mut shown: Vec<&StreamSlices> = streams.iter().filter(|stream| stream.slices.len() > 1).collect();
    shown.sort_by_key(|stream| Reverse(stream.slices.len()));
    shown.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    //! Drawn gaps against their reasons.

    use super::*;
    use crate::makers::kineto::metrics::fixture::launched;

    #[test]
    fn a_gap_has_one_reason() {
        let streams = launched("##  ##   ##      ##", "## #      #     ");
        // The second kernel was launched at 3, after the first one's end. The third one's launch is
        // at 10, and the fourth one has none.
        let limits = KernelLimits { kernel_gap_ps: 4, ..KernelLimits::default() };
        assert_eq!(Gaps::of(&streams[0], limits), Gaps { host_ps: 2 + 3, kernel_ps: 0, other_ps: 6 });
        let streams = launched("## ##      ##", "# ");
        assert_eq!(Gaps::of(&streams[0], limits), Gaps { host_ps: 0, kernel_ps: 1, other_ps: 6 });
    }

    #[test]
    fn the_stream_with_the_most_kernels_comes_first() {
        let stream = |name: &str, drawn: &str| StreamSlices {
            name: name.to_owned(),
            ..launched(drawn, "").pop().expect("one stream is drawn")
        };
        let streams = [stream("22", "####  ####"), stream("7", "# # #")];
        let names: Vec<String> =
            rows(&streams, KernelLimits::default()).into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["7", "22"]);
    }
}

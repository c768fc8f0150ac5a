//! Metrics of any trace: its length, how busy its tracks are, and the names with the most time.

pub use super::measured_span::span;
use super::measured_span::{Denominators, OWN, select_all};
pub(crate) use super::measured_span::{seconds, track_path};
use super::track_times::{self, TrackTimes};
use super::{Metric, MetricDefinition, MetricFamily, MetricGroup, MetricScope, RankMetrics};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{MachineSide, OwnedValue, Unit};
use crate::query::{self, NameTime, Selection, TrackStats};
use crate::segment::{Bytes, Segment};

/// Name of the metric of the total time, in seconds.
pub const TOTAL_TIME: &str = "total_time";
/// Name of the metric of the time of devices, in seconds.
pub const DEVICE_TIME: &str = "device_time";
/// Totals of a trace.
const TOTALS: MetricFamily = MetricFamily {
    key: "overall",
    title: "Overall",
    row: None,
    metrics: &[
        MetricDefinition::new(
            TOTAL_TIME,
            Unit::Seconds,
            "From the begin of the first slice to the end of the last. Instants and samples outside do not count.",
        ),
        MetricDefinition::new(
            DEVICE_TIME,
            Unit::Seconds,
            "From the first to the last slice of all devices: kernels, copies and fills. Shares of devices are \
             taken of this time.",
        ),
        MetricDefinition::new("slice_count", Unit::Count, "Slices and instants on all tracks."),
        MetricDefinition::new("sample_count", Unit::Count, "Samples on all counter tracks."),
        MetricDefinition::new("flow_count", Unit::Count, "Arrows between slices."),
        MetricDefinition::new("track_count", Unit::Count, "Tracks with slices."),
    ],
    source: OWN,
    needs: "",
};
/// The explanation of a name's self time.
const SELF_DOC: &str = "Sum of the durations of all slices of this name, without the calls inside them. No \
    time of a thread counts twice.";
/// The explanation of a share of the time of devices.
const BUSY_OF_DEVICE: &str = "Share of the device time in which at least one slice of the track runs that is no \
    wait. The device time lasts from the first to the last slice of all devices.";
/// The explanation of a share of the total time.
const BUSY_OF_TOTAL: &str = "Share of the total time in which at least one slice of the track runs that is no \
    wait. Tracks of annotations and of states are never busy.";
/// The explanation of a share with waits.
const WAIT_DOC: &str = "Share in which at least one slice of the track only waits, of the same time as the busy \
    share. Work beside the wait counts as busy, too.";

/// A family with one metric for each thing of the trace.
const fn by_thing(key: &'static str, title: &'static str, metric: &'static MetricDefinition) -> MetricFamily {
    let metrics = std::slice::from_ref(metric);
    MetricFamily { key, title, row: Some(metric.name), metrics, source: OWN, needs: "" }
}

const BUSY: MetricFamily = by_thing(
    "busy_share_by_track",
    "Busy share by track",
    &MetricDefinition::new("track", Unit::Ratio, BUSY_OF_TOTAL),
);
const WAITING: MetricFamily = by_thing(
    "wait_share_by_track",
    "Waiting share by track",
    &MetricDefinition::new("track", Unit::Ratio, WAIT_DOC),
);
const SELF: MetricFamily = by_thing(
    "self_time_by_name",
    "Self time by name",
    &MetricDefinition::new("name", Unit::Seconds, SELF_DOC),
);

/// The families of any trace, in display order.
pub const FAMILIES: [&MetricFamily; 5] = [&TOTALS, &BUSY, &WAITING, &SELF, &track_times::FAMILY];

/// Number of listed names.
const TOP_NAMES: usize = 20;

/// Totals, busy shares by track, times by name, and the times of tracks. In a window only its parts
/// of slices count, and shares are of the window.
pub fn read<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<RankMetrics> {
    let tracks = query::slice::tracks(segment, None);
    let selection = select_all(segment, scope, &tracks, work)?;
    let of = Denominators::of(segment, scope, work)?;
    let mut groups = vec![MetricGroup {
        key: "overall",
        title: "Overall",
        has_names_of_trace: false,
        metrics: match scope.window {
            Some(window) => totals_of_window(window, &selection),
            None => totals(segment, &selection, &of, tracks.len()),
        },
    }];
    groups.extend(shares(segment, &selection.by_track, &of));
    groups.extend(self_times(segment, &selection.by_name)?);
    let times = TrackTimes::of(segment, &tracks, &selection, of.total);
    Ok(RankMetrics { tracks: Some(times), ..RankMetrics::of(groups) })
}

fn totals<B: Bytes>(
    segment: &Segment<B>,
    selection: &Selection,
    of: &Denominators,
    tracks: usize,
) -> Vec<Metric> {
    let footer = segment.footer();
    let samples = footer.tracks.iter().map(|track| u64::from(track.rows)).sum::<u64>() - selection.count;
    let values = [
        Some(seconds(of.total.duration_ps().unsigned_abs())),
        of.device.map(|device| seconds(device.duration_ps().unsigned_abs())),
        Some(count(selection.count)),
        Some(count(samples)),
        Some(count(footer.flows.arrows)),
        Some(count(tracks as u64)),
    ];
    let defined = TOTALS.metrics.iter().zip(values);
    defined.filter_map(|(definition, value)| Some(definition.metric(value?))).collect()
}

fn totals_of_window(window: Interval, selection: &Selection) -> Vec<Metric> {
    let reaching = "Slices and instants on all tracks that reach into the window.";
    vec![
        time(TOTAL_TIME, window.duration_ps().unsigned_abs(), "Length of the window."),
        Metric::new("slice_count", count(selection.count), Unit::Count, reaching),
    ]
}

/// Busy shares by track, and the shares of tracks that wait.
fn shares<B: Bytes>(segment: &Segment<B>, tracks: &[TrackStats], of: &Denominators) -> Vec<MetricGroup> {
    let footer = segment.footer();
    let role = |track: &TrackStats| footer.tracks[track.track.0 as usize].spec.identity.role;
    let is_of_device =
        |track: &TrackStats| of.device.is_some() && role(track).side() == Some(MachineSide::Device);
    let share = |track: &TrackStats, ps: u64, doc: &str| {
        let share = OwnedValue::Float(ps as f64 / of.of_role(role(track)));
        Metric::new(&track_path(segment, track.track), share, Unit::Ratio, doc)
    };
    let busy = tracks.iter().map(|track| {
        let doc = if is_of_device(track) { BUSY_OF_DEVICE } else { BUSY_OF_TOTAL };
        share(track, track.busy_ps, doc)
    });
    let waiting = tracks.iter().filter(|track| track.wait_ps > 0);
    let waiting: Vec<Metric> = waiting.map(|track| share(track, track.wait_ps, WAIT_DOC)).collect();
    let title = match tracks.iter().any(is_of_device) {
        true => "Busy share by track (devices: of the device time)",
        false => "Busy share by track",
    };
    let group = |key, title, metrics| MetricGroup { key, title, has_names_of_trace: true, metrics };
    let mut groups = vec![group("busy_share_by_track", title, busy.collect())];
    if !waiting.is_empty() {
        groups.push(group("wait_share_by_track", "Waiting share by track", waiting));
    }
    groups
}

/// A part of the names that has a group of its own.
struct NamePart {
    side: Option<MachineSide>,
    is_wait: bool,
    key: &'static str,
    title: &'static str,
}

const fn part(side: Option<MachineSide>, is_wait: bool, key: &'static str, title: &'static str) -> NamePart {
    NamePart { side, is_wait, key, title }
}

/// Parts of names without sides.
const TOGETHER: [NamePart; 2] = [
    part(None, false, "self_time_by_name", "Self time by name"),
    part(None, true, "wait_time_by_name", "Waiting by name"),
];
/// Parts of names whose sides are apart.
const APART: [NamePart; 6] = [
    part(Some(MachineSide::Device), false, "self_time_by_name_device", "Self time by name, devices"),
    part(Some(MachineSide::Host), false, "self_time_by_name_host", "Self time by name, host threads"),
    part(None, false, "self_time_by_name_other", "Self time by name, other tracks"),
    part(Some(MachineSide::Device), true, "wait_time_by_name_device", "Waiting by name, devices"),
    part(Some(MachineSide::Host), true, "wait_time_by_name_host", "Waiting by name, host threads"),
    part(None, true, "wait_time_by_name_other", "Waiting by name, other tracks"),
];

/// The names with the most self time. Names of devices, of hosts and of annotations have a group
/// each, because calls of a host and annotations last while devices work. Waits come after all
/// work.
fn self_times<B: Bytes>(segment: &Segment<B>, names: &[NameTime]) -> Result<Vec<MetricGroup>> {
    let is_apart = names.iter().any(|name| name.side.is_some());
    let parts: &[NamePart] = if is_apart { &APART } else { &TOGETHER };
    let of_part = |part: &NamePart| {
        let (side, is_wait) = (part.side, part.is_wait);
        names.iter().filter(move |name| name.side == side && name.is_wait == is_wait)
    };
    let is_shown = |part: &&NamePart| of_part(part).next().is_some() || part.key == TOGETHER[0].key;
    let group = |part: &NamePart| {
        let top = of_part(part).take(TOP_NAMES);
        let metrics = top.map(|name| Ok(time(segment.text(name.name)?, name.self_ps, SELF_DOC)));
        let metrics = metrics.collect::<Result<_>>()?;
        Ok(MetricGroup { key: part.key, title: part.title, has_names_of_trace: true, metrics })
    };
    parts.iter().filter(is_shown).map(group).collect()
}

fn time(name: &str, ps: u64, doc: &str) -> Metric {
    Metric::new(name, seconds(ps), Unit::Seconds, doc)
}

fn count(count: u64) -> OwnedValue {
    i64::try_from(count).map_or(OwnedValue::Uint(count), OwnedValue::Int)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::model::Role;

    /// The groups of a rank with a slice on a track of its own for each `(role, name, duration)`.
    fn groups_of(slices: &[(Role, &str, i64)]) -> Vec<MetricGroup> {
        let track = |&(role, name, duration_ps): &_| RankTrack::of(role, &[(name, 0, duration_ps)]);
        let segment = rank_of("trace_event", &slices.iter().map(track).collect::<Vec<_>>());
        read(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap().groups
    }

    /// The shares and the times of a group, times in picoseconds.
    fn values(groups: &[MetricGroup], key: &str) -> Vec<f64> {
        let group = groups.iter().find(|group| group.key == key).unwrap();
        let value = |metric: &Metric| match (&metric.value, metric.unit) {
            (OwnedValue::Float(seconds), Unit::Seconds) => Some((seconds * 1e12).round()),
            (OwnedValue::Float(share), _) => Some(*share),
            _ => None,
        };
        group.metrics.iter().filter_map(value).collect()
    }

    /// The groups of times by name: key, then names with picoseconds.
    #[track_caller]
    fn check(slices: &[(Role, &str, i64)], expected: &str) {
        let groups = groups_of(slices);
        let of_names = groups.iter().filter(|group| group.key.contains("time_by_name"));
        let line = |group: &MetricGroup| {
            let metric = |metric: &Metric| match metric.value {
                OwnedValue::Float(seconds) => format!(" {} {:.0}", metric.name, seconds * 1e12),
                ref other => format!(" {} {other:?}", metric.name),
            };
            format!("{}:{}", group.key, group.metrics.iter().map(metric).collect::<String>())
        };
        assert_eq!(of_names.map(line).collect::<Vec<_>>().join(" | "), expected);
    }

    #[test]
    fn names_of_devices_and_hosts_are_apart() {
        let (host, device) = (Role::HostThread, Role::Kernels);
        check(
            &[(host, "step", 900), (device, "matmul", 500), (device, "step", 40), (Role::Unknown, "io", 3)],
            "self_time_by_name_device: matmul 500 step 40 | self_time_by_name_host: step 900 | \
             self_time_by_name_other: io 3",
        );
        check(&[(host, "step", 9), (Role::Unknown, "io", 3)], "self_time_by_name: step 9 io 3");
        check(&[(device, "matmul", 5), (Role::Queue, "matmul", 3)], "self_time_by_name: matmul 8");
    }

    #[test]
    fn waits_are_listed_below_the_work() {
        check(
            &[(Role::HostThread, "event_wait", 90), (Role::HostThread, "step", 9), (Role::Unknown, "io", 3)],
            "self_time_by_name: step 9 io 3 | wait_time_by_name: event_wait 90",
        );
        check(
            &[(Role::HostThread, "cudaStreamSynchronize", 9), (Role::Kernels, "matmul", 5)],
            "self_time_by_name_device: matmul 5 | wait_time_by_name_host: cudaStreamSynchronize 9",
        );
    }

    #[test]
    fn annotations_and_states_are_no_work() {
        let slices = [(Role::Kernels, "matmul", 5), (Role::Annotations, "ProfilerStep#6", 900)];
        check(&slices, "self_time_by_name_device: matmul 5 | self_time_by_name_other: ProfilerStep#6 900");
        assert_eq!(values(&groups_of(&slices), "busy_share_by_track"), [1.0]);
        let slices = [(Role::Kernels, "matmul", 5), (Role::Throttling, "unthrottled", 900)];
        check(&slices, "self_time_by_name: matmul 5");
        assert_eq!(values(&groups_of(&slices), "busy_share_by_track"), [1.0]);
    }

    #[test]
    fn shares_are_of_the_time_of_slices_and_those_of_devices_of_theirs() {
        let segment = rank_of(
            "trace_event",
            &[
                RankTrack::of(Role::HostThread, &[("step", 100, 300), ("cudaDeviceSynchronize", 320, 340)]),
                RankTrack::of(Role::Kernels, &[("gemm", 150, 200), ("gemm", 240, 250)]),
                RankTrack::of(Role::Annotations, &[("ProfilerStep#1", 110, 500)]),
                RankTrack::of(Role::Unknown, &[("Start", 0, 0), ("Record Window End", 900, 900)]),
            ],
        );
        let groups = read(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap().groups;
        assert_eq!(values(&groups, "overall"), [400.0, 100.0], "total and device time");
        assert_eq!(values(&groups, "busy_share_by_track"), [0.5, 0.6, 0.0]);
        assert_eq!(values(&groups, "wait_share_by_track"), [0.05]);
    }
}

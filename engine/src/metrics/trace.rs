//! Metrics of any trace: its length, how busy its tracks are, and the names with the most time.

use super::{Metric, MetricGroup};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{OwnedValue, Side, TrackId, Unit};
use crate::query::{self, NameTime};
use crate::segment::{Bytes, Segment};

/// The explanation of a name's self time.
const SELF_DOC: &str = "Sum of the durations of all slices of this name, without the calls inside them. No \
    time of a thread counts twice.";
/// Number of listed names.
const TOP_NAMES: usize = 20;

/// The span of all events.
#[must_use]
pub fn span<B: Bytes>(segment: &Segment<B>) -> Interval {
    let filled = segment.footer().tracks.iter().filter(|track| track.rows > 0);
    let spans = filled.map(|track| Interval::new(track.start_ps, track.end_ps));
    spans.reduce(Interval::cover).unwrap_or_default()
}

/// Totals, busy shares by track, and times by name.
pub fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let span = span(segment);
    // An instant at the last time of the span counts too.
    let whole = Interval::new(span.start.0, span.end.0.saturating_add(1));
    let tracks = query::slice::tracks(segment, None);
    let selection = query::selection::select(segment, &tracks, whole, work)?;
    let footer = segment.footer();
    let samples = footer.tracks.iter().map(|track| u64::from(track.rows)).sum::<u64>() - selection.count;
    let totals = vec![
        time("total_time", span.duration_ps().unsigned_abs(), "From the first event to the end of the last."),
        count("slice_count", selection.count, "Slices and instants on all tracks."),
        count("sample_count", samples, "Samples on all counter tracks."),
        count("flow_count", footer.flows.arrows, "Arrows between slices."),
        count("track_count", tracks.len() as u64, "Tracks with slices."),
    ];
    let path = |id: TrackId| {
        let above = std::iter::successors(Some(id), |id| footer.tracks[id.0 as usize].spec.parent);
        let mut names: Vec<&str> = above.map(|id| footer.tracks[id.0 as usize].spec.name.as_str()).collect();
        names.reverse();
        names.join(" / ")
    };
    let duration = span.duration_ps().unsigned_abs().max(1) as f64;
    let busy = selection.by_track.iter().map(|track| {
        let share = OwnedValue::Float(track.busy_ps as f64 / duration);
        let doc = "Share of the total time in which at least one slice of the track runs. Tracks of annotations \
            are never busy.";
        Metric::new(&path(track.track), share, Unit::Ratio, doc)
    });
    let mut groups = vec![
        MetricGroup { key: "overall", title: "Overall", has_names_of_trace: false, metrics: totals },
        MetricGroup {
            key: "busy_share_by_track",
            title: "Busy share by track",
            has_names_of_trace: true,
            metrics: busy.collect(),
        },
    ];
    groups.extend(self_times(segment, &selection.by_name)?);
    Ok(groups)
}

/// The names with the most self time. Names of devices, of hosts and of annotations have a group
/// each, because calls of a host and annotations last while devices work.
fn self_times<B: Bytes>(segment: &Segment<B>, names: &[NameTime]) -> Result<Vec<MetricGroup>> {
    let is_apart = names.iter().any(|name| name.side.is_some());
    let kinds: &[(Option<Side>, &str, &str)] = match is_apart {
        true => &[
            (Some(Side::Device), "self_time_by_name_device", "Self time by name, devices"),
            (Some(Side::Host), "self_time_by_name_host", "Self time by name, host threads"),
            (None, "self_time_by_name_other", "Self time by name, other tracks"),
        ],
        false => &[(None, "self_time_by_name", "Self time by name")],
    };
    let has_names =
        |of: &&(Option<Side>, &str, &str)| !is_apart || names.iter().any(|name| name.side == of.0);
    let group = |&(side, key, title): &(Option<Side>, &'static str, &'static str)| {
        let top = names.iter().filter(|name| name.side == side).take(TOP_NAMES);
        let metrics = top.map(|name| Ok(time(segment.text(name.name)?, name.self_ps, SELF_DOC)));
        Ok(MetricGroup { key, title, has_names_of_trace: true, metrics: metrics.collect::<Result<_>>()? })
    };
    kinds.iter().filter(has_names).map(group).collect()
}

fn time(name: &str, ps: u64, doc: &str) -> Metric {
    // Seconds, like neuron-profile.
    let seconds = ps as f64 / crate::base::time::PS_PER_S as f64;
    Metric::new(name, OwnedValue::Float(seconds), Unit::Seconds, doc)
}

fn count(name: &str, count: u64, doc: &str) -> Metric {
    let value = i64::try_from(count).map_or(OwnedValue::Uint(count), OwnedValue::Int);
    Metric::new(name, value, Unit::Count, doc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Work;
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{Form, Identity, Nesting, Role, Sink, SliceRecord, TableKind, TableSpec, TrackSpec};
    use crate::spill::MemoryScratch;

    /// The groups of a rank with a slice on a track of its own for each `(role, name, duration)`.
    fn groups_of(slices: &[(Role, &str, i64)]) -> Vec<MetricGroup> {
        let scratch = MemoryScratch::default();
        let mut bytes = Vec::new();
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        let table = sink.table(TableSpec::new("slice", TableKind::Slices, "")).unwrap();
        for &(role, name, duration_ps) in slices {
            let spec = TrackSpec::slices("any", None, table, Nesting::Concurrent, 0);
            let track = sink.track(spec.showing(Identity::of(role))).unwrap();
            let (name, form) = (sink.name(name).unwrap(), Form::Complete);
            sink.slice(&SliceRecord { track, start_ps: 0, duration_ps, name, form, fields: &[] }).unwrap();
        }
        sink.finish().unwrap();
        groups(&Segment::open(bytes).unwrap(), Work::IN_PLACE).unwrap()
    }

    /// The groups of self times: key, then names with picoseconds.
    #[track_caller]
    fn check(slices: &[(Role, &str, i64)], expected: &str) {
        let groups = groups_of(slices);
        let of_names = groups.iter().filter(|group| group.key.starts_with("self_time"));
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
    fn annotations_are_no_work() {
        let slices = [(Role::Kernels, "matmul", 5), (Role::Annotations, "ProfilerStep#6", 900)];
        check(&slices, "self_time_by_name_device: matmul 5 | self_time_by_name_other: ProfilerStep#6 900");
        let groups = groups_of(&slices);
        let busy = groups.iter().find(|group| group.key == "busy_share_by_track").unwrap();
        let shares: Vec<_> = busy.metrics.iter().map(|metric| metric.value.clone()).collect();
        assert_eq!(shares, [OwnedValue::Float(5.0 / 900.0)]);
    }
}

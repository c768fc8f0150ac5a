//! Metrics of any trace: its length, how busy its tracks are, and the names with the most time.

use super::{Metric, MetricGroup};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{OwnedValue, TrackId, Unit};
use crate::query;
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
        let doc = "Share of the total time in which at least one slice of the track runs.";
        Metric::new(&path(track.track), share, Unit::Ratio, doc)
    });
    let mut by_name = Vec::new();
    for name in selection.by_name.iter().take(TOP_NAMES) {
        by_name.push(time(segment.text(name.name)?, name.self_ps, SELF_DOC));
    }
    Ok(vec![
        MetricGroup { key: "overall", title: "Overall", has_names_of_trace: false, metrics: totals },
        MetricGroup {
            key: "busy_share_by_track",
            title: "Busy share by track",
            has_names_of_trace: true,
            metrics: busy.collect(),
        },
        MetricGroup {
            key: "self_time_by_name",
            title: "Self time by name",
            has_names_of_trace: true,
            metrics: by_name,
        },
    ])
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

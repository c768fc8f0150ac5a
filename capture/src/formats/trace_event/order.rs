//! Order of processes and tracks in the timeline.

use std::cmp::Ordering;

use super::description::{TraceProcess, TraceTrack, device_number};

/// Order of processes: by the trace's own order, else by the device's number, then by the process's
/// id.
pub(super) fn compare_processes(a: &TraceProcess, b: &TraceProcess) -> Ordering {
    place(a).cmp(&place(b)).then_with(|| a.id.cmp(&b.id))
}

fn place(process: &TraceProcess) -> i64 {
    /// Sort index that PyTorch gives the first device among processes.
    const FIRST_DEVICE: i64 = 5_000_000;
    let device =
        || device_number(&process.described.labels).map(|number| FIRST_DEVICE.saturating_add(number));
    process.described.sort.or_else(device).unwrap_or(0)
}

/// Order of tracks: by process, streams of devices first, then by the trace's own order.
pub(super) fn compare_tracks(a: &TraceTrack, b: &TraceTrack) -> Ordering {
    let key = |track: &TraceTrack| (track.process, !track.on_device, track.described.sort.unwrap_or(0));
    // Annotations stand above their stream.
    let threads = (a.role.thread(), b.role.thread());
    let by_thread = if let (Some(a), Some(b)) = threads { a.cmp(b) } else { Ordering::Equal };
    key(a).cmp(&key(b)).then(by_thread).then_with(|| a.role.cmp(&b.role))
}

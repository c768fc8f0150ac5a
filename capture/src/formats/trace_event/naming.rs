//! Names of processes and tracks, with their ids if the name alone is not enough.

use super::description::{Description, TraceProcess, TraceTrack, device_number};
use super::role::{Id, TrackRole};

/// Number of tracks of a process with the same name (series of a counter, or threads).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// Several tracks, or not known yet: the distinction is shown.
    Several,
    /// One track: the name is enough.
    One,
}

/// Display name: `name pid · labels`. Devices are named by their label, which users know. Without
/// any name or label, `is_device` tells that kernels run there: traces that were cut to the events
/// of interest have no metadata.
pub(super) fn process_name(process: &TraceProcess, is_device: bool) -> String {
    let Description { name, labels, .. } = &process.described;
    let (name, labels) = (name.trim(), labels.trim());
    let id = process.id.to_string();
    let named = match (name.is_empty(), &process.id) {
        (true, Id::Absent) => "No process".to_owned(),
        (true, Id::Number(_)) if is_device && labels.is_empty() => format!("Device {id}"),
        (true, Id::Number(_)) => format!("Process {id}"),
        (true, Id::Text(text)) if text.is_empty() => "No process".to_owned(),
        (true, Id::Text(_)) => id,
        (false, _) if process.id == Id::Absent || names(name, &process.id) => name.to_owned(),
        (false, _) => format!("{name} {id}"),
    };
    match device_number(labels) {
        Some(_) if name == labels || name.is_empty() => labels.to_owned(),
        Some(_) => format!("{labels} · {name}"),
        None if labels.is_empty() => named,
        None => format!("{named} · {labels}"),
    }
}

/// Whether a name contains an id already, as a word of its own and not as a part of a longer
/// number.
fn names(name: &str, id: &Id) -> bool {
    let id = id.to_string();
    let is_part = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    !id.is_empty()
        && name.match_indices(&id).any(|(at, _)| {
            let (before, after) = (name[..at].chars().next_back(), name[at + id.len()..].chars().next());
            !is_part(before) && !is_part(after)
        })
}

/// Name of a track. `alike` tells whether the name from the trace is enough.
pub(super) fn track_name(track: &TraceTrack, alike: Alike) -> String {
    let name = track.described.name.trim();
    match &track.role {
        TrackRole::Process if name.is_empty() => "Process events".to_owned(),
        TrackRole::Process => name.to_owned(),
        TrackRole::Thread(id) => thread_name(name, id, alike, track.on_device),
        TrackRole::Annotations(id) => {
            format!("{} · annotations", thread_name(name, id, alike, track.on_device))
        }
        TrackRole::Async { cat, name } => match (cat.is_empty(), name.is_empty()) {
            (true, true) => "Unnamed".to_owned(),
            (true, false) => name.to_string(),
            (false, true) => cat.to_string(),
            (false, false) => format!("{name} · {cat}"),
        },
        TrackRole::Counter { name, id, series: own } => {
            let mut whole = name.to_string();
            if !id.is_empty() {
                whole.push_str(&format!(" [{id}]"));
            }
            if alike == Alike::Several && !own.is_empty() {
                whole.push_str(&format!(" · {own}"));
            }
            whole
        }
    }
}

fn thread_name(name: &str, id: &Id, alike: Alike, is_stream: bool) -> String {
    match (name.is_empty(), id) {
        (true, Id::Absent) => "No thread".to_owned(),
        (true, Id::Text(text)) if text.is_empty() => "No thread".to_owned(),
        (true, Id::Number(_)) if is_stream => format!("Stream {id}"),
        (true, Id::Number(_)) => format!("Thread {id}"),
        (true, Id::Text(text)) => text.to_string(),
        (false, Id::Absent) => name.to_owned(),
        (false, _) if alike == Alike::One && names(name, id) => name.to_owned(),
        (false, _) => format!("{name} {id}"),
    }
}

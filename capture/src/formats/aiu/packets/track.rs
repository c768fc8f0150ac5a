//! Tracks of Perfetto's reader as processes and threads.

use std::rc::Rc;

use nprof_engine::base::narrow;
use nprof_engine::makers::aiu::{LaneKind, rank_of_devices};
use nprof_engine::model::{TrackContent, TrackId, TrackSpec};
use rustc_hash::FxHashSet;

use super::event::EventList;
use crate::probe::aiu::rank_of_group;

/// Most groups above a track.
const MAX_DEPTH: usize = 32;
/// Most letters of a name that each event of a track repeats.
const MAX_LABEL_CHARS: usize = 256;

/// Name of the track on which nprof's export writes the warnings of a rank.
const WARNINGS: &str = "Warnings of nprof";
/// Name of the group of asynchronous slices of a process.
const PAIRS: &str = "Asynchronous";

/// Names of processes and threads without names, before their numbers: of the host, and of a
/// device.
const PROCESS: [&str; 2] = ["Process ", "Device "];
const THREAD: [&str; 2] = ["Thread ", "Stream "];
/// End of the name of a track with the annotations of a stream.
const ANNOTATIONS: &str = " · annotations";

/// Content of a track of nprof's own export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportContent {
    /// Events of the trace.
    Read,
    /// Slices of the device, with times that follow from their counters.
    Device,
    /// Asynchronous slices.
    Pairs,
    /// Events that nprof computes again.
    Computed,
}

/// A track.
#[derive(Debug)]
struct PacketTrack {
    spec: TrackSpec,
    /// The beginning of its name, with its number if another track beside it has that beginning.
    label: String,
    /// Process and thread as the trace numbers them.
    pid: Option<String>,
    tid: Option<String>,
    /// Whether its names were written.
    is_described: bool,
    /// Whether its rank is the one that is being read, once that is known.
    is_own: Option<bool>,
    /// Its content and its rank in an export, once they were asked for.
    content: Option<ExportContent>,
    rank: Option<Rc<str>>,
}

/// All tracks.
#[derive(Debug, Default)]
pub(super) struct PacketTracks {
    all: Vec<PacketTrack>,
    labels: FxHashSet<(Option<TrackId>, String)>,
    /// Processes whose names were written.
    named: FxHashSet<String>,
    /// Whether nprof wrote the trace.
    pub(super) is_export: bool,
}

impl PacketTracks {
    /// Adds a track.
    pub(super) fn push(&mut self, spec: TrackSpec) -> TrackId {
        let id = TrackId(narrow(self.all.len()));
        let mut label: String = spec.name.chars().take(MAX_LABEL_CHARS).collect();
        if !self.labels.insert((spec.parent, label.clone())) {
            label = format!("{label} track {}", id.0);
        }
        self.all.push(PacketTrack {
            spec,
            label,
            pid: None,
            tid: None,
            is_described: false,
            is_own: None,
            content: None,
            rank: None,
        });
        id
    }

    /// Content of a track: what the trace had, unless nprof wrote it.
    pub(super) fn content(&mut self, id: TrackId) -> ExportContent {
        let Some(track) = self.all.get(id.0 as usize).filter(|_| self.is_export) else {
            return ExportContent::Read;
        };
        if let Some(known) = track.content {
            return known;
        }
        let (name, is_counter) = (&track.spec.name, matches!(track.spec.kind, TrackContent::Counter(_)));
        let above = self.above(id);
        let content = match above[..] {
            [group, ..] if self.is_of_device(group) => match LaneKind::of_title(name) {
                Some(LaneKind::Collective) => ExportContent::Computed,
                _ if is_counter => ExportContent::Computed,
                _ => ExportContent::Device,
            },
            [_, group] if self.all[group.0 as usize].spec.name == PAIRS => ExportContent::Pairs,
            [] if name == WARNINGS => ExportContent::Computed,
            _ => ExportContent::Read,
        };
        self.all[id.0 as usize].content = Some(content);
        content
    }

    /// Number of the rank of a track of an export; empty if the export does not state it.
    pub(super) fn rank(&mut self, id: TrackId) -> Option<Rc<str>> {
        let track = self.all.get(id.0 as usize).filter(|_| self.is_export)?;
        if let Some(known) = &track.rank {
            return Some(known.clone());
        }
        let rank = self.top(id).and_then(|top| rank_of_group(&self.all[top.0 as usize].spec.name));
        let device = || self.all.iter().find_map(|track| rank_of_devices(&track.spec.name)).flatten();
        let rank = rank.or_else(device).map_or_else(String::new, |rank| rank.to_string());
        Some(self.all[id.0 as usize].rank.insert(rank.into()).clone())
    }

    fn is_of_device(&self, group: TrackId) -> bool {
        let spec = &self.all[group.0 as usize].spec;
        spec.kind == TrackContent::Group && rank_of_devices(&spec.name).is_some()
    }

    /// The groups above a track, without that of its rank, outermost first.
    fn above(&self, id: TrackId) -> Vec<TrackId> {
        let parent = |id: &TrackId| self.all.get(id.0 as usize)?.spec.parent;
        let mut above: Vec<TrackId> = std::iter::successors(parent(&id), parent).take(MAX_DEPTH).collect();
        above.reverse();
        let of_rank = |top: &TrackId| rank_of_group(&self.all[top.0 as usize].spec.name).is_some();
        if self.is_export && above.first().is_some_and(of_rank) {
            above.remove(0);
        }
        above
    }

    /// Notes the process and the thread of a track.
    pub(super) fn note(&mut self, id: TrackId, pid: Option<String>, tid: Option<String>) {
        if let Some(track) = self.all.get_mut(id.0 as usize) {
            (track.pid, track.tid) = (pid, tid);
        }
    }

    /// The beginning of the name of a track, which no other track beside it has.
    pub(super) fn label(&self, id: TrackId) -> &str {
        self.all.get(id.0 as usize).map_or("", |track| &track.label)
    }

    /// Whether the events of a track are of another rank, whose pass reads them. `is_own` tells it
    /// of a process, or of a rank that an export states, once that is known.
    pub(super) fn is_of_other(&mut self, id: TrackId, is_own: impl Fn(&[u8]) -> Option<bool>) -> bool {
        let at = id.0 as usize;
        if self.all.get(at).is_some_and(|track| track.is_own.is_none()) {
            self.all[at].is_own = match self.rank(id) {
                Some(rank) => is_own(rank.as_bytes()),
                None => self.process(id).and_then(|pid| is_own(pid.as_bytes())),
            };
        }
        self.all.get(at).is_some_and(|track| track.is_own == Some(false))
    }

    /// Whether the names of a track were written: behind its first slice.
    pub(super) fn is_described(&self, id: TrackId) -> bool {
        self.all.get(id.0 as usize).is_some_and(|track| track.is_described)
    }

    /// Adds the process and the thread of a track to an event.
    pub(super) fn place(&self, id: TrackId, piece: &mut EventList) {
        let Some(track) = self.all.get(id.0 as usize) else { return };
        if let Some(pid) = self.process(id) {
            piece.member("pid", &pid);
        }
        match &track.tid {
            Some(tid) => piece.member("tid", tid),
            // Asynchronous slices state their threads.
            None if track.content == Some(ExportContent::Pairs) => {}
            None if !matches!(track.spec.kind, TrackContent::Counter(_)) => {
                piece.member("tid", &self.id(&track.label, THREAD));
            }
            None => {}
        }
    }

    /// Writes the names and the order of a track and its process, unless they were written, or are
    /// the ones that nprof gives to numbers.
    pub(super) fn describe(&mut self, id: TrackId, piece: &mut EventList) {
        let Some(track) = self.all.get_mut(id.0 as usize) else { return };
        if std::mem::replace(&mut track.is_described, true) || track.content == Some(ExportContent::Device) {
            return;
        }
        let track = &self.all[id.0 as usize];
        if let Some(pid) = self.process(id)
            && let Some(process) = self.above(id).first().map(|top| &self.all[top.0 as usize].spec)
            && self.number(&process.name, PROCESS).is_none()
            && self.named.insert(pid.clone())
        {
            for (what, key, value) in [
                ("process_name", "name", quoted(&process.name)),
                ("process_sort_index", "sort_index", process.sort.to_string()),
            ] {
                begin(piece, what, key, &value);
                piece.member("pid", &pid);
                piece.end();
            }
        }
        if track.content == Some(ExportContent::Pairs) || self.number(&track.spec.name, THREAD).is_some() {
            return;
        }
        let thread = [
            ("thread_name", "name", quoted(self.of_thread(&track.spec.name))),
            ("thread_sort_index", "sort_index", track.spec.sort.to_string()),
        ];
        for (what, key, value) in thread {
            begin(piece, what, key, &value);
            self.place(id, piece);
            piece.end();
        }
    }

    /// The process of a track as JSON. Tracks below a group that is no process are one, too.
    fn process(&self, id: TrackId) -> Option<String> {
        let stated = self.all.get(id.0 as usize)?.pid.clone();
        stated.or_else(|| Some(self.id(self.label(*self.above(id).first()?), PROCESS)))
    }

    /// The id of a process or a thread with this name, as JSON. Exports have names in the place of
    /// ids, and nprof names those that have none by their numbers.
    fn id(&self, name: &str, words: [&str; 2]) -> String {
        self.number(name, words).map_or_else(|| quoted(self.of_thread(name)), |number| number.to_string())
    }

    /// The number of a process or a thread without a name in an export.
    fn number(&self, name: &str, words: [&str; 2]) -> Option<i64> {
        let name = self.of_thread(name);
        words.iter().find_map(|word| name.strip_prefix(word)).filter(|_| self.is_export)?.parse().ok()
    }

    /// The name of the thread of a track with this name: annotations of a stream are on its thread.
    fn of_thread<'n>(&self, name: &'n str) -> &'n str {
        name.strip_suffix(ANNOTATIONS).filter(|_| self.is_export).unwrap_or(name)
    }

    /// The outermost group above a track.
    fn top(&self, id: TrackId) -> Option<TrackId> {
        let parent = |id: TrackId| self.all.get(id.0 as usize)?.spec.parent;
        let mut top = parent(id)?;
        for _ in 0..MAX_DEPTH {
            match parent(top) {
                Some(above) => top = above,
                None => break,
            }
        }
        Some(top)
    }
}

/// Begins an event with metadata.
fn begin(piece: &mut EventList, what: &str, key: &str, value: &str) {
    piece.begin("M", what, 0);
    piece.begin_arguments();
    piece.member(key, value);
    piece.end_arguments();
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::{Nesting, TableId};

    use super::*;

    #[test]
    fn a_track_is_of_another_rank_once_its_process_is() {
        let mut tracks = PacketTracks::default();
        let group = tracks.push(TrackSpec::group("Process 7", None, 0));
        let track = tracks.push(TrackSpec::slices("Thread 1", Some(group), TableId(0), Nesting::Calls, 0));
        tracks.note(track, Some("7".to_owned()), Some("1".to_owned()));
        assert!(!tracks.is_of_other(track, |_| None));
        assert!(tracks.is_of_other(track, |pid| Some(pid != b"7")));
        assert!(tracks.is_of_other(track, |_| unreachable!("it is known")));
        let own = tracks.push(TrackSpec::group("Process 8", None, 0));
        assert!(!tracks.is_of_other(own, |_| Some(true)));
    }
}

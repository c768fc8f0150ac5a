//! The tracks of a rank: position in the tree, and the trace's names of the process, thread or
//! counter. Readers keep these names in a side table called `track`.

use std::collections::BTreeMap;

use nprof_engine::base::{Error, Result};
use nprof_engine::model::{OwnedValue, TableKind, TrackContent, TrackId};
use nprof_engine::native::SegmentFile;
use nprof_engine::query;
use nprof_engine::segment::MAX_TRACK_DEPTH;

/// The side table that names the processes and threads of tracks.
pub(crate) const TABLE: &str = "track";

/// The process, thread or counter behind a track, as the trace names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrackIds {
    /// The process id, a number or text.
    pub pid: Option<String>,
    /// The thread id, a number or text.
    pub tid: Option<String>,
    /// The name of the counter.
    pub counter: Option<String>,
    /// The counter's id, which tells counters of one name apart.
    pub counter_id: Option<String>,
    /// The counter's series.
    pub series: Option<String>,
}

/// The tracks of a rank.
pub(crate) struct ExportTracks<'a> {
    segment: &'a SegmentFile,
    origins: BTreeMap<u32, TrackIds>,
}

impl<'a> ExportTracks<'a> {
    /// Reads the trace's information about its tracks.
    pub fn of(segment: &'a SegmentFile) -> Result<Self> {
        let mut origins = BTreeMap::<u32, TrackIds>::new();
        let footer = segment.footer();
        let is_side =
            |id: &nprof_engine::model::TableId| footer.tables[usize::from(id.0)].spec.kind == TableKind::Side;
        if let Some(table) = segment.table(TABLE).filter(is_side) {
            query::fields::for_each_row(segment, table, |_, row| {
                let mut track = None;
                let mut origin = TrackIds::default();
                for (id, value) in row {
                    let place = match footer.fields[id.0 as usize].1.name.as_str() {
                        "track" => {
                            track = whole(&value);
                            continue;
                        }
                        "pid" => &mut origin.pid,
                        "tid" => &mut origin.tid,
                        "counter" => &mut origin.counter,
                        "counter_id" => &mut origin.counter_id,
                        "series" => &mut origin.series,
                        _ => continue,
                    };
                    *place = text(value);
                }
                if let Some(track) = track {
                    origins.insert(track, origin);
                }
                Ok::<_, Error>(())
            })?;
        }
        Ok(Self { segment, origins })
    }

    /// The process, thread or counter behind this track.
    pub fn origin(&self, track: TrackId) -> TrackIds {
        self.origins.get(&track.0).cloned().unwrap_or_default()
    }

    /// The names from the outermost group down to the track.
    pub fn path(&self, track: TrackId) -> Vec<&'a str> {
        let tracks = &self.segment.footer().tracks;
        let name = |id: TrackId| Some(tracks.get(id.0 as usize)?.spec.name.as_str());
        let mut names: Vec<&str> = self.upward(track).filter_map(name).collect();
        names.reverse();
        names
    }

    /// The track, and the groups above it from the innermost one on.
    pub fn upward(&self, track: TrackId) -> impl Iterator<Item = TrackId> + use<'a> {
        let tracks = &self.segment.footer().tracks;
        let parent = |id: &TrackId| tracks.get(id.0 as usize)?.spec.parent;
        // No path of a segment is longer, also if its footer is damaged.
        std::iter::successors(Some(track), parent).take(MAX_TRACK_DEPTH + 1)
    }

    /// The numbers of all tracks.
    pub fn ids(&self) -> impl Iterator<Item = TrackId> + use<'a> {
        (0_u32..).zip(&self.segment.footer().tracks).map(|(id, _)| TrackId(id))
    }
}

/// The kind of a track, as a word.
pub(crate) fn kind_name(kind: TrackContent) -> &'static str {
    match kind {
        TrackContent::Group => "group",
        TrackContent::Slices(..) => "slices",
        TrackContent::Counter(_) => "counter",
    }
}

fn whole(value: &OwnedValue) -> Option<u32> {
    match value {
        OwnedValue::Int(number) => u32::try_from(*number).ok(),
        OwnedValue::Uint(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}

fn text(value: OwnedValue) -> Option<String> {
    match value {
        OwnedValue::Text(text) => Some(text),
        OwnedValue::Int(number) => Some(number.to_string()),
        OwnedValue::Uint(number) => Some(number.to_string()),
        _ => None,
    }
}

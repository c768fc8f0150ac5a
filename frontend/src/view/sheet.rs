//! The tracks of all shown ranks as one list. Each track knows the source of its data.
//!
//! A single rank has its own tracks. Several ranks stand one below the other, each under a heading.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::wire::catalog::{ALL_RANKS, RankDetail, Track, TrackKind};

use super::axes::Axes;
use super::axis::Axis;
use super::track_path::{Paths, TrackPath};

/// Identifies a source of tiles and slices on the page: the number of its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u32);

/// A track of a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetTrack {
    /// The source of its data.
    pub source: SourceId,
    /// Number of the track in its source; `None` for the heading of a source.
    pub number: Option<u32>,
    /// Path in its source.
    pub path: TrackPath,
    /// Index of its group in the sheet.
    pub parent: Option<usize>,
    /// Name at the left of the timeline.
    pub name: String,
    /// Content of the track.
    pub kind: TrackKind,
    /// Number of lanes of slices; 1 for counters, 0 for groups.
    pub lanes: u32,
    /// Number of slices or samples.
    pub rows: u64,
    /// Tile group of its data, in its source.
    pub group: Option<u32>,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// Unit of a counter's values.
    pub unit: String,
    /// True if a group is closed until the user opens it.
    pub starts_closed: bool,
    /// The rank whose calls or computation it shows, among the tracks of all ranks.
    pub rank: Option<u32>,
}

impl SheetTrack {
    /// Whether it shows how much one of all ranks computes.
    #[must_use]
    pub fn is_load(&self) -> bool {
        self.rank.is_some() && self.kind == TrackKind::Counter
    }
}

/// The tracks of all shown ranks.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    sources: Vec<Arc<RankDetail>>,
    tracks: Vec<SheetTrack>,
    index_of: HashMap<(SourceId, u32), usize>,
    axes: Arc<Axes>,
}

/// Two sheets are equal if they were made from the same answers and have the same axes.
impl PartialEq for Sheet {
    fn eq(&self, other: &Self) -> bool {
        self.axes == other.axes
            && self.sources.len() == other.sources.len()
            && self.sources.iter().zip(&other.sources).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Separates the names in the title of a track.
pub const TITLE_SEPARATOR: &str = " › ";

/// The name of a rank for people, also of what all ranks show together.
#[must_use]
pub fn rank_label(rank: u32) -> String {
    if rank == ALL_RANKS { "All ranks".to_owned() } else { format!("Rank {rank}") }
}

/// A group with more slice tracks than this starts closed. Its band still shows how busy it is,
/// while its tracks would push all content below out of sight: a DMA queue has one for each of
/// sixteen engines.
const MOST_TRACKS: usize = 8;

impl Sheet {
    /// The sheet of these ranks, in this order. Their times are the shared ones.
    #[must_use]
    pub fn of(sources: Vec<Arc<RankDetail>>) -> Self {
        let mut sheet = Self::default();
        for rank in &sources {
            let heading = (sources.len() > 1).then(|| sheet.push_heading(rank.entry.rank));
            sheet.push_tracks(rank, heading);
        }
        Self { sources, ..sheet }
    }

    /// The same sheet with these axes.
    #[must_use]
    pub fn on(self, axes: Arc<Axes>) -> Self {
        Self { axes, ..self }
    }

    fn push_heading(&mut self, rank: u32) -> usize {
        self.tracks.push(SheetTrack {
            source: SourceId(rank),
            number: None,
            path: TrackPath::of_rank(rank),
            parent: None,
            name: rank_label(rank),
            kind: TrackKind::Group,
            lanes: 0,
            rows: 0,
            group: None,
            value_range: None,
            unit: String::new(),
            starts_closed: false,
            rank: None,
        });
        self.tracks.len() - 1
    }

    fn push_tracks(&mut self, rank: &RankDetail, heading: Option<usize>) {
        let source = SourceId(rank.entry.rank);
        let (first, mut paths) = (self.tracks.len(), Paths::default());
        for track in &rank.tracks {
            // A parent comes before its children, so there can be no cycle. A track with a missing
            // parent stands at the top.
            let group = track.parent.and_then(|parent| self.index_of.get(&(source, parent)).copied());
            let path = paths.next(group.map(|group| &self.tracks[group].path), &track.name);
            self.index_of.insert((source, track.id), self.tracks.len());
            let Track { id, name, kind, lanes, rows, group: tiles, value_range, unit, rank, .. } =
                track.clone();
            self.tracks.push(SheetTrack {
                source,
                number: Some(id),
                path,
                parent: group.or(heading),
                name,
                kind,
                lanes,
                rows,
                group: tiles,
                value_range,
                unit,
                starts_closed: track.initially_closed,
                rank,
            });
        }
        close_large_groups(&mut self.tracks, first);
    }

    /// The ranks, in the order of their tracks.
    #[must_use]
    pub fn sources(&self) -> &[Arc<RankDetail>] {
        &self.sources
    }

    /// A rank of the sheet.
    #[must_use]
    pub fn source(&self, id: SourceId) -> Option<&Arc<RankDetail>> {
        self.sources.iter().find(|rank| rank.entry.rank == id.0)
    }

    /// The axis of a rank's times.
    #[must_use]
    pub fn axis(&self, id: SourceId) -> Axis {
        self.axes.axis(id.0)
    }

    /// Wall clock of the shared time zero in Unix nanoseconds, if the rank knows it.
    #[must_use]
    pub fn origin_unix_ns(&self, id: SourceId) -> Option<i64> {
        let zero_ns = self.axis(id).shared(0).div_euclid(PS_PER_NS);
        Some(self.source(id)?.origin_unix_ns?.saturating_sub(zero_ns))
    }

    /// All tracks, each group before its tracks.
    #[must_use]
    pub fn tracks(&self) -> &[SheetTrack] {
        &self.tracks
    }

    /// The index of a source's track.
    #[must_use]
    pub fn position(&self, source: SourceId, number: u32) -> Option<usize> {
        self.index_of.get(&(source, number)).copied()
    }

    /// The index of the group with the calls of each rank, if the sheet has such tracks.
    #[must_use]
    pub fn rank_group(&self) -> Option<usize> {
        self.tracks.iter().find(|track| track.rank.is_some() && !track.is_load())?.parent
    }

    /// A source's track.
    #[must_use]
    pub fn track(&self, source: SourceId, number: u32) -> Option<&SheetTrack> {
        self.tracks.get(self.position(source, number)?)
    }

    /// The index of a source's track with this path.
    #[must_use]
    pub fn find(&self, source: SourceId, path: &TrackPath) -> Option<usize> {
        self.tracks.iter().position(|track| track.source == source && track.path == *path)
    }

    /// The indices of the groups above a track, from the nearest on.
    pub fn above(&self, at: usize) -> impl Iterator<Item = usize> {
        let parent = |at: usize| self.tracks.get(at)?.parent;
        std::iter::successors(parent(at), move |at| parent(*at))
    }

    /// The titles of the tracks of a source, without the heading of their rank.
    #[must_use]
    pub fn titles_of(&self, id: SourceId) -> Vec<String> {
        let is_own = |group: &usize| self.tracks[*group].number.is_some();
        let tracks = (0..self.tracks.len()).filter(|at| self.tracks[*at].source == id);
        tracks.map(|at| self.joined(self.above(at).filter(is_own), at)).collect()
    }

    /// A track's name after the names of its groups.
    #[must_use]
    pub fn title(&self, at: usize) -> String {
        self.joined(self.above(at), at)
    }

    fn joined(&self, groups: impl Iterator<Item = usize>, at: usize) -> String {
        let mut names: Vec<&str> = groups.map(|group| self.tracks[group].name.as_str()).collect();
        names.reverse();
        names.extend(self.tracks.get(at).map(|track| track.name.as_str()));
        names.join(TITLE_SEPARATOR)
    }
}

/// Closes large groups of the tracks from `first` on. The group with the most slices stays open,
/// because the main content of a trace must not be hidden.
fn close_large_groups(tracks: &mut [SheetTrack], first: usize) {
    // For each group, or `None` for tracks at the top: its slice tracks and their rows.
    let mut of_group = BTreeMap::<Option<usize>, (usize, u64)>::new();
    for track in tracks[first..].iter().filter(|track| track.kind == TrackKind::Slices) {
        let group = track.parent.filter(|parent| *parent >= first);
        let (count, rows) = of_group.entry(group).or_default();
        (*count, *rows) = (*count + 1, rows.saturating_add(track.rows));
    }
    // The first of several groups with equally many slices. Tracks at the top come last.
    let in_order = of_group.iter().filter(|(group, _)| group.is_some()).chain(of_group.get_key_value(&None));
    let largest = in_order.reduce(|a, b| if b.1.1 > a.1.1 { b } else { a }).map(|(group, _)| *group);
    for (group, (count, _)) in &of_group {
        let is_large = *count > MOST_TRACKS && Some(*group) != largest;
        if let Some(at) = group.filter(|_| is_large) {
            tracks[at].starts_closed = true;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::view::Timebase;
    use crate::view::axes::tests::rank as entry;
    use crate::view::layout::tests::tracks;
    use nprof_engine::wire::catalog::{RankEntry, TileGroup};

    /// A rank with these tracks, all in one tile group.
    pub(crate) fn rank_with(rank: u32, tracks: Vec<Track>) -> RankDetail {
        let entry = RankEntry {
            rank,
            host: None,
            device: None,
            core: None,
            events: 0,
            start_ps: 0,
            end_ps: 1_000_000,
            content: "c".into(),
            input: "test".into(),
            clock: None,
            clock_by: None,
            found: None,
        };
        let groups = vec![TileGroup { id: 0, tracks: tracks.iter().map(|track| track.id).collect() }];
        let names = vec![];
        RankDetail { entry, tracks, groups, tables: vec![], warnings: vec![], origin_unix_ns: None, names }
    }

    /// The sheet of rank 0 with these tracks.
    pub(crate) fn sheet_with(tracks: Vec<Track>) -> Sheet {
        Sheet::of(vec![Arc::new(rank_with(0, tracks))])
    }

    /// The sheet of rank 0 with the tracks in this text.
    pub(crate) fn sheet_of(text: &str) -> Sheet {
        sheet_with(tracks(text))
    }

    /// Checks which groups start closed. Each track of the group `large` has `rows` slices, every
    /// other track has one.
    #[track_caller]
    fn check_closed(text: &str, rows: u64, expected: &[&str]) {
        let mut tracks = tracks(text);
        let large = tracks.iter().find(|track| track.name == "large").map(|track| track.id);
        for track in tracks.iter_mut().filter(|track| track.parent == large) {
            track.rows = rows;
        }
        let sheet = sheet_with(tracks);
        let closed = sheet.tracks().iter().filter(|track| track.starts_closed);
        assert_eq!(closed.map(|track| track.name.as_str()).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn large_groups_start_closed_unless_they_hold_the_most() {
        let large = format!("Engines/\n  a*2\n  b\nlarge/\n{}Power~", "  q\n".repeat(9));
        check_closed(&large, 0, &["large"]);
        check_closed(&large, 100, &[]);
        check_closed(&large.replace("large/\n  q\n", "large/\n"), 0, &[]);
        let two = format!("Worker 0/\n{0}large/\n{0}", "  t\n".repeat(9));
        check_closed(&two, 1, &["large"]);
        check_closed("Counters/\n  a~\n  b~\nSemaphores/-\n  c", 1, &["Semaphores"]);
    }

    #[test]
    fn groups_in_groups_count_for_themselves() {
        let text = format!("Engines/\n  a\n  b\nDMA/\n  large/\n{}  q2/\n    x", "    e\n".repeat(17));
        check_closed(&text, 0, &["large"]);
    }

    #[test]
    fn ranks_stand_on_the_axes_of_the_time_base() {
        let entries = [0, 1].map(|number| entry(number, None, Some(i64::from(number) * 500)));
        let sheet = |base| {
            let ranks = [0, 1].map(|rank| Arc::new(rank_with(rank, tracks("Tensor"))));
            Sheet::of(ranks.to_vec()).on(Arc::new(Axes::of(&entries, base)))
        };
        let call_ps = |sheet: &Sheet, rank: u32, local_ps: i64| sheet.axis(SourceId(rank)).shared(local_ps);
        // The clock of rank 1 is behind, so its trace has the same operation earlier.
        let aligned = sheet(Timebase::Aligned);
        assert_eq!(call_ps(&aligned, 0, 1_500), call_ps(&aligned, 1, 1_000));
        let raw = sheet(Timebase::Raw);
        assert_eq!(call_ps(&raw, 1, 1_000), 1_000);
    }

    #[test]
    fn several_ranks_stand_below_each_other() {
        let ranks = [3, 7].map(|rank| Arc::new(rank_with(rank, tracks("Engines/\n  Tensor\n  Tensor"))));
        let sheet = Sheet::of(ranks.to_vec());
        let titles: Vec<_> = (0..sheet.tracks().len()).map(|at| sheet.title(at)).collect();
        assert_eq!(titles[..3], ["Rank 3", "Rank 3 › Engines", "Rank 3 › Engines › Tensor"]);
        assert_eq!(titles.len(), 8);
        let second = TrackPath::read("Engines/Tensor#2").expect("a path");
        assert_eq!(sheet.find(SourceId(7), &second), Some(7));
        assert_eq!(sheet.position(SourceId(7), 102), Some(7));
        assert_eq!(sheet.above(7).collect::<Vec<_>>(), [5, 4]);
        assert_eq!((sheet.find(SourceId(8), &second), sheet.position(SourceId(3), 9)), (None, None));
        assert_eq!(sheet, Sheet::of(ranks.to_vec()));
        assert_ne!(sheet, Sheet::of(ranks[..1].to_vec()));
    }
}

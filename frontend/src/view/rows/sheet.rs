//! The tracks of all shown ranks as one list. Each track knows the source of its data.
//!
//! A single rank has its own tracks. Several ranks stand one below the other, each under a heading.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use nprof_engine::base::order::gathered;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::wire::catalog::{RankDetail, Track, TrackKind};

use super::sheet_content::{SheetContent, counterpart};
use super::sheet_track::SheetTrack;
use super::track_path::{Paths, TrackPath};
use crate::view::source_id::SourceId;
use crate::view::time::axes::Axes;
use crate::view::time::axis::Axis;

/// A rank of a sheet.
#[derive(Debug, Clone)]
pub struct SheetSource {
    /// Identifies it.
    pub id: SourceId,
    /// Its tracks.
    pub rank: Arc<RankDetail>,
}

/// The tracks of all shown ranks.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    sources: Vec<SheetSource>,
    tracks: Vec<SheetTrack>,
    index_of: HashMap<(SourceId, u32), usize>,
    axes: Arc<Axes>,
    content: SheetContent,
}

/// Two sheets are equal if they were made from the same answers, with the same content and axes.
impl PartialEq for Sheet {
    fn eq(&self, other: &Self) -> bool {
        self.axes == other.axes
            && self.content == other.content
            && self.sources.len() == other.sources.len()
            && self
                .sources
                .iter()
                .zip(&other.sources)
                .all(|(a, b)| a.id == b.id && Arc::ptr_eq(&a.rank, &b.rank))
    }
}

/// Separates the names in the title of a track.
pub const TITLE_SEPARATOR: &str = " › ";

/// A group with more slice tracks than this starts closed. Its band still shows how busy it is,
/// while its tracks would push all content below out of sight: a DMA queue has one for each of
/// sixteen engines.
const MOST_TRACKS: usize = 8;

impl Sheet {
    /// The sheet of these ranks of one profile, in this order. Their times are the shared ones.
    #[must_use]
    pub fn of(ranks: Vec<Arc<RankDetail>>) -> Self {
        let source = |rank: Arc<RankDetail>| SheetSource { id: SourceId::of_first(rank.entry.rank), rank };
        let sources: Vec<SheetSource> = ranks.into_iter().map(source).collect();
        let shown = sources.iter().map(|source| source.id).collect();
        Self::arranged(sources, SheetContent { shown, ..SheetContent::default() })
    }

    /// The sheet of the pinned tracks of these ranks, and of all other tracks of those that are
    /// shown.
    #[must_use]
    pub fn arranged(sources: Vec<SheetSource>, content: SheetContent) -> Self {
        let mut sheet = Self { sources, content, ..Self::default() };
        let sources = sheet.sources.clone();
        let mut tracks: BTreeMap<SourceId, Vec<SheetTrack>> =
            gathered(sources.iter().map(|source| (source.id, tracks_of(source.id, &source.rank))));
        sheet.push_pinned(&mut tracks);
        let shown = sources.iter().map(|source| source.id);
        let shown: Vec<SourceId> = shown.filter(|id| sheet.content.shown.contains(id)).collect();
        for source in &shown {
            let own = tracks.remove(source).unwrap_or_default();
            let has_heading = shown.len() > 1 || !sheet.tracks.is_empty();
            sheet.push_source(*source, own, has_heading);
        }
        let numbered = sheet.tracks.iter().enumerate();
        sheet.index_of =
            numbered.filter_map(|(at, track)| Some(((track.source, track.number?), at))).collect();
        sheet
    }

    /// Moves the pinned tracks to the top.
    fn push_pinned(&mut self, tracks: &mut BTreeMap<SourceId, Vec<SheetTrack>>) {
        let SheetContent { pinned, pinned_sources, .. } = self.content.clone();
        for path in pinned {
            let heading = self.tracks.len();
            for source in &pinned_sources {
                let Some(own) = tracks.get_mut(source) else { continue };
                let Some(at) = counterpart(own, &path) else { continue };
                // The place in the list stays, so that indices of parents stay.
                let gone = SheetTrack { number: None, ..own[at].clone() };
                let track = std::mem::replace(&mut own[at], gone);
                if self.tracks.len() == heading {
                    let heading =
                        SheetTrack::heading(track.source, TrackPath::of_pin(&path), track.name.clone());
                    self.tracks.push(SheetTrack { pin: Some(path.clone()), ..heading });
                }
                let name = self.content.label(*source);
                self.tracks.push(SheetTrack {
                    name,
                    parent: Some(heading),
                    pin: Some(path.clone()),
                    ..track
                });
            }
        }
    }

    /// Adds the tracks of a source but those that were moved to the top.
    fn push_source(&mut self, source: SourceId, own: Vec<SheetTrack>, has_heading: bool) {
        let heading = has_heading.then_some(self.tracks.len());
        if has_heading {
            let name = self.content.label(source);
            let heading = SheetTrack::heading(source, TrackPath::of_source(source), name);
            self.tracks.push(heading);
        }
        let mut places = Vec::with_capacity(own.len());
        for track in own {
            places.push(self.tracks.len());
            if track.number.is_some() {
                let parent = track.parent.map(|parent: usize| places[parent]).or(heading);
                self.tracks.push(SheetTrack { parent, ..track });
            }
        }
    }

    /// The same sheet with these axes.
    #[must_use]
    pub fn on(self, axes: Arc<Axes>) -> Self {
        Self { axes, ..self }
    }

    /// The ranks, in the order of their tracks.
    #[must_use]
    pub fn sources(&self) -> &[SheetSource] {
        &self.sources
    }

    /// A rank of the sheet.
    #[must_use]
    pub fn source(&self, id: SourceId) -> Option<&Arc<RankDetail>> {
        self.sources.iter().find(|source| source.id == id).map(|source| &source.rank)
    }

    /// The axis of a rank's times.
    #[must_use]
    pub fn axis(&self, id: SourceId) -> Axis {
        self.axes.axis(id)
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

    /// The titles of the tracks of a source by number, without the heading of their rank.
    #[must_use]
    pub fn titles_of(&self, id: SourceId) -> Vec<String> {
        let tracks = self.source(id).map_or_else(Vec::new, |rank| tracks_of(id, rank));
        (0..tracks.len()).map(|at| joined(&tracks, at)).collect()
    }

    /// A track's name after the names of its groups.
    #[must_use]
    pub fn title(&self, at: usize) -> String {
        joined(&self.tracks, at)
    }
}

/// A track's name after the names of its groups.
fn joined(tracks: &[SheetTrack], at: usize) -> String {
    let track = |at: usize| tracks.get(at);
    let path = std::iter::successors(track(at), |below| below.parent.and_then(track));
    let mut names: Vec<&str> = path.map(|track| track.name.as_str()).collect();
    names.reverse();
    names.join(TITLE_SEPARATOR)
}

/// All tracks of a rank. Their parents are indices in this list.
pub(super) fn tracks_of(source: SourceId, rank: &RankDetail) -> Vec<SheetTrack> {
    let (mut tracks, mut paths) = (Vec::<SheetTrack>::with_capacity(rank.tracks.len()), Paths::default());
    let mut index_of = HashMap::<u32, usize>::with_capacity(rank.tracks.len());
    for track in &rank.tracks {
        // A parent comes before its children, so there can be no cycle. A track with a missing
        // parent stands at the top.
        let group = track.parent.and_then(|parent| index_of.get(&parent).copied());
        let path = paths.next(group.map(|group| &tracks[group].path), &track.name);
        index_of.insert(track.id, tracks.len());
        let Track { id, name, kind, lanes, rows, group: tiles, value_range, unit, rank, .. } = track.clone();
        tracks.push(SheetTrack {
            source,
            number: Some(id),
            path,
            parent: group,
            name,
            kind,
            lanes,
            rows,
            group: tiles,
            value_range,
            unit,
            starts_closed: track.initially_closed,
            rank,
            is_work: !track.is_annotation && !track.is_state,
            pin: None,
        });
    }
    close_large_groups(&mut tracks);
    tracks
}

/// Closes large groups of the tracks of a rank. The group with the most slices stays open,
/// because the main content of a trace must not be hidden.
fn close_large_groups(tracks: &mut [SheetTrack]) {
    // For each group, or `None` for tracks at the top: its slice tracks and their rows.
    let mut of_group = BTreeMap::<Option<usize>, (usize, u64)>::new();
    for track in tracks.iter().filter(|track| track.kind == TrackKind::Slices) {
        let (count, rows) = of_group.entry(track.parent).or_default();
        // Annotations stand beside their stream.
        *count += usize::from(track.is_work);
        *rows = rows.saturating_add(track.rows);
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
    use crate::view::rows::layout::tests::tracks;
    use crate::view::time::axes::tests::{profile, rank as entry};
    use nprof_engine::wire::catalog::{RankEntry, TileGroup};
    use nprof_engine::wire::rank_ref::RankRef;

    /// A rank with these tracks, all in one tile group.
    pub(crate) fn rank_with(rank: impl Into<RankRef>, tracks: Vec<Track>) -> RankDetail {
        let entry = RankEntry {
            rank: rank.into(),
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
        RankDetail {
            entry,
            tracks,
            groups,
            tables: vec![],
            warnings: vec![],
            origin_unix_ns: None,
            device_name: None,
            names,
        }
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
        check_closed(&large.replacen("q", "annotations", 1), 0, &[]);
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
            Sheet::of(ranks.to_vec()).on(Arc::new(Axes::of(&[profile(entries.to_vec())], base)))
        };
        let call_ps =
            |sheet: &Sheet, rank: u32, local_ps: i64| sheet.axis(SourceId::of_first(rank)).shared(local_ps);
        // The clock of rank 1 is behind, so its trace has the same operation earlier.
        let aligned = sheet(Timebase::Aligned);
        assert_eq!(call_ps(&aligned, 0, 1_500), call_ps(&aligned, 1, 1_000));
        let raw = sheet(Timebase::Raw);
        assert_eq!(call_ps(&raw, 1, 1_000), 1_000);
    }

    #[test]
    fn a_pinned_track_of_several_ranks_stands_above_all_others() {
        let text = "Engines/\n  Tensor\n  Vector\nPower~";
        let ranks = [3, 5, 7].map(|rank| Arc::new(rank_with(rank, tracks(text))));
        let content = |shown: &[u32], paths: &[&str]| SheetContent {
            shown: shown.iter().map(|rank| SourceId::of_first(*rank)).collect(),
            pinned: paths.iter().filter_map(|path| TrackPath::read(path)).collect(),
            pinned_sources: [7, 3, 5].map(SourceId::of_first).to_vec(),
            profiles: Vec::new(),
        };
        let titles = |sheet: &Sheet| (0..sheet.tracks().len()).map(|at| sheet.title(at)).collect::<Vec<_>>();
        let sheet = Sheet::arranged(Sheet::of(ranks.to_vec()).sources, content(&[5], &["Engines/Tensor"]));
        let pinned = ["Rank 7", "Rank 3", "Rank 5"].map(|rank| format!("Tensor › {rank}"));
        let own = ["Rank 5", "Rank 5 › Engines", "Rank 5 › Engines › Vector", "Rank 5 › Power"];
        let expected: Vec<String> = ["Tensor".to_owned()].into_iter().chain(pinned).collect();
        assert_eq!(titles(&sheet)[..4], expected);
        assert_eq!(titles(&sheet)[4..], own);
        assert_eq!(sheet.position(SourceId::of_first(3), 101), Some(2));
        assert_eq!(
            sheet.position(SourceId::of_first(3), 102),
            None,
            "another track of a rank that is not shown"
        );
        assert_eq!(sheet.titles_of(SourceId::of_first(3))[1], "Engines › Tensor");
        assert_eq!(sheet.tracks()[2].subject(), Some(3));
        // A group, or a track that no rank has, is no pinned track.
        let none = Sheet::arranged(Sheet::of(ranks.to_vec()).sources, content(&[3], &["Engines", "Scalar"]));
        assert_eq!(titles(&none), titles(&Sheet::of(ranks[..1].to_vec())));
    }

    #[test]
    fn a_rank_of_two_profiles_stands_together_under_their_names() {
        let rank = Arc::new(rank_with(0, tracks("Tensor")));
        let ids = ["0", "0.1"].map(|text| text.parse::<SourceId>().unwrap());
        let sources = ids.map(|id| SheetSource { id, rank: Arc::clone(&rank) }).to_vec();
        let profiles = vec!["before".to_owned(), "after".to_owned()];
        let content = SheetContent { shown: ids.into(), profiles, ..SheetContent::default() };
        let sheet = Sheet::arranged(sources, content);
        let titles: Vec<_> = (0..sheet.tracks().len()).map(|at| sheet.title(at)).collect();
        let expected =
            ["Rank 0 · before", "Rank 0 · before › Tensor", "Rank 0 · after", "Rank 0 · after › Tensor"];
        assert_eq!(titles, expected);
        assert_eq!(ids.map(|id| sheet.position(id, 100)), [Some(1), Some(3)]);
        assert_ne!(sheet.tracks()[0].path, sheet.tracks()[2].path);
    }

    #[test]
    fn several_ranks_stand_below_each_other() {
        let ranks = [3, 7].map(|rank| Arc::new(rank_with(rank, tracks("Engines/\n  Tensor\n  Tensor"))));
        let sheet = Sheet::of(ranks.to_vec());
        let titles: Vec<_> = (0..sheet.tracks().len()).map(|at| sheet.title(at)).collect();
        assert_eq!(titles[..3], ["Rank 3", "Rank 3 › Engines", "Rank 3 › Engines › Tensor"]);
        assert_eq!(titles.len(), 8);
        let second = TrackPath::read("Engines/Tensor#2").expect("a path");
        assert_eq!(sheet.find(SourceId::of_first(7), &second), Some(7));
        assert_eq!(sheet.position(SourceId::of_first(7), 102), Some(7));
        assert_eq!(sheet.above(7).collect::<Vec<_>>(), [5, 4]);
        assert_eq!(
            (sheet.find(SourceId::of_first(8), &second), sheet.position(SourceId::of_first(3), 9)),
            (None, None)
        );
        assert_eq!(sheet, Sheet::of(ranks.to_vec()));
        assert_ne!(sheet, Sheet::of(ranks[..1].to_vec()));
    }
}

//! Which ranks and tracks a sheet shows, and which tracks of two ranks correspond.

use std::collections::BTreeSet;

use nprof_engine::base::order::gathered;
use nprof_engine::wire::catalog::TrackKind;

use super::sheet_track::SheetTrack;
use super::track_path::TrackPath;
use crate::view::source_id::{SourceId, rank_label};

/// Content of a sheet by its sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetContent {
    /// The sources with all their tracks.
    pub shown: BTreeSet<SourceId>,
    /// Paths of the tracks that stand above all others, of each of the pinned sources.
    pub pinned: BTreeSet<TrackPath>,
    /// The sources of the pinned tracks, from the first row to the last.
    pub pinned_sources: Vec<SourceId>,
    /// Names of the profiles for people, if there are several.
    pub profiles: Vec<String>,
}

impl SheetContent {
    /// All sources whose tracks are needed, in the order of their rows.
    pub fn sources(&self) -> impl Iterator<Item = SourceId> {
        let sources: BTreeSet<SourceId> = gathered(self.shown.iter().chain(&self.pinned_sources).copied());
        sources.into_iter()
    }

    /// The name of a source for people: that of its rank, and that of its profile if there are
    /// several.
    #[must_use]
    pub fn label(&self, source: SourceId) -> String {
        let rank = rank_label(source.rank);
        match self.profiles.get(usize::from(source.profile)) {
            Some(profile) => format!("{rank} · {profile}"),
            None => rank,
        }
    }
}

/// The track of a rank that corresponds to this path, which can be of another rank: the same path,
/// else the same name in groups that differ by numbers only, else the only track of such a path.
#[must_use]
pub fn counterpart(tracks: &[SheetTrack], path: &TrackPath) -> Option<usize> {
    let has_data = |track: &SheetTrack| track.kind != TrackKind::Group && track.number.is_some();
    let with_data = (0..tracks.len()).filter(|at| has_data(&tracks[*at]));
    if let Some(same) = with_data.clone().find(|at| tracks[*at].path == *path) {
        return Some(same);
    }
    let pattern = path.pattern();
    let alike: Vec<usize> = with_data.filter(|at| tracks[*at].path.pattern() == pattern).collect();
    let named = alike.iter().find(|at| tracks[**at].path.name() == path.name());
    named.or(alike.first().filter(|_| alike.len() == 1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::tests::rank_with;
    use crate::view::rows::sheet::tracks_of;

    #[test]
    fn a_track_has_counterparts_in_ranks_with_other_numbers() {
        #[track_caller]
        fn check(text: &str, path: &str, expected: Option<&str>) {
            let own = tracks_of(SourceId::of_first(3), &rank_with(3, tracks(text)));
            let found = counterpart(&own, &TrackPath::read(path).expect("a path"));
            assert_eq!(found.map(|at| own[at].path.as_str()), expected, "{text}");
        }
        let devices = "GPU 1/\n  stream 7\n  stream 20\nCPU 4/\n  thread 9\n  thread 10";
        check(devices, "GPU 1/stream 7", Some("GPU 1/stream 7"));
        check(devices, "GPU 0/stream 20", Some("GPU 1/stream 20"));
        check(devices, "GPU 0/stream 13", None);
        check(devices, "CPU 77/thread 10", Some("CPU 4/thread 10"));
        check("CPU 4/\n  thread 9", "CPU 77/thread 77", Some("CPU 4/thread 9"));
        check(devices, "CPU 77/thread 77", None);
        check(devices, "GPU 0", None);
    }
}

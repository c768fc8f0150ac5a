//! Decides which groups start closed, in addition to the trace's own choice, and finds the groups
//! that hide a track.

use nprof_engine::wire::catalog::{Track, TrackKind};

use super::state::View;

/// A group with more slice tracks than this starts closed. Its band still shows how busy it is,
/// while its tracks would push all content below out of sight: a DMA queue has one for each of
/// sixteen engines.
const MOST_TRACKS: usize = 8;

/// Closes large groups at the start. The group with the most slices stays open, because the main
/// content of a trace must not be hidden.
pub fn close_large_groups(tracks: &mut [Track]) {
    let mut of_group = std::collections::BTreeMap::<u32, (usize, u64)>::new();
    for track in tracks.iter().filter(|track| track.kind == TrackKind::Slices) {
        let (count, rows) = of_group.entry(track.parent.unwrap_or(u32::MAX)).or_default();
        (*count, *rows) = (*count + 1, rows.saturating_add(track.rows));
    }
    let rows = |group: &u32| of_group.get(group).map_or(0, |(_, rows)| *rows);
    // The first of several groups with equally many slices.
    let Some(largest) = of_group.keys().copied().reduce(|a, b| if rows(&b) > rows(&a) { b } else { a })
    else {
        return;
    };
    for track in tracks.iter_mut().filter(|track| track.kind == TrackKind::Group && track.id != largest) {
        track.initially_closed |= of_group.get(&track.id).is_some_and(|(count, _)| *count > MOST_TRACKS);
    }
}

/// Numbers of the closed groups above a track.
#[must_use]
pub fn hidden_by(tracks: &[Track], view: &View, track: u32) -> Vec<u32> {
    let find = |id: u32| tracks.iter().find(|track| track.id == id);
    let above = std::iter::successors(find(track).and_then(|track| track.parent), |id| find(*id)?.parent);
    // A damaged list can have a cycle: no path is longer than the list.
    above.take(tracks.len()).filter(|id| find(*id).is_some_and(|group| view.is_closed(group))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::layout::tests::tracks;

    /// Checks which groups start closed. Each track of the group `large` has `rows` slices, every
    /// other track has one.
    #[track_caller]
    fn check(text: &str, rows: u64, expected: &[&str]) {
        let mut tracks = tracks(text);
        let large = tracks.iter().find(|track| track.name == "large").map(|track| track.id);
        for track in tracks.iter_mut().filter(|track| track.parent == large) {
            track.rows = rows;
        }
        close_large_groups(&mut tracks);
        let closed: Vec<_> =
            tracks.iter().filter(|track| track.initially_closed).map(|track| track.name.as_str()).collect();
        assert_eq!(closed, expected, "{text}");
    }

    #[test]
    fn large_groups_start_closed_unless_they_hold_the_most() {
        let large = format!("Engines/\n  a*2\n  b\nlarge/\n{}Power~", "  q\n".repeat(9));
        check(&large, 0, &["large"]);
        check(&large, 100, &[]);
        check(&large.replace("large/\n  q\n", "large/\n"), 0, &[]);
        let two = format!("Worker 0/\n{0}large/\n{0}", "  t\n".repeat(9));
        check(&two, 1, &["large"]);
        check("Counters/\n  a~\n  b~\nSemaphores/-\n  c", 1, &["Semaphores"]);
    }

    #[test]
    fn groups_in_groups_count_for_themselves() {
        let text = format!("Engines/\n  a\n  b\nDMA/\n  large/\n{}  q2/\n    x", "    e\n".repeat(17));
        check(&text, 0, &["large"]);
    }

    #[test]
    fn closed_groups_hide_all_below() {
        let tracks = tracks("DMA/\n  Q/-\n    a\nlone");
        let mut view = View::of_profile("p");
        assert_eq!(hidden_by(&tracks, &view, 102), [101]);
        view.toggled = [100].into();
        assert_eq!(hidden_by(&tracks, &view, 102), [101, 100]);
        view.toggled = [101].into();
        assert_eq!(hidden_by(&tracks, &view, 102), [0_u32; 0]);
        assert_eq!(hidden_by(&tracks, &view, 103), [0_u32; 0]);
    }
}

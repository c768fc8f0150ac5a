//! Groups of tracks that share tiles. A group has neighbours under one heading, so that a closed
//! heading is not fetched.

use crate::base::order::sort_by_key;
use crate::model::{TrackContent, TrackId};
use crate::segment::Footer;

/// Most tracks of a group.
const MAX_TRACKS: usize = 16;
/// Most lanes of a group of several tracks. A tile has up to [`super::CELLS`] slices or cells of
/// each lane, some ten bytes apiece. A tile of a hundred lanes would take a megabyte and delay the
/// tiles of other groups.
const MAX_LANES: u32 = 32;

/// Tracks that share tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileTracks {
    /// Heading of the tracks.
    pub parent: Option<TrackId>,
    /// The tracks in display order.
    pub tracks: Vec<TrackId>,
}

/// Groups of a segment, and its tracks in display order (a parent before its children). The same
/// segment always has the same groups, because their numbers are in URLs.
#[must_use]
pub fn groups(footer: &Footer) -> (Vec<TileTracks>, Vec<TrackId>) {
    let mut children: Vec<Vec<TrackId>> = vec![Vec::new(); footer.tracks.len() + 1];
    for (id, track) in (0..).map(TrackId).zip(&footer.tracks) {
        let slot = track.spec.parent.map_or(footer.tracks.len(), |parent| parent.0 as usize);
        children[slot].push(id);
    }
    for siblings in &mut children {
        sort_by_key(siblings, |id| (footer.tracks[id.0 as usize].spec.sort, id.0));
    }
    let (mut groups, mut order) = (Vec::new(), Vec::new());
    // Headings that are still to be visited, last first.
    let mut pending: Vec<TrackId> = children[footer.tracks.len()].iter().rev().copied().collect();
    group_siblings(footer, None, &children[footer.tracks.len()], &mut groups);
    while let Some(id) = pending.pop() {
        order.push(id);
        let below = &children[id.0 as usize];
        group_siblings(footer, Some(id), below, &mut groups);
        pending.extend(below.iter().rev());
    }
    (groups, order)
}

fn group_siblings(
    footer: &Footer,
    parent: Option<TrackId>,
    siblings: &[TrackId],
    groups: &mut Vec<TileTracks>,
) {
    let filled = |id: &&TrackId| {
        let track = &footer.tracks[id.0 as usize];
        track.rows > 0 && track.spec.kind != TrackContent::Group
    };
    let lanes = siblings.iter().filter(filled).map(|&id| (id, footer.tracks[id.0 as usize].lanes));
    groups.extend(bounded(lanes).into_iter().map(|tracks| TileTracks { parent, tracks }));
}

/// Splits tracks, each with its number of lanes, into groups within the limits.
fn bounded(tracks: impl Iterator<Item = (TrackId, u32)>) -> Vec<Vec<TrackId>> {
    let mut groups: Vec<Vec<TrackId>> = Vec::new();
    let mut lanes_of_last = 0_u32;
    for (track, lanes) in tracks {
        lanes_of_last = lanes_of_last.saturating_add(lanes);
        match groups.last_mut() {
            Some(group) if group.len() < MAX_TRACKS && lanes_of_last <= MAX_LANES => group.push(track),
            _ => {
                groups.push(vec![track]);
                lanes_of_last = lanes;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lanes: &[u32], expected: &[usize]) {
        let groups = bounded((0..).map(TrackId).zip(lanes.iter().copied()));
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{lanes:?}");
        assert!(groups.iter().flatten().copied().eq((0..).map(TrackId).take(lanes.len())), "all, in order");
    }

    #[test]
    fn neither_tracks_nor_lanes_are_too_many() {
        check(&[], &[]);
        check(&[1; MAX_TRACKS], &[MAX_TRACKS]);
        check(&[1; MAX_TRACKS + 1], &[MAX_TRACKS, 1]);
        check(&[MAX_LANES / 2, MAX_LANES / 2, 1, MAX_LANES], &[2, 1, 1]);
        check(&[1, u32::MAX, 1, 1], &[1, 1, 2]);
    }
}

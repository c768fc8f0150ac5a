//! Groups of tracks that share tiles: neighbours under one heading, so that a closed heading is not fetched.

use crate::model::{TrackId, TrackKind};
use crate::segment::Footer;

/// Most tracks of a group. A tile of a group brings at most this many times a lane's slices, a few tens of kilobytes.
const MAX_TRACKS: usize = 16;

/// Tracks that share tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Their heading.
    pub parent: Option<TrackId>,
    /// In display order.
    pub tracks: Vec<TrackId>,
}

/// The groups of a segment, and its tracks in display order (a parent before its children). The same segment always
/// has the same groups: their numbers are in URLs.
#[must_use]
pub fn groups(footer: &Footer) -> (Vec<Group>, Vec<TrackId>) {
    let mut children: Vec<Vec<TrackId>> = vec![Vec::new(); footer.tracks.len() + 1];
    for (id, track) in (0..).map(TrackId).zip(&footer.tracks) {
        let slot = track.spec.parent.map_or(footer.tracks.len(), |parent| parent.0 as usize);
        children[slot].push(id);
    }
    for siblings in &mut children {
        siblings.sort_by_key(|id| (footer.tracks[id.0 as usize].spec.sort, id.0));
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

fn group_siblings(footer: &Footer, parent: Option<TrackId>, siblings: &[TrackId], groups: &mut Vec<Group>) {
    let filled = |id: &&TrackId| {
        let track = &footer.tracks[id.0 as usize];
        track.rows > 0 && track.spec.kind != TrackKind::Group
    };
    let tracks: Vec<TrackId> = siblings.iter().filter(filled).copied().collect();
    groups.extend(tracks.chunks(MAX_TRACKS).map(|tracks| Group { parent, tracks: tracks.to_vec() }));
}

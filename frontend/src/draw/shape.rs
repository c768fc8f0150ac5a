//! The lanes of a rank, numbered through all tracks. A tile's lanes find their position on the
//! screen by these numbers.

use std::collections::HashMap;

use nprof_engine::wire::catalog::{RankDetail, Track, TrackKind};

use crate::view::Layout;

/// A rank's tracks with their lanes.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    index_of: HashMap<u32, usize>,
    /// For each track, the number of its first lane. The last entry is the number of all lanes.
    first_lane: Vec<u32>,
    /// For each track, the index of its group.
    parent: Vec<Option<usize>>,
    /// For each group, the number of lanes of all slices below it.
    lanes_below: Vec<u32>,
}

/// Position of a lane's bars: distance from the top of the first row, and height. Height 0 hides
/// the lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Distance from the top of the first row, in CSS pixels.
    pub top_px: f32,
    /// Height in CSS pixels.
    pub height_px: f32,
}

/// Band of a hidden lane.
const HIDDEN: Band = Band { top_px: 0.0, height_px: 0.0 };

impl Shape {
    /// Numbers the lanes of a rank.
    #[must_use]
    pub fn new(rank: &RankDetail) -> Self {
        let mut first_lane = Vec::with_capacity(rank.tracks.len() + 1);
        let mut next = 0_u32;
        for track in &rank.tracks {
            first_lane.push(next);
            next = next.saturating_add(lanes(track));
        }
        first_lane.push(next);
        let mut index_of = HashMap::with_capacity(rank.tracks.len());
        let mut parent: Vec<Option<usize>> = Vec::with_capacity(rank.tracks.len());
        let mut lanes_below = vec![0_u32; rank.tracks.len()];
        for (at, track) in rank.tracks.iter().enumerate() {
            // A parent comes before its children, so there can be no cycle.
            parent.push(track.parent.and_then(|id| index_of.get(&id).copied()));
            index_of.insert(track.id, at);
            let mut group = parent[at].filter(|_| track.kind == TrackKind::Slices);
            while let Some(above) = group {
                lanes_below[above] = lanes_below[above].saturating_add(track.lanes);
                group = parent[above];
            }
        }
        Self { index_of, first_lane, parent, lanes_below }
    }

    /// The group of a track. Both are indices.
    #[must_use]
    pub fn parent(&self, track: usize) -> Option<usize> {
        self.parent.get(track).copied().flatten()
    }

    /// Number of lanes of all slices below a group.
    #[must_use]
    pub fn lanes_below(&self, group: usize) -> u32 {
        self.lanes_below.get(group).copied().unwrap_or(0)
    }

    /// A track's index, by its number.
    #[must_use]
    pub fn track(&self, id: u32) -> Option<usize> {
        self.index_of.get(&id).copied()
    }

    /// The number of a track's lane. `None` if there is no such lane.
    #[must_use]
    pub fn lane(&self, track: usize, lane: u32) -> Option<u32> {
        let number = self.first_lane.get(track)?.checked_add(lane)?;
        (number < *self.first_lane.get(track + 1)?).then_some(number)
    }

    /// The bands of all lanes in a layout, by lane number.
    #[must_use]
    pub fn bands(&self, tracks: &[Track], layout: &Layout) -> Vec<Band> {
        let mut bands = vec![HIDDEN; self.first_lane.last().map_or(0, |count| *count as usize)];
        for row in &layout.rows {
            let track = &tracks[row.track];
            if track.kind == TrackKind::Group && !row.is_closed {
                continue;
            }
            for lane in 0..lanes(track) {
                let Some(number) = self.lane(row.track, lane) else { continue };
                let (top_px, height_px) = row.lane_px(track, lane);
                bands[number as usize] = Band { top_px: top_px as f32, height_px: height_px as f32 };
            }
        }
        bands
    }
}

/// Number of lanes of a track. A group has one lane, for its band while it is closed.
fn lanes(track: &Track) -> u32 {
    match track.kind {
        TrackKind::Group => 1,
        TrackKind::Slices | TrackKind::Counter => track.lanes,
    }
}

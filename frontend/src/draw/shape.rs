//! The lanes of a sheet, numbered through all tracks. A tile's lanes find their position on the
//! screen by these numbers.

use nprof_engine::wire::catalog::TrackKind;

use crate::view::rows::sheet_track::SheetTrack;
use crate::view::{Layout, Sheet};

/// The numbers of the lanes of all tracks.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// For each track, the number of its first lane. The last entry is the number of all lanes.
    first_lane: Vec<u32>,
    /// For each group, the number of lanes of all slices below it that can work.
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
    /// Numbers the lanes of a sheet.
    #[must_use]
    pub fn new(sheet: &Sheet) -> Self {
        let tracks = sheet.tracks();
        let mut first_lane = Vec::with_capacity(tracks.len() + 1);
        let mut next = 0_u32;
        for track in tracks {
            first_lane.push(next);
            next = next.saturating_add(lanes(track));
        }
        first_lane.push(next);
        let mut lanes_below = vec![0_u32; tracks.len()];
        let is_work = |track: &SheetTrack| track.kind == TrackKind::Slices && track.is_work;
        for (at, track) in tracks.iter().enumerate().filter(|(_, track)| is_work(track)) {
            for group in sheet.above(at) {
                lanes_below[group] = lanes_below[group].saturating_add(track.lanes);
            }
        }
        Self { first_lane, lanes_below }
    }

    /// Number of lanes of all slices below a group that can work.
    #[must_use]
    pub fn lanes_below(&self, group: usize) -> u32 {
        self.lanes_below.get(group).copied().unwrap_or(0)
    }

    /// The number of a track's lane. `None` if there is no such lane.
    #[must_use]
    pub fn lane(&self, track: usize, lane: u32) -> Option<u32> {
        let number = self.first_lane.get(track)?.checked_add(lane)?;
        (number < *self.first_lane.get(track + 1)?).then_some(number)
    }

    /// The bands of all lanes in a layout, by lane number.
    #[must_use]
    pub fn bands(&self, sheet: &Sheet, layout: &Layout) -> Vec<Band> {
        let mut bands = vec![HIDDEN; self.first_lane.last().map_or(0, |count| *count as usize)];
        for row in &layout.rows {
            let Some(track) = sheet.tracks().get(row.track) else { continue };
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
fn lanes(track: &SheetTrack) -> u32 {
    match track.kind {
        TrackKind::Group => 1,
        TrackKind::Slices | TrackKind::Counter => track.lanes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::sheet::tests::sheet_of;

    #[test]
    fn annotations_and_states_are_no_lanes_that_can_work() {
        let sheet = sheet_of("GPU/\n  annotations\n  Throttling\n  stream*3\n  Power~\nlone");
        assert_eq!(Shape::new(&sheet).lanes_below(0), 3);
    }
}

//! Content of the timeline's canvases, and the state of the pointer on them.

use std::sync::Arc;

use nprof_engine::base::{Interval, Time};
use nprof_engine::query::StepDirection;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};

use crate::draw::palette::Ground;
use crate::fetch::{RankSource, Source};
use crate::view::finding_box::PlacedBox;
use crate::view::light::Light;
use crate::view::rows::layout::sight::RowSight;
use crate::view::run_path::PathStretch;
use crate::view::run_waits::WaitStretch;
use crate::view::source_id::SourceId;
use crate::view::state::profile_names::ProfileNames;
use crate::view::{Hovered, Layout, Point, Reading, Sheet, Size, TimeScale};

/// Content of the canvases. Replaced as a whole whenever a part changes.
#[derive(Debug, Clone, Default)]
pub struct ShownTimeline {
    /// The source of tiles and slices.
    pub source: Option<Source>,
    /// The profiles.
    pub profiles: ProfileNames,
    /// The tracks of all shown ranks.
    pub sheet: Arc<Sheet>,
    /// The current rank: the source of the selected slice or counter.
    pub current: SourceId,
    /// The widest window, which the minimap shows.
    pub widest: Interval,
    /// The moment that counts as zero.
    pub zero: Time,
    /// The rows of the tracks.
    pub layout: Arc<Layout>,
    /// The visible span.
    pub window: Interval,
    /// Width and height of the tracks in CSS pixels.
    pub size: Size,
    /// The areas that show the rows.
    pub sight: RowSight,
    /// The selected slice.
    pub selected: Option<Arc<SliceDetail>>,
    /// The slice of an operation of all ranks on which the pointer rests.
    pub pointed: Option<Arc<SliceDetail>>,
    /// The counter that is read instead of a selected slice.
    pub reading: Option<Reading>,
    /// The marked span.
    pub marked: Option<Interval>,
    /// The critical path, if it is shown.
    pub path: Option<Arc<Vec<PathStretch>>>,
    /// The waits, if they are shown.
    pub waits: Option<Arc<Vec<WaitStretch>>>,
    /// The light on the hits of a search.
    pub light: Option<Arc<Light>>,
    /// The boxes of findings.
    pub boxes: Arc<Vec<PlacedBox>>,
    /// Background of the canvases.
    pub ground: Ground,
}

impl ShownTimeline {
    /// The source of answers about the current rank.
    #[must_use]
    pub fn current_source(&self) -> Option<RankSource> {
        let axis = self.sheet.axis(self.current);
        let profile = self.profiles.at(self.current.profile)?.to_owned();
        Some(self.source?.rank(profile, self.current.rank).on_axis(axis))
    }

    /// The selected slice with the index of its track, if no lane of that track follows in this
    /// direction.
    #[must_use]
    pub fn selected_at_edge(&self, direction: StepDirection) -> Option<(usize, &SliceEntry)> {
        let slice = &self.selected.as_ref()?.slice;
        let at = self.sheet.position(self.current, slice.track)?;
        let is_edge = match direction {
            StepDirection::Up => slice.lane == 0,
            StepDirection::Down => slice.lane + 1 >= self.sheet.tracks().get(at)?.lanes,
            StepDirection::Next | StepDirection::Previous => false,
        };
        is_edge.then_some((at, slice))
    }

    /// The time scale of the tracks.
    #[must_use]
    pub fn scale(&self) -> TimeScale {
        TimeScale { window: self.window, width_px: self.size.width_px }
    }
}

/// State of a pointer gesture.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GestureState {
    /// Position of the pointer, in CSS pixels of the tracks and of the viewport.
    pub pointer: Option<Pointer>,
    /// The span that is being dragged.
    pub dragged: Option<Interval>,
}

/// Position of the pointer, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pointer {
    /// Position on the tracks.
    pub at: Point,
    /// Position in the viewport.
    pub client: Point,
}

/// The item at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Index of the track in the sheet.
    pub track: usize,
    /// Number of the lane.
    pub lane: u32,
    /// The item.
    pub what: Hovered,
}

//! The areas of the view that show rows. Pinned rows stand first in a layout and have an area of
//! their own at the top of the view; all others scroll in the area below.
//!
//! An area is a window onto one column of rows: a row has the same place in this column whichever
//! area shows it.

use super::{Layout, Row};
use crate::view::rows::sheet::Sheet;
use crate::view::rows::track_path::TrackPath;
use crate::view::source_id::SourceId;

/// A part of the rows that scrolls by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPart {
    /// The pinned rows.
    Pinned,
    /// All other rows.
    Others,
}

impl RowPart {
    /// All parts, from top to bottom.
    pub const ALL: [Self; 2] = [Self::Pinned, Self::Others];
}

/// The first visible row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopRow {
    /// The source, if several are shown.
    pub source: Option<SourceId>,
    /// The track.
    pub path: TrackPath,
    /// The first visible lane of the track.
    pub lane: u32,
}

impl TopRow {
    /// The first lane of a track of a sheet, as links name it.
    #[must_use]
    pub fn of(sheet: &Sheet, at: usize) -> Option<Self> {
        let track = sheet.tracks().get(at)?;
        let source = (sheet.sources().len() > 1).then_some(track.source);
        Some(Self { source, path: track.path.clone(), lane: 0 })
    }
}

/// An area of the view, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Area {
    /// Distance from the top of the view.
    pub top_px: f64,
    /// Height.
    pub height_px: f64,
    /// Distance of what is at its top from the top of the first row.
    pub scroll_px: f64,
}

impl Area {
    /// Distance of its lower edge from the top of the view.
    #[must_use]
    pub fn foot_px(&self) -> f64 {
        self.top_px + self.height_px
    }

    /// Distance from the top of the view of what is this far from the top of the first row. Outside
    /// of the area if it is not in sight.
    #[must_use]
    pub fn shown_px(&self, row_px: f64) -> f64 {
        row_px - self.shift_px()
    }

    /// Distance from the top of the first row minus that from the top of the view.
    #[must_use]
    pub fn shift_px(&self) -> f64 {
        self.scroll_px - self.top_px
    }
}

/// The areas of the view.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowSight {
    /// The area of the pinned rows. Its height is 0 if nothing is pinned.
    pub pinned: Area,
    /// The area of all other rows.
    pub others: Area,
    /// Height of all pinned rows, also of those out of sight.
    pins_px: f64,
}

impl RowSight {
    /// The areas of a view of this height, each scrolled by so much: the pinned rows, then the
    /// others.
    #[must_use]
    pub fn new(layout: &Layout, view_px: f64, pinned_px: f64, others_px: f64) -> Self {
        let pins_px = layout.start_px(RowPart::Others);
        let height_px = area_of_pins_px(pins_px, view_px);
        // The browser tells later how far rows are scrolled that have just been unpinned.
        let scroll_px = pinned_px.clamp(0.0, pins_px - height_px);
        let others =
            Area { top_px: height_px, height_px: view_px - height_px, scroll_px: pins_px + others_px };
        Self { pinned: Area { top_px: 0.0, height_px, scroll_px }, others, pins_px }
    }

    /// A view of this height without pinned rows.
    #[must_use]
    pub fn unpinned(height_px: f64, scroll_px: f64) -> Self {
        Self { others: Area { top_px: 0.0, height_px, scroll_px }, ..Self::default() }
    }

    /// The area of a part.
    #[must_use]
    pub fn area(&self, part: RowPart) -> Area {
        match part {
            RowPart::Pinned => self.pinned,
            RowPart::Others => self.others,
        }
    }

    /// The areas that show anything, from top to bottom.
    pub fn areas(&self) -> impl Iterator<Item = Area> + use<> {
        [self.pinned, self.others].into_iter().filter(|area| area.height_px > 0.0)
    }

    /// The area in which a row is, or would be if it were in sight.
    #[must_use]
    pub fn area_of(&self, row: &Row) -> Area {
        if row.top_px < self.pins_px { self.pinned } else { self.others }
    }

    /// The part at a distance from the top of the view.
    #[must_use]
    pub fn part_at(&self, y_px: f64) -> RowPart {
        if y_px < self.pinned.height_px { RowPart::Pinned } else { RowPart::Others }
    }

    /// Distance from the top of the first row of what is this far from the top of the view.
    #[must_use]
    pub fn row_px(&self, y_px: f64) -> f64 {
        y_px + self.area(self.part_at(y_px)).shift_px()
    }

    /// The rows in sight, from top to bottom.
    pub fn rows<'a>(&self, layout: &'a Layout) -> impl Iterator<Item = &'a Row> + use<'a> {
        self.areas().flat_map(|area| layout.visible(area.scroll_px, area.scroll_px + area.height_px))
    }
}

/// Height of the area of pinned rows in a view: all of them, but at most half of the view, because
/// the other rows are what they are compared with.
#[must_use]
pub fn area_of_pins_px(pins_px: f64, view_px: f64) -> f64 {
    pins_px.min((view_px / 2.0).floor())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::Sheet;
    use crate::view::rows::sheet::tests::rank_with;
    use crate::view::rows::sheet_content::SheetContent;
    use crate::view::rows::track_path::TrackPath;

    /// The layout of two ranks with tracks `t0`, `t1` and so on, some of them pinned.
    fn layout_of(tracks_of_rank: usize, pinned: usize) -> Layout {
        let text: Vec<String> = (0..tracks_of_rank).map(|at| format!("t{at}")).collect();
        let ranks = [0, 1].map(|rank| Arc::new(rank_with(rank, tracks(&text.join("\n")))));
        let sources = Sheet::of(ranks.to_vec()).sources().to_vec();
        let paths = (0..pinned).filter_map(|at| TrackPath::read(&format!("t{at}")));
        let content = SheetContent {
            shown: [SourceId::of_first(0)].into(),
            pinned: paths.collect(),
            pinned_sources: [1, 0].map(SourceId::of_first).to_vec(),
            profiles: Vec::new(),
        };
        Layout::new(&Sheet::arranged(sources, content), |_| false)
    }

    #[test]
    fn pins_take_what_they_need_and_at_most_half() {
        // A pin takes 24 px for its heading and for each of both ranks.
        let heights = |pinned, view_px| {
            let sight = RowSight::new(&layout_of(20, pinned), view_px, 0.0, 0.0);
            (sight.pinned.height_px, sight.others.top_px, sight.others.height_px)
        };
        assert_eq!(heights(0, 401.0), (0.0, 0.0, 401.0));
        assert_eq!(heights(1, 401.0), (72.0, 72.0, 329.0));
        assert_eq!(heights(10, 401.0), (200.0, 200.0, 201.0));
        assert_eq!(heights(1, 0.0), (0.0, 0.0, 0.0), "before the view is measured");
    }

    #[test]
    fn a_point_is_in_the_area_that_shows_it() {
        let layout = layout_of(20, 10);
        let sight = RowSight::new(&layout, 400.0, 30.0, 50.0);
        assert_eq!((sight.part_at(199.0), sight.row_px(199.0)), (RowPart::Pinned, 229.0));
        // Ten pins have 720 px.
        assert_eq!((sight.part_at(200.0), sight.row_px(200.0)), (RowPart::Others, 770.0));
        assert_eq!(sight.others.shown_px(770.0), 200.0);
        let row = |row_px| sight.area_of(layout.row_at(row_px).expect("a row"));
        assert_eq!((row(719.0), row(720.0)), (sight.pinned, sight.others));
    }

    proptest! {
        #[test]
        fn pins_leave_half_and_every_row_can_be_reached(
            pinned in 0_usize..12,
            view_px in 100.0..2_000.0_f64,
            scrolled in 0.0..5_000.0_f64,
        ) {
            let layout = layout_of(12, pinned);
            let top = RowSight::new(&layout, view_px, scrolled, 0.0);
            prop_assert!(top.pinned.height_px <= view_px / 2.0);
            prop_assert_eq!(top.pinned.foot_px(), top.others.top_px);
            prop_assert_eq!(top.others.foot_px(), view_px);
            // Between no scroll and all of it there is no gap.
            let end = layout.height_px() - layout.start_px(RowPart::Others) - top.others.height_px;
            let end = RowSight::new(&layout, view_px, f64::MAX, end.max(0.0));
            let ends = [(0.0, end.pinned), (layout.start_px(RowPart::Others), end.others)];
            let begins = [RowSight::new(&layout, view_px, 0.0, 0.0).pinned, top.others];
            for (begin, (start_px, end)) in begins.into_iter().zip(ends) {
                prop_assert_eq!(begin.scroll_px, start_px);
                prop_assert!(end.scroll_px >= begin.scroll_px);
            }
            prop_assert_eq!(end.pinned.scroll_px + end.pinned.height_px, layout.start_px(RowPart::Others));
            prop_assert!(end.others.scroll_px + end.others.height_px >= layout.height_px());
            // No row is in both areas.
            let rows: Vec<usize> = top.rows(&layout).map(|row| row.track).collect();
            prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", rows);
        }
    }
}

//! Vertical positions of the tracks: the rows of the track tree from top to bottom, with open and
//! closed groups.

mod only_hits;
pub mod sight;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use nprof_engine::base::order::{gathered, sort_by, sort_by_key};
use nprof_engine::wire::catalog::TrackKind;

use self::sight::{RowPart, area_of_pins_px};
use super::occupancy::Occupied;
use super::sheet::Sheet;
use super::sheet_track::SheetTrack;
use crate::view::source_id::SourceId;

/// Height of one lane of slices.
pub const LANE_PX: f64 = 18.0;
/// Height of the bar of a slice in its lane; the rest is the gap to the next lane.
pub const BAR_PX: f64 = 16.0;
/// Height of a group's heading.
pub const GROUP_PX: f64 = 24.0;
/// Height of a counter.
pub const COUNTER_PX: f64 = 40.0;
/// Height of a counter below the calls of its rank.
pub const LOAD_PX: f64 = 13.0;
/// Space above and below the content of a track.
pub const PADDING_PX: f64 = 3.0;
/// Height of a row without anything in the window, and most that the last lanes take of another row
/// if they have nothing there.
pub const EMPTY_PX: f64 = 6.0;
/// Height of a lane at the end of a row if it has nothing in the window.
const EMPTY_LANE_PX: f64 = 2.0;
/// Space above and below the content of a row without anything in the window.
const EMPTY_PADDING_PX: f64 = 1.0;
/// Least height of a lane in a row that is fitted into the view.
const LEAST_LANE_PX: f64 = 1.0;
/// Height of a fitted lane from which on there is a gap to the next one.
const GAP_FROM_PX: f64 = 6.0;
/// Height of a lane below which bars and hatches cannot be told apart.
const HEAT_BELOW_PX: f64 = 3.0;

/// Height of the rows of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankHeight {
    /// As high as the rows of other tracks.
    #[default]
    Usual,
    /// So low that all rows fit into the view.
    Fit,
}

impl RankHeight {
    /// The name in addresses of a height that is not the usual one.
    pub const FIT: &str = "fit";

    /// The other height.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Usual => Self::Fit,
            Self::Fit => Self::Usual,
        }
    }
}

/// Form of the rows of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankLook {
    /// As bars, like the rows of all other tracks.
    #[default]
    Bars,
    /// As a strip whose colour is as strong as the share of time that the rank waits.
    Heat,
}

/// Order and height of the rows of ranks.
#[derive(Debug, Clone, Copy)]
pub struct RankRows<F> {
    /// The key of a rank. The row with the least key is the first one.
    pub key: F,
    /// Height of the view into which all rows should fit, in CSS pixels. Rows of ranks get lower
    /// for it.
    pub fit_px: Option<f64>,
}

/// A visible row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Index of the sheet's track.
    pub track: usize,
    /// Number of enclosing groups.
    pub depth: u16,
    /// Distance from the top of the first row.
    pub top_px: f64,
    /// Height in CSS pixels.
    pub height_px: f64,
    /// Height of a lane with the gap below it.
    lane_px: f64,
    /// Number of lanes of that height. All others are at the end and have nothing in the window.
    full_lanes: u32,
    /// Height of a lane that has nothing in the window.
    empty_lane_px: f64,
    /// True for the heading of a closed group, which shows how busy its tracks are.
    pub is_closed: bool,
}

/// All visible rows, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    /// The rows, without gaps between them.
    pub rows: Vec<Row>,
    /// Form of the rows of ranks.
    pub rank_look: RankLook,
    /// Number of pinned rows, which are the first ones.
    pinned: usize,
    /// For each of the sheet's tracks, its index in `rows`.
    row_of_track: Vec<Option<u32>>,
    /// For each closed group, the tile groups of the tracks below it.
    tiles_below: HashMap<usize, Vec<u32>>,
}

impl Layout {
    /// Lays out the tracks of a sheet. The children of a closed group have no row.
    #[must_use]
    pub fn new(sheet: &Sheet, is_closed: impl Fn(&SheetTrack) -> bool) -> Self {
        Self::of_ranks(sheet, None::<RankRows<fn(u32)>>, is_closed)
    }

    /// Like [`Layout::new`], with this order and height of the rows of ranks.
    #[must_use]
    pub fn of_ranks<K: Ord>(
        sheet: &Sheet,
        ranks: Option<RankRows<impl Fn(u32) -> K>>,
        is_closed: impl Fn(&SheetTrack) -> bool,
    ) -> Self {
        let tracks = sheet.tracks();
        let mut tree = Tree::new(tracks);
        let fit_px = ranks.as_ref().and_then(|ranks| ranks.fit_px);
        if let Some((RankRows { key, .. }, group)) = ranks.zip(sheet.rank_group()) {
            sort_by_key(&mut tree.children[group], |at| tracks[*at].rank.map(&key));
        }
        let layout = Self::of_tree(tracks, &tree, &is_closed);
        let Some(fit_px) = fit_px.filter(|fit_px| layout.shown_px(*fit_px) > *fit_px) else { return layout };
        // Room is for the calls first.
        tree.leave_out_loads(tracks);
        let mut layout = Self::of_tree(tracks, &tree, &is_closed);
        layout.fit(tracks, fit_px);
        layout
    }

    fn of_tree(tracks: &[SheetTrack], tree: &Tree, is_closed: impl Fn(&SheetTrack) -> bool) -> Self {
        let mut layout = Self {
            rows: Vec::with_capacity(tracks.len()),
            rank_look: RankLook::default(),
            pinned: 0,
            row_of_track: vec![None; tracks.len()],
            tiles_below: HashMap::new(),
        };
        let mut top_px = 0.0;
        // A stack: the next track to visit is the last entry. Depths are stored with the entries.
        let mut pending: Vec<(usize, u16)> = tree.roots.iter().rev().map(|at| (*at, 0)).collect();
        while let Some((at, depth)) = pending.pop() {
            let track = &tracks[at];
            let is_closed = track.kind == TrackKind::Group && is_closed(track);
            layout.row_of_track[at] = u32::try_from(layout.rows.len()).ok();
            layout.rows.push(Row { depth, top_px, is_closed, ..Row::of(at, track) });
            top_px += height_px(track);
            if is_closed {
                // The tiles of one source do not show how busy the tracks of several are.
                if track.pin.is_none() {
                    layout.tiles_below.insert(at, tree.tiles_below(tracks, at));
                }
            } else {
                pending.extend(tree.children[at].iter().rev().map(|child| (*child, depth.saturating_add(1))));
            }
        }
        layout.pinned = layout.rows.partition_point(|row| tracks[row.track].pin.is_some());
        layout
    }

    /// Height of all rows in a view of this height, in which pinned rows scroll.
    fn shown_px(&self, view_px: f64) -> f64 {
        let pins_px = self.start_px(RowPart::Others);
        self.height_px() - pins_px + area_of_pins_px(pins_px, view_px)
    }

    /// Makes the rows of ranks so low that all rows fit into a height, if their lanes have a pixel
    /// then.
    fn fit(&mut self, tracks: &[SheetTrack], fit_px: f64) {
        let lanes = |row: &Row| tracks[row.track].rank.map(|_| f64::from(tracks[row.track].lanes.max(1)));
        let all: f64 = self.rows.iter().filter_map(lanes).sum();
        let ranks_px: f64 =
            self.rows.iter().filter(|row| lanes(row).is_some()).map(|row| row.height_px).sum();
        let others_px = self.shown_px(fit_px) - ranks_px;
        if all == 0.0 || others_px + ranks_px <= fit_px {
            return;
        }
        // Whole pixels: rows of equal height stay equal on the screen.
        let lane_px = ((fit_px - others_px) / all).floor().clamp(LEAST_LANE_PX, LANE_PX - 1.0);
        if lane_px < HEAT_BELOW_PX {
            self.rank_look = RankLook::Heat;
        }
        let mut top_px = 0.0;
        for row in &mut self.rows {
            if let Some(lanes) = lanes(row) {
                (row.lane_px, row.height_px) = (lane_px, lanes * lane_px);
            }
            row.top_px = top_px;
            top_px += row.height_px;
        }
    }

    /// The same rows, where those of tracks without anything in the window are low, and lanes at
    /// the end of a row, too. Fitted rows stay: they are low already. If nothing at all is in the
    /// window, all rows stay.
    #[must_use]
    pub fn shrunk(mut self, sheet: &Sheet, occupied: &Occupied) -> Self {
        if occupied.is_nothing() {
            return self;
        }
        let mut top_px = 0.0;
        for row in &mut self.rows {
            let track = sheet.tracks().get(row.track).filter(|_| !row.is_fitted());
            if let Some((track, lanes)) = track.and_then(|track| Some((track, occupied.lanes(track)?))) {
                row.shrink(track.lanes.max(1), lanes);
            }
            row.top_px = top_px;
            top_px += row.height_px;
        }
        self
    }

    /// The positions of a part's rows.
    #[must_use]
    pub fn positions(&self, part: RowPart) -> Range<usize> {
        match part {
            RowPart::Pinned => 0..self.pinned,
            RowPart::Others => self.pinned..self.rows.len(),
        }
    }

    /// Distance of a part's first row from the top of the first row.
    #[must_use]
    pub fn start_px(&self, part: RowPart) -> f64 {
        let first = self.positions(part).start;
        self.rows.get(first).map_or_else(|| self.height_px(), |row| row.top_px)
    }

    /// Height of all rows of a part.
    #[must_use]
    pub fn part_px(&self, part: RowPart) -> f64 {
        match part {
            RowPart::Pinned => self.start_px(RowPart::Others),
            RowPart::Others => self.height_px() - self.start_px(RowPart::Others),
        }
    }

    /// The part of a row.
    #[must_use]
    pub fn part_of(&self, row: &Row) -> RowPart {
        if row.top_px < self.start_px(RowPart::Others) { RowPart::Pinned } else { RowPart::Others }
    }

    /// Height of all rows.
    #[must_use]
    pub fn height_px(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.top_px + row.height_px)
    }

    /// The rows visible between two distances from the top.
    #[must_use]
    pub fn visible(&self, top_px: f64, bottom_px: f64) -> &[Row] {
        let first = self.rows.partition_point(|row| row.top_px + row.height_px <= top_px);
        let end = self.rows.partition_point(|row| row.top_px < bottom_px);
        &self.rows[first..end.max(first)]
    }

    /// The row at a distance from the top.
    #[must_use]
    pub fn row_at(&self, y_px: f64) -> Option<&Row> {
        self.visible(y_px, y_px + f64::EPSILON * y_px.abs().max(1.0)).first()
    }

    /// The tile groups that a row needs, with their source: the group of its track, or the groups
    /// of all slices below a closed group.
    pub fn tile_groups<'a>(
        &'a self,
        sheet: &'a Sheet,
        row: &Row,
    ) -> impl Iterator<Item = (SourceId, u32)> + 'a {
        let track = sheet.tracks().get(row.track);
        let below = self.tiles_below.get(&row.track).map_or(&[][..], Vec::as_slice);
        let groups = track.and_then(|track| track.group).into_iter().chain(below.iter().copied());
        // A group and its tracks have the same source.
        groups.filter_map(move |group| Some((track?.source, group)))
    }

    /// The row of a track, by index. `None` if a group above it is closed.
    #[must_use]
    pub fn row_of(&self, track: usize) -> Option<&Row> {
        self.rows.get((*self.row_of_track.get(track)?)? as usize)
    }
}

impl Row {
    /// The row of a track as high as usual, at the top.
    fn of(at: usize, track: &SheetTrack) -> Self {
        Self {
            track: at,
            depth: 0,
            top_px: 0.0,
            height_px: height_px(track),
            lane_px: LANE_PX,
            full_lanes: u32::MAX,
            empty_lane_px: 0.0,
            is_closed: false,
        }
    }

    /// Makes the lanes of a row low that have nothing in the window: of `lanes` all from `full` on.
    fn shrink(&mut self, lanes: u32, full: u32) {
        let Some(empty) = lanes.checked_sub(full).filter(|empty| *empty > 0) else { return };
        self.full_lanes = full;
        if full == 0 {
            self.height_px = EMPTY_PX;
            self.empty_lane_px = (EMPTY_PX - 2.0 * EMPTY_PADDING_PX) / f64::from(empty);
        } else {
            let empty_px = (f64::from(empty) * EMPTY_LANE_PX).min(EMPTY_PX);
            self.empty_lane_px = empty_px / f64::from(empty);
            self.height_px = f64::from(full) * self.lane_px + empty_px + 2.0 * PADDING_PX;
        }
    }

    /// Whether the row has nothing in the window, and is low because of that.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.full_lanes == 0
    }

    /// Whether the row is lower than usual, so that all rows fit into the view.
    #[must_use]
    pub fn is_fitted(&self) -> bool {
        self.lane_px < LANE_PX
    }

    fn padding_px(&self) -> f64 {
        match (self.is_fitted(), self.is_empty()) {
            (true, _) => 0.0,
            (false, true) => EMPTY_PADDING_PX,
            (false, false) => PADDING_PX,
        }
    }

    /// Distance of a lane's bars from the top of the first row, and their height.
    #[must_use]
    pub fn lane_px(&self, track: &SheetTrack, lane: u32) -> (f64, f64) {
        match track.kind {
            // Right below the calls of its rank.
            TrackKind::Counter if track.is_load() => (self.top_px, self.height_px - PADDING_PX),
            TrackKind::Counter | TrackKind::Group => {
                (self.top_px + PADDING_PX, self.height_px - 2.0 * PADDING_PX)
            }
            TrackKind::Slices if lane >= self.full_lanes => {
                let full_px = f64::from(self.full_lanes) * self.lane_px;
                let empty_px = f64::from(lane - self.full_lanes) * self.empty_lane_px;
                (self.top_px + self.padding_px() + full_px + empty_px, self.empty_lane_px)
            }
            TrackKind::Slices => {
                let gap_px = if self.lane_px < GAP_FROM_PX { 0.0 } else { 1.0 };
                let bar_px = if self.is_fitted() { self.lane_px - gap_px } else { BAR_PX };
                (self.top_px + self.padding_px() + f64::from(lane) * self.lane_px, bar_px)
            }
        }
    }

    /// Distance of a lane from the top of the first row. The first lane is as high as the row.
    #[must_use]
    pub fn top_of_lane_px(&self, track: &SheetTrack, lane: u32) -> f64 {
        match (track.kind, lane.min(track.lanes.saturating_sub(1))) {
            (TrackKind::Slices, lane @ 1..) => self.lane_px(track, lane).0,
            _ => self.top_px,
        }
    }

    /// The lane at a distance from the top of the first row.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the track's lanes"
    )]
    pub fn lane_at(&self, track: &SheetTrack, y_px: f64) -> u32 {
        match track.kind {
            TrackKind::Counter => 0,
            TrackKind::Group | TrackKind::Slices => {
                let y_px = (y_px - self.top_px - self.padding_px()).max(0.0);
                let lane = (y_px / self.lane_px).floor() as u32;
                let below_px = y_px - f64::from(self.full_lanes) * self.lane_px;
                let lane = match lane < self.full_lanes {
                    true => lane,
                    false => self.full_lanes.saturating_add((below_px / self.empty_lane_px).floor() as u32),
                };
                lane.min(track.lanes.saturating_sub(1))
            }
        }
    }
}

fn height_px(track: &SheetTrack) -> f64 {
    match track.kind {
        TrackKind::Group => GROUP_PX,
        TrackKind::Counter if track.is_load() => LOAD_PX,
        TrackKind::Counter => COUNTER_PX,
        TrackKind::Slices => f64::from(track.lanes.max(1)) * LANE_PX + 2.0 * PADDING_PX,
    }
}

/// Parents and children, by index.
struct Tree {
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl Tree {
    fn new(tracks: &[SheetTrack]) -> Self {
        let mut tree = Self { roots: Vec::new(), children: vec![Vec::new(); tracks.len()] };
        for (at, track) in tracks.iter().enumerate() {
            match track.parent {
                Some(parent) => tree.children[parent].push(at),
                None => tree.roots.push(at),
            }
        }
        tree.put_loads_below_calls(tracks);
        tree
    }

    /// The computation of a rank stands below its calls. A heading of nothing else goes.
    fn put_loads_below_calls(&mut self, tracks: &[SheetTrack]) {
        let key = |track: &SheetTrack| Some((track.source, track.rank?));
        let of_rank = |at: usize| Some((key(&tracks[at])?, at));
        let calls: HashMap<_, _> =
            (0..tracks.len()).filter(|at| !tracks[*at].is_load()).filter_map(of_rank).collect();
        let calls_of = |at: usize| calls.get(&key(&tracks[at])?).filter(|_| tracks[at].is_load());
        let with_calls = (0..tracks.len()).filter(|at| calls_of(*at).is_some());
        let groups: BTreeSet<usize> = gathered(with_calls.filter_map(|at| tracks[at].parent));
        for at in 0..tracks.len() {
            calls_of(at).into_iter().for_each(|calls| self.children[*calls].push(at));
        }
        for group in groups {
            self.children[group].retain(|at| calls_of(*at).is_none());
            if self.children[group].is_empty() {
                self.roots.retain(|root| *root != group);
            }
        }
    }

    fn leave_out_loads(&mut self, tracks: &[SheetTrack]) {
        for children in &mut self.children {
            children.retain(|at| !tracks[*at].is_load());
        }
    }

    /// The tile groups of all slices below a track, in order.
    fn tiles_below(&self, tracks: &[SheetTrack], at: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            pending.extend(&self.children[at]);
            found.extend(tracks[at].group.filter(|_| tracks[at].kind == TrackKind::Slices));
        }
        sort_by(&mut found, Ord::cmp);
        found.dedup();
        found
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! Places of rows and lanes, from tracks drawn as text.

use super::*;
use crate::view::fixture;
use crate::view::rows::sheet::tests::{sheet_of, sheet_with};
use nprof_engine::base::Interval;
use nprof_engine::model::SliceForm;
use nprof_engine::wire::catalog::Track;
use nprof_engine::wire::tile::{Content, TileLane, TileSlice};

/// Parses tracks from lines, with two spaces per level of the tree. `name*3` has three lanes,
/// `name~` is a counter, `name/` a group, and `name/-` a group that starts closed.
pub(crate) fn tracks(text: &str) -> Vec<Track> {
    let mut parents: Vec<u32> = Vec::new();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .enumerate()
        .map(|(at, line)| {
            let name = line.trim_start();
            parents.truncate((line.len() - name.len()) / 2);
            let id = 100 + at as u32;
            let parent = parents.last().copied();
            parents.push(id);
            let (kind, lanes, name) = if let Some((name, _)) = name.split_once('/') {
                (TrackKind::Group, 0, name)
            } else if let Some(name) = name.strip_suffix('~') {
                (TrackKind::Counter, 1, name)
            } else if let Some((name, lanes)) = name.split_once('*') {
                (TrackKind::Slices, lanes.parse().unwrap(), name)
            } else {
                (TrackKind::Slices, 1, name)
            };
            Track {
                id,
                parent,
                name: name.to_owned(),
                kind,
                lanes,
                rows: 1,
                group: (kind != TrackKind::Group).then_some(0),
                value_range: (kind == TrackKind::Counter).then_some((0.0, 100.0)),
                unit: String::new(),
                initially_closed: line.ends_with("/-"),
                rank: name.strip_prefix("Rank ").and_then(|number| number.parse().ok()),
                is_auxiliary: false,
                is_annotation: name.ends_with("annotations"),
                is_state: name == "Throttling",
                side: None,
            }
        })
        .collect()
}

const ENGINES: &str = "
Engines/
  Tensor*2
  Vector
DMA/-
  q0
  q1
Power~";

fn shown(rows: &[Row], sheet: &Sheet) -> String {
    let names = rows.iter().map(|row| {
        let name = &sheet.tracks()[row.track].name;
        format!("{}{name}@{}", "-".repeat(usize::from(row.depth)), row.top_px)
    });
    names.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(closed: &[&str], expected: &str) {
    let sheet = sheet_of(ENGINES);
    let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
    assert_eq!(shown(&layout.rows, &sheet), expected);
}

#[test]
fn closed_groups_hide_their_tracks() {
    check(&[], "Engines@0 -Tensor@24 -Vector@66 DMA@90 -q0@114 -q1@138 Power@162");
    check(&["DMA"], "Engines@0 -Tensor@24 -Vector@66 DMA@90 Power@114");
    check(&["DMA", "Engines"], "Engines@0 DMA@24 Power@48");
}

#[test]
fn children_stand_below_their_parent_whatever_the_order() {
    let mut tracks = tracks(ENGINES);
    // Both groups first, then their tracks, mixed.
    tracks.swap(1, 3);
    let sheet = sheet_with(tracks);
    let layout = Layout::new(&sheet, |_| false);
    assert_eq!(
        shown(&layout.rows, &sheet),
        "Engines@0 -Vector@24 -Tensor@48 DMA@90 -q0@114 -q1@138 Power@162"
    );
}

#[test]
fn rows_of_ranks_are_in_the_order_of_a_key() {
    let sheet = sheet_of("Rows/\n  all\nRanks/\n  Rank 0\n  Rank 1\n  Rank 2\nlast");
    let key = |rank| [5, 1, 5][rank as usize];
    let layout = Layout::of_ranks(&sheet, Some(RankRows { key, fit_px: None }), |_| false);
    assert_eq!(
        shown(&layout.rows, &sheet),
        "Rows@0 -all@24 Ranks@48 -Rank 1@72 -Rank 0@96 -Rank 2@120 last@144"
    );
    assert_eq!(layout.row_of(3).map(|row| row.top_px), Some(96.0));
}

#[test]
fn rows_of_ranks_get_lower_until_all_fit() {
    let sheet = sheet_of("all\nRanks/\n  Rank 0\n  Rank 1*2\n  Rank 2\nlast");
    let layout = |fit_px| {
        let ranks = RankRows { key: |rank| rank, fit_px: Some(fit_px) };
        Layout::of_ranks(&sheet, Some(ranks), |_| false)
    };
    let usual = "all@0 Ranks@24 -Rank 0@48 -Rank 1@72 -Rank 2@114 last@138";
    assert_eq!(shown(&layout(162.0).rows, &sheet), usual);
    let (fitted, low) = (layout(112.0), layout(10.0));
    let expected = "all@0 Ranks@24 -Rank 0@48 -Rank 1@58 -Rank 2@78 last@88";
    assert_eq!(shown(&fitted.rows, &sheet), expected);
    assert_eq!((fitted.height_px(), fitted.rank_look), (112.0, RankLook::Bars));
    assert_eq!((low.height_px(), low.rank_look), (76.0, RankLook::Heat));
    // Lanes are found where they are drawn.
    let (row, track) = (fitted.row_of(3).unwrap(), &sheet.tracks()[3]);
    for lane in 0..2 {
        let (top_px, bar_px) = row.lane_px(track, lane);
        assert_eq!((top_px, bar_px), (58.0 + 10.0 * f64::from(lane), 9.0));
        assert_eq!((row.lane_at(track, top_px), row.lane_at(track, top_px + bar_px)), (lane, lane));
    }
}

#[test]
fn computation_stands_below_the_calls_of_its_rank_while_there_is_room() {
    let sheet = sheet_of("Ranks/\n  Rank 0\n  Rank 1\n  Rank 2\nLoads/\n  Rank 2~\n  Rank 0~\nlast");
    let layout = |fit_px| {
        let ranks = RankRows { key: std::cmp::Reverse, fit_px };
        Layout::of_ranks(&sheet, Some(ranks), |track| track.name == "Loads")
    };
    let usual = "Ranks@0 -Rank 2@24 --Rank 2@48 -Rank 1@61 -Rank 0@85 --Rank 0@109 last@122";
    assert_eq!(shown(&layout(None).rows, &sheet), usual);
    assert_eq!(shown(&layout(Some(146.0)).rows, &sheet), usual);
    let fitted = layout(Some(145.0));
    assert_eq!(shown(&fitted.rows, &sheet), "Ranks@0 -Rank 2@24 -Rank 1@48 -Rank 0@72 last@96");
    let load = layout(None).rows[2];
    assert_eq!(load.lane_px(&sheet.tracks()[load.track], 0), (48.0, LOAD_PX - PADDING_PX));
}

/// Content of the window: a slice in each of these lanes of tracks.
fn occupied(sheet: &Sheet, lanes: &[(u32, u32)]) -> Occupied {
    let slice = TileSlice { start_ps: 0, duration_ps: 1, row: 0, name: 0, form: SliceForm::Complete };
    let lane = |&(track, lane): &(u32, u32)| TileLane { track, lane, content: Content::Slices(vec![slice]) };
    let tile = fixture::tile(1, &["x"], lanes.iter().map(lane).collect());
    let mut occupied = Occupied::default();
    occupied.add(&sheet.sources()[0], 0, Interval::new(0, 10), [&tile].into_iter());
    occupied
}

/// Lanes of a fraction of a pixel add up but for the last bits.
const ROUNDED_PX: f64 = 1e-9;

#[test]
fn rows_and_last_lanes_without_anything_in_the_window_are_low() {
    let sheet = sheet_of("Engines/\n  Tensor*3\n  Vector*2\n  Sync\nmany*40\nPower~");
    let usual = Layout::new(&sheet, |_| false);
    // Tracks are numbered from 100. Nothing is in Vector and in lanes 2 of Tensor and 1 to 39 of
    // many.
    let layout = usual.clone().shrunk(&sheet, &occupied(&sheet, &[(101, 1), (103, 0), (104, 0)]));
    assert_eq!(
        shown(&layout.rows, &sheet),
        "Engines@0 -Tensor@24 -Vector@68 -Sync@74 many@98 Power@128",
        "Tensor has 44 px, Vector 6 and many 30"
    );
    assert_eq!(layout.height_px(), 168.0);
    let empty: Vec<usize> = layout.rows.iter().filter(|row| row.is_empty()).map(|row| row.track).collect();
    assert_eq!(empty, [2]);
    // Lanes are found where they are drawn, and none leaves its row.
    for row in &layout.rows {
        let track = &sheet.tracks()[row.track];
        let mut end_px = row.top_px;
        for lane in 0..track.lanes {
            let (top_px, bar_px) = row.lane_px(track, lane);
            assert!(top_px >= end_px - ROUNDED_PX && bar_px > 0.0, "{} {lane}", track.name);
            end_px = top_px + bar_px;
            assert_eq!(row.lane_at(track, top_px + bar_px / 2.0), lane, "{}", track.name);
        }
        assert!(end_px <= row.top_px + row.height_px + ROUNDED_PX, "{}", track.name);
    }
}

#[test]
fn rows_keep_their_height_if_nothing_is_known_or_nothing_is_there() {
    let sheet = sheet_of("a*2\nRanks/\n  Rank 0\n  Rank 1");
    let usual = Layout::new(&sheet, |_| false);
    assert_eq!(usual.clone().shrunk(&sheet, &Occupied::default()), usual);
    assert_eq!(usual.clone().shrunk(&sheet, &occupied(&sheet, &[])), usual);
    // Rows of ranks stand for their ranks.
    let of_a = usual.clone().shrunk(&sheet, &occupied(&sheet, &[(100, 0)]));
    assert_eq!(shown(&of_a.rows, &sheet), "a@0 Ranks@26 -Rank 0@50 -Rank 1@74");
}

#[test]
fn only_rows_in_sight_are_visible() {
    let sheet = sheet_of(ENGINES);
    let layout = Layout::new(&sheet, |_| false);
    assert_eq!(shown(layout.visible(66.0, 114.0), &sheet), "-Vector@66 DMA@90");
    assert_eq!(layout.visible(500.0, 600.0), &[]);
    assert_eq!(layout.row_at(65.9).map(|row| row.track), Some(1));
    assert_eq!(layout.row_at(66.0).map(|row| row.track), Some(2));
    assert_eq!(layout.row_at(-1.0), None);
    assert_eq!(layout.height_px(), 202.0);
}

#[test]
fn closed_groups_need_the_tiles_of_all_slices_below() {
    let mut tracks = tracks("DMA/\n  Q1/\n    a\n    b\n  Q2/\n    c\n  Pending~\nPower~");
    for (at, track) in tracks.iter_mut().enumerate().filter(|(_, track)| track.group.is_some()) {
        track.group = Some(at as u32 / 2);
    }
    let sheet = sheet_with(tracks);
    let needed = |closed: &[&str]| -> Vec<Vec<u32>> {
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let groups = |row| layout.tile_groups(&sheet, row).map(|(_, group)| group).collect();
        layout.rows.iter().map(groups).collect()
    };
    assert_eq!(needed(&["DMA"]), [vec![1, 2], vec![3]]);
    assert_eq!(needed(&["Q1"]), [vec![], vec![1], vec![], vec![2], vec![3], vec![3]]);
}

#[test]
fn lanes_are_found_where_they_are_drawn() {
    let sheet = sheet_of(ENGINES);
    let layout = Layout::new(&sheet, |_| false);
    let (row, track) = (layout.row_of(1).unwrap(), &sheet.tracks()[1]);
    for lane in 0..2 {
        let (top, height) = row.lane_px(track, lane);
        assert_eq!(row.lane_at(track, top), lane);
        assert_eq!(row.lane_at(track, top + height), lane);
    }
    assert_eq!(row.lane_at(track, 1e9), 1);
    // A row that scrolls to a lane begins with that lane, and to its first one with itself.
    let tops = [0, 1, 9].map(|lane| row.top_of_lane_px(track, lane));
    assert_eq!(tops, [row.top_px, row.lane_px(track, 1).0, row.lane_px(track, 1).0]);
    let group = (layout.row_of(0).unwrap(), &sheet.tracks()[0]);
    assert_eq!(group.0.top_of_lane_px(group.1, 3), group.0.top_px);
}

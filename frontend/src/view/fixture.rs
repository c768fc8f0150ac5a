//! Slices and tiles for tests of the page.

use nprof_engine::model::SliceForm;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::tile::{Content, Tile, TileLane};

/// A slice without a name in the first lane of track 0.
pub(crate) fn slice(start_ps: i64, duration_ps: i64) -> SliceEntry {
    let name = String::new();
    SliceEntry { row: 0, track: 0, lane: 0, depth: 0, name, start_ps, duration_ps, form: SliceForm::Complete }
}

/// The details of a slice without fields and neighbours.
pub(crate) fn detail(slice: SliceEntry) -> SliceDetail {
    SliceDetail {
        slice,
        fields: Vec::new(),
        predecessors: Vec::new(),
        successors: Vec::new(),
        members: Vec::new(),
        transfers: Vec::new(),
    }
}

/// A tile from time zero. Names that begin with `wait` are those of waits.
pub(crate) fn tile(cell_ps: i64, names: &[&str], lanes: Vec<TileLane>) -> Tile {
    let waits = (0..).zip(names).filter(|(_, name)| name.starts_with("wait")).map(|(at, _)| at).collect();
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Tile { version: 1, start_ps: 0, cell_ps, names, waits, lanes }
}

/// The first lane of a track.
pub(crate) fn lane(track: u32, content: Content) -> TileLane {
    TileLane { track, lane: 0, content }
}

//! Any bytes as messages of a server to the page: a tile as its zstd frame, and plain messages.

use crate::bound::within_reader;
use nprof_engine::codec;
use nprof_engine::wire::catalog::{ProfileList, RankDetail};
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::detail::SliceDetail;
use nprof_engine::wire::refusal::Refusal;
use nprof_engine::wire::rows::TableRows;
use nprof_engine::wire::search::SearchResult;
use nprof_engine::wire::selection::SelectionSummary;
use nprof_engine::wire::summary::Summary;
use nprof_engine::wire::tile::Tile;
use nprof_engine::wire::window::WindowEvents;

/// Larger than any tile: the grid bounds the cells, and texts are cut before they are sent.
const TILE_LEN_MAX: usize = 1 << 20;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || read(bytes));
}

fn read(bytes: &[u8]) {
    let unpacked = codec::decompress(bytes, TILE_LEN_MAX);
    for message in [Some(bytes), unpacked.as_deref().ok()].into_iter().flatten() {
        check::<Tile>(message);
        check::<SliceDetail>(message);
        check::<Summary>(message);
        check::<ProfileList>(message);
        check::<RankDetail>(message);
        check::<CounterDetail>(message);
        check::<Refusal>(message);
        check::<TableRows>(message);
        check::<SearchResult>(message);
        check::<SelectionSummary>(message);
        check::<WindowEvents>(message);
    }
}

/// Every message that can be read can be written, and reads the same again.
fn check<T: serde::de::DeserializeOwned + serde::Serialize>(message: &[u8]) {
    if let Ok(value) = postcard::from_bytes::<T>(message) {
        let written = postcard::to_allocvec(&value).expect("memory is enough");
        let again: T = postcard::from_bytes(&written).expect("it was written by this very type");
        let rewritten = postcard::to_allocvec(&again).expect("memory is enough");
        assert_eq!(written, rewritten);
    }
}

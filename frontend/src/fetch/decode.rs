//! Decodes the bytes of answers. Bytes are checked: a damaged answer is an error, never a panic.

use nprof_engine::wire;
use nprof_engine::wire::ask::{AnswerForm as _, Ask};
use nprof_engine::wire::refusal::Refusal;
use nprof_engine::wire::tile::{Content, Tile};
use serde::de::DeserializeOwned;

use super::error::FetchError;

/// Limit of the unpacked size that a frame states. Tiles are below one MiB, programs below two.
const LARGEST_BYTES: u64 = 64 << 20;

/// The tile layout version that this page draws.
const TILE_VERSION: u16 = wire::VERSION;

/// Decodes a message in postcard.
pub fn message<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FetchError> {
    postcard::from_bytes(bytes).map_err(|_| FetchError::Unreadable { what: "not a message of this version" })
}

/// Decodes the answer to a question. An answer without bytes has no message: no message is empty.
pub fn answer<Q: Ask>(bytes: &[u8]) -> Result<Q::Answer, FetchError> {
    let answered = if bytes.is_empty() { None } else { Some(message(bytes)?) };
    Q::Answer::from_message(answered).ok_or(FetchError::Unreadable { what: "an answer without content" })
}

/// The bytes of a tile in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackedTile {
    /// A zstd frame with a postcard message inside.
    Frame(Vec<u8>),
    /// A postcard message.
    Message(Vec<u8>),
}

impl PackedTile {
    /// Decodes the tile.
    ///
    /// # Errors
    /// If the bytes are not a tile, or the tile contradicts itself.
    pub fn unpack(&self) -> Result<Tile, FetchError> {
        match self {
            Self::Frame(frame) => tile_of_message(&unpacked(frame, &[])?),
            Self::Message(bytes) => tile_of_message(bytes),
        }
    }
}

/// Unpacks a zstd frame that states its size. The dictionary can be empty.
///
/// # Errors
/// If the frame is damaged, or claims to be too large.
pub fn unpacked(frame: &[u8], dictionary: &[u8]) -> Result<Vec<u8>, FetchError> {
    let claimed = zstd::zstd_safe::get_frame_content_size(frame)
        .ok()
        .flatten()
        .ok_or(FetchError::Unreadable { what: "not a zstd frame with its size" })?;
    if claimed > LARGEST_BYTES {
        return Err(FetchError::Unreadable { what: "a frame of more than 64 MiB" });
    }
    let capacity =
        usize::try_from(claimed).map_err(|_| FetchError::Unreadable { what: "a frame too large" })?;
    zstd::bulk::Decompressor::with_dictionary(dictionary)
        .and_then(|mut decoder| decoder.decompress(frame, capacity))
        .map_err(|_| FetchError::Unreadable { what: "a damaged zstd frame" })
}

fn tile_of_message(bytes: &[u8]) -> Result<Tile, FetchError> {
    let tile: Tile = message(bytes)?;
    if tile.version != TILE_VERSION {
        return Err(FetchError::Unreadable { what: "a tile of another version" });
    }
    if !is_consistent(&tile) {
        return Err(FetchError::Unreadable { what: "a tile whose names are missing" });
    }
    Ok(tile)
}

/// Returns true if every name number of the tile has its text, so drawing need not check.
fn is_consistent(tile: &Tile) -> bool {
    let known = |name: u32| (name as usize) < tile.names.len();
    tile.cell_ps > 0
        && tile.lanes.iter().all(|lane| match &lane.content {
            Content::Slices(slices) => slices.iter().all(|slice| known(slice.name)),
            Content::Cells(cells) => cells.iter().all(|cell| known(cell.name)),
            Content::Limits(limits) => limits.iter().all(|limit| known(limit.name)),
            Content::Samples(_) | Content::Ranges(_) => true,
        })
}

/// The error for an answer with an HTTP status of failure. nprof says why in a message; a proxy
/// answers in another form.
#[must_use]
pub fn refusal(status: u16, body: &[u8]) -> FetchError {
    postcard::from_bytes::<Refusal>(body).map_or(FetchError::Status(status), FetchError::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::questions::{SliceQuestion, StepQuestion, TileQuestion};
    use nprof_engine::wire::refusal::RefusalKind;
    use nprof_engine::wire::tile::TileSlice;

    fn packed(tile: &Tile) -> Vec<u8> {
        zstd::bulk::compress(&postcard::to_allocvec(tile).unwrap(), 3).unwrap()
    }

    fn tile(frame: &[u8]) -> Result<Tile, FetchError> {
        PackedTile::Frame(frame.to_vec()).unpack()
    }

    fn sample() -> Tile {
        let slices = (0..40)
            .map(|at| TileSlice {
                start_ps: at * 20,
                duration_ps: 10,
                row: at as u32,
                name: 0,
                form: SliceForm::Complete,
            })
            .collect();
        let lane = fixture::lane(1, Content::Slices(slices));
        Tile { version: TILE_VERSION, ..fixture::tile(1024, &["matmul"], vec![lane]) }
    }

    #[test]
    fn packed_and_back() {
        assert_eq!(tile(&packed(&sample())), Ok(sample()));
        let message = postcard::to_allocvec(&sample()).unwrap();
        assert_eq!(PackedTile::Message(message).unpack(), Ok(sample()));
    }

    #[test]
    fn damaged_frames_are_refused_or_still_consistent() {
        let frame = packed(&sample());
        for keep in 0..frame.len() {
            assert!(tile(&frame[..keep]).is_err(), "cut at {keep}");
        }
        for at in 0..frame.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = frame.clone();
                damaged[at] ^= flip;
                if let Ok(tile) = tile(&damaged) {
                    assert!(is_consistent(&tile), "byte {at}");
                }
            }
        }
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Tile), expected: &str) {
        let mut changed = sample();
        change(&mut changed);
        let error = tile(&packed(&changed)).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn contradictions_are_refused() {
        check_refused(|tile| tile.names.clear(), "names are missing");
        check_refused(|tile| tile.version += 1, "another version");
    }

    #[test]
    fn an_answer_without_bytes_is_one_that_can_have_no_message() {
        assert_eq!(answer::<StepQuestion>(&[]), Ok(None));
        assert!(answer::<SliceQuestion>(&[]).is_err());
        assert!(answer::<StepQuestion>(&[0xff]).is_err());
        assert_eq!(answer::<TileQuestion>(&postcard::to_allocvec(&sample()).unwrap()), Ok(sample()));
    }

    #[test]
    fn refusals_are_read() {
        let said = Refusal::new(RefusalKind::NotFound, "no such rank");
        let body = postcard::to_allocvec(&said).unwrap();
        assert_eq!(refusal(404, &body), FetchError::Refused(said));
        assert_eq!(refusal(502, b"<html>"), FetchError::Status(502));
    }
}

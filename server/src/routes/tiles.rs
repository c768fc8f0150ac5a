//! Tiles. They are immutable, so the server cuts and caches them once, and browsers cache them for
//! ever.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nprof_engine::exec::Work;
use nprof_engine::tile::TileId;
use nprof_engine::wire::ask::{AskRank as _, Rank};
use nprof_engine::wire::questions::TileQuestion;
use nprof_engine::wire::tile::Tile;
use nprof_engine::wire::{POSTCARD_ZSTD, VERSION};

use crate::app::{App, OpenRank, SegmentTile};
use crate::http::error::ApiError;
use crate::http::negotiation::{Known, accepts, known};

/// Cache policy of tiles. A tile never changes, because its path names the content of its segment.
/// It is for those alone who may ask this server, so no proxy keeps it for others.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// Level 3 packs tiles at about 300 MB/s. Higher levels save little on about ten kilobytes. A new
/// context for each tile costs 10 µs. One that is used again costs 20: its tables are not in the
/// processor's cache.
const ZSTD_LEVEL: i32 = 3;

/// Form of a tile in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TileForm {
    /// A zstd frame with a postcard message.
    Frame,
    /// JSON, for people and scripts.
    Json,
}

/// Tag of the answer. The tag of a frame is strong: equal tags mean equal bytes. The server
/// compresses JSON for some clients, so its tag is weak.
fn etag(content: &str, id: TileId, packing: TileForm) -> String {
    let TileId { group, level, index } = id;
    let level = level.number();
    let (weak, form) = if packing == TileForm::Json { ("W/", "j") } else { ("", "z") };
    let content: String = content.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{weak}\"{content}-{VERSION}-{group}-{level}-{index}-{form}\"")
}

/// Whether the reply may need no tile to be cut: the tile is in the cache, or the client names a
/// tag. Does not block.
pub(super) fn may_be_kept(app: &App, question: &TileQuestion, headers: &HeaderMap) -> bool {
    let is_frame = !accepts(headers, "application/json");
    let is_cached = || app.kept_tile(&key(question)).is_some();
    headers.contains_key(header::IF_NONE_MATCH) || (is_frame && is_cached())
}

fn key(question: &TileQuestion) -> SegmentTile {
    SegmentTile { content: question.content.clone(), id: question.id }
}

/// The reply for a tile, if the rank still has its content. Without work that has a turn, `None`
/// unless no tile must be cut. Blocks.
pub(super) fn reply(
    app: &App,
    rank: &OpenRank,
    question: &TileQuestion,
    headers: &HeaderMap,
    turn: Option<Work<'_>>,
) -> Result<Option<Response>, ApiError> {
    rank.check_content(&question.content)?;
    let packing = if accepts(headers, "application/json") { TileForm::Json } else { TileForm::Frame };
    let cut = |work: Work<'_>| {
        work.cancel.check().map_err(|error| rank.refusal(error))?;
        question.answer(rank, work)
    };
    let etag = etag(&question.content, question.id, packing);
    let known = known(headers, &etag);
    if known == Known::This {
        return Ok(Some(not_modified(etag)));
    }
    let reply = match (packing, turn) {
        (TileForm::Json, None) => return Ok(None),
        (TileForm::Json, Some(work)) => axum::Json(cut(work)?).into_response(),
        (TileForm::Frame, turn) => {
            let frame = match turn {
                Some(work) => app.tile(&key(question), || frame(&cut(work)?))?,
                None => match app.kept_tile(&key(question)) {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };
            ([(header::CONTENT_TYPE, POSTCARD_ZSTD)], Bytes::from_owner(frame)).into_response()
        }
    };
    // Any tile is known, but only a tile that exists.
    if known == Known::Any {
        return Ok(Some(not_modified(etag)));
    }
    Ok(Some((cache_headers(etag), reply).into_response()))
}

fn not_modified(etag: String) -> Response {
    (StatusCode::NOT_MODIFIED, cache_headers(etag)).into_response()
}

fn cache_headers(etag: String) -> [(HeaderName, String); 3] {
    [
        (header::CACHE_CONTROL, FOR_EVER.to_owned()),
        (header::ETAG, etag),
        // The same path answers in two forms, depending on `Accept`.
        (header::VARY, "accept".to_owned()),
    ]
}

fn frame(tile: &Tile) -> Result<Arc<[u8]>, ApiError> {
    let failed =
        |error: &dyn std::fmt::Display| ApiError::Internal(format!("the tile could not be packed: {error}"));
    let bytes = postcard::to_allocvec(tile).map_err(|error| failed(&error))?;
    zstd::bulk::compress(&bytes, ZSTD_LEVEL).map(Arc::from).map_err(|error| failed(&error))
}

//! Tiles: immutable, so they are cut once, kept, and cached by the browser for ever.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nprof_engine::tile::{Level, TileId};
use nprof_engine::wire::tile::Tile;
use nprof_engine::wire::{self, POSTCARD_ZSTD, VERSION};
use serde::Deserialize;

use super::blocking;
use super::path::At;
use super::reply::accepts;
use crate::app::{App, OpenRank, TileKey};
use crate::error::ApiError;

/// A tile never changes: its path names the content that it is cut from.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Level 3 packs tiles at about 300 MB/s; higher ones win little on some ten kilobytes.
const ZSTD_LEVEL: i32 = 3;

/// Which tile.
#[derive(Debug, Deserialize)]
pub struct TilePath {
    slug: String,
    rank: u32,
    content: String,
    group: u32,
    level: u8,
    index: i64,
}

/// How a tile is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// A zstd frame with a postcard message.
    Frame,
    /// JSON, for people and scripts.
    Json,
}

impl TilePath {
    fn id(&self) -> Result<TileId, ApiError> {
        let level = Level::new(self.level).ok_or_else(|| {
            ApiError::NotFound(format!(
                "there is no level {}; the coarsest is {}",
                self.level,
                Level::COARSEST.number()
            ))
        })?;
        Ok(TileId { group: self.group, level, index: self.index })
    }

    fn key(&self) -> TileKey {
        TileKey { content: self.content.clone(), group: self.group, level: self.level, index: self.index }
    }

    /// Names the bytes of the answer. Strong: equal tags mean equal bytes.
    fn etag(&self, packing: Packing) -> String {
        let Self { content, group, level, index, .. } = self;
        let form = if packing == Packing::Json { "j" } else { "z" };
        let content: String = content.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("\"{content}-{VERSION}-{group}-{level}-{index}-{form}\"")
    }
}

/// `GET …/ranks/{rank}/tiles/{content}/{group}/{level}/{index}`
pub async fn read(
    State(app): State<App>,
    At(at): At<TilePath>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // In one go: no second thread has to wake up on the way to a tile that is kept.
    blocking(move || answer(&app, &at, &headers)).await
}

/// The answer. Blocks.
fn answer(app: &App, at: &TilePath, headers: &HeaderMap) -> Result<Response, ApiError> {
    let packing = if accepts(headers, "application/json") { Packing::Json } else { Packing::Frame };
    let id = at.id()?;
    let rank = app.rank(&at.slug, at.rank)?;
    if rank.file.tile_content() != at.content {
        return Err(ApiError::NotFound("the profile has been replaced: load it again".to_owned()));
    }
    let etag = at.etag(packing);
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    if known.flat_map(|value| value.split(',')).any(|tag| matches_tag(tag, &etag)) {
        return Ok((StatusCode::NOT_MODIFIED, cache_headers(etag)).into_response());
    }
    match packing {
        Packing::Json => {
            let tile = cut(&at.slug, &rank, id)?;
            Ok((cache_headers(etag), axum::Json(tile)).into_response())
        }
        Packing::Frame => {
            let frame = app.tile(&at.key(), || frame(&cut(&at.slug, &rank, id)?))?;
            let body = Bytes::from_owner(frame);
            Ok((cache_headers(etag), [(header::CONTENT_TYPE, POSTCARD_ZSTD)], body).into_response())
        }
    }
}

fn matches_tag(tag: &str, etag: &str) -> bool {
    let tag = tag.trim();
    tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
}

fn cache_headers(etag: String) -> [(HeaderName, String); 3] {
    [
        (header::CACHE_CONTROL, FOR_EVER.to_owned()),
        (header::ETAG, etag),
        // The same path answers in two forms.
        (header::VARY, "accept".to_owned()),
    ]
}

fn cut(slug: &str, rank: &OpenRank, id: TileId) -> Result<Tile, ApiError> {
    wire::answer::tile(&rank.segment, id).map_err(|error| ApiError::from(error).of(slug, rank))
}

fn frame(tile: &Tile) -> Result<Arc<[u8]>, ApiError> {
    let failed =
        |error: &dyn std::fmt::Display| ApiError::Internal(format!("the tile could not be packed: {error}"));
    let bytes = postcard::to_allocvec(tile).map_err(|error| failed(&error))?;
    zstd::bulk::compress(&bytes, ZSTD_LEVEL).map(Arc::from).map_err(|error| failed(&error))
}

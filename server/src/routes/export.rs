//! Download of a profile as a file.

use std::io::{self, BufWriter, Write};

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::{Channel, Sender};
use serde::Deserialize;
use tokio::runtime::Handle;

use super::blocking;
use super::path::At;
use super::profiles::ProfilePath;
use crate::app::App;
use crate::error::ApiError;
use crate::export::ExportError;
use crate::export::html::Html;

/// Limit of pieces that wait for the network. A slow client slows down the writer.
const WAITING: usize = 4;
/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 20;

/// Query of an export.
#[derive(Debug, Deserialize)]
pub struct ExportQuery {
    format: Format,
}

/// The formats that a browser downloads.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format {
    Html,
}

/// `GET /api/profiles/{slug}/export?format=html`
pub async fn read(
    State(app): State<App>,
    At(at): At<ProfilePath>,
    wanted: Result<Query<ExportQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(ExportQuery { format: Format::Html }) =
        wanted.map_err(|_| ApiError::BadRequest("the parameter \"format\" should be html".to_owned()))?;
    let (name, html) = blocking(move || {
        let profile = app.store().find(at.slug())?;
        let html = Html::of(&profile, &profile.manifest.ranks)?;
        Ok((format!("{}.html", profile.manifest.slug()), html))
    })
    .await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_LENGTH, html.size_bytes().to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        // The content is already compressed.
        (header::CONTENT_ENCODING, "identity".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    let (sender, body) = Channel::<Bytes, ExportError>::new(WAITING);
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || send(&html, sender, handle));
    Ok((headers, Body::new(body)).into_response())
}

/// Writes the file to the sender. Blocks. An error closes the connection, so that the browser
/// discards the file.
fn send(html: &Html, sender: Sender<Bytes, ExportError>, handle: Handle) {
    let mut out = BufWriter::with_capacity(PIECE_BYTES, Sending { sender, handle });
    let written = html.write(&mut out).and_then(|()| Ok(out.flush()?));
    if let Err(error) = written {
        tracing::debug!("the export ended early: {error}");
        let (sending, _) = out.into_parts();
        sending.sender.abort(error);
    }
}

/// A writer that sends its bytes in pieces.
struct Sending {
    sender: Sender<Bytes, ExportError>,
    handle: Handle,
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE_BYTES)];
        let sent = self.sender.send_data(Bytes::copy_from_slice(bytes));
        self.handle.block_on(sent).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

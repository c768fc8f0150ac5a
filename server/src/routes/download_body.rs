//! The body of a download: a worker writes it, and the network takes it piece by piece.

use std::io::{self, BufWriter, Write};

use axum::body::Bytes;
use http_body_util::channel::Sender;
use hyper::body::Frame;
use tokio::runtime::Handle;

use crate::app::App;
use crate::export::ExportError;
use crate::http::turns::{Turn, Weight};

/// Limit of pieces that wait for the network. A slow client slows down the writer.
pub(super) const WAITING: usize = 4;
/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 20;

/// The sending end of a body. If it is dropped before the end, the connection is closed, so that
/// the client discards the file.
pub(super) struct Sending {
    /// `None` after the end.
    sender: Option<Sender<Bytes, ExportError>>,
    handle: Handle,
    app: App,
    /// The turn of heavy work. `None` while the client is waited for.
    turn: Option<Turn>,
}

impl Sending {
    /// Sends to this channel, in turns with the heavy questions.
    pub(super) fn new(sender: Sender<Bytes, ExportError>, app: App, turn: Turn) -> Self {
        Self { sender: Some(sender), handle: Handle::current(), app, turn: Some(turn) }
    }

    /// Sends all that `write` writes. Blocks while the client is slow, and ends early if the client
    /// leaves.
    pub(super) fn send(self, write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>) {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, self);
        let written = write(&mut out).and_then(|()| Ok(out.flush()?));
        // After an error, the rest of the buffer is of no use.
        let (mut sending, _) = out.into_parts();
        match written {
            Ok(()) => drop(sending.sender.take()),
            Err(error) => {
                tracing::debug!("the export ended early: {error}");
                sending.abort(error);
            }
        }
    }

    fn abort(&mut self, error: ExportError) {
        if let Some(sender) = self.sender.take() {
            sender.abort(error);
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.abort(ExportError::Write(io::ErrorKind::BrokenPipe.into()));
    }
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE_BYTES)];
        let sender = self.sender.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let Err(late) = sender.try_send(Frame::data(Bytes::copy_from_slice(bytes))) else {
            return Ok(bytes.len());
        };
        // A slow client must not hold up the questions of others.
        drop(self.turn.take());
        self.handle.block_on(sender.send(late)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.turn = Some(self.handle.block_on(self.app.turns().wait(Weight::Heavy)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

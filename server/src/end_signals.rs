//! Signals that end the process: Ctrl-C and `SIGTERM`.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that ends the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    /// Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
}

impl EndSignal {
    /// The exit code that a shell reports for a program that the signal ended.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens for Ctrl-C and `SIGTERM` from its creation on, so none is missed before the first wait.
/// From then on these signals no longer end the process by themselves.
#[derive(Debug)]
pub struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl EndSignals {
    /// Starts to listen. Must be called inside a tokio runtime.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal. Several signals since the last call count as one.
    pub async fn next(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
        }
    }

    /// Waits for the next signal and ends the process at once, without cleaning up. The next
    /// command that opens the store clears `tmp/`.
    pub async fn exit_at_next(&mut self) {
        let ending = self.next().await;
        std::process::exit(i32::from(ending.exit_code()))
    }
}

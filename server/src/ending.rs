//! Being told to end: Ctrl-C, and `SIGTERM` where there is one.

use std::io;

/// Listens for Ctrl-C and `SIGTERM` from its making on, so that none is missed before somebody waits for it. From then
/// on they no longer end the process by themselves.
#[derive(Debug)]
pub struct EndSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl EndSignals {
    /// Begins to listen. To be called where a tokio runtime is entered.
    ///
    /// # Errors
    /// Where the system refuses.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Begins to listen. To be called where a tokio runtime is entered.
    ///
    /// # Errors
    /// Where the system refuses.
    #[cfg(windows)]
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    /// Waits for the next one. Several that came since the last call count as one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }
}

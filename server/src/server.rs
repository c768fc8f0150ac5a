//! The HTTP server: binds a port, answers requests, shuts down.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::access::Access;
use crate::app::App;
use crate::ending::EndSignals;
use crate::router::router;
use crate::store::Store;

/// Time that requests in flight get when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// Address and port to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The address; `None` is loopback.
    pub host: Option<IpAddr>,
    /// The port; 0 takes any free port.
    pub port: u16,
}

/// Errors of starting or running the server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another program listens on the port.
    #[error("port {port} is taken by another program; stop that program, or choose another port with --port")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The system refused to bind the address.
    #[error("cannot listen on {address} ({source}); choose another address with --host and --port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// Signals cannot be received, so only force could end the server.
    #[error("cannot listen for Ctrl-C: {0}")]
    Signals(#[source] io::Error),
    /// The listener failed.
    #[error("the server stopped after an error: {0}")]
    Serve(#[from] io::Error),
}

/// A bound server that does not answer requests yet.
pub struct Listening {
    listener: TcpListener,
    access: Access,
    address: SocketAddr,
    signals: EndSignals,
}

impl Place {
    /// Binds the port.
    ///
    /// # Errors
    /// If the port is taken, the address does not belong to this machine, or signals cannot be
    /// received.
    pub async fn listen(self) -> Result<Listening, ServerError> {
        let address = SocketAddr::new(self.host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), self.port);
        let bound = async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = bound.await.map_err(|source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortTaken { port: self.port },
            _ => ServerError::Bind { address, source },
        })?;
        let access = if self.host.is_none() { Access::Loopback } else { Access::AnyName };
        let signals = EndSignals::listen().map_err(ServerError::Signals)?;
        Ok(Listening { listener, access, address, signals })
    }
}

impl Listening {
    /// The URL for a browser, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        let ip = self.address.ip();
        let host = if ip.is_loopback() || ip.is_unspecified() {
            "localhost".to_owned()
        } else if ip.is_ipv6() {
            format!("[{ip}]")
        } else {
            ip.to_string()
        };
        format!("http://{host}:{}", self.address.port())
    }

    /// Answers requests until Ctrl-C or `SIGTERM`.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(self, store: Arc<Store>) -> Result<(), ServerError> {
        let app = App::new(store);
        let service = router(app.clone(), self.access);
        // The first list reads every manifest, so run it before a client waits for it. The next
        // list repeats its errors.
        let early = app.clone();
        drop(tokio::task::spawn_blocking(move || early.store().list().map(drop)));
        let (tell, mut told) = tokio::sync::watch::channel(());
        let mut signals = self.signals;
        let ended = async move {
            signals.next().await;
            app.jobs().cancel_all();
            tell.send_replace(());
            // A second signal does not wait for the requests in flight.
            drop(tokio::spawn(async move { signals.exit_at_next().await }));
        };
        let serving = axum::serve(self.listener, service).with_graceful_shutdown(ended).into_future();
        let too_long = async {
            // An error means that the sender's future was dropped. That also ends the server.
            let _ = told.changed().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = serving => Ok(served?),
            () = too_long => Ok(()),
        }
    }
}

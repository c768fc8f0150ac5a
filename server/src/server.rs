//! The HTTP server: binding, answering, ending.

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

/// Requests that are under way when the server ends have this long.
const GRACE: Duration = Duration::from_secs(5);

/// Where to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The address; `None` for loopback.
    pub host: Option<IpAddr>,
    /// The port; 0 for any that is free.
    pub port: u16,
}

/// Why the server did not start or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Somebody else listens there.
    #[error("port {port} is taken by another program; stop it, or choose another port with --port")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The system refused.
    #[error("cannot listen on {address} ({source}); choose another with --host and --port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Nobody could end it but by force.
    #[error("cannot listen for Ctrl-C: {0}")]
    Signals(#[source] io::Error),
    /// The connection was lost for good.
    #[error("the server ended: {0}")]
    Serve(#[from] io::Error),
}

/// A server that listens but does not answer yet.
pub struct Listening {
    listener: TcpListener,
    access: Access,
    address: SocketAddr,
    signals: EndSignals,
}

impl Place {
    /// Begins to listen.
    ///
    /// # Errors
    /// Where the port is taken, the address is not ours or signals cannot be heard.
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
    /// What to type into a browser, without a slash at the end.
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

    /// Answers until the process is told to end: by Ctrl-C or `SIGTERM`.
    ///
    /// # Errors
    /// Where the listener fails.
    pub async fn serve(self, store: Arc<Store>) -> Result<(), ServerError> {
        let app = App::new(store);
        let service = router(app.clone(), self.access);
        // The first list reads every manifest: before somebody waits for it. What it has to say, the next says again.
        let early = app.clone();
        drop(tokio::task::spawn_blocking(move || early.store().list().map(drop)));
        let (tell, mut told) = tokio::sync::watch::channel(());
        let mut signals = self.signals;
        let ended = async move {
            signals.next().await;
            app.jobs().cancel_all();
            tell.send_replace(());
        };
        let serving = axum::serve(self.listener, service).with_graceful_shutdown(ended).into_future();
        let too_long = async {
            // The sender goes with the future that holds it: either way the end has been asked for.
            let _ = told.changed().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = serving => Ok(served?),
            () = too_long => Ok(()),
        }
    }
}

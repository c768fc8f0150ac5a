//! The HTTP server: binds a port, answers requests, shuts down.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use crate::app::App;
use crate::child::IngestProcess;
use crate::end_signals::EndSignals;
use crate::http::access::{Access, Changes};
use crate::http::client_pace::Taken;
use crate::http::limits::{ConnectionLimits, Paced};
use crate::http::peer::Peer;
use crate::http::shares::{ResourceShare, Shares};
use crate::http::token::Token;
use crate::routes::router::router;
use crate::store::{Store, Sweeper};

/// Time that requests in flight get when the server ends.
pub const GRACE: Duration = Duration::from_secs(5);
/// Wait after the system refused a connection, for example because too many files are open.
const REFUSED_WAIT: Duration = Duration::from_millis(100);

/// Address to listen on, and the admitted clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddress {
    /// The address; `None` is loopback.
    pub host: Option<IpAddr>,
    /// The port; 0 takes any free port.
    pub port: u16,
    /// Further host names under which the server can be addressed.
    pub names: Vec<String>,
    /// Clients that may change the store, if other machines reach the server.
    pub changes: Changes,
}

/// Errors of starting or running the server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another program listens on the port.
    #[error(
        "port {port} is taken by another program, or by nprof with another store; stop that program, or choose another port with --port"
    )]
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
    /// The system gives no random numbers for the token.
    #[error("the system gives no random numbers for the token: {0}")]
    Token(#[from] getrandom::Error),
}

/// A bound server that does not answer requests yet.
pub struct Listening {
    listener: TcpListener,
    access: Access,
    address: SocketAddr,
    signals: EndSignals,
}

impl ListenAddress {
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
        let changes = if address.ip().is_loopback() { Changes::All } else { self.changes };
        let access = Access { token: Token::random()?, port: address.port(), names: self.names, changes };
        let signals = EndSignals::listen().map_err(ServerError::Signals)?;
        Ok(Listening { listener, access, address, signals })
    }
}

impl Listening {
    /// The rules of this server.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The bound address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until Ctrl-C or `SIGTERM`. Requests in flight then get [`GRACE`]. `process`
    /// reads uploads.
    pub async fn serve(self, store: Arc<Store>, process: IngestProcess) {
        let app = App::new(Arc::clone(&store), process);
        let closing = app.clone();
        let _sweeper = Sweeper::start(&store, move || closing.close_removed());
        // The first list reads every manifest, so run it before a client waits for it. The next
        // list repeats its errors.
        let early = app.clone();
        drop(tokio::task::spawn_blocking(move || early.store().list().map(drop)));
        let service = router(app.clone(), Arc::new(self.access));
        let connections = GracefulShutdown::new();
        let mut signals = self.signals;
        tokio::select! {
            () = accept(self.listener, &connections, service, ConnectionLimits::of_system()) => {}
            _ = signals.next() => {}
        }
        app.end();
        // A second signal does not wait for the requests in flight.
        drop(tokio::spawn(async move { signals.exit_at_next().await }));
        // Connections that are still open afterwards end with the runtime.
        let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
    }
}

/// Serves connections for ever. Closes those that are too many.
pub async fn accept(
    listener: TcpListener,
    connections: &GracefulShutdown,
    service: Router,
    limits: ConnectionLimits,
) {
    let slots = Shares::of(limits.connections as u64);
    loop {
        let (stream, remote) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!("a connection was refused: {error}");
                tokio::time::sleep(REFUSED_WAIT).await;
                continue;
            }
        };
        let Ok(local) = stream.local_addr() else { continue };
        let peer = Peer::of(remote, local);
        match slots.take(peer, 1) {
            Some(slot) => {
                let connection = ServedConnection { peer, slot, watcher: connections.watcher() };
                drop(tokio::spawn(connection.serve(stream, service.clone(), limits)));
            }
            None => tracing::debug!("a connection was closed: {peer:?} has too many"),
        }
    }
}

/// One accepted connection.
struct ServedConnection {
    peer: Peer,
    slot: ResourceShare,
    watcher: Watcher,
}

impl ServedConnection {
    /// Answers the requests of this connection.
    async fn serve(self, stream: TcpStream, service: Router, limits: ConnectionLimits) {
        let Self { peer, slot, watcher } = self;
        // Answers are small and must not wait for more.
        let _ = stream.set_nodelay(true);
        let stream = Taken::new(stream, limits);
        let answer = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| Body::new(Paced::new(body, limits)));
            request.extensions_mut().insert(peer);
            let service = service.clone();
            async move {
                Ok::<Response, Infallible>(service.oneshot(request).await.unwrap_or_else(|no| match no {}))
            }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header)
            .serve_connection(TokioIo::new(stream), answer);
        if let Err(error) = watcher.watch(served).await {
            tracing::debug!("a connection ended early: {error}");
        }
        drop(slot);
    }
}

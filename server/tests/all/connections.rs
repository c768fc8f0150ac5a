//! Limits of connections, at a real socket: their number, the time that a client may take, and the
//! user at the other end.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::routing::{get, post};
use hyper_util::server::graceful::GracefulShutdown;
use nprof_server::http::limits::ConnectionLimits;
use nprof_server::http::peer::Peer;
use nprof_server::listener::accept;
use tokio::runtime::Runtime;

use crate::cli::{Running, line_with};

/// Timeout of the tests. No answer takes this long.
const PATIENCE: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(200);
const HEAD: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n";
/// More than the buffers of a connection hold.
const LARGE_BYTES: usize = 64 << 20;

/// A server with these limits, until the runtime is dropped.
fn serve(limits: ConnectionLimits) -> (Runtime, SocketAddr) {
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let service = Router::new()
        .route(
            "/",
            get(|request: Request| async move { format!("{:?}", request.extensions().get::<Peer>()) }),
        )
        .route("/large", get(|| async { vec![0; LARGE_BYTES] }))
        .route("/slow", get(|| async { tokio::time::sleep(SHORT).await }))
        .route("/", post(|body: Bytes| async move { body.len().to_string() }));
    runtime.spawn(async move { accept(listener, &GracefulShutdown::new(), service, limits).await });
    (runtime, address)
}

fn limits() -> ConnectionLimits {
    ConnectionLimits {
        header: PATIENCE,
        stall: PATIENCE,
        least_bytes_per_s: 1,
        unread: PATIENCE,
        connections: 16,
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Everything that the server sends until it closes the connection.
fn rest(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("it stays open"),
        // A reset closes the connection as well.
        _ => String::from_utf8_lossy(&rest).into_owned(),
    }
}

/// The answer to a request on a connection that stays open.
fn is_answered(stream: &mut TcpStream) -> bool {
    let sent = stream.write_all(&[HEAD, b"\r\n"].concat());
    sent.is_ok() && stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0)
}

#[test]
fn a_header_that_never_ends_closes_the_connection() {
    let (_runtime, address) = serve(ConnectionLimits { header: SHORT, ..limits() });
    let mut half = connect(address);
    half.write_all(HEAD).unwrap();
    let mut idle = connect(address);
    assert!(is_answered(&mut idle));
    for stream in [half, idle, connect(address)] {
        assert_eq!(rest(stream), "");
    }
}

#[test]
fn a_client_that_sends_no_more_gets_its_answer() {
    let (_runtime, address) = serve(limits());
    let mut stream = connect(address);
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = rest(stream);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_body_that_never_ends_closes_the_connection() {
    let (_runtime, address) = serve(ConnectionLimits { stall: SHORT, ..limits() });
    let mut stream = connect(address);
    stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf").unwrap();
    let answer = rest(stream);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("the client sent too slowly"), "{answer}");
}

#[test]
fn an_answer_that_nobody_reads_closes_the_connection() {
    let (_runtime, address) = serve(ConnectionLimits { unread: SHORT, connections: 1, ..limits() });
    let mut reader = connect(address);
    reader.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    // Another connection finds a place as soon as the first one is closed.
    while !is_answered(&mut connect(address)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(rest(reader).len() < LARGE_BYTES);
}

#[test]
fn one_connection_too_many_is_closed_and_a_free_place_is_taken_again() {
    let (_runtime, address) = serve(limits());
    let mut open: Vec<TcpStream> = (0..16).map(|_| connect(address)).collect();
    assert!(open.iter_mut().all(is_answered));
    assert_eq!(rest(connect(address)), "");
    open.pop();
    while !is_answered(&mut connect(address)) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_may_open_as_many_files_as_the_system_allows() {
    let dir = tempfile::tempdir().unwrap();
    let script = "ulimit -Sn 64; exec \"$0\" --store \"$1\" serve --port 0";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_nprof")]).arg(dir.path().join("store"));
    let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut out = BufReader::new(running.0.stdout.take().unwrap());
    // Without a server, these are the limits of the shell, which can be equal too.
    line_with(&mut out, "View a list of profiles at ");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", running.0.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    assert_eq!(words[3], words[4], "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn linux_tells_who_is_at_the_other_end() {
    let (_runtime, address) = serve(limits());
    let mut own = connect(address);
    own.write_all(&[HEAD, b"Connection: close\r\n\r\n"].concat()).unwrap();
    assert!(rest(own).ends_with("Some(SameUser)"));
    // Only root can start a process of another user.
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not run as root");
        return;
    }
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
        address.port()
    );
    let mut other = Command::new("bash");
    std::os::unix::process::CommandExt::uid(&mut other, 1234);
    let said = other.args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.ends_with("Some(Local(Some(1234)))"), "{said}");
}

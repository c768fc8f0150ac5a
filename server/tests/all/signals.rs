//! Ctrl-C: an ingest is cancelled and leaves nothing in the store; a server ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Timeout. No step takes this long on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn nprof(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
    command.arg("--store").arg(store).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Sends the signal that a terminal sends on Ctrl-C.
fn interrupt(child: &Child) {
    send("INT", child);
}

fn send(signal: &str, child: &Child) {
    let done = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(done.success());
}

fn ended(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).map(Iterator::count).unwrap_or(0)
}

/// Writes a trace that is large enough to interrupt its ingest.
fn write_trace(path: &Path) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(b"[").unwrap();
    for at in 0..600_000 {
        writeln!(
            file,
            r#"{{"name":"op","ph":"X","ts":{at},"dur":0.5,"pid":1,"tid":2,"args":{{"n":"v{at}"}}}},"#
        )
        .unwrap();
    }
}

#[test]
fn an_interrupted_ingest_leaves_nothing_and_says_so() {
    check_it_ends("INT", 130);
}

#[test]
fn a_terminated_ingest_leaves_nothing_and_says_so() {
    check_it_ends("TERM", 143);
}

#[track_caller]
fn check_it_ends(signal: &str, code: i32) {
    let directory = tempfile::tempdir().unwrap();
    let (trace, store) = (directory.path().join("trace.json"), directory.path().join("store"));
    write_trace(&trace);
    let mut child = nprof(&store).arg("ingest").arg(&trace).spawn().unwrap();
    let start = Instant::now();
    while entries(&store.join("tmp")) == 0 {
        assert!(start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none(), "no file was begun");
        std::thread::sleep(Duration::from_millis(1));
    }
    send(signal, &child);
    let status = ended(&mut child);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(code), "{said}");
    assert_eq!(
        said.lines().filter(|line| line.contains("cancelled; the store is unchanged")).count(),
        1,
        "{said}"
    );
    assert_eq!((entries(&store.join("tmp")), entries(&store.join("profiles"))), (0, 0));
}

#[test]
fn an_interrupted_server_ends_well() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = nprof(&directory.path().join("store")).args(["serve", "--port", "0"]).spawn().unwrap();
    let mut line = String::new();
    // From here on nobody reads the server's output. That must not end the server.
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    // A browser keeps its connection open. That must not delay the end.
    let mut browser = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    browser.write_all(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    browser.read_exact(&mut [0; 12]).unwrap();
    let start = Instant::now();
    interrupt(&child);
    let status = ended(&mut child);
    assert_eq!(status.code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(10), "it took {:?} to end", start.elapsed());
}

#[test]
fn a_second_signal_waits_for_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = nprof(&directory.path().join("store")).args(["serve", "--port", "0"]).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let port = line.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    // An upload whose body does not come is a request in flight.
    let mut client = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let head = "POST /api/profiles?name=a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n[";
    client.write_all(head.as_bytes()).unwrap();
    let start = Instant::now();
    while entries(&directory.path().join("store/tmp")) == 0 {
        assert!(start.elapsed() < PATIENCE, "the upload was not begun");
        std::thread::sleep(Duration::from_millis(1));
    }
    send("TERM", &child);
    // The first signal closes the port.
    while TcpStream::connect(format!("127.0.0.1:{port}")).is_ok() {
        assert!(start.elapsed() < PATIENCE, "the server goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
    send("TERM", &child);
    assert_eq!(ended(&mut child).code(), Some(143), "after the grace it would end with 0");
}

//! Files that become shorter while nprof reads them: a segment under a server is an error of its
//! rank, an input is an error of its ingest. Neither ends the process by a signal.

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{Running, line_with, nprof, run, succeed};
use crate::stage::TRACE;

/// Timeout. No step takes this long on any machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Rows of a trace whose segment stores columns in separate pieces of the file, in several regions
/// of it.
const ROWS: usize = 40_000;

fn write_trace(path: &Path, name: &str, rows: usize) {
    let event = |at: usize| {
        // Numbers that no codec makes smaller.
        let odd = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 12;
        format!(
            r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":1,"name":"{name}","args":{{"n":"v{at}","odd":{odd}}}}}"#,
            2 * at
        )
    };
    let counter = r#"{"ph":"C","pid":1,"ts":0,"name":"memory","args":{"bytes":5}}"#;
    let events: Vec<String> = (0..rows).map(event).collect();
    fs::write(path, format!("[{counter},{}]", events.join(",\n"))).unwrap();
}

fn shrink(path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

/// Status and body of an answer.
fn ask(port: &str, path: &str) -> (String, Value) {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    // A tile is no text.
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: no answer"));
    let status = head.split(' ').nth(1).unwrap().to_owned();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Questions that need bytes of the segment.
fn questions(port: &str, rank: &str) -> Vec<String> {
    let (status, detail) = ask(port, rank);
    assert_eq!(status, "200");
    let (content, group) = (&detail["entry"]["content"], &detail["groups"][0]["id"]);
    let span = "start_ps=0&end_ps=1000000000";
    let of_rank = [
        "slices/100".to_owned(),
        "slices/100/step?direction=next".to_owned(),
        format!("events?{span}"),
        format!("selection?{span}"),
        "search?q=v77".to_owned(),
        "tables/slice".to_owned(),
        "tables/counter".to_owned(),
        format!("tiles/{}/{group}/10/0", content.as_str().unwrap()),
    ];
    of_rank.map(|question| format!("{rank}/{question}")).to_vec()
}

#[test]
fn a_segment_that_shrinks_under_a_server_is_an_error_of_its_rank() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let traces = ["rank0.json", "rank1.json"].map(|name| dir.path().join(name));
    traces.iter().for_each(|path| write_trace(path, "op", ROWS));
    let [first, second] = traces.each_ref().map(|path| path.to_str().unwrap());
    succeed(&store, &["ingest", first, second, "--db-bucket", "two"]);
    let mut command = nprof(&store);
    command.args(["serve", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let mut out = BufReader::new(running.0.stdout.take().unwrap());
    let link = line_with(&mut out, "View a list of profiles at http://localhost:");
    let port = link.split('/').next().unwrap();
    let ranks = ["/api/profiles/two/ranks/0", "/api/profiles/two/ranks/1"].map(|rank| questions(port, rank));

    let profiles = fs::read_dir(store.join("profiles")).unwrap().map(|entry| entry.unwrap().path());
    let segment = profiles.map(|profile| profile.join("rank_0.nseg")).find(|path| path.exists()).unwrap();
    shrink(&segment, 100);
    let mut errors = 0;
    for (question, of_whole) in ranks[0].iter().zip(&ranks[1]) {
        let (status, whole) = ask(port, of_whole);
        assert_eq!(status, "200", "{of_whole}: {whole}");
        let (status, body) = ask(port, question);
        if status == "200" {
            // The process keeps regions of the file. Both ranks have the same content.
            assert_eq!(body, whole, "{question}");
            continue;
        }
        errors += 1;
        assert_eq!(status, "500", "{question}: {body}");
        let said = body["error"].as_str().unwrap();
        assert!(said.starts_with("profile \"two\" rank 0: the file is cut off: "), "{question}: {said}");
    }
    assert!(errors > 0, "no question needs a byte that is not kept");
    assert_eq!(ask(port, "/api/health").0, "200");
    assert_eq!(ask(port, "/api/profiles/two").0, "200");
    assert!(running.0.try_wait().unwrap().is_none(), "the server lives");

    let verified = run(&store, &["verify"]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(said.starts_with("two rank 0: rank_0.nseg: the file is cut off"), "{said}");
}

fn ended(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < PATIENCE, "no end of the ingest");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_input_that_shrinks_ends_its_ingest_with_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, store) = (dir.path().join("trace.json"), dir.path().join("store"));
    write_trace(&trace, "op", 600_000);
    let mut command = nprof(&store);
    command.arg("ingest").arg(&trace).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let start = Instant::now();
    while fs::read_dir(store.join("tmp")).map_or(0, Iterator::count) == 0 {
        assert!(start.elapsed() < PATIENCE, "no file was begun");
        std::thread::sleep(Duration::from_millis(1));
    }
    shrink(&trace, 0);
    let status = ended(&mut running.0);
    let mut said = String::new();
    running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(1), "{status}: {said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("Reading ")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains("trace.json: the file became shorter"), "{said}");

    // The store is as before, and the next ingest clears what is left.
    assert!(succeed(&store, &["list"]).contains("no profiles"));
    fs::write(&trace, TRACE).unwrap();
    succeed(&store, &["ingest", trace.to_str().unwrap()]);
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0);
}

//! Uploads are read by a process of their own: whatever ends it is an error of that upload.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use flate2::Compression;
use flate2::write::GzEncoder;
use nprof_engine::wire::job::JobState;
use nprof_server::app::App;
use nprof_server::child::{ARGUMENT, IngestProcess, Limits};
use nprof_server::routes::router::router;
use rustix::process::{Pid, Resource, Rlimit, Signal, getpgid, getrlimit, kill_process, prlimit};
use serde_json::Value;

use crate::cli::{Running, line_with, nprof};
use crate::stage::{Stage, TRACE, process, request};

/// Timeout. No step takes this long on any machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Events of a trace whose ingest takes long enough to meet it.
const MANY: usize = if cfg!(debug_assertions) { 400_000 } else { 3_000_000 };

/// A trace of [`MANY`] events with different texts.
fn large_trace() -> String {
    let event = |at: usize| {
        format!(r#"{{"name":"op","ph":"X","ts":{at},"dur":0.5,"pid":1,"tid":2,"args":{{"n":"v{at}"}}}}"#)
    };
    format!("[{}]", (0..MANY).map(event).collect::<Vec<_>>().join(",\n"))
}

/// `nprof serve` with a store of its own.
struct Server {
    dir: tempfile::TempDir,
    running: Running,
    port: String,
}

impl Server {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = nprof(&dir.path().join("store"));
        command.args(["serve", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = Running(command.spawn().unwrap());
        let mut out = BufReader::new(running.0.stdout.take().unwrap());
        let link = line_with(&mut out, "View a list of profiles at http://localhost:");
        Self { dir, running, port: link.split('/').next().unwrap().to_owned() }
    }

    /// The JSON body of an answer, `Null` if it has none.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost:{}\r\nContent-Length: {length}\r\n\r\n{body}",
            self.port
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 20"), "{method} {path}: {answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or(Value::Null)
    }

    /// Sends a trace and returns the path of its job.
    fn send(&self, trace: &str) -> String {
        let job = self.ask("POST", "/api/profiles?name=sent.json", trace);
        format!("/api/jobs/{}", job["id"])
    }

    fn end_of(&self, job: &str) -> Value {
        wait_for("the end of a job", || {
            let report = self.ask("GET", job, "");
            ["done", "failed", "cancelled"].contains(&report["state"].as_str().unwrap()).then_some(report)
        })
    }

    /// The process that reads an upload, when it has begun to read.
    fn child(&self, job: &str) -> Pid {
        wait_for("the first event", || {
            let report = self.ask("GET", job, "");
            assert!(report["state"] != "done", "too fast to meet it: {report}");
            (report["state"] == "reading" && report["events"].as_u64() > Some(0)).then_some(())
        });
        let server = i32::try_from(self.running.0.id()).unwrap();
        wait_for("a child", || children(server).first().copied())
    }

    fn staged(&self) -> Vec<PathBuf> {
        let tmp = fs::read_dir(self.dir.path().join("store/tmp")).unwrap();
        tmp.map(|entry| entry.unwrap().path()).collect()
    }

    /// Checks that a job failed for this reason, and that nothing else happened.
    #[track_caller]
    fn check_failed(&self, job: &str, reason: &str) {
        let report = self.end_of(job);
        assert_eq!(report["state"], "failed", "{report}");
        let error = report["error"].as_str().unwrap();
        assert!(error.contains(reason) && error.ends_with("; the store is unchanged"), "{error}");
        assert!(!error.contains(['\n', '/']), "one line without paths: {error}");
        self.check_fine();
    }

    /// Checks that nothing is left of other uploads, and that a further one becomes a profile.
    fn check_fine(&self) {
        assert_eq!(self.staged(), Vec::<PathBuf>::new());
        assert_eq!(self.ask("GET", "/api/profiles", "")["profiles"].as_array().unwrap().len(), 0);
        let next = self.end_of(&self.send(TRACE));
        assert_eq!(next["state"], "done", "{next}");
    }
}

#[track_caller]
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "no sign of {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// State and parent of a process, if it is there.
fn stat(pid: &Path) -> Option<(String, i32)> {
    let stat = fs::read_to_string(pid.join("stat")).ok()?;
    // The name before it can hold any character.
    let mut words = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

fn children(of: i32) -> Vec<Pid> {
    let all = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let own = all.filter(|path| stat(path).is_some_and(|(_, parent)| parent == of));
    own.filter_map(|path| Pid::from_raw(path.file_name()?.to_str()?.parse().ok()?)).collect()
}

fn wait_until_gone(child: Pid) {
    let path = PathBuf::from(format!("/proc/{child}"));
    // A zombie has ended. Somebody else collects it.
    wait_for("the end of a child", || stat(&path).is_none_or(|(state, _)| state == "Z").then_some(()));
}

#[test]
fn a_killed_child_fails_its_upload_and_nothing_else() {
    let server = Server::start();
    let job = server.send(&large_trace());
    kill_process(server.child(&job), Signal::KILL).unwrap();
    server.check_failed(&job, "the process was killed");
}

#[test]
fn a_child_has_limits_and_is_the_first_to_go() {
    let server = Server::start();
    // Without this, the limit of cores can be zero for the whole system.
    let maximum = getrlimit(Resource::Core).maximum;
    let of_server = Some(Pid::from_child(&server.running.0));
    prlimit(of_server, Resource::Core, Rlimit { current: maximum, maximum }).unwrap();
    let trace = large_trace();
    let job = server.send(&trace);
    let process = server.child(&job);
    // A terminal sends Ctrl-C to the whole group of the server.
    assert_eq!(getpgid(Some(process)).unwrap(), process);
    let child = PathBuf::from(format!("/proc/{process}"));
    let read = |name: &str| fs::read_to_string(child.join(name)).unwrap();
    let (limits, score) = (read("limits"), read("oom_score_adj"));
    let Limits { memory_bytes, base_seconds, seconds_per_mib } = Limits::default();
    let mib = trace.len().div_ceil(1 << 20) as u64;
    for (name, limit) in [
        ("Max data size", memory_bytes),
        ("Max cpu time", base_seconds + mib * seconds_per_mib),
        ("Max core file size", 0),
    ] {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        let soft = line[name.len()..].split_ascii_whitespace().next().unwrap();
        assert_eq!(soft, limit.to_string(), "{line}");
    }
    assert_eq!(score.trim(), "1000");
}

#[test]
fn a_child_that_crashes_fails_its_upload_and_nothing_else() {
    let server = Server::start();
    let job = server.send(&large_trace());
    kill_process(server.child(&job), Signal::ILL).unwrap();
    server.check_failed(&job, "a bug in nprof");
}

#[test]
fn an_upload_that_shrinks_fails_and_nothing_else() {
    let server = Server::start();
    let job = server.send(&large_trace());
    server.child(&job);
    let [staging] = &server.staged()[..] else { panic!("{:?}", server.staged()) };
    fs::File::options().write(true).open(staging.join("upload/0/sent.json")).unwrap().set_len(0).unwrap();
    server.check_failed(&job, "became shorter");
}

#[test]
fn a_cancelled_upload_has_no_child_any_more() {
    let server = Server::start();
    let job = server.send(&large_trace());
    let child = server.child(&job);
    // A child that does nothing cannot end by itself.
    kill_process(child, Signal::STOP).unwrap();
    server.ask("DELETE", &job, "");
    wait_until_gone(child);
    assert_eq!(server.end_of(&job)["state"], "cancelled");
    server.check_fine();
}

#[test]
fn a_server_takes_its_child_with_it() {
    for signal in [Signal::KILL, Signal::TERM] {
        let mut server = Server::start();
        let job = server.send(&large_trace());
        let child = server.child(&job);
        kill_process(Pid::from_child(&server.running.0), signal).unwrap();
        wait_until_gone(child);
        server.running.0.wait().unwrap();
        let is_complete = |dir: &PathBuf| dir.join("profile/manifest.json").exists();
        assert!(!server.staged().iter().any(is_complete), "the child did not end by itself");
        let listed = nprof(&server.dir.path().join("store")).arg("list").output().unwrap();
        assert!(String::from_utf8_lossy(&listed.stdout).contains("no profiles"), "{listed:?}");
    }
}

/// A small file with 30 million events.
fn bomb() -> Vec<u8> {
    let packed = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let event = r#"{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"n","args":{"a":[1,2,3],"b":"c"}},"#;
    let events = packed(&event.repeat(10_000));
    [packed("["), events.repeat(3_000)].concat()
}

/// Sends [`bomb`] to a server whose children have these limits.
async fn check_limited(limits: Limits, reason: &str) {
    let mut stage = Stage::new();
    let limited = IngestProcess { limits, ..process() };
    stage.app = App::new(Arc::clone(&stage.store), limited);
    stage.service = router(stage.app.clone(), Arc::new(stage.access.clone()));
    let sent = request("POST", "/api/profiles?name=t.json.gz").body(Body::from(bomb())).unwrap();
    let job = stage.ask(sent).await.json()["id"].as_u64().unwrap();
    let refused = stage.app.jobs().find(job).unwrap().outcome().await.unwrap_err().into_response();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let error = stage.json(&format!("/api/jobs/{job}")).await["error"].as_str().unwrap().to_owned();
    assert!(error.contains(reason) && !error.contains('\n'), "{error}");
    assert_eq!(stage.staged(), 0);
    let profiles = stage.json("/api/profiles").await;
    assert_eq!(profiles["profiles"].as_array().unwrap().len(), 1, "{profiles}");
}

#[tokio::test]
async fn a_trace_that_needs_too_much_memory_is_refused() {
    let limits = Limits { memory_bytes: 48 << 20, ..Limits::default() };
    check_limited(limits, "more memory than the limit of 48 MiB").await;
}

#[tokio::test]
async fn a_trace_that_needs_too_much_time_is_refused() {
    let limits = Limits { base_seconds: 1, seconds_per_mib: 0, ..Limits::default() };
    check_limited(limits, "more processor time").await;
}

#[test]
fn the_argument_of_a_child_does_nothing_for_anybody_else() {
    let dir = tempfile::tempdir().unwrap();
    let order = [b"nprof order 0.0.0\n".to_vec(), vec![0xff; 64]].concat();
    for input in [&b""[..], b"{}", &order] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
        command.arg(ARGUMENT).env("NPROF_STORE", dir.path().join("store")).stdin(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.lines().count() == 1 && said.contains("run `nprof ingest FILE`"), "{said}");
    }
    assert!(!dir.path().join("store").exists());
    // With another argument it is not one of a child.
    let output = Command::new(env!("CARGO_BIN_EXE_nprof")).args([ARGUMENT, "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test]
async fn a_program_that_is_no_nprof_is_an_error_of_the_upload() {
    for program in ["/nonexistent/nprof", "/bin/true", "/bin/cat"] {
        let mut stage = Stage::new();
        let other = IngestProcess { program: program.into(), ..process() };
        stage.app = App::new(Arc::clone(&stage.store), other);
        let upload = stage.store.stage().unwrap();
        let file = upload.scratch_path("trace.json");
        fs::write(&file, "[]").unwrap();
        let job = stage.app.jobs().start(upload, vec![file], "trace.json".to_owned(), Default::default());
        assert!(job.outcome().await.is_err(), "{program}");
        assert_eq!(stage.staged(), 0);
    }
}

#[tokio::test]
async fn one_upload_is_read_at_a_time() {
    let mut stage = Stage::new();
    let dir = tempfile::tempdir().unwrap();
    // It never ends by itself, so the second upload has to wait.
    let program = dir.path().join("idle");
    fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    stage.app = App::new(Arc::clone(&stage.store), IngestProcess { program, ..process() });
    let start = || {
        let upload = stage.store.stage().unwrap();
        stage.app.jobs().start(upload, Vec::new(), "trace.json".to_owned(), Default::default())
    };
    let (first, second) = (start(), start());
    // The only thread of this test runs both jobs in between.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(first.report().state != JobState::Waiting);
    assert_eq!(second.report().state, JobState::Waiting);
    first.cancel();
    assert!(first.outcome().await.is_err());
    while second.report().state == JobState::Waiting {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    second.cancel();
    assert!(second.outcome().await.is_err());
    assert_eq!(stage.staged(), 0);
}

#[tokio::test]
async fn an_upload_that_ends_after_the_signal_is_not_published() {
    let stage = Stage::new();
    let start = |slug: &str| {
        let upload = stage.store.stage().unwrap();
        let trace = upload.scratch_path("trace.json");
        fs::write(&trace, TRACE).unwrap();
        let settings =
            nprof_server::ingest::IngestSettings { slug: Some(slug.parse().unwrap()), ..Default::default() };
        stage.app.jobs().start(upload, vec![trace], "trace.json".to_owned(), settings)
    };
    start("before").outcome().await.unwrap();
    stage.app.jobs().cancel_all();
    let late = start("after");
    assert!(late.outcome().await.is_err());
    assert_eq!(serde_json::to_value(late.report()).unwrap()["state"], "cancelled");
    let profile = stage.store.find("before").unwrap();
    assert!(!profile.manifest.has_name("after"), "the name of the late upload was not added");
}

/// A stack that no address space holds stands for a system that allows no further thread.
#[tokio::test]
async fn a_child_without_threads_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("nprof");
    let nprof = env!("CARGO_BIN_EXE_nprof");
    fs::write(&program, format!("#!/bin/sh\nRUST_MIN_STACK={} exec {nprof} \"$@\"\n", 1_u64 << 46)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut stage = Stage::new();
    stage.app = App::new(Arc::clone(&stage.store), IngestProcess { program, ..process() });
    stage.service = router(stage.app.clone(), Arc::new(stage.access.clone()));
    let body = "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"t.json\"\r\n\r\n[]\r\n--cut--\r\n";
    let sent = request("POST", "/api/profiles").header("content-type", "multipart/form-data; boundary=cut");
    let answer = stage.ask(sent.body(Body::from(body)).unwrap()).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.text());
    let said = answer.text();
    assert!(said.contains("allows no more threads") && !said.contains("bug"), "{said}");
}

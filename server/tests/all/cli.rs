//! The program as a user runs it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::stage::{TRACE, shared};

pub fn nprof(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
    command.env("NPROF_STORE", store).env_remove("NPROF_LOG").stdin(Stdio::null());
    command
}

pub fn run(store: &Path, args: &[&str]) -> Output {
    nprof(store).args(args).output().unwrap()
}

#[track_caller]
pub fn succeed(store: &Path, args: &[&str]) -> String {
    let output = run(store, args);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {err}");
    out.into_owned()
}

#[track_caller]
pub fn fail(store: &Path, args: &[&str], code: i32) -> String {
    let output = run(store, args);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    err
}

pub fn stage() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace.json");
    fs::write(&trace, TRACE).unwrap();
    let trace = trace.to_str().unwrap().to_owned();
    (dir, trace)
}

#[test]
fn ingest_list_summary_remove() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    assert!(succeed(&store, &["list"]).contains("no profiles"));
    let said = succeed(&store, &["ingest", &trace, "--db-bucket", "my run"]);
    assert_eq!(said, "Profile \"my-run\" is ready to view\n");
    let list = succeed(&store, &["list"]);
    assert!(list.starts_with("NAME") && list.contains("my-run"), "{list}");
    let json: serde_json::Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    let id = json["profiles"][0]["id"].as_str().unwrap().to_owned();
    let summary: serde_json::Value =
        serde_json::from_str(&succeed(&store, &["summary", "my-run", "--output-format", "json"])).unwrap();
    assert!(summary[&id]["slice_count"].is_number(), "{summary}");
    assert!(succeed(&store, &["summary", &id, "--all"]).contains("\n  slice_count "));
    assert!(fail(&store, &["summary", "my-run", "--rank", "4"], 1).contains("no rank 4"));
    let segment = store.join("profiles").join(&id).join("rank_0.nseg");
    let anatomy = succeed(&store, &["inspect", segment.to_str().unwrap()]);
    assert!(anatomy.contains("table slice:") && anatomy.contains("tile pyramids"), "{anatomy}");
    assert!(succeed(&store, &["rm", "my-run"]).starts_with("removed my-run"));
    assert!(fail(&store, &["rm", "my-run"], 1).contains("no profile \"my-run\""));
}

#[test]
fn json_without_events_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    for text in ["[1,2,3]", "[]", r#"[{"name":"left-pad"}]"#, r#"{"name":"left-pad","version":[1]}"#] {
        let path = dir.path().join("package.json");
        fs::write(&path, text).unwrap();
        let said = fail(&store, &["ingest", path.to_str().unwrap()], 1);
        assert!(said.contains("there are no trace events in it"), "{text}: {said}");
        assert!(succeed(&store, &["list"]).contains("no profiles"), "{text}");
    }
    let one = dir.path().join("one.json");
    fs::write(&one, r#"[{"ph":"X","name":"a","ts":0,"dur":1}]"#).unwrap();
    let output = run(&store, &["ingest", one.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 event of 1 rank in "), "{said}");
}

#[test]
fn the_same_input_is_the_same_profile_and_a_name_can_be_given_later() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let first = succeed(&store, &["view", &trace, "--ingest-only"]);
    assert!(first.starts_with("Profile \"n_"), "{first}");
    assert_eq!(succeed(&store, &["view", &trace, "--ingest-only"]), first);
    let named = succeed(&store, &["view", &trace, "--ingest-only", "--db-bucket", "named"]);
    assert_eq!(named, "Profile \"named\" is ready to view\n");
    let other = dir.path().join("other.json");
    fs::write(&other, TRACE.replace("outer", "other")).unwrap();
    let other = other.to_str().unwrap();
    assert!(fail(&store, &["ingest", other, "--db-bucket", "named"], 1).contains("taken"));
    succeed(&store, &["ingest", other, "--db-bucket", "named", "--force"]);
    assert_eq!(succeed(&store, &["list"]).lines().count(), 2, "a heading and one profile");
}

#[test]
fn bad_input_is_one_line_and_leaves_the_store_alone() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"not a trace").unwrap();
    let empty = dir.path().join("nothing");
    fs::create_dir(&empty).unwrap();
    let cases = [
        write("empty.json", b""),
        write("text.txt", b"hello"),
        write("object.json", b"{\"a\":1}"),
        write("version.ntff", &[4; 200]),
        write("short.ntff", &[5, 0, 0]),
        write("protobuf.ntff", &[0x82, 1, 2, 3]),
        write("model.neff", &[0; 2000]),
        write("packed.gz", &gzip.finish().unwrap()),
        write("damaged.gz", &[0x1f, 0x8b, 8, 0, 1, 2, 3]),
        dir.path().join("missing.json").to_str().unwrap().to_owned(),
        empty.to_str().unwrap().to_owned(),
    ];
    for case in &cases {
        let said = fail(&store, &["ingest", case], 1);
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("nprof: ")).collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].contains(case.as_str()), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert!(fail(&store, &["ingest", &trace, &cases[1]], 1).contains("text.txt"));
    assert!(succeed(&store, &["list"]).contains("no profiles"));
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0);
    fail(&store, &["ingest"], 2);
    fail(&store, &["view", "--output-format", "nonsense", &trace], 2);
    fail(&store, &["nonsense"], 2);
}

#[test]
fn the_list_counts_kinds_of_warnings_and_the_details_how_often_each_came() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut files = Vec::new();
    for rank in 0..2 {
        let mut text = r#"[{"name":"op","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}"#.to_owned();
        for at in 0..700 {
            text +=
                &format!(r#",{{"name":"go","cat":"c","ph":"f","bp":"e","id":{at},"ts":2,"pid":1,"tid":1}}"#);
        }
        let path = dir.path().join(format!("rank{rank}.json"));
        fs::write(&path, text + "]").unwrap();
        files.push(path.to_str().unwrap().to_owned());
    }
    let output = run(&store, &["ingest", &files[0], &files[1]]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 kind of warning:\n  1,400 × Unbound flow"), "{said}");
    let json: serde_json::Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    assert_eq!(json["profiles"][0]["warnings"], 1, "{json}");
}

#[test]
fn several_files_are_ranks() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let session = dir.path().join("session");
    fs::create_dir(&session).unwrap();
    for (name, text) in [("rank-4.json", "a"), ("rank-2.json", "b"), ("x_rank-4.json", "c")] {
        fs::write(session.join(name), TRACE.replace("outer", text)).unwrap();
    }
    let output =
        run(&store, &["view", "-d", session.to_str().unwrap(), "--ingest-only", "--db-bucket", "job"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.contains("rank 4 is taken"), "{err}");
    let summary = succeed(&store, &["summary", "job", "--all"]);
    let ranks: Vec<&str> =
        summary.lines().filter(|line| line.starts_with("rank ")).map(|line| &line[..6]).collect();
    assert_eq!(ranks, ["rank 0", "rank 2", "rank 4"]);
}

#[test]
fn exports_need_no_store_entry() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let out = dir.path().join("out.json");
    let ignored = ["--db-endpoint", "http://localhost:8086", "--db-org", "x"];
    let args = ["view", &trace, "--output-format", "json", "--output-file", out.to_str().unwrap()];
    succeed(&store, &[&args[..], &ignored].concat());
    let tables: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let slices = tables["slice"].as_array().unwrap();
    let starts: Vec<i64> = slices.iter().map(|row| row["timestamp"].as_i64().unwrap()).collect();
    assert!(starts.is_sorted() && starts.len() == 5, "{starts:?}");
    assert_eq!(tables["summary"].as_array().unwrap().len(), 1);
    let text = succeed(&store, &["view", &trace, "--output-format", "summary-text"]);
    assert!(text.contains("slice_count"));
    assert!(succeed(&store, &["list"]).contains("no profiles"));
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0);
}

#[test]
fn neuron_json_comes_out_as_it_went_in() {
    let Some(folder) = shared("neuron") else { return };
    let (dir, _) = stage();
    let store = dir.path().join("store");
    for name in ["profile_128x128x152", "profile_bucketed_128x128x2048"] {
        let input = folder.join(format!("{name}.json"));
        let out = dir.path().join("out.json");
        let args = ["view", input.to_str().unwrap(), "--output-format", "json", "--output-file"];
        succeed(&store, &[&args[..], &[out.to_str().unwrap()]].concat());
        let read = |path: &Path| -> serde_json::Map<String, serde_json::Value> {
            serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
        };
        let (before, after) = (read(&input), read(&out));
        // The summary is completed with metrics that the vendor omits if they are zero.
        let (stated, summary) = (before["summary"][0].as_object().unwrap(), &after["summary"][0]);
        stated.iter().for_each(|(metric, value)| assert_eq!(&summary[metric], value, "{name}: {metric}"));
        for (table, rows) in before.iter().filter(|(table, _)| *table != "summary") {
            // An empty list is a table without rows. The store keeps nothing of it.
            let none = Vec::new();
            let sorted = |rows: &Vec<serde_json::Value>| {
                let mut texts: Vec<String> = rows.iter().map(canonical).collect();
                texts.sort();
                texts
            };
            let after = after.get(table).map_or(&none, |rows| rows.as_array().unwrap());
            let after: Vec<serde_json::Value> = after.iter().map(without_own_keys).collect();
            assert_eq!(sorted(rows.as_array().unwrap()), sorted(&after), "{name}: {table}");
        }
    }
}

/// The row without the keys that nprof adds, which neuron-profile does not have.
fn without_own_keys(row: &serde_json::Value) -> serde_json::Value {
    let own = ["row", "track", "start_ps", "duration_ps", "form", "counter", "unit"];
    let mut row = row.as_object().unwrap().clone();
    row.retain(|key, _| !own.contains(&key.as_str()));
    row.into()
}

/// The row with its keys in order.
fn canonical(row: &serde_json::Value) -> String {
    let sorted: std::collections::BTreeMap<_, _> = row.as_object().unwrap().iter().collect();
    serde_json::to_string(&sorted).unwrap()
}

/// A process that is killed when the test ends.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn line_with(reader: &mut impl BufRead, start: &str) -> String {
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 0 {
        if let Some(rest) = line.strip_prefix(start) {
            return rest.trim().to_owned();
        }
        line.clear();
    }
    panic!("no line with {start:?}");
}

pub fn get(port: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn view_serves_and_prints_what_scripts_look_for() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let mut command = nprof(&store);
    command.args(["view", &trace, "--db-bucket", "one", "--port", "0"]).stdout(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let mut reader = BufReader::new(running.0.stdout.take().unwrap());
    assert_eq!(line_with(&mut reader, "Profile "), "\"one\" is ready to view");
    let profile = line_with(&mut reader, "View profile at http://localhost:");
    let port = profile.split('/').next().unwrap();
    let (path, token) = profile.split_once("?token=").unwrap();
    assert_eq!((path, token.len()), (format!("{port}/profile/one").as_str(), 32));
    let list = line_with(&mut reader, "View a list of profiles at ");
    assert_eq!(list, format!("http://localhost:{port}/?token={token}"));
    assert_eq!(line_with(&mut reader, "ctrl-c to exit"), "");
    assert!(get(port, "/profile/one").starts_with("HTTP/1.0 200"));
    let other = dir.path().join("other.json");
    fs::write(&other, TRACE.replace("outer", "other")).unwrap();
    let other = other.to_str().unwrap();
    // The running server has the same store and shows the new profile, so no second server is
    // needed.
    let said = succeed(&store, &["view", other, "--db-bucket", "two", "--port", port]);
    assert!(said.contains(&format!("View profile at http://localhost:{port}/profile/two\n")), "{said}");
    assert!(get(port, "/api/profiles").contains("\"slug\":\"two\""));
    let elsewhere = dir.path().join("elsewhere");
    let busy = fail(&elsewhere, &["serve", "--port", port], 1);
    assert!(busy.contains(&format!("port {port} is taken")) && busy.contains("--port"), "{busy}");
    let ended = Command::new("kill").args(["-TERM", &running.0.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert!(running.0.wait().unwrap().success(), "SIGTERM is a normal end");
}

#[test]
fn a_server_for_other_machines_warns_prints_its_addresses_and_still_guards_names() {
    let (dir, _) = stage();
    let mut command = nprof(&dir.path().join("store"));
    command.args(["serve", "--host", "0.0.0.0", "--port", "0", "--allow-name", "profiles.example"]);
    let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut reader = BufReader::new(running.0.stdout.take().unwrap());
    let local = line_with(&mut reader, "View a list of profiles at http://localhost:");
    let (port, token) = local.split_once("/?token=").unwrap();
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 0 && !line.starts_with("ctrl-c") {
        let link = line.trim().strip_prefix("View a list of profiles at http://").unwrap();
        assert!(link.ends_with(&format!(":{port}/?token={token}")) && !link.contains("localhost"), "{link}");
        line.clear();
    }
    let mut errors = BufReader::new(running.0.stderr.take().unwrap());
    let warning = line_with(&mut errors, "warning: other machines reach this server; ");
    assert!(warning.contains("can read all profiles") && warning.contains("not encrypted"), "{warning}");
    assert!(get(port, "/api/profiles").starts_with("HTTP/1.0 200"));
    for (host, status) in [("evil.example", 403), ("profiles.example", 200)] {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(stream, "GET /api/profiles HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.0 {status}")), "{host}: {answer}");
    }
}

#[test]
fn a_demo_needs_no_hardware() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let said = succeed(&store, &["demo", "--ingest-only", "--events", "3000"]);
    assert!(said.starts_with("Profile \"p_"), "{said}");
    let list: serde_json::Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    assert_eq!(list["profiles"][0]["ranks"], 2);
    assert_eq!(
        succeed(&store, &["demo", "--ingest-only", "--events", "3000"]),
        said,
        "equal settings, equal id"
    );
    assert_ne!(succeed(&store, &["demo", "--ingest-only", "--events", "3000", "--seed", "2"]), said);
}

#[test]
fn a_demo_plants_causes_and_states_what_they_cost() {
    let (dir, _) = stage();
    let (store, truth) = (dir.path().join("store"), dir.path().join("truth.json"));
    let demo = ["demo", "--ingest-only", "--ranks", "4", "--events", "20000", "--db-bucket", "job"];
    let causes = ["--fault", "dma-late=3", "--straggler", "2", "--truth", truth.to_str().unwrap()];
    succeed(&store, &[&demo[..], &causes].concat());
    let truth: serde_json::Value = serde_json::from_slice(&fs::read(&truth).unwrap()).unwrap();
    let kinds: Vec<&str> =
        truth["causes"].as_array().unwrap().iter().map(|cause| cause["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["slow-rank", "dma-late"]);
    assert!(truth["causes"].as_array().unwrap().iter().all(|cause| cause["cost_ps"].as_i64() > Some(0)));
    // The length is the one that the replay of the profile knows.
    let whatif = succeed(&store, &["whatif", "job", "rank:2=median", "--output-format", "json"]);
    let whatif: serde_json::Value = serde_json::from_str(&whatif).unwrap();
    assert_eq!(whatif["recorded_ps"], truth["job"]["length_ps"]);
    for (cause, message) in
        [("nonsense", "there are dma-late=LAYER, slow-rank=RANK"), ("pause", "the form is pause=RANK")]
    {
        assert!(fail(&store, &["demo", "--fault", cause], 2).contains(message), "{cause}");
    }
    assert!(fail(&store, &["demo", "--fault", "pause=9"], 1).contains("the job has ranks 0 to 1"));
    let folder = dir.path().join("sources");
    succeed(&store, &[&demo[..], &["--force", "--sources", folder.to_str().unwrap()]].concat());
    assert!(fs::read_to_string(folder.join("attention.py")).unwrap().contains("def attention_kernel("));
}

#[test]
fn completions_for_every_shell() {
    let (dir, _) = stage();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(succeed(dir.path(), &["completions", shell]).contains("nprof"), "{shell}");
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let (dir, _) = stage();
    assert!(succeed(dir.path(), &["man"]).contains("nprof\\-ingest(1)"));
    let into = dir.path().join("share/man1");
    succeed(dir.path(), &["man", "--into", into.to_str().unwrap()]);
    let page = fs::read_to_string(into.join("nprof-view.1")).unwrap();
    assert!(page.contains("neff") && page.contains("Examples"), "{page}");
    let help = succeed(dir.path(), &["help"]);
    let commands = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    for command in commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        assert!(command.is_empty() || into.join(format!("nprof-{command}.1")).is_file(), "{command}");
    }
}

/// A stack that no address space holds stands for a system that allows no further thread.
#[test]
fn a_system_without_threads_is_an_error_and_no_bug() {
    let (dir, trace) = stage();
    succeed(&dir.path().join("store"), &["ingest", &trace, "--db-bucket", "run"]);
    for args in
        [&["serve", "--port", "0"][..], &["ingest", &trace, "--force"], &["export", "run"], &["verify"]]
    {
        let mut command = nprof(&dir.path().join("store"));
        let output = command.args(args).env("RUST_MIN_STACK", (1_u64 << 46).to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("the system allows no more threads"), "{args:?}: {said}");
        assert!(said.contains("raise the limit of processes") && !said.contains("panicked"), "{said}");
    }
}

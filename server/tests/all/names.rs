//! Names of profiles: further names, titles of several traces, and characters that a terminal would
//! act on.

use std::fs;

use serde_json::Value;

use crate::cli::{Running, fail, get, line_with, nprof, run, stage, succeed};
use crate::stage::TRACE;

#[test]
fn a_second_name_leaves_the_first_link_alive() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "alpha"]);
    let again = run(&store, &["view", &trace, "--db-bucket", "beta", "--ingest-only"]);
    let (out, err) = (String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&again.stderr));
    assert_eq!(out, "Profile \"beta\" is ready to view\n");
    assert!(err.contains("all names of this profile: alpha, beta"), "{err}");
    assert_eq!(succeed(&store, &["summary", "alpha"]), succeed(&store, &["summary", "beta"]));
    let list = succeed(&store, &["list"]);
    assert!(list.lines().nth(1).unwrap().starts_with("alpha, beta  "), "{list}");
    // --force reads the trace again; the links stay.
    succeed(&store, &["ingest", &trace, "--force"]);
    for name in ["alpha", "beta"] {
        succeed(&store, &["summary", name]);
    }
    let removed = succeed(&store, &["rm", "beta"]);
    assert!(removed.starts_with("removed alpha, also called beta ("), "{removed}");
    assert!(fail(&store, &["summary", "alpha"], 1).contains("no profile"));
}

#[test]
fn names_may_be_of_any_script() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let mut command = nprof(&store);
    command.args(["view", &trace, "--db-bucket", "日本", "--port", "0"]);
    let mut running = Running(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    let mut reader = std::io::BufReader::new(running.0.stdout.take().unwrap());
    assert_eq!(line_with(&mut reader, "Profile "), "\"日本\" is ready to view");
    let link = line_with(&mut reader, "View profile at http://localhost:");
    let (port, path) = link.split_once('/').unwrap();
    assert_eq!(path.split('?').next().unwrap(), "profile/%E6%97%A5%E6%9C%AC", "an address in ASCII");
    let answer = get(port, "/api/profiles/%E6%97%A5%E6%9C%AC");
    assert!(answer.starts_with("HTTP/1.0 200") && answer.contains("\"slug\":\"日本\""), "{answer}");
    let long = fail(&store, &["ingest", &trace, "--db-bucket", &"x".repeat(5_000)], 1);
    assert!(long.len() < 300, "{long}");
}

#[test]
fn several_traces_are_called_by_their_directory() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let session = dir.path().join("my session");
    fs::create_dir(&session).unwrap();
    for rank in 0..2 {
        fs::write(session.join(format!("rank-{rank}.json")), TRACE.replace("outer", &format!("r{rank}")))
            .unwrap();
    }
    succeed(&store, &["ingest", session.to_str().unwrap()]);
    let title = || {
        let list: Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
        list["profiles"][0]["display_name"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(), "my session");
    succeed(&store, &["rm", &succeed(&store, &["list"]).lines().nth(1).unwrap()[..42]]);
    let files = [0, 1].map(|rank| session.join(format!("rank-{rank}.json")).to_str().unwrap().to_owned());
    succeed(&store, &["ingest", &files[0], &files[1]]);
    assert_eq!(title(), "rank-0.json and 1 more");
}

#[test]
fn a_directory_says_what_it_leaves_out() {
    let (dir, _) = stage();
    let session = dir.path().join("session");
    fs::create_dir(&session).unwrap();
    fs::write(session.join("trace.json"), TRACE).unwrap();
    // Three files: one recognised by its first bytes, one only by reading, one truncated.
    fs::write(session.join("archive.json"), b"PK\x03\x04").unwrap();
    fs::write(session.join("config.json"), "{\"ranks\": 8}").unwrap();
    fs::write(session.join("empty.json"), "").unwrap();
    let store = dir.path().join("store");
    let args = ["ingest", session.to_str().unwrap(), "--db-bucket", "s"];
    for _ in 0..2 {
        let output = run(&store, &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        for (file, why) in [("archive", "zip"), ("config", "traceEvents"), ("empty", "the file is empty")] {
            let line = said.lines().find(|line| line.contains(&format!("Missing data: {file}.json: ")));
            assert!(line.is_some_and(|line| line.contains(why)), "{file}: {said}");
        }
    }
    let tables: Value = serde_json::from_str(&succeed(&store, &["export", "s"])).unwrap();
    assert_eq!(tables["warning"].as_array().unwrap().len(), 3, "the profile keeps them");
    let list: Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
    assert_eq!((&list["profiles"][0]["ranks"], &list["profiles"][0]["warnings"]), (&1.into(), &3.into()));
    // A file that the user named is an error.
    let named = session.join("config.json");
    assert!(fail(&store, &["ingest", named.to_str().unwrap()], 1).contains("config.json: "));
}

#[test]
fn titles_and_names_do_not_act_on_the_terminal() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let evil = "a\u{1b}[31mred\r\n\u{202e}b";
    let trace = dir.path().join(format!("{evil}.json"));
    // A warning with such a place, and a slice name that becomes a metric.
    fs::write(&trace, format!("{},", TRACE.trim_end_matches("]}").replace("inner", "in\\u001b[1mner")))
        .unwrap();
    let missing = dir.path().join(format!("{evil}-missing.json"));
    let trace = trace.to_str().unwrap();
    let calls: [(&[&str], i32); 5] = [
        (&["ingest", trace, "--db-bucket", "evil", "--display-name", evil], 0),
        (&["list"], 0),
        (&["summary", "evil"], 0),
        (&["view", trace, "--output-format", "summary-text"], 0),
        (&["ingest", missing.to_str().unwrap()], 1),
    ];
    for (args, code) in calls {
        let output = run(&store, args);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{args:?}: {text:?}");
        assert!(text.contains("\\u{1b}["), "{args:?}: the text itself is shown: {text:?}");
    }
}

#[test]
fn a_demo_is_called_by_its_chosen_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let title = || {
        let list: Value = serde_json::from_str(&succeed(&store, &["list", "--json"])).unwrap();
        list["profiles"][0]["display_name"].as_str().unwrap().to_owned()
    };
    let demo = ["demo", "--events", "1000", "--ranks", "1", "--ingest-only"];
    succeed(&store, &demo);
    assert_eq!(title(), "Demo: 1 simulated rank");
    // The name comes later.
    succeed(&store, &[&demo[..], &["--db-bucket", "mine"]].concat());
    assert_eq!(title(), "mine");
    succeed(&store, &[&demo[..], &["--display-name", "My demo"]].concat());
    assert_eq!(title(), "My demo");
}

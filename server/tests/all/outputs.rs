//! Outputs that are no plain files, or that would replace what must stay.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::cli::{fail, nprof, run, stage, succeed};

const AIU: &str = include_str!("../../../fuzz/seeds/aiu/flex.json");
/// Timeout. No step takes this long on any machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The bits of SIGINT and SIGTERM in the mask of signals with a handler.
const HANDLED: u64 = (1 << 1) | (1 << 14);

/// Runs `nprof` in a shell, as `"$0"`, with the store in the environment and `"$1"` as a folder.
fn shell(dir: &Path, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_nprof")]).arg(dir);
    command.env("NPROF_STORE", dir.join("store")).env_remove("NPROF_LOG").stdin(Stdio::null());
    command.output().unwrap()
}

/// A folder with a trace and a store that has it as `run`.
fn ingested() -> tempfile::TempDir {
    let (dir, trace) = stage();
    succeed(&dir.path().join("store"), &["ingest", &trace, "--db-bucket", "run"]);
    dir
}

#[track_caller]
fn check_json(text: &[u8]) {
    let document: Result<serde_json::Value, _> = serde_json::from_slice(text);
    assert!(document.is_ok_and(|document| document.is_object()), "{}", String::from_utf8_lossy(text));
}

#[test]
fn descriptors_are_written_where_the_shell_opened_them() {
    let dir = ingested();
    for (name, script) in [
        ("1.json", "\"$0\" export run -o /dev/stdout >\"$1\"/1.json"),
        ("2.json", "\"$0\" export run -o /dev/fd/3 3>\"$1\"/2.json"),
        ("3.json", "ln -s /dev/stdout \"$1\"/link; \"$0\" export run -o \"$1\"/link >\"$1\"/3.json"),
        ("4.json", "\"$0\" view \"$1\"/trace.json --output-format json -o /proc/self/fd/1 >\"$1\"/4.json"),
    ] {
        let output = shell(dir.path(), script);
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        check_json(&fs::read(dir.path().join(name)).unwrap());
    }
    assert!(dir.path().join("link").is_symlink());
    let added = shell(dir.path(), "echo first >\"$1\"/5; \"$0\" summary run -o /dev/stdout >>\"$1\"/5");
    assert!(added.status.success());
    let text = fs::read_to_string(dir.path().join("5")).unwrap();
    assert!(text.starts_with("first\n") && text.lines().count() > 1, "{text}");
}

#[test]
fn pipes_and_devices_get_the_trace_of_acelyzer_and_stay() {
    let dir = tempfile::tempdir().unwrap();
    let (store, trace, pipe) =
        (dir.path().join("store"), dir.path().join("job.json"), dir.path().join("pipe"));
    fs::write(&trace, AIU).unwrap();
    mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
    let read = thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let (trace, at) = (trace.to_str().unwrap(), pipe.to_str().unwrap());
    let output = run(&store, &["aiu", "-i", trace, "-o", at]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("no tables are written"), "{said}");
    check_json(&read.join().unwrap());
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
    check_json(succeed(&store, &["aiu", "-i", trace, "-o", "-"]).as_bytes());
    succeed(&store, &["aiu", "-i", trace, "-o", "/dev/null"]);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(!Path::new("/dev/null_summary.csv").exists());
    assert!(fail(&store, &["aiu", "-i", trace, "--tb", "-o", at], 1).contains("--tb writes files"));
    let entries: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(entries.len(), 3, "{entries:?}");
}

#[test]
fn inputs_and_files_of_the_store_are_never_replaced() {
    let dir = ingested();
    let store = dir.path().join("store");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("job.json"), AIU).unwrap();
    let (trace, job) = (path("trace.json"), path("job.json"));
    let whole = (fs::read(&trace).unwrap(), fs::read(&job).unwrap());
    std::os::unix::fs::symlink(&trace, path("link")).unwrap();
    for args in [
        &["view", &trace, "--output-format", "json", "-o", &trace][..],
        &["view", &trace, "--output-format", "json", "-o", &path("link")],
        &["aiu", "-i", &job, "-o", &job],
        &["aiu", "-i", &job, "-V", "-o", &job],
    ] {
        let said = fail(&store, args, 1);
        assert!(said.contains("this file is an input of the command"), "{said}");
    }
    assert_eq!((fs::read(&trace).unwrap(), fs::read(&job).unwrap()), whole);
    let profile = fs::read_dir(store.join("profiles")).unwrap().next().unwrap().unwrap().path();
    for name in ["manifest.json", "rank_0.nseg", "new.json"] {
        let at = profile.join(name).to_str().unwrap().to_owned();
        for args in [
            &["export", "run", "-o", &at][..],
            &["summary", "run", "-o", &at],
            &["view", &trace, "--output-format", "json", "-o", &at],
            &["aiu", "-i", &job, "-o", &at],
        ] {
            assert!(fail(&store, args, 1).contains("belongs to the store"), "{args:?}");
        }
    }
    let said = succeed(&store, &["verify"]);
    assert!(said.starts_with("1 profile checked"), "{said}");
}

#[test]
fn one_signal_ends_the_wait_for_the_reader_of_a_pipe() {
    let dir = ingested();
    let pipe = dir.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut command = nprof(&dir.path().join("store"));
        let mut child =
            command.args(["export", "run", "-o"]).arg(&pipe).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        let status = format!("/proc/{}/status", child.id());
        let catches = |status: &str| {
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
            caught.is_some_and(|mask| u64::from_str_radix(mask, 16).unwrap() & HANDLED == HANDLED)
        };
        while !catches(&fs::read_to_string(&status).unwrap()) {
            assert!(start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(200));
        Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{signal} does not end the wait");
            }
            thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(code), "{said}");
    }
}

#[test]
fn a_closed_or_full_output_is_an_error() {
    let dir = ingested();
    for command in ["export run", "export run -o -", "summary run", "list", "--version", "export --help"] {
        for to in [">&-", ">/dev/full"] {
            let output = shell(dir.path(), &format!("\"$0\" {command} {to}"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{command} {to}: {said}");
            let cause = if to == ">&-" { "Bad file descriptor" } else { "No space left" };
            assert!(said.lines().last().unwrap().contains(cause), "{command} {to}: {said}");
        }
        let output = shell(dir.path(), &format!("\"$0\" {command} >/dev/null"));
        assert!(output.status.success(), "{command}");
    }
}

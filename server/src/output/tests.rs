//! Outputs of each kind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;

/// Writes a text to an output of a command with one input, and returns standard output.
fn put(path: &Path, text: &str, input: Option<&Path>, meter: &Meter) -> Result<String, OutputError> {
    let mut out = Vec::new();
    let store = Store::read(&path.with_file_name("store"));
    let mut outputs = Outputs::new(&mut out, meter, &store);
    outputs.keep(input.and_then(FileId::at));
    outputs.write(path, |out| out.write_all(text.as_bytes()).map_err(failed(path)))?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn a_failed_or_cancelled_output_leaves_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.json");
    let (meter, store) = (Meter::default(), Store::read(&dir.path().join("store")));
    put(&path, "whole", None, &meter).unwrap();
    let half = Outputs::new(&mut Vec::new(), &meter, &store).write(&path, |out| {
        out.write_all(b"half").map_err(failed(&path))?;
        Err(failed(&path)(io::Error::other("cut off")))
    });
    half.unwrap_err();
    meter.cancel();
    put(&path, "other", None, &meter).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn links_stay_and_their_targets_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    symlink("sub/target", at("link")).unwrap();
    for text in ["first", "second"] {
        put(&at("link"), text, None, &Meter::default()).unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(fs::read_to_string(at("sub/target")).unwrap(), text);
    }
}

#[test]
fn inputs_and_files_of_the_store_are_no_outputs() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let store = Store::open(&at("store")).unwrap();
    fs::write(at("input"), "trace").unwrap();
    symlink("input", at("link")).unwrap();
    for name in ["input", "link"] {
        let refused = put(&at(name), "x", Some(&at("input")), &Meter::default()).unwrap_err();
        assert!(refused.to_string().contains("is an input of the command"), "{refused}");
    }
    assert_eq!(fs::read(at("input")).unwrap(), b"trace");
    for name in ["profiles/new", "tmp/new", "lock"] {
        let path = store.root().join(name);
        let refused = Outputs::new(&mut Vec::new(), &Meter::default(), &store).place(&path).unwrap_err();
        assert!(matches!(refused, OutputError::InStore { .. }), "{name}: {refused}");
    }
}

#[test]
fn a_pipe_gets_the_text_and_stays_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
    let text = "x".repeat(1 << 20);
    let read = thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    put(&pipe, &text, None, &Meter::default()).unwrap();
    assert!(read.join().unwrap() == text);
    assert!(!pipe.is_file());
}

/// Without a reader, or with one that reads nothing.
#[test]
fn a_cancellation_ends_the_wait_for_a_reader() {
    for is_open in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
        let reader = is_open.then(|| fs::File::options().read(true).write(true).open(&pipe).unwrap());
        let meter = Meter::default();
        let refused = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                meter.cancel();
            });
            put(&pipe, &"x".repeat(1 << 20), None, &meter).unwrap_err()
        });
        assert!(refused.to_string().contains("cancelled"), "{refused}");
        drop(reader);
    }
}

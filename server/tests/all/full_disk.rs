//! A full disk: the ingest reports it in one line, and the store is unchanged.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A trace whose segment takes about 6 MB: each event has a random text.
fn write_trace(path: &Path, events: u64) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    file.write_all(b"[").unwrap();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    for at in 0..events {
        let comma = if at == 0 { "" } else { "," };
        let (a, b, c) = (random(), random(), random());
        write!(
            file,
            r#"{comma}{{"name":"op","ph":"X","ts":{at},"dur":0.5,"pid":1,"tid":1,"args":{{"v":"{a:x}{b:x}{c:x}"}}}}"#
        )
        .unwrap();
    }
    file.write_all(b"]").unwrap();
}

fn shell(script: &str, args: &[&Path]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_nprof")]).args(args);
    command.env_remove("NPROF_LOG").env_remove("NPROF_STORE").stdin(Stdio::null()).output().unwrap()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[track_caller]
fn check_refused(output: &Output, reason: &str) {
    let said = lines(&output.stderr);
    let errors: Vec<&String> = said.iter().filter(|line| line.starts_with("nprof: ")).collect();
    assert_eq!(output.status.code(), Some(1), "{said:?}");
    assert_eq!(errors.len(), 1, "{said:?}");
    assert!(errors[0].contains("large.json") && errors[0].contains(reason), "{said:?}");
    assert!(errors[0].contains("check the free space of the store"), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("panicked")), "{said:?}");
}

#[test]
fn a_file_that_may_not_grow_leaves_the_store_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let [store, small, large] = ["store", "small.json", "large.json"].map(|name| directory.path().join(name));
    write_trace(&small, 10);
    write_trace(&large, 200_000);
    let before = shell(r#""$1" --store "$2" ingest "$3" && "$1" --store "$2" list"#, &[&store, &small]);
    assert!(before.status.success(), "{:?}", lines(&before.stderr));
    // The unit of the limit is 512 bytes or 1 KiB, depending on the shell: 1 to 2 MB. With the
    // signal ignored, the write fails.
    let script = r#"trap '' XFSZ; ulimit -f 2000; exec "$1" --store "$2" ingest "$3""#;
    check_refused(&shell(script, &[&store, &large]), "File too large");
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0, "nothing is left");
    let after = shell(r#""$1" --store "$2" verify >&2 && "$1" --store "$2" list"#, &[&store]);
    assert!(after.status.success(), "{:?}", lines(&after.stderr));
    assert_eq!(lines(&before.stdout)[1..], lines(&after.stdout)[..], "one profile, as before");
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let [place, small, large] = ["place", "small.json", "large.json"].map(|name| directory.path().join(name));
    fs::create_dir(&place).unwrap();
    let mount = "mount -t tmpfs -o size=2m tmpfs \"$2\"";
    let probe = Command::new("unshare").args(["-rm", "sh", "-c", mount, "sh", ""]).arg(&place).output();
    if !probe.as_ref().is_ok_and(|probe| probe.status.success()) {
        println!("skipped: no file system of a fixed size can be mounted here ({probe:?})");
        return;
    }
    write_trace(&small, 10);
    write_trace(&large, 200_000);
    let script = format!(
        r#"{mount} && "$1" --store "$2" ingest "$3" 2>/dev/null >&2 && "$1" --store "$2" list || exit 9
        "$1" --store "$2" ingest "$4"; code=$?
        "$1" --store "$2" list && "$1" --store "$2" verify >/dev/null && ls "$2/tmp"
        exit $code"#
    );
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_nprof")]);
    command.args([&place, &small, &large]).env_remove("NPROF_LOG").env_remove("NPROF_STORE");
    let output = command.stdin(Stdio::null()).output().unwrap();
    check_refused(&output, "No space left on device");
    let out = lines(&output.stdout);
    assert_eq!(out.len(), 4, "two lists of a heading and one profile, and nothing in tmp: {out:?}");
    assert_eq!(out[..2], out[2..]);
}

//! Flags and commands of neuron-profile that have no effect in nprof.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use crate::cli::{fail, nprof, run, stage, succeed};

#[test]
fn flags_without_effect_say_so_and_scripts_go_on() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let out = dir.path().join("out.json");
    let mut args = vec!["view", &trace, "--output-format", "JSON", "--output-file", out.to_str().unwrap()];
    args.extend(["--enable-memory-tracker", "--framework-source-root", "/src", "--show-perfetto-flows"]);
    args.extend(["--db-endpoint", "http://localhost:8086", "--db-org", "x"]);
    let output = run(&store, &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    for flag in [
        "--enable-memory-tracker",
        "--framework-source-root",
        "--show-perfetto-flows",
        "--db-endpoint",
        "--db-org",
    ] {
        assert!(said.lines().any(|line| line.starts_with(&format!("{flag} is ignored: "))), "{flag}: {said}");
    }
    assert!(fs::read_to_string(&out).unwrap().contains("\"slice\""));
}

#[test]
fn terminology_is_the_list_of_metrics() {
    let (dir, _) = stage();
    for form in [&[][..], &["--output-format", "json"]] {
        let terms = succeed(dir.path(), &[&["view", "--terminology"], form].concat());
        assert_eq!(terms, succeed(dir.path(), &[&["metrics"], form].concat()), "{form:?}");
        assert!(terms.contains("tensor_engine_unused_flops"), "{terms}");
    }
}

/// `nprof view --terminology --output-format json | head -c 10`.
#[test]
fn a_reader_that_has_enough_is_no_error() {
    let (dir, _) = stage();
    let args = ["view", "--terminology", "--output-format", "json"];
    let mut child =
        nprof(dir.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{:?}", output.status);
}

#[test]
fn capture_says_how_to_capture() {
    let (dir, _) = stage();
    for args in [
        &["capture"][..],
        &["capture", "-n", "file.neff", "-s", "profile.ntff", "--ignore-exec-errors", "inputs", "-r", "2"],
        &["capture", "--collectives-profile-id", "all", "--single-io", "--enable-dge-notifs"],
    ] {
        let said = fail(dir.path(), args, 1);
        assert_eq!(said.lines().count(), 1, "{said}");
        for part in ["nprof does not capture", "neuron-profile capture", "nprof view"] {
            assert!(said.contains(part), "{args:?}: {said}");
        }
    }
}

#[test]
fn archives_without_a_trace_and_other_programs_files_are_named_for_what_they_are() {
    use flate2::write::GzEncoder;
    use std::io::Write;
    let (dir, _) = stage();
    // The header has no checksum.
    let mut tar = vec![0; 1024];
    tar[..12].copy_from_slice(b"dlrm/a.json\0");
    tar[257..262].copy_from_slice(b"ustar");
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&tar).unwrap();
    let packed = gzip.finish().unwrap();
    let files: [(&str, &[u8], &str); 4] = [
        ("a.tar", &tar, "a.tar: the tar archive cannot be read"),
        ("a.tar.gz", &packed, "a.tar.gz: the tar archive cannot be read"),
        ("a.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "a.zip: no trace in this archive"),
        ("a.xplane.pb", b"\x0a\x10\x12\x0d/device:TPU:0\x1a", "this is an XPlane profile"),
    ];
    for (name, bytes, expected) in files {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let said = fail(&dir.path().join("store"), &["ingest", path.to_str().unwrap()], 1);
        assert!(said.contains(expected) && !said.contains("NEFF"), "{name}: {said}");
    }
}

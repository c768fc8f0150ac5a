//! A killed ingest leaves the whole profile or none, and a store that opens.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nprof_engine::base::Interval;
use nprof_engine::exec::Work;
use nprof_engine::native::SegmentFile;
use nprof_engine::query;

const SLICES: usize = 30_000;
const KILLS: u32 = 50;

fn nprof(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nprof"));
    command.arg("--store").arg(store).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Writes a trace whose ingest takes long enough to be killed.
fn write_trace(path: &Path) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(b"[").unwrap();
    for at in 0..SLICES {
        let comma = if at == 0 { "" } else { "," };
        write!(
            file,
            r#"{comma}{{"name":"op {}","ph":"X","ts":{at},"dur":0.5,"pid":1,"tid":{},"args":{{"operand":"v{at}","n":{at}}}}}"#,
            at % 97,
            at % 7
        )
        .unwrap();
    }
    file.write_all(b"]").unwrap();
}

/// Number of profiles in the store. Each must be complete.
fn check_store(store: &Path) -> usize {
    let listed = nprof(store).arg("list").output().unwrap();
    assert!(listed.status.success(), "list failed: {}", String::from_utf8_lossy(&listed.stderr));
    let Ok(profiles) = std::fs::read_dir(store.join("profiles")) else { return 0 };
    let mut count = 0;
    for profile in profiles {
        let segment = SegmentFile::open_file(&profile.unwrap().path().join("rank_0.nseg")).unwrap();
        let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
        let selection =
            query::selection::select(&segment, &query::slice::tracks(&segment, None), all, Work::IN_PLACE)
                .unwrap();
        assert_eq!(selection.count, SLICES as u64, "a profile is whole or it is not there");
        count += 1;
    }
    count
}

#[test]
fn a_killed_ingest_leaves_the_whole_profile_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace.json");
    let store = directory.path().join("store");
    write_trace(&trace);
    let ingest = || {
        let mut command = nprof(&store);
        command.args(["ingest", "--force"]).arg(&trace);
        command
    };

    let start = Instant::now();
    let whole = nprof(&directory.path().join("other")).arg("ingest").arg(&trace).output().unwrap();
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let length = start.elapsed();

    let mut survivors = 0;
    for kill in 0..KILLS {
        // Kill times spread over the whole ingest and a little beyond; early and late ones
        // alternate.
        let share = f64::from(kill * 17 % KILLS) / f64::from(KILLS) * 1.1;
        let mut child = ingest().spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(length.as_secs_f64() * share));
        child.kill().unwrap();
        child.wait().unwrap();
        let profiles = check_store(&store);
        assert!(profiles <= 1, "one trace became {profiles} profiles");
        survivors += profiles;
        if profiles == 1 && kill % 2 == 0 {
            // Most kills must happen before a profile exists, some while an old one is being
            // replaced.
            std::fs::remove_dir_all(store.join("profiles")).unwrap();
        }
    }

    assert!(ingest().output().unwrap().status.success(), "the store still takes the trace");
    assert_eq!(check_store(&store), 1);
    let left: Vec<_> = std::fs::read_dir(store.join("tmp")).map(Iterator::collect).unwrap_or_default();
    assert!(left.is_empty(), "rubbish of killed ingests is cleared away: {left:?}");
    println!("{KILLS} kills within {length:?}, {survivors} times a whole profile was there");
}

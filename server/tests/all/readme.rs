//! Every command of the README works as it stands there, on inputs of the names that it has there.
//! A command with a name that is not prepared here fails.
//!
//! `NPROF_BIN` names another binary to try, such as the one that ships (`scripts/release.sh`).

use std::fs;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nprof_capture::archive::fixture::{gzip, zip};
use nprof_capture::formats::{neff, ntff};

use crate::cli::{Running, get, line_with};
use crate::stage::TRACE;

const README: &str = include_str!("../../../README.md");
/// Commands that serve until they are cancelled.
const SERVING: [&str; 3] = ["view", "serve", "demo"];
/// Simulated events of a rank: a debug binary takes long for the usual number.
const EVENTS: &str = "2000";

/// The commands of the README's blocks of shell, without their comments.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    let lines = blocks.flat_map(str::lines).filter(|line| line.starts_with("nprof "));
    lines.map(|line| line.split(" #").next().unwrap_or(line).trim()).collect()
}

/// A folder as the README's reader has it.
struct Desk {
    folder: tempfile::TempDir,
    /// Folder with the binary, under the name `nprof`.
    binary: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let binary = std::env::var_os("NPROF_BIN").map_or_else(
            || PathBuf::from(env!("CARGO_BIN_EXE_nprof")),
            |named| fs::canonicalize(named).expect("NPROF_BIN names a binary"),
        );
        assert_eq!(binary.file_name().unwrap(), "nprof");
        let desk = Self {
            folder: tempfile::tempdir().unwrap(),
            binary: binary.parent().expect("a file is in a folder").to_owned(),
        };
        let trace = ntff::fixture::varied().bytes();
        desk.put("file.neff", &[neff::fixture::header(), neff::fixture::members()].concat());
        for name in ["profile.ntff", "captures/profile_rank_0.ntff", "captures/profile_rank_1.ntff"] {
            desk.put(name, &trace);
        }
        desk.put("node1/profile_rank_4.ntff", &trace);
        desk.put("trace.json.gz", &gzip(TRACE.as_bytes()));
        desk.put("job.zip", &zip(&[("rank0.json", TRACE.as_bytes()), ("rank1.json", TRACE.as_bytes())]));
        // The profile that the commands look at, as far as it is there when they run.
        desk.succeed(&format!("nprof demo --ranks 8 --events {EVENTS} --ingest-only --db-bucket run-7"));
        desk.succeed("cp store/profiles/*/rank_0.nseg .");
        let other = "--ingest-only --db-bucket run-8 --seed 2";
        desk.succeed(&format!("nprof demo --ranks 8 --events {EVENTS} {other}"));
        desk
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A line of shell in the folder.
    fn shell(&self, line: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.binary.clone()).chain(std::env::split_paths(&path));
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("PATH", std::env::join_paths(folders).unwrap()).env("NPROF_STORE", self.store());
        // No browser opens.
        command.env("BROWSER", "true").env_remove("NPROF_LOG");
        command
    }

    #[track_caller]
    fn succeed(&self, line: &str) -> String {
        let output = self.shell(line).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}\n{out}{err}");
        out.into_owned()
    }

    /// Runs a command until it serves, and asks for its page.
    fn serves(&self, line: &str) {
        let more = if line.starts_with("nprof demo") { format!(" --events {EVENTS}") } else { String::new() };
        let mut command = self.shell(&format!("exec {line}{more} --port 0"));
        let mut running = Running(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut reader = BufReader::new(running.0.stdout.take().unwrap());
        let list = line_with(&mut reader, "View a list of profiles at http://localhost:");
        let port = list.split('/').next().expect("a port comes first");
        assert!(get(port, "/").starts_with("HTTP/1.0 200"), "{line}");
    }
}

#[test]
fn every_command_works() {
    let (desk, commands) = (Desk::new(), commands());
    assert!(commands.len() > 15, "the README has commands: {commands:?}");
    for line in commands {
        let command = line.split(' ').nth(1).expect("a command comes behind the name");
        let is_written = line.contains("--output-format") || line.contains("--ingest-only");
        if SERVING.contains(&command) && !is_written {
            desk.serves(line);
        } else {
            desk.succeed(line);
        }
    }
}

//! Jobs of the generator `gen.py` with their truth.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::ranks::{shared, succeed};

/// A job of `gen.py`: its truth, and the store with its profile `job`.
pub(crate) struct Truth {
    bench: PathBuf,
    dir: tempfile::TempDir,
}

impl Truth {
    /// Makes and ingests a job. `None`, saying so, without the generator or Python.
    pub(crate) fn make(arguments: &[&str]) -> Option<Self> {
        Self::make_of(arguments, None)
    }

    /// The same without the trace of a rank.
    pub(crate) fn make_without(arguments: &[&str], rank: usize) -> Option<Self> {
        Self::make_of(arguments, Some(rank))
    }

    fn make_of(arguments: &[&str], absent: Option<usize>) -> Option<Self> {
        let bench = shared("bench/multirank")?;
        let made = Self { bench, dir: tempfile::tempdir().unwrap() };
        let job = made.dir.path().join("job");
        let Ok(done) = made.python("gen.py").arg(&job).args(arguments).output() else {
            println!("skipped: python3 cannot be run");
            return None;
        };
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::rename(job.join("truth.json"), made.truth()).unwrap();
        if let Some(rank) = absent {
            let file = made.facts()["per_rank"][rank]["file"].as_str().unwrap().to_owned();
            fs::remove_file(job.join(file)).unwrap();
        }
        succeed(&made.store(), &["ingest", job.to_str().unwrap(), "--db-bucket", "job"]);
        Some(made)
    }

    fn python(&self, script: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.bench.join(script));
        command
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    pub(crate) fn truth(&self) -> PathBuf {
        self.dir.path().join("truth.json")
    }

    /// The truth as the generator wrote it.
    pub(crate) fn facts(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.truth()).unwrap()).unwrap()
    }

    /// Analyses the job and scores the analysis. The score names what is broken.
    #[track_caller]
    pub(crate) fn score(&self, limits: &[&str]) -> (String, String) {
        let found = succeed(&self.store(), &["collectives", "job", "--output-format", "json"]);
        let result = self.dir.path().join("result.json");
        fs::write(&result, &found).unwrap();
        let scored = self.python("score.py").args([&self.truth(), &result]).args(limits).output().unwrap();
        let score = String::from_utf8_lossy(&scored.stdout).into_owned();
        assert!(scored.status.success(), "{score}{}", String::from_utf8_lossy(&scored.stderr));
        (found, score)
    }
}

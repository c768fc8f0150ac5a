//! Measurements: one JSON line each from the processes that measure, and a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One line from a process that measures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the store.
    pub store: String,
    /// Measured content.
    #[serde(flatten)]
    pub content: FigureKind,
}

/// Measured content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FigureKind {
    /// Ingest of the events.
    Ingest {
        /// Seconds from the first event to a synced store.
        seconds: f64,
        /// Bytes on disk after the sync.
        bytes: u64,
        /// Peak memory of the ingesting process, in MiB.
        peak_mib: f64,
    },
    /// Bytes by column.
    Columns {
        /// Name of the table.
        table: String,
        /// Number of rows.
        rows: u64,
        /// Bytes of each column.
        bytes: BTreeMap<String, u64>,
    },
    /// Times of all runs of a question.
    Question {
        /// Name of the question.
        name: String,
        /// Milliseconds of each run, in the order of runs.
        times_ms: Vec<f64>,
        /// Sum of the answers of all runs.
        answer: Option<AnswerSummary>,
    },
    /// Peak memory of the answering process.
    Memory {
        /// MiB, including pages of mapped files.
        peak_mib: f64,
    },
    /// An omitted measurement.
    Missing {
        /// Reason for the omission.
        why: String,
    },
}

/// A comparable summary of an answer: number of rows, and sum of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerSummary {
    /// Number of rows, or of counted events.
    pub rows: u64,
    /// Sum of numbers, nanoseconds and lengths of texts.
    pub sum: u64,
}

impl AnswerSummary {
    /// Adds the answer of one more run.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// Percentile: the value that a share of the runs stays below.
#[must_use]
pub fn percentile(times: &[f64], share: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let at = (times.len() as f64 * share) as usize;
    times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// Runs `ask` twice over `arguments`: first as `<name>-first`, then with everything in memory.
/// `measure` inspects an answer outside the measured time.
pub fn time<A, R>(
    store: &str,
    name: &str,
    arguments: &[A],
    mut ask: impl FnMut(&A) -> anyhow::Result<R>,
    measure: impl Fn(&A, &R) -> AnswerSummary,
) -> anyhow::Result<[Figure; 2]> {
    let mut pass = |name: String| {
        let mut times_ms = Vec::with_capacity(arguments.len());
        let mut answer = AnswerSummary::default();
        for argument in arguments {
            let start = std::time::Instant::now();
            let result = ask(argument)?;
            times_ms.push(start.elapsed().as_secs_f64() * 1e3);
            answer.add(measure(argument, &result));
        }
        let content = FigureKind::Question { name, times_ms, answer: Some(answer) };
        anyhow::Ok(Figure { store: store.to_owned(), content })
    };
    Ok([pass(format!("{name}-first"))?, pass(name.to_owned())?])
}

/// Peak resident memory of this process in MiB; 0 if the system does not report it.
#[must_use]
pub fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

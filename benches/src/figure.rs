//! What is measured, as lines of JSON from the processes that measure it, and as a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One line from a process that measures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figure {
    /// Which store.
    pub store: String,
    /// What was measured.
    #[serde(flatten)]
    pub content: Content,
}

/// What was measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// Events in.
    Ingest {
        /// From the first event to a synced store.
        seconds: f64,
        /// On disk after that.
        bytes: u64,
        /// Of the process that took them.
        peak_mib: f64,
    },
    /// Where the bytes go.
    Columns {
        /// Of which table.
        table: String,
        /// Its rows.
        rows: u64,
        /// By column.
        bytes: BTreeMap<String, u64>,
    },
    /// How long each run of a question took.
    Question {
        /// Which.
        name: String,
        /// Each run, in the order asked.
        times_ms: Vec<f64>,
        /// What was answered in all runs together.
        answer: Option<Answer>,
    },
    /// The most memory that the process which answers took.
    Memory {
        /// With pages of mapped files.
        peak_mib: f64,
    },
    /// What was left out.
    Missing {
        /// And why.
        why: String,
    },
}

/// An answer, short enough to compare: numbers of rows, and the sum of what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Rows, or events that were counted.
    pub rows: u64,
    /// Of numbers, nanoseconds and lengths of texts.
    pub sum: u64,
}

impl Answer {
    /// Of one more run.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// The value that this part of the runs stays below.
#[must_use]
pub fn percentile(times: &[f64], share: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let at = (times.len() as f64 * share) as usize;
    times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// Runs `ask` over `arguments` twice: for the first time, as `<name>-first`, and again with everything in memory;
/// `measure` looks at an answer off the clock.
///
/// # Errors
/// Those of `ask`.
pub fn time<A, R>(
    store: &str,
    name: &str,
    arguments: &[A],
    mut ask: impl FnMut(&A) -> anyhow::Result<R>,
    measure: impl Fn(&A, &R) -> Answer,
) -> anyhow::Result<[Figure; 2]> {
    let mut pass = |name: String| {
        let mut times_ms = Vec::with_capacity(arguments.len());
        let mut answer = Answer::default();
        for argument in arguments {
            let start = std::time::Instant::now();
            let result = ask(argument)?;
            times_ms.push(start.elapsed().as_secs_f64() * 1e3);
            answer.add(measure(argument, &result));
        }
        let content = Content::Question { name, times_ms, answer: Some(answer) };
        anyhow::Ok(Figure { store: store.to_owned(), content })
    };
    Ok([pass(format!("{name}-first"))?, pass(name.to_owned())?])
}

/// Peak resident memory of this process as the system counts it; 0 where it does not.
#[must_use]
pub fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

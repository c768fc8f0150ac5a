//! The child's side: reads its order, limits itself, ingests or compares, reports.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nprof_engine::exec::Cancel;
use nprof_engine::native::start_threads;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use rustix::process::{Signal, getpid, kill_process};

use super::message::{ChildMessage, ChildTask, InputsOutcome, Task};
use crate::analysis::job_segment;
use crate::http::error::ApiError;
use crate::ingest::{self, IngestSettings, NamedInputs, Prepared, Result};
use crate::store::Store;
use crate::work::{Meter, Stage};

/// Time between two reports.
const TICK: Duration = Duration::from_millis(100);
/// Exit code of wrong usage.
const WRONG_USAGE: u8 = 2;

/// Runs a child. Everything that is not an order from a server is refused.
#[must_use]
pub fn run() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may read the standard error.
            let _ = writeln!(
                io::stderr(),
                "nprof: {} is for the server of nprof only ({error}); to ingest a trace, run `nprof ingest \
                 FILE`",
                super::ARGUMENT
            );
            ExitCode::from(WRONG_USAGE)
        }
    }
}

fn work() -> io::Result<()> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(io::Error::other("there is no order"));
    }
    let order = ChildTask::read(&mut stdin.lock())?;
    if let Err(error) = start_threads() {
        let refusal = Refusal::new(RefusalKind::Unavailable, error.to_string());
        return ChildMessage::Done(Err(refusal)).write(&mut io::stdout());
    }
    end_with(stdin);
    let store = Store::read(&order.store());
    order.limits.apply(input_bytes(&order.task, &store))?;
    let meter = Meter::default();
    let outcome = thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        let (order, meter) = (&order, &meter);
        scope.spawn(move || report_while(meter, &wait));
        let outcome = match &order.task {
            Task::Ingest { settings, .. } => ingest(order, &store, settings, meter),
            Task::Compare(id) => compare(order, &store, id, meter),
        };
        drop(done);
        outcome
    });
    ChildMessage::Done(outcome).write(&mut io::stdout())
}

/// Bytes of the files that the work reads.
fn input_bytes(task: &Task, store: &Store) -> u64 {
    let bytes = |file: PathBuf| std::fs::metadata(file).map_or(0, |of| of.len());
    match task {
        Task::Ingest { .. } => task.files().into_iter().map(bytes).sum(),
        Task::Compare(id) => store.find(id).map_or(0, |profile| {
            profile.manifest.ranks.iter().map(|rank| bytes(profile.segment_path(rank))).sum()
        }),
    }
}

fn ingest(
    order: &ChildTask,
    store: &Store,
    settings: &IngestSettings,
    meter: &Meter,
) -> std::result::Result<InputsOutcome, Refusal> {
    let read = || -> Result<InputsOutcome> {
        let named = NamedInputs { files: order.task.files(), ..NamedInputs::default() };
        match ingest::prepare(store, &named, settings, meter, Some(&order.staging()))? {
            Prepared::AlreadyThere(id) => Ok(InputsOutcome::AlreadyThere(id)),
            Prepared::Staged(staged) => {
                staged.staging.leave(&staged.manifest)?;
                Ok(InputsOutcome::Staged)
            }
        }
    };
    // The log has the paths, the client gets none of them.
    read().map_err(|error| Refusal::from(ApiError::from(&error.with_file_names())))
}

fn compare(
    order: &ChildTask,
    store: &Store,
    id: &str,
    meter: &Meter,
) -> std::result::Result<InputsOutcome, Refusal> {
    meter.begin(Stage::Analysing, 0);
    let profile = store.find(id).map_err(ApiError::from)?;
    // The server ends the process if nobody waits any more.
    job_segment::to_directory(&profile, &order.staging(), Cancel::NEVER).map(InputsOutcome::Compared).map_err(
        |error| {
            tracing::error!("{error}");
            Refusal::new(RefusalKind::Damaged, error.without_path())
        },
    )
}

/// Kills this process when its standard input ends: the server has ended, or gave the child up.
fn end_with(mut stdin: io::Stdin) {
    thread::spawn(move || {
        let mut rest = [0; 64];
        while stdin.read(&mut rest).is_ok_and(|count| count > 0) {}
        // Not `exit`: the other threads run on until the process is gone, and must change nothing.
        let _ = kill_process(getpid(), Signal::KILL);
    });
}

/// Reports changes of the meter until the other end of `wait` is dropped.
fn report_while(meter: &Meter, wait: &mpsc::Receiver<()>) {
    let mut last = None;
    while wait.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
        let progress = meter.progress();
        // A server that does not listen has ended, and so does this process.
        if last.replace(progress) != Some(progress)
            && ChildMessage::Progress(progress).write(&mut io::stdout()).is_err()
        {
            return;
        }
    }
}

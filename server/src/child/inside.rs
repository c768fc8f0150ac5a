//! The child's side: reads its order, limits itself, ingests, reports.

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nprof_engine::wire::refusal::Refusal;
use rustix::process::{Signal, getpid, kill_process};

use super::message::{Order, Outcome, Report};
use crate::http::error::ApiError;
use crate::ingest::{self, Named, Prepared, Result};
use crate::store::Store;
use crate::work::Meter;

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
    let order = Order::read(&mut stdin.lock())?;
    end_with(stdin);
    let inputs = order.files();
    let input_bytes = inputs.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|of| of.len());
    order.limits.apply(input_bytes.sum())?;
    let meter = Meter::default();
    let outcome = thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        let (order, meter) = (&order, &meter);
        scope.spawn(move || report_while(meter, &wait));
        let outcome = ingest(order, meter);
        drop(done);
        outcome
    });
    // The log has the paths, the client gets none of them.
    let told = outcome.map_err(|error| Refusal::from(ApiError::from(&error.with_file_names())));
    Report::Done(told).write(&mut io::stdout())
}

fn ingest(order: &Order, meter: &Meter) -> Result<Outcome> {
    let store = Store::read(&order.store());
    let named = Named { files: order.files(), ..Named::default() };
    match ingest::prepare(&store, &named, &order.settings, meter, Some(&order.staging()))? {
        Prepared::AlreadyThere(id) => Ok(Outcome::AlreadyThere(id)),
        Prepared::Staged(staged) => {
            staged.staging.leave(&staged.manifest)?;
            Ok(Outcome::Staged)
        }
    }
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
            && Report::Progress(progress).write(&mut io::stdout()).is_err()
        {
            return;
        }
    }
}

//! Progress of an ingest, an export or a check, and Ctrl-C. A bar on a terminal, plain lines
//! elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use nprof_engine::exec::Cancel;
use nprof_engine::native::start_threads;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::end_signals::{EndSignal, EndSignals};
use crate::ingest::IngestError;
use crate::work::{Meter, Stage};

/// Template of the progress bar. The bar takes the space that the texts leave: 16 characters of 80.
const OF_BYTES: &str = "{msg:<11} [{wide_bar}] {prefix} {eta:>4} left";

/// Template for inputs without bytes, such as a simulated device.
const OF_EVENTS: &str = "{msg:<11} {prefix}";

/// Refresh interval: ten updates a second look smooth and cost nothing.
const TICK: Duration = Duration::from_millis(100);

/// `SIGTERM` cancelled the work.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Terminated(IngestError);

impl Terminated {
    /// The state after the signal of the work that failed with this error.
    fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref() {
            Some(IngestError::NotCompared) => Self(IngestError::NotCompared),
            _ => Self(IngestError::Cancelled),
        }
    }
}

/// Analyses and shows the progress. A cancelled analysis is an error of its own.
pub(super) fn analysing<T, E: Into<anyhow::Error>>(
    analyse: impl FnOnce(Cancel<'_>) -> Result<T, E>,
) -> anyhow::Result<T> {
    let meter = Meter::default();
    meter.begin(Stage::Analysing, 0);
    match watched(&meter, || analyse(Cancel::when(&|| meter.is_cancelled()))) {
        Err(_) if meter.is_cancelled() => Err(IngestError::Cancelled.into()),
        found => found,
    }
}

/// Runs an ingest, an export or a check and shows its progress. The first Ctrl-C or `SIGTERM`
/// cancels the work. The second one ends the program at once.
///
/// # Errors
/// If the system allows too few threads. That of the work; [`Terminated`] if the work failed after
/// `SIGTERM`.
pub(super) fn watched<T, E: Into<anyhow::Error>>(
    meter: &Meter,
    work: impl FnOnce() -> Result<T, E>,
) -> anyhow::Result<T> {
    start_threads()?;
    let first = OnceLock::new();
    let result = thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || show(meter, &wait));
        let interrupt = Interrupt::watch(scope, CancelTarget { meter, first: &first });
        let result = work();
        drop(done);
        drop(interrupt);
        result
    });
    result.map_err(|error| {
        let error: anyhow::Error = error.into();
        if first.get() == Some(&EndSignal::Terminate) { Terminated::of(&error).into() } else { error }
    })
}

fn show(meter: &Meter, wait: &mpsc::Receiver<()>) {
    if io::stderr().is_terminal() {
        show_bar(meter, wait);
    } else {
        show_lines(meter, wait);
    }
}

fn show_bar(meter: &Meter, wait: &mpsc::Receiver<()>) {
    let bar = ProgressBar::new(0);
    let start = Instant::now();
    let mut stage = None;
    while matches!(wait.recv_timeout(TICK), Err(mpsc::RecvTimeoutError::Timeout)) {
        if stage != Some(meter.stage()) {
            stage = Some(meter.stage());
            bar.reset();
            let template = if meter.bytes().1 > 0 { OF_BYTES } else { OF_EVENTS };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(title(meter.stage()));
        }
        let (read, total) = meter.bytes();
        let rate = rate(meter.events(), start.elapsed());
        bar.set_length(total);
        bar.set_position(read.min(total));
        bar.set_prefix(match total {
            _ if stage == Some(Stage::Exporting) => super::size::bytes(read),
            0 => format!("{:>11} events {rate}", super::size::count(meter.events())),
            // A check counts no events.
            _ if stage == Some(Stage::Verifying) => share(read, total),
            _ => format!("{} {rate}", share(read, total)),
        });
    }
    bar.finish_and_clear();
}

/// Prints one line per stage with a known size: logs and scripts need the stages, not smooth
/// progress.
fn show_lines(meter: &Meter, wait: &mpsc::Receiver<()>) {
    let mut stage = None;
    loop {
        let ended = !matches!(wait.recv_timeout(TICK), Err(mpsc::RecvTimeoutError::Timeout));
        let (_, total) = meter.bytes();
        if !ended && stage != Some(meter.stage()) && total > 0 {
            stage = Some(meter.stage());
            let size = super::size::bytes(total);
            // Ignore the error: the ingest must not stop because nobody reads the output.
            let _ = writeln!(io::stderr(), "{} {size}", title(meter.stage()));
        }
        if ended {
            return;
        }
    }
}

fn title(stage: Stage) -> &'static str {
    match stage {
        Stage::Identifying => "Identifying",
        Stage::Reading => "Reading",
        Stage::Publishing => "Publishing",
        Stage::Verifying => "Verifying",
        Stage::Exporting => "Exporting",
        Stage::Analysing => "Analysing",
    }
}

/// Bytes done of bytes in total, in the units for file sizes.
fn share(read: u64, total: u64) -> String {
    let (read, total) = (super::size::bytes(read.min(total)), super::size::bytes(total));
    format!("{read:>9} of {total}")
}

fn rate(events: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for people: two digits are right"
    )]
    let per_second = (events as f64 / seconds) as u64;
    format!("{:>9} events/s", HumanCount(per_second).to_string())
}

/// Listens for Ctrl-C until it is dropped.
struct Interrupt {
    _end: Option<oneshot::Sender<()>>,
}

impl Interrupt {
    fn watch<'scope>(scope: &'scope thread::Scope<'scope, '_>, cancel: CancelTarget<'scope>) -> Self {
        let (runtime, signals) = match listen() {
            Ok(listening) => listening,
            Err(error) => {
                tracing::warn!(
                    "cannot install the handler of Ctrl-C ({error}); Ctrl-C ends the program without \
                     cleaning up"
                );
                return Self { _end: None };
            }
        };
        let (end, ended) = oneshot::channel();
        scope.spawn(move || runtime.block_on(cancel_when_told(signals, ended, cancel)));
        Self { _end: Some(end) }
    }
}

/// Installs the signal handlers at once. A thread of its own could start after the first Ctrl-C.
fn listen() -> io::Result<(Runtime, EndSignals)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _entered = runtime.enter();
        EndSignals::listen()?
    };
    Ok((runtime, signals))
}

/// Work that a signal cancels.
struct CancelTarget<'scope> {
    meter: &'scope Meter,
    /// The first signal.
    first: &'scope OnceLock<EndSignal>,
}

async fn cancel_when_told(
    mut signals: EndSignals,
    mut ended: oneshot::Receiver<()>,
    target: CancelTarget<'_>,
) {
    tokio::select! {
        ending = signals.next() => {
            // The first signal stays.
            let _ = target.first.set(ending);
        }
        _ = &mut ended => return,
    }
    target.meter.cancel();
    tokio::select! {
        () = signals.exit_at_next() => {}
        _ = &mut ended => {}
    }
}

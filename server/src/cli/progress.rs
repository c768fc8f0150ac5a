//! How far an ingest, an export or a check is: a bar on a terminal, plain lines elsewhere; and Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::ending::EndSignals;
use crate::work::{Meter, Stage};

/// The bar takes what the terminal leaves: 16 characters of 80.
const OF_BYTES: &str = "{msg:<11} [{wide_bar}] {prefix} {eta:>4} left";

/// For what has no bytes, as a simulated device.
const OF_EVENTS: &str = "{msg:<11} {prefix}";

/// Ten times a second looks smooth and costs nothing.
const TICK: Duration = Duration::from_millis(100);

/// Runs an ingest, an export or a check and shows how far it is until it ends. Ctrl-C cancels it; a second one ends the
/// program at once.
pub(super) fn watched<T>(meter: &Meter, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(move || show(meter, &wait));
        let interrupt = Interrupt::watch(scope, meter);
        let result = work();
        drop(done);
        drop(interrupt);
        result
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

/// One line per stage: logs and scripts want to know what happens, not how smoothly.
fn show_lines(meter: &Meter, wait: &mpsc::Receiver<()>) {
    let mut stage = None;
    loop {
        let ended = !matches!(wait.recv_timeout(TICK), Err(mpsc::RecvTimeoutError::Timeout));
        let (_, total) = meter.bytes();
        if !ended && stage != Some(meter.stage()) && total > 0 {
            stage = Some(meter.stage());
            let size = super::size::bytes(total);
            // Nobody to tell is no reason to stop the ingest.
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
    }
}

/// How many bytes of how many, in units that files are shown in.
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

/// Listens for Ctrl-C as long as it lives.
struct Interrupt {
    _end: Option<oneshot::Sender<()>>,
}

impl Interrupt {
    fn watch<'scope>(scope: &'scope thread::Scope<'scope, '_>, meter: &'scope Meter) -> Self {
        let (runtime, signals) = match listen() {
            Ok(listening) => listening,
            Err(error) => {
                tracing::warn!("Ctrl-C ends the program at once: {error}");
                return Self { _end: None };
            }
        };
        let (end, ended) = oneshot::channel();
        scope.spawn(move || runtime.block_on(cancel_when_told(signals, ended, meter)));
        Self { _end: Some(end) }
    }
}

/// Begins to listen at once: the work that follows may be interrupted before a thread of its own would be running.
fn listen() -> io::Result<(Runtime, EndSignals)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _entered = runtime.enter();
        EndSignals::listen()?
    };
    Ok((runtime, signals))
}

async fn cancel_when_told(mut signals: EndSignals, mut ended: oneshot::Receiver<()>, meter: &Meter) {
    for is_second in [false, true] {
        tokio::select! {
            () = signals.next() => {}
            _ = &mut ended => return,
        }
        if is_second {
            // What lies in tmp/ is cleared by the next command that opens the store.
            std::process::exit(130);
        }
        meter.cancel();
    }
}

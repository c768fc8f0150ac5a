//! The command line: one file per subcommand. Types of clap stay in this module: other modules get
//! plain values.
//!
//! Exit codes: 0 success, 1 failure (one line on standard error says why), 2 wrong usage or a
//! wrong query, 3 a condition of `--fail-on` holds, 130 cancelled by Ctrl-C, 143 cancelled by
//! `SIGTERM`.

mod aiu;
mod answer;
mod balance_lines;
mod baseline;
mod capture;
mod clock;
mod collectives;
mod completions;
mod critical_path;
mod demo;
mod demo_truth;
mod diff;
mod diff_condition;
mod energy;
mod energy_lines;
mod export;
mod failed_condition;
mod finding_condition;
mod findings;
mod formats;
mod frequency;
mod ingest;
mod inspect;
mod limit;
mod list;
mod lost_input;
mod man;
mod metric_condition;
mod metric_list;
mod metrics;
mod overview;
mod part;
mod price;
mod probe;
mod progress;
mod rank_lines;
mod ranks;
mod region_lines;
mod region_spans;
mod regions;
mod rm;
mod run_condition;
mod search;
mod serve;
mod size;
mod slack;
mod summary;
mod table;
mod terms;
mod trace_groups;
mod verify;
mod view;
mod waits;
mod waits_over_time;
mod warn;
mod whatif;
mod write;
mod wrong_condition;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use rustix::io::Errno;
use tracing_subscriber::EnvFilter;

use crate::child;
use crate::end_signals::EndSignal;
use crate::http::limits::raise_open_files;
use crate::ingest::IngestError;
use crate::memory;
use crate::standard_output::{self, standard_output};
use crate::store::{Store, default_root};
use crate::terminal::{Escaping, visible};
use crate::verify::VerifyError;

/// Store profiles of AI accelerators in a directory and view them in a browser.
#[derive(Debug, Parser)]
#[command(name = "nprof", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    place: StorePlace,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  nprof view -n file.neff -s profile.ntff    ingest a trace, serve it, print its URL
  nprof view trace.json.gz                   the same for any supported file
  nprof serve --open                         view all profiles in a browser
  nprof demo                                 ingest a simulated profile, without any hardware

`nprof <command> --help` shows examples of a command.";

/// Option that selects the store.
#[derive(Debug, Clone, Args)]
struct StorePlace {
    /// Directory of the store [default: $NPROF_STORE, else ~/.local/share/nprof]
    #[arg(long, value_name = "DIR", global = true)]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    View(Box<view::ViewArgs>),
    Ingest(ingest::IngestArgs),
    List(list::ListArgs),
    Rm(rm::RmArgs),
    Clock(clock::ClockArgs),
    Ranks(ranks::RanksArgs),
    Collectives(collectives::CollectivesArgs),
    Findings(findings::FindingsArgs),
    Waits(waits::WaitsArgs),
    CriticalPath(critical_path::CriticalPathArgs),
    Whatif(whatif::WhatifArgs),
    Regions(regions::RegionsArgs),
    Energy(energy::EnergyArgs),
    Search(search::SearchArgs),
    Summary(summary::SummaryArgs),
    Metrics(metrics::MetricsArgs),
    Diff(Box<diff::DiffArgs>),
    Baseline(baseline::BaselineArgs),
    Table(table::TableArgs),
    Export(export::ExportArgs),
    Aiu(Box<aiu::AiuArgs>),
    Demo(demo::DemoArgs),
    Inspect(inspect::InspectArgs),
    Verify(verify::VerifyArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(hide = true)]
    Capture(capture::CaptureArgs),
}

impl StorePlace {
    fn root(&self) -> anyhow::Result<PathBuf> {
        Ok(self.store.clone().map_or_else(default_root, Ok)?)
    }

    /// The store, for changes.
    fn open(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.root()?)?)
    }

    /// The store for reading. Writes nothing to it.
    fn read(&self) -> anyhow::Result<Store> {
        Ok(told(Store::read(&self.root()?)))
    }

    /// The store, for changes if it allows them.
    fn open_or_read(&self) -> anyhow::Result<Store> {
        Ok(told(Store::open_or_read(&self.root()?)?))
    }
}

/// Says that a store is read only, if so.
fn told(store: Store) -> Store {
    if store.is_read_only() {
        let root = store.root().display().to_string();
        // Nobody may read the standard error.
        let _ = writeln!(io::stderr(), "{}: this store is read only", visible(&root));
    }
    store
}

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    memory::set_rules();
    // A profile can have more ranks than the usual limit.
    raise_open_files();
    if child::is_asked(std::env::args_os().skip(1)) {
        log_to_stderr();
        return child::run();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return explain(&usage),
    };
    log_to_stderr();
    let mut out = standard_output();
    let done = execute(cli, &mut out).and_then(|()| Ok(out.flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed the pipe, as in `nprof list | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "nprof: {}", one_line(&error));
            exit_code(&error)
        }
    }
}

fn execute(cli: Cli, out: &mut dyn Write) -> anyhow::Result<()> {
    let place = &cli.place;
    match cli.command {
        Command::Serve(args) => args.run(place, out),
        Command::View(args) => args.run(place, out),
        Command::Ingest(args) => args.run(place, out),
        Command::List(args) => args.run(place, out),
        Command::Rm(args) => args.run(place, out),
        Command::Clock(args) => args.run(place, out),
        Command::Ranks(args) => args.run(place, out),
        Command::Collectives(args) => args.run(place, out),
        Command::Findings(args) => args.run(place, out),
        Command::Waits(args) => args.run(place, out),
        Command::CriticalPath(args) => args.run(place, out),
        Command::Whatif(args) => args.run(place, out),
        Command::Regions(args) => args.run(place, out),
        Command::Energy(args) => args.run(place, out),
        Command::Search(args) => args.run(place, out),
        Command::Summary(args) => args.run(place, out),
        Command::Metrics(args) => args.run(out),
        Command::Diff(args) => args.run(place, out),
        Command::Baseline(args) => args.run(place, out),
        Command::Table(args) => args.run(place, out),
        Command::Export(args) => args.run(place, out),
        Command::Aiu(args) => args.run(place, out),
        Command::Demo(args) => args.run(place, out),
        Command::Inspect(args) => args.run(out),
        Command::Verify(args) => args.run(place, out),
        Command::Completions(args) => args.run(out),
        Command::Man(args) => args.run(out),
        Command::Capture(args) => args.run(),
    }
}

/// Prints a mistake in the arguments, or the help that they ask for.
fn explain(usage: &clap::Error) -> ExitCode {
    let text = usage.to_string();
    // The arguments can be names of files, which hold any character.
    if usage.use_stderr() && text.lines().any(|line| matches!(visible(line), Cow::Owned(_))) {
        let mut err = io::stderr().lock();
        let _ = text.lines().try_for_each(|line| writeln!(err, "{}", visible(line)));
    } else if usage.use_stderr() {
        let _ = usage.print();
    } else if let Err(error) = print_help(usage) {
        let _ = writeln!(io::stderr(), "nprof: cannot write ({error})");
        return ExitCode::FAILURE;
    }
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

/// Prints the help or the version that a user asked for.
fn print_help(help: &clap::Error) -> io::Result<()> {
    if standard_output::is_closed() {
        return Err(Errno::BADF.into());
    }
    match help.print().and_then(|()| io::stdout().flush()) {
        // As in `nprof --help | head -1`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Logs the program's own warnings to standard error. `NPROF_LOG=nprof_server=debug` shows more.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("NPROF_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Escaping(io::stderr()));
    // Without colours, which would be escaped. Fails only if a subscriber is already installed, as
    // in tests that run several commands.
    let _ = subscriber.without_time().with_ansi(false).with_target(false).try_init();
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    // Errors of serde_json do not show the error of the output among their causes.
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<io::Error>() {
        Some(error) => Some(error.kind()),
        None => cause.downcast_ref::<serde_json::Error>()?.io_error_kind(),
    };
    error.chain().filter_map(kind).any(|kind| kind == io::ErrorKind::BrokenPipe)
}

/// The exit code of a failure.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    match cancelled_by(error) {
        Some(ending) => ExitCode::from(ending.exit_code()),
        None if error.is::<failed_condition::Failing>() => ExitCode::from(failed_condition::EXIT_CODE),
        None if error.is::<failed_condition::Undecided>() => {
            ExitCode::from(failed_condition::UNDECIDED_EXIT_CODE)
        }
        None if error.is::<wrong_condition::WrongCondition>() => ExitCode::from(wrong_condition::EXIT_CODE),
        None if error.is::<search::WrongQuery>() => ExitCode::from(search::WRONG_QUERY_EXIT_CODE),
        None => ExitCode::FAILURE,
    }
}

/// The signal that cancelled the command, if one did.
fn cancelled_by(error: &anyhow::Error) -> Option<EndSignal> {
    if error.is::<progress::Terminated>() {
        return Some(EndSignal::Terminate);
    }
    let is_cancelled = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(IngestError::Cancelled | IngestError::NotCompared))
            || matches!(cause.downcast_ref(), Some(VerifyError::Cancelled))
    };
    error.chain().any(is_cancelled).then_some(EndSignal::Interrupt)
}

/// The error and the causes that its own text does not name, on one line.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    // Messages name files and profiles. Their names can hold any character.
    let line = line.replace('\n', " ");
    visible(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n  nprof "), "{}", command.get_name());
        }
    }

    #[test]
    fn a_cancelled_command_ends_as_by_its_signal() {
        let cancelled = [IngestError::Cancelled.into(), VerifyError::Cancelled.into()];
        for error in cancelled {
            let error: anyhow::Error = error;
            assert!(matches!(cancelled_by(&error), Some(EndSignal::Interrupt)), "{error}");
            assert_eq!(error.to_string(), "cancelled; the store is unchanged");
        }
        assert!(cancelled_by(&IngestError::NoInput.into()).is_none());
    }

    #[test]
    fn an_error_is_one_line_that_says_nothing_twice() {
        let inner = io::Error::other("disk full");
        let error =
            anyhow::Error::from(inner).context("a.json: cannot write (disk full)").context("two\nlines");
        assert_eq!(one_line(&error), "two lines: a.json: cannot write (disk full)");
    }
}

//! `nprof aiu`: options, meaning and files of acelyzer.

mod ignored_options;
mod values;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use nprof_capture::formats::aiu::{AiuSettings, DurationClock, EventLimit, Globals, OutsideWork};

use self::ignored_options::IgnoredArgs;
use self::values::{CounterArg, OverlapArg, UnitArg, limit, patterns, stages};
use super::frequency::Frequencies;
use super::progress::watched;
use super::{StorePlace, lost_input, size, warn, write};
use crate::aiu::align::Alignment;
use crate::aiu::form::{EventForm, Forms, NameForm, Preps, Series, StepForm, Threads};
use crate::aiu::lanes::Overlap;
use crate::aiu::profile::{Stages, Switch};
use crate::aiu::{self, Kind, Met, Report, ReportForm, Request, log_lines};
use crate::export::RanksOf;
use crate::ingest::{self, DiskSpool, Inputs, stage};
use crate::output::{FileId, OutputPlace, Outputs, Written};
use crate::terminal::visible;
use crate::work::{Meter, Stage};

const EXAMPLES: &str = "\
Examples:
  nprof aiu -i 'job_*.json' -c compiler.log -o out.json     trace, summary, active, cycles, categories
  nprof aiu -i rank0.json,rank1.json --flow -R -o out.json  arrows and slices of collective operations
  nprof aiu -i job.json --freq 560:800 -o out.json          durations by a stated frequency
  nprof aiu -i job.json --tb -o out.json                    files for TensorBoard
  nprof aiu -i job.json -V -o report.json                   check the trace; 1 if a check fails
  nprof aiu -i job.json --event_filter 'name:^relu' -o out.json
  nprof view job_*.json -c compiler.log                     look at the same jobs in a browser";

/// Name of the output without `--output`.
const OUTPUT: &str = "processed_trace.pt.trace.json";
const OUTPUT_WITHOUT_TENSORBOARD: &str = "processed_trace.json";
/// Name of a report without `--output`.
const REPORT: &str = "report.json";

/// Write acelyzer's files from traces of IBM AIUs
///
/// The options are those of acelyzer. docs/aiu.md lists the differences.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_version_flag = true)]
pub(super) struct AiuArgs {
    /// Traces, separated by commas or white space; `*` in a name matches any text
    #[arg(short = 'i', long, value_name = "FILES", required = true)]
    input: Vec<String>,
    /// File of the trace; the names of other files begin with its name
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Log of the compiler, a list of logs in the order of the ranks, or the folder with the files
    /// of the PyTorch compiler
    #[arg(short = 'c', long = "compiler_info", visible_alias = "compiler_log", value_name = "FILES")]
    compiler: Vec<String>,
    /// Frequencies in MHz: of the cycle counters, and of the cores [default: the frequency that the
    /// slices tell, and 1100]
    #[arg(long, value_name = "SOC[:CORE]", value_parser = Frequencies::parse)]
    freq: Option<Frequencies>,
    /// Counters in the trace; none without a value [default: power_ts4 coll_bw prep_queue rcu_util]
    #[arg(short = 'C', long, value_name = "COUNTERS", num_args = 0.., value_delimiter = ' ')]
    counter: Option<Vec<CounterArg>>,
    /// Treatment of slices that overlap others of their thread without being inside
    #[arg(short = 'O', long, default_value = "tid")]
    overlap: OverlapArg,
    /// Further thread numbers for overlapping slices that cause no message; -1 for any
    #[arg(
        long = "max_tid_streams",
        value_name = "COUNT",
        default_value_t = 5,
        allow_negative_numbers = true
    )]
    max_tid_streams: i64,
    /// Write arrows between the steps of collective operations
    #[arg(long)]
    flow: bool,
    /// Write slices of whole collective operations, and the table of their times
    #[arg(short = 'R', long = "build_coll_event")]
    build_coll_event: bool,
    /// Shift the work on the device of each job into its round trips on the host
    #[arg(long = "flex_ts_fix")]
    flex_ts_fix: bool,
    /// Leave out slices with which the host keeps books
    #[arg(long = "drop_globals")]
    drop_globals: bool,
    /// Write preparations as slices, too
    #[arg(long = "keep_prep")]
    keep_prep: bool,
    /// Keep numbers in names
    #[arg(long = "keep_names")]
    keep_names: bool,
    /// Write names as acelyzer damages them: `max_poold`, and `[B]` for the size of a transfer
    #[arg(long)]
    compat: bool,
    /// Leave out slices with a value that a pattern finds: `path:regex,…`, such as
    /// `args.Type:^SingleCast$`
    #[arg(long = "event_filter", value_name = "PATTERNS", default_value = "")]
    event_filter: String,
    /// Write only events of these phases, such as `XC`
    #[arg(short = 'F', long, value_name = "LETTERS", default_value = "")]
    filter: String,
    /// Form of the output
    #[arg(short = 'f', long, default_value = "json")]
    format: FormatArg,
    /// Write files for TensorBoard; without -P, the stages are those of torch_minimal.json
    #[arg(long, conflicts_with = "disable_tb")]
    tb: bool,
    /// Write no file for TensorBoard, and keep names
    #[arg(long = "disable_tb")]
    disable_tb: bool,
    /// Write no trace
    #[arg(long = "disable_file")]
    disable_file: bool,
    /// Write no tables
    #[arg(short = 't', long = "no_stats", alias = "disable_stats")]
    disable_stats: bool,
    /// Check the trace and write a report instead of all other files; ends with 1 if a check fails
    #[arg(short = 'V', long = "verify", alias = "verification_mode")]
    verify: bool,
    /// Unit of times in viewers
    #[arg(long = "time_unit", default_value = "ns")]
    time_unit: UnitArg,
    /// Write the steps of one send or receive as one slice
    #[arg(long = "comm_summarize_seq")]
    comm_summarize_seq: bool,
    /// Read a part of the events of each rank: JSON with `skip`, `count`, `ts_start`, `ts_end`
    #[arg(long = "event_limit", value_name = "JSON", value_parser = limit)]
    event_limit: Option<EventLimit>,
    /// Switch stages off: a file such as acelyzer's `torch_minimal.json`
    #[arg(short = 'P', long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Print statistics of the power, with and without kernels
    #[arg(long = "power-stats")]
    power_stats: bool,
    /// Watts of a step of the charge in a microsecond [default: 12 / 512]
    #[arg(long = "power-scale", value_name = "WATTS")]
    power_scale: Option<f64>,
    /// Keep the clocks of ranks
    #[arg(short = 'M', long = "no_mp_sync", alias = "skip_mpsync")]
    skip_mpsync: bool,
    /// Print the version
    #[arg(long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    /// Messages: 0 errors, 1 warnings, too, 2 all
    #[arg(short = 'D', long = "loglevel", value_name = "LEVEL", default_value_t = ALL_MESSAGES)]
    loglevel: u8,
    #[command(flatten)]
    ignored: IgnoredArgs,
}

/// Levels of messages of `--loglevel`.
const WARNINGS: u8 = 1;
const ALL_MESSAGES: u8 = 2;

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Trace Event JSON, or a report as JSON
    Json,
    /// With -V: a report for people
    Text,
    /// A table of the slices, aligned for people
    Pddf,
}

impl AiuArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.format == FormatArg::Text && !self.verify {
            bail!("-f text is for reports; add -V, or leave it out");
        }
        let is_power = |arg: &&CounterArg| matches!(arg, CounterArg::PowerTs3 | CounterArg::PowerTs4);
        if self.counter.iter().flatten().filter(is_power).collect::<BTreeSet<_>>().len() > 1 {
            bail!("power_ts3 and power_ts4 exclude each other; choose one of them with -C");
        }
        let stages = match &self.profile {
            Some(path) => stages(path).map_err(anyhow::Error::msg)?,
            None if self.tb => Stages::torch_minimal(),
            None => Stages::default(),
        };
        let settings = self.settings(&stages)?;
        let mut request = self.request(&stages);
        let traces = all_files(&self.input)?;
        let compiler = all_files(&self.compiler)?;
        let store = place.open_or_read()?;
        let files: Vec<&Path> = traces.iter().chain(&compiler).map(|path| &**path).collect();
        lost_input::watch(&files);
        let meter = Meter::default();
        let mut said = Vec::new();
        let dir = tempfile::tempdir()?;
        let mut outputs = Outputs::new(out, &meter, &store);
        outputs.keep(self.profile.iter().filter_map(|path| FileId::at(path)));
        let place = outputs.place(&request.output)?;
        let lines = only_trace(&mut request, &place)?;
        let written = watched(&meter, || {
            let tmp = store.tmp();
            let spool = DiskSpool::new(&tmp, &meter);
            let inputs = aiu::inputs::inputs(&traces, &compiler, &settings, dir.path(), &spool)?;
            outputs.keep(inputs.file_ids());
            outputs.place(&request.output)?;
            let settings = ingest::IngestSettings::default();
            let read = |inputs: &Inputs| stage(store.stage_anywhere()?, inputs, None, &settings, &meter);
            let staged = inputs.reading(read)?;
            let profile = staged.profile();
            warn::tell(&profile, &mut said)?;
            meter.begin(Stage::Exporting, 0);
            let clocks = match self.is_aligned(&stages, profile.manifest.ranks.len()) {
                true => Alignment::of(&profile, &meter)?,
                false => Alignment::default(),
            };
            let of = RanksOf::all(&profile);
            let mut outcome = self.write(of, &clocks, &stages, &request, &mut outputs)?;
            outcome.lines.extend(lines);
            Ok::<_, anyhow::Error>(outcome)
        });
        let written = written.map_err(|error| write::cause(error, &meter));
        if self.loglevel < WARNINGS {
            said.clear();
        }
        let outcome = written.inspect_err(|_| drop(io::stderr().write_all(&said)))?;
        outcome.tell(&said, self.loglevel)
    }

    /// Whether ranks get one clock.
    fn is_aligned(&self, stages: &Stages, ranks: usize) -> bool {
        ranks > 1 && !self.skip_mpsync && !self.verify && stages.has(Switch::Alignment)
    }

    fn write(
        &self,
        of: RanksOf<'_>,
        clocks: &Alignment,
        stages: &Stages,
        request: &Request,
        outputs: &mut Outputs<'_>,
    ) -> anyhow::Result<AiuOutcome> {
        let mut lines = self.ignored.lines();
        if self.loglevel > ALL_MESSAGES {
            lines.push("-D has no effect above 2: NPROF_LOG chooses what else is logged".to_owned());
        }
        lines.extend(self.beside());
        lines.extend(unused(stages));
        if !self.verify {
            let (written, met) = aiu::write(of, clocks, request, outputs)?;
            if self.is_aligned(stages, of.ranks.len()) {
                lines.push(match clocks.operations {
                    0 => "ranks keep their clocks: no operation of several ranks tells more".to_owned(),
                    count => {
                        let operations = size::counted(count.into(), "operation");
                        format!("ranks are aligned by {operations}; -M keeps their clocks")
                    }
                });
            }
            lines.extend(log_lines::frequencies(of, self.freq.map(|of| of.soc_mhz))?);
            if stages.has(Switch::Iterations) {
                lines.extend(log_lines::iterations(of)?);
            }
            if self.power_stats && stages.has(Switch::Power) {
                lines.extend(log_lines::power(of)?);
            }
            return Ok(AiuOutcome { written, met, report: None, lines });
        }
        let form = if self.format == FormatArg::Text { ReportForm::Text } else { ReportForm::Json };
        let (report, written) = aiu::verify(of, request, form, outputs)?;
        Ok(AiuOutcome {
            written: written.into_iter().collect(),
            met: Met::default(),
            report: Some(report),
            lines,
        })
    }

    /// Lines about options that have no effect beside others.
    fn beside(&self) -> Vec<String> {
        let is_table = self.format == FormatArg::Pddf;
        let given = [
            (is_table && self.tb, "--tb", "-f pddf", "a table has no file for each rank"),
            (is_table && self.flow, "--flow", "-f pddf", "a table has slices only"),
            (self.verify && self.power_stats, "--power-stats", "-V", "only a report is written"),
            (self.verify && self.build_coll_event, "-R", "-V", "only a report is written"),
            (
                self.verify && self.freq.is_some(),
                "--freq",
                "-V",
                "times of the host are checked, which it does not change",
            ),
        ];
        let given = given.iter().filter(|(is_given, ..)| *is_given);
        given.map(|(_, option, with, why)| format!("{option} has no effect with {with}: {why}")).collect()
    }

    fn settings(&self, stages: &Stages) -> anyhow::Result<AiuSettings> {
        let default = AiuSettings::default();
        // A wrong frequency must not make slices overlap that did not.
        let is_by_host = self.verify || !stages.has(Switch::DeviceTime);
        let drops_globals = self.drop_globals && stages.has(Switch::Globals);
        let settings = AiuSettings {
            soc_mhz: self.freq.map(|of| of.soc_mhz).filter(|_| !self.verify),
            core_mhz: self.freq.and_then(|of| of.core_mhz).unwrap_or(default.core_mhz),
            outside: if self.flex_ts_fix { OutsideWork::Shifted } else { OutsideWork::Kept },
            left_out: patterns(&self.event_filter).map_err(anyhow::Error::msg)?,
            globals: if drops_globals { Globals::Dropped } else { Globals::Kept },
            durations: if is_by_host { DurationClock::Host } else { DurationClock::Device },
            limit: self.event_limit.clone().unwrap_or_default(),
            power_scale: self.power_scale.unwrap_or(default.power_scale),
            max_watts: default.max_watts,
        };
        settings.check()?;
        Ok(settings)
    }

    /// The counters of `-C` whose stages are on.
    fn counters(&self, stages: &Stages) -> Vec<Series> {
        let default = [CounterArg::PowerTs4, CounterArg::CollBw, CounterArg::PrepQueue, CounterArg::RcuUtil];
        let counters = self.counter.as_deref().unwrap_or(&default).iter().map(|&counter| counter.into());
        let stage = |series: Series| match series {
            Series::PowerTs4 | Series::PowerTs3 => Switch::Power,
            Series::CollBw => Switch::Bandwidth,
            Series::Bandwidth => Switch::Rates,
            Series::PrepQueue => Switch::Preps,
            Series::RcuUtil => Switch::Utilization,
        };
        counters.filter(|series| stages.has(stage(*series))).collect()
    }

    fn request(&self, stages: &Stages) -> Request {
        let default = match (self.verify, self.disable_tb) {
            (true, _) => REPORT,
            (false, true) => OUTPUT_WITHOUT_TENSORBOARD,
            (false, false) => OUTPUT,
        };
        let keeps_names = self.keep_names || self.disable_tb || !stages.has(Switch::Names);
        let counters = self.counters(stages);
        // Preparations become a counter, or stay.
        let keeps_preps = self.keep_prep || !counters.contains(&Series::PrepQueue);
        let sums_up = self.comm_summarize_seq && stages.has(Switch::Sums);
        let kind = if self.format == FormatArg::Pddf { Kind::Frame } else { Kind::Chrome };
        Request {
            output: self.output.clone().unwrap_or_else(|| default.into()),
            command: command(std::env::args_os()),
            form: EventForm {
                overlap: if stages.has(Switch::Overlaps) { self.overlap.into() } else { Overlap::Kept },
                max_streams: u32::try_from(self.max_tid_streams).ok(),
                counters,
                preps: if keeps_preps { Preps::Kept } else { Preps::Counted },
                names: if keeps_names { NameForm::Kept } else { NameForm::Shortened },
                has_flows: self.flow && stages.has(Switch::Flows),
                has_collectives: self.build_coll_event && stages.has(Switch::Flows),
                has_launches: stages.has(Switch::Launches),
                has_utilization: stages.has(Switch::Utilization),
                steps: if sums_up { StepForm::Summed } else { StepForm::Each },
                threads: if stages.has(Switch::Threads) { Threads::Numbered } else { Threads::Kept },
                forms: if self.compat { Forms::Acelyzer } else { Forms::Own },
                has_device_time: stages.has(Switch::DeviceTime),
                has_shifts: self.flex_ts_fix,
                is_part: !self.event_filter.is_empty() || self.event_limit.is_some(),
                core_mhz: self.freq.and_then(|of| of.core_mhz).unwrap_or(AiuSettings::default().core_mhz),
                phases: if stages.has(Switch::Filter) { self.filter.clone() } else { String::new() },
                time_unit: self.time_unit.into(),
            },
            trace: (!self.disable_file).then_some(kind),
            has_tables: !self.disable_stats && stages.has(Switch::Tables),
            has_shares: !self.disable_stats && stages.has(Switch::Shares),
            for_tensorboard: self.tb,
        }
    }
}

/// Lines about the stages of a profile that nprof does not switch off.
fn unused(stages: &Stages) -> Vec<String> {
    let line = |names: &[String], why: &str| {
        (!names.is_empty()).then(|| format!("-P: {} {why}", visible(&names.join(", "))))
    };
    let without = line(&stages.without_effect, "without effect: nprof has no such stage that could be off");
    let unknown = line(&stages.unknown, "not known, so without effect");
    without.into_iter().chain(unknown).collect()
}

/// Leaves out what has no place beside the trace, if that is no file. Returns lines about it.
fn only_trace(request: &mut Request, place: &OutputPlace) -> anyhow::Result<Vec<String>> {
    if matches!(place, OutputPlace::File(_)) {
        return Ok(Vec::new());
    }
    let output = request.output.display().to_string();
    if request.for_tensorboard && request.trace.is_some() {
        bail!("{output}: --tb writes files with names of their own; name a file with -o");
    }
    let had_tables = request.has_tables || request.has_shares;
    (request.has_tables, request.has_shares) = (false, false);
    let line = format!("no tables are written: {} is no file that gives them their names", visible(&output));
    Ok(had_tables.then_some(line).into_iter().collect())
}

fn all_files(texts: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let files = texts.iter().map(|text| aiu::inputs::files(text)).collect::<aiu::Result<Vec<_>>>()?;
    Ok(files.concat())
}

/// The command as the user wrote it.
fn command(words: impl Iterator<Item = OsString>) -> String {
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<String>>().join(" ")
}

/// Result of the command.
struct AiuOutcome {
    written: Vec<Written>,
    met: Met,
    report: Option<Report>,
    /// Facts about the run.
    lines: Vec<String>,
}

impl AiuOutcome {
    /// Prints warnings and the names of the files, as far as the level goes. A check that failed is
    /// an error.
    fn tell(&self, said: &[u8], level: u8) -> anyhow::Result<()> {
        let mut err = io::stderr().lock();
        if level >= WARNINGS {
            err.write_all(said)?;
            self.tell_warnings(&mut err)?;
        }
        if level >= ALL_MESSAGES {
            self.tell_facts(&mut err)?;
        }
        if self.report.as_ref().is_some_and(Report::has_failed) {
            bail!("the trace has errors; the report lists them");
        }
        Ok(())
    }

    fn tell_warnings(&self, err: &mut dyn Write) -> io::Result<()> {
        let met = self.met;
        if met.overlaps > 0 {
            let slices = size::counted(met.overlaps, "slice");
            writeln!(err, "{slices} overlapping others of their thread")?;
        }
        if met.beyond > 0 {
            let slices = size::counted(met.beyond, "slice");
            writeln!(err, "{slices} with a thread number beyond --max_tid_streams")?;
        }
        Ok(())
    }

    fn tell_facts(&self, err: &mut dyn Write) -> io::Result<()> {
        for line in &self.lines {
            writeln!(err, "{line}")?;
        }
        for Written { path, bytes } in &self.written {
            writeln!(err, "wrote {} ({})", visible(&path.display().to_string()), size::bytes(*bytes))?;
        }
        let findings = self.report.iter().flat_map(|report| &report.findings);
        for finding in findings.filter(|finding| finding.count > 0) {
            writeln!(err, "{} × {}", size::count(finding.count), finding.name)?;
        }
        Ok(())
    }
}

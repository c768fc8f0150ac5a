//! Options of acelyzer that nprof refuses, because it does not do what they ask, and options that
//! change nothing there either.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

/// Options that are refused.
#[derive(Debug, Args)]
pub(super) struct RefusedArgs {
    /// Refused: steps of collective operations are not summed up
    #[arg(long = "comm_summarize_seq", hide_short_help = true)]
    comm_summarize_seq: bool,
    /// Refused: the second way of aligning ranks
    #[arg(short = 'S', long = "mp_sync_v2", hide_short_help = true)]
    mp_sync_v2: bool,
    /// Refused: slices are not split into phases
    #[arg(short = 's', long = "split_events", hide_short_help = true)]
    split_events: bool,
    /// Refused: no sample of the power is left out
    #[arg(short = 'k', long = "skip_events", hide_short_help = true)]
    skip_events: bool,
    /// Refused: nothing is written between stages
    #[arg(short = 'I', long = "intermediate", hide_short_help = true)]
    intermediate: bool,
    /// Refused: statistics of the power are not there
    #[arg(long = "power-stats", hide_short_help = true)]
    power_stats: bool,
    /// Refused: the number of events is not limited
    #[arg(long = "event_limit", value_name = "JSON", hide_short_help = true)]
    event_limit: Option<String>,
    /// Refused, but for `everything.json` and `default.json`: stages are not switched off
    #[arg(short = 'P', long, value_name = "FILE", hide_short_help = true)]
    profile: Option<PathBuf>,
}

/// Names of stage profiles in which all stages are on.
const WITH_ALL_STAGES: [&str; 2] = ["everything.json", "default.json"];

/// Options that have no effect.
#[derive(Debug, Args)]
pub(super) struct IgnoredArgs {
    /// Accepted and ignored: nprof has no stages that fail on the order of counters
    #[arg(long = "ignore_crit", hide_short_help = true)]
    ignore_crit: bool,
    /// Accepted and ignored, as in acelyzer
    #[arg(short = 'T', long = "sync_to_dev", hide_short_help = true)]
    sync_to_dev: bool,
    /// Accepted and ignored, as in acelyzer
    #[arg(long = "autopilot_data", value_name = "FILE", hide_short_help = true)]
    autopilot_data: Option<String>,
    /// Accepted and ignored, as in acelyzer
    #[arg(long = "disable_input_warnings", hide_short_help = true)]
    disable_input_warnings: bool,
    /// Accepted and ignored, as in acelyzer
    #[arg(long = "freq_scaling", value_name = "FACTOR", hide_short_help = true)]
    freq_scaling: Option<f64>,
    /// Accepted and ignored: NPROF_LOG chooses what is logged
    #[arg(short = 'D', long = "loglevel", value_name = "LEVEL", hide_short_help = true)]
    loglevel: Option<u8>,
    /// Accepted and ignored: ranks keep their own clocks
    #[arg(short = 'M', long = "skip_mpsync", hide_short_help = true)]
    skip_mpsync: bool,
}

impl IgnoredArgs {
    /// Whether the user wants ranks to keep their clocks.
    pub(super) fn skips_alignment(&self) -> bool {
        self.skip_mpsync
    }
}

impl RefusedArgs {
    /// Refuses the options that ask for what nprof does not do.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let has_all = |profile: &PathBuf| {
            WITH_ALL_STAGES.iter().any(|name| profile.file_name().is_some_and(|of| of == *name))
        };
        let has_part = self.profile.as_ref().is_some_and(|profile| !has_all(profile));
        let refused = [
            (self.comm_summarize_seq, "--comm_summarize_seq", "leave it out to get all steps"),
            (self.mp_sync_v2, "-S", "leave it out; ranks keep their own clocks"),
            (self.split_events, "-s", "leave it out to get whole slices"),
            (self.skip_events, "-k", "leave it out to get all samples"),
            (self.intermediate, "-I", "leave it out; `nprof export` writes all tables"),
            (self.event_limit.is_some(), "--event_limit", "use `nprof export` with --from and --to"),
            (has_part, "-P", "leave it out; options such as -C, -t and --keep_prep choose what is written"),
            (self.power_stats, "--power-stats", "leave it out; the trace has the counter of the power"),
        ];
        if let Some((_, option, advice)) = refused.iter().find(|(is_there, ..)| *is_there) {
            bail!("nprof does not do what {option} asks for; {advice}");
        }
        Ok(())
    }
}

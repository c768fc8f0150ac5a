//! Options of acelyzer that have no effect. Each prints a line with the reason.

use clap::Args;

/// Options that have no effect.
#[derive(Debug, Args)]
pub(super) struct IgnoredArgs {
    /// Without effect: the second way of aligning ranks
    #[arg(short = 'S', long = "use_mp_sync_v2", alias = "mp_sync_v2", hide_short_help = true)]
    mp_sync_v2: bool,
    /// Without effect: slices are not split into phases
    #[arg(short = 's', long = "split_events", hide_short_help = true)]
    split_events: bool,
    /// Without effect: no sample of the power is left out
    #[arg(short = 'k', long = "skip_events", hide_short_help = true)]
    skip_events: bool,
    /// Without effect: nothing is written between stages
    #[arg(short = 'I', long = "intermediate", hide_short_help = true)]
    intermediate: bool,
    /// Without effect: nprof has no stages that fail on the order of counters
    #[arg(long = "ignore_crit", hide_short_help = true)]
    ignore_crit: bool,
    /// Without effect, as in acelyzer
    #[arg(short = 'T', long = "sync_to_dev", hide_short_help = true)]
    sync_to_dev: bool,
    /// Without effect, as in acelyzer
    #[arg(long = "autopilot_data", value_name = "FILE", hide_short_help = true)]
    autopilot_data: Option<String>,
    /// Without effect, as in acelyzer
    #[arg(long = "disable_input_warnings", hide_short_help = true)]
    disable_input_warnings: bool,
    /// Without effect, as in acelyzer
    #[arg(long = "freq_scaling", value_name = "FACTOR", hide_short_help = true)]
    freq_scaling: Option<f64>,
}

impl IgnoredArgs {
    /// A line for each option that was given, with the reason why it has no effect.
    pub(super) fn lines(&self) -> Vec<String> {
        let acelyzer = "it has no effect in acelyzer either";
        let given = [
            (self.mp_sync_v2, "-S", "ranks are aligned by all their operations, in one way"),
            (self.split_events, "-s", "each phase already has a slice of its own"),
            (self.skip_events, "-k", "all samples of the power are written"),
            (self.intermediate, "-I", "nprof has no stages; `nprof export` writes all tables"),
            (self.ignore_crit, "--ignore_crit", "counters out of order do not stop nprof"),
            (self.sync_to_dev, "-T", acelyzer),
            (self.autopilot_data.is_some(), "--autopilot_data", acelyzer),
            (self.disable_input_warnings, "--disable_input_warnings", acelyzer),
            (self.freq_scaling.is_some(), "--freq_scaling", acelyzer),
        ];
        let given = given.iter().filter(|(is_given, ..)| *is_given);
        given.map(|(_, option, reason)| format!("{option} has no effect: {reason}")).collect()
    }
}

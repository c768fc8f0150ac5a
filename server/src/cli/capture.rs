//! `nprof capture`: not implemented. The command exists because scripts of neuron-profile call it.

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  nprof view -n file.neff -s profile.ntff            after `neuron-profile capture -n file.neff -s profile.ntff`
  nprof view -d session_dir/                         after a capture of several ranks";

/// Explain how to capture with neuron-profile; nprof does not capture
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CaptureArgs {
    /// Flags of `neuron-profile capture`, which have no effect
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    ignored: Vec<OsString>,
}

impl CaptureArgs {
    /// Always fails. The command consists of its error message.
    pub(super) fn run(self) -> anyhow::Result<()> {
        drop(self.ignored);
        bail!(
            "nprof does not capture; run `neuron-profile capture -n file.neff -s profile.ntff` on the \
             machine with the device, then `nprof view -n file.neff -s profile.ntff`"
        )
    }
}

//! `nprof completions`

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;

const EXAMPLES: &str = "\
Examples:
  nprof completions bash > ~/.local/share/bash-completion/completions/nprof
  nprof completions zsh > ~/.zfunc/_nprof
  nprof completions fish > ~/.config/fish/completions/nprof.fish";

/// Print a shell script that completes commands and flags
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// Shell that runs the script
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "nprof", &mut script);
        Ok(out.write_all(&script)?)
    }
}

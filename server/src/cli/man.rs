//! `nprof man`

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_mangen::Man;
use nprof_engine::native::AtomicFile;

use super::Cli;

const EXAMPLES: &str = "\
Examples:
  nprof man | man -l -                              read the manual
  nprof man --into ~/.local/share/man/man1          install a page for each command";

/// Print the manual as a man page
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// Write a page for each command into this directory, which is made if it is missing
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        // Flags of the whole program belong into each page.
        let mut command = Cli::command();
        command.build();
        let Some(into) = self.into else {
            return Ok(Man::new(command).render(out)?);
        };
        let cannot_write = || format!("{}: the pages cannot be written", into.display());
        fs::create_dir_all(&into).and_then(|()| write_pages(&command, &into)).with_context(cannot_write)
    }
}

/// Writes the page of a command and of those below it. Each page is replaced as a whole or not at
/// all.
fn write_pages(command: &clap::Command, into: &Path) -> io::Result<()> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.into_iter().try_for_each(|below| write_pages(below, into))?;
    let page = Man::new(command.clone());
    let file = AtomicFile::create(&into.join(page.get_filename()))?;
    page.render(&mut file.file())?;
    file.commit().map(drop)
}

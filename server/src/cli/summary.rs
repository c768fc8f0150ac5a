//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::StorePlace;
use super::export::{Destination, Form, write};
use crate::ingest::Meter;

const EXAMPLES: &str = "\
Examples:
  nprof summary run-7
  nprof summary run-7 --rank 0 --output-format json";

/// Show the metrics of a profile
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SummaryArgs {
    /// The name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Only this rank
    #[arg(long)]
    rank: Option<u32>,
    /// As a table or as JSON
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    output_format: SummaryFormat,
    /// Where to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SummaryFormat {
    /// A table of two columns
    Text,
    /// JSON: {"n_<hash>": {metric: value}}
    Json,
}

impl SummaryArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.open()?.find(&self.profile)?;
        let mut ranks = profile.manifest.ranks.clone();
        if let Some(rank) = self.rank {
            ranks.retain(|file| file.rank == rank);
            if ranks.is_empty() {
                let known: Vec<String> =
                    profile.manifest.ranks.iter().map(|file| file.rank.to_string()).collect();
                bail!("profile \"{}\" has no rank {rank}; it has {}", self.profile, known.join(", "));
            }
        }
        let form = match self.output_format {
            SummaryFormat::Text => Form::SummaryText,
            SummaryFormat::Json => Form::SummaryJson,
        };
        let destination = self.output_file.map_or(Destination::StandardOutput, Destination::File);
        write(&profile, &ranks, form, &destination, &Meter::default(), out)
    }
}

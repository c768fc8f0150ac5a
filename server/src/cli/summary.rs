//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::StorePlace;
use super::write::{Destination, Form, stored, write_stored};

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
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value_t = SummaryFormat::Text)]
    output_format: SummaryFormat,
    /// The file to write, `-` for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
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
        let profile = stored(&place.open()?, &self.profile)?;
        let form = match self.output_format {
            SummaryFormat::Text => Form::SummaryText,
            SummaryFormat::Json => Form::SummaryJson,
        };
        let destination = self.output_file.map_or(Destination::StandardOutput, Destination::named);
        write_stored(&profile, self.rank, form, &destination, out)
    }
}

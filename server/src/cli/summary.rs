//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::StorePlace;
use super::part::rank_of;
use super::write::{Destination, Form, StoredPart, stored, write_stored};
use crate::export::cut::PartOf;

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
    /// JSON: `{"n_<hash>": {metric: value}}`
    Json,
}

impl SummaryArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.open()?;
        let profile = stored(&store, &self.profile)?;
        let form = match self.output_format {
            SummaryFormat::Text => Form::SummaryText,
            SummaryFormat::Json => Form::SummaryJson,
        };
        let destination = self.output_file.map_or(Destination::StandardOutput, Destination::named);
        let ranks = match self.rank {
            Some(rank) => vec![rank_of(&profile, rank)?.clone()],
            None => profile.manifest.ranks.clone(),
        };
        let wanted = StoredPart { store: &store, profile: &profile, ranks, part: PartOf::default() };
        write_stored(&wanted, form, &destination, out)
    }
}

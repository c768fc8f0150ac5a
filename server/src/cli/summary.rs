//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::StorePlace;
use super::formats::format_parser;
use super::write::{Output, STANDARD_OUTPUT, StoredPart, stored, write_stored};
use crate::export::cut::PartOf;
use crate::export::requested_part::rank_of;
use crate::export::{Export, ExportChoices};

const EXAMPLES: &str = "\
Examples:
  nprof summary run-7
  nprof summary run-7 --rank 0 --output-format json";

/// Show the metrics of a profile
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SummaryArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Rank to show [default: all]
    #[arg(long)]
    rank: Option<u32>,
    /// As a table or as JSON
    #[arg(
        long,
        visible_alias = "format",
        value_parser = format_parser("summary-"),
        ignore_case = true,
        default_value = "text"
    )]
    output_format: &'static Export,
    /// The file to write, `-` for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

impl SummaryArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let profile = stored(&store, &self.profile)?;
        let path = self.output_file.unwrap_or_else(|| STANDARD_OUTPUT.into());
        let ranks = match self.rank {
            Some(rank) => vec![rank_of(&profile, rank)?.clone()],
            None => profile.manifest.ranks.clone(),
        };
        let wanted = StoredPart { store: &store, profile: &profile, ranks, part: PartOf::default() };
        let output = Output { format: self.output_format, choices: ExportChoices::default(), path };
        write_stored(&wanted, &output, out)
    }
}

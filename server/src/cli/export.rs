//! `nprof export`

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::StorePlace;
use super::part::PartArgs;
use super::write::{Destination, Form, StoredPart, stored, write_stored};
use crate::export::perfetto::Flows;

const EXAMPLES: &str = "\
Examples:
  nprof export run-7 -o run-7.json                   all tables; several ranks: run-7_rank_<i>.json
  nprof export run-7 --ranks 0 | jq '.slice[0]'       one rank, to standard output
  nprof export run-7 --format perfetto -o run-7.pftrace --show-perfetto-flows
  nprof export run-7 --format html -o run-7.html     one file to share: a browser opens it without nprof
  nprof export run-7 --format site -o run-7          a folder for any static web host
  nprof export run-7 --format html -o part.html --ranks 0,3-5 --from 10ms --to 12ms --tracks 'Engines/*'
  nprof export run-7 --format summary-text";

/// Write a profile of the store in another format
///
/// The trace itself is not needed. docs/export.md describes the formats.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// The name or id of a profile, as `nprof list` shows it
    profile: String,
    /// In which format
    #[arg(long, visible_alias = "output-format", value_enum, ignore_case = true, default_value_t = ExportFormat::Json)]
    format: ExportFormat,
    /// The file or folder to write, `-` for standard output; several ranks as JSON go to `FILE_rank_<i>`
    /// [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Arrows between slices, in a Perfetto trace
    #[arg(long)]
    show_perfetto_flows: bool,
    #[command(flatten)]
    part: PartArgs,
}

/// The formats that a profile can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// All tables, as neuron-profile writes them, with exact times and tracks
    Json,
    /// The metrics as a table of two columns
    SummaryText,
    /// The metrics as JSON: `{"n_<hash>": {metric: value}}`
    SummaryJson,
    /// A trace for ui.perfetto.dev and trace_processor; times are whole nanoseconds there
    Perfetto,
    /// The whole page with the profile inside: one file that a browser opens without nprof
    Html,
    /// A folder for a static web host that serves parts of files (range requests): the page fetches
    /// what it shows, however large the profile is
    Site,
}

impl ExportArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.open()?;
        let profile = stored(&store, &self.profile)?;
        let max_bytes = self.part.max_bytes();
        if max_bytes.is_some() && self.format != ExportFormat::Html {
            bail!("--max-size goes with --format html alone");
        }
        let form = match self.format {
            ExportFormat::Json => Form::Json,
            ExportFormat::SummaryText => Form::SummaryText,
            ExportFormat::SummaryJson => Form::SummaryJson,
            ExportFormat::Html => Form::Html { max_bytes },
            ExportFormat::Site => Form::Site,
            ExportFormat::Perfetto => Form::Perfetto(Flows::wanted(self.show_perfetto_flows)),
        };
        let destination = self.output_file.map_or(Destination::StandardOutput, Destination::named);
        let (ranks, part) = (self.part.ranks(&profile)?, self.part.part());
        let wanted = StoredPart { store: &store, profile: &profile, ranks, part };
        write_stored(&wanted, form, &destination, out)
    }
}

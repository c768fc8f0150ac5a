//! `nprof export`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::StorePlace;
use super::formats::{ChoiceArgs, format_parser};
use super::part::PartArgs;
use super::write::{Output, STANDARD_OUTPUT, StoredPart, stored, write_stored};
use crate::export::requested_part::view_of;
use crate::export::{Export, ExportChoices};
use crate::units::size_bytes;

const EXAMPLES: &str = "\
Examples:
  nprof export run-7 -o run-7.json                   all tables; several ranks: run-7_rank_<i>.json
  nprof export run-7 --ranks 0 | jq '.slice[0]'       one rank, to standard output
  nprof export run-7 --format csv --ranks 0 -o run-7.csv     all slices; one table by --table
  nprof export run-7 --format perfetto -o run-7.pftrace --show-perfetto-flows
  nprof export run-7 --format html -o run-7.html     one file to share: a browser opens it without nprof
  nprof export run-7 --format html -o run-7.html --what-if     the file can replay the run, too
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
    #[arg(
        long,
        visible_alias = "output-format",
        value_parser = format_parser(),
        ignore_case = true,
        default_value = "json"
    )]
    format: &'static Export,
    /// The file or folder to write, `-` for standard output; several ranks as JSON or CSV go to
    /// `FILE_rank_<i>` [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    choices: ChoiceArgs,
    #[command(flatten)]
    part: PartArgs,
    /// Write nothing if the file would be larger, such as `50MiB`
    #[arg(long, value_name = "SIZE", value_parser = size_bytes)]
    max_size: Option<u64>,
    /// Open an HTML file or a folder of a web host at this view: a link that was copied from the
    /// page
    #[arg(long, value_name = "LINK", value_parser = view_of)]
    view: Option<String>,
    /// With the dependency graph of the run in an HTML file or a folder of a web host, so that its
    /// page answers what-if questions: about a byte for each event
    #[arg(long)]
    what_if: bool,
}

impl ExportArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let profile = stored(&store, &self.profile)?;
        let more = ExportChoices {
            max_bytes: self.max_size,
            view: self.view,
            has_graph: self.what_if,
            ..ExportChoices::default()
        };
        let choices = self.choices.choices(more, Some(self.format))?;
        let path = self.output_file.unwrap_or_else(|| STANDARD_OUTPUT.into());
        let (ranks, part) = (self.part.ranks(&profile)?, self.part.part()?);
        let wanted = StoredPart { store: &store, profile: &profile, ranks, part };
        write_stored(&wanted, &Output { format: self.format, choices, path }, out)
    }
}

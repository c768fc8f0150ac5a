//! `nprof view`: flags, meaning and output of `neuron-profile view`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::StorePlace;
use super::export::{Destination, export};
use super::ingest::{NamingArgs, ingest, ready};
use super::serve::{PlaceArgs, announce, open_browser, profile_url, runtime, serve};
use crate::ingest::Named;
use crate::routes::health::Health;
use crate::server::{Place, ServerError};
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  nprof view -n file.neff -s profile.ntff             ingest, serve, print the address
  nprof view -d session_dir/                          one rank per profile_rank_<i>.ntff
  nprof view trace.json.gz --open                     any supported file; opens the browser
  nprof view -s profile.ntff --ingest-only            only put it into the store
  nprof view -s profile.ntff --output-format json --output-file out.json
  nprof view -s profile.ntff --output-format summary-text";

/// Ingest a trace and serve it; or write it in another format
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ViewArgs {
    /// The program that was traced
    #[arg(short = 'n', long, value_name = "FILE.neff")]
    neff_path: Option<PathBuf>,
    /// The trace
    #[arg(short = 's', long, value_name = "FILE.ntff")]
    session_file: Option<PathBuf>,
    /// A directory with one trace a rank: profile_rank_<i>.ntff
    #[arg(short = 'd', long, value_name = "DIR", conflicts_with = "session_file")]
    session_dir: Option<PathBuf>,
    /// Traces of any supported format; several become the ranks of one profile
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    naming: NamingArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Put it into the store and end, without serving
    #[arg(long)]
    ingest_only: bool,
    /// What to make of the trace
    #[arg(long, value_enum, default_value_t = OutputFormat::Db)]
    output_format: OutputFormat,
    /// Where to write, `-` for standard output [default: ntff.json for json, else standard output]
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Accepted and ignored: nprof needs no database
    #[arg(long, value_name = "URL", hide_short_help = true)]
    db_endpoint: Option<String>,
    /// Accepted and ignored: nprof needs no database
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    db_org: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Into the store, to be looked at in a browser
    Db,
    /// The metrics as a table of two columns
    SummaryText,
    /// The metrics as JSON
    SummaryJson,
    /// All tables, as neuron-profile writes them
    Json,
}

impl ViewArgs {
    pub(super) fn run(self, store: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let ignored = [("--db-endpoint", &self.db_endpoint), ("--db-org", &self.db_org)];
        for (flag, _) in ignored.into_iter().filter(|(_, value)| value.is_some()) {
            writeln!(
                io::stderr(),
                "{flag} is ignored: nprof keeps profiles in a directory, not in a database"
            )?;
        }
        let store = store.open()?;
        let named = Named {
            neff: self.neff_path.clone(),
            session_file: self.session_file.clone(),
            session_dir: self.session_dir.clone(),
            files: self.files.clone(),
        };
        let form = match self.output_format {
            OutputFormat::Db => return self.view(store, &named, out),
            OutputFormat::SummaryText => super::export::Form::SummaryText,
            OutputFormat::SummaryJson => super::export::Form::SummaryJson,
            OutputFormat::Json => super::export::Form::Json,
        };
        let destination = match &self.output_file {
            Some(path) if path.as_os_str() == "-" => Destination::StandardOutput,
            Some(path) => Destination::File(path.clone()),
            None if self.output_format == OutputFormat::Json => Destination::File(PathBuf::from("ntff.json")),
            None => Destination::StandardOutput,
        };
        export(&store, &named, form, &destination, out)
    }

    fn view(&self, store: Store, named: &Named, out: &mut dyn Write) -> anyhow::Result<()> {
        let ingested = match named.is_empty() {
            // As neuron-profile does: without a trace, `view` shows what is there.
            true if !self.ingest_only => None,
            _ => Some(ingest(&store, named, &self.naming.settings()?)?),
        };
        if let Some(ingested) = &ingested {
            ready(ingested, out)?;
        }
        if self.ingest_only {
            return Ok(());
        }
        let slug = ingested.as_ref().map(|ingested| ingested.profile.manifest.slug().to_owned());
        runtime()?.block_on(async {
            match self.place.place().listen().await {
                Ok(listening) => serve(listening, Arc::new(store), slug.as_deref(), &self.place, out).await,
                Err(ServerError::PortTaken { port }) if self.serves_already(&store).await => {
                    let url = format!("http://localhost:{port}");
                    announce(&url, slug.as_deref(), out)?;
                    writeln!(io::stderr(), "a server of this store is already running there")?;
                    if self.place.opens() {
                        open_browser(&slug.map_or(url.clone(), |slug| profile_url(&url, &slug)));
                    }
                    Ok(())
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Whether the program at our port is nprof with the same store: it shows the new profile at once.
    async fn serves_already(&self, store: &Store) -> bool {
        let Place { host, port } = self.place.place();
        match super::probe::health(host, port).await {
            Some(health) => health == Health::of(store.root()),
            None => false,
        }
    }
}

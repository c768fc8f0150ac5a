//! `nprof view`: flags, meaning and output of `neuron-profile view`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;

use super::StorePlace;
use super::answer::AnswerFormat;
use super::formats::{ChoiceArgs, FormatChoice, target_parser};
use super::frequency::FrequencyArgs;
use super::ingest::{NamingArgs, ingest, ready};
use super::metrics;
use super::serve::{PlaceArgs, announce, block_on, open_browser, serve};
use super::trace_groups::GroupingArgs;
use super::write::{Output, STANDARD_OUTPUT, write_trace};
use crate::export::{Export, ExportChoices};
use crate::ingest::NamedInputs;
use crate::links::Links;
use crate::listener::ServerError;
use crate::routes::health::Health;
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  nprof view -n file.neff -s profile.ntff             ingest, serve, print the URL
  nprof view -d session_dir/                          one rank for each profile_rank_<i>.ntff
  nprof view trace.json.gz --open                     any supported file; opens a browser
  nprof view job_*.json -c compiler.log               jobs of an AIU with ideal cycles
  nprof view job.zip                                  one rank for each trace inside; tar, gzip, zstd too
  nprof view -s profile.ntff --ingest-only            ingest only, without a server
  nprof view -s profile.ntff --output-format json --output-file out.json
  nprof view -s profile.ntff --output-format summary-text
  nprof view -s profile.ntff --output-format perfetto --show-perfetto-flows
  nprof view --terminology                            print the definitions of all metrics";

/// Ingest a trace and serve it, or write it in another format
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ViewArgs {
    /// Program that was traced
    #[arg(short = 'n', long, value_name = "FILE.neff")]
    neff_path: Option<PathBuf>,
    /// Log of the compiler, or folder with its files: ideal cycles of an AIU's kernels
    #[arg(short = 'c', long, value_name = "LOG")]
    compiler_log: Vec<PathBuf>,
    #[command(flatten)]
    frequency: FrequencyArgs,
    /// Trace
    #[arg(short = 's', long, value_name = "FILE.ntff")]
    session_file: Option<PathBuf>,
    /// Directory with one trace for each rank: `profile_rank_<i>.ntff`, else other NTFF, else JSON
    /// traces. The folders below are searched too, such as a folder for each node
    #[arg(short = 'd', long, value_name = "DIR", conflicts_with = "session_file")]
    session_dir: Option<PathBuf>,
    /// Traces of any supported format, or archives of them; traces of one job become the ranks of
    /// one profile
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    naming: NamingArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Ingest the profile and exit, without a server
    #[arg(long)]
    ingest_only: bool,
    /// Output to make of the trace
    #[arg(long, value_parser = target_parser(), ignore_case = true, default_value = "db")]
    output_format: FormatChoice,
    /// The file to write, `-` for standard output [default: ntff.json, ntff.pftrace and such;
    /// metrics: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    choices: ChoiceArgs,
    /// Print the definitions of all metrics, like `nprof metrics`, and end: as text, or with
    /// --output-format json as JSON
    #[arg(long)]
    terminology: bool,
    /// Accepted and ignored: nprof shows the memory use that the trace contains
    #[arg(long, hide_short_help = true)]
    enable_memory_tracker: bool,
    /// Accepted and ignored: nprof shows file names and line numbers, not the source text
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    framework_source_root: Option<PathBuf>,
    /// Accepted and ignored: nprof needs no database
    #[arg(long, value_name = "URL", hide_short_help = true)]
    db_endpoint: Option<String>,
    /// Accepted and ignored: nprof needs no database
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    db_org: Option<String>,
}

impl ViewArgs {
    pub(super) fn run(self, store: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        self.tell_ignored()?;
        let choices = self.choices.choices(ExportChoices::default(), self.output_format.0)?;
        if self.terminology {
            let is_json = |format: &Export| format.media_type == "application/json";
            let is_json = self.output_format.0.is_some_and(is_json);
            let format = if is_json { AnswerFormat::Json } else { AnswerFormat::Text };
            return metrics::write(None, format, out);
        }
        let mut named = NamedInputs {
            neff: self.neff_path.clone(),
            compiler: self.compiler_log.clone(),
            session_file: self.session_file.clone(),
            session_dir: self.session_dir.clone(),
            files: self.files.clone(),
        };
        let frequencies = self.frequency.file()?;
        if let Some((_, file)) = &frequencies {
            if named.is_empty() {
                bail!("--freq is for traces of an AIU; name a trace, too");
            }
            named.compiler.push(file.clone());
        }
        // Only an ingest changes the store.
        let is_ingest = self.output_format.0.is_none() && (self.ingest_only || !named.is_empty());
        let store = if is_ingest { store.open()? } else { store.open_or_read()? };
        self.refuse_names(&store)?;
        let Some(format) = self.output_format.0 else { return self.view(store, &named, out) };
        let path = self.output_file.unwrap_or_else(|| format.view_file.unwrap_or(STANDARD_OUTPUT).into());
        write_trace(&store, &named, self.grouping, &Output { format, choices, path }, out)
    }

    /// Refuses the name of a profile if a file is expected. The error names the command that takes
    /// names.
    fn refuse_names(&self, store: &Store) -> anyhow::Result<()> {
        let mut missing = self.files.iter().filter(|path| !path.exists()).filter_map(|path| path.to_str());
        let Some(name) = missing.find(|name| store.find(name).is_ok()) else { return Ok(()) };
        if self.output_format.0.is_none() {
            bail!(
                "{name}: no such file, but the store has a profile of this name; `nprof serve` shows it at \
                 /profile/{name}"
            );
        }
        bail!(
            "{name}: no such file, but the store has a profile of this name; write it with `nprof export \
             {name}`"
        )
    }

    /// Reports flags of neuron-profile that have no effect here.
    fn tell_ignored(&self) -> io::Result<()> {
        let database = "nprof keeps profiles in a directory, not in a database";
        let ignored = [
            ("--db-endpoint", self.db_endpoint.is_some(), database),
            ("--db-org", self.db_org.is_some(), database),
            (
                "--enable-memory-tracker",
                self.enable_memory_tracker,
                "nprof shows the memory use that the trace contains and has no tracker",
            ),
            (
                "--framework-source-root",
                self.framework_source_root.is_some(),
                "nprof shows file names and line numbers, not the source text",
            ),
        ];
        for (flag, _, why) in ignored.into_iter().filter(|(_, is_given, _)| *is_given) {
            writeln!(io::stderr(), "{flag} is ignored: {why}")?;
        }
        Ok(())
    }

    fn view(&self, store: Store, named: &NamedInputs, out: &mut dyn Write) -> anyhow::Result<()> {
        let ingested = match named.is_empty() {
            // Without a trace, `view` shows the existing profiles, as neuron-profile does.
            true if !self.ingest_only => Vec::new(),
            _ => ingest(&store, named, self.grouping, &self.naming.settings()?)?,
        };
        for ingested in &ingested {
            ready(ingested, out)?;
        }
        if self.ingest_only {
            return Ok(());
        }
        // The page lists several profiles.
        let slug = match &ingested[..] {
            [only] => Some(only.slug.clone()),
            _ => None,
        };
        block_on(async {
            match self.place.place().listen().await {
                Ok(listening) => serve(listening, Arc::new(store), slug.as_deref(), &self.place, out).await,
                Err(ServerError::PortTaken { port }) if self.serves_already(&store).await => {
                    let links = Links::of_same_user(port);
                    announce(&links, slug.as_deref(), out)?;
                    writeln!(
                        io::stderr(),
                        "an nprof server of this store is already running at this address"
                    )?;
                    if self.place.opens() {
                        open_browser(&links, slug.as_deref());
                    }
                    Ok(())
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Returns true if the program at our port is nprof with the same store. It shows the new
    /// profile at once.
    async fn serves_already(&self, store: &Store) -> bool {
        let place = self.place.place();
        match super::probe::health(place.host, place.port).await {
            Some(health) => health == Health::of(store.root()),
            None => false,
        }
    }
}

//! `nprof ingest`, and the code that all ingesting commands share.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::frequency::FrequencyArgs;
use super::progress::watched;
use super::trace_groups::{GroupingArgs, tell_apart, tell_ranks};
use super::{StorePlace, lost_input, size, warn};
use crate::ingest::{IngestError, IngestSettings, Ingested, NamedInputs, Novelty, add, run_all};
use crate::store::{Existing, Slug, Store};
use crate::terminal::visible;
use crate::work::Meter;

const EXAMPLES: &str = "\
Examples:
  nprof ingest trace.json.gz
  nprof ingest file.neff profile.ntff
  nprof ingest job.tar.zst                 one rank for each trace inside; zip and tar, compressed or not
  nprof ingest rank0.json rank1.json --display-name \"two ranks\"
  nprof ingest before.json after.json                a profile each: nothing says they are of one job
  nprof ingest a.json b.json --as-ranks              two ranks of one profile, whatever they say
  nprof ingest session_dir/ --db-bucket run-7 --force
  nprof ingest node0/ --db-bucket run-7              the ranks of the first node
  nprof ingest node1/ --into run-7                   the ranks of another node, as soon as they are here";

/// Ingest traces into the store; traces of one job become the ranks of one profile, others a
/// profile each
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct IngestArgs {
    /// Trace files and their NEFF, or directories and archives with one trace for each rank
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Log of the compiler, or folder with its files: ideal cycles of an AIU's kernels
    #[arg(short = 'c', long, value_name = "LOG")]
    compiler_log: Vec<PathBuf>,
    #[command(flatten)]
    frequency: FrequencyArgs,
    /// Add the traces as further ranks of this profile, which keeps its names, clocks and links
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["db_bucket", "display_name", "force"])]
    into: Option<String>,
    #[command(flatten)]
    grouping: GroupingArgs,
    #[command(flatten)]
    naming: NamingArgs,
}

/// Names of the profile, for every command that ingests.
#[derive(Debug, Clone, Args)]
pub(super) struct NamingArgs {
    /// Name of the profile in URLs [default: its id]; an existing profile keeps its other names
    #[arg(long, value_name = "NAME")]
    db_bucket: Option<String>,
    /// Name that the page shows [default: that of --db-bucket, else the file's name]
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,
    /// Replace the profile if it is already in the store
    #[arg(long)]
    force: bool,
}

impl NamingArgs {
    pub(super) fn settings(&self) -> anyhow::Result<IngestSettings> {
        Ok(IngestSettings {
            existing: if self.force { Existing::Replace } else { Existing::Keep },
            slug: self.db_bucket.as_deref().map(str::parse).transpose()?,
            display_name: self.display_name.clone(),
            ..IngestSettings::default()
        })
    }
}

impl IngestArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let settings = self.naming.settings()?;
        let store = place.open()?;
        let frequencies = self.frequency.file()?;
        let mut compiler = self.compiler_log;
        compiler.extend(frequencies.iter().map(|(_, file)| file.clone()));
        let named = NamedInputs { files: self.files, compiler, ..NamedInputs::default() };
        let Some(to) = self.into else {
            let ingested = ingest(&store, &named, self.grouping, &settings)?;
            return Ok(ingested.iter().try_for_each(|ingested| ready(ingested, out))?);
        };
        let before = store.find(&to)?.manifest.ranks.len();
        lost_input::watch_for(&named);
        let meter = Meter::default();
        let ingested = watched(&meter, || add(&store, &named, &to, &meter))?;
        let now = ingested.profile.manifest.ranks.len();
        let said = match now - before {
            0 => "the profile has these traces already".to_owned(),
            added => format!("{} added, {now} in the profile", size::counted(added as u64, "rank")),
        };
        let mut err = io::stderr().lock();
        writeln!(err, "{said}")?;
        warn::tell(&ingested.profile, &mut err)?;
        Ok(ready(&ingested, out)?)
    }
}

/// Runs an ingest and reports the results on standard error. Returns at least one profile.
pub(super) fn ingest(
    store: &Store,
    named: &NamedInputs,
    grouping: GroupingArgs,
    settings: &IngestSettings,
) -> anyhow::Result<Vec<Ingested>> {
    lost_input::watch_for(named);
    let meter = Meter::default();
    let mut start = Instant::now();
    let mut done = Vec::new();
    let result = watched(&meter, || {
        let grouped = grouping.profiles(store, named, &meter)?;
        let (count, apart) = (grouped.profiles.len(), grouped.apart);
        let left_out = run_all(store, grouped, settings, &meter, |ingested, why| {
            done.push((ingested, why, std::mem::replace(&mut start, Instant::now()).elapsed()));
        })?;
        Ok::<_, IngestError>((count, apart, left_out))
    });
    if let Ok((count, apart, left_out)) = &result {
        let mut err = io::stderr().lock();
        tell_apart(count - left_out.len(), *apart, &mut err)?;
        for line in left_out {
            writeln!(err, "left out: {}", visible(line))?;
        }
    }
    for (ingested, why, elapsed) in &done {
        report(ingested, *elapsed)?;
        tell_ranks(&ingested.profile.manifest, *why, done.len(), &mut io::stderr().lock())?;
    }
    result?;
    Ok(done.into_iter().map(|(ingested, ..)| ingested).collect())
}

/// Prints the line that scripts around neuron-profile look for.
pub(super) fn ready(ingested: &Ingested, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Profile \"{}\" is ready to view", ingested.slug)?;
    out.flush()
}

pub(super) fn report(ingested: &Ingested, elapsed: std::time::Duration) -> io::Result<()> {
    let mut err = io::stderr().lock();
    let manifest = &ingested.profile.manifest;
    if ingested.novelty == Novelty::AlreadyThere {
        writeln!(err, "{} is already in the store; to ingest it again, add --force", manifest.id)?;
        if !manifest.aliases.is_empty() {
            let names: Vec<&str> = manifest.slugs().map(Slug::as_str).collect();
            writeln!(err, "all names of this profile: {}", names.join(", "))?;
        }
        return warn::tell(&ingested.profile, &mut err);
    }
    let entry = manifest.entry();
    writeln!(
        err,
        "{} of {} in {:.1} s, {} in the store",
        size::counted(entry.events, "event"),
        size::counted(u64::from(entry.ranks), "rank"),
        elapsed.as_secs_f64(),
        size::bytes(entry.size_bytes),
    )?;
    warn::tell(&ingested.profile, &mut err)
}

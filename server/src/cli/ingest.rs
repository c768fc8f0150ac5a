//! `nprof ingest`, and what every command that ingests shares.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use nprof_engine::model::WarningKind;
use nprof_engine::native::SegmentFile;

use super::progress::watched;
use super::{StorePlace, size};
use crate::ingest::{Ingested, Meter, Named, Novelty, Settings, run};
use crate::store::{Existing, Profile, Store};

/// Kinds of warnings shown at the end; the page shows all.
const SHOWN_WARNINGS: usize = 5;

const EXAMPLES: &str = "\
Examples:
  nprof ingest trace.json.gz
  nprof ingest file.neff profile.ntff
  nprof ingest rank0.json rank1.json --display-name \"two ranks\"
  nprof ingest session_dir/ --db-bucket run-7 --force";

/// Put traces into the store: several files become the ranks of one profile
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct IngestArgs {
    /// Trace files, a NEFF beside them, or directories with one trace a rank
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    naming: NamingArgs,
}

/// How the profile is called, for every command that ingests.
#[derive(Debug, Clone, Args)]
pub(super) struct NamingArgs {
    /// The profile's name in addresses [default: its id]
    #[arg(long, value_name = "NAME")]
    db_bucket: Option<String>,
    /// The profile's name for people [default: the file's name]
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,
    /// Replace the profile where it is already in the store
    #[arg(long)]
    force: bool,
}

impl NamingArgs {
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        Ok(Settings {
            existing: if self.force { Existing::Replace } else { Existing::Keep },
            slug: self.db_bucket.as_deref().map(str::parse).transpose()?,
            display_name: self.display_name.clone(),
        })
    }
}

impl IngestArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let settings = self.naming.settings()?;
        let store = place.open()?;
        let named = Named { files: self.files, ..Named::default() };
        let ingested = ingest(&store, &named, &settings)?;
        Ok(ready(&ingested, out)?)
    }
}

/// Ingests and says on standard error what happened.
pub(super) fn ingest(store: &Store, named: &Named, settings: &Settings) -> anyhow::Result<Ingested> {
    let meter = Meter::default();
    let start = std::time::Instant::now();
    let ingested = watched(&meter, || run(store, named, settings, &meter))?;
    report(&ingested, start.elapsed())?;
    Ok(ingested)
}

/// The line that scripts around neuron-profile look for.
pub(super) fn ready(ingested: &Ingested, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Profile \"{}\" is ready to view", ingested.profile.manifest.slug())?;
    out.flush()
}

pub(super) fn report(ingested: &Ingested, elapsed: std::time::Duration) -> io::Result<()> {
    let mut err = io::stderr().lock();
    let manifest = &ingested.profile.manifest;
    if ingested.novelty == Novelty::AlreadyThere {
        return writeln!(err, "{} is already in the store; --force ingests it again", manifest.id);
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
    if entry.warnings > 0 {
        warnings(&ingested.profile, &mut err)?;
    }
    Ok(())
}

/// The most frequent kinds of warnings over all ranks.
fn warnings(profile: &Profile, err: &mut dyn Write) -> io::Result<()> {
    let mut kinds = std::collections::BTreeMap::<(WarningKind, String), (u64, String)>::new();
    for rank in &profile.manifest.ranks {
        for note in &rank.notes {
            kinds.insert((WarningKind::AdjustedValue, note.clone()), (1, rank.inputs.join(", ")));
        }
        let Ok(Ok(segment)) = SegmentFile::open_file(&profile.dir.join(&rank.file)) else { continue };
        for warning in &segment.footer().warnings {
            let key = (warning.kind, warning.what.clone());
            let parts = [rank.inputs.join(", "), warning.first_place.clone()];
            let place = || parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            kinds.entry(key).or_insert_with(|| (0, place())).0 += warning.count;
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    // An arrow less is no loss of events, and PyTorch ends flows by the thousand that it never begins.
    kinds.sort_by_key(|((kind, _), (count, _))| {
        (*kind == WarningKind::UnboundFlow, std::cmp::Reverse(*count))
    });
    let plural = if kinds.len() == 1 { "" } else { "s" };
    writeln!(err, "{} of warning{plural}:", size::counted(kinds.len() as u64, "kind"))?;
    for ((kind, what), (count, place)) in kinds.iter().take(SHOWN_WARNINGS) {
        writeln!(err, "  {} × {}: {what} (first: {place})", size::count(*count), kind.title())?;
    }
    if kinds.len() > SHOWN_WARNINGS {
        let others = size::counted((kinds.len() - SHOWN_WARNINGS) as u64, "other kind");
        writeln!(err, "  and {others}; the profile's page shows all")?;
    }
    Ok(())
}

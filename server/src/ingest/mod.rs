//! Turns the files that a user names into a profile in the store. Finds the ranks, identifies them,
//! reads them and publishes them. Either the whole profile is added to the store or nothing.

mod add;
mod build;
mod error;
mod event_counter;
mod files;
mod identity;
mod inputs;
mod lookahead;
mod mapped_file;
mod origin;
mod passes;
mod source;

pub use add::add;
pub use build::{Staged, build};
pub use error::{IngestError, Result};
pub use files::DiskSpool;
pub use identity::InputIdentity;
pub use inputs::{FileOrigin, Grouped, GroupedInputs, InputFile, Inputs, NamedInputs};
pub use source::TraceSource;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use nprof_capture::files::ImportJob;
use nprof_capture::files::Sinks;
use nprof_capture::formats;
use nprof_capture::inputs::{GroupReason, Plan};
use nprof_capture::origin::Origin;
use nprof_engine::base::in_memory;
use nprof_engine::exec::Cancel;
use nprof_engine::spill::Space;
use serde::{Deserialize, Serialize};

use self::files::InputFiles;
use crate::analysis::job_segment;
use crate::store::{Existing, Profile, Slug, Staging, Store, StoreError};
use crate::work::{Meter, Stage};

/// Bytes of a trace after which those that were read are let go.
const LET_GO_LEN: usize = 8 << 20;

/// The user's settings for the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestSettings {
    /// Action if the profile already exists.
    pub existing: Existing,
    /// Name of the profile for URLs.
    pub slug: Option<Slug>,
    /// Name of the profile for people.
    pub display_name: Option<String>,
    /// Numbers that no rank of the inputs may get, because other ranks of the profile have them.
    #[serde(default)]
    pub taken_ranks: BTreeSet<u32>,
}

/// A profile that is in the store now.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingested {
    /// The profile.
    pub profile: Profile,
    /// Whether this ingest added the profile.
    pub novelty: Novelty,
    /// The name for the address: the requested name, else the profile's first name.
    pub slug: String,
}

impl Ingested {
    fn new(profile: Profile, novelty: Novelty, settings: &IngestSettings) -> Self {
        let wanted = settings.slug.as_ref().map(Slug::as_str).filter(|slug| profile.manifest.has_name(slug));
        let slug = wanted.unwrap_or(profile.manifest.slug()).to_owned();
        Self { profile, novelty, slug }
    }
}

/// Whether an ingest added a profile to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// The profile is new.
    New,
    /// The same inputs had been ingested before.
    AlreadyThere,
}

/// Ingests the named inputs as one profile. Inputs that are already in the store are not read
/// again, unless the profile must be replaced. A new name is added to the profile in any case.
///
/// # Errors
/// If an input cannot be read, the store cannot be written, or the ingest is cancelled. The store
/// is then unchanged.
pub fn run(store: &Store, named: &NamedInputs, settings: &IngestSettings, meter: &Meter) -> Result<Ingested> {
    store.check_writable()?;
    let inputs = named.inputs(&DiskSpool::new(&store.tmp(), meter))?;
    finish(store, read_to_stage(store, inputs, settings, meter, None)?, settings, meter)
}

/// Ingests each of several profiles. Calls `done` for each that is in the store. Returns a line
/// about each profile that is left out, because the only trace of it in a directory turned out to
/// be none.
///
/// # Errors
/// See [`run`]. Profiles that are done stay in the store. Also if the settings name one profile and
/// there are several, or if all are left out.
pub fn run_all(
    store: &Store,
    grouped: Grouped,
    settings: &IngestSettings,
    meter: &Meter,
    mut done: impl FnMut(Ingested, GroupReason),
) -> Result<Vec<String>> {
    store.check_writable()?;
    if grouped.profiles.len() > 1 && (settings.slug.is_some() || settings.display_name.is_some()) {
        return Err(IngestError::SeveralProfiles { first: grouped.firsts() });
    }
    let (mut count, mut left_out, mut last) = (0, Vec::new(), None);
    for GroupedInputs { inputs, why } in grouped.profiles {
        let is_of_directory = inputs.files.iter().all(|file| file.chosen == FileOrigin::ByDirectory);
        match read_to_stage(store, inputs, settings, meter, None) {
            Err(error @ IngestError::Format { .. }) if is_of_directory => {
                left_out.push(error.to_string());
                last = Some(error);
            }
            prepared => {
                count += 1;
                done(finish(store, prepared?, settings, meter)?, why);
            }
        }
    }
    match last.filter(|_| count == 0) {
        Some(error) => Err(error),
        None => Ok(left_out),
    }
}

/// Brings inputs that were read into the store.
fn finish(store: &Store, prepared: Prepared, settings: &IngestSettings, meter: &Meter) -> Result<Ingested> {
    match prepared {
        Prepared::AlreadyThere(id) => keep(store, &id, settings),
        Prepared::Staged(staged) => {
            let ingested = publish(store, &staged, settings, meter)?;
            compare(&ingested.profile, meter)?;
            Ok(ingested)
        }
    }
}

/// Inputs that were read. The store is unchanged.
#[derive(Debug)]
pub enum Prepared {
    /// The profile with this id has these inputs and must be kept.
    AlreadyThere(String),
    /// A profile that the store does not have, or that must be replaced.
    Staged(Box<Staged>),
}

/// Reads the named inputs as one profile, without a change of the store. The files are written to
/// `lent`, the staging directory of another process, or to a new one.
pub fn prepare(
    store: &Store,
    named: &NamedInputs,
    settings: &IngestSettings,
    meter: &Meter,
    lent: Option<&Path>,
) -> Result<Prepared> {
    let spool = lent.map_or_else(|| store.tmp(), Path::to_owned);
    let inputs = named.inputs(&DiskSpool::new(&spool, meter))?;
    read_to_stage(store, inputs, settings, meter, lent)
}

/// Reads inputs to a staging directory.
fn read_to_stage(
    store: &Store,
    inputs: Inputs,
    settings: &IngestSettings,
    meter: &Meter,
    lent: Option<&Path>,
) -> Result<Prepared> {
    inputs.reading(|inputs| {
        let identity = identify(store, inputs, settings, meter)?;
        if let Some(identity) = &identity {
            let id = identity.profile.to_string();
            if settings.existing == Existing::Keep && store.by_id(&id)?.is_some() {
                return Ok(Prepared::AlreadyThere(id));
            }
            // A file of a directory can turn out not to be a trace, which makes this another
            // profile. So publishing checks again.
            let is_certain = inputs.files.iter().all(|file| file.chosen == FileOrigin::ByName);
            if let Some(slug) = settings.slug.as_ref().filter(|_| is_certain) {
                store.check_name(slug, &id, settings.existing)?;
            }
        }
        let staging = match lent {
            Some(dir) => Staging::lent(dir),
            None => store.stage()?,
        };
        Ok(Prepared::Staged(Box::new(stage(staging, inputs, identity, settings, meter)?)))
    })
}

/// The profile with this id, with the requested names.
///
/// # Errors
/// If it has been removed, or the store cannot be written.
pub fn keep(store: &Store, id: &str, settings: &IngestSettings) -> Result<Ingested> {
    let removed = || StoreError::Unknown { name: id.to_owned(), store: store.root().to_owned() };
    already_there(store, id, settings)?.ok_or_else(|| removed().into())
}

/// Identity of the inputs, if it must be known before they are read. Otherwise [`stage`] computes
/// it.
pub fn identify(
    store: &Store,
    inputs: &Inputs,
    settings: &IngestSettings,
    meter: &Meter,
) -> Result<Option<InputIdentity>> {
    may_be_there(store, inputs, settings)?.then(|| InputIdentity::of(inputs, meter)).transpose()
}

/// Returns true if the store can hold these inputs already, or another profile with the requested
/// name.
fn may_be_there(store: &Store, inputs: &Inputs, settings: &IngestSettings) -> Result<bool> {
    let bytes = inputs.total_bytes();
    let may_be = |profile: &Profile| {
        let manifest = &profile.manifest;
        let has_name = settings.slug.as_ref().is_some_and(|slug| manifest.has_name(slug.as_str()));
        has_name || manifest.input_bytes.is_none_or(|of| of == bytes)
    };
    // A profile that cannot be read can be of any inputs.
    let survey = store.survey()?;
    Ok(!survey.unreadable.is_empty() || survey.profiles.iter().any(may_be))
}

/// Bytes of the files of a plan, unpacked: a guess where they are packed.
fn unpacked_bytes(inputs: &Inputs, plan: &Plan) -> u64 {
    /// Traces are packed to a tenth to a thirtieth of their bytes.
    const PACKED: u64 = 32;
    let bytes = |file: &InputFile| {
        let of_one = if file.leaf.is_packed() { PACKED } else { 1 };
        file.leaf.packed.len() as u64 * of_one
    };
    inputs.files_of(plan).map(bytes).sum()
}

/// Reads all inputs to a staging directory. Identifies the inputs in parallel if
/// `identity` is `None`.
pub fn stage(
    staging: Staging,
    inputs: &Inputs,
    identity: Option<InputIdentity>,
    settings: &IngestSettings,
    meter: &Meter,
) -> Result<Staged> {
    meter.begin(Stage::Reading, inputs.total_bytes());
    let scratch = staging.dir().to_owned();
    let owners = inputs.files.iter().map(|_| OnceLock::new()).collect();
    let files = InputFiles { inputs, spool: DiskSpool::new(&scratch, meter), meter, owners };
    let files = &files;
    let origins = origin::origins(inputs, meter);
    let sources =
        inputs.plans.iter().zip(inputs.hosts()).zip(origins).map(|((plan, host), origin)| TraceSource {
            rank: plan.rank,
            host,
            inputs: names(inputs, plan),
            place: inputs.place(plan).to_owned(),
            bytes: unpacked_bytes(inputs, plan),
            fill: Box::new(move |sinks, space| {
                read(files, plan, origin, space, sinks).map_err(|error| inputs.spared(plan, error))
            }),
        });
    let identify = |cancel: Cancel<'_>| match identity {
        Some(identity) => Ok(identity),
        None => InputIdentity::beside(inputs, cancel),
    };
    let mut staged = build(staging, &sources.collect::<Vec<_>>(), settings, meter, identify)?;
    inputs.check_lengths()?;
    staged.manifest.title.clone_from(&inputs.title);
    if let Some(first) = staged.manifest.ranks.first_mut() {
        first.left_out.extend_from_slice(&inputs.left_out);
        staged.manifest.warnings += inputs.left_out.len() as u64;
    }
    Ok(staged)
}

/// The names of the files of a plan. Several traces can have one name, so they have their paths.
fn names(inputs: &Inputs, plan: &Plan) -> Vec<String> {
    let is_one = plan.traces().nth(1).is_none();
    let name = |file: &InputFile| {
        let candidate = &file.leaf.candidate;
        if is_one { candidate.name.clone() } else { candidate.path.clone() }
    };
    inputs.files_of(plan).map(name).collect()
}

/// Reads the files of a plan.
fn read(
    files: &InputFiles<'_>,
    plan: &Plan,
    origin: Option<Origin>,
    space: Space<'_>,
    sinks: &mut dyn Sinks,
) -> Result<()> {
    let (inputs, meter) = (files.inputs, files.meter);
    let beside = inputs.files_of(plan).skip(1).filter(|file| file.leaf.layers.is_empty());
    meter.add_bytes(beside.map(|file| file.leaf.packed.len() as u64).sum());
    // The reader of a plain trace reports its progress. Packed bytes are counted when they are
    // unpacked.
    let trace = &inputs.files[plan.trace()].leaf;
    let (told, let_go) = (Cell::new(0), Cell::new(0));
    let progress = |done: u64| {
        if trace.is_packed() {
            return;
        }
        meter.add_bytes(done.saturating_sub(told.get()));
        told.set(told.get().max(done));
        let read = in_memory(done);
        if read.saturating_sub(let_go.get()) >= LET_GO_LEN {
            trace.packed.let_go(let_go.replace(read)..read);
        }
    };
    let job = ImportJob { plan, files, space, origin, progress: &progress };
    let read = formats::read(&job, sinks);
    inputs.files_of(plan).for_each(|file| file.leaf.packed.let_go(0..usize::MAX));
    read.map_err(|fault| IngestError::Format {
        path: inputs.files[fault.file].place.clone(),
        source: fault.source,
    })
}

/// Moves a staged profile into the store. Its ranks are not compared yet.
pub fn publish(store: &Store, staged: &Staged, settings: &IngestSettings, meter: &Meter) -> Result<Ingested> {
    meter.begin(Stage::Publishing, 0);
    if meter.is_cancelled() {
        return Err(IngestError::Cancelled);
    }
    let profile = store.publish(&staged.staging, &staged.manifest, settings.existing)?;
    Ok(Ingested::new(profile, Novelty::New, settings))
}

/// Compares the ranks of a profile for the first viewer. Whoever asks later computes what is
/// missing, so a failure is no error of the ingest.
///
/// # Errors
/// `NotCompared` if it is cancelled. The profile is in the store.
pub fn compare(profile: &Profile, meter: &Meter) -> Result<()> {
    if !job_segment::is_for(profile) {
        return Ok(());
    }
    meter.begin(Stage::Analysing, 0);
    let is_cancelled = || meter.is_cancelled();
    match job_segment::of_profile(profile, Cancel::when(&is_cancelled)) {
        Err(_) if meter.is_cancelled() => Err(IngestError::NotCompared),
        Err(error) => {
            tracing::warn!("the ranks are not compared yet: {error}");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// The profile with this id, if it is in the store and must be kept. It has the requested names
/// then.
pub fn already_there(store: &Store, id: &str, settings: &IngestSettings) -> Result<Option<Ingested>> {
    if settings.existing == Existing::Replace {
        return Ok(None);
    }
    let Some(profile) = store.by_id(id)? else { return Ok(None) };
    let profile = renamed(store, profile, settings)?;
    Ok(Some(Ingested::new(profile, Novelty::AlreadyThere, settings)))
}

/// Adds the requested names to the profile. Existing names stay, so links go on to work.
fn renamed(store: &Store, profile: Profile, settings: &IngestSettings) -> Result<Profile> {
    let manifest = &profile.manifest;
    let slug = settings.slug.clone().filter(|slug| !manifest.has_name(slug.as_str()));
    let display_name =
        settings.display_name.clone().filter(|name| manifest.display_name.as_ref() != Some(name));
    if slug.is_none() && display_name.is_none() {
        return Ok(profile);
    }
    Ok(store.rename(&manifest.id, slug, display_name)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use nprof_capture::archive::InMemory;

    use super::*;

    fn named(dir: &Path, file: &str, text: &str) -> NamedInputs {
        let path = dir.join(file);
        std::fs::write(&path, text).unwrap();
        NamedInputs { files: vec![path], ..NamedInputs::default() }
    }

    #[test]
    fn inputs_are_identified_first_only_where_that_may_spare_reading_them() {
        const TRACE: &str = r#"[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a"}]"#;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let first = named(dir.path(), "first.json", TRACE);
        let settings = IngestSettings::default();
        let may_be = |named: &NamedInputs, settings: &IngestSettings| {
            may_be_there(&store, &named.inputs(&InMemory).unwrap(), settings).unwrap()
        };
        assert!(!may_be(&first, &settings), "the store is empty");
        let called = IngestSettings { slug: Some("one".parse().unwrap()), ..IngestSettings::default() };
        let ingested = run(&store, &first, &called, &Meter::default()).unwrap();
        // The identity computed during the reading equals the identity computed from the inputs
        // alone.
        let identity = InputIdentity::of(&first.inputs(&InMemory).unwrap(), &Meter::default()).unwrap();
        assert_eq!(ingested.profile.manifest.id, identity.profile.to_string());
        assert_eq!(ingested.profile.manifest.ranks[0].id, identity.traces[0].to_string());
        assert_eq!(ingested.novelty, Novelty::New);

        assert!(may_be(&first, &settings), "it is there");
        let other = named(dir.path(), "other.json", &TRACE.replace(r#""a""#, r#""another name""#));
        assert!(!may_be(&other, &settings), "its size is another");
        assert!(may_be(&other, &called), "its name is taken");
        let refused = run(&store, &other, &called, &Meter::default());
        assert!(matches!(refused, Err(IngestError::Store(_))), "{refused:?}");

        // Remove the size of the inputs from the manifest.
        let manifest = ingested.profile.dir.join("manifest.json");
        let text = std::fs::read_to_string(&manifest).unwrap();
        let without: Vec<&str> = text.lines().filter(|line| !line.contains("input_bytes")).collect();
        std::fs::write(&manifest, without.join("\n")).unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        assert!(may_be_there(&store, &other.inputs(&InMemory).unwrap(), &settings).unwrap());
    }
}

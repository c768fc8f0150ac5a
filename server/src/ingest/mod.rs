//! From the files that a user names to a profile in the store: which ranks there are, who they are, reading them,
//! publishing them. Either the whole profile comes into the store or nothing.

mod ahead;
mod build;
mod counted;
mod error;
mod format;
mod identity;
mod inputs;
mod mapped;
mod meter;

pub use build::{RankSource, Staged, build};
pub use error::{IngestError, Result};
pub use identity::Identity;
pub use inputs::{Named, RankInput, numbered};
pub use meter::{Meter, Stage};

use std::path::Path;

use crate::store::{Existing, Profile, Slug, Store};

/// What the user wants of the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// What to do where it is already there.
    pub existing: Existing,
    /// Its name for URLs.
    pub slug: Option<Slug>,
    /// Its name for people.
    pub display_name: Option<String>,
}

/// A profile that is in the store now.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingested {
    /// The profile.
    pub profile: Profile,
    /// Whether it came there now.
    pub novelty: Novelty,
}

/// Whether a profile came into the store now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// It did.
    New,
    /// The same inputs had been ingested before.
    AlreadyThere,
}

/// Ingests what was named. Where the same inputs are already in the store they are not read again, unless that
/// profile is to be replaced; a new name is given to it all the same.
///
/// # Errors
/// Where an input cannot be read, the store cannot be written, or the ingest is cancelled. The store is unchanged then.
pub fn run(store: &Store, named: &Named, settings: &Settings, meter: &Meter) -> Result<Ingested> {
    let inputs = named.ranks()?;
    let identity = Identity::of(&inputs, meter)?;
    let id = identity.profile.to_string();
    if let Some(ingested) = already_there(store, &id, settings)? {
        return Ok(ingested);
    }
    if let Some(slug) = &settings.slug {
        store.check_name(slug, &id, settings.existing)?;
    }
    let staged = stage(store, &inputs, &identity, settings, meter)?;
    publish(store, &staged, settings, meter)
}

/// Reads all inputs to a staging directory of the store.
///
/// # Errors
/// As [`run`].
pub fn stage(
    store: &Store,
    inputs: &[RankInput],
    identity: &Identity,
    settings: &Settings,
    meter: &Meter,
) -> Result<Staged> {
    meter.begin(Stage::Reading, identity::total_bytes(inputs)?);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sources = inputs.iter().zip(&identity.ranks).map(|(input, id)| RankSource {
        id: *id,
        rank: input.rank,
        inputs: input.files().map(name).collect(),
        place: input.trace.clone(),
        fill: Box::new(move |sink, space| format::read(input, sink, space, meter)),
    });
    build(store, identity.profile, &sources.collect::<Vec<_>>(), settings, meter)
}

/// Moves a staged profile into the store.
///
/// # Errors
/// As [`run`].
pub fn publish(store: &Store, staged: &Staged, settings: &Settings, meter: &Meter) -> Result<Ingested> {
    meter.begin(Stage::Publishing, 0);
    if meter.is_cancelled() {
        return Err(IngestError::Cancelled);
    }
    let profile = store.publish(&staged.staging, &staged.manifest, settings.existing)?;
    Ok(Ingested { profile, novelty: Novelty::New })
}

/// The profile with this id, if it is in the store and shall stay; with the names that are wanted now.
///
/// # Errors
/// Where the store cannot be read or written.
pub fn already_there(store: &Store, id: &str, settings: &Settings) -> Result<Option<Ingested>> {
    if settings.existing == Existing::Replace {
        return Ok(None);
    }
    let Some(profile) = store.by_id(id)? else { return Ok(None) };
    let profile = renamed(store, profile, settings)?;
    Ok(Some(Ingested { profile, novelty: Novelty::AlreadyThere }))
}

/// Gives the profile the names that were asked for.
fn renamed(store: &Store, profile: Profile, settings: &Settings) -> Result<Profile> {
    let manifest = &profile.manifest;
    let slug = settings.slug.clone().filter(|slug| manifest.name.as_ref() != Some(slug));
    let display_name =
        settings.display_name.clone().filter(|name| manifest.display_name.as_ref() != Some(name));
    if slug.is_none() && display_name.is_none() {
        return Ok(profile);
    }
    Ok(store.rename(&manifest.id, slug, display_name)?)
}

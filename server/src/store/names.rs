//! Names of profiles and their owners.
//!
//! A profile that takes a name from another says so in its own manifest ([`TakenName`]). So one
//! rename, which publishes the profile, hands over the name. The other profile's manifest is
//! changed afterwards, by this process or, if it dies, by the next one that changes the store.
//!
//! [`TakenName`]: super::manifest::TakenName

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Manifest, Profile};

/// A name or an id that several profiles have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedName {
    /// The name or the id.
    pub name: String,
    /// Names of the profiles' directories, which `nprof rm` takes. The newest profile comes first
    /// and answers to the name.
    pub directories: Vec<String>,
}

/// The profiles with the names that they really have. A profile that lost its last name is left
/// out.
pub(super) fn settled(profiles: Vec<Profile>) -> Vec<Profile> {
    let taken: HashSet<(String, String)> = profiles.iter().flat_map(taken_by).collect();
    if taken.is_empty() {
        return profiles;
    }
    let left = profiles.into_iter().filter_map(|profile| {
        let lost: Vec<&str> = taken
            .iter()
            .filter(|(from, name)| *from == profile.manifest.id && profile.manifest.has_name(name))
            .map(|(_, name)| name.as_str())
            .collect();
        if lost.is_empty() {
            return Some(profile);
        }
        let mut manifest = Manifest::clone(&profile.manifest);
        lost.into_iter().for_each(|name| manifest.remove_name(name));
        manifest.name.is_some().then(|| Profile { manifest: Arc::new(manifest), ..profile })
    });
    left.collect()
}

/// The names that a profile takes from others, each with the id of the other.
fn taken_by(profile: &Profile) -> impl Iterator<Item = (String, String)> {
    let Profile { manifest, .. } = profile;
    let valid = manifest.took.iter().filter(|taken| manifest.has_name(taken.name.as_str()));
    let valid = valid.filter(|taken| taken.from != manifest.id);
    valid.map(|taken| (taken.from.clone(), taken.name.to_string()))
}

/// Names and ids that several profiles have. The profiles come in their order.
pub(super) fn shared(profiles: &[Profile]) -> Vec<SharedName> {
    let mut having = BTreeMap::<&str, Vec<String>>::new();
    for profile in profiles {
        let manifest = &profile.manifest;
        for name in manifest.slugs().map(|slug| slug.as_str()).chain([manifest.id.as_str()]) {
            having.entry(name).or_default().push(profile.directory_name());
        }
    }
    let shared = having.into_iter().filter(|(_, directories)| directories.len() > 1);
    shared.map(|(name, directories)| SharedName { name: name.to_owned(), directories }).collect()
}

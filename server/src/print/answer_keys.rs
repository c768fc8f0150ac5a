//! The first keys of answers as JSON, alike for all commands and the API.

use nprof_engine::wire::page_link::page_of;
use serde_json::{Map, Value, json};

use crate::store::Profile;

/// Version of the keys of answers.
const VERSION: u32 = 1;

/// The first keys of an answer about a profile with a list of rows. Times are in picoseconds.
#[must_use]
pub fn head(profile: &Profile, shown: usize, total: usize) -> Map<String, Value> {
    with_counts(scope(profile, "ps"), shown, total)
}

/// The first keys of an answer, with the number of rows that it shows and that there are.
#[must_use]
pub fn with_counts(mut keys: Map<String, Value>, shown: usize, total: usize) -> Map<String, Value> {
    keys.insert("shown".to_owned(), json!(shown));
    keys.insert("total".to_owned(), json!(total));
    keys
}

/// The first key of any answer.
#[must_use]
pub fn version() -> Map<String, Value> {
    Map::from_iter([("version".to_owned(), json!(VERSION))])
}

/// The first keys of an answer about a profile. `unit` is that of its times.
#[must_use]
pub fn scope(profile: &Profile, unit: &str) -> Map<String, Value> {
    let slug = profile.manifest.slug();
    let keys = [("unit", json!(unit)), ("scope", json!({"profile": slug})), ("link", json!(page_of(slug)))];
    let mut all = version();
    all.extend(keys.map(|(key, value)| (key.to_owned(), value)));
    all
}

//! `nprof list`

use std::io::Write;

use anyhow::bail;
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use nprof_engine::wire::catalog::{ProfileEntry, ProfileList};
use serde_json::{Value, json};

use super::StorePlace;
use super::size;
use crate::print::json::document;
use crate::print::text::{self, Align};
use crate::store::{Manifest, Profile, SharedName, Survey, name_for_rm};
use crate::terminal::visible;

const EXAMPLES: &str = "\
Examples:
  nprof list
  nprof list --json | jq '.profiles[].slug'";

const HEADING: [&str; 10] =
    ["NAME", "ID", "CREATED", "RANKS", "CLOCKS", "EVENTS", "SIZE", "WARNINGS", "SOURCE", "TITLE"];
const ALIGN: [Align; 10] = {
    use Align::{Left, Right};
    [Left, Left, Left, Right, Right, Right, Right, Right, Left, Left]
};

/// List the profiles of the store, newest first
///
/// A profile without a name is listed by its id. CLOCKS counts the ranks with a corrected clock.
/// The exit code is 1 if a profile cannot be read, or if several profiles have the same name.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// Print JSON in the form of the API's `/api/profiles`; profiles that cannot be read are in
    /// `unreadable`
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let survey = place.read()?.survey()?;
        if self.json {
            write_json(&survey, out)?;
        } else if survey.profiles.is_empty() && survey.unreadable.is_empty() {
            let root = place.root()?.display().to_string();
            writeln!(out, "no profiles in {}; run `nprof demo` to make one", visible(&root))?;
        } else {
            write_table(&survey, out)?;
        }
        // The list must come before the conclusion, even if both outputs go to the same place.
        out.flush()?;
        conclude(&survey)
    }
}

fn write_json(survey: &Survey, out: &mut dyn Write) -> anyhow::Result<()> {
    let profiles = survey.profiles.iter().map(|profile| profile.manifest.entry()).collect();
    let mut list = serde_json::to_value(ProfileList { profiles })?;
    if let (Value::Object(list), false) = (&mut list, survey.unreadable.is_empty()) {
        let unreadable = survey
            .unreadable
            .iter()
            .map(|(dir, error)| json!({"directory": name_for_rm(dir), "error": error.to_string()}));
        list.insert("unreadable".to_owned(), unreadable.collect());
    }
    Ok(document(&list, out)?)
}

fn write_table(survey: &Survey, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut rows = vec![HEADING.map(str::to_owned).to_vec()];
    rows.extend(survey.profiles.iter().map(row));
    rows.extend(survey.unreadable.iter().map(|(dir, error)| {
        let mut row = ["-"; HEADING.len()].map(str::to_owned);
        row[0] = name_for_rm(dir);
        row[HEADING.len() - 1] = format!("cannot be read: {error}");
        row.to_vec()
    }));
    Ok(text::table(out, &ALIGN, &rows)?)
}

fn row(profile: &Profile) -> Vec<String> {
    let entry = profile.manifest.entry();
    let created = Timestamp::from_millisecond(entry.created_unix_ms)
        .map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    let names = names(&entry);
    let directory = profile.directory_name();
    let id = if names == directory { "-".to_owned() } else { directory };
    vec![
        names,
        id,
        created.unwrap_or_default(),
        entry.ranks.to_string(),
        clocks(&profile.manifest, &entry),
        size::count(entry.events),
        size::bytes(entry.size_bytes),
        size::count(entry.warnings),
        entry.source,
        entry.display_name,
    ]
}

/// All names of a profile. Its id if it has none.
fn names(entry: &ProfileEntry) -> String {
    let all = std::iter::once(&entry.slug).chain(&entry.aliases);
    all.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Number of ranks with a clock, of all ranks.
fn clocks(manifest: &Manifest, entry: &ProfileEntry) -> String {
    match manifest.ranks.iter().filter(|rank| rank.clock.is_some()).count() {
        0 => "-".to_owned(),
        count => format!("{count} of {}", entry.ranks),
    }
}

/// Fails if something is wrong with the store.
fn conclude(survey: &Survey) -> anyhow::Result<()> {
    if let [(dir, _), others @ ..] = &survey.unreadable[..] {
        let first = name_for_rm(dir);
        let advice = format!("remove it with `nprof rm {first}` and ingest its trace again");
        match others.len() {
            0 => bail!("the profile {first} cannot be read; {advice}"),
            more => bail!("{} profiles cannot be read; each names its cause in the list; {advice}", more + 1),
        }
    }
    if let Some(SharedName { name, directories }) = survey.shared.first() {
        bail!(
            "several profiles have the name {name}; remove all but one by their ids: {}",
            directories.join(", ")
        );
    }
    Ok(())
}

//! `nprof list`

use std::io::Write;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use nprof_engine::wire::catalog::{ProfileEntry, ProfileList};

use super::StorePlace;
use super::size::{self, Align};

const EXAMPLES: &str = "\
Examples:
  nprof list
  nprof list --json | jq '.profiles[].slug'";

/// List the profiles of the store, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// Print JSON in the form of the API's `/api/profiles`
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profiles = place.open()?.list()?;
        let profiles: Vec<ProfileEntry> = profiles.iter().map(|profile| profile.manifest.entry()).collect();
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &ProfileList { profiles })?;
            return Ok(writeln!(out)?);
        }
        if profiles.is_empty() {
            return Ok(writeln!(
                out,
                "no profiles in {}; run `nprof demo` to make one",
                place.root()?.display()
            )?);
        }
        let heading = ["NAME", "CREATED", "RANKS", "EVENTS", "SIZE", "WARNINGS", "SOURCE", "TITLE"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(profiles.iter().map(row));
        use Align::{Left, Right};
        Ok(size::table(out, &[Left, Left, Right, Right, Right, Right, Left, Left], &rows)?)
    }
}

fn row(entry: &ProfileEntry) -> Vec<String> {
    let created = Timestamp::from_millisecond(entry.created_unix_ms)
        .map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
    vec![
        names(entry),
        created.unwrap_or_default(),
        entry.ranks.to_string(),
        size::count(entry.events),
        size::bytes(entry.size_bytes),
        size::count(entry.warnings),
        entry.source.clone(),
        entry.display_name.clone(),
    ]
}

/// All names of a profile.
fn names(entry: &ProfileEntry) -> String {
    let all = std::iter::once(&entry.slug).chain(&entry.aliases);
    all.map(String::as_str).collect::<Vec<_>>().join(", ")
}

//! `nprof regions`

use std::io::Write;
use std::str::FromStr;

use clap::Args;
use nprof_engine::wire::notes::{NotedRegion, Notes, NotesError};
use serde_json::{Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT};
use super::progress::analysing;
use super::region_lines::{ShownRegions, undo};
use crate::analysis::region_json;
use crate::analysis::regions::{RegionsOfRank, regions_of};
use crate::export::requested_part::rank_of;
use crate::print;
use crate::print::answer_keys::head;
use crate::print::row_limit::RowLimit;
use crate::store::{Profile, RankFile, Store};
use crate::units::{time_ps, time_text};

const EXAMPLES: &str = "\
Examples:
  nprof regions run-7                        steps, layers and phases of all ranks
  nprof regions run-7 --rank 3               those of rank 3: how long they take, which are slow
  nprof regions run-7 --add warm-up=0ms..12ms
                                             name a span; it is kept with the profile
  nprof regions run-7 --rename warm-up=compile
  nprof regions run-7 --delete compile
  nprof regions run-7 --output-format json | jq '.regions[] | select(.is_outlier)'";

/// Show steps, layers and phases of a profile, and name spans of it
///
/// Steps come from marks of the program, else from the order of kernels that repeats. None are
/// shown where nothing repeats. Times count from the first event of the profile, as on the page.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RegionsArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Only this rank; an added region is about it [default: all]
    #[arg(long)]
    rank: Option<u32>,
    /// Add a region, such as warm-up=10ms..12ms [units: ps, ns, us, ms, s]
    #[arg(long, value_name = "NAME=FROM..TO")]
    add: Vec<AddedRegion>,
    /// Give a region that a user added another name
    #[arg(long, value_name = "NAME=NEW")]
    rename: Vec<String>,
    /// Delete a region that a user added
    #[arg(long, value_name = "NAME")]
    delete: Vec<String>,
    /// Most rows, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

/// A region to add. Times are in picoseconds since the first event of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AddedRegion {
    name: String,
    from_ps: i64,
    to_ps: i64,
}

impl FromStr for AddedRegion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("\"{text}\" is no region; write a name and two times, such as warm-up=10ms..12ms");
        let (name, span) = text.rsplit_once('=').ok_or_else(expected)?;
        let (from, to) = span.split_once("..").ok_or_else(expected)?;
        let (from_ps, to_ps) = (time_ps(from)?, time_ps(to)?);
        if to_ps < from_ps {
            return Err(format!("\"{text}\" ends before it begins"));
        }
        Ok(Self { name: name.to_owned(), from_ps, to_ps })
    }
}

impl RegionsArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let is_change = !(self.add.is_empty() && self.rename.is_empty() && self.delete.is_empty());
        let store = if is_change { place.open()? } else { place.read()? };
        let profile = store.find(&self.profile)?;
        let ranks: Vec<&RankFile> = match self.rank {
            Some(rank) => vec![rank_of(&profile, rank)?],
            None => profile.manifest.ranks.iter().collect(),
        };
        let done = if is_change { self.change(&store, &profile)? } else { Vec::new() };
        if is_change && self.output_format == AnswerFormat::Text {
            return Ok(print::lines(done, out)?);
        }
        let notes = self.notes_of_ranks(profile.notes()?);
        let found = analysing(|cancel| regions_of(&profile, &ranks, cancel))?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &found, &notes), out)?,
            AnswerFormat::Text => {
                let first_ps = profile.manifest.shared_start().0;
                ShownRegions { found: &found, notes: &notes, first_ps, limit: self.limit }.write(out)?;
            }
        }
        Ok(())
    }

    /// Makes all changes or none. Returns a line for each.
    fn change(&self, store: &Store, profile: &Profile) -> anyhow::Result<Vec<String>> {
        let first_ps = profile.manifest.shared_start().0;
        let time = |ps: i64| time_text(i128::from(ps) - i128::from(first_ps));
        let change = |notes: &mut Notes| {
            let mut done = Vec::new();
            for name in &self.delete {
                let deleted = notes.delete(name)?;
                done.push(format!("deleted; to add it again: {}", undo(&self.profile, &deleted, first_ps)));
            }
            for text in &self.rename {
                let (name, new) = renaming(notes, text)?;
                notes.rename(name, new)?;
                done.push(format!("renamed \"{name}\" to \"{}\"", new.trim()));
            }
            for AddedRegion { name, from_ps, to_ps } in &self.add {
                let (start_ps, end_ps) = (first_ps.saturating_add(*from_ps), first_ps.saturating_add(*to_ps));
                notes.add(NotedRegion { name: name.clone(), rank: self.rank, start_ps, end_ps })?;
                done.push(format!("added \"{}\": {} to {}", name.trim(), time(start_ps), time(end_ps)));
            }
            Ok(done)
        };
        Ok(store.change_notes(&profile.manifest.id, change)?)
    }

    /// The regions of users that are about the wanted rank or about all.
    fn notes_of_ranks(&self, mut notes: Notes) -> Notes {
        notes
            .regions
            .retain(|region| self.rank.is_none() || region.rank.is_none() || region.rank == self.rank);
        notes
    }

    fn document(&self, profile: &Profile, found: &[RegionsOfRank], notes: &Notes) -> Value {
        let rows = region_json::rows(found, notes);
        let shown = self.limit.shown(&rows);
        let mut document = head(profile, shown.len(), rows.len());
        if let Some(rank) = self.rank {
            document["scope"]["rank"] = json!(rank);
        }
        document.insert("first_event_ps".to_owned(), json!(profile.manifest.shared_start().0));
        document.insert("steps".to_owned(), region_json::steps(found).into());
        document.insert("regions".to_owned(), shown.into());
        Value::Object(document)
    }
}

/// The two names of `NAME=NEW`. A name can contain the sign between them.
fn renaming<'t>(notes: &Notes, text: &'t str) -> Result<(&'t str, &'t str), NotesError> {
    let splits = || text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let is_known = |name: &str| notes.regions.iter().any(|region| region.name == name.trim());
    let found = splits().find(|(name, _)| is_known(name)).or_else(|| splits().next());
    found.ok_or_else(|| NotesError::Name(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_a_name_and_two_times() {
        let region = |name: &str, from_ps, to_ps| AddedRegion { name: name.to_owned(), from_ps, to_ps };
        assert_eq!("a=10ms..12ms".parse(), Ok(region("a", 10_000_000_000, 12_000_000_000)));
        assert_eq!("lr=0.1 = 1us .. 2.5 us".parse(), Ok(region("lr=0.1 ", 1_000_000, 2_500_000)));
        for wrong in ["", "a", "a=10ms", "10ms..12ms", "a=10..12", "a=12ms..10ms"] {
            assert!(wrong.parse::<AddedRegion>().is_err(), "{wrong}");
        }
    }
}

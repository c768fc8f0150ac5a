//! `nprof search`

use std::io::Write;

use clap::Args;
use nprof_engine::base::time::short_duration;
use nprof_engine::model::{FieldSpec, OwnedValue, Unit, ValueTable};
use nprof_engine::query::PatternError;
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::USUAL_LIMIT;
use super::progress::analysing;
use super::size::{count, counted};
use super::write::stored;
use crate::analysis::found_slices::{FoundSlice, FoundSlices, found_slices};
use crate::export::requested_part::Ranks;
use crate::print::answer_keys::head;
use crate::print::row_limit::RowLimit;
use crate::print::{self, TableFormat};
use crate::store::Profile;
use crate::units::time_text;

const EXAMPLES: &str = "\
Examples:
  nprof search run-7 matmul                  slices with this text in their name or a field
  nprof search run-7 'opcode=MATMUL dur>1us' of this name, and longer than 1 µs
  nprof search run-7 'size:512..32KiB -track:GpSimd'
                                             transfers of these sizes, but for a track
  nprof search run-7 'layer:mlp,attn in:\"step 3\"' --ranks 0,3-5
                                             of one of two layers, in a region, on some ranks
  nprof search run-7 'name~/^nccl.*Gather/ start>10ms'
                                             by a regular expression, later than 10 ms
  nprof search run-7 'opcode~/SEM/' --limit all --output-format json | jq '.rows[].duration_ps'";

/// Find the slices of a profile that a query describes
///
/// Words of a query must all match: `text` or `/expression/` in the name or any field;
/// `field:text`, `field=text`, `field~/expression/`; `field>1us`, `field:1us..5us` for numbers;
/// `track:`, `rank:`, `in:region`. Commas separate alternatives, and `-` before a word excludes.
/// Fields have the names of exports, also `name`, `dur` and `start`. The exit code is 2 for an
/// unknown field or unit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SearchArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Words that must all match, in quotes for the shell
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Only these ranks, such as `0,3-5` [default: all]
    #[arg(long, visible_alias = "rank", value_name = "LIST", value_parser = Ranks::parse)]
    ranks: Option<Ranks>,
    /// Most rows, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: FoundFormat,
}

/// The form of what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FoundFormat {
    /// How many slices and how long, then aligned columns
    Text,
    /// Comma-separated values, times in nanoseconds
    Csv,
    /// One document, times in picoseconds
    Json,
}

/// The exit code of a query that no rank understands: that of wrong usage.
pub(super) const WRONG_QUERY_EXIT_CODE: u8 = 2;

/// A query that no rank understands.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct WrongQuery(String);

impl WrongQuery {
    fn of(fault: &PatternError) -> Self {
        Self(match fault.at {
            Some(at) => format!("query, character {}: {}", at + 1, fault.what),
            None => format!("query: {}", fault.what),
        })
    }
}

impl SearchArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = stored(&place.read()?, &self.profile)?;
        let ranks = match &self.ranks {
            Some(ranks) => ranks.of(&profile)?,
            None => profile.manifest.ranks.clone(),
        };
        let (query, most) = (&self.query, self.limit.most());
        let found = analysing(|cancel| found_slices(&profile, &ranks, query, most, cancel));
        let found = found.map_err(|error| match error.downcast_ref() {
            Some(fault) => WrongQuery::of(fault).into(),
            None => error,
        })?;
        match self.output_format {
            FoundFormat::Json => print::json::document(&document(&profile, &found), out)?,
            FoundFormat::Csv => print::table(TableFormat::Csv, &table(&found), out)?,
            FoundFormat::Text => {
                print::lines([answer(&found)], out)?;
                write_rows(&profile, &found, out)?;
                let left_out = found.total - found.rows.len() as u64;
                if left_out > 0 {
                    writeln!(out, "{} more; --limit all shows them", counted(left_out, "row"))?;
                }
            }
        }
        Ok(())
    }
}

/// The line that answers.
fn answer(found: &FoundSlices) -> String {
    let searched = count(found.searched);
    match found.total {
        0 => format!("none of {searched} slices"),
        total => {
            let sum = short_duration(found.duration_ps as f64);
            format!("{} of {searched} slices, together {sum}", count(total))
        }
    }
}

fn document(profile: &Profile, found: &FoundSlices) -> Map<String, Value> {
    let row = |of: &FoundSlice| {
        let FoundSlice { rank, row, name, track, start_ps, duration_ps } = of;
        json!({
            "rank": rank, "row": row, "name": name, "track": track,
            "start_ps": start_ps, "duration_ps": duration_ps,
        })
    };
    let mut document = head(profile, found.rows.len(), found.total as usize);
    let first_ps = profile.manifest.shared_start().0;
    let keys = [
        ("searched", json!(found.searched)),
        ("duration_ps", json!(found.duration_ps)),
        ("first_event_ps", json!(first_ps)),
        ("rows", found.rows.iter().map(row).collect()),
    ];
    document.extend(keys.map(|(key, value)| (key.to_owned(), value)));
    document
}

/// The rows with exact times.
fn table(found: &FoundSlices) -> ValueTable {
    let time = |name: &str| FieldSpec { unit: Unit::Picoseconds, ..FieldSpec::named(name) };
    let row = |of: &FoundSlice| {
        let (name, track) = (OwnedValue::Text(of.name.clone()), OwnedValue::Text(of.track.clone()));
        let (start, duration) = (OwnedValue::Int(of.start_ps), OwnedValue::Int(of.duration_ps));
        let numbers = [of.rank, of.row].map(|number| OwnedValue::Uint(number.into()));
        let [rank, row] = numbers;
        [rank, row, name, track, start, duration].map(Some).to_vec()
    };
    let names = [FieldSpec::named("rank"), FieldSpec::named("row"), FieldSpec::named("name")];
    let fields = names.into_iter().chain([FieldSpec::named("track"), time("start"), time("duration")]);
    ValueTable {
        name: "search".to_owned(),
        fields: fields.collect(),
        rows: found.rows.iter().map(row).collect(),
    }
}

/// The rows for people: times count from the first event of the profile.
fn write_rows(profile: &Profile, found: &FoundSlices, out: &mut dyn Write) -> anyhow::Result<()> {
    if found.rows.is_empty() {
        return Ok(());
    }
    let first_ps = i128::from(profile.manifest.shared_start().0);
    let are_several = profile.manifest.ranks.len() > 1;
    let row = |of: &FoundSlice| {
        let rank = are_several.then(|| OwnedValue::Uint(of.rank.into()));
        let start = OwnedValue::Text(time_text(i128::from(of.start_ps) - first_ps));
        let (name, track) = (OwnedValue::Text(of.name.clone()), OwnedValue::Text(of.track.clone()));
        vec![rank, Some(start), Some(OwnedValue::Int(of.duration_ps)), Some(name), Some(track)]
    };
    let mut fields = ["rank", "start", "duration", "name", "track"].map(FieldSpec::named);
    fields[2].unit = Unit::Picoseconds;
    let rows = found.rows.iter().map(row).collect();
    Ok(print::table(
        TableFormat::Text,
        &ValueTable { name: "search".to_owned(), fields: fields.to_vec(), rows },
        out,
    )?)
}

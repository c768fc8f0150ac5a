//! `nprof table`

use std::io::Write;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use clap::Args;
use nprof_engine::base::Error;
use nprof_engine::model::{FieldId, FieldSpec, OwnedValue, TableId, TableKind, Unit};
use nprof_engine::native::SegmentFile;
use nprof_engine::query::{self, RowContent, RowOrder, TimedRow, for_each_timed};
use nprof_engine::segment::ColumnRole;
use nprof_engine::wire::rank_ref::RankRef;

use super::progress::analysing;
use super::{StorePlace, size};
use crate::analysis::job_segment;
use crate::export::requested_part::rank_of;
use crate::export::tracks::ExportTracks;
use crate::print::text::{self, Align};
use crate::print::{Printer, TableFormat};
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof table run-7                              the tables of the job
  nprof table run-7 all rank                     each rank: waiting, blame, clock
  nprof table run-7 all operation --output-format csv > operations.csv
  nprof table run-7 3                            the tables of rank 3
  nprof table run-7 3 slice --limit 20           its first slices
  nprof table run-7 all cause --output-format json | jq '.[] | select(.stands_out)'";

/// Print a stored table of a rank, or of all ranks together
///
/// Without a table, the tables are listed with their rows and meaning.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TableArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Number of a rank, or `all` for the tables of the job [default: all, or the only rank]
    rank: Option<RankRef>,
    /// Name of a table
    table: Option<String>,
    /// As a table, CSV or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: TableFormat,
    /// Print at most this many rows, 0 for all [default: 100 as text, else all]
    #[arg(long, value_name = "ROWS")]
    limit: Option<u64>,
}

/// Rows that a terminal shows unless told otherwise.
const SHOWN_ROWS: u64 = 100;

impl TableArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        let opened = open(&profile, self.rank)?;
        let segment: &SegmentFile = &opened;
        let Some(name) = &self.table else { return list(segment, out) };
        let tables = &segment.footer().tables;
        let id = segment.table(name).filter(|id| tables[usize::from(id.0)].rows > 0);
        let Some(id) = id else {
            let known = tables.iter().filter(|table| table.rows > 0).map(|table| table.spec.name.as_str());
            let known: Vec<&str> = known.collect();
            bail!("there is no table {name:?}; there are {}", known.join(", "));
        };
        let limit = self.limit.unwrap_or(match self.output_format {
            TableFormat::Text => SHOWN_ROWS,
            TableFormat::Csv | TableFormat::Json => 0,
        });
        let limit = if limit == 0 { u64::MAX } else { limit };
        let columns = PrintedColumns::of(segment, id);
        let mut printer = Printer::new(self.output_format, columns.specs.clone(), out)?;
        print(segment, &columns, limit, &mut printer)?;
        printer.end()?;
        let rows = u64::from(tables[usize::from(id.0)].rows);
        if self.output_format == TableFormat::Text && rows > limit {
            writeln!(out, "{} more; --limit 0 prints all", size::counted(rows - limit, "row"))?;
        }
        Ok(())
    }
}

/// The segment of a rank, or of the job.
fn open(profile: &Profile, rank: Option<RankRef>) -> anyhow::Result<Arc<SegmentFile>> {
    let first = || profile.manifest.ranks.first().ok_or_else(|| anyhow!("this profile has no ranks"));
    let file = match rank {
        Some(RankRef::Number(number)) => Some(rank_of(profile, number)?),
        Some(RankRef::All) => None,
        None if job_segment::is_for(profile) => None,
        None => Some(first()?),
    };
    if let Some(file) = file {
        let opened = profile.open_rank(file);
        return Ok(Arc::new(opened.map_err(|error| anyhow!("{}: {error}", profile.place_of(file)))?));
    }
    if !job_segment::is_for(profile) {
        bail!("{} has one rank, so no tables of all ranks", profile.manifest.slug());
    }
    Ok(analysing(|cancel| job_segment::of_profile(profile, cancel))?.segment)
}

/// Lists the tables of a rank.
fn list(segment: &SegmentFile, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut lines = vec![["TABLE", "ROWS", "MEANING"].map(str::to_owned).to_vec()];
    for table in segment.footer().tables.iter().filter(|table| table.rows > 0) {
        let doc = table.spec.doc.clone();
        lines.push(vec![table.spec.name.clone(), size::count(table.rows.into()), doc]);
    }
    Ok(text::table(out, &[Align::Left, Align::Right, Align::Left], &lines)?)
}

/// The columns of a table: those that its kind has, then the fields with values.
struct PrintedColumns {
    table: TableId,
    kind: TableKind,
    specs: Vec<FieldSpec>,
    fields: Vec<FieldId>,
}

impl PrintedColumns {
    fn of(segment: &SegmentFile, table: TableId) -> Self {
        let footer = segment.footer();
        let kind = footer.tables[usize::from(table.0)].spec.kind;
        let time = |name: &str| FieldSpec { unit: Unit::Picoseconds, ..FieldSpec::named(name) };
        let mut specs = match kind {
            TableKind::Slices => {
                vec![time("start"), time("duration"), FieldSpec::named("track"), FieldSpec::named("name")]
            }
            TableKind::Samples => {
                vec![time("start"), FieldSpec::named("value"), FieldSpec::named("track")]
            }
            TableKind::Side => Vec::new(),
        };
        let mut fields = Vec::new();
        for column in segment.columns_of(table) {
            if let ColumnRole::Field(id) = footer.columns[column].role
                && !fields.contains(&id)
            {
                fields.push(id);
            }
        }
        fields.sort_unstable();
        specs.extend(fields.iter().map(|id| footer.fields[id.0 as usize].1.clone()));
        Self { table, kind, specs, fields }
    }

    /// The values of a row behind those that its kind has.
    fn row(
        &self,
        mut row: Vec<Option<OwnedValue>>,
        values: Vec<(FieldId, OwnedValue)>,
    ) -> Vec<Option<OwnedValue>> {
        let first = row.len();
        row.resize(first + self.fields.len(), None);
        for (id, value) in values {
            if let Ok(at) = self.fields.binary_search(&id) {
                row[first + at] = Some(value);
            }
        }
        row
    }
}

/// The reason for the end of a walk over rows.
enum Ended {
    /// Enough rows are printed.
    Enough,
    Failed(anyhow::Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

fn print(
    segment: &SegmentFile,
    of: &PrintedColumns,
    limit: u64,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let mut left = limit;
    let mut put = |row: Vec<Option<OwnedValue>>| {
        left = left.checked_sub(1).ok_or(Ended::Enough)?;
        printer.row(&row).map_err(|error| Ended::Failed(error.into()))
    };
    let ended = match of.kind {
        TableKind::Side => {
            query::fields::for_each_row(segment, of.table, |_, values| put(of.row(Vec::new(), values)))
        }
        TableKind::Slices | TableKind::Samples => {
            let tracks = ExportTracks::of(segment)?;
            let paths: Vec<String> = tracks.ids().map(|track| tracks.path(track).join("/")).collect();
            for_each_timed(segment, &[of.table], RowOrder::Time, |row| {
                let TimedRow { track, start_ps, content, fields, .. } = row;
                let path = Some(OwnedValue::Text(paths[track.0 as usize].clone()));
                let start = Some(OwnedValue::Int(start_ps));
                let fixed = match content {
                    RowContent::Slice { duration_ps, name, .. } => {
                        let name = OwnedValue::Text(segment.text(name)?.to_owned());
                        vec![start, Some(OwnedValue::Int(duration_ps)), path, Some(name)]
                    }
                    RowContent::Sample { value } => vec![start, Some(OwnedValue::Float(value)), path],
                };
                put(of.row(fixed, fields))
            })
        }
    };
    match ended {
        Ok(()) | Err(Ended::Enough) => Ok(()),
        Err(Ended::Failed(error)) => Err(error),
    }
}

//! `nprof ranks --over-time`: how long the ranks wait in steps of time.

use std::io::Write;

use nprof_engine::base::Interval;
use nprof_engine::exec::Work;
use nprof_engine::makers::job::over_time::{StepSpread, WaitsOverTime, over_time};
use nprof_engine::metrics::trace::span;
use nprof_engine::model::{FieldSpec, OwnedValue, Unit, ValueTable};
use nprof_engine::native::AllCores;
use serde_json::json;

use super::progress::analysing;
use crate::analysis::job_segment;
use crate::print::json::rows;
use crate::print::text::{self, Column};
use crate::print::{self, TableFormat};
use crate::store::Profile;

/// Writes the table of steps.
pub(super) fn write(
    profile: &Profile,
    most_steps: u32,
    format: TableFormat,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if !job_segment::is_for(profile) {
        anyhow::bail!("{} has one rank, which waits for no other", profile.manifest.slug());
    }
    let (waits, whole) = read(profile, most_steps)?;
    let steps = steps(&waits, whole);
    match format {
        TableFormat::Text => {
            let width = text::duration(Some(waits.step_ps as f64));
            writeln!(out, "waited share of steps of {width}, from the first call on")?;
            text::columns(out, &COLUMNS.iter().collect::<Vec<_>>(), &steps)?;
        }
        TableFormat::Csv => print::table(TableFormat::Csv, &table(&steps), out)?,
        TableFormat::Json => {
            let mut rows = rows(&table(&steps));
            for (at, row) in rows.iter_mut().enumerate() {
                row["shares"] = waits.ranks.iter().map(|rank| rank.shares[at]).collect();
            }
            let ranks: Vec<u32> = waits.ranks.iter().map(|rank| rank.rank).collect();
            serde_json::to_writer_pretty(&mut *out, &json!({"ranks": ranks, "steps": rows}))?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The waiting of all ranks over the whole profile, and the recorded span.
fn read(profile: &Profile, most_steps: u32) -> anyhow::Result<(WaitsOverTime, Interval)> {
    analysing(|cancel| {
        let job = job_segment::of_profile(profile, cancel)?;
        let whole = span(&job.segment);
        let waits = over_time(&job.segment, whole, most_steps, Work { exec: &AllCores, cancel })?;
        Ok::<_, anyhow::Error>((waits, whole))
    })
}

/// A step of time, in picoseconds.
struct Step {
    start_ps: i64,
    end_ps: i64,
    /// Its start since the first event.
    from_ps: i64,
    spread: StepSpread,
}

fn steps(waits: &WaitsOverTime, whole: Interval) -> Vec<Step> {
    let step = |(at, spread): (i64, StepSpread)| {
        let start_ps = waits.start_ps.saturating_add(waits.step_ps.saturating_mul(at));
        let from_ps = start_ps.max(whole.start.0).saturating_sub(whole.start.0);
        Step { start_ps, end_ps: start_ps.saturating_add(waits.step_ps), from_ps, spread }
    };
    (0..).zip(waits.spreads()).map(step).collect()
}

const COLUMNS: [Column<Step>; 6] = [
    Column::new("FROM", |step| text::duration(Some(step.from_ps as f64))),
    Column::new("LEAST", |step| text::share(step.spread.least.0, 1.0)),
    Column::new("RANK", |step| step.spread.least.1.to_string()),
    Column::new("MEDIAN", |step| text::share(step.spread.median, 1.0)),
    Column::new("MOST", |step| text::share(step.spread.most.0, 1.0)),
    Column::new("RANK", |step| step.spread.most.1.to_string()),
];

fn table(steps: &[Step]) -> ValueTable {
    let field = |name: &str, unit| FieldSpec { unit, ..FieldSpec::named(name) };
    let row = |step: &Step| {
        let StepSpread { least, median, most } = step.spread;
        let values = [
            OwnedValue::Int(step.start_ps),
            OwnedValue::Int(step.end_ps),
            OwnedValue::Float(least.0),
            OwnedValue::Int(least.1.into()),
            OwnedValue::Float(median),
            OwnedValue::Float(most.0),
            OwnedValue::Int(most.1.into()),
        ];
        values.map(Some).to_vec()
    };
    ValueTable {
        name: "waits".to_owned(),
        fields: vec![
            field("start", Unit::Picoseconds),
            field("end", Unit::Picoseconds),
            field("least", Unit::Ratio),
            field("least_rank", Unit::None),
            field("median", Unit::Ratio),
            field("most", Unit::Ratio),
            field("most_rank", Unit::None),
        ],
        rows: steps.iter().map(row).collect(),
    }
}

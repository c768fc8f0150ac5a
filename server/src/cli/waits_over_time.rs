//! `nprof ranks --over-time`: how long the ranks wait in steps of time.

use std::io::Write;

use nprof_engine::base::time::short_duration;
use nprof_engine::exec::Work;
use nprof_engine::makers::job::over_time::{WaitsOverTime, over_time};
use nprof_engine::makers::job::schema::WaitStepRow;
use nprof_engine::metrics::trace::span;
use nprof_engine::model::ValueTable;
use nprof_engine::native::AllCores;
use serde_json::json;

use super::progress::analysing;
use crate::analysis::{job_segment, made};
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
    let (waits, steps) = read(profile, most_steps)?;
    match format {
        TableFormat::Text => {
            let width = short_duration(waits.step_ps as f64);
            writeln!(out, "waited share of steps of {width}, from the first call on")?;
            let of = WaitStepRow::by(|field| field.name);
            let columns = [of.from, of.least, of.least_rank, of.median, of.most, of.most_rank];
            print::view(&steps, &columns.map(|field| (field, field)), out)?;
        }
        TableFormat::Csv => print::table(TableFormat::Csv, &steps, out)?,
        TableFormat::Json => {
            let mut rows = print::json::rows(&steps);
            for (at, row) in rows.iter_mut().enumerate() {
                row["shares"] = waits.ranks.iter().map(|rank| rank.shares[at]).collect();
            }
            let ranks: Vec<u32> = waits.ranks.iter().map(|rank| rank.rank).collect();
            print::json::document(&json!({"ranks": ranks, "steps": rows}), out)?;
        }
    }
    Ok(())
}

/// The waiting of all ranks over the whole profile, and its table of steps.
fn read(profile: &Profile, most_steps: u32) -> anyhow::Result<(WaitsOverTime, ValueTable)> {
    analysing(|cancel| {
        let job = job_segment::of_profile(profile, cancel)?;
        let whole = span(&job.segment);
        let waits = over_time(&job.segment, whole, most_steps, Work { exec: &AllCores, cancel })?;
        let steps = made(|sink| waits.write(whole, sink))?;
        Ok::<_, anyhow::Error>((waits, steps))
    })
}

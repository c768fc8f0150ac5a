//! `nprof whatif`

use std::io::Write;

use clap::Args;
use nprof_engine::base::time::short_duration;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::prediction_sentence::{self, change};
use nprof_engine::insight::{Bracket, Edit, Prediction, Scenario, predict};
use nprof_engine::wire::what_if::{WhatIf, WhatIfSweep};
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT, with_work};
use super::failed_condition::{Failing, Undecided};
use super::limit::CostLimit;
use super::progress::analysing;
use crate::analysis::graph::{Replayable, replayable};
use crate::analysis::on_all_cores;
use crate::print;
use crate::print::answer_keys::{head, scope};
use crate::print::row_limit::RowLimit;
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof whatif run-7 kernel:gemm=0.5         if kernels with gemm in their names took half of their time
  nprof whatif run-7 rank:53=median          if rank 53 were as fast as the median rank
  nprof whatif run-7 transfer:all-reduce=0.5 'wait:rank 3=0'
                                             faster transfers, and nobody waits for rank 3
  nprof whatif run-7 bandwidth=2 --fail-on 5%
                                             exit with 3 if a faster network would save more
  nprof whatif run-7 --sweep                 the changes that would shorten the run most
  nprof whatif run-7 bandwidth=2 --output-format json | jq .predicted_ps";

/// Show how long a run would have taken if some of its work took another time
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WhatifArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Changes that hold together, such as kernel:NAME=0.5, layer:NAME=0.5, engine:NAME=0.5,
    /// dma:QUEUE=0.5, wait:semaphore 12=0, transfer:KIND=0.5, rank:3=median, rank:3=0.9,
    /// wait:rank 3=0 or bandwidth=2
    ///
    /// NAME and QUEUE are a part of the name of a kernel, layer, engine or queue, or a whole name
    /// with `*` for any text. KIND is a kind of operation as `nprof collectives` prints it. The
    /// number is a multiple of the time that the work takes, or of the rate of all transfers.
    #[arg(required_unless_present = "sweep", value_name = "EDIT")]
    edits: Vec<Edit>,
    /// List what would shorten the run most: each name of a kernel, engine, queue, layer and kind
    /// of transfer twice as fast, each rank as fast as the median rank
    #[arg(long, conflicts_with = "edits")]
    sweep: bool,
    /// Most changes of a sweep, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// Exit with 3 if the changes save more than this, such as `5%` or `2 ms`; with 4 if that is
    /// not sure
    ///
    /// A saving is sure if both ends of its bracket are on the same side of the limit.
    #[arg(long, value_name = "SAVING", conflicts_with = "sweep")]
    fail_on: Option<CostLimit>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

impl WhatifArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        if self.sweep {
            let swept = analysing(|cancel| {
                let of = with_work(replayable(&profile, cancel)?)?;
                Ok::<_, anyhow::Error>(of.run.sweep(self.limit.most(), on_all_cores(cancel))?)
            })?;
            return self.write_sweep(&profile, &swept, out);
        }
        let found = analysing(|cancel| self.predict(with_work(replayable(&profile, cancel)?)?, cancel))?;
        match self.output_format {
            AnswerFormat::Json => {
                let mut answer = scope(&profile, "ps");
                answer.extend(document(&WhatIf::of(&found, &self.edits)));
                print::json::document(&answer, out)?;
            }
            AnswerFormat::Text => {
                let mut lines = vec![prediction_sentence::answer(&found)];
                lines.extend(prediction_sentence::fidelity(&found));
                print::lines(lines, out)?;
            }
        }
        self.judge(&found, out)
    }

    /// Checks the limit after the output is complete.
    fn judge(&self, found: &Prediction, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(limit) = self.fail_on else { return Ok(()) };
        let limit_ps = limit.ps(found.recorded_ps);
        let Bracket { low_ps, high_ps, .. } = found.saving();
        if high_ps <= limit_ps {
            return Ok(());
        }
        out.flush()?;
        let text =
            format!("the run gets {}; the limit is {}", change(found), short_duration(limit_ps as f64));
        if low_ps > limit_ps { Err(Failing(text).into()) } else { Err(Undecided(text).into()) }
    }

    fn predict(&self, of: Replayable, cancel: Cancel<'_>) -> anyhow::Result<Prediction> {
        let scenario = Scenario::new(of.graph(), &self.edits)?;
        Ok(predict(of.graph(), &scenario, on_all_cores(cancel))?)
    }

    fn write_sweep(&self, profile: &Profile, swept: &WhatIfSweep, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.output_format {
            AnswerFormat::Json => {
                let one = |one: &WhatIf| {
                    let mut document = document(one);
                    document.insert("edit".to_owned(), json!(one.edits.join("\n")));
                    document
                };
                let mut answer = head(profile, swept.sweep.len(), swept.total as usize);
                answer.insert("sweep".to_owned(), swept.sweep.iter().map(one).collect());
                print::json::document(&answer, out)?;
            }
            AnswerFormat::Text => {
                let one = |one: &WhatIf| format!("{}  {}", one.change, one.edits.join(", "));
                print::lines(swept.sweep.iter().map(one), out)?;
            }
        }
        Ok(())
    }
}

fn document(of: &WhatIf) -> Map<String, Value> {
    match json!(of) {
        Value::Object(document) => document,
        _ => unreachable!("a message is an object"),
    }
}

//! `nprof summary`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use nprof_engine::base::Interval;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::finding::findings;
use nprof_engine::metrics::{GivenPeaks, KernelLimits, MetricScope};
use nprof_engine::native::AllCores;
use nprof_engine::wire::summary::Summary;
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, CheckedFormat, CheckedOutput, with_work};
use super::failed_condition::conclude;
use super::overview::{RunOverview, without_work};
use super::run_condition::{KnownFacts, RunCondition, checked};
use super::write::{STANDARD_OUTPUT, stored, write_answer};
use crate::analysis::findings::facts_of;
use crate::analysis::graph::replayable;
use crate::analysis::regions::spans_on_rank;
use crate::export::RanksOf;
use crate::export::requested_part::Ranks;
use crate::export::summary::{by_rank_as, metrics, summaries, summary_within};
use crate::print;
use crate::print::answer_keys::head;
use crate::print::condition_report::{CheckedCondition, ConditionReport};
use crate::print::{metric, metric_table};
use crate::store::{Profile, RankFile};
use crate::terminal::visible;
use crate::units::{bytes_per_s, flops_per_s, time_ps};

const EXAMPLES: &str = "\
Examples:
  nprof summary run-7                        what it is, how long it takes, where the time goes
  nprof summary run-7 --all                  all metrics of all ranks
  nprof summary run-7 --ranks 0,3-5          all metrics of these ranks
  nprof summary run-7 --region 'step 3'      those of a region that `nprof regions` names
  nprof summary run-7 --all --long-launch 20us
                                             with another limit for long launches
  nprof summary run-7 --fail-on 'mfu < 30%'  exit with 3 if a rank is below
  nprof summary run-7 --fail-on 'finding:spill > 1%'
                                             exit with 3 if spilling costs more than 1 % of the run
  nprof summary run-7 --ranks 0 --output-format json
                                             their exact values";

/// Show what a profile is, how long its run takes, where the time goes, and what is wrong
///
/// One screen, unless all metrics are asked for. JSON has the exact values of all metrics.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SummaryArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Show all metrics instead of one screen
    #[arg(long)]
    all: bool,
    /// Show all metrics of these ranks, such as `0,3-5`
    #[arg(long, visible_alias = "rank", value_name = "LIST", value_parser = Ranks::parse)]
    ranks: Option<Ranks>,
    /// Show the metrics of this region, as `nprof regions` names it, on each rank that has it
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Exit with 3 if this holds; with 4 if nobody can tell; can be repeated
    ///
    /// A condition is a metric of any rank with a limit, such as `mfu < 30%`, `idle_time > 5 ms` or
    /// `short_kernel_count > 1000`; a rule with a cost, such as `finding:spill > 1%`; or what
    /// `nprof ranks` takes, such as `wait > 10%`.
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<RunCondition>,
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: CheckedFormat,
    /// The file to write, `-` for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

/// Limits that metrics of launches, gaps and queues count by.
#[derive(Debug, Args)]
struct LimitArgs {
    /// A shorter gap between two kernels is one of the device [default: 30us]
    #[arg(long, value_name = "TIME", value_parser = time_ps)]
    kernel_gap: Option<i64>,
    /// A launch that takes longer is long [default: 50us]
    #[arg(long, value_name = "TIME", value_parser = time_ps)]
    long_launch: Option<i64>,
    /// A kernel that starts later after its launch is late [default: 100us]
    #[arg(long, value_name = "TIME", value_parser = time_ps)]
    late_kernel: Option<i64>,
    /// A queue with so many launches is full [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    full_queue: Option<u32>,
    /// Floating-point operations a second that the device can do, such as `989TF` [default: of its
    /// data sheet]
    #[arg(long, value_name = "RATE", value_parser = flops_per_s)]
    peak: Option<u64>,
    /// Bytes a second that the memory of the device can move, such as `3.35TB/s` [default: of its
    /// data sheet]
    #[arg(long, value_name = "RATE", value_parser = bytes_per_s)]
    bandwidth: Option<u64>,
}

impl LimitArgs {
    /// The scope of the metrics: a window or all of a rank, with the limits.
    fn scope(&self, window: Option<Interval>) -> MetricScope {
        let usual = KernelLimits::default();
        let limits = KernelLimits {
            kernel_gap_ps: self.kernel_gap.unwrap_or(usual.kernel_gap_ps),
            long_launch_ps: self.long_launch.unwrap_or(usual.long_launch_ps),
            late_kernel_ps: self.late_kernel.unwrap_or(usual.late_kernel_ps),
            full_queue: self.full_queue.unwrap_or(usual.full_queue),
        };
        MetricScope { window, limits, peaks: GivenPeaks { flops: self.peak, bytes: self.bandwidth } }
    }
}

impl SummaryArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let profile = stored(&store, &self.profile)?;
        let ranks = match &self.ranks {
            Some(ranks) => ranks.of(&profile)?,
            None => profile.manifest.ranks.clone(),
        };
        let path = self.output_file.as_deref().unwrap_or(STANDARD_OUTPUT.as_ref());
        let mut checked = Vec::new();
        write_answer(&store, &profile, path, out, |cancel| {
            let mut text = Vec::new();
            let wants_screen = !self.all && self.ranks.is_none() && self.region.is_none();
            let found = || self.summaries(&profile, &ranks, cancel);
            if !self.fail_on.is_empty() {
                checked = self.checked(&profile, &found()?)?;
            }
            let answer = format!("metrics of {}", profile.manifest.slug());
            let report = ConditionReport { command: "nprof summary", answer: &answer, checked: &checked };
            CheckedOutput::from(self.output_format).write(&report, &mut text, |format, text| {
                match format {
                    AnswerFormat::Json => {
                        print::json::document(&self.document(&profile, &found()?), text)?;
                    }
                    AnswerFormat::Text if wants_screen => print::lines(screen(&profile, cancel)?, text)?,
                    AnswerFormat::Text => print::lines(all_metrics(&found()?), text)?,
                }
                Ok(())
            })?;
            Ok(text)
        })?;
        conclude(&checked, out)
    }

    fn checked(
        &self,
        profile: &Profile,
        found: &[(&RankFile, Summary)],
    ) -> anyhow::Result<Vec<CheckedCondition>> {
        let ranks: Vec<(u32, &Summary)> = found.iter().map(|(file, summary)| (file.rank, summary)).collect();
        let (summaries, region) = (Some(&ranks[..]), self.region.as_deref());
        checked(&self.fail_on, profile, KnownFacts { summaries, region, ..KnownFacts::default() })
    }

    /// The requested metrics of each rank. Those of a whole rank with the usual limits are kept.
    fn summaries<'a>(
        &self,
        profile: &'a Profile,
        ranks: &'a [RankFile],
        cancel: Cancel<'_>,
    ) -> anyhow::Result<Vec<(&'a RankFile, Summary)>> {
        let work = Work { exec: &AllCores, cancel };
        let of = RanksOf::some(profile, ranks);
        if self.region.is_none() && self.limits.scope(None) == MetricScope::default() {
            return Ok(summaries(of, work)?);
        }
        let mut found = Vec::new();
        for opened in of.each() {
            let opened = opened?;
            let Some(scope) = self.scope(profile, opened.rank, cancel)? else { continue };
            found.push((opened.rank, summary_within(&opened, &scope, work)?));
        }
        if let (true, Some(name)) = (found.is_empty(), &self.region) {
            anyhow::bail!("no region is named `{name}`; `nprof regions {}` shows all", self.profile);
        }
        Ok(found)
    }

    /// The part of a rank to measure. `None` if it lacks the region.
    fn scope(
        &self,
        profile: &Profile,
        file: &RankFile,
        cancel: Cancel<'_>,
    ) -> anyhow::Result<Option<MetricScope>> {
        let Some(name) = &self.region else { return Ok(Some(self.limits.scope(None))) };
        let spans = spans_on_rank(profile, file, name, cancel)?;
        anyhow::ensure!(
            spans.len() <= 1,
            "rank {} has {} regions named `{name}`; give one a name of its own with `nprof regions {} --add`",
            file.rank,
            spans.len(),
            self.profile
        );
        Ok(spans.first().map(|span| self.limits.scope(Some(*span))))
    }

    /// The exact values of all metrics. Times are in seconds.
    fn document(&self, profile: &Profile, ranks: &[(&RankFile, Summary)]) -> Map<String, Value> {
        let total = ranks.iter().map(|(_, summary)| metrics(summary).len()).sum();
        let all = ranks.iter().flat_map(|(_, summary)| &summary.groups).flat_map(|group| &group.metrics);
        let mut units: Map<String, Value> = all
            .filter(|metric| !metric.unit.is_empty())
            .map(|metric| (metric.name.clone(), json!(metric.unit)))
            .collect();
        let columns = ranks.iter().flat_map(|(_, summary)| &summary.tables).flat_map(|table| &table.columns);
        let columns = columns.filter(|column| !column.unit.is_empty());
        units.extend(columns.map(|column| (column.name.clone(), json!(column.unit))));
        let mut document = head(profile, total, total);
        document.insert("unit".to_owned(), json!("s"));
        if let [(rank, _)] = ranks
            && self.ranks.is_some()
        {
            document["scope"]["rank"] = json!(rank.rank);
        }
        if let Some(name) = &self.region {
            document["scope"]["region"] = json!(name);
        }
        document.insert("units".to_owned(), Value::Object(units));
        document.extend(by_rank_as(ranks, |rank, summary| {
            let mut object = Map::new();
            object.insert("rank".to_owned(), json!(rank.rank));
            object.extend(metrics(summary));
            object.extend(metric_table::keys(summary));
            object
        }));
        document
    }
}

/// The first screen.
fn screen(profile: &Profile, cancel: Cancel<'_>) -> anyhow::Result<Vec<String>> {
    let of = replayable(profile, cancel)?;
    if of.graph().is_empty() {
        let work = Work { exec: &AllCores, cancel };
        // One rank is enough for a screen.
        let first = RanksOf::some(profile, &profile.manifest.ranks[..1]);
        let reason = with_work(of).err().map(|error| error.to_string()).unwrap_or_default();
        return Ok(without_work(profile, &reason, summaries(first, work)?.first()));
    }
    let facts = facts_of(profile, &of, cancel)?;
    let verdicts = findings(&facts)?;
    let overview = RunOverview {
        profile,
        analysed: &of.analysed,
        graph: of.graph(),
        path: facts.path(),
        verdicts: &verdicts,
        coverage: &facts.coverage,
    };
    Ok(overview.lines())
}

/// All metrics, with a heading for each rank if there are several.
fn all_metrics(ranks: &[(&RankFile, Summary)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (rank, summary)) in ranks.iter().enumerate() {
        if ranks.len() > 1 {
            lines.extend((at > 0).then(String::new));
            lines.push(format!("rank {} ({})", rank.rank, visible(&rank.id)));
        }
        lines.extend(metric::groups(summary));
        lines.extend(metric_table::tables(summary));
        lines.extend(metric_table::absent(summary));
    }
    lines
}

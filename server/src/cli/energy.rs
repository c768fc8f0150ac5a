//! `nprof energy`

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::energy::EnergyPart;
use nprof_engine::insight::region::RegionKind;
use serde_json::{Map, Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, USUAL_LIMIT};
use super::energy_lines::{EnergyAnswer, EnergyRow};
use super::price::Price;
use super::progress::analysing;
use crate::analysis::energy::{RankEnergy, RunEnergy};
use crate::analysis::regions::regions_of;
use crate::export::requested_part::rank_of;
use crate::print;
use crate::print::answer_keys::head;
use crate::print::row_limit::RowLimit;
use crate::store::{Profile, RankFile};

const EXAMPLES: &str = "\
Examples:
  nprof energy run-7                         joules of each kernel, of waits and of idle time
  nprof energy run-7 --by step               joules of each step
  nprof energy run-7 --price 98.32/h         what the run, a step and its waits cost
  nprof energy run-7 --by rank --output-format json | jq '.rows[] | {name, joules}'";

/// Show the energy of a run: of its kernels, phases, steps and ranks, and of its waits
///
/// The energy is that of recorded counters of power, and is never estimated. `--price` gives money,
/// also without any power.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EnergyArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Rows of the answer
    #[arg(long, value_enum, ignore_case = true, default_value = "kernel")]
    by: EnergyBy,
    /// Price of an hour of the whole job, in any currency, such as 98.32/h
    #[arg(long, value_name = "PRICE/h")]
    price: Option<Price>,
    /// Only this rank [default: all]
    #[arg(long)]
    rank: Option<u32>,
    /// Counter of power, by a part of its name, where a rank has several
    #[arg(long, value_name = "NAME")]
    counter: Option<String>,
    /// Most rows, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

/// The rows of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EnergyBy {
    /// Work by its name, then waits and idle time
    Kernel,
    /// Phases of the program, as `nprof regions` shows them
    Phase,
    /// Steps, as `nprof regions` shows them
    Step,
    /// Ranks
    Rank,
}

impl EnergyBy {
    fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Phase => "phase",
            Self::Step => "step",
            Self::Rank => "rank",
        }
    }
}

impl EnergyArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        if let Some(rank) = self.rank {
            rank_of(&profile, rank)?;
        }
        let answer = analysing(|cancel| self.answer(&profile, cancel))?;
        match self.output_format {
            AnswerFormat::Json => print::json::document(&self.document(&profile, &answer), out)?,
            AnswerFormat::Text => answer.write(profile.manifest.slug(), self.limit, out)?,
        }
        Ok(())
    }

    fn answer(&self, profile: &Profile, cancel: Cancel<'_>) -> anyhow::Result<EnergyAnswer> {
        let of = RunEnergy::of(profile, self.rank, self.counter.as_deref(), cancel)?;
        let rows = match self.by {
            EnergyBy::Kernel => by_name(&of),
            EnergyBy::Rank => of.ranks.iter().map(row_of_rank).collect(),
            EnergyBy::Step => of_regions(&of, profile, RegionKind::Iteration, cancel)?,
            EnergyBy::Phase => of_regions(&of, profile, RegionKind::Phase, cancel)?,
        };
        let step_ps = match self.price {
            Some(_) => step_ps(profile, cancel)?,
            None => None,
        };
        Ok(EnergyAnswer { run: of, rows, price: self.price, step_ps })
    }

    fn document(&self, profile: &Profile, answer: &EnergyAnswer) -> Map<String, Value> {
        let shown = self.limit.shown(&answer.rows);
        let mut document = head(profile, shown.len(), answer.rows.len());
        if let Some(rank) = self.rank {
            document["scope"]["rank"] = json!(rank);
        }
        let parts = answer.parts();
        let row = |row: &EnergyRow| {
            json!({
                "kind": row.kind, "name": row.name, "ps": row.time_ps.round() as i64,
                "joules": row.joules, "cost": answer.cost_of_ranks(row.time_ps),
            })
        };
        let cost = answer.price.map(|price| {
            json!({
                "hour": price.of_hour(), "run": price.of_ps(answer.run.run.duration_ps() as f64),
                "step": answer.step_ps.map(|ps| price.of_ps(ps as f64)), "step_ps": answer.step_ps,
                "waits": answer.cost_of_ranks(answer.time_without_work_ps()),
            })
        });
        let parts = parts.map(|parts| {
            let rest = EnergyPart::ALL.map(|part| (part.name().to_owned(), json!(parts.of(part))));
            [("work".to_owned(), json!(parts.working()))].into_iter().chain(rest).collect::<Map<_, _>>()
        });
        let ranks = answer.run.ranks.iter().map(|rank| {
            let known = rank.energy.as_ref().ok();
            json!({
                "rank": rank.rank, "counter": known.map(|of| &of.counter.name),
                "joules": known.map(|of| of.power.joules()),
                "known_ps": known.map(|of| of.power.known_ps()),
                "reason": rank.energy.as_ref().err().map(ToString::to_string),
            })
        });
        for (key, value) in [
            ("length_ps", json!(answer.run.run.duration_ps())),
            ("joules", json!(answer.joules())),
            ("reason", json!(answer.reason())),
            ("parts", json!(parts)),
            ("cost", json!(cost)),
            ("by", json!(self.by.name())),
            ("ranks", ranks.collect()),
            ("rows", shown.iter().map(row).collect()),
        ] {
            document.insert(key.to_owned(), value);
        }
        document
    }
}

/// Work by its name over all ranks, the most energy first, then the parts without work.
fn by_name(of: &RunEnergy) -> Vec<EnergyRow> {
    let mut sums: BTreeMap<&str, (f64, Option<f64>)> = BTreeMap::new();
    for rank in &of.ranks {
        let joules = rank.energy.as_ref().ok().map(|of| &of.parts.work);
        for (at, name) in rank.names.iter().enumerate() {
            let (time_ps, sum) = sums.entry(name).or_default();
            *time_ps += rank.time.work.get(at).copied().unwrap_or(0.0);
            if let Some(joules) = joules {
                *sum = Some(sum.unwrap_or(0.0) + joules.get(at).copied().unwrap_or(0.0));
            }
        }
    }
    let row = |(name, (time_ps, joules)): (&str, _)| EnergyRow {
        kind: "work",
        name: name.to_owned(),
        time_ps,
        joules,
    };
    let mut rows: Vec<EnergyRow> = sums.into_iter().map(row).collect();
    rows.sort_by(|a, b| {
        b.joules
            .partial_cmp(&a.joules)
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(b.time_ps.total_cmp(&a.time_ps))
    });
    rows.extend(EnergyPart::ALL.map(|part| {
        let known = of.ranks.iter().filter_map(|rank| Some(rank.energy.as_ref().ok()?.parts.of(part)));
        EnergyRow {
            kind: part.name(),
            name: part.words().to_owned(),
            time_ps: of.ranks.iter().map(|rank| rank.time.of(part)).sum(),
            joules: known.reduce(|a, b| a + b),
        }
    }));
    rows
}

fn row_of_rank(rank: &RankEnergy) -> EnergyRow {
    EnergyRow {
        kind: "rank",
        name: format!("rank {}", rank.rank),
        time_ps: rank.time.total(),
        joules: rank.energy.as_ref().ok().map(|of| of.power.joules()),
    }
}

fn of_regions(
    of: &RunEnergy,
    profile: &Profile,
    kind: RegionKind,
    cancel: Cancel<'_>,
) -> anyhow::Result<Vec<EnergyRow>> {
    let word = if kind == RegionKind::Phase { "phase" } else { "step" };
    let has_power = of.ranks.iter().any(|rank| rank.energy.is_ok());
    let mut regions = of.by_region(profile, kind, cancel)?;
    let rest = regions.pop().unwrap_or_default();
    let row = |kind, name: String, time_ps, joules: f64| EnergyRow {
        kind,
        name,
        time_ps,
        joules: has_power.then_some(joules),
    };
    let mut rows: Vec<EnergyRow> =
        regions.into_iter().map(|one| row(word, one.name, one.time_ps, one.joules)).collect();
    let outside = match rows.is_empty() {
        true => format!("no {word}s are known; `nprof regions` says why"),
        false => format!("outside of all {word}s"),
    };
    rows.push(row("outside", outside, rest.time_ps, rest.joules));
    Ok(rows)
}

/// Length of the median step of the first rank that has steps.
fn step_ps(profile: &Profile, cancel: Cancel<'_>) -> anyhow::Result<Option<i64>> {
    for file in &profile.manifest.ranks {
        let files: [&RankFile; 1] = [file];
        for of in regions_of(profile, &files, cancel)? {
            if let Ok(steps) = &of.regions.steps {
                return Ok(Some(steps.median_ps));
            }
        }
    }
    Ok(None)
}

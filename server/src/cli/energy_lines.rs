//! Sentences and the table of `nprof energy`.

use std::io::{self, Write};

use nprof_engine::base::time::{short_duration, three_digits};
use nprof_engine::insight::energy::{EnergyPart, PartTotals};
use unicode_width::UnicodeWidthStr as _;

use super::price::{Price, money};
use super::size;
use crate::analysis::energy::{NoPower, RunEnergy};
use crate::print;
use crate::print::fit::fitted;
use crate::print::row_limit::RowLimit;
use crate::print::text::{self, Align, LINE_WIDTH, share, wrapped};

/// Columns that the name of a row has at least.
const LEAST_NAME: usize = 20;
/// Help for a profile without power.
const ADVICE: &str = "traces of AIUs state a charge; others need a counter in watts, by its unit or by a name \
                      such as `GPU power (W)`";

/// A row of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EnergyRow {
    /// `work`, the name of a part without work, `phase`, `step` or `rank`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Time in picoseconds. Pieces of work that run at once have equal parts of it.
    pub(super) time_ps: f64,
    /// `None` if no power was recorded.
    pub(super) joules: Option<f64>,
}

/// The answer about the energy of a run.
pub(super) struct EnergyAnswer {
    pub(super) run: RunEnergy,
    pub(super) rows: Vec<EnergyRow>,
    pub(super) price: Option<Price>,
    /// Length of the median step, if there are steps.
    pub(super) step_ps: Option<i64>,
}

impl EnergyAnswer {
    /// The energy of all ranks. `None` if no power was recorded.
    pub(super) fn joules(&self) -> Option<f64> {
        let known = self.run.ranks.iter().filter_map(|rank| Some(rank.energy.as_ref().ok()?.power.joules()));
        known.reduce(|a, b| a + b)
    }

    /// The parts of the energy of all ranks, without names.
    pub(super) fn parts(&self) -> Option<PartTotals> {
        let known = self.run.ranks.iter().filter_map(|rank| Some(&rank.energy.as_ref().ok()?.parts));
        let sum = |sum: PartTotals, one: &PartTotals| PartTotals {
            work: vec![sum.working() + one.working()],
            rest: EnergyPart::ALL.map(|part| sum.of(part) + one.of(part)),
        };
        known.fold(None, |all, one| Some(sum(all.unwrap_or_default(), one)))
    }

    /// Time of the run in which devices did no work, summed over the ranks, in picoseconds.
    pub(super) fn time_without_work_ps(&self) -> f64 {
        self.run.ranks.iter().map(|rank| rank.time.rest.iter().sum::<f64>()).sum()
    }

    /// Money for a time that is summed over ranks: each has an equal part of the job.
    pub(super) fn cost_of_ranks(&self, ps: f64) -> Option<f64> {
        Some(self.price?.of_ps(ps) / f64::from(self.run.world.max(1)))
    }

    /// The answer, then the rows.
    pub(super) fn write(&self, name: &str, limit: RowLimit, out: &mut dyn Write) -> io::Result<()> {
        print::lines(self.sentences(name).iter().flat_map(|line| wrapped(line, "", "")), out)?;
        let shown = limit.shown(&self.rows);
        if shown.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = shown.iter().map(|row| row.name.as_str()).collect();
        let mut lines = vec![self.heading()];
        let cells: Vec<Vec<String>> = shown.iter().map(|row| self.cells(row)).collect();
        let widest =
            |at: usize| cells.iter().chain([&lines[0]]).map(|row| row[at].width()).max().unwrap_or(0);
        let left = LINE_WIDTH.saturating_sub((0..lines[0].len() - 1).map(|at| widest(at) + 2).sum());
        let names = fitted(&names, left.max(LEAST_NAME));
        lines.extend(cells.into_iter().zip(names).map(|(row, name)| [row, vec![name]].concat()));
        let align = [vec![Align::Right; lines[0].len() - 1], vec![Align::Left]].concat();
        text::table(out, &align, &lines)?;
        if shown.len() < self.rows.len() {
            let more = size::counted((self.rows.len() - shown.len()) as u64, "more row");
            print::lines([format!("{more}; --limit all shows them")], out)?;
        }
        Ok(())
    }

    fn heading(&self) -> Vec<String> {
        let energy = ["ENERGY", "SHARE"].into_iter().filter(|_| self.joules().is_some());
        let cost = self.price.map(|_| "COST");
        // Times of several ranks are longer than the run.
        let time = match self.run.ranks.len() {
            0 | 1 => "TIME".to_owned(),
            count => format!("TIME OF {count} RANKS"),
        };
        let energy = energy.map(str::to_owned);
        energy.chain([time]).chain(cost.map(str::to_owned)).chain([String::new()]).collect()
    }

    fn cells(&self, row: &EnergyRow) -> Vec<String> {
        let mut cells = Vec::new();
        if let Some(all) = self.joules() {
            let joules = row.joules;
            cells.push(joules.map_or_else(|| "-".to_owned(), short_energy));
            cells.push(joules.map_or_else(|| "-".to_owned(), |joules| share(joules, all)));
        }
        cells.push(short_duration(row.time_ps));
        cells.extend(self.cost_of_ranks(row.time_ps).map(money));
        cells
    }

    fn sentences(&self, name: &str) -> Vec<String> {
        let length_ps = self.run.run.duration_ps() as f64;
        let length = short_duration(length_ps);
        let mut lines = Vec::new();
        match (self.joules(), self.parts()) {
            (Some(joules), Some(parts)) => {
                let rest = EnergyPart::ALL.into_iter().filter(|part| parts.of(*part) > 0.0);
                let rest = rest.map(|part| format!("{} {}", share(parts.of(part), joules), part.words()));
                let work = format!("{} by work", share(parts.working(), joules));
                let parts: Vec<String> = std::iter::once(work).chain(rest).collect();
                lines.push(format!("{name} took {}: {}", short_energy(joules), parts.join(", ")));
                lines.push(self.known());
            }
            _ => lines.push(format!("no energy is known: {}; {ADVICE}", self.reason().unwrap_or_default())),
        }
        if let Some(price) = self.price {
            let (run, hour) = (money(price.of_ps(length_ps)), money(price.of_hour()));
            let step = self.step_ps.map_or_else(
                || ", and no steps are known".to_owned(),
                |ps| format!(", a step of {} {}", short_duration(ps as f64), money(price.of_ps(ps as f64))),
            );
            let without_ps = self.time_without_work_ps();
            let all_ps: f64 = self.run.ranks.iter().map(|rank| rank.time.total()).sum();
            lines.push(format!("at {hour} an hour the run of {length} costs {run}{step}"));
            lines.push(format!(
                "the time without work costs {} of it: {} of the time of its devices",
                money(self.cost_of_ranks(without_ps).unwrap_or(0.0)),
                share(without_ps, all_ps)
            ));
        }
        lines
    }

    /// The counters, and the time in which they tell a power.
    fn known(&self) -> String {
        let known = || self.run.ranks.iter().filter_map(|rank| rank.energy.as_ref().ok());
        let mut names: Vec<&str> = known().map(|of| of.counter.name.as_str()).collect();
        let ranks = size::counted(names.len() as u64, "rank");
        names.sort_unstable();
        names.dedup();
        let time_ps: f64 = known().map(|of| of.power.known_ps() as f64).sum();
        let watts = known().map(|of| of.power.joules()).sum::<f64>() / (time_ps / 1e12);
        let of =
            if names.len() == 1 { format!("the counter \"{}\"", names[0]) } else { "counters".to_owned() };
        let lacking = self.run.ranks.len() - known().count();
        let lacking = match lacking {
            0 => String::new(),
            count => format!("; {} without power", size::counted(count as u64, "rank")),
        };
        format!(
            "by {of} of {ranks}: {} W on average over {} with a known power{lacking}",
            three_digits(watts),
            short_duration(time_ps)
        )
    }
}

impl EnergyAnswer {
    /// The reason why no energy is known. `None` if some is.
    pub(super) fn reason(&self) -> Option<String> {
        let mut reasons: Vec<&NoPower> =
            self.run.ranks.iter().filter_map(|rank| rank.energy.as_ref().err()).collect();
        reasons.dedup();
        let has_power = self.run.ranks.iter().any(|rank| rank.energy.is_ok());
        reasons.first().filter(|_| !has_power).map(ToString::to_string)
    }
}

/// An energy for people.
fn short_energy(joules: f64) -> String {
    const UNITS: [(f64, &str); 6] =
        [(1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")];
    let found = UNITS.into_iter().find(|(unit, _)| joules >= *unit);
    match found {
        Some((unit, symbol)) => format!("{} {symbol}", three_digits(joules / unit)),
        None if joules > 0.0 => format!("{joules:.2e} J"),
        None => "0 J".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_have_three_digits_and_units() {
        let texts = [0.0, 4.2e-6, 0.012_34, 12.3, 4_560.0, 1e-12].map(short_energy);
        assert_eq!(texts, ["0 J", "4.20 µJ", "12.3 mJ", "12.3 J", "4.56 kJ", "1.00e-12 J"]);
    }
}

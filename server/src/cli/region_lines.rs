//! Sentences and the table of `nprof regions`.

use std::io::{self, Write};

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::region::{RankRegion, StepPace, StepShape, WorkSteps};
use nprof_engine::wire::notes::{NotedRegion, Notes};
use nprof_engine::wire::regions::pace_name;

use super::size;
use crate::analysis::regions::RegionsOfRank;
use crate::print;
use crate::print::row_limit::RowLimit;
use crate::print::text::{self, Align};
use crate::units::time_text;

/// Slow steps that the first line names.
const NAMED: usize = 3;
const HEADING: [&str; 7] = ["RANK", "KIND", "NAME", "START", "DURATION", "KERNELS", ""];
const ALIGN: [Align; 7] =
    [Align::Right, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];

/// Regions for people.
pub(super) struct ShownRegions<'a> {
    pub(super) found: &'a [RegionsOfRank],
    pub(super) notes: &'a Notes,
    /// Time of the first event of the profile.
    pub(super) first_ps: i64,
    pub(super) limit: RowLimit,
}

impl ShownRegions<'_> {
    /// The answer in one line, then a table.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        print::lines([summary(self.found)], out)?;
        let of_users = self.notes.regions.iter().map(|region| self.row_of_user(region));
        let of_ranks = self.found.iter().flat_map(|of| {
            let steps = of.regions.steps.as_ref().ok();
            of.regions.all.iter().map(move |region| self.row(of.rank, region, steps))
        });
        let rows: Vec<Vec<String>> = of_users.chain(of_ranks).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let shown = self.limit.shown(&rows);
        text::table(out, &ALIGN, &[&[HEADING.map(str::to_owned).to_vec()], shown].concat())?;
        if shown.len() < rows.len() {
            let more = rows.len() - shown.len();
            print::lines([format!("{more} more rows; --limit all shows them")], out)?;
        }
        Ok(())
    }

    fn row_of_user(&self, region: &NotedRegion) -> Vec<String> {
        let rank = region.rank.map_or_else(|| "all".to_owned(), |rank| rank.to_string());
        let duration_ps = region.end_ps.saturating_sub(region.start_ps);
        let cells = [rank, "user".to_owned(), region.name.clone(), self.time(region.start_ps)];
        let rest = [short_duration(duration_ps as f64), "-".to_owned(), String::new()];
        cells.into_iter().chain(rest).collect()
    }

    fn row(&self, rank: u32, region: &RankRegion, steps: Option<&WorkSteps>) -> Vec<String> {
        let step = region.step.and_then(|at| steps?.all.get(at));
        let duration_ps = region.span.end.0.saturating_sub(region.span.start.0);
        let remark = step.and_then(|step| match (step.shape, step.pace) {
            (StepShape::Cut, _) => Some("cut by the recording".to_owned()),
            (StepShape::Prefill, _) => Some("prefill".to_owned()),
            (StepShape::Usual, StepPace::Usual | StepPace::Unknown) => None,
            (StepShape::Usual, pace) => pace_name(pace).map(str::to_owned),
            (StepShape::Unlike, pace) => match pace_name(pace) {
                Some(word) if pace != StepPace::Usual => Some(format!("{word}, other kernels")),
                _ => Some("other kernels".to_owned()),
            },
        });
        vec![
            rank.to_string(),
            region.kind.name().to_owned(),
            region.name.clone(),
            self.time(region.span.start.0),
            short_duration(duration_ps as f64),
            step.map_or_else(|| "-".to_owned(), |step| size::count(step.nodes as u64)),
            remark.unwrap_or_default(),
        ]
    }

    /// A time since the first event.
    fn time(&self, ps: i64) -> String {
        time_text(i128::from(ps) - i128::from(self.first_ps))
    }
}

/// The command that adds a region again.
pub(super) fn undo(profile: &str, region: &NotedRegion, first_ps: i64) -> String {
    let time = |ps: i64| time_text(i128::from(ps) - i128::from(first_ps)).replace(' ', "");
    let rank = region.rank.map_or_else(String::new, |rank| format!(" --rank {rank}"));
    let text = format!("{}={}..{}", region.name, time(region.start_ps), time(region.end_ps));
    format!("nprof regions {profile}{rank} --add '{}'", text.replace('\'', "'\\''"))
}

/// The steps in a sentence.
fn summary(found: &[RegionsOfRank]) -> String {
    let with: Vec<(u32, &WorkSteps)> =
        found.iter().filter_map(|of| Some((of.rank, of.regions.steps.as_ref().ok()?))).collect();
    match (&with[..], found) {
        ([], [of, ..]) => {
            let reason = of.regions.steps.as_ref().err().map(ToString::to_string).unwrap_or_default();
            let whom = if found.len() > 1 { format!(" on {} ranks", found.len()) } else { String::new() };
            format!("no steps{whom}: {reason}")
        }
        ([(rank, steps)], [_]) => format!("{} of rank {rank}{}", count(steps), rest(steps)),
        _ => of_ranks(&with, found.len()),
    }
}

fn count(steps: &WorkSteps) -> String {
    size::counted(steps.all.len() as u64, "iteration")
}

fn rest(steps: &WorkSteps) -> String {
    let time = |ps: i64| short_duration(ps as f64);
    let mut text = format!(", {} (median)", time(steps.median_ps));
    if let Some(first) = steps.all.get(steps.steady_from).filter(|_| steps.steady_from > 0) {
        text.push_str(&format!(", steady from {}", first.name));
    }
    let slow: Vec<String> =
        steps.slow().take(NAMED).map(|step| format!("{} {}", step.name, time(step.duration_ps()))).collect();
    let all = steps.slow().count();
    if all > 0 {
        let more = if all > slow.len() { format!(" and {} more", all - slow.len()) } else { String::new() };
        text.push_str(&format!("; {all} slow: {}{more}", slow.join(", ")));
    }
    text
}

/// The steps of several ranks: the fewest and the most, and the slow steps of most ranks.
fn of_ranks(with: &[(u32, &WorkSteps)], ranks: usize) -> String {
    let counts = || with.iter().map(|(_, steps)| steps.all.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let number = match fewest == most {
        true => size::counted(most as u64, "iteration"),
        false => format!("{fewest} to {most} iterations"),
    };
    let mut medians: Vec<i64> = with.iter().map(|(_, steps)| steps.median_ps).collect();
    medians.sort_unstable();
    let of = if with.len() == ranks {
        format!("{ranks} ranks")
    } else {
        format!("{} of {ranks} ranks", with.len())
    };
    let slow: usize = with.iter().map(|(_, steps)| steps.slow().count()).sum();
    let slow = match slow {
        0 => String::new(),
        all => format!("; {all} slow over all ranks"),
    };
    format!("{number} on {of}, {} (median){slow}", short_duration(medians[medians.len() / 2] as f64))
}

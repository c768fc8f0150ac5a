//! The difference of two runs. [`ComparedRuns::of`] alone makes this message, so the command line,
//! the API, the page and HTML files give the same answer.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::insight::difference::{
    ComparedRow, DurationBars, RunComparison, SpeedVerdict, TimeChange, TimeKind, sentence,
};

/// A part of a profile that is compared with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChoice {
    /// Name or id of the profile.
    pub profile: String,
    /// The numbers of its ranks; `None` for all.
    pub ranks: Option<Vec<u32>>,
    /// The name of a region; `None` for all of the run.
    pub region: Option<String>,
}

impl RunChoice {
    /// These ranks of a profile, within a region if it has a name.
    #[must_use]
    pub fn new(profile: &str, ranks: &Option<Vec<u32>>, region: &Option<String>) -> Self {
        Self { profile: profile.to_owned(), ranks: ranks.clone(), region: region.clone() }
    }
}

/// Two runs beside each other. Times are in picoseconds; a difference is the time of the second run
/// less that of the first one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRuns {
    /// The answer in a sentence.
    pub answer: String,
    /// Whether the second run is faster.
    pub verdict: VerdictWord,
    /// Reasons why the comparison tells less than it could, each in a sentence.
    pub doubts: Vec<String>,
    /// The scope of the times, in a sentence.
    pub times_are: String,
    /// The word of the subject of rows, as in the question.
    pub by: String,
    /// Why rows have another subject than the one that was asked for. `None` if they have that one.
    pub note: Option<String>,
    /// The first run.
    pub a: ComparedRun,
    /// The second run.
    pub b: ComparedRun,
    /// The time of the runs.
    pub total: ComparedTime,
    /// All parts of the total, whose differences sum up to its own: work that differs by more than
    /// chance, then other work, each by its difference; then what is no work.
    pub rows: Vec<ComparedEntry>,
}

/// The answer to the question whether the second run is faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWord {
    /// The second run takes less time.
    Faster,
    /// It takes more.
    Slower,
    /// No difference was seen.
    Same,
    /// Nobody can tell.
    Inconclusive,
}

/// The compared part of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Name of the profile in addresses.
    pub profile: String,
    /// Name for people, with the ranks and the region if they are not the same of both runs.
    pub title: String,
    /// Number of repetitions: steps, or spans of the region.
    pub repetitions: u64,
    /// Repetitions that are left out, because not all ranks have them.
    pub left_out: u64,
    /// Number of ranks.
    pub ranks: u64,
}

/// A time in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedTime {
    /// In the first run.
    pub a_ps: i64,
    /// In the second run.
    pub b_ps: i64,
    /// The least difference that the repetitions allow. `None` if they do not tell.
    pub low: Option<i64>,
    /// The largest difference that the repetitions allow. `None` if they do not tell.
    pub high: Option<i64>,
}

/// One part of the time of both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedEntry {
    /// The meaning of the time.
    pub kind: ComparedKind,
    /// Name of the work.
    pub name: String,
    /// The name in the second run, if it is another one.
    pub renamed: Option<String>,
    /// Time in the first run. Time of work beside other work is negative.
    pub a_ps: i64,
    /// Time in the second run.
    pub b_ps: i64,
    /// The least difference that the repetitions allow, corrected for the number of rows. `None` if
    /// they do not tell.
    pub low: Option<i64>,
    /// The largest difference that the repetitions allow.
    pub high: Option<i64>,
    /// Whether the difference is more than chance.
    pub is_certain: bool,
    /// Number of slices in the first run, of all repetitions and ranks.
    pub a_count: u64,
    /// Number of slices in the second run.
    pub b_count: u64,
    /// The durations of the slices. `None` of what is no work of one name.
    pub durations: Option<ComparedDurations>,
}

/// The durations of slices in both runs, in bars that both share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedDurations {
    /// Begin of each bar, and end of the last one: ascending, by a factor that is nearly
    /// the same for all.
    pub edges_ps: Vec<i64>,
    /// Slices of the first run in each bar, of all repetitions and ranks.
    pub a: Vec<u64>,
    /// Slices of the second run in each bar.
    pub b: Vec<u64>,
}

/// The meaning of the time of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ComparedKind {
    /// Work of one name.
    Work,
    /// All work that is not listed.
    OtherWork,
    /// Time of work beside other work, as a negative time.
    Beside,
    /// Time in which nothing ran.
    Idle,
}

/// Name of the row of time that several pieces of work share.
const BESIDE: &str = "work beside other work";
/// Name of the row of time without work.
const IDLE: &str = "nothing ran";

impl ComparedRuns {
    /// The message of a comparison of two runs with these profiles and titles.
    #[must_use]
    pub fn of(of: &RunComparison, [a, b]: [ComparedSide; 2]) -> Self {
        let (titles, ranks) = ((a.title.clone(), b.title.clone()), of.ranks);
        let run = |side: ComparedSide, repetitions: usize, left_out: usize, ranks: usize| ComparedRun {
            profile: side.profile,
            title: side.title,
            repetitions: repetitions as u64,
            left_out: left_out as u64,
            ranks: ranks as u64,
        };
        Self {
            answer: sentence::answer(of, &titles.0, &titles.1),
            verdict: of.verdict.into(),
            doubts: of.doubts.iter().map(sentence::doubt).collect(),
            times_are: sentence::scope(of),
            by: of.by.name().to_owned(),
            note: sentence::note(of),
            a: run(a, of.repetitions.0, of.left_out.0, ranks.0),
            b: run(b, of.repetitions.1, of.left_out.1, ranks.1),
            total: of.total.into(),
            rows: of.rows.iter().map(entry).collect(),
        }
    }

    /// Sums up the work behind the first `most` rows of it, so that the rows still sum up.
    pub fn merge_beyond(&mut self, most: usize) {
        let is_work = |row: &&ComparedEntry| row.kind == ComparedKind::Work;
        let works = self.rows.iter().filter(is_work).count();
        // One row says as much as a sum of one.
        if works <= most.saturating_add(1) {
            return;
        }
        let rest: Vec<ComparedEntry> = self.rows.drain(most..works).collect();
        let sum = |of: fn(&ComparedEntry) -> i64| rest.iter().map(of).sum();
        let count = |of: fn(&ComparedEntry) -> u64| rest.iter().map(of).sum();
        let others = ComparedEntry {
            kind: ComparedKind::OtherWork,
            name: format!("{} other names", rest.len()),
            renamed: None,
            a_ps: sum(|row| row.a_ps),
            b_ps: sum(|row| row.b_ps),
            low: None,
            high: None,
            is_certain: false,
            a_count: count(|row| row.a_count),
            b_count: count(|row| row.b_count),
            durations: None,
        };
        self.rows.insert(most, others);
    }

    /// The part of the whole difference that a row makes up. `None` where no difference is seen:
    /// parts of next to nothing would be a thousand times as large as it.
    #[must_use]
    pub fn share(&self, of: &ComparedEntry) -> Option<f64> {
        let whole = self.total.difference_ps();
        (whole != 0 && self.verdict != VerdictWord::Same).then(|| of.difference_ps() as f64 / whole as f64)
    }
}

impl Timed for ComparedRuns {
    // Times are durations, which are those of any clock.
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

/// A run that is compared: its profile and its name for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedSide {
    /// Name of the profile in addresses.
    pub profile: String,
    /// Name for people.
    pub title: String,
}

impl ComparedTime {
    /// How much more the second run takes.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.b_ps.saturating_sub(self.a_ps)
    }
}

impl ComparedEntry {
    /// How much more the second run takes.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.b_ps.saturating_sub(self.a_ps)
    }

    /// The name for people: both names of renamed work.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.renamed {
            Some(renamed) => format!("{} → {renamed}", self.name),
            None => self.name.clone(),
        }
    }
}

impl From<DurationBars> for ComparedDurations {
    fn from(of: DurationBars) -> Self {
        Self { edges_ps: of.edges_ps, a: of.a, b: of.b }
    }
}

impl From<SpeedVerdict> for VerdictWord {
    fn from(of: SpeedVerdict) -> Self {
        match of {
            SpeedVerdict::Faster => Self::Faster,
            SpeedVerdict::Slower => Self::Slower,
            SpeedVerdict::Same => Self::Same,
            SpeedVerdict::Inconclusive => Self::Inconclusive,
        }
    }
}

impl From<TimeChange> for ComparedTime {
    fn from(of: TimeChange) -> Self {
        let (low, high) = of.bounds_ps.unzip();
        Self { a_ps: of.a_ps, b_ps: of.b_ps, low, high }
    }
}

fn entry(of: &ComparedRow) -> ComparedEntry {
    let ComparedTime { a_ps, b_ps, low, high } = of.change.into();
    let (kind, name) = match of.kind {
        TimeKind::Work => (ComparedKind::Work, of.name.clone()),
        TimeKind::Beside => (ComparedKind::Beside, BESIDE.to_owned()),
        TimeKind::Idle => (ComparedKind::Idle, IDLE.to_owned()),
    };
    ComparedEntry {
        kind,
        name,
        renamed: of.renamed.clone(),
        a_ps,
        b_ps,
        low,
        high,
        is_certain: of.change.is_certain(),
        a_count: of.a_count,
        b_count: of.b_count,
        durations: of.durations.clone().map(Into::into),
    }
}

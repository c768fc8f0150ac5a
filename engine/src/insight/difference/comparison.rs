//! Two runs beside each other.

use super::alignment::{RowPair, renamed, renumbered};
use super::duration_counts::{DurationBars, DurationCounts};
use super::interval::{ShiftBounds, bounds};
use super::repetition::are_active_part;
use super::run_sample::RunSample;
use super::samples::RowSamples;
use super::shared_work::{CountedWork, SharedWork};
use super::work_key::{WITHOUT_SUBJECT, WorkKey};
use rustc_hash::FxHashMap;

/// Chance that the total of two runs of one program is called different.
const TOTAL_ERROR: f64 = 0.006;
/// Chance that any row of two runs of one program is.
const ROWS_ERROR: f64 = 0.008;
/// Difference of the total, relative to it, below which runs are the same: clocks, temperature and
/// placement differ by as much from one run to the next, which no single run shows.
const LEAST_CHANGE: f64 = 0.005;
/// Difference of the total, relative to it, that is too large to be called none although it can be
/// chance.
const MOST_CHANCE: f64 = 0.1;
/// Difference of the total, relative to it, from which on two single repetitions tell.
const LEAST_SINGLE_CHANGE: f64 = 0.05;

/// Whether the second run is faster than the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeedVerdict {
    /// It takes less time.
    Faster,
    /// It takes more.
    Slower,
    /// It takes as long.
    Same,
    /// Nobody can tell; a [`Doubt`] says why.
    Inconclusive,
}

impl SpeedVerdict {
    /// The word for people and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Why a comparison tells less than it could.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The runs have little work in common.
    OtherWork(SharedWork),
    /// The runs have other numbers of ranks.
    OtherRanks(SharedRanks),
    /// A difference of the total of this part of it can be chance.
    TooNoisy(f64),
    /// There is one repetition of a run, so nothing tells how much it varies.
    OneRepetition,
    /// A recording lacks events.
    EventsLost,
}

impl Doubt {
    /// Whether the doubt alone makes the comparison inconclusive.
    fn is_decisive(self) -> bool {
        match self {
            Self::OtherWork(_) | Self::TooNoisy(_) | Self::EventsLost => true,
            Self::OtherRanks(ranks) => !ranks.work.is_all(),
            Self::OneRepetition => false,
        }
    }
}

/// Two runs with other numbers of ranks. Times are means over them, so the runs can be compared if
/// the ranks run the same program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedRanks {
    /// Ranks of the first run.
    pub a: usize,
    /// Ranks of the second run.
    pub b: usize,
    /// The shared work of their ranks.
    pub work: SharedWork,
}

/// A time in both runs, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeChange {
    /// In the first run.
    pub a_ps: i64,
    /// In the second run.
    pub b_ps: i64,
    /// The least and the largest difference that the repetitions allow. `None` if they do not tell.
    pub bounds_ps: Option<(i64, i64)>,
}

impl TimeChange {
    /// How much more the second run takes.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.b_ps.saturating_sub(self.a_ps)
    }

    /// Whether the difference is more than chance.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.bounds_ps.is_some_and(|(low_ps, high_ps)| low_ps > 0 || high_ps < 0)
    }

    /// A change with bounds, which are multiplied by `times`.
    fn new(a_ps: i64, b_ps: i64, bounds: Option<ShiftBounds>, times: f64) -> Self {
        // Bounds of a swapped pair are the negated ones.
        let whole = |of: ShiftBounds| ((of.low * times).floor() as i64, (of.high * times).ceil() as i64);
        Self { a_ps, b_ps, bounds_ps: bounds.map(whole) }
    }
}

/// The meaning of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// Work.
    Work,
    /// Time of work that ran beside other work, as a negative time: the rows of work have it twice.
    Beside,
    /// Time in which nothing ran.
    Idle,
}

/// A part of the time of both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// The meaning.
    pub kind: TimeKind,
    /// The name in the first run, or in the second one of work that only it has. Empty for what is
    /// no work.
    pub name: String,
    /// The name in the second run, if it is another one.
    pub renamed: Option<String>,
    /// Number of slices in the first run.
    pub a_count: u64,
    /// Number of slices in the second run.
    pub b_count: u64,
    /// The times.
    pub change: TimeChange,
    /// The durations of the slices. `None` of what is no work.
    pub durations: Option<DurationBars>,
}

impl ComparedRow {
    /// Whether only the second run has the work.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.kind == TimeKind::Work && self.a_count == 0 && self.b_count > 0
    }

    /// Whether only the first run has the work.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.kind == TimeKind::Work && self.a_count > 0 && self.b_count == 0
    }
}

/// Two runs beside each other. Work by name alone tells the verdict, its doubts and the total.
#[derive(Debug, Clone, PartialEq)]
pub struct RunComparison {
    /// Whether the second run is faster.
    pub verdict: SpeedVerdict,
    /// Reasons why it tells less than it could.
    pub doubts: Vec<Doubt>,
    /// The time of the repetitions: their sum if both runs have as many, else that of one.
    pub total: TimeChange,
    /// Repetitions of the first and the second run.
    pub repetitions: (usize, usize),
    /// Repetitions that are left out, because not all ranks have them, of both runs.
    pub left_out: (usize, usize),
    /// Ranks of both runs.
    pub ranks: (usize, usize),
    /// Whether the times are those of the active part of each run, without start-up and tear-down.
    pub is_active_part: bool,
    /// The subject of the rows.
    pub by: WorkKey,
    /// The subject that was asked for, if no work of either run has it.
    pub absent: Option<WorkKey>,
    /// All parts of the total, whose differences sum up to its own: work that differs by more than
    /// chance, then other work, each by its difference; then what is no work.
    pub rows: Vec<ComparedRow>,
}

impl RunComparison {
    /// Compares the work by name of two runs. `None` if one has no work. `are_events_lost` says
    /// that one of the recordings lacks events.
    #[must_use]
    pub fn of(a: &RunSample, b: &RunSample, are_events_lost: bool) -> Option<Self> {
        if a.repetitions() == 0 || b.repetitions() == 0 {
            return None;
        }
        let pair = RunPair { a, b };
        let total = pair.total();
        let mut rows = pair.work(&renamed(a, b));
        let shared = SharedWork::of(&counted(&rows), [a.cells(), b.cells()]);
        rows.sort_by(order);
        rows.extend(pair.rest(&rows, total));
        let mut comparison = Self {
            verdict: SpeedVerdict::Inconclusive,
            doubts: Vec::new(),
            total,
            repetitions: (a.repetitions(), b.repetitions()),
            left_out: (a.left_out, b.left_out),
            ranks: (a.ranks(), b.ranks()),
            is_active_part: [a, b].iter().all(|run| are_active_part(&run.repetitions)),
            by: WorkKey::Name,
            absent: None,
            rows,
        };
        if are_events_lost {
            comparison.doubts.push(Doubt::EventsLost);
        }
        if !shared.is_one_program() {
            comparison.doubts.push(Doubt::OtherWork(shared));
        }
        if a.ranks() != b.ranks() {
            let ranks = SharedRanks { a: a.ranks(), b: b.ranks(), work: shared };
            comparison.doubts.push(Doubt::OtherRanks(ranks));
        }
        comparison.judge();
        Some(comparison)
    }

    /// The same answer with rows about another subject, from the same repetitions of both runs. The
    /// rows stay if no work has this subject.
    #[must_use]
    pub fn grouped(mut self, a: &RunSample, b: &RunSample, by: WorkKey) -> Self {
        let pair = RunPair { a, b };
        let pairs = if by == WorkKey::Rank { renumbered(a, b) } else { renamed(a, b) };
        let mut rows = pair.work(&pairs);
        if rows.iter().all(|row| row.name == WITHOUT_SUBJECT) {
            self.absent = Some(by);
            return self;
        }
        rows.sort_by(order);
        rows.extend(pair.rest(&rows, self.total));
        Self { rows, by, ..self }
    }

    fn judge(&mut self) {
        let total = self.total;
        // Relative to the longer run, so that a swapped pair has the same doubts.
        let longer_ps = total.a_ps.max(total.b_ps).max(1);
        let relative = total.difference_ps().unsigned_abs() as f64 / longer_ps as f64;
        let is_equal = self.rows.iter().all(|row| row.change.difference_ps() == 0);
        let direction = match total.difference_ps() > 0 {
            true => SpeedVerdict::Slower,
            false => SpeedVerdict::Faster,
        };
        let verdict = match total.bounds_ps {
            _ if is_equal => SpeedVerdict::Same,
            None => {
                self.doubts.push(Doubt::OneRepetition);
                match relative {
                    change if change <= LEAST_CHANGE => SpeedVerdict::Same,
                    change if change < LEAST_SINGLE_CHANGE => SpeedVerdict::Inconclusive,
                    _ => direction,
                }
            }
            Some(_) if total.is_certain() && relative > LEAST_CHANGE => direction,
            Some(_) => {
                if relative > MOST_CHANCE && !total.is_certain() {
                    self.doubts.push(Doubt::TooNoisy(relative));
                }
                SpeedVerdict::Same
            }
        };
        let is_doubtful = !is_equal && self.doubts.iter().any(|doubt| doubt.is_decisive());
        self.verdict = if is_doubtful { SpeedVerdict::Inconclusive } else { verdict };
    }
}

/// Two runs whose rows are compared.
#[derive(Clone, Copy)]
struct RunPair<'r> {
    a: &'r RunSample,
    b: &'r RunSample,
}

impl RunPair<'_> {
    /// Repetitions to divide the sums of each run by.
    fn divisors(self) -> (usize, usize) {
        match self.a.repetitions() == self.b.repetitions() {
            true => (1, 1),
            false => (self.a.repetitions(), self.b.repetitions()),
        }
    }

    /// Repetitions that the times of a change are the sum of.
    fn times(self) -> f64 {
        if self.divisors() == (1, 1) { self.a.repetitions() as f64 } else { 1.0 }
    }

    /// The change of a row whose bounds may be wrong with this chance.
    fn change(self, a: &RowSamples, b: &RowSamples, is_coupled: bool, error: f64) -> TimeChange {
        let (of_a, of_b) = self.divisors();
        let bounds = bounds(a, b, is_coupled, error);
        TimeChange::new(a.rounded(of_a), b.rounded(of_b), bounds, self.times())
    }

    fn total(self) -> TimeChange {
        self.change(&self.a.lengths(), &self.b.lengths(), true, TOTAL_ERROR)
    }

    /// A row for each name.
    fn work(self, renamed: &[RowPair]) -> Vec<ComparedRow> {
        let of_a: FxHashMap<u32, u32> = renamed.iter().map(|pair| (pair.a, pair.b)).collect();
        let of_name: FxHashMap<&str, u32> = self.b.names.iter().map(String::as_str).zip(0..).collect();
        let mut is_taken = vec![false; self.b.names.len()];
        let mut keys: Vec<(Option<u32>, Option<u32>)> = Vec::new();
        for (name, a) in self.a.names.iter().zip(0..) {
            let b = of_name.get(name.as_str()).or(of_a.get(&a)).copied();
            b.iter().for_each(|b| is_taken[*b as usize] = true);
            keys.push((Some(a), b));
        }
        let others = is_taken.iter().zip(0..).filter(|(is_taken, _)| !**is_taken);
        keys.extend(others.map(|(_, b)| (None, Some(b))));
        let error = ROWS_ERROR / (keys.len() + 2) as f64;
        let rows = keys.into_iter().map(|(a, b)| self.row(a, b, error));
        rows.filter(|row| row.a_count + row.b_count > 0 || row.change.a_ps != 0 || row.change.b_ps != 0)
            .collect()
    }

    fn row(self, a: Option<u32>, b: Option<u32>, error: f64) -> ComparedRow {
        let name = |of: &RunSample, row: u32| of.names[row as usize].clone();
        let (name_a, name_b) = (a.map(|row| name(self.a, row)), b.map(|row| name(self.b, row)));
        let is_coupled = a.is_some_and(|row| self.a.is_coupled[row as usize])
            || b.is_some_and(|row| self.b.is_coupled[row as usize]);
        // No row has this number.
        let samples = |of: &RunSample, row: Option<u32>| of.row(row.unwrap_or(u32::MAX));
        let (of_a, of_b) = (samples(self.a, a), samples(self.b, b));
        ComparedRow {
            kind: TimeKind::Work,
            renamed: name_b.clone().filter(|name| name_a.as_ref().is_some_and(|other| other != name)),
            name: name_a.or(name_b).unwrap_or_default(),
            a_count: a.map_or(0, |row| self.a.count(row)),
            b_count: b.map_or(0, |row| self.b.count(row)),
            change: self.change(&of_a, &of_b, is_coupled, error),
            durations: self.durations(a, b),
        }
    }

    fn durations(self, a: Option<u32>, b: Option<u32>) -> Option<DurationBars> {
        let none = DurationCounts::default();
        let a = a.map_or(&none, |row| &self.a.durations[row as usize]);
        let b = b.map_or(&none, |row| &self.b.durations[row as usize]);
        DurationBars::of(a, b)
    }

    /// The rows that are no work. Idle time has what rounding leaves, so that all rows sum up.
    fn rest(self, work: &[ComparedRow], total: TimeChange) -> [ComparedRow; 2] {
        let error = ROWS_ERROR / (work.len() + 2) as f64;
        let row = |kind: TimeKind, change: TimeChange| ComparedRow {
            kind,
            name: String::new(),
            renamed: None,
            a_count: 0,
            b_count: 0,
            change,
            durations: None,
        };
        let beside = self.change(&self.a.beside(), &self.b.beside(), true, error);
        let sum =
            |of: fn(&TimeChange) -> i64| work.iter().map(|row| of(&row.change)).sum::<i64>() + of(&beside);
        let idle_ps = |of: fn(&TimeChange) -> i64| of(&total).saturating_sub(sum(of));
        let bounds = bounds(&self.a.idle(), &self.b.idle(), true, error);
        let (a_ps, b_ps) = (idle_ps(|change| change.a_ps), idle_ps(|change| change.b_ps));
        let idle = TimeChange::new(a_ps, b_ps, bounds, self.times());
        [row(TimeKind::Beside, beside), row(TimeKind::Idle, idle)]
    }
}

/// The order of rows of work: differences that are more than chance, then the others, each by size.
fn order(one: &ComparedRow, other: &ComparedRow) -> std::cmp::Ordering {
    let key = |of: &ComparedRow| (of.change.is_certain(), of.change.difference_ps().unsigned_abs());
    key(other).cmp(&key(one)).then_with(|| one.name.cmp(&other.name))
}

fn counted(rows: &[ComparedRow]) -> Vec<CountedWork> {
    let of_row = |row: &ComparedRow| CountedWork {
        times_ps: [row.change.a_ps, row.change.b_ps],
        counts: [row.a_count, row.b_count],
    };
    rows.iter().map(of_row).collect()
}

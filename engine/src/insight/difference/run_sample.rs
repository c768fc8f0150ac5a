//! The repetitions of a run: those that all of its ranks have.

use rustc_hash::FxHashMap;

use super::duration_counts::DurationCounts;
use super::rank_sample::{RankRepetition, RankSample, WorkSum};
use super::samples::{RepeatedValues, RowSamples};

/// A run as it is compared: repetitions that all of its ranks have, and their work by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSample {
    /// The rows.
    pub(super) names: Vec<String>,
    pub(super) is_coupled: Vec<bool>,
    /// For each row the durations of its slices in all repetitions.
    pub(super) durations: Vec<DurationCounts>,
    /// Names of the repetitions.
    pub(super) repetitions: Vec<String>,
    /// For each repetition whether the time to the next one is missing.
    pub(super) is_open: Vec<bool>,
    /// For each repetition the work of each rank.
    cells: Vec<Vec<RepeatedWork>>,
    /// The numbers of the ranks.
    pub(super) ranks: Vec<u32>,
    /// Repetitions that are left out, because some ranks lack them.
    pub(super) left_out: usize,
    /// The rows of a repetition of one rank in the order of their starts.
    pub(super) order: Vec<u32>,
}

/// One repetition of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RepeatedWork {
    length_ps: i64,
    busy_ps: i64,
    sums: FxHashMap<u32, WorkSum>,
}

/// Names of repetitions, and the position in each rank.
struct Shared {
    names: Vec<String>,
    /// For each repetition its position in each rank.
    places: Vec<Vec<usize>>,
    /// Positions of the ranks that have them.
    ranks: Vec<usize>,
    left_out: usize,
}

impl RunSample {
    /// The run of these ranks. Ranks without work are left out.
    #[must_use]
    pub fn of(ranks: Vec<RankSample>) -> Self {
        let ranks: Vec<RankSample> =
            ranks.into_iter().filter(|rank| rank.repetitions.iter().any(|one| one.busy_ps > 0)).collect();
        let shared = shared(&ranks);
        let (mut names, mut is_coupled) = (Vec::new(), Vec::new());
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut own = |of: &RankSample| -> Vec<u32> {
            let rows = of.names.iter().zip(&of.is_coupled);
            rows.map(|(name, coupled)| {
                let number = *numbers.entry(name.clone()).or_insert_with(|| {
                    names.push(name.clone());
                    is_coupled.push(false);
                    u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
                });
                is_coupled[number as usize] |= coupled;
                number
            })
            .collect()
        };
        let rows: Vec<Vec<u32>> = ranks.iter().map(&mut own).collect();
        let mut durations = vec![DurationCounts::default(); names.len()];
        for rank in &shared.ranks {
            let own = rows[*rank].iter().zip(&ranks[*rank].durations);
            own.for_each(|(row, of)| durations[*row as usize].merge(of));
        }
        let cell = |rank: usize, at: usize| {
            let RankRepetition { length_ps, busy_ps, sums, .. } = &ranks[rank].repetitions[at];
            let sums = sums.iter().map(|(row, sum)| (rows[rank][*row as usize], *sum)).collect();
            RepeatedWork { length_ps: *length_ps, busy_ps: *busy_ps, sums }
        };
        let cells = shared.places.iter().map(|places| {
            shared.ranks.iter().zip(places).map(|(rank, at)| cell(*rank, *at)).collect::<Vec<_>>()
        });
        let is_open = shared.places.iter().map(|places| {
            shared.ranks.iter().zip(places).any(|(rank, at)| ranks[*rank].repetitions[*at].is_open)
        });
        let order = shared.ranks.first().map_or_else(Vec::new, |rank| {
            ranks[*rank].order.iter().map(|row| rows[*rank][*row as usize]).collect()
        });
        Self {
            cells: cells.collect(),
            is_open: is_open.collect(),
            ranks: shared.ranks.iter().map(|rank| ranks[*rank].rank).collect(),
            repetitions: shared.names,
            left_out: shared.left_out,
            order,
            names,
            is_coupled,
            durations,
        }
    }

    /// The names of rows in the order of their starts.
    pub(super) fn ordered_names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|row| self.names[*row as usize].as_str())
    }

    /// Number of repetitions.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        self.repetitions.len()
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Number of repetitions of all ranks together.
    pub(super) fn cells(&self) -> usize {
        self.repetitions() * self.ranks()
    }

    /// The times of a row in all repetitions and ranks.
    pub(super) fn row(&self, row: u32) -> RowSamples {
        self.samples(|cell| cell.sums.get(&row).map_or(0, |sum| sum.time_ps))
    }

    /// The slices of a row in all repetitions and ranks.
    pub(super) fn count(&self, row: u32) -> u64 {
        self.cells.iter().flatten().filter_map(|cell| cell.sums.get(&row)).map(|sum| sum.count).sum()
    }

    /// Lengths of the repetitions.
    pub(super) fn lengths(&self) -> RowSamples {
        self.samples(|cell| cell.length_ps)
    }

    /// Time of work that ran beside other work, as a negative number.
    pub(super) fn beside(&self) -> RowSamples {
        self.samples(|cell| cell.busy_ps - cell.sums.values().map(|sum| sum.time_ps).sum::<i64>())
    }

    /// Time in which nothing ran.
    pub(super) fn idle(&self) -> RowSamples {
        self.samples(|cell| cell.length_ps - cell.busy_ps)
    }

    fn samples(&self, value: impl Fn(&RepeatedWork) -> i64) -> RowSamples {
        let repeat = |(cells, is_open): (&Vec<RepeatedWork>, &bool)| RepeatedValues {
            is_open: *is_open,
            of_ranks: cells.iter().map(&value).collect(),
        };
        RowSamples(self.cells.iter().zip(&self.is_open).map(repeat).collect())
    }
}

/// The repetitions that all ranks have, by name if each name is there once, else counted from the
/// last one: recordings of ranks begin at different times more often than they end.
fn shared(ranks: &[RankSample]) -> Shared {
    let mut order: Vec<String> = Vec::new();
    let mut places: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
    let have_names = ranks.iter().all(has_unique_names);
    let longest = ranks.iter().max_by_key(|rank| rank.repetitions.len());
    let most = longest.map_or(0, |rank| rank.repetitions.len());
    for (at, rank) in ranks.iter().enumerate() {
        let before = most - rank.repetitions.len();
        for (place, one) in rank.repetitions.iter().enumerate() {
            let key = if have_names { one.name.clone() } else { (before + place).to_string() };
            places.entry(key).or_default().push((at, place));
        }
    }
    for (place, one) in longest.iter().flat_map(|rank| rank.repetitions.iter().enumerate()) {
        order.push(if have_names { one.name.clone() } else { place.to_string() });
    }
    let complete = order.iter().filter(|key| places[*key].len() == ranks.len()).count();
    // Rather a few ranks less than hardly any repetitions.
    let chosen: Vec<usize> = match complete * 2 >= most {
        true => (0..ranks.len()).collect(),
        false => (0..ranks.len()).filter(|at| ranks[*at].repetitions.len() == most).collect(),
    };
    let names = longest.map_or(&[][..], |rank| &rank.repetitions[..]).iter().map(|one| one.name.clone());
    let mut of = Shared { names: Vec::new(), places: Vec::new(), ranks: chosen, left_out: 0 };
    for (key, name) in order.iter().zip(names) {
        let place = |rank: &usize| places[key].iter().find(|(at, _)| at == rank).map(|(_, place)| *place);
        match of.ranks.iter().map(place).collect::<Option<Vec<usize>>>() {
            Some(found) => {
                of.names.push(name);
                of.places.push(found);
            }
            None => of.left_out += 1,
        }
    }
    of
}

fn has_unique_names(rank: &RankSample) -> bool {
    let mut names: Vec<&str> = rank.repetitions.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

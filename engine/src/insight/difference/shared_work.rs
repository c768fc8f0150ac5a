//! How much of their work two runs share: work of one name that runs as often in both.
//!
//! A name alone tells little. Half of a program has the names of the whole one, and unrelated
//! programs have names such as `Task` in common.

/// Runs of a name in a repetition of a rank of one run, relative to the other run, from which on it
/// runs as often: repetitions that are cut, lost events and retries change numbers by as much.
const LEAST_AS_OFTEN: f64 = 0.8;
/// Share of the time of each run from which on two runs are of one program.
const LEAST_TIME: f64 = 0.5;
/// Share of all names from which on the others are work that is new, gone, or repeated more or less
/// often in one program, even if that work has most of the time. In a program with half of the
/// layers more than half of the names run less often.
const LEAST_NAMES: f64 = 2.0 / 3.0;
/// Share of the time from which on ranks run the same program. Jobs of other sizes communicate in
/// other ways, which makes up a few percent of the time and all of a difference.
const LEAST_SAME: f64 = 0.98;

/// The shares of their work that two runs have in common. A share of time is that of the run that
/// has less in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedWork {
    /// Share of the time of work whose name is in both runs.
    pub named: f64,
    /// Share of the time of work that also runs as often in both.
    pub as_often: f64,
    /// The same share of the time of work whose name is in both.
    of_named_as_often: f64,
    /// Share of all names that are in both runs.
    names: f64,
    /// Share of all names whose work runs as often in both.
    names_as_often: f64,
}

/// Work of one name in the first and the second run.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedWork {
    pub(super) times_ps: [i64; 2],
    pub(super) counts: [u64; 2],
}

impl CountedWork {
    /// Work that begins before all repetitions is counted in none.
    fn is_in_both(&self) -> bool {
        let [a, b] = self.counts;
        (a > 0) == (b > 0)
    }

    /// Whether it runs as often in both. `cells` has the repetitions of all ranks of each run.
    fn runs_as_often(&self, cells: [usize; 2]) -> bool {
        let of_cell = |at: usize| self.counts[at] as f64 / cells[at].max(1) as f64;
        let (a, b) = (of_cell(0), of_cell(1));
        self.is_in_both() && a.min(b) >= LEAST_AS_OFTEN * a.max(b)
    }
}

impl SharedWork {
    /// The shared part of this work. `cells` has the repetitions of all ranks of each run.
    pub(super) fn of(work: &[CountedWork], cells: [usize; 2]) -> Self {
        let named: Vec<CountedWork> = work.iter().filter(|of| of.is_in_both()).copied().collect();
        let as_often: Vec<CountedWork> = named.iter().filter(|of| of.runs_as_often(cells)).copied().collect();
        let of_names = |part: &[CountedWork]| part.len() as f64 / work.len().max(1) as f64;
        Self {
            named: share_of_time(&named, work),
            as_often: share_of_time(&as_often, work),
            of_named_as_often: share_of_time(&as_often, &named),
            names: of_names(&named),
            names_as_often: of_names(&as_often),
        }
    }

    /// Whether the runs are of one program.
    pub(super) fn is_one_program(self) -> bool {
        let differs_by_new_work = self.names >= LEAST_NAMES && self.of_named_as_often >= LEAST_TIME;
        self.as_often >= LEAST_TIME || differs_by_new_work || self.names_as_often >= LEAST_NAMES
    }

    /// Whether next to nothing in the programs differs.
    #[must_use]
    pub fn is_all(self) -> bool {
        self.as_often >= LEAST_SAME
    }

    /// Whether the names tell of one program, and only their numbers do not.
    #[must_use]
    pub fn has_same_names(self) -> bool {
        self.named >= LEAST_TIME
    }
}

/// The share of the time of a part, in the run with less of it. A run without any time is no
/// objection.
fn share_of_time(part: &[CountedWork], all: &[CountedWork]) -> f64 {
    let of_run = |run: usize| {
        // A sum of nothing is -0.0, which would be written so.
        let sum = |of: &[CountedWork]| of.iter().fold(0.0, |sum, one| sum + one.times_ps[run] as f64);
        let all = sum(all);
        if all > 0.0 { sum(part) / all } else { 1.0 }
    };
    of_run(0).min(of_run(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work of each name as time and count in the first run, then in the second one.
    type Drawn = (i64, u64, i64, u64);

    #[track_caller]
    fn check(work: &[Drawn], cells: [usize; 2], is_one_program: bool) {
        let counted = |&(time_a, count_a, time_b, count_b): &Drawn| CountedWork {
            times_ps: [time_a, time_b],
            counts: [count_a, count_b],
        };
        let swapped = |&(time_a, count_a, time_b, count_b): &Drawn| (time_b, count_b, time_a, count_a);
        let shared = |work: &[Drawn], cells: [usize; 2]| {
            SharedWork::of(&work.iter().map(counted).collect::<Vec<_>>(), cells)
        };
        let (of, [a, b]) = (shared(work, cells), cells);
        assert_eq!(of.is_one_program(), is_one_program, "{of:?}");
        assert_eq!(shared(&work.iter().map(swapped).collect::<Vec<_>>(), [b, a]), of);
    }

    #[test]
    fn half_of_a_program_is_other_work() {
        let whole = [(600, 16, 300, 8), (200, 8, 100, 4), (100, 24, 50, 12), (30, 2, 30, 2)];
        check(&whole, [1, 1], false);
        // Twice as many steps or ranks do as much in each.
        check(
            &whole.map(|(time_a, count_a, time_b, _)| (time_a, count_a, time_b, count_a / 2)),
            [2, 1],
            true,
        );
        // A name that unrelated programs share runs at another rate.
        check(&[(780, 884, 2_990, 4_132), (0, 0, 853, 559), (0, 0, 689, 85)], [1, 1], false);
        // Three passes whose names are their own.
        check(&[(100, 4, 100, 4), (0, 0, 100, 4), (0, 0, 100, 4)], [1, 1], false);
    }

    #[test]
    fn a_slow_new_gone_or_repeated_kernel_leaves_a_program_what_it_is() {
        let with = |of: Drawn| [(100, 4, 100, 4), (80, 8, 82, 8), (60, 2, 60, 2), (60, 7, 60, 6), of];
        for of in [(100, 4, 5_000, 4), (0, 0, 5_000, 3), (5_000, 3, 0, 0), (10, 3, 200, 768)] {
            check(&with(of), [1, 1], true);
        }
        // A kernel for a matrix of twice the size: most instructions are those of its frame.
        let of_size =
            [(33, 192, 60, 320), (25, 17, 33, 17), (1, 3, 2, 5), (2, 18, 2, 18), (1, 5, 1, 5), (1, 3, 1, 3)];
        check(&of_size, [1, 1], true);
    }

    #[test]
    fn ranks_run_one_program_if_next_to_nothing_differs() {
        let of = |collectives: i64| {
            let work = [(100_000, 10, 100_000, 10), (0, 0, collectives, 4)];
            let counted = |(time_a, count_a, time_b, count_b)| CountedWork {
                times_ps: [time_a, time_b],
                counts: [count_a, count_b],
            };
            SharedWork::of(&work.map(counted), [1, 1])
        };
        assert!(of(500).is_all() && !of(5_000).is_all());
    }
}

//! The ranks that came late and the links that were slow, in one list.

use super::members::members;
use super::{ClockVerdict, Job, LinkReport, RankClock, RankReport, Report};

/// A rank or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// The rank with this number.
    Rank(u32),
    /// The link among the ranks of the group with this number.
    Link(u32),
}

/// Cost of a culprit, in picoseconds summed over the ranks that lose it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The culprit.
    pub culprit: Suspect,
    /// Waiting of other ranks that began here.
    pub root_blame_ps: f64,
    /// Time that a link's own ranks spent in slow transfers beyond the usual, without computation.
    /// It is no waiting, so no part of the blame.
    pub excess_ps: f64,
    /// Whether it is more than equal ranks show. Equal ranks have blame, too: somebody is always
    /// last.
    pub stands_out: bool,
}

/// A cause that stands out has at least this share of all waiting.
const LEAST_OF_WAITS: f64 = 0.02;
/// Nothing stands out if all waiting and slow transfers take less than this share of the time of
/// all ranks: that is not worth a search.
const LEAST_OF_TIME: f64 = 0.005;
/// A rank that stands out has this multiple of the mean root blame of the others. The
/// largest of 2 to 8 equal ranks with noise reached 2.3 in 80 operations. Two late ranks of four
/// have 2.9.
const LEAST_OF_OTHERS: f64 = 2.4;
/// The multiple grows by this with each doubling beyond 8 ranks, because the largest of more equal
/// ranks is larger: it reached 2.9 of 32, and 3.1 of 64.
const MORE_BY_DOUBLING: f64 = 0.5;
/// A rank that stands out has its root blame this many deviations beyond that of the largest of as
/// many equal ranks, which is at about `sqrt(2 ln n)` deviations. Few operations prove little.
const LEAST_OF_CHANCE: f64 = 2.0;

/// A rank is named beside others with at least this share of the largest root blame: up to a
/// twentieth of it stayed with the mates of the rank that was late.
const LEAST_OF_LARGEST: f64 = 0.1;

impl Suspect {
    /// Name for people.
    #[must_use]
    pub fn name(self, job: &Job) -> String {
        match self {
            Self::Rank(rank) => format!("rank {rank}"),
            Self::Link(group) => format!("link among {}", members(&job.groups[group as usize])),
        }
    }
}

impl Cost {
    /// All that is lost.
    #[must_use]
    pub fn whole_ps(&self) -> f64 {
        self.root_blame_ps + self.excess_ps
    }
}

/// All culprits, the largest cost first.
#[must_use]
pub fn costs(report: &Report) -> Vec<Cost> {
    let late = outstanding(report);
    let ranks = report.ranks.iter().map(|rank| Cost {
        culprit: Suspect::Rank(rank.rank),
        root_blame_ps: rank.root_blame_ps,
        excess_ps: 0.0,
        stands_out: late.contains(&rank.rank),
    });
    let is_worth = report.clocks.verdict != ClockVerdict::Unknown && is_worth_a_search(report);
    let least_ps = LEAST_OF_WAITS * sum(report, |rank| rank.wait_ps);
    let links = report.links.iter().map(|link| Cost {
        culprit: Suspect::Link(link.group),
        root_blame_ps: link.root_blame_ps,
        excess_ps: link.excess_ps,
        stands_out: is_worth && link.root_blame_ps + link.excess_ps >= least_ps,
    });
    let mut costs: Vec<Cost> = ranks.chain(links).filter(|cost| cost.whole_ps() > 0.0).collect();
    costs.sort_by(|a, b| b.whole_ps().total_cmp(&a.whole_ps()));
    costs
}

/// The place that shows a slow link best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowTransfer {
    /// Number of the instance with the slowest transfer.
    pub instance: usize,
    /// Number of the rank that came last: the others waited for it, and it waits for the link only.
    pub rank: u32,
    /// Start of the transfer on the shared clock, in picoseconds.
    pub start_ps: i64,
}

/// The slowest transfer of a link. `None` if no transfer of it was slow.
#[must_use]
pub fn shown_by(job: &Job, report: &Report, link: &LinkReport) -> Option<SlowTransfer> {
    let instance = link.worst? as usize;
    let one = &report.operations[instance];
    let rank = job.ranks.get(one.last.or(one.first)? as usize)?.rank;
    Some(SlowTransfer { instance, rank, start_ps: one.span.last_ps })
}

/// A time of all ranks together.
fn sum(report: &Report, of: fn(&RankReport) -> i64) -> f64 {
    report.ranks.iter().map(|rank| of(rank) as f64).sum()
}

/// Whether ranks lose enough of their time in operations that a cause is worth a search.
fn is_worth_a_search(report: &Report) -> bool {
    let excess: f64 = report.links.iter().map(|link| link.excess_ps).sum();
    sum(report, |rank| rank.wait_ps) + excess >= LEAST_OF_TIME * sum(report, |rank| rank.span_ps)
}

/// Numbers of the ranks that stand out, ascending: their blame is worth a name, far above that of
/// the others, and more than chance and the error of the clocks explain. None if the clocks are not
/// known.
///
/// A large blame hides smaller ones, because it raises the mean. So the ranks that are named are
/// taken out, and the others are compared again, until nobody is left to name.
#[must_use]
pub(super) fn outstanding(report: &Report) -> Vec<u32> {
    if report.clocks.verdict == ClockVerdict::Unknown || !is_worth_a_search(report) {
        return Vec::new();
    }
    let mut bar = Bar::new(report);
    let mut named = vec![false; report.ranks.len()];
    loop {
        let is_late = |(at, (rank, clock)): &(usize, (&RankReport, &RankClock))| {
            !named[*at] && bar.is_passed_by(rank, clock)
        };
        let ranks = report.ranks.iter().zip(&report.clocks.ranks).enumerate();
        let late: Vec<usize> = ranks.filter(is_late).map(|(at, _)| at).collect();
        if late.is_empty() {
            break;
        }
        for at in late {
            named[at] = true;
            bar.leave_out(&report.ranks[at]);
        }
    }
    report.ranks.iter().zip(named).filter(|(_, is_named)| *is_named).map(|(rank, _)| rank.rank).collect()
}

/// The bar above which a rank stands out among those that are not named yet.
#[derive(Debug)]
struct Bar {
    /// Least root blame, in picoseconds.
    least_ps: f64,
    /// Least multiple of the mean root blame of the others.
    multiple: f64,
    /// Least number of deviations beyond what equal ranks have.
    deviations: f64,
    /// Mean root blame of all ranks.
    mean_ps: f64,
    /// Root blame and number of the ranks that are not named.
    rest: (f64, f64),
}

impl Bar {
    fn new(report: &Report) -> Self {
        let count = report.ranks.len().max(1) as f64;
        let whole: f64 = report.ranks.iter().map(|rank| rank.root_blame_ps).sum();
        let deviations = LEAST_OF_CHANCE + (2.0 * count.ln()).sqrt();
        let usual = LEAST_OF_OTHERS + MORE_BY_DOUBLING * (count / 8.0).log2().max(0.0);
        Self {
            least_ps: LEAST_OF_WAITS * sum(report, |rank| rank.wait_ps),
            multiple: usual.max(multiple_of_few(report.parts, deviations)),
            deviations,
            mean_ps: whole / count,
            rest: (whole, count),
        }
    }

    fn leave_out(&mut self, named: &RankReport) {
        self.least_ps = self.least_ps.max(LEAST_OF_LARGEST * named.root_blame_ps);
        self.rest.0 -= named.root_blame_ps;
        self.rest.1 -= 1.0;
    }

    fn is_passed_by(&self, rank: &RankReport, clock: &RankClock) -> bool {
        let (sum_ps, count) = self.rest;
        let others_ps = (sum_ps - rank.root_blame_ps).max(0.0) / (count - 1.0).max(1.0);
        // The mean of the ranks that are not named over that of all. It scales what equal ranks
        // have.
        let part = if self.mean_ps > 0.0 { sum_ps.max(0.0) / count.max(1.0) / self.mean_ps } else { 1.0 };
        // The mean of each of its operations, as if all its ranks were equal.
        let equals_ps = rank.blame_ps - rank.surplus_ps;
        // A clock that is wrong by this much makes each partner wait so long in each operation.
        let clock_ps = rank.partners as f64 * clock.residual_ps as f64;
        rank.root_blame_ps > 0.0
            && rank.root_blame_ps >= self.least_ps
            && rank.root_blame_ps >= self.multiple * others_ps
            && rank.root_blame_ps > clock_ps
            && rank.root_blame_ps > part * (equals_ps + self.deviations * rank.chance_ps)
    }
}

/// Multiple of the mean that a sum of `parts` exponential times exceeds by chance, if the normal
/// distribution exceeds so many `deviations`: Wilson and Hilferty's cube, for gamma distributions.
///
/// The blame in a part of a job is like one such time: a rank that is late once is late in all that
/// follows, up to the next operation of all ranks.
fn multiple_of_few(parts: u32, deviations: f64) -> f64 {
    let parts = f64::from(parts.max(1));
    (1.0 - 1.0 / (9.0 * parts) + deviations / (3.0 * parts.sqrt())).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parts_need_a_large_multiple() {
        // Quantiles of gamma distributions over their mean, where the normal one has 4 deviations.
        for (parts, expected) in [(1, 10.36), (4, 4.324), (16, 2.324), (100, 1.451)] {
            let found = multiple_of_few(parts, 4.0);
            assert!((found / expected - 1.0).abs() < 0.06, "{parts}: {found}");
        }
    }
}

//! Evidence that several queues of a device have one executor: their kernels never run at the same
//! time, although they were launched and their own queues were free.
//!
//! A program can put its kernels on queues by turns while the device executes one at a time. Work
//! that never overlaps proves nothing by itself: it may never have had the occasion. It had one
//! each time a kernel was launched before the work of another queue ended, was the next one of its
//! own queue, and started only behind that end.

use rustc_hash::FxHashMap;

use super::observed_work::{LEAST_UNDER_PS, ObservedWork};
use crate::model::{MachineSide, RankWork};

/// Names of work that are told apart, those with the most time.
const MOST_NAMES: usize = 64;
/// Time by which a launch must come before the end of the other work, in picoseconds.
const LAUNCHED_BEFORE_PS: i64 = 20_000_000;
/// The least number of kernels that had to wait.
const LEAST_HELD: u64 = 8;
/// The least part of the time of the device's work that the kernels take.
const LEAST_TIME: f64 = 0.5;

/// The queues of a rank with a common executor, and for each class whether it needs that executor.
/// `None` if nothing speaks for one.
pub(super) fn shared_executor(of: ObservedWork<'_>) -> Option<SharedExecutor> {
    let queues = of.told_apart();
    if queues.len() < 2 {
        return None;
    }
    let names = LongestNames::of(of);
    let seen = overlaps(of, &queues, &names);
    let mut chosen: Vec<usize> = Vec::new();
    for name in 0..names.times_ps.len() {
        let overlaps =
            |other: usize| seen[name * MOST_NAMES + other].under + seen[other * MOST_NAMES + name].under > 0;
        if !chosen.iter().copied().chain([name]).any(overlaps) {
            chosen.push(name);
        }
    }
    let pairs = chosen.iter().flat_map(|a| chosen.iter().map(move |b| a * MOST_NAMES + b));
    let held: u64 = pairs.map(|pair| seen[pair].held).sum();
    let time_ps: i64 = chosen.iter().map(|name| names.times_ps[*name]).fold(0, i64::saturating_add);
    if held < LEAST_HELD || (time_ps as f64) < names.all_ps as f64 * LEAST_TIME {
        return None;
    }
    let needs_it = |class: usize| names.of_class[class].is_some_and(|name| chosen.contains(&name));
    let classes: Vec<bool> = (0..of.work.classes.len()).map(needs_it).collect();
    let is_of_class = |queue: u32| {
        let mut classes = of.work.classes.iter().zip(&classes);
        classes.any(|(class, needs_it)| *needs_it && class.queue == queue)
    };
    Some(SharedExecutor { queues: queues.into_iter().filter(|queue| is_of_class(*queue)).collect(), classes })
}

/// A common executor of queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedExecutor {
    /// Positions of the queues.
    pub(super) queues: Vec<u32>,
    /// For each class whether its slices need the executor.
    pub(super) classes: Vec<bool>,
}

/// The names of work that does not communicate, by their time.
struct LongestNames {
    /// For each class the place of its name.
    of_class: Vec<Option<usize>>,
    /// For each name its time, descending.
    times_ps: Vec<i64>,
    /// The time of all work of devices.
    all_ps: i64,
}

impl LongestNames {
    fn of(of: ObservedWork<'_>) -> Self {
        let work = of.work;
        let mut of_classes_ps = vec![0_i64; work.classes.len()];
        for node in &work.nodes {
            let time_ps = &mut of_classes_ps[node.class as usize];
            *time_ps = time_ps.saturating_add(node.duration_ps);
        }
        let mut of_names: FxHashMap<&str, i64> = FxHashMap::default();
        let mut all_ps = 0_i64;
        let counted = |class: usize| is_counted(of, class);
        for (class, time_ps) in of_classes_ps.iter().enumerate().filter(|(class, _)| counted(*class)) {
            all_ps = all_ps.saturating_add(*time_ps);
            let sum_ps = of_names.entry(name_of(work, class)).or_default();
            *sum_ps = sum_ps.saturating_add(*time_ps);
        }
        let mut longest: Vec<(&str, i64)> = of_names.into_iter().collect();
        longest.sort_unstable_by_key(|(name, time_ps)| (std::cmp::Reverse(*time_ps), *name));
        longest.truncate(MOST_NAMES);
        let places: FxHashMap<&str, usize> =
            longest.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
        let place = |class: usize| {
            let place = places.get(name_of(work, class)).copied();
            place.filter(|_| counted(class))
        };
        Self {
            of_class: (0..work.classes.len()).map(place).collect(),
            times_ps: longest.into_iter().map(|(_, time_ps)| time_ps).collect(),
            all_ps,
        }
    }
}

fn name_of(work: &RankWork, class: usize) -> &str {
    work.name(work.classes[class].name).unwrap_or_default()
}

/// Whether a class is work of a device whose order with other queues the recording does not state.
fn is_counted(of: ObservedWork<'_>, class: usize) -> bool {
    let queue = of.work.classes[class].queue;
    let is_of_device = of.work.queues[queue as usize].side == MachineSide::Device;
    is_of_device && !of.communicates[class] && !of.work.states_waits(queue)
}

/// Starts of work of one name beside work of another one on another queue.
#[derive(Debug, Clone, Copy, Default)]
struct StartsBeside {
    /// Starts at the same time.
    under: u64,
    /// Starts that waited for the end.
    held: u64,
}

/// The last slice of a queue.
#[derive(Debug, Clone, Copy)]
struct LastSlice {
    end_ps: i64,
    name: Option<usize>,
}

/// For each pair of names, by `name * MOST_NAMES + other`, the starts of the first one beside the
/// second one.
fn overlaps(of: ObservedWork<'_>, queues: &[u32], names: &LongestNames) -> Vec<StartsBeside> {
    let work = of.work;
    let place = of.places(queues);
    let mut seen = vec![StartsBeside::default(); MOST_NAMES * MOST_NAMES];
    let mut last = vec![LastSlice { end_ps: i64::MIN, name: None }; queues.len()];
    for (at, node) in (0_u32..).zip(&work.nodes).filter(|(_, node)| node.row < of.first_absent_row) {
        let class = node.class as usize;
        let Some(own) = place[work.classes[class].queue as usize] else { continue };
        let name = names.of_class[class];
        if let Some(name) = name {
            let others = last.iter().enumerate().filter(|(queue, _)| *queue != own);
            let others = others.filter_map(|(_, slice)| Some((slice.name?, slice.end_ps)));
            let mut before: Option<(usize, i64)> = None;
            for (other, end_ps) in others {
                if end_ps.saturating_sub(node.start_ps) > LEAST_UNDER_PS {
                    seen[name * MOST_NAMES + other].under += 1;
                } else if before.is_none_or(|(_, last_ps)| end_ps > last_ps) {
                    before = Some((other, end_ps));
                }
            }
            let launch = work.launching(at);
            let ready_ps =
                launch.map(|launch| launch.start_ps.saturating_add(LAUNCHED_BEFORE_PS).max(last[own].end_ps));
            if let (Some((other, end_ps)), Some(ready_ps)) = (before, ready_ps)
                && ready_ps < end_ps
            {
                seen[name * MOST_NAMES + other].held += 1;
            }
        }
        // A slice that ends within another one of its queue leaves that one's end.
        if node.end_ps() >= last[own].end_ps {
            last[own] = LastSlice { end_ps: node.end_ps(), name };
        }
    }
    seen
}

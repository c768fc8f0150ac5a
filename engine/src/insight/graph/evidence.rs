//! Evidence about the order of work on different queues of one device: which queues the slices of a
//! class wait for. A trace does not record the events between streams.
//!
//! - A slice that starts while another queue works, and that its own queue did not hold back, does
//!   not wait for that work.
//! - A slice that starts right after the end of another queue's work, and long after all other
//!   ends, waited for that queue. If some slices of a class did so, all of them wait for the queue.
//! - A communication waits for the queue that computes, unless some of its slices started under
//!   that queue's work: programs order their streams so. It then also waits for what that queue
//!   waits for.
//! - Queues with a common executor wait for each other: see [`super::shared_executor`].
//!
//! Counts are those of all ranks together.

use rustc_hash::FxHashMap;

use super::observed_work::{ClassKey, LEAST_UNDER_PS, ObservedWork, QueueKey};
use super::shared_executor::shared_executor;
use crate::model::WorkClass;

/// A slice starts right after an end within this time, in picoseconds. Other ends do not explain it
/// if they are older by this much.
const RIGHT_AFTER_PS: i64 = 10_000_000;
/// A class waits for a queue if at least so many of its slices, and one of so many, started right
/// after the end of that queue's work. A call that the trace lacks makes others look so by chance.
const LEAST_AFTER: u64 = 2;
const AFTER_ONE_IN: u64 = 50;
/// A class is free of a queue if one of so many of its slices started under that queue's work. A
/// single odd slice in a long trace proves little.
const ONE_IN: u64 = 20;

/// Queues that the slices of a class wait for, a bit for each of [`ObservedWork::told_apart`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::insight) struct AwaitedQueues {
    /// Queues that something speaks for.
    pub(super) likely: u64,
    /// Queues that nothing speaks against. They contain the likely ones.
    pub(super) possible: u64,
    /// Queues with the same executor. They are likely, too.
    pub(super) shared: u64,
}

/// How sure it is that work waits for another queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::insight) enum QueueOrder {
    /// Nothing speaks against it.
    Possible,
    /// Something speaks for it.
    Likely,
    /// Both queues have one executor.
    Shared,
}

/// Starts of a class.
#[derive(Debug, Clone, Default)]
struct ClassStarts {
    count: u64,
    /// Starts that the work before on their own queue does not explain.
    apart: u64,
    /// Those of them under the work of each queue.
    under: FxHashMap<QueueKey, u64>,
    /// Starts right after the end of each queue's work.
    after: FxHashMap<QueueKey, u64>,
}

impl ClassStarts {
    fn is_free(&self, of: QueueKey) -> bool {
        self.under.get(&of).is_some_and(|under| under * ONE_IN >= self.apart)
    }

    fn waits_for(&self, queue: QueueKey) -> bool {
        self.after
            .get(&queue)
            .is_some_and(|after| *after >= LEAST_AFTER && after * AFTER_ONE_IN >= self.count)
    }
}

/// The evidence of all ranks of a job.
#[derive(Debug, Default)]
pub(super) struct StartEvidence<'w> {
    starts: FxHashMap<ClassKey<'w>, ClassStarts>,
}

/// Counts of the starts of one rank.
#[derive(Debug)]
pub(super) struct RankStarts {
    /// For each class the number of its starts.
    counts: Vec<u64>,
    /// For each class [`ClassStarts::apart`].
    apart: Vec<u64>,
    /// For each class and queue that is told apart [`ClassStarts::under`], and
    /// [`ClassStarts::after`].
    under: Vec<u32>,
    after: Vec<u32>,
}

impl RankStarts {
    /// Counts the starts of a rank.
    pub(super) fn of(of: ObservedWork<'_>) -> Self {
        let work = of.work;
        let queues = of.told_apart();
        let place = of.places(&queues);
        let width = queues.len();
        let (mut counts, mut apart) = (vec![0_u64; work.classes.len()], vec![0_u64; work.classes.len()]);
        let (mut under, mut after) =
            (vec![0_u32; work.classes.len() * width], vec![0_u32; work.classes.len() * width]);
        let is_needed = needed_classes(of);
        // The end of the last slice of each queue.
        let mut until_ps = vec![i64::MIN; width];
        for node in work.nodes.iter().filter(|node| node.row < of.first_absent_row) {
            let class = node.class as usize;
            let queue = work.classes[class].queue as usize;
            let Some(bit) = place[queue] else { continue };
            let own_until_ps = until_ps[bit].max(node.end_ps());
            if !is_needed[class] {
                until_ps[bit] = own_until_ps;
                continue;
            }
            counts[class] += 1;
            // Work that its own queue held back shows nothing: what runs then can have come later.
            let is_apart = node.start_ps.saturating_sub(until_ps[bit]) > RIGHT_AFTER_PS;
            apart[class] += u64::from(is_apart);
            let own = class * width..(class + 1) * width;
            let (mut last, mut before_ps) = (None, i64::MIN);
            for (at, until_ps) in until_ps.iter().enumerate() {
                if until_ps.saturating_sub(node.start_ps) > LEAST_UNDER_PS {
                    under[own.clone()][at] += u32::from(is_apart);
                } else if last.is_none_or(|(_, last_ps)| *until_ps > last_ps) {
                    before_ps = before_ps.max(last.map_or(i64::MIN, |(_, last_ps)| last_ps));
                    last = Some((at, *until_ps));
                } else {
                    before_ps = before_ps.max(*until_ps);
                }
            }
            if let Some((at, last_ps)) = last
                && node.start_ps.saturating_sub(last_ps) <= RIGHT_AFTER_PS
                && last_ps.saturating_sub(before_ps) >= RIGHT_AFTER_PS
            {
                after[own][at] += 1;
            }
            until_ps[bit] = own_until_ps;
        }
        Self { counts, apart, under, after }
    }
}

/// For each class of a rank whether its starts can tell something: if the recording does not state
/// its waits, or if it computes and a communication can wait for what it waits for.
fn needed_classes(of: ObservedWork<'_>) -> Vec<bool> {
    let work = of.work;
    let is_stated = |class: &WorkClass| work.states_waits(class.queue);
    if !work.classes.iter().any(is_stated) {
        return vec![true; work.classes.len()];
    }
    let mut classes = work.classes.iter().zip(of.communicates);
    let computing =
        classes.any(|(class, communicates)| *communicates && !is_stated(class)).then(|| of.computing_queue());
    let is_needed = |class: &WorkClass| !is_stated(class) || computing == Some(Some(class.queue));
    work.classes.iter().map(is_needed).collect()
}

impl<'w> StartEvidence<'w> {
    /// Adds the starts of a rank.
    pub(super) fn add(&mut self, of: ObservedWork<'w>, starts_of_rank: &RankStarts) {
        let RankStarts { counts, apart, under, after } = starts_of_rank;
        let (work, queues) = (of.work, of.told_apart());
        let width = queues.len();
        for (class, key) in work.classes.iter().enumerate().filter(|(class, _)| counts[*class] > 0) {
            let starts = self.starts.entry(of.class(key)).or_default();
            starts.count += counts[class];
            starts.apart += apart[class];
            let own = class * width..(class + 1) * width;
            for ((under, after), &queue) in under[own.clone()].iter().zip(&after[own]).zip(&queues) {
                let other = of.queue(queue);
                if *under > 0 {
                    *starts.under.entry(other).or_default() += u64::from(*under);
                }
                if *after > 0 {
                    *starts.after.entry(other).or_default() += u64::from(*after);
                }
            }
        }
    }

    /// For each class of a rank the queues that its slices wait for.
    pub(super) fn awaited_queues(&self, of: ObservedWork<'_>) -> Vec<AwaitedQueues> {
        let queues = of.told_apart();
        let computing = of.computing_queue();
        let starts = |class: &WorkClass| self.starts.get(&of.class(class));
        // Starts on the queue that computes.
        let classes = of.work.classes.iter();
        let on_computing: Vec<&ClassStarts> =
            classes.filter(|class| Some(class.queue) == computing).filter_map(starts).collect();
        let bits = |is_wanted: &dyn Fn(u32) -> bool| {
            let wanted = queues.iter().enumerate().filter(|(_, queue)| is_wanted(**queue));
            wanted.fold(0_u64, |bits, (bit, _)| bits | 1 << bit)
        };
        let executor = shared_executor(of);
        let on_executor = executor.as_ref().map_or(0, |of| bits(&|queue| of.queues.contains(&queue)));
        let mask = |(at, (class, communicates)): (usize, (&WorkClass, &bool))| {
            // Edges that the recording states need no evidence.
            let starts = starts(class).filter(|_| !of.work.states_waits(class.queue));
            let Some(starts) = starts else { return AwaitedQueues::default() };
            let computes = computing
                .filter(|queue| *communicates && class.queue != *queue && !starts.is_free(of.queue(*queue)));
            let likely = bits(&|queue| {
                let key = of.queue(queue);
                let by_computing = computes.is_some() && !starts.is_free(key);
                let through = by_computing && on_computing.iter().any(|of| of.waits_for(key));
                starts.waits_for(key) || computes == Some(queue) || through
            });
            let possible = bits(&|queue| !starts.is_free(of.queue(queue)));
            let needs_executor = executor.as_ref().is_some_and(|of| of.classes[at]);
            let shared = if needs_executor { on_executor } else { 0 };
            AwaitedQueues { likely: likely | shared, possible: possible | likely | shared, shared }
        };
        of.work.classes.iter().zip(of.communicates).enumerate().map(mask).collect()
    }
}

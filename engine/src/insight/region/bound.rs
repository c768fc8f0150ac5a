//! The place in a repeating order at which a step begins.
//!
//! An order that repeats has no begin of its own. Profilers record whole steps, so the ends of the
//! recording tell it. Without them, the device idles between steps for the next input, or the host
//! launches nothing for a while.

use super::likeness::is_beginning_of;
use super::program_order::ProgramOrder;
use super::repetition::{Repeat, RepeatingOrder};
use crate::model::RankWork;

/// Times by which a gap has to be longer than all others to be that between steps.
const CLEAR: f64 = 3.0;
/// Part of a step that the device idles at least between steps, if that tells the begin.
const LEAST_IDLE: f64 = 0.005;
/// Part of all gaps of launches that are longer, at most, where the end of a recording tells the
/// end of a step.
const LONGER_GAPS: f64 = 0.01;
/// Kernels of a repetition that are more than a layer has.
const MORE_THAN_A_LAYER: usize = 200;
/// Nodes around a gap whose gaps do not count as others.
const NEAR: usize = 2;
/// Equal names that tell a place again behind names that differ.
const SURE: usize = 3;
/// Names that are left out in search of such a place.
const MOST_LEFT_OUT: usize = 12;

/// Median gaps before each place of a repeating order, in picoseconds.
#[derive(Debug, Default)]
struct GapsOfOrder {
    /// Time in which the device was idle.
    idle_ps: Vec<i64>,
    /// Time since the launch before; empty if launches are not known.
    launch_ps: Vec<i64>,
    /// Duration of a usual repetition.
    step_ps: i64,
}

/// The offset of the begin of a step in the repeating order, and what else speaks for steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepBegin {
    /// Position in the order that repeats.
    pub(super) offset: usize,
    /// Whether the repetitions are steps, and not parts of steps such as layers.
    pub(super) is_of_steps: bool,
}

/// The begin of the steps.
///
/// Layers repeat, too, but other work is before and behind them. Repetitions that a recording
/// consists of are steps. So are those at one end of it, or with the work of many layers, if a gap
/// tells them apart.
pub(super) fn begin(work: &RankWork, order: &ProgramOrder, of: &RepeatingOrder) -> StepBegin {
    let names = &order.names;
    let at_start = place_of_start(names, of.repeats[0], &of.word);
    let at_end = place_of_end(names, of.repeats[of.repeats.len() - 1], &of.word);
    let is_whole = at_start.is_some() && at_end.is_some();
    let is_whole_number = is_whole && at_start == at_end;
    let has_end = at_start.or(at_end).is_some() || of.word.len() >= MORE_THAN_A_LAYER;
    let (offset, is_evident) = match at_end.filter(|_| is_whole_number) {
        Some(offset) => (offset, true),
        None => begin_by_gaps(&GapsOfOrder::of(work, order, of), at_start, at_end),
    };
    let is_of_steps = is_whole_number || (is_whole && !of.has_gaps()) || (has_end && is_evident);
    StepBegin { offset, is_of_steps }
}

/// The offset of the begin, and whether a gap tells it.
fn begin_by_gaps(gaps: &GapsOfOrder, at_start: Option<usize>, at_end: Option<usize>) -> (usize, bool) {
    let idle = longest(&gaps.idle_ps);
    let launch = longest(&gaps.launch_ps);
    let is_long = |gap: &GapAt| gap.ps as f64 >= LEAST_IDLE * gaps.step_ps as f64;
    if let Some(gap) = idle.filter(|gap| is_long(gap) && gap.is_clear(&gaps.idle_ps)) {
        return (gap.offset, true);
    }
    let is_pause = |offset: usize| {
        let longer = gaps.launch_ps.iter().filter(|ps| **ps > gaps.launch_ps[offset]).count();
        longer as f64 <= LONGER_GAPS * gaps.launch_ps.len() as f64
    };
    match (at_end, launch) {
        (Some(end), Some(_)) if is_pause(end) => (end, true),
        (_, Some(gap)) if gap.is_clear(&gaps.launch_ps) => (gap.offset, true),
        (Some(end), _) => (end, false),
        _ => (at_start.or(idle.map(|gap| gap.offset)).unwrap_or(0), false),
    }
}

/// The time of a usual repetition in picoseconds.
fn step_ps(work: &RankWork, order: &ProgramOrder, of: &RepeatingOrder) -> i64 {
    let start_ps = |at: usize| work.nodes[order.nodes[at] as usize].start_ps;
    let pairs = of.repeats.windows(2).filter(|pair| pair[0].end == pair[1].start);
    median(pairs.map(|pair| start_ps(pair[1].start).saturating_sub(start_ps(pair[0].start))).collect())
}

/// A gap in a repeating order.
#[derive(Debug, Clone, Copy)]
struct GapAt {
    offset: usize,
    ps: i64,
}

impl GapAt {
    /// Whether it is much longer than the others.
    fn is_clear(self, gaps: &[i64]) -> bool {
        let length = gaps.len();
        let is_near = |at: usize| {
            let apart = at.abs_diff(self.offset);
            apart.min(length - apart) <= NEAR.min(length / 8)
        };
        let others = gaps.iter().enumerate().filter(|(at, _)| !is_near(*at)).map(|(_, ps)| *ps);
        self.ps as f64 >= CLEAR * others.max().unwrap_or(0).max(1) as f64
    }
}

fn longest(gaps: &[i64]) -> Option<GapAt> {
    let all = gaps.iter().enumerate().map(|(offset, &ps)| GapAt { offset, ps });
    all.max_by_key(|gap| (gap.ps, std::cmp::Reverse(gap.offset)))
}

pub(super) fn median(mut values: Vec<i64>) -> i64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

impl GapsOfOrder {
    fn of(work: &RankWork, order: &ProgramOrder, of: &RepeatingOrder) -> Self {
        let mut idle: Vec<Vec<i64>> = vec![Vec::new(); of.word.len()];
        let mut launch: Vec<Vec<i64>> = vec![Vec::new(); of.word.len()];
        let idle_ps = idle_before(work, order);
        let launch_gap = |at: usize| {
            let launches = order.launches_ps.as_ref()?;
            launches[at].checked_sub(launches[at.checked_sub(1)?]).filter(|_| launches[at - 1] > i64::MIN)
        };
        for repeat in &of.repeats {
            let mut before = repeat.start;
            for (offset, at) in aligned(&order.names, &of.word, repeat) {
                // Gaps before names that the usual order lacks are before the next name. Nothing is
                // known before the recording.
                let near = || before.max(1)..=at;
                idle[offset].extend(near().map(|at| idle_ps[at]).max());
                launch[offset].extend(near().filter_map(launch_gap).max());
                before = at + 1;
            }
        }
        let has_launches = order.launches_ps.is_some();
        Self {
            idle_ps: idle.into_iter().map(median).collect(),
            launch_ps: launch.into_iter().filter(|_| has_launches).map(median).collect(),
            step_ps: step_ps(work, order, of),
        }
    }
}

/// The time in which the device idled before each node, in picoseconds.
pub(super) fn idle_before(work: &RankWork, order: &ProgramOrder) -> Vec<i64> {
    let mut busy_until = i64::MAX;
    let mut of_node = |at: &u32| {
        let node = &work.nodes[*at as usize];
        let idle_ps = node.start_ps.saturating_sub(busy_until).max(0);
        busy_until = if busy_until == i64::MAX { node.end_ps() } else { busy_until.max(node.end_ps()) };
        idle_ps
    };
    order.nodes.iter().map(&mut of_node).collect()
}

/// Offsets in the word with the positions of the same names in a repetition. Names that differ are
/// left out.
fn aligned(names: &[u32], word: &[u32], repeat: &Repeat) -> Vec<(usize, usize)> {
    let values = &names[repeat.start..repeat.end];
    let (mut offset, mut at, mut pairs) = (0, 0, Vec::with_capacity(word.len()));
    while offset < word.len() && at < values.len() {
        if word[offset] == values[at] {
            pairs.push((offset, repeat.start + at));
            (offset, at) = (offset + 1, at + 1);
            continue;
        }
        let is_same = |skip: (usize, usize)| {
            let (word, values) = (word.get(offset + skip.0..), values.get(at + skip.1..));
            let pairs = word.unwrap_or(&[]).iter().zip(values.unwrap_or(&[]));
            pairs.take(SURE).filter(|(a, b)| a == b).count() == SURE
        };
        let skips =
            (1..=MOST_LEFT_OUT).flat_map(|all| (0..=all).map(move |of_word| (of_word, all - of_word)));
        let mut skips = skips.filter(|skip| is_same(*skip));
        let Some((of_word, of_values)) = skips.next() else { break };
        (offset, at) = (offset + of_word, at + of_values);
    }
    pairs
}

/// The offset at which the recording ends. `None` if the rest behind the last repetition is
/// not like the begin of another one.
fn place_of_end(names: &[u32], last: Repeat, word: &[u32]) -> Option<usize> {
    let rest = &names[last.end..];
    if rest.len() >= word.len() || !is_beginning_of(rest, word) {
        return None;
    }
    // The last repetition can lack its end: names that are missing there count as differences.
    let about = (names.len() - last.start) % word.len();
    let same = |offset: usize| {
        let before = word[..offset].iter().rev().chain(word[offset..].iter().rev());
        before.zip(names.iter().rev()).take_while(|(a, b)| a == b).count()
    };
    let apart = (word.len() / 10).max(1);
    let near = (0..=apart).flat_map(|apart| [about + apart, about + word.len() - apart]);
    near.map(|offset| offset % word.len()).rev().max_by_key(|&offset| same(offset))
}

/// The offset at which the recording begins. `None` if what is before the first repetition is not
/// like the end of another one.
fn place_of_start(names: &[u32], first: Repeat, word: &[u32]) -> Option<usize> {
    let reversed = |values: &[u32]| values.iter().rev().copied().collect::<Vec<u32>>();
    let mirror = |place: usize| names.len() - place;
    let last = Repeat { start: mirror(first.end), end: mirror(first.start), ..first };
    let offset = place_of_end(&reversed(names), last, &reversed(word))?;
    Some((word.len() - offset) % word.len())
}

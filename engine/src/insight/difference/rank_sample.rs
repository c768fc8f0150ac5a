//! The repetitions of one rank, and the work of each.

use rustc_hash::FxHashMap;

use super::duration_counts::DurationCounts;
use super::repetition::RunRepetition;
use super::work_key::WorkKeys;
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{MachineSide, RankWork, WorkNode};

/// Nodes whose order tells which names follow each other. Repetitions of more are compared up to
/// there.
const MOST_ORDERED: usize = 20_000;
/// Nodes between two looks whether somebody still wants the answer.
const NODES_AT_ONCE: usize = 1 << 16;

/// The work of one row in one repetition of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WorkSum {
    /// Sum of the durations within the repetition, in picoseconds.
    pub(super) time_ps: i64,
    /// Slices that begin in it.
    pub(super) count: u64,
}

/// One repetition of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RankRepetition {
    pub(super) name: String,
    pub(super) length_ps: i64,
    /// Time in which any work ran.
    pub(super) busy_ps: i64,
    pub(super) is_open: bool,
    /// By number of the row.
    pub(super) sums: FxHashMap<u32, WorkSum>,
}

/// The repetitions of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSample {
    pub(super) rank: u32,
    /// The names of rows by number.
    pub(super) names: Vec<String>,
    /// Whether the time of a row depends on other ranks or engines.
    pub(super) is_coupled: Vec<bool>,
    pub(super) repetitions: Vec<RankRepetition>,
    /// For each row the durations of the slices that begin in the repetitions.
    pub(super) durations: Vec<DurationCounts>,
    /// The rows of the first repetition in the order of their starts.
    pub(super) order: Vec<u32>,
}

/// A repetition while its work comes by start.
struct OpenSpan {
    span: Interval,
    /// End of the work so far.
    covered_to_ps: i64,
    busy_ps: i64,
    sums: FxHashMap<u32, WorkSum>,
}

impl OpenSpan {
    /// Adds a node. Returns whether it begins in the span.
    fn add(&mut self, row: u32, node: &WorkNode) -> bool {
        let (start_ps, end_ps) = (node.start_ps.max(self.span.start.0), node.end_ps().min(self.span.end.0));
        let sum = self.sums.entry(row).or_default();
        sum.time_ps = sum.time_ps.saturating_add((end_ps - start_ps).max(0));
        let begins = node.start_ps >= self.span.start.0;
        sum.count += u64::from(begins);
        self.busy_ps += (end_ps - start_ps.max(self.covered_to_ps)).max(0);
        self.covered_to_ps = self.covered_to_ps.max(end_ps);
        begins
    }
}

impl RankSample {
    /// The work of a rank's devices in these repetitions, which do not overlap; without any, in the
    /// whole of its work.
    pub fn of(
        rank: u32,
        work: &RankWork,
        keys: &WorkKeys,
        repetitions: &[RunRepetition],
        cancel: Cancel<'_>,
    ) -> Result<Self> {
        let whole = whole(work).filter(|_| repetitions.is_empty());
        let mut repetitions: Vec<RunRepetition> = repetitions.iter().cloned().chain(whole).collect();
        repetitions.sort_by_key(|one| one.span.start);
        let mut spans: Vec<OpenSpan> = repetitions.iter().map(open).collect();
        let (mut first, mut order) = (0, Vec::new());
        let mut durations = vec![DurationCounts::default(); keys.names.len()];
        for (at, node) in work.nodes.iter().enumerate() {
            if at % NODES_AT_ONCE == 0 {
                cancel.check()?;
            }
            if !is_of_device(work, node) {
                continue;
            }
            while spans.get(first).is_some_and(|span| span.span.end.0 <= node.start_ps) {
                first += 1;
            }
            let row = keys.row(at, node);
            for span in spans[first..].iter_mut().take_while(|span| span.span.start.0 < node.end_ps()) {
                if span.add(row, node) {
                    durations[row as usize].add(node.duration_ps);
                }
            }
            let is_first = first == 0 && spans.first().is_some_and(|one| node.start_ps >= one.span.start.0);
            if is_first && order.len() < MOST_ORDERED {
                order.push(row);
            }
        }
        let closed = |(of, span): (RunRepetition, OpenSpan)| RankRepetition {
            name: of.name,
            length_ps: of.span.duration_ps(),
            busy_ps: span.busy_ps,
            is_open: of.is_open,
            sums: span.sums,
        };
        let repetitions = repetitions.into_iter().zip(spans).map(closed).collect();
        Ok(Self {
            rank,
            names: keys.names.clone(),
            is_coupled: keys.is_coupled.clone(),
            repetitions,
            durations,
            order,
        })
    }
}

fn open(of: &RunRepetition) -> OpenSpan {
    OpenSpan { span: of.span, covered_to_ps: i64::MIN, busy_ps: 0, sums: FxHashMap::default() }
}

fn is_of_device(work: &RankWork, node: &WorkNode) -> bool {
    work.queue_of(node).side == MachineSide::Device
}

/// From the first to the last work of the devices. `None` without work.
fn whole(work: &RankWork) -> Option<RunRepetition> {
    let of_device = || work.nodes.iter().filter(|node| is_of_device(work, node));
    let start_ps = of_device().map(|node| node.start_ps).min()?;
    let end_ps = of_device().map(WorkNode::end_ps).max()?;
    Some(RunRepetition { name: "run".to_owned(), span: Interval::new(start_ps, end_ps), is_open: false })
}

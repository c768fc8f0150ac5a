//! The facts that rules look at, found once for all of them.

use std::sync::OnceLock;

use super::chip_waits::{PartyWait, chip_waits};
use super::coverage::Coverage;
use super::data_gap::DataGap;
use super::idle_time::IdleTime;
use super::place::Place;
use super::rule_name::RuleName;
use super::severity::{LEAST_WORTH, Severity};
use super::verdict::{Finding, Judgement};
use crate::analysis::{ClockVerdict, Job, Report, StepReport, steps, usual_transfers};
use crate::base::{Interval, Result, upper_median};
use crate::exec::Work;
use crate::insight::edge::RankEdges;
use crate::insight::median_rank::MedianRank;
use crate::insight::region::{NoSteps, StepShape, WorkStep, WorkSteps};
use crate::insight::walk::{CriticalPath, JobEdges};
use crate::insight::{Bracket, JobGraph, Predictions, RankGraph, Scenario};
use crate::metrics::{RankMeasures, UsualTime};
use crate::model::{MachineSide, Role, TrackId, WorkNode, WorkQueue};

/// Share of the calls that may be lost: with more, nothing found says nothing.
const MOST_LOST: f64 = 0.05;
/// Share of the run that the recording of a rank has to have.
const LEAST_TIME: f64 = 0.5;
/// Share of the run that a rank has to work before the run has begun.
const BEGUN: f64 = 0.01;
/// Share of its work with which a rank has begun that works rarely all the time.
const BEGUN_WORK: f64 = 0.05;

/// Steps from which on their median says something.
pub(super) const LEAST_STEPS: usize = 3;

/// A step of a rank.
#[derive(Debug, Clone)]
pub(super) struct RankStep {
    pub(super) name: String,
    pub(super) span: Interval,
}

/// The steps of a rank that are like each other.
#[derive(Debug, Clone)]
pub(super) struct RankSteps {
    /// Number of the rank.
    pub(super) rank: u32,
    pub(super) steps: Vec<RankStep>,
    /// Median duration as lists of regions state it, in picoseconds.
    pub(super) median_ps: i64,
}

/// The name of what a thread of a host did in a span, by the number of its rank and its track.
/// `None` if nothing says it. Times are in picoseconds of the shared clock.
pub type OperatorOf<'g> = dyn Fn(u32, TrackId, Interval) -> Option<String> + Sync + 'g;

/// Facts about a job.
pub struct Facts<'g> {
    pub(super) job: &'g Job,
    pub(super) report: &'g Report,
    pub(super) graph: &'g JobGraph,
    pub(super) edges: JobEdges<'g>,
    pub(super) path: CriticalPath,
    pub(super) predictions: Predictions<'g>,
    /// The recorded part of the job.
    pub coverage: Coverage,
    pub(super) steps: Vec<StepReport>,
    /// For each rank the begin of the first step that all mark. Empty if there is none.
    pub(super) step_starts_ps: Vec<i64>,
    /// Steps of a rank: those of its marks, or any if the operations of the job tell none.
    pub(super) rank_steps: Option<RankSteps>,
    /// Why no steps of a rank are known.
    pub(super) no_steps: Option<NoSteps>,
    pub(super) idle: IdleTime,
    operator_of: Option<Box<OperatorOf<'g>>>,
    measures: RankMeasures,
    pub(super) work: Work<'g>,
    median_rank: OnceLock<MedianRank<'g>>,
    begin_ps: OnceLock<i64>,
    chip_waits: OnceLock<Vec<PartyWait<'g>>>,
}

impl<'g> Facts<'g> {
    /// Finds the facts.
    pub fn new(job: &'g Job, report: &'g Report, graph: &'g JobGraph, work: Work<'g>) -> Result<Self> {
        let (mut coverage, mut of_steps, mut edges) = (Coverage::default(), Vec::new(), None);
        work.exec.beside(
            &mut || {
                coverage = Coverage::of(job, report, graph);
                of_steps = steps(job, report, &report.by_call(job));
            },
            &mut || edges = Some(JobEdges::of(graph, work)),
        );
        let edges = edges.expect("both tasks are run")?;
        let path = CriticalPath::of(&edges);
        // Savings do not depend on the replay of the unchanged run.
        let predictions = Predictions::known(graph, path.length_ps());
        Ok(Self {
            path,
            predictions,
            coverage,
            steps: of_steps,
            step_starts_ps: Vec::new(),
            rank_steps: None,
            no_steps: Some(NoSteps::NoRepetition),
            idle: IdleTime::of(graph),
            operator_of: None,
            measures: RankMeasures::default(),
            work,
            median_rank: OnceLock::new(),
            begin_ps: OnceLock::new(),
            chip_waits: OnceLock::new(),
            job,
            report,
            graph,
            edges,
        })
    }

    /// Whether the operations of the ranks tell no steps.
    #[must_use]
    pub fn lacks_steps(&self) -> bool {
        self.steps.len() < LEAST_STEPS
    }

    /// The same facts with the steps of a rank, by its marks or by the order of its work. Steps
    /// that the recording cuts, prefills, and those of the warm-up, say nothing about the others.
    #[must_use]
    pub fn with_steps_of(mut self, rank: u32, steps: &WorkSteps) -> Self {
        let is_like = |step: &&WorkStep| !matches!(step.shape, StepShape::Cut | StepShape::Prefill);
        let usual = steps.all.iter().skip(steps.steady_from).filter(is_like);
        let step = |step: &WorkStep| RankStep { name: step.name.clone(), span: step.span };
        self.rank_steps =
            Some(RankSteps { rank, steps: usual.map(step).collect(), median_ps: steps.median_ps });
        self.no_steps = None;
        self
    }

    /// The same facts with the begin of the first step that all ranks mark, in picoseconds of the
    /// shared clock and in the order of the ranks. Empty without such a step.
    #[must_use]
    pub fn with_step_starts(self, step_starts_ps: Vec<i64>) -> Self {
        Self { step_starts_ps, ..self }
    }

    /// The same facts with the reason why no rank has steps.
    #[must_use]
    pub fn without_steps(mut self, reason: NoSteps) -> Self {
        self.no_steps = Some(reason);
        self
    }

    /// The same facts with a way to learn what threads of hosts did.
    #[must_use]
    pub fn with_operators(mut self, operator_of: Box<OperatorOf<'g>>) -> Self {
        self.operator_of = Some(operator_of);
        self
    }

    /// The same facts with measurements of a rank.
    #[must_use]
    pub fn with_measures(self, measures: RankMeasures) -> Self {
        Self { measures, ..self }
    }

    /// Measurements of a rank, as far as its device has them.
    pub(super) fn measures(&self) -> &RankMeasures {
        &self.measures
    }

    /// Whether transfers have queues of their own.
    pub(super) fn has_transfers(&self) -> bool {
        let has_queue = |rank: &RankGraph| rank.work.queues.iter().any(|of| of.identity.role == Role::Queue);
        self.graph.ranks.iter().any(has_queue)
    }

    /// Whether the device of some rank has several queues, which can wait for each other.
    pub(super) fn has_several_queues(&self) -> bool {
        let is_of_device = |queue: &&WorkQueue| queue.side == MachineSide::Device;
        let count = |rank: &RankGraph| rank.work.queues.iter().filter(is_of_device).count();
        self.graph.ranks.iter().any(|rank| count(rank) > 1)
    }

    /// Whether calls of hosts were recorded.
    pub(super) fn has_launches(&self) -> bool {
        let is_of_host = |rank: &RankGraph| rank.classes.iter().any(|class| class.side == MachineSide::Host);
        self.graph.ranks.iter().any(is_of_host)
    }

    /// A finding about a rank as a whole.
    pub(super) fn finding_of_rank(&self, rule: RuleName, rank: u32, saving: Bracket) -> Finding {
        self.finding(rule, Place::of_rank(rank), Some(saving))
    }

    /// The name of what the thread of a call did in a span.
    pub(super) fn operator(&self, rank: u32, call: u32, span: Interval) -> Option<String> {
        let of = &self.graph.ranks[rank as usize];
        let track = of.work.queue_of(&of.work.nodes[call as usize]).track;
        self.operator_of.as_ref()?(of.rank, track, span)
    }

    /// Time that a run would save in which the ranks with these numbers are all as fast as the
    /// median rank.
    pub fn saving_as_median(&self, ranks: &[u32]) -> Result<Bracket> {
        let changed = ranks.iter().filter_map(|rank| self.job.position(*rank));
        let changes = changed.map(|at| (at, self.median_rank().changes(at)));
        self.saving(&Scenario::with_changes(changes))
    }

    /// The critical path of the run.
    #[must_use]
    pub fn path(&self) -> &CriticalPath {
        &self.path
    }

    /// Length of the run in picoseconds.
    #[must_use]
    pub fn length_ps(&self) -> i64 {
        self.path.length_ps()
    }

    /// The time at which work begins in earnest, in picoseconds: the first rank has worked for
    /// longer than a hundredth of the run, or has done a part of its work if it works rarely.
    /// All work is read for it, and several rules ask.
    pub(super) fn begin_ps(&self) -> i64 {
        *self.begin_ps.get_or_init(|| {
            let least_ps = self.part_ps(BEGUN);
            let ranks = self.graph.ranks.iter().zip(&self.edges.ranks);
            let begins = ranks.filter_map(|(rank, edges)| begin_ps(rank, edges, least_ps));
            begins.min().unwrap_or(self.path.span_ps.0)
        })
    }

    /// A share of the run, in picoseconds.
    pub(super) fn part_ps(&self, share: f64) -> i64 {
        (self.length_ps() as f64 * share) as i64
    }

    /// The saving from which on a finding is worth a look: a part of the run, and of a device that
    /// says when it is active a part of that time. Loading a program can take a thousand times as
    /// long as one run of its kernel.
    pub(super) fn least_worth_ps(&self) -> i64 {
        let active_ps = self.measures().devices.first().map(|device| device.active_ps);
        let of_ps = active_ps.filter(|active_ps| *active_ps > 0).unwrap_or_else(|| self.length_ps());
        (of_ps.min(self.length_ps()) as f64 * LEAST_WORTH) as i64
    }

    pub(super) fn share(&self, ps: i64) -> f64 {
        ps as f64 / (self.length_ps() as f64).max(1.0)
    }

    /// The ranks side by side.
    pub(super) fn median_rank(&self) -> &MedianRank<'g> {
        self.median_rank.get_or_init(|| MedianRank::of_edges(&self.edges))
    }

    /// The waits inside chips, the longest first, one for each awaited party.
    pub(super) fn chip_waits(&self) -> Result<&[PartyWait<'g>]> {
        if let Some(known) = self.chip_waits.get() {
            return Ok(known);
        }
        let found = chip_waits(&self.edges, self.length_ps(), self.work)?;
        Ok(self.chip_waits.get_or_init(|| found))
    }

    /// Time that a run under a scenario would save.
    pub(super) fn saving(&self, scenario: &Scenario) -> Result<Bracket> {
        Ok(self.predictions.under(scenario, self.work.cancel)?.saving())
    }

    /// The start of the last work of a device, in picoseconds.
    pub(super) fn last_start_ps(&self) -> i64 {
        let of_rank = |rank: &RankGraph| rank.device_work().map(|(_, node)| node.start_ps).max();
        self.graph.ranks.iter().filter_map(of_rank).max().unwrap_or(i64::MIN)
    }

    /// The answer of a rule about hosts that found nothing.
    pub(super) fn unless_launches_lack(&self) -> Judgement {
        let lost = self.coverage.unlaunched();
        Judgement::of(Vec::new(), (lost > MOST_LOST).then_some(DataGap::SomeLaunches(lost)))
    }

    /// A finding with its saving. The severity follows from the saving.
    pub(super) fn finding(&self, rule: RuleName, place: Place, saving: Option<Bracket>) -> Finding {
        let severity =
            saving.map_or(Severity::Note, |saving| Severity::of(saving.middle_ps, self.length_ps()));
        Finding { rule, severity, place, evidence: Vec::new(), saving }
    }

    /// The data that a comparison of ranks lacks.
    pub(super) fn missing_of_ranks(&self) -> Option<DataGap> {
        let Coverage { ranks, world, .. } = &self.coverage;
        let recorded = crate::base::narrow(ranks.len());
        if recorded < *world {
            return Some(DataGap::Ranks { recorded, world: *world });
        }
        if recorded < 2 {
            return None;
        }
        if self.report.clocks.verdict == ClockVerdict::Unknown {
            return Some(DataGap::Clocks);
        }
        let lost = 1.0 - self.coverage.of_own_calls();
        if lost > MOST_LOST {
            return Some(DataGap::Calls(lost));
        }
        let short = ranks.iter().find(|rank| rank.time < LEAST_TIME)?;
        Some(DataGap::Time { rank: short.rank, recorded: short.time })
    }

    /// Numbers of ranks at these positions, ascending.
    pub(super) fn numbers(&self, positions: impl IntoIterator<Item = usize>) -> Vec<u32> {
        let mut numbers: Vec<u32> = positions.into_iter().map(|at| self.job.ranks[at].rank).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The kind of the operation of a call, or the name of other work.
    pub(super) fn name_of<'a>(&'a self, graph: &'a RankGraph, node: u32) -> &'a str {
        match graph.call(node) {
            Some(call) => {
                let meeting = &self.graph.meetings[call.meeting as usize];
                self.job.signatures[meeting.signature as usize].kind.name()
            }
            None => graph.name(&graph.work.nodes[node as usize]),
        }
    }

    /// Length of the median step in picoseconds, from begin to begin. `None` without two steps.
    pub(super) fn median_step_ps(&self) -> Option<i64> {
        let starts = self.steps.windows(2).map(|pair| pair[1].start_ps.saturating_sub(pair[0].start_ps));
        upper_median(starts.collect(), i64::cmp)
    }

    /// Whether a call of the rank that its trace lacks lies in the gap before a node.
    pub(super) fn lacks_call(&self, rank: usize, node: u32, gap_ps: i64) -> bool {
        let end_ps = self.graph.ranks[rank].work.nodes[node as usize].start_ps;
        let gap = Interval::new(end_ps.saturating_sub(gap_ps), end_ps);
        self.coverage.absent[rank].iter().any(|absent| absent.overlaps(gap.start.0, gap.end.0))
    }

    /// For each operation the usual time of its transfer.
    pub(super) fn usual_transfers(&self) -> Vec<UsualTime> {
        usual_transfers(self.job, &self.report.operations)
    }
}

/// The start of the slice with which a rank has worked for longer than `least_ps`, or for longer
/// than [`BEGUN_WORK`] of its work. `None` if it never does. Time in which a slice waits is no
/// work.
fn begin_ps(rank: &RankGraph, edges: &RankEdges, least_ps: i64) -> Option<i64> {
    let all_ps = worked(rank, edges).map(|(_, ps)| ps).fold(0, i64::saturating_add);
    let least_ps = least_ps.min((all_ps as f64 * BEGUN_WORK) as i64);
    let mut worked_ps = 0_i64;
    let begin = worked(rank, edges).find(|(_, ps)| {
        worked_ps = worked_ps.saturating_add(*ps);
        worked_ps > least_ps
    });
    begin.map(|(start_ps, _)| start_ps)
}

/// For each slice of the devices of a rank that works its start and the time of its work, in
/// picoseconds.
fn worked<'g>(rank: &'g RankGraph, edges: &'g RankEdges) -> impl Iterator<Item = (i64, i64)> + 'g {
    let works = |(_, node): &(u32, &WorkNode)| {
        let class = rank.classes[node.class as usize];
        class.side == MachineSide::Device && !class.waits && rank.is_recorded(node)
    };
    let mut worked_from = edges.worked_from();
    (0_u32..).zip(&rank.work.nodes).filter(works).map(move |(at, node)| {
        let from_ps = worked_from.next_ps(at, node);
        (node.start_ps, node.end_ps().saturating_sub(from_ps).max(0))
    })
}

//! The truth about a simulated job: its length, the share of it that computes, and the cost of each
//! planted cause.

use nprof_engine::base::{Interval, Result};

use super::Detail;
use super::extent::PhaseExtent;
use super::fault::{Effects, FaultKind, PlantedFault};
use super::job::{RankMeeting, SimulatedJob};
use super::plan::{BeginPlan, EndPlan, EngineRun, MovePlan, PlanSink, SetupPlan, TilePlan};
use super::queue::Move;

/// The truth about a job. Times in picoseconds since the profile's origin.
#[derive(Debug, Clone, PartialEq)]
pub struct JobTruth {
    /// From the first to the last work of all ranks.
    pub span: Interval,
    /// Length of the job without any planted cause.
    pub sound_ps: i64,
    /// Share of this length in which a rank computes, on average over the ranks: at least one of
    /// its Tensor, Vector, Scalar and GpSimd engines works.
    pub computing: f64,
    /// The planted causes.
    pub causes: Vec<PlantedCause>,
    /// The steps, from the first work of a rank in each to the last.
    pub steps: Vec<Interval>,
}

/// A planted cause and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedCause {
    /// The cause.
    pub fault: PlantedFault,
    /// Track on which it shows, if it shows on one.
    pub track: Option<&'static str>,
    /// From its first to its last effect. `None` if the recording ends before it acts.
    pub span: Option<Interval>,
    /// Number of times that it acts, over all ranks.
    pub times: u64,
    /// Length of the job less its length without this cause.
    pub cost_ps: i64,
}

impl SimulatedJob {
    /// The truth about the job, which is run once more without each cause.
    pub fn truth(&self) -> Result<JobTruth> {
        let mut whole = MeasuredWork::default();
        let mut busy_ps = 0;
        for rank in 0..self.settings().ranks {
            let measured = self.measure(rank)?;
            busy_ps += measured.busy_ps;
            whole.add(&measured);
        }
        let length = whole.span().duration_ps();
        let mut causes = Vec::new();
        for (at, &fault) in self.faults().iter().enumerate() {
            let mut others = self.faults().to_vec();
            others.remove(at);
            let effect = whole.effects[fault.kind as usize];
            causes.push(PlantedCause {
                fault,
                track: track_of(fault.kind),
                span: effect.span,
                times: effect.times,
                cost_ps: length - Self::with(self.settings(), others)?.length()?,
            });
        }
        let all = f64::from(self.settings().ranks) * float(length.max(1));
        let sound_ps = Self::with(self.settings(), Vec::new())?.length()?;
        Ok(JobTruth {
            span: whole.span(),
            sound_ps,
            computing: float(busy_ps) / all,
            causes,
            steps: whole.steps,
        })
    }

    /// Time from the first to the last work of all ranks.
    fn length(&self) -> Result<i64> {
        let mut whole = MeasuredWork::default();
        for rank in 0..self.settings().ranks {
            whole.add(&self.measure(rank)?);
        }
        Ok(whole.span().duration_ps())
    }

    fn measure(&self, rank: u32) -> Result<MeasuredWork> {
        let mut measure = RankMeasure {
            effects: Effects::new(self.faults(), rank),
            detail: self.settings().detail,
            measured: MeasuredWork::default(),
            began: 0,
            saved: 0,
            busy: Vec::new(),
        };
        self.run(rank, &mut measure, &mut |extent, meeting, measure| {
            measure.met(extent, meeting);
            Ok(())
        })?;
        measure.settle();
        if measure.effects.is_slow() {
            let span = measure.measured.span();
            measure.measured.acts(FaultKind::SlowRank, span);
        }
        Ok(measure.measured)
    }
}

/// Track on which a cause shows.
fn track_of(kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::DmaLate | FaultKind::LateRank | FaultKind::HostBlock => Some("Engines/Sync"),
        FaultKind::SlowRank | FaultKind::Pause => None,
        FaultKind::SlowLink => Some("Collectives/Stream 0"),
        FaultKind::Throttle => Some("Throttling"),
        FaultKind::Spill | FaultKind::Reload => Some("DMA/qSyncSpillReload0 · Q3/Transfers"),
        FaultKind::WeightsReloaded => Some("DMA/qSyncIO0 · Q1/Transfers"),
        FaultKind::OutOfBounds => Some("DMA/qSyncIn0 · Q2/Transfers"),
    }
}

/// Span and number of effects of a kind of cause.
#[derive(Debug, Clone, Copy, Default)]
struct CauseEffect {
    span: Option<Interval>,
    times: u64,
}

/// The work of one rank, or of all.
#[derive(Debug, Clone, Default)]
struct MeasuredWork {
    span: Option<Interval>,
    busy_ps: i64,
    effects: [CauseEffect; FaultKind::ALL.len()],
    steps: Vec<Interval>,
}

/// The span of both.
fn joined(first: Option<Interval>, second: Interval) -> Interval {
    first.map_or(second, |first| {
        Interval::new(first.start.0.min(second.start.0), first.end.0.max(second.end.0))
    })
}

impl MeasuredWork {
    fn span(&self) -> Interval {
        self.span.unwrap_or_default()
    }

    fn acts(&mut self, kind: FaultKind, span: Interval) {
        let effect = &mut self.effects[kind as usize];
        *effect = CauseEffect { span: Some(joined(effect.span, span)), times: effect.times + 1 };
    }

    fn add(&mut self, other: &Self) {
        self.span = other.span.map(|span| joined(self.span, span)).or(self.span);
        for (effect, other) in self.effects.iter_mut().zip(&other.effects) {
            effect.span = other.span.map(|span| joined(effect.span, span)).or(effect.span);
            effect.times += other.times;
        }
        for (step, &span) in other.steps.iter().enumerate() {
            match self.steps.get_mut(step) {
                Some(own) => *own = joined(Some(*own), span),
                None => self.steps.push(span),
            }
        }
    }
}

/// Measures a rank.
struct RankMeasure {
    effects: Effects,
    detail: Detail,
    measured: MeasuredWork,
    /// Beginning of the phase, and of what is saved in it.
    began: i64,
    saved: i64,
    /// Work of the computing engines in the phase.
    busy: Vec<Interval>,
}

impl RankMeasure {
    fn worked(&mut self, span: Interval) {
        if self.detail == Detail::Full {
            self.extend(span);
        }
    }

    fn extend(&mut self, span: Interval) {
        self.measured.span = Some(joined(self.measured.span, span));
        if let Some(step) = self.measured.steps.last_mut() {
            *step = joined(Some(*step), span);
        }
    }

    fn computed(&mut self, runs: &[EngineRun]) {
        for run in runs {
            self.worked(run.span);
            if self.detail == Detail::Full {
                self.busy.push(run.span);
            }
        }
    }

    fn moved(&mut self, plan: &MovePlan) {
        self.worked(plan.trigger.span);
        self.worked(plan.span);
        match plan.kind {
            Move::Save => self.saved = plan.span.start.0,
            Move::Reload => {
                let span = Interval::new(self.saved, plan.span.end.0);
                let causes =
                    [(FaultKind::Spill, self.effects.spills()), (FaultKind::Reload, self.effects.reloads())];
                causes.iter().filter(|(_, acts)| *acts).for_each(|(kind, _)| self.measured.acts(*kind, span));
            }
            Move::Weights if self.effects.reloads_weights() => {
                self.measured.acts(FaultKind::WeightsReloaded, plan.span);
            }
            _ => {}
        }
    }

    /// Adds up the work of the phase.
    fn settle(&mut self) {
        self.busy.sort_unstable_by_key(|span| span.start);
        let mut until = i64::MIN;
        for span in self.busy.drain(..) {
            self.measured.busy_ps += (span.end.0 - span.start.0.max(until)).max(0);
            until = until.max(span.end.0);
        }
    }

    fn met(&mut self, extent: &PhaseExtent, meeting: &RankMeeting) {
        let operation = Interval::new(meeting.arrival, meeting.end);
        self.extend(operation);
        if self.detail == Detail::Collectives {
            let work = Interval::new(self.began, meeting.arrival);
            self.extend(work);
            self.busy.push(work);
        }
        if self.effects.has_slow_link() {
            self.measured.acts(FaultKind::SlowLink, Interval::new(meeting.last_arrival, meeting.end));
        }
        if self.effects.is_throttled(&extent.place) {
            self.measured.acts(FaultKind::Throttle, Interval::new(self.began, meeting.arrival));
        }
    }
}

impl PlanSink for RankMeasure {
    fn setup(&mut self, plan: &SetupPlan) -> Result<()> {
        plan.moves.iter().for_each(|moved| self.moved(moved));
        Ok(())
    }

    fn begin(&mut self, plan: &BeginPlan) -> Result<()> {
        self.settle();
        self.began = plan.start;
        if let Some(run) = plan.host {
            let start = run.span.start.0;
            self.began = start;
            self.measured.steps.push(Interval::lasting(start, 0));
            self.worked(run.span);
            for (kind, late) in [
                (FaultKind::LateRank, self.effects.late_host_ps()),
                (FaultKind::HostBlock, self.effects.blocked_host_ps(&plan.place)),
            ] {
                if late > 0 {
                    self.measured.acts(kind, Interval::new(start - late, start));
                }
            }
        }
        self.moved(&plan.input);
        if plan.is_out_of_bounds {
            self.measured.acts(FaultKind::OutOfBounds, plan.input.span);
        }
        Ok(())
    }

    fn tile(&mut self, plan: &TilePlan) -> Result<()> {
        if let Some(run) = plan.pace {
            self.worked(run.span);
            if plan.is_late {
                self.measured.acts(FaultKind::DmaLate, run.span);
            }
        }
        if let Some(pause) = plan.pause {
            self.measured.acts(FaultKind::Pause, pause);
        }
        plan.moves.iter().for_each(|moved| self.moved(moved));
        self.worked(plan.weights_wait.span);
        self.computed(&plan.loads);
        self.computed(&plan.products);
        self.computed(&plan.activations);
        self.computed(&plan.vectors);
        self.computed(&[plan.gpsimd]);
        Ok(())
    }

    fn end(&mut self, plan: &EndPlan) -> Result<()> {
        self.moved(&plan.output);
        plan.barrier.iter().for_each(|run| self.worked(run.span));
        self.worked(plan.clear.span);
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "shares need no more")]
fn float(number: i64) -> f64 {
    number as f64
}

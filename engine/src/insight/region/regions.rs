//! All regions of a rank: its steps, and what marks tell beside them.

use super::pace::StepPace;
use super::program_order::ProgramOrder;
use super::step::{NoSteps, StepOrigin, StepShape, WorkStep, WorkSteps};
use super::steps::{steps, steps_of_orders};
use crate::base::{ClockFit, Interval, Result};
use crate::exec::Cancel;
use crate::model::{MachineSide, MarkKind, RankWork, WorkMark};

/// Time of a prefill relative to that of a usual step, at least.
const LEAST_PREFILL: f64 = 1.5;
/// Kernels of a prefill relative to those of a step that decodes a token: the model is the same.
const PREFILL_NODES: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Steps that decode behind one prefill, at least.
const LEAST_DECODES: usize = 8;

/// The meaning of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// One step of the outermost loop.
    Iteration,
    /// A layer of the model.
    Layer,
    /// Another part of the run.
    Phase,
    /// A span that a user named.
    User,
}

impl RegionKind {
    /// The word for people and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Layer => "layer",
            Self::Phase => "phase",
            Self::User => "user",
        }
    }
}

/// A named span of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRegion {
    /// The meaning.
    pub kind: RegionKind,
    /// The name of its mark, else the kind and a number from 0.
    pub name: String,
    /// Its times.
    pub span: Interval,
    /// How it is known.
    pub origin: StepOrigin,
    /// Position among the steps, if it is one.
    pub step: Option<usize>,
}

/// The regions of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRegions {
    /// The steps, or why there are none.
    pub steps: std::result::Result<WorkSteps, NoSteps>,
    /// All regions: steps, layers, phases, each by start.
    pub all: Vec<RankRegion>,
}

impl RankRegions {
    /// The regions of a rank on the clock of its work.
    pub fn of(work: &RankWork, marks: &[WorkMark], cancel: Cancel<'_>) -> Result<Self> {
        let mut steps = steps(work, marks, cancel)?;
        let mut all: Vec<RankRegion> = Vec::new();
        if let Ok(found) = &mut steps {
            let prefills = prefills(found);
            prefills.iter().for_each(|at| found.all[*at].shape = StepShape::Prefill);
            let found = &*found;
            let region = |(at, step): (usize, &WorkStep)| RankRegion {
                kind: RegionKind::Iteration,
                name: step.name.clone(),
                span: step.span,
                origin: found.origin,
                step: Some(at),
            };
            all.extend(found.all.iter().enumerate().map(region));
            all.extend(match prefills.is_empty() {
                false => generation(found, &prefills),
                true => generation_in_steps(work, found, cancel)?,
            });
        }
        for kind in [MarkKind::Layer, MarkKind::Phase] {
            all.extend(marked(marks, kind));
        }
        all.sort_by_key(|region| (region.kind, region.span.start));
        Ok(Self { steps, all })
    }

    /// The same regions on another clock.
    #[must_use]
    pub fn on(mut self, clock: ClockFit) -> Self {
        let shared = |span: &mut Interval| {
            *span = Interval::new(clock.to_shared(span.start).0, clock.to_shared(span.end).0);
        };
        self.all.iter_mut().for_each(|region| shared(&mut region.span));
        if let Ok(steps) = &mut self.steps {
            for step in &mut steps.all {
                shared(&mut step.span);
                step.mark.iter_mut().for_each(shared);
            }
        }
        self
    }
}

/// Regions of marks. Marks of the device stand for those of the host that have the same name.
fn marked(marks: &[WorkMark], kind: MarkKind) -> Vec<RankRegion> {
    let of_kind = || marks.iter().filter(|mark| mark.kind == kind);
    let on_device: std::collections::BTreeSet<&str> =
        of_kind().filter(|mark| mark.side == MachineSide::Device).map(|mark| mark.name.as_str()).collect();
    let is_shown =
        |mark: &&WorkMark| mark.side == MachineSide::Device || !on_device.contains(mark.name.as_str());
    let region = |mark: &WorkMark| RankRegion {
        kind: if kind == MarkKind::Layer { RegionKind::Layer } else { RegionKind::Phase },
        name: mark.name.clone(),
        span: mark.span,
        origin: StepOrigin::Marks,
        step: None,
    };
    of_kind().filter(is_shown).map(region).collect()
}

/// Prefill and decode of each request, if the steps are requests to a model that generates text.
/// Requests of one length repeat as a whole, so the tokens repeat within them.
fn generation_in_steps(work: &RankWork, steps: &WorkSteps, cancel: Cancel<'_>) -> Result<Vec<RankRegion>> {
    let orders = ProgramOrder::all(work);
    let mut all = Vec::new();
    for step in steps.all.iter().filter(|step| step.shape != StepShape::Cut) {
        let orders: Vec<ProgramOrder> = orders.iter().map(|order| order.within(work, step.span)).collect();
        let phases = match steps_of_orders(work, &orders, cancel)? {
            Ok(inner) => generation(&inner, &prefills(&inner)),
            Err(_) => Vec::new(),
        };
        if phases.is_empty() {
            return Ok(Vec::new());
        }
        all.extend(phases);
    }
    Ok(all)
}

/// The prefills of a model that generates text: longer steps with as many kernels, of which some
/// have other names, and many short ones behind each. Empty if there are none.
fn prefills(steps: &WorkSteps) -> Vec<usize> {
    let usual = steps.all.iter().filter(|step| step.shape == StepShape::Usual).map(|step| step.nodes).max();
    let (Some(nodes), StepOrigin::Order) = (usual, steps.origin) else { return Vec::new() };
    let is_prefill = |step: &WorkStep| {
        step.shape == StepShape::Unlike
            && matches!(step.pace, StepPace::Slow | StepPace::WarmUp)
            && PREFILL_NODES.contains(&(step.nodes as f64 / nodes as f64))
            && step.duration_ps() as f64 >= LEAST_PREFILL * steps.median_ps as f64
    };
    let found: Vec<usize> = (0..steps.all.len()).filter(|&at| is_prefill(&steps.all[at])).collect();
    let ends = found.iter().skip(1).copied().chain([steps.all.len()]);
    let decode = found.iter().zip(ends).all(|(at, end)| end - at > LEAST_DECODES);
    if decode { found } else { Vec::new() }
}

/// The phases of these prefills.
fn generation(steps: &WorkSteps, prefills: &[usize]) -> Vec<RankRegion> {
    let phase = |name: &str, span: Interval| RankRegion {
        kind: RegionKind::Phase,
        name: name.to_owned(),
        span,
        origin: StepOrigin::Order,
        step: None,
    };
    let ends = prefills.iter().skip(1).copied().chain([steps.all.len()]);
    let of = |(&at, end): (&usize, usize)| {
        let decode = steps.all[at + 1].span.cover(steps.all[end - 1].span);
        [phase("prefill", steps.all[at].span), phase("decode", decode)]
    };
    prefills.iter().zip(ends).flat_map(of).collect()
}

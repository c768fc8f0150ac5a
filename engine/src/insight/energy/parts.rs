//! The parts of a quantity that grows with time, such as energy or time itself: work by its name,
//! waits, and idle time.

use super::RankPower;
use crate::base::Interval;

/// A piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkSpan {
    /// Its span in picoseconds.
    pub span: Interval,
    /// Number of its name.
    pub name: u32,
}

/// A part of the time of a device without work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EnergyPart {
    /// Work runs, and all that runs only waits: for other ranks, or for other queues.
    Waiting,
    /// Nothing runs until a host has launched the next work.
    Launch,
    /// Nothing runs between the first and the last work, and nothing says why.
    Idle,
    /// Before the first work, and after the last.
    Outside,
}

impl EnergyPart {
    /// All parts, in display order.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Launch, Self::Idle, Self::Outside];

    /// Name for JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Launch => "launch",
            Self::Idle => "idle",
            Self::Outside => "outside",
        }
    }

    /// The part for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Waiting => "in calls and instructions that wait",
            Self::Launch => "idle until its host launched work",
            Self::Idle => "idle for no known reason",
            Self::Outside => "idle before its first work and after its last",
        }
    }
}

/// A span without work whose reason is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestSpan {
    /// The span in picoseconds.
    pub span: Interval,
    /// The reason. Work that runs meanwhile goes before it.
    pub part: EnergyPart,
}

/// The parts of a quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartTotals {
    /// The quantity of the work of each name, by the number of the name.
    pub work: Vec<f64>,
    /// The quantity of each part without work, in the order of [`EnergyPart::ALL`].
    pub rest: [f64; EnergyPart::ALL.len()],
}

impl PartTotals {
    /// All work.
    #[must_use]
    pub fn working(&self) -> f64 {
        self.work.iter().sum()
    }

    /// A part without work.
    #[must_use]
    pub fn of(&self, part: EnergyPart) -> f64 {
        self.rest[part as usize]
    }

    /// All parts together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.working() + self.rest.iter().sum::<f64>()
    }

    /// The parts of the energy of a power.
    #[must_use]
    pub fn of_energy(power: &RankPower, work: &[WorkSpan], rests: &[RestSpan]) -> Self {
        Self::of_quantity(power.span(), |time_ps| power.joules_until(time_ps), work, rests)
    }

    /// The parts of a span of time, in picoseconds.
    #[must_use]
    pub fn of_time(span: Interval, work: &[WorkSpan], rests: &[RestSpan]) -> Self {
        let passed = |time_ps: i64| time_ps.saturating_sub(span.start.0) as f64;
        Self::of_quantity(span, passed, work, rests)
    }

    /// The parts of a quantity that has grown to `until(t)` at the time `t`. Pieces of work that
    /// run at once get equal parts of it.
    fn of_quantity(
        span: Interval,
        until: impl Fn(i64) -> f64,
        work: &[WorkSpan],
        rests: &[RestSpan],
    ) -> Self {
        let names = work.iter().map(|piece| piece.name as usize + 1).max().unwrap_or(0);
        let mut totals = Self { work: vec![0.0; names], rest: [0.0; EnergyPart::ALL.len()] };
        let mut sweep = PartSweep::of(span, work, rests);
        let mut began = vec![0.0; work.len()];
        let (mut shared, mut at_ps, mut reached) = (0.0, span.start.0, until(span.start.0));
        for bound in std::mem::take(&mut sweep.bounds) {
            let now = until(bound.time_ps);
            match sweep.state(at_ps) {
                None => shared += (now - reached) / f64::from(sweep.working.max(1)),
                Some(part) => totals.rest[part as usize] += now - reached,
            }
            (at_ps, reached) = (bound.time_ps, now);
            match bound.change {
                BoundChange::WorkEnds(piece) => {
                    sweep.working -= 1;
                    totals.work[work[piece].name as usize] += shared - began[piece];
                }
                BoundChange::RestEnds(part) => sweep.resting[part as usize] -= 1,
                BoundChange::WorkBegins(piece) => {
                    sweep.working += 1;
                    began[piece] = shared;
                }
                BoundChange::RestBegins(part) => sweep.resting[part as usize] += 1,
                BoundChange::Nothing => {}
            }
        }
        totals
    }
}

/// A time at which something begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PartBound {
    time_ps: i64,
    change: BoundChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BoundChange {
    WorkEnds(usize),
    RestEnds(EnergyPart),
    WorkBegins(usize),
    RestBegins(EnergyPart),
    /// The begin of the first or the end of the last work, or the end of the span.
    Nothing,
}

/// A pass over all begins and ends within a span.
struct PartSweep {
    bounds: Vec<PartBound>,
    /// First and last time of work and its waits, also outside of the span.
    active: Option<Interval>,
    working: u32,
    /// Spans of each part that hold.
    resting: [u32; EnergyPart::ALL.len()],
}

impl PartSweep {
    fn of(span: Interval, work: &[WorkSpan], rests: &[RestSpan]) -> Self {
        let all = work.iter().map(|piece| piece.span).chain(rests.iter().map(|rest| rest.span));
        let active = all.reduce(Interval::cover);
        let mut bounds = Vec::with_capacity(2 * (work.len() + rests.len()) + 3);
        let mut put = |of: Interval, begins: BoundChange, ends: BoundChange| {
            let within = of.intersection(span);
            if within.duration_ps() > 0 {
                bounds.push(PartBound { time_ps: within.start.0, change: begins });
                bounds.push(PartBound { time_ps: within.end.0, change: ends });
            }
        };
        for (at, piece) in work.iter().enumerate() {
            put(piece.span, BoundChange::WorkBegins(at), BoundChange::WorkEnds(at));
        }
        for rest in rests {
            put(rest.span, BoundChange::RestBegins(rest.part), BoundChange::RestEnds(rest.part));
        }
        put(active.unwrap_or_default(), BoundChange::Nothing, BoundChange::Nothing);
        put(span, BoundChange::Nothing, BoundChange::Nothing);
        bounds.sort_unstable();
        Self { bounds, active, working: 0, resting: [0; EnergyPart::ALL.len()] }
    }

    /// The part that begins at a time. `None` if work runs.
    fn state(&self, at_ps: i64) -> Option<EnergyPart> {
        if self.working > 0 {
            return None;
        }
        let known = EnergyPart::ALL.into_iter().find(|part| self.resting[*part as usize] > 0);
        let is_active = self.active.is_some_and(|active| active.overlaps(at_ps, at_ps));
        known.or(Some(if is_active { EnergyPart::Idle } else { EnergyPart::Outside }))
    }
}

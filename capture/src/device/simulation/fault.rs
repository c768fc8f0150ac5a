//! Planted causes: what is wrong with a simulated job, and by how much it acts.

use std::fmt;
use std::str::FromStr;

use super::Simulation;
use super::place::{LayerPart, PhasePlace};
use super::queue::Move;
use super::random::mix;

/// A kind of planted cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A load of a layer is triggered late in each step, on every rank.
    DmaLate,
    /// The engines of a rank take a fifth more time for each instruction.
    SlowRank,
    /// The host of a rank starts each step late.
    LateRank,
    /// A rank stands still once.
    Pause,
    /// Each collective operation takes longer, because the links of one rank are slow.
    SlowLink,
    /// The device limits its engines in a third of the layers: of one rank, or of all.
    Throttle,
    /// The host starts the next step late, on every rank.
    HostBlock,
    /// On-chip memory is nearly full, so much more is spilled and reloaded.
    Spill,
    /// On-chip memory is nearly full, so what was spilled once is reloaded many times.
    Reload,
    /// The weights of each tile are loaded several times.
    WeightsReloaded,
    /// A transfer reads out of bounds once, reports an error and takes longer.
    OutOfBounds,
}

/// Meaning of the value of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultValue {
    Layer,
    Rank,
    /// A rank, or without a value all or the first of them.
    MaybeRank,
    None,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::DmaLate,
        Self::SlowRank,
        Self::LateRank,
        Self::Pause,
        Self::SlowLink,
        Self::Throttle,
        Self::HostBlock,
        Self::Spill,
        Self::Reload,
        Self::WeightsReloaded,
        Self::OutOfBounds,
    ];

    /// Name of the kind in options and in the truth.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DmaLate => "dma-late",
            Self::SlowRank => "slow-rank",
            Self::LateRank => "late-rank",
            Self::Pause => "pause",
            Self::SlowLink => "slow-link",
            Self::Throttle => "throttle",
            Self::HostBlock => "host-block",
            Self::Spill => "spill",
            Self::Reload => "reload",
            Self::WeightsReloaded => "weights-reloaded",
            Self::OutOfBounds => "out-of-bounds",
        }
    }

    fn value(self) -> FaultValue {
        match self {
            Self::DmaLate => FaultValue::Layer,
            Self::SlowRank | Self::LateRank | Self::Pause | Self::SlowLink => FaultValue::Rank,
            Self::Throttle | Self::OutOfBounds => FaultValue::MaybeRank,
            Self::HostBlock | Self::Spill | Self::Reload | Self::WeightsReloaded => FaultValue::None,
        }
    }

    /// Form of the fault as an option, such as `pause=RANK`.
    #[must_use]
    pub fn form(self) -> String {
        let value = match self.value() {
            FaultValue::Layer => "=LAYER",
            FaultValue::Rank => "=RANK",
            FaultValue::MaybeRank => "[=RANK]",
            FaultValue::None => "",
        };
        format!("{}{value}", self.name())
    }
}

/// A planted cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlantedFault {
    /// Kind of the cause.
    pub kind: FaultKind,
    /// The rank, or the layer of [`FaultKind::DmaLate`].
    pub value: Option<u32>,
}

impl PlantedFault {
    /// The rank that the cause acts on. `None`: all ranks.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        match self.kind {
            FaultKind::DmaLate => None,
            FaultKind::OutOfBounds => Some(self.value.unwrap_or(0)),
            _ => self.value,
        }
    }

    /// The layer that the cause acts in. `None`: all layers.
    #[must_use]
    pub fn layer(&self) -> Option<u32> {
        self.value.filter(|_| self.kind == FaultKind::DmaLate)
    }

    /// Whether a job has the rank or the layer that the fault names.
    #[must_use]
    pub fn fits(&self, settings: &Simulation) -> bool {
        let limit = if self.kind == FaultKind::DmaLate { settings.layers } else { settings.ranks };
        let has_links = self.kind != FaultKind::SlowLink || settings.ranks > 1;
        has_links && self.value.is_none_or(|value| value < limit)
    }

    fn is_on(&self, rank: u32) -> bool {
        self.rank().is_none_or(|of| of == rank)
    }
}

impl fmt::Display for PlantedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}={value}", self.kind.name()),
            None => f.write_str(self.kind.name()),
        }
    }
}

impl FromStr for PlantedFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let forms = FaultKind::ALL.map(FaultKind::form).join(", ");
            return Err(format!("there is no fault {name:?}; there are {forms}, none"));
        };
        let number = value.map(|value| value.parse::<u32>().map_err(|_| format!("{value:?} is no number")));
        let value = number.transpose()?;
        match (kind.value(), value) {
            (FaultValue::Layer | FaultValue::Rank, None) | (FaultValue::None, Some(_)) => {
                Err(format!("the form is {}", kind.form()))
            }
            _ => Ok(Self { kind, value }),
        }
    }
}

/// The causes that the seed plants in a job for which none were chosen: a slow rank, if there are
/// several, and a little of what else a device shows.
pub(super) fn of_seed(settings: &Simulation) -> Vec<PlantedFault> {
    let slow = u32::try_from(mix(settings.seed) % u64::from(settings.ranks.max(1))).unwrap_or(0);
    let of = |kind, value| PlantedFault { kind, value };
    let mut faults = vec![of(FaultKind::Throttle, None), of(FaultKind::OutOfBounds, None)];
    if settings.ranks > 1 {
        faults.insert(0, of(FaultKind::SlowRank, Some(slow)));
    }
    faults
}

/// A share of the full speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EnginePace {
    numerator: i64,
    denominator: i64,
}

impl EnginePace {
    const FULL: Self = Self { numerator: 1, denominator: 1 };

    fn slower(self, other: Self) -> Self {
        Self {
            numerator: self.numerator * other.numerator,
            denominator: self.denominator * other.denominator,
        }
    }

    /// The time at this speed for work that takes `duration` at full speed.
    pub(super) fn of(self, duration: i64) -> i64 {
        duration * self.denominator / self.numerator
    }
}

/// Steps of the peak that a throttled device is allowed, of [`THROTTLED_OF`].
pub(super) const THROTTLED_TO: i64 = 7;
pub(super) const THROTTLED_OF: i64 = 8;

const SLOW: EnginePace = EnginePace { numerator: 5, denominator: 6 };
const THROTTLED: EnginePace = EnginePace { numerator: THROTTLED_TO, denominator: THROTTLED_OF };

/// How long a trigger comes late, a rank stands still, a host comes late to one rank or to all, and
/// a transfer stalls after an error.
const LATE_TRIGGER_PS: i64 = 40_000_000;
const PAUSE_PS: i64 = 300_000_000;
const LATE_HOST_PS: i64 = 80_000_000;
const BLOCKED_HOST_PS: i64 = 150_000_000;
const ERROR_PS: i64 = 8_000_000;

/// Factor of the time of a collective operation over a slow link.
const SLOW_LINK: i64 = 3;
/// Factor of the bytes of a spill if on-chip memory is nearly full.
const MANY_SPILLS: i64 = 12;
/// Number of times that what was spilled is reloaded.
const MANY_RELOADS: i64 = 24;
/// Number of times that weights are loaded.
const MANY_LOADS: i64 = 8;

/// Phases, counted over the job, in which the causes act that act once.
const PAUSED_PHASE: u64 = 3;
const ERROR_PHASE: u64 = 1;
/// Tile at whose start a rank stands still.
pub(super) const PAUSED_TILE: i64 = 4;

/// The causes of a job as they act on one rank.
#[derive(Debug, Clone)]
pub(super) struct Effects {
    rank: u32,
    faults: Vec<PlantedFault>,
}

impl Effects {
    pub(super) fn new(faults: &[PlantedFault], rank: u32) -> Self {
        let faults = faults.iter().copied().filter(|fault| {
            // A slow link delays every rank.
            fault.is_on(rank) || fault.kind == FaultKind::SlowLink
        });
        Self { rank, faults: faults.collect() }
    }

    fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }

    fn count(&self, kind: FaultKind) -> i64 {
        self.faults.iter().map(|fault| i64::from(fault.kind == kind)).sum()
    }

    pub(super) fn is_throttled(&self, place: &PhasePlace) -> bool {
        self.has(FaultKind::Throttle) && place.layer.is_multiple_of(3)
    }

    /// Speed of the engines in a phase.
    pub(super) fn pace(&self, place: &PhasePlace) -> EnginePace {
        let mut pace = EnginePace::FULL;
        if self.has(FaultKind::SlowRank) {
            pace = pace.slower(SLOW);
        }
        if self.is_throttled(place) {
            pace = pace.slower(THROTTLED);
        }
        pace
    }

    /// Time by which the host of this rank starts a step late.
    pub(super) fn late_host_ps(&self) -> i64 {
        self.count(FaultKind::LateRank) * LATE_HOST_PS
    }

    /// Time by which the hosts of all ranks start a step late.
    pub(super) fn blocked_host_ps(&self, place: &PhasePlace) -> i64 {
        if place.step > 0 { self.count(FaultKind::HostBlock) * BLOCKED_HOST_PS } else { 0 }
    }

    /// Time that the trigger of a load of this phase comes late.
    pub(super) fn late_trigger_ps(&self, place: &PhasePlace) -> i64 {
        let is_late =
            |fault: &&PlantedFault| fault.kind == FaultKind::DmaLate && fault.value == Some(place.layer);
        let number = self.faults.iter().filter(is_late).count();
        let of_part = i64::from(place.part == LayerPart::Attention);
        i64::try_from(number).unwrap_or(0) * of_part * LATE_TRIGGER_PS
    }

    /// Time for which all engines stand still at [`PAUSED_TILE`] of this phase.
    pub(super) fn pause_ps(&self, place: &PhasePlace) -> i64 {
        let times = self.count(FaultKind::Pause);
        if place.number == PAUSED_PHASE { times * PAUSE_PS } else { 0 }
    }

    /// Time that the error of the first transfer of this phase costs it, if it has one.
    pub(super) fn error_ps(&self, place: &PhasePlace) -> Option<i64> {
        (self.has(FaultKind::OutOfBounds) && place.number == ERROR_PHASE).then_some(ERROR_PS)
    }

    pub(super) fn is_slow(&self) -> bool {
        self.has(FaultKind::SlowRank)
    }

    pub(super) fn has_error(&self) -> bool {
        self.has(FaultKind::OutOfBounds)
    }

    /// Bytes of a transfer. A transfer that moves its data several times is a single one: the
    /// numbers of events do not depend on causes.
    pub(super) fn bytes_of(&self, kind: Move) -> i64 {
        let spilled = if self.spills() { MANY_SPILLS } else { 1 };
        kind.bytes()
            * match kind {
                Move::Save => spilled,
                Move::Reload if self.reloads() => spilled * MANY_RELOADS,
                Move::Reload => spilled,
                Move::Weights if self.reloads_weights() => MANY_LOADS,
                Move::Weights | Move::Input | Move::Output => 1,
            }
    }

    pub(super) fn spills(&self) -> bool {
        self.has(FaultKind::Spill)
    }

    pub(super) fn reloads(&self) -> bool {
        self.has(FaultKind::Reload)
    }

    pub(super) fn reloads_weights(&self) -> bool {
        self.has(FaultKind::WeightsReloaded)
    }

    /// Factor of the time of collective operations.
    pub(super) fn link_factor(&self) -> i64 {
        if self.has(FaultKind::SlowLink) { SLOW_LINK } else { 1 }
    }

    /// Whether the links of this rank are the slow ones.
    pub(super) fn has_slow_link(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind == FaultKind::SlowLink && fault.is_on(self.rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in
            ["dma-late=3", "slow-rank=0", "throttle", "throttle=1", "host-block", "spill", "weights-reloaded"]
        {
            assert_eq!(text.parse::<PlantedFault>().map(|fault| fault.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_the_forms() {
        let refused = |text: &str| text.parse::<PlantedFault>().unwrap_err();
        let message = refused("nonsense");
        for kind in FaultKind::ALL {
            assert!(message.contains(&kind.form()), "{message}");
        }
        assert_eq!(refused("pause"), "the form is pause=RANK");
        assert_eq!(refused("spill=1"), "the form is spill");
        assert_eq!(refused("pause=x"), "\"x\" is no number");
    }
}

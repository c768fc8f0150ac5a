//! The phases of the program, their times on each rank, and the times at which ranks meet.
//!
//! A phase ends with a collective operation that no rank leaves before the last one has arrived.
//! The working time of a rank in a phase follows from the seed, the rank and the phase alone. Each
//! rank can therefore be captured by itself and still agrees with the others on every meeting. The
//! cost is a few operations per rank and phase.

use super::Simulation;
use super::random::{SplitMix, mix};

/// The parts of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerPart {
    Attention,
    Mlp,
}

impl LayerPart {
    pub(super) const ALL: [Self; 2] = [Self::Attention, Self::Mlp];

    /// Number of tiles that are worked off one after another.
    pub(super) fn steps(self) -> i64 {
        match self {
            Self::Attention => 16,
            Self::Mlp => 24,
        }
    }

    /// Bytes of the collective operation on each rank.
    pub(super) fn collective_bytes(self) -> i64 {
        match self {
            Self::Attention => 8 << 20,
            Self::Mlp => 16 << 20,
        }
    }

    pub(super) fn collective(self) -> &'static str {
        match self {
            Self::Attention => "AllGather",
            Self::Mlp => "AllReduce",
        }
    }
}

/// Throttling of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Throttle {
    Free,
    /// Throttled to seven eighths of its speed.
    Limited,
}

/// One phase on one rank. Times in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankPhase {
    pub(super) number: u64,
    pub(super) layer: u32,
    pub(super) part: LayerPart,
    pub(super) throttle: Throttle,
    pub(super) start: i64,
    /// Time at which this rank has done its work and enters the collective operation.
    pub(super) arrival: i64,
    /// Time at which the last rank arrives.
    pub(super) last_arrival: i64,
    /// Time at which the operation ends, on all ranks.
    pub(super) end: i64,
}

/// Time for a tile if nothing slows the device down.
const STEP_PS: i64 = 3_600_000;
/// Time between two iterations, in which the host prepares the next batch.
const HOST_PS: i64 = 20_000_000;
/// Time before the first phase, in which the engines set themselves up.
pub(super) const SETUP_PS: i64 = 10_000_000;
/// Picoseconds for 1024 bytes. A rank's links to the others carry 64 GB/s.
const LINK_PS_PER_KIB: i64 = 16_000;

/// All phases, seen from one rank.
#[derive(Debug)]
pub(super) struct RankSchedule<'s> {
    settings: &'s Simulation,
    rank: u32,
    number: u64,
    now: i64,
}

impl<'s> RankSchedule<'s> {
    pub(super) fn new(settings: &'s Simulation, rank: u32) -> Self {
        Self { settings, rank, number: 0, now: SETUP_PS }
    }

    pub(super) fn next(&mut self) -> RankPhase {
        let number = self.number;
        let parts = LayerPart::ALL.len() as u64;
        let part = if number.is_multiple_of(parts) { LayerPart::Attention } else { LayerPart::Mlp };
        let layers = u64::from(self.settings.layers);
        let layer = u32::try_from(number / parts % layers).unwrap_or(0);
        if number > 0 && number.is_multiple_of(parts * layers) {
            self.now += HOST_PS;
        }
        let start = self.now;
        let (own, throttle) = work(self.settings, self.rank, number, part);
        let longest = (0..self.settings.ranks).map(|rank| work(self.settings, rank, number, part).0).max();
        let last_arrival = start + longest.unwrap_or(own);
        let end = last_arrival + exchange_ps(self.settings.ranks, part);
        self.number += 1;
        self.now = end;
        RankPhase { number, layer, part, throttle, start, arrival: start + own, last_arrival, end }
    }
}

/// Working time and throttling of a rank in a phase.
fn work(settings: &Simulation, rank: u32, phase: u64, part: LayerPart) -> (i64, Throttle) {
    let mut random = SplitMix::new(settings.seed ^ mix((u64::from(rank) << 40) ^ phase));
    // One step more than there are tiles: in it the engines behind the Tensor engine finish the
    // last tile.
    let free = STEP_PS * (part.steps() + 1);
    let mut work = free + random.part(free, 0, 20);
    if Some(rank) == straggler(settings) {
        work += free / 10;
    }
    let throttle = if random.next().is_multiple_of(8) { Throttle::Limited } else { Throttle::Free };
    match throttle {
        Throttle::Free => (work, throttle),
        Throttle::Limited => (work * 8 / 7, throttle),
    }
}

/// The slowest rank, if there are several.
pub(super) fn straggler(settings: &Simulation) -> Option<u32> {
    let of_seed = mix(settings.seed) % u64::from(settings.ranks.max(1));
    settings.straggler.or(u32::try_from(of_seed).ok()).filter(|_| settings.ranks > 1)
}

/// Time on the links. Each rank sends its share to the others, in an all-reduce there and back.
fn exchange_ps(ranks: u32, part: LayerPart) -> i64 {
    let ranks = i64::from(ranks);
    let rounds = match part {
        LayerPart::Attention => ranks - 1,
        LayerPart::Mlp => 2 * (ranks - 1),
    };
    part.collective_bytes() / 1024 * LINK_PS_PER_KIB / ranks * rounds
}

//! The phases that a capture has room for, the same on all ranks.
//!
//! The numbers of events do not depend on planted causes, so a job with and without a cause ends
//! with the same work.

use super::device_tracks::{ADVANCES, CORES};
use super::op::{ACTIVATIONS, BARRIER, GPSIMD, PACED_TILE};
use super::place::{LayerPart, PhasePlace};
use super::queue::{AHEAD, GROUP, Move, NEEDED_AT, moves_of};
use super::semaphore::Semaphore;
use super::{Detail, Simulation};

/// Events that the rows of a phase's memory have: places in the state buffer and in the scratchpad.
pub(super) const ALLOCATIONS: u64 = 3;

/// The loads before the first phase, and an error.
const SETUP_EVENTS: u64 = AHEAD.unsigned_abs() * Move::Weights.events() + 1;

/// Events at the start of a phase: the throttle period, device memory in use, and the input.
const BEGIN_EVENTS: u64 = 2 + Move::Input.events();

/// Events at the end of a phase: the last output and its wait, the barrier and its changes, the
/// instruction that clears the semaphores, and memory.
const END_EVENTS: u64 =
    Move::Output.events() + 1 + 2 * BARRIER.len() as u64 + 1 + Semaphore::CLEARED.len() as u64 + ALLOCATIONS;

/// Events of a collective operation: the instruction that starts it, the operation, each core's
/// wait and advances, and the change of the semaphore.
const EXCHANGE_EVENTS: u64 = 3 + CORES.len() as u64 * (1 + ADVANCES.unsigned_abs());

/// Events of a phase of which only the operation is captured: an instruction, and the operation.
const BRIEF_EVENTS: u64 = 2;

/// Events of a tile.
fn tile_events(part: LayerPart, tile: i64) -> u64 {
    // The Tensor engine changes its semaphore once for each activation. Sums, activations and the
    // two results have changes. Two samples tell the memory in use.
    let changes = 2 * ACTIVATIONS as u64 + 2;
    let instructions = GPSIMD as u64 + 1;
    let weights = if tile < AHEAD { 2 } else { 1 };
    let waits = weights + u64::from(tile % GROUP == 0) + u64::from(tile == NEEDED_AT);
    let moves: u64 = moves_of(part, tile).map(Move::events).sum();
    instructions + changes + 2 + waits + u64::from(tile == PACED_TILE) + moves
}

/// A phase as far as the capture has room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhaseExtent {
    pub(super) place: PhasePlace,
    /// Number of tiles.
    pub(super) tiles: i64,
    /// Whether there is room for its end, too.
    pub(super) is_whole: bool,
}

/// The phases of a capture in their order.
#[derive(Debug, Clone)]
pub(super) struct Recording {
    layers: u32,
    meets: bool,
    detail: Detail,
    number: u64,
    left: u64,
    /// Whether there is room for the loads before the first phase.
    pub(super) has_setup: bool,
}

impl Recording {
    pub(super) fn new(settings: &Simulation) -> Self {
        let setup = if settings.detail == Detail::Full { SETUP_EVENTS } else { 0 };
        let left = settings.events_per_rank.checked_sub(setup);
        Self {
            layers: settings.layers,
            meets: settings.ranks > 1,
            detail: settings.detail,
            number: 0,
            left: left.unwrap_or(0),
            has_setup: left.is_some(),
        }
    }

    fn take(&mut self, events: u64) -> bool {
        let left = self.left.checked_sub(events);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    fn brief(&mut self, place: PhasePlace) -> Option<PhaseExtent> {
        self.take(BRIEF_EVENTS).then(|| PhaseExtent { place, tiles: place.part.tiles(), is_whole: true })
    }

    fn full(&mut self, place: PhasePlace) -> Option<PhaseExtent> {
        let begin = BEGIN_EVENTS + u64::from(place.begins_step());
        if !self.has_setup || !self.take(begin) {
            return None;
        }
        let tiles = (0..place.part.tiles()).take_while(|&tile| self.take(tile_events(place.part, tile)));
        let tiles = i64::try_from(tiles.count()).unwrap_or(i64::MAX);
        let exchange = if self.meets { EXCHANGE_EVENTS } else { 0 };
        let is_whole = tiles == place.part.tiles() && self.take(END_EVENTS + exchange);
        if !is_whole {
            self.left = 0;
        }
        Some(PhaseExtent { place, tiles, is_whole })
    }
}

impl Iterator for Recording {
    type Item = PhaseExtent;

    fn next(&mut self) -> Option<PhaseExtent> {
        let place = PhasePlace::new(self.number, self.layers);
        self.number += 1;
        match self.detail {
            Detail::Full => self.full(place),
            Detail::Collectives => self.brief(place),
        }
    }
}

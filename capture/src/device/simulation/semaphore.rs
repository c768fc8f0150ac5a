//! The semaphores of the program, by which engines and queues wait for each other.
//!
//! All count from zero in each phase. Those of loads for the next phase are the exception: they
//! are raised before the phase ends, and the engine that waits for them sets them to zero again.

use super::queue::{AHEAD, Move, QUEUES};

/// A semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Semaphore {
    /// Engines that have reached the barrier.
    Barrier,
    /// Activations, multiplied tiles, and results of the engines behind.
    Scalar,
    Tensor,
    Vector,
    GpSimd,
    /// Packets of a queue.
    Weights,
    Input,
    Spill,
    Output,
    /// Collective operations.
    Collective,
    /// Packets of the weights of the next phase's first and second tile.
    FirstAhead,
    SecondAhead,
}

impl Semaphore {
    pub(super) const ALL: [Self; 12] = [
        Self::Barrier,
        Self::Scalar,
        Self::Tensor,
        Self::Vector,
        Self::GpSimd,
        Self::Weights,
        Self::Input,
        Self::Spill,
        Self::Output,
        Self::Collective,
        Self::FirstAhead,
        Self::SecondAhead,
    ];

    /// Semaphores that are cleared after a barrier. Their numbers follow each other.
    pub(super) const CLEARED: [Self; 9] = [
        Self::Scalar,
        Self::Tensor,
        Self::Vector,
        Self::GpSimd,
        Self::Weights,
        Self::Input,
        Self::Spill,
        Self::Output,
        Self::Collective,
    ];

    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Number on the device.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Barrier => 2,
            Self::Scalar => 4,
            Self::Tensor => 5,
            Self::Vector => 6,
            Self::GpSimd => 7,
            Self::Weights => 8,
            Self::Input => 9,
            Self::Spill => 10,
            Self::Output => 11,
            Self::Collective => 12,
            Self::FirstAhead => 13,
            Self::SecondAhead => 14,
        }
    }

    fn owner(self) -> &'static str {
        match self {
            Self::Barrier => "",
            Self::Scalar => "Scalar",
            Self::Tensor => "Tensor",
            Self::Vector => "Vector",
            Self::GpSimd => "GpSimd",
            Self::Weights | Self::FirstAhead | Self::SecondAhead => QUEUES[Move::Weights.queue()].name,
            Self::Input => QUEUES[Move::Input.queue()].name,
            Self::Spill => QUEUES[Move::Save.queue()].name,
            Self::Output => QUEUES[Move::Output.queue()].name,
            Self::Collective => "CC",
        }
    }

    /// The `id` of its changes: number and owner, or the number alone without an owner.
    pub(super) fn id(self) -> String {
        match self.owner() {
            "" => self.number().to_string(),
            owner => format!("S[{}] ({owner})", self.number()),
        }
    }

    /// The semaphore in operands.
    pub(super) fn operand(self) -> String {
        match self {
            Self::Barrier => format!("$S[{}]", self.number()),
            _ => self.id(),
        }
    }
}

/// A semaphore and the value from which on a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SemaphoreCondition {
    pub(super) semaphore: Semaphore,
    pub(super) value: i64,
}

impl SemaphoreCondition {
    /// Holds once the weights of a tile are there.
    pub(super) fn of_weights(tile: i64) -> Self {
        let packets = i64::try_from(Move::Weights.packets()).unwrap_or(i64::MAX);
        match tile {
            0 => Self { semaphore: Semaphore::FirstAhead, value: packets },
            1 => Self { semaphore: Semaphore::SecondAhead, value: packets },
            _ => Self { semaphore: Semaphore::Weights, value: packets * (tile - AHEAD + 1) },
        }
    }
}

//! Identity of a track: the part of the machine that it shows.
//!
//! Names of tracks are for people, and change. Analyses, metrics and exports read the identity.

use serde::{Deserialize, Serialize};

/// The part of a machine that a track shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Role {
    /// No known part.
    #[default]
    Unknown,
    /// Instructions of a compute engine.
    Engine(EngineKind),
    /// Packets or transfers of a DMA queue.
    Queue,
    /// Operations of a stream of collectives.
    Collectives,
    /// Steps of a core that serves collectives.
    CollectiveCore,
    /// Kernels and copies of a stream of an accelerator.
    Kernels,
    /// Calls of a thread of the host.
    HostThread,
    /// Changes of a semaphore.
    Semaphore,
    /// Periods in which a core limits itself, and those in which it does not. They are a state and
    /// no work.
    Throttling,
    /// Spans of a program, drawn over the work of a stream. They are no work.
    Annotations,
}

/// A kind of compute engine. Accelerators of other vendors have engines of the same kinds under
/// other names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EngineKind {
    /// Matrix products.
    Tensor,
    /// Element-wise operations and reductions.
    Vector,
    /// Functions of single elements.
    Scalar,
    /// Cores that run programs.
    GpSimd,
    /// Synchronisation.
    Sync,
}

/// A side of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MachineSide {
    /// Accelerators.
    Device,
    /// The processor that accelerators are attached to.
    Host,
}

impl Role {
    /// The side of the machine. `None` if the role is not known, and for annotations: their time is
    /// that of no part of the machine.
    #[must_use]
    pub fn side(self) -> Option<MachineSide> {
        match self {
            Self::Unknown | Self::Annotations => None,
            Self::HostThread => Some(MachineSide::Host),
            _ => Some(MachineSide::Device),
        }
    }

    /// Whether the time of the slices of a track counts as busy.
    #[must_use]
    pub fn is_work(self) -> bool {
        self != Self::Annotations && !self.is_state()
    }

    /// Whether the slices of a track are states that last beside the work: their times belong in no
    /// list of what a rank did.
    #[must_use]
    pub fn is_state(self) -> bool {
        self == Self::Throttling
    }

    /// Whether a track shows collective operations, states, changes of semaphores or annotations,
    /// and no other work of a rank.
    #[must_use]
    pub fn is_auxiliary(self) -> bool {
        let is_of_collectives = matches!(self, Self::Collectives | Self::CollectiveCore);
        !self.is_work() || self == Self::Semaphore || is_of_collectives
    }

    /// All roles. The position is the code in a segment.
    pub const ALL: [Self; 14] = [
        Self::Unknown,
        Self::Engine(EngineKind::Tensor),
        Self::Engine(EngineKind::Vector),
        Self::Engine(EngineKind::Scalar),
        Self::Engine(EngineKind::GpSimd),
        Self::Engine(EngineKind::Sync),
        Self::Queue,
        Self::Collectives,
        Self::CollectiveCore,
        Self::Kernels,
        Self::HostThread,
        Self::Semaphore,
        Self::Throttling,
        Self::Annotations,
    ];
}

/// Role of a track, and its position in the machine. A number that the trace does not state is
/// `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The part of the machine.
    pub role: Role,
    /// The device within its host.
    pub chip: Option<u32>,
    /// The core within the device, or within a logical core that joins several.
    pub core: Option<u32>,
    /// The queue, stream, thread or semaphore.
    pub number: Option<u32>,
}

impl Identity {
    /// Identity with this role and nothing else known.
    #[must_use]
    pub fn of(role: Role) -> Self {
        Self { role, ..Self::default() }
    }
}

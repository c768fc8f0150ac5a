//! The names of the rules.

/// Names of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleName {
    /// A rank for which the others wait.
    LateRank,
    /// Ranks with slow transfers between them.
    SlowLink,
    /// Engines or queues of a chip that wait for each other.
    ChipWait,
    /// Communication that no work covers.
    ExposedCommunication,
    /// A device that waits for launches.
    LaunchBound,
    /// A host that waits for its device before it launches more work.
    HostBlocks,
    /// A device without work for no reason that is known.
    IdleGap,
    /// A step that takes longer than the others.
    SlowStep,
    /// Time before the first work.
    StartUp,
    /// One operation whose transfer takes much longer than those of its like.
    OutlierCollective,
    /// An engine for matrix products that idles.
    TensorIdle,
    /// A chip that limits its engines.
    Throttled,
    /// Matrix products that are none of the model's.
    LowFlops,
    /// Many small transfers.
    SmallDmas,
    /// Data that leaves a full state buffer and comes back.
    Spill,
    /// A recording that lacks parts of the run.
    Recording,
}

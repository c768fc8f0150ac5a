//! The names of the rules.

/// Names of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleName {
    /// A rank for which the others wait.
    LateRank,
    /// Ranks with slow transfers between them.
    SlowLink,
    /// Engines of a chip that wait for each other.
    ChipWait,
    /// Engines that wait for transfers of data.
    DmaWait,
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
    /// Data that left the state buffer once and comes back several times.
    Reload,
    /// A memory that takes longer than the arithmetic.
    MemoryBound,
    /// Arithmetic that takes longer than the memory.
    ComputeBound,
    /// Weights that are loaded several times.
    WeightsReloaded,
    /// Errors of the hardware.
    Errors,
    /// A device that waits for the input of the program.
    InputBound,
    /// Kernels that leave most of a device empty.
    LowOccupancy,
    /// Arrays for matrix products that compute little.
    PtArraysUnused,
    /// Preparation of kernels that no work covers.
    PreparationExposed,
    /// Durations that were computed with a wrong frequency.
    WrongClock,
    /// A recording that lacks parts of the run.
    Recording,
}

//! The engines of a NeuronCore that execute instructions.

/// One of the five engines. The position in [`Engine::ALL`] is its number in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Matrix products (PE).
    Tensor,
    /// Element-wise functions (ACT).
    Scalar,
    /// General-purpose cores, also DMA descriptors (POOL).
    GpSimd,
    /// Vectors (DVE).
    Vector,
    /// Synchronisation (SP).
    Sync,
}

impl Engine {
    /// All engines, by number.
    pub const ALL: [Self; 5] = [Self::Tensor, Self::Scalar, Self::GpSimd, Self::Vector, Self::Sync];

    /// From the number in code buffers and patch lists.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The position in [`Engine::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// As the vendor's tool calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tensor => "Tensor",
            Self::Scalar => "Scalar",
            Self::GpSimd => "GpSimd",
            Self::Vector => "Vector",
            Self::Sync => "Sync",
        }
    }
}

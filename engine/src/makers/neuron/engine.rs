//! The engines of a NeuronCore that execute instructions.

use crate::model::EngineKind;

/// One of the five engines. The position in [`Engine::ALL`] is its number in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Matrix products (PE).
    Tensor,
    /// Element-wise functions (ACT).
    Scalar,
    /// General-purpose cores and DMA descriptors (POOL).
    GpSimd,
    /// Vectors (DVE).
    Vector,
    /// Synchronisation (SP).
    Sync,
}

impl Engine {
    /// All engines, ordered by number.
    pub const ALL: [Self; 5] = [Self::Tensor, Self::Scalar, Self::GpSimd, Self::Vector, Self::Sync];

    /// The engine with this number in code buffers and patch lists.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The position in [`Engine::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name of the engine in the vendor's tool.
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

    /// All engines, in display order.
    pub const SHOWN: [Self; 5] = [Self::Tensor, Self::Vector, Self::Scalar, Self::GpSimd, Self::Sync];

    /// The engine of an instruction, from its `label`. Matrix multiplications belong to the Tensor
    /// engine.
    #[must_use]
    pub fn of_label(label: &str) -> Option<Self> {
        let name = label.strip_suffix(MATRIX).unwrap_or(label);
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Prefix of the names of its metrics, as in `tensor_engine_active_time`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Tensor => "tensor_engine",
            Self::Scalar => "scalar_engine",
            Self::GpSimd => "gpsimd_engine",
            Self::Vector => "vector_engine",
            Self::Sync => "sync_engine",
        }
    }

    /// Heading of its metrics.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Tensor => "Tensor engine",
            Self::Scalar => "Scalar engine",
            Self::GpSimd => "GpSimd engine",
            Self::Vector => "Vector engine",
            Self::Sync => "Sync engine",
        }
    }

    /// Vendor-independent kind of the engine.
    #[must_use]
    pub fn kind(self) -> EngineKind {
        match self {
            Self::Tensor => EngineKind::Tensor,
            Self::Scalar => EngineKind::Scalar,
            Self::GpSimd => EngineKind::GpSimd,
            Self::Vector => EngineKind::Vector,
            Self::Sync => EngineKind::Sync,
        }
    }
}

/// Suffix of the labels of matrix multiplications, after the engine's name.
pub const MATRIX: &str = "Matrix";
/// The label of matrix multiplications.
pub const MATRIX_PRODUCT: &str = "TensorMatrix";

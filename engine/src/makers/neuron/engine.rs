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

/// Track of an instruction, as in the vendor's tool: matrix products have one of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineTrack {
    /// Instructions of an engine, without matrix products.
    Of(Engine),
    /// Matrix products of the Tensor engine.
    MatrixProducts,
}

/// Name of the track of matrix products.
pub const MATRIX_PRODUCTS: &str = "TensorMatrix";

impl EngineTrack {
    /// All tracks, in display order.
    pub const ALL: [Self; 6] = [
        Self::Of(Engine::Tensor),
        Self::MatrixProducts,
        Self::Of(Engine::Vector),
        Self::Of(Engine::Scalar),
        Self::Of(Engine::GpSimd),
        Self::Of(Engine::Sync),
    ];

    /// The track with this name, which is the `label` of its instructions.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|track| track.name() == label)
    }

    /// Name of the track, and `label` of its instructions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(engine) => engine.name(),
            Self::MatrixProducts => MATRIX_PRODUCTS,
        }
    }

    /// A number below the length of [`EngineTrack::ALL`], which only this track has.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Of(engine) => engine.index(),
            Self::MatrixProducts => Engine::ALL.len(),
        }
    }

    /// The engine that executes the instructions.
    #[must_use]
    pub fn engine(self) -> Engine {
        match self {
            Self::Of(engine) => engine,
            Self::MatrixProducts => Engine::Tensor,
        }
    }
}

//! The order of the program: steps, layers and the parts of a layer, which are the phases.

/// The parts of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerPart {
    Attention,
    Mlp,
}

impl LayerPart {
    pub(super) const ALL: [Self; 2] = [Self::Attention, Self::Mlp];

    /// Most tiles of a part.
    pub(super) const MOST_TILES: i64 = 12;

    /// Number of tiles that are worked off one after another.
    pub(super) fn tiles(self) -> i64 {
        match self {
            Self::Attention => 8,
            Self::Mlp => Self::MOST_TILES,
        }
    }

    /// Position in [`LayerPart::ALL`].
    pub(super) fn index(self) -> usize {
        usize::from(self == Self::Mlp)
    }

    /// Bytes of the collective operation on each rank.
    pub(super) fn collective_bytes(self) -> i64 {
        1 << 20
    }

    pub(super) fn collective(self) -> &'static str {
        match self {
            Self::Attention => "AllGather",
            Self::Mlp => "AllReduce",
        }
    }
}

/// A phase of the job, the same on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhasePlace {
    /// Number of the phase in the job.
    pub(super) number: u64,
    pub(super) step: u64,
    pub(super) layer: u32,
    pub(super) part: LayerPart,
}

impl PhasePlace {
    /// The phase of this number in a model of this many layers.
    pub(super) fn new(number: u64, layers: u32) -> Self {
        let parts = LayerPart::ALL.len() as u64;
        let part = if number.is_multiple_of(parts) { LayerPart::Attention } else { LayerPart::Mlp };
        let layers = u64::from(layers);
        let layer = u32::try_from(number / parts % layers).unwrap_or(0);
        Self { number, step: number / (parts * layers), layer, part }
    }

    /// Whether a step begins with this phase.
    pub(super) fn begins_step(&self) -> bool {
        self.layer == 0 && self.part == LayerPart::Attention
    }

    /// Index of the body that the phase runs.
    pub(super) fn body(&self) -> usize {
        self.layer as usize * LayerPart::ALL.len() + self.part.index()
    }
}

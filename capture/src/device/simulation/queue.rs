//! The DMA queues of the program, and the transfers of each tile.

use nprof_engine::makers::neuron::schema::Queue;

use super::place::LayerPart;

/// Number of DMA engines of a core. A load of weights is spread over all of them.
pub(super) const DMA_ENGINES: u32 = 16;

/// Number of DMA engines that move the smaller transfers.
const FEW_ENGINES: u32 = 4;

/// Number of tiles by which the loads of weights are ahead of the multiplications.
pub(super) const AHEAD: i64 = 2;

/// Number of tiles that an input and an output hold.
pub(super) const GROUP: i64 = 4;

/// Tiles of a phase at which a result is saved to device memory, at which it is loaded again, and
/// at which it is needed.
pub(super) const SAVED_AT: i64 = 2;
pub(super) const RELOADED_AT: i64 = 5;
pub(super) const NEEDED_AT: i64 = 7;

/// A DMA queue of the program.
#[derive(Debug)]
pub(super) struct QueuePlan {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) number_text: &'static str,
    pub(super) queue_type: &'static str,
}

/// The queues, by [`Move::queue`].
pub(super) static QUEUES: [QueuePlan; 4] = [
    QueuePlan { name: "qSyncIO0", number: 1, number_text: "1", queue_type: "data" },
    QueuePlan { name: "qSyncIn0", number: 2, number_text: "2", queue_type: "input" },
    QueuePlan { name: "qSyncSpillReload0", number: 3, number_text: "3", queue_type: "data" },
    QueuePlan { name: "qSyncOut0", number: 4, number_text: "4", queue_type: "output" },
];

/// Names of the queues in rows, by queue and engine.
pub(super) fn subgroups() -> Vec<Vec<String>> {
    let of = |queue: &QueuePlan, engine| {
        Queue { name: queue.name, number: Some(queue.number) }.subgroup(Some(engine))
    };
    QUEUES.iter().map(|queue| (0..DMA_ENGINES).map(|engine| of(queue, engine)).collect()).collect()
}

/// A kind of transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Weights of a tile.
    Weights,
    /// Input of four tiles.
    Input,
    /// A result that is saved because the state buffer is full.
    Save,
    /// The saved result, loaded again.
    Reload,
    /// Output of four tiles.
    Output,
}

impl Move {
    pub(super) const ALL: [Self; 5] = [Self::Weights, Self::Input, Self::Save, Self::Reload, Self::Output];

    /// Position in [`Move::ALL`], which is also the tensor of a body that is moved.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Position of its queue in [`QUEUES`].
    pub(super) fn queue(self) -> usize {
        match self {
            Self::Weights => 0,
            Self::Input => 1,
            Self::Save | Self::Reload => 2,
            Self::Output => 3,
        }
    }

    pub(super) fn bytes(self) -> i64 {
        match self {
            Self::Weights => 256 << 10,
            Self::Input | Self::Save | Self::Reload => 64 << 10,
            Self::Output => 32 << 10,
        }
    }

    /// Number of packets. Each is moved by an engine of its own.
    pub(super) const fn packets(self) -> usize {
        let engines = if matches!(self, Self::Weights) { DMA_ENGINES } else { FEW_ENGINES };
        engines as usize
    }

    /// Source and destination, as rows have them.
    pub(super) fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Weights => [r#"["WEIGHT"]"#, r#"["SB"]"#],
            Self::Input => [r#"["INPUT"]"#, r#"["SB"]"#],
            Self::Save => [r#"["SB"]"#, r#"["VIRTUAL"]"#],
            Self::Reload => [r#"["VIRTUAL"]"#, r#"["SB"]"#],
            Self::Output => [r#"["SB"]"#, r#"["OUTPUT"]"#],
        }
    }

    /// Events of a transfer: its trigger, itself, its packets, the changes of its semaphore, and
    /// two samples each of pending transfers and of throughput.
    pub(super) const fn events(self) -> u64 {
        2 + 2 * self.packets() as u64 + 4
    }
}

/// Transfers that are triggered while the engines work on a tile, in the order of their triggers.
pub(super) fn moves_of(part: LayerPart, tile: i64) -> impl Iterator<Item = Move> {
    let input = tile % GROUP == 1 && tile + GROUP - 1 < part.tiles();
    let output = tile > GROUP && tile % GROUP == 1;
    [
        (Move::Weights, true),
        (Move::Save, tile == SAVED_AT),
        (Move::Input, input),
        (Move::Reload, tile == RELOADED_AT),
        (Move::Output, output),
    ]
    .into_iter()
    .filter_map(|(of, is_moved)| is_moved.then_some(of))
}

//! The instructions of a tile and of a phase: their places in a body, engines and opcodes.

use nprof_engine::makers::neuron::{Engine, MATRIX_PRODUCTS, SEMAPHORE_WAIT};

use super::place::LayerPart;
use super::queue::Move;

/// Pairs of LDWEIGHTS and MATMUL of a tile.
pub(super) const MATMULS: usize = 8;
pub(super) const ACTIVATIONS: usize = 4;
pub(super) const VECTORS: usize = 6;

/// Places of the instructions in a body. Each pair loads weights and multiplies by them.
pub(super) const FIRST_PRODUCT: usize = 1;
pub(super) const FIRST_ACTIVATION: usize = 2 * MATMULS;
pub(super) const FIRST_VECTOR: usize = FIRST_ACTIVATION + ACTIVATIONS;
pub(super) const GPSIMD: usize = FIRST_VECTOR + VECTORS;
/// The triggers, in the order of [`Move::ALL`].
pub(super) const FIRST_TRIGGER: usize = GPSIMD + 1;
/// The Tensor engine's waits for loads.
pub(super) const WEIGHTS_WAIT: usize = FIRST_TRIGGER + Move::ALL.len();
pub(super) const INPUT_WAIT: usize = WEIGHTS_WAIT + 1;
pub(super) const RELOAD_WAIT: usize = INPUT_WAIT + 1;
/// The Sync engine's wait for the last output.
pub(super) const OUTPUT_WAIT: usize = RELOAD_WAIT + 1;
/// A pause of the Sync engine before a trigger.
pub(super) const PACE: usize = OUTPUT_WAIT + 1;
/// The Sync engine's wait for the host at the beginning of a step.
pub(super) const HOST: usize = PACE + 1;
pub(super) const FIRST_BARRIER: usize = HOST + 1;
pub(super) const CLEAR: usize = FIRST_BARRIER + BARRIER.len();
pub(super) const COLLECTIVE: usize = CLEAR + 1;
pub(super) const OPS: usize = COLLECTIVE + 1;

/// Engines in the order in which they pass a barrier: there, and back.
pub(super) const BARRIER: [Engine; 9] = [
    Engine::Tensor,
    Engine::Scalar,
    Engine::GpSimd,
    Engine::Vector,
    Engine::Sync,
    Engine::Vector,
    Engine::GpSimd,
    Engine::Scalar,
    Engine::Tensor,
];

/// Tile at which the Sync engine pauses before its trigger.
pub(super) const PACED_TILE: i64 = 1;

/// Engine and opcode of an instruction.
pub(super) struct InstructionKind {
    pub(super) engine: Engine,
    pub(super) label: &'static str,
    pub(super) opcode: &'static str,
    pub(super) instruction_type: &'static str,
    pub(super) activation: &'static str,
}

/// Engine and opcode of the instruction at this place of a body.
pub(super) fn kind(at: usize, part: LayerPart) -> InstructionKind {
    const PRODUCT: &str = "MATMUL";
    const VECTOR: [&str; VECTORS] =
        ["TENSOR_TENSOR", "TENSOR_SCALAR", "TENSOR_REDUCE", "TENSOR_TENSOR", "RECIPROCAL", "TENSOR_COPY"];
    let activation = match part {
        LayerPart::Attention => "EXP",
        LayerPart::Mlp => "SILU",
    };
    let (engine, opcode) = match at {
        _ if at < FIRST_ACTIVATION && at.is_multiple_of(2) => (Engine::Tensor, "LDWEIGHTS"),
        _ if at < FIRST_ACTIVATION => (Engine::Tensor, PRODUCT),
        _ if at < FIRST_VECTOR => (Engine::Scalar, "ACTIVATE"),
        _ if at < GPSIMD => {
            (Engine::Vector, VECTOR.get(at - FIRST_VECTOR).copied().unwrap_or("TENSOR_TENSOR"))
        }
        GPSIMD => (Engine::GpSimd, "IOTA"),
        _ if at < WEIGHTS_WAIT => (Engine::Sync, "WRITE"),
        WEIGHTS_WAIT | INPUT_WAIT | RELOAD_WAIT => (Engine::Tensor, SEMAPHORE_WAIT),
        OUTPUT_WAIT => (Engine::Sync, SEMAPHORE_WAIT),
        PACE | HOST => (Engine::Sync, "NOP"),
        CLEAR => (Engine::Sync, "EVENT_SEMAPHORE_RANGE_CLEAR"),
        COLLECTIVE => (Engine::GpSimd, "TRIGGER_COLLECTIVE"),
        _ => (BARRIER[(at - FIRST_BARRIER).min(BARRIER.len() - 1)], SEMAPHORE_WAIT),
    };
    // The last pair of the attention transposes its tile for the next multiplication.
    let transposes = part == LayerPart::Attention && (FIRST_ACTIVATION - 2..FIRST_ACTIVATION).contains(&at);
    InstructionKind {
        engine,
        label: if opcode == PRODUCT { MATRIX_PRODUCTS } else { engine.name() },
        opcode,
        instruction_type: if transposes { "TRANSPOSE" } else { "REGULAR" },
        activation: if engine == Engine::Scalar && opcode == "ACTIVATE" { activation } else { "" },
    }
}

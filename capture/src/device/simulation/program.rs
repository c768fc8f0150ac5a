//! The program of the simulated engines. Each layer and part has a loop body of instructions with
//! fixed opcodes, operands and names.

use nprof_engine::base::{Result, signed};
use nprof_engine::model::{FieldId, NameId, Sink, TrackId, Value};

use super::schedule::LayerPart;
use nprof_engine::makers::neuron::schema::{Instruction, Queue};
use nprof_engine::makers::neuron::{Engine, MATRIX_PRODUCTS, NeuronTracks, SEMAPHORE_WAIT};

/// Pairs of LDWEIGHTS and MATMUL in the body.
pub(super) const MATMULS: usize = 8;
pub(super) const ACTIVATIONS: usize = 4;
pub(super) const VECTORS: usize = 6;

/// Index of the first instruction of each kind in [`Body::ops`].
pub(super) const FIRST_ACTIVATION: usize = 2 * MATMULS;
pub(super) const FIRST_VECTOR: usize = FIRST_ACTIVATION + ACTIVATIONS;
pub(super) const GPSIMD: usize = FIRST_VECTOR + VECTORS;
/// The first multiplication: weights are loaded before it.
pub(super) const FIRST_PRODUCT: usize = 1;
pub(super) const FIRST_TRIGGER: usize = GPSIMD + 1;
pub(super) const WAIT: usize = FIRST_TRIGGER + QUEUES.len();
pub(super) const COLLECTIVE: usize = WAIT + 1;
const OPS: usize = COLLECTIVE + 1;

/// Number of instructions of a tile. The trigger of its queue is the only one that counts, and no
/// collective operation counts.
pub(super) const OPS_PER_TILE: u64 = (FIRST_TRIGGER + 2) as u64;

/// A DMA queue of the program.
#[derive(Debug)]
pub(super) struct QueuePlan {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) number_text: &'static str,
    pub(super) queue_type: &'static str,
    pub(super) source: &'static str,
    pub(super) dest: &'static str,
    pub(super) bytes: i64,
}

/// The queues. Tiles use them in turn.
pub(super) static QUEUES: [QueuePlan; 4] = [
    queue("qSyncIO0", 1, "1", "data", r#"["WEIGHT"]"#, r#"["SB"]"#, 256 << 10),
    queue("qSyncIn0", 2, "2", "input", r#"["INPUT"]"#, r#"["SB"]"#, 64 << 10),
    queue("qSyncSpillReload0", 3, "3", "data", r#"["VIRTUAL"]"#, r#"["SB"]"#, 128 << 10),
    queue("qSyncOut0", 4, "4", "output", r#"["SB"]"#, r#"["OUTPUT"]"#, 32 << 10),
];

const fn queue(
    name: &'static str,
    number: u32,
    number_text: &'static str,
    queue_type: &'static str,
    source: &'static str,
    dest: &'static str,
    bytes: i64,
) -> QueuePlan {
    QueuePlan { name, number, number_text, queue_type, source, dest, bytes }
}

/// Names of the queues in rows, by queue and engine.
pub(super) fn subgroups(engines: u32) -> Vec<Vec<String>> {
    let of = |queue: &QueuePlan, engine| {
        Queue { name: queue.name, number: Some(queue.number) }.subgroup(Some(engine))
    };
    QUEUES.iter().map(|queue| (0..engines).map(|engine| of(queue, engine)).collect()).collect()
}

/// Texts of a body. Instructions borrow them.
#[derive(Debug)]
pub(super) struct BodyTexts {
    part: LayerPart,
    layer: String,
    hlo: String,
    source: String,
    /// Tensors that the queues move, one per queue.
    pub(super) tensors: Vec<String>,
    operands: Vec<String>,
    names: Vec<String>,
}

/// An instruction of a body.
#[derive(Debug)]
pub(super) struct BodyOp<'t> {
    pub(super) track: TrackId,
    pub(super) name: NameId,
    /// The fields. The first two, id and waiting time, differ from run to run.
    pub(super) fields: Vec<(FieldId, Value<'t>)>,
}

/// Instructions that the engines run for each tile of a part of a layer.
#[derive(Debug)]
pub(super) struct Body<'t> {
    pub(super) ops: Vec<BodyOp<'t>>,
    pub(super) tensors: &'t [String],
}

/// Engine and opcode of an instruction.
struct InstructionKind {
    engine: Engine,
    label: &'static str,
    opcode: &'static str,
    instruction_type: &'static str,
    activation: &'static str,
}

fn kind(at: usize, part: LayerPart) -> InstructionKind {
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
        WAIT => (Engine::Sync, SEMAPHORE_WAIT),
        COLLECTIVE => (Engine::GpSimd, "TRIGGER_COLLECTIVE"),
        _ => (Engine::Sync, "WRITE"),
    };
    // The last pair of the attention transposes its tile for the next multiplication.
    let transposes = part == LayerPart::Attention && (FIRST_ACTIVATION - 2..FIRST_ACTIVATION).contains(&at);
    InstructionKind {
        engine,
        label: if opcode == PRODUCT { MATRIX_PRODUCTS } else { engine.name() },
        opcode,
        instruction_type: if transposes { "TRANSPOSE" } else { "REGULAR" },
        activation: if engine == Engine::Scalar { activation } else { "" },
    }
}

impl BodyTexts {
    pub(super) fn new(layer: u32, part: LayerPart) -> Self {
        let (block, dot, file, tensors) = match part {
            LayerPart::Attention => {
                ("self_attn", "qkv_proj", "attention.py", ["qkv_proj.weight", "hidden", "kv", "context"])
            }
            LayerPart::Mlp => {
                ("mlp", "down_proj", "mlp.py", ["down_proj.weight", "hidden", "gate", "output"])
            }
        };
        let number = 2 * layer + u32::from(part == LayerPart::Mlp);
        let path = format!("model/layers.{layer}/{block}");
        Self {
            part,
            hlo: format!("%dot.{number} = bf16[2048,4096] dot(%hidden.{number}, %{dot}.{layer})"),
            source: format!("{file}:{}", 40 + 3 * (number % 50)),
            tensors: tensors.iter().map(|tensor| format!("layers.{layer}.{block}.{tensor}")).collect(),
            operands: (0..OPS).map(|at| operands(at, layer, part)).collect(),
            names: (0..OPS).map(|at| format!("I-{}-{at}", 100 + number)).collect(),
            layer: path,
        }
    }

    /// Builds the instructions, which borrow these texts.
    pub(super) fn body<'t>(
        &'t self,
        number: usize,
        fields: &Instruction,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<Body<'t>> {
        let ops = (0..OPS).map(|at| self.op(at, number, fields, tracks, sink)).collect::<Result<_>>()?;
        Ok(Body { ops, tensors: &self.tensors })
    }

    fn op<'t>(
        &'t self,
        at: usize,
        number: usize,
        of: &Instruction,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<BodyOp<'t>> {
        let kind = kind(at, self.part);
        let pc = signed(number * OPS + at);
        let mut fields = vec![
            (of.id, Value::Int(0)),
            (of.evt_wait_time, Value::Int(0)),
            (of.label, Value::Text(kind.label)),
            (of.subgroup, Value::Text(kind.engine.name())),
            (of.pc, Value::Int(pc)),
            (of.compiler_pc, Value::Int(pc)),
            (of.operands, Value::Text(&self.operands[at])),
            (of.instruction_type, Value::Text(kind.instruction_type)),
            (of.activation_fn, Value::Text(kind.activation)),
            (of.layer, Value::Text(&self.layer)),
            (of.hlo_name, Value::Text(&self.hlo)),
            (of.bir_instruction_name, Value::Text(&self.names[at])),
            (of.nki_source_location, Value::Text(&self.source)),
            (of.fully_qualified_subgraph, Value::Text("/sg00")),
        ];
        self.traffic(at, kind.opcode, of, &mut fields);
        let track = tracks.engine(sink, kind.label, 0)?;
        Ok(BodyOp { track, name: sink.name(kind.opcode)?, fields })
    }

    fn traffic<'t>(&self, at: usize, opcode: &str, of: &Instruction, fields: &mut Vec<(FieldId, Value<'t>)>) {
        // A tile is 128 partitions by 512 columns of two bytes; sums are four bytes wide.
        const COLUMNS: i64 = 512;
        match opcode {
            "LDWEIGHTS" => fields.push((of.sbuf_read_bytes, Value::Int(128 * 2))),
            "MATMUL" => fields.extend([
                (of.elements, Value::Int(128 * 128 * COLUMNS)),
                (of.sbuf_read_bytes, Value::Int(COLUMNS * 2)),
                (of.psum_write_bytes, Value::Int(COLUMNS * 4)),
            ]),
            "ACTIVATE" => fields.extend([
                (of.psum_read_bytes, Value::Int(COLUMNS * 4)),
                (of.sbuf_write_bytes, Value::Int(COLUMNS * 2)),
                (of.psum_read_sbuf_write_bytes, Value::Int(COLUMNS * 2)),
                (of.is_psum_read_sbuf_write, Value::Bool(true)),
            ]),
            "WRITE" => {
                let Some(queue) = at.checked_sub(FIRST_TRIGGER).and_then(|queue| QUEUES.get(queue)) else {
                    return;
                };
                let bytes = Value::Int(queue.bytes);
                match queue.queue_type {
                    "output" => fields.extend([(of.hbm_write_bytes, bytes), (of.output_queue_bytes, bytes)]),
                    "input" => fields.extend([(of.hbm_read_bytes, bytes), (of.input_queue_bytes, bytes)]),
                    _ if queue.source.contains("VIRTUAL") => {
                        fields.extend([(of.hbm_read_bytes, bytes), (of.spill_reload_bytes, bytes)]);
                    }
                    _ => fields.extend([(of.hbm_read_bytes, bytes), (of.weight_queue_bytes, bytes)]),
                }
            }
            _ if at < GPSIMD => fields.extend([
                (of.sbuf_read_bytes, Value::Int(COLUMNS * 4)),
                (of.sbuf_write_bytes, Value::Int(COLUMNS * 2)),
            ]),
            _ => {}
        }
    }
}

fn operands(at: usize, layer: u32, part: LayerPart) -> String {
    let column = u32::try_from(at).unwrap_or(0) * 0x400;
    // Each layer has its own place for weights. Results go to the same place in every layer.
    let weights = 0x4000 + layer * 0x100 + column;
    let sums = 0x200_0000 + column;
    let tile = 0x2_f000 + column;
    match (kind(at, part).opcode, kind(at, part).activation) {
        ("LDWEIGHTS", _) => format!("S[8] (qSyncIO0)>=16 src=bf16@0x{weights:x}[1,0,0][128,1,1] 128*128"),
        ("MATMUL", _) => format!(
            "S[5] (Tensor)++@complete acc_flags=3 src=bf16@0x{tile:x}[1,0,0][512,1,1] dst=0x{sums:x}[1,0,0][512,1,1] 128*128"
        ),
        ("ACTIVATE", function) => format!(
            "S[5] (Tensor)>=2 S[4] (Scalar)++@complete {function} src=fp32@0x{sums:x}[1,1,1][512,1,1] dst=bf16@0x{tile:x}[1,1,1][512,1,1] channels=128"
        ),
        ("WRITE", _) => format!("data=0x2,0x2 size=4,4 dst=0xffff026f{:03x},0xffff024f{:03x}", at, at + 8),
        (SEMAPHORE_WAIT, _) => "setter=0 $S[8]==16 $S[8]--@complete".to_owned(),
        ("TRIGGER_COLLECTIVE", _) => {
            format!("$S[15]>=1 $S[15]++@complete ctype={} dtype=bf16", part.collective())
        }
        _ => format!(
            "S[4] (Scalar)>=1 in=bf16@0x{tile:x}[1,1,1][512,1,1] out=bf16@0x{weights:x}[1,1,1][512,1,1] channels=128"
        ),
    }
}

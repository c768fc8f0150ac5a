//! The program of the simulated engines. Each layer and part has a body of instructions with fixed
//! opcodes, names and places in the source code. The body is unrolled over the tiles, so operands
//! and positions differ from tile to tile.

use nprof_engine::base::{Result, signed};
use nprof_engine::makers::neuron::NeuronTracks;
use nprof_engine::makers::neuron::schema::Instruction;
use nprof_engine::model::{FieldId, NameId, Sink, TrackId, Value};

use super::op::{FIRST_TRIGGER, GPSIMD, OPS, kind};
use super::operands::PartOperands;
use super::place::LayerPart;
use super::queue::{Move, subgroups};
use super::semaphore::Semaphore;
use super::sources::{Frames, line_in_model};

/// Elements of a row of the tokens, and rows that a rank works on.
const HIDDEN: u32 = 1024;
const TOKENS: u32 = 512;

/// Positions of the fields of an instruction that differ from run to run, and from tile to tile.
pub(super) const ID: usize = 0;
pub(super) const WAIT: usize = 1;
pub(super) const PC: usize = 2;
pub(super) const COMPILER_PC: usize = 3;
pub(super) const OPERANDS: usize = 4;

/// Texts of all bodies. Instructions borrow them.
#[derive(Debug)]
pub(super) struct ProgramTexts {
    bodies: Vec<BodyTexts>,
    parts: [PartTexts; LayerPart::ALL.len()],
    pub(super) frames: Frames,
    /// Names of the queues in rows, by queue and engine.
    pub(super) subgroups: Vec<Vec<String>>,
    /// Names of the semaphores in rows, by their index.
    pub(super) semaphores: Vec<String>,
}

/// Texts that the bodies of a part share.
#[derive(Debug)]
struct PartTexts {
    operands: PartOperands,
    locations: Vec<String>,
    stacks: Vec<String>,
}

/// Texts of a body.
#[derive(Debug)]
struct BodyTexts {
    part: LayerPart,
    layer: String,
    hlo: String,
    attributes: String,
    /// Tensors that are moved, by the position of the move.
    tensors: Vec<String>,
    names: Vec<String>,
}

/// An instruction of a body.
#[derive(Debug)]
pub(super) struct BodyOp<'t> {
    pub(super) track: TrackId,
    pub(super) name: NameId,
    /// The fields. The first ones differ from run to run, see [`ID`] and the following.
    pub(super) fields: Vec<(FieldId, Value<'t>)>,
}

/// Instructions that the engines run for each tile of a part of a layer.
#[derive(Debug)]
pub(super) struct Body<'t> {
    pub(super) ops: Vec<BodyOp<'t>>,
    pub(super) tensors: &'t [String],
    pub(super) operands: &'t PartOperands,
    pub(super) hlo: &'t str,
    /// Position of the body's first instruction in the program.
    pub(super) pc: i64,
}

impl ProgramTexts {
    pub(super) fn new(layers: u32) -> Self {
        let mut frames = Frames::new();
        let parts = LayerPart::ALL.map(|part| {
            let of_ops: Vec<usize> = (0..OPS).map(|at| frames.of(at, part)).collect();
            PartTexts {
                operands: PartOperands::new(part),
                locations: of_ops.iter().map(|&frame| frames.location(frame)).collect(),
                stacks: of_ops.iter().map(|&frame| frames.stack(frame)).collect(),
            }
        });
        let bodies = (0..layers).flat_map(|layer| LayerPart::ALL.map(|part| BodyTexts::new(layer, part)));
        let semaphores = Semaphore::ALL.map(Semaphore::id).to_vec();
        Self { bodies: bodies.collect(), parts, frames, subgroups: subgroups(), semaphores }
    }

    /// Builds the bodies, which borrow these texts.
    pub(super) fn bodies(
        &self,
        fields: &Instruction,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<Vec<Body<'_>>> {
        // Instructions of the largest part, with room for what stands outside of its tiles.
        let most = OPS * (LayerPart::MOST_TILES as usize + 2);
        let mut bodies = Vec::with_capacity(self.bodies.len());
        for (number, texts) in self.bodies.iter().enumerate() {
            let part = &self.parts[texts.part.index()];
            bodies.push(texts.body(part, signed(number * most), fields, tracks, sink)?);
        }
        Ok(bodies)
    }
}

/// Shape and bytes of the weights of a part: those of all tiles.
pub(super) fn weights_of(part: LayerPart) -> ([i64; 2], i64) {
    let bytes = part.tiles() * Move::Weights.bytes();
    let rows = i64::from(HIDDEN);
    ([rows, bytes / 2 / rows], bytes)
}

impl BodyTexts {
    fn new(layer: u32, part: LayerPart) -> Self {
        let (block, dot, tensors) = match part {
            LayerPart::Attention => {
                ("self_attn", "qkv_proj", ["qkv_proj.weight", "hidden", "kv", "kv", "context"])
            }
            LayerPart::Mlp => ("mlp", "down_proj", ["down_proj.weight", "hidden", "gate", "gate", "output"]),
        };
        let number = 2 * layer + u32::from(part == LayerPart::Mlp);
        let ([_, columns], _) = weights_of(part);
        Self {
            part,
            layer: format!("model/layers.{layer}/{block}"),
            hlo: format!("%dot.{number} = bf16[{TOKENS},{columns}] dot(%hidden.{number}, %{dot}.{layer})"),
            attributes: format!(
                r#"[{{"op_type":"dot_general","source_file":"model.py","source_line":"{}"}}]"#,
                line_in_model(part)
            ),
            tensors: tensors.iter().map(|tensor| format!("layers.{layer}.{block}.{tensor}")).collect(),
            names: (0..OPS).map(|at| format!("I-{}-{at}", 100 + number)).collect(),
        }
    }

    fn body<'t>(
        &'t self,
        part: &'t PartTexts,
        pc: i64,
        fields: &Instruction,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<Body<'t>> {
        let ops = (0..OPS).map(|at| self.op(at, part, fields, tracks, sink)).collect::<Result<_>>()?;
        Ok(Body { ops, tensors: &self.tensors, operands: &part.operands, hlo: &self.hlo, pc })
    }

    fn op<'t>(
        &'t self,
        at: usize,
        part: &'t PartTexts,
        of: &Instruction,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<BodyOp<'t>> {
        let kind = kind(at, self.part);
        let mut fields = vec![
            (of.id, Value::Int(0)),
            (of.evt_wait_time, Value::Int(0)),
            (of.pc, Value::Int(0)),
            (of.compiler_pc, Value::Int(0)),
            (of.operands, Value::Text(part.operands.at(0, at))),
            (of.label, Value::Text(kind.label)),
            (of.subgroup, Value::Text(kind.engine.name())),
            (of.instruction_type, Value::Text(kind.instruction_type)),
            (of.activation_fn, Value::Text(kind.activation)),
            (of.layer, Value::Text(&self.layer)),
            (of.hlo_name, Value::Text(&self.hlo)),
            (of.hlo_attrs, Value::Text(&self.attributes)),
            (of.bir_instruction_name, Value::Text(&self.names[at])),
            (of.nki_source_location, Value::Text(&part.locations[at])),
            (of.stack_frame_ids, Value::Json(&part.stacks[at])),
            (of.fully_qualified_subgraph, Value::Text("/sg00")),
        ];
        traffic(at, kind.opcode, of, &mut fields);
        let track = tracks.engine(sink, kind.label, 0)?;
        Ok(BodyOp { track, name: sink.name(kind.opcode)?, fields })
    }
}

fn traffic(at: usize, opcode: &str, of: &Instruction, fields: &mut Vec<(FieldId, Value<'_>)>) {
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
        "WRITE" => moved_bytes(at, of, fields),
        _ if at < GPSIMD => fields.extend([
            (of.sbuf_read_bytes, Value::Int(COLUMNS * 4)),
            (of.sbuf_write_bytes, Value::Int(COLUMNS * 2)),
        ]),
        _ => {}
    }
}

/// Bytes of the transfer that an instruction starts. Their number stands in the last two fields.
fn moved_bytes(at: usize, of: &Instruction, fields: &mut Vec<(FieldId, Value<'_>)>) {
    let Some(kind) = at.checked_sub(FIRST_TRIGGER).and_then(|kind| Move::ALL.get(kind)) else { return };
    let bytes = Value::Int(kind.bytes());
    fields.extend(match kind {
        Move::Weights => [(of.hbm_read_bytes, bytes), (of.weight_queue_bytes, bytes)],
        Move::Input => [(of.hbm_read_bytes, bytes), (of.input_queue_bytes, bytes)],
        Move::Save => [(of.hbm_write_bytes, bytes), (of.spill_save_bytes, bytes)],
        Move::Reload => [(of.hbm_read_bytes, bytes), (of.spill_reload_bytes, bytes)],
        Move::Output => [(of.hbm_write_bytes, bytes), (of.output_queue_bytes, bytes)],
    });
}

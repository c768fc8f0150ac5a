//! Writes the instructions: engine after engine, each sorted by start.

use std::io::Result;
use std::path::Path;

use super::files::{ColumnWriter, TextWriter};
use super::program::{Addressing, Instruction, LayerProgram};
use super::text::{HLO_PER_LAYER, LAYERS, PATHS_PER_LAYER, write_operands};
use super::timing::LayerTimes;
use super::{GeneratorSettings, Meta};

/// Distance between the buffers of consecutive runs.
const RUN_STRIDE: i64 = 0x80;
/// Distance between the weights of consecutive layers.
const LAYER_STRIDE: i64 = 0x10000;

struct InstructionColumns {
    start: ColumnWriter<u64>,
    duration: ColumnWriter<u32>,
    pc: ColumnWriter<u32>,
    opcode: ColumnWriter<u8>,
    operands: ColumnWriter<u32>,
    hlo: ColumnWriter<u16>,
    layer: ColumnWriter<u16>,
    source: ColumnWriter<u16>,
}

impl InstructionColumns {
    fn create(directory: &Path) -> Result<Self> {
        Ok(Self {
            start: ColumnWriter::create(directory, "instruction.start")?,
            duration: ColumnWriter::create(directory, "instruction.duration")?,
            pc: ColumnWriter::create(directory, "instruction.pc")?,
            opcode: ColumnWriter::create(directory, "instruction.opcode")?,
            operands: ColumnWriter::create(directory, "instruction.operands")?,
            hlo: ColumnWriter::create(directory, "instruction.hlo_name")?,
            layer: ColumnWriter::create(directory, "instruction.layer_path")?,
            source: ColumnWriter::create(directory, "instruction.nki_source_location")?,
        })
    }

    fn finish(self) -> Result<()> {
        self.start.finish()?;
        self.duration.finish()?;
        self.pc.finish()?;
        self.opcode.finish()?;
        self.operands.finish()?;
        self.hlo.finish()?;
        self.layer.finish()?;
        self.source.finish()
    }
}

/// Operands of one engine's instructions, numbered by first occurrence.
struct Operands {
    /// Numbers by position, then by layer for instructions that read weights.
    known: Vec<Option<u32>>,
}

impl Operands {
    fn code(&mut self, texts: &mut TextWriter, of: &Instruction, at: usize, run: usize) -> Result<u32> {
        let layer = run % LAYERS;
        let (slot, offset) = match of.addressing {
            Addressing::Fixed => (0, 0),
            Addressing::Layer => (layer, (layer as i64 + 1) * LAYER_STRIDE),
            Addressing::Run => return texts.push(|out| write_operands(out, of, run as i64 * RUN_STRIDE)),
        };
        let known = &mut self.known[at * LAYERS + slot];
        if let Some(code) = *known {
            return Ok(code);
        }
        let code = texts.push(|out| write_operands(out, of, offset))?;
        *known = Some(code);
        Ok(code)
    }
}

/// Writes all engines' instructions of the layers that start at `starts`. The last entry is the
/// profile's end.
pub(super) fn write(
    directory: &Path,
    settings: &GeneratorSettings,
    programs: &[LayerProgram],
    starts: &[i64],
    meta: &mut Meta,
) -> Result<()> {
    let mut columns = InstructionColumns::create(directory)?;
    let mut texts = TextWriter::create(directory, "instruction.operands")?;
    let mut layer = LayerTimes::default();
    let layers = starts.len() - 1;
    for (engine, program) in programs.iter().enumerate() {
        let mut operands = Operands { known: vec![None; program.executed.len() * LAYERS] };
        for (run, layer_start) in starts[..layers].iter().enumerate() {
            layer.run(program, engine, settings.seed, run, settings.jitter);
            let number = run % LAYERS;
            for (at, of) in program.executed.iter().enumerate() {
                let duration = layer.durations_ns[at] as u32;
                columns.start.push((layer_start + layer.starts_ns[at]) as u64)?;
                columns.duration.push(duration)?;
                columns.pc.push(of.pc + number as u32 * program.instructions)?;
                columns.opcode.push(of.opcode)?;
                columns.operands.push(operands.code(&mut texts, of, at, run)?)?;
                columns.hlo.push(of.hlo + (number * HLO_PER_LAYER) as u16)?;
                columns.layer.push(of.path + (number * PATHS_PER_LAYER) as u16)?;
                columns.source.push(of.source)?;
                meta.longest_instruction_ns = meta.longest_instruction_ns.max(u64::from(duration));
            }
        }
        meta.instructions.push((program.executed.len() * layers) as u64);
    }
    columns.finish()?;
    meta.distinct_operands = texts.finish()?;
    Ok(())
}

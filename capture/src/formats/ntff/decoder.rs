//! Instructions, decoded once however often they run.

use std::fmt::Write;

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Sink, TemplateId};

use super::core::CoreProgram;
use super::disassemble::{Author, SemaphoreNames, operands};
use super::effect::Effect;
use super::program::WORD_LEN;
use super::word::{InstructionWord, Opcode, Wait};
use crate::formats::room::FieldBuffer;
use nprof_engine::makers::neuron::Engine;

/// Properties of an instruction that all its runs share.
#[derive(Debug, Clone)]
pub struct DecodedInstruction {
    /// Name of the opcode.
    pub name: NameId,
    /// The opcode.
    pub opcode: Opcode,
    /// Operands as printed by the vendor's tool.
    pub operands: NameId,
    /// Index in the compiler's program; `None` if the runtime inserted the instruction.
    pub compiler_pc: Option<i64>,
    /// The instruction's reads and writes.
    pub effect: Effect,
    /// The wait before the instruction starts.
    pub wait: Option<Wait>,
    /// True if the instruction only waits.
    pub only_waits: bool,
    /// DMA_DIRECT2D: the semaphore that signals the end of the transfer.
    pub completion: Option<u8>,
    /// The bytes of an instruction with an unknown opcode.
    pub raw: Option<NameId>,
    /// Other fields that all rows of the instruction have.
    pub(crate) fields: FieldBuffer,
    /// Template of the rows, if the instruction runs often.
    pub(crate) template: Option<TemplateId>,
    /// Template of the rows that triggered a transfer, from the first such row on.
    pub(crate) trigger_template: Option<TemplateId>,
    /// Number of runs, up to the first one with a template.
    runs: u8,
}

/// First run that gets a template. A template of a single row would cost more than the row.
const FIRST_OF_TEMPLATE: u8 = 3;
/// Most instructions with a template. Together they take a few megabytes in the store.
const MAX_TEMPLATES: usize = 1 << 15;

/// All instructions that have run so far. Memory grows with the program, not with the trace.
#[derive(Debug)]
pub struct InstructionDecoder {
    names: SemaphoreNames,
    templates: usize,
    decoded: [Vec<Option<Box<DecodedInstruction>>>; Engine::ALL.len()],
}

impl InstructionDecoder {
    /// A decoder for the programs of a core.
    #[must_use]
    pub fn new(core: &CoreProgram<'_>, names: SemaphoreNames) -> Self {
        Self {
            names,
            templates: 0,
            decoded: Engine::ALL.map(|engine| vec![None; core.programs[engine.index()].instruction_count()]),
        }
    }

    /// Decodes an instruction of the program, unless it is decoded already. `fields` makes the
    /// fields that all its rows share.
    pub(crate) fn decode(
        &mut self,
        core: &CoreProgram<'_>,
        engine: Engine,
        pc: u32,
        fields: impl FnOnce(&DecodedInstruction) -> FieldBuffer,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if let Some(slot @ None) = self.decoded[engine.index()].get_mut(pc as usize)
            && let Some(bytes) = core.programs[engine.index()].word(pc)
        {
            let compiler_pc = core.programs[engine.index()].compiler_pc(pc);
            let mut decoded = Box::new(DecodedInstruction::new(bytes, compiler_pc, &self.names, sink)?);
            decoded.fields = fields(&decoded);
            *slot = Some(decoded);
        }
        Ok(())
    }

    /// Counts a run of an instruction that is not ready. Once it has run often, `define` defines
    /// its template.
    pub(crate) fn ran(
        &mut self,
        engine: Engine,
        pc: u32,
        define: impl FnOnce(&DecodedInstruction) -> Result<TemplateId>,
    ) -> Result<()> {
        let Some(Some(decoded)) = self.decoded[engine.index()].get_mut(pc as usize) else { return Ok(()) };
        decoded.runs += 1;
        if decoded.runs == FIRST_OF_TEMPLATE && self.templates < MAX_TEMPLATES {
            self.templates += 1;
            decoded.template = Some(define(decoded)?);
        }
        Ok(())
    }

    /// An instruction that is decoded, to give it a template.
    pub(crate) fn known_mut(&mut self, engine: Engine, pc: u32) -> Option<&mut DecodedInstruction> {
        self.decoded[engine.index()].get_mut(pc as usize)?.as_deref_mut()
    }

    /// Whether an instruction is decoded and has run often, so that nothing is left to do for it.
    #[must_use]
    pub fn is_ready(&self, engine: Engine, pc: u32) -> bool {
        self.known(engine, pc).is_some_and(|decoded| decoded.runs == FIRST_OF_TEMPLATE)
    }

    /// An instruction, if it is decoded.
    #[must_use]
    pub fn known(&self, engine: Engine, pc: u32) -> Option<&DecodedInstruction> {
        self.decoded[engine.index()].get(pc as usize)?.as_deref()
    }
}

impl DecodedInstruction {
    fn new(
        bytes: &[u8; WORD_LEN],
        compiler_pc: Option<u64>,
        names: &SemaphoreNames,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let word = InstructionWord(bytes);
        let opcode = word.opcode();
        let author = if compiler_pc.is_some() { Author::Compiler } else { Author::Runtime };
        let wait = word.header_wait();
        Ok(Self {
            name: sink.name(&opcode.to_string())?,
            opcode,
            operands: sink.name(&operands(&word, author, names))?,
            compiler_pc: compiler_pc.and_then(|pc| i64::try_from(pc).ok()),
            effect: Effect::of(&word),
            wait,
            only_waits: wait.is_some() && only_waits(&word),
            completion: (opcode == Opcode::DmaDirect2d).then(|| word.u8(13)),
            raw: match opcode {
                Opcode::Unknown(_) => Some(sink.name(&hex(bytes))?),
                _ => None,
            },
            fields: FieldBuffer::new(),
            template: None,
            trigger_template: None,
            runs: 0,
        })
    }
}

/// Whether the instruction only waits.
fn only_waits(word: &InstructionWord<'_>) -> bool {
    word.header_update().is_none()
        && match word.opcode() {
            Opcode::Nop => true,
            Opcode::EventSemaphore => word.update_at(34, 35, 40).is_none(),
            _ => false,
        }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

//! Instructions decoded once, however often they run.

use std::fmt::Write;

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Sink, TemplateId};

use super::core::Core;
use super::disassemble::{Author, SemaphoreNames, operands};
use super::effect::Effect;
use super::program::WORD_LEN;
use super::word::{Opcode, Wait, Word};
use crate::formats::room::Room;
use nprof_engine::vendor::neuron::Engine;

/// What is known of an instruction before it runs.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The opcode's name.
    pub name: NameId,
    /// The opcode.
    pub opcode: Opcode,
    /// As printed.
    pub operands: NameId,
    /// Where the compiler put it.
    pub compiler_pc: Option<i64>,
    /// What it reads and writes.
    pub effect: Effect,
    /// What it waits for before it starts.
    pub wait: Option<Wait>,
    /// Whether waiting is all that it does.
    pub only_waits: bool,
    /// DMA_DIRECT2D: the semaphore that tells of the transfer's end.
    pub completion: Option<u8>,
    /// The bytes of an instruction whose opcode is not known.
    pub raw: Option<NameId>,
    /// What each of its rows has besides.
    pub(crate) fields: Room,
    /// Of its rows, where it runs often.
    pub(crate) template: Option<TemplateId>,
    /// How often it has run, up to the first run that may have a template.
    runs: u8,
}

/// The run that may have a template first: a template of a single row would cost more than the row.
const FIRST_OF_TEMPLATE: u8 = 3;
/// Instructions that have a template at most: together they take a few megabytes at the other end.
const MAX_TEMPLATES: usize = 1 << 15;

/// All instructions that have run so far. Its size follows the program's, not the trace's.
#[derive(Debug)]
pub struct Decoder {
    names: SemaphoreNames,
    templates: usize,
    decoded: [Vec<Option<Box<Decoded>>>; Engine::ALL.len()],
}

impl Decoder {
    /// For the programs of a core.
    #[must_use]
    pub fn new(core: &Core<'_>, names: SemaphoreNames) -> Self {
        Self {
            names,
            templates: 0,
            decoded: Engine::ALL.map(|engine| vec![None; core.programs[engine.index()].instruction_count()]),
        }
    }

    /// Makes sure that an instruction of the program is decoded. `fields` is asked for what all its rows have.
    ///
    /// # Errors
    /// The sink's own.
    pub(crate) fn decode(
        &mut self,
        core: &Core<'_>,
        (engine, pc): (Engine, u32),
        fields: impl FnOnce(&Decoded) -> Room,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        if let Some(slot @ None) = self.decoded[engine.index()].get_mut(pc as usize)
            && let Some(bytes) = core.programs[engine.index()].word(pc)
        {
            let compiler_pc = core.programs[engine.index()].compiler_pc(pc);
            let mut decoded = Box::new(Decoded::new(bytes, compiler_pc, &self.names, sink)?);
            decoded.fields = fields(&decoded);
            *slot = Some(decoded);
        }
        Ok(())
    }

    /// Counts a run of an instruction that is not ready, and gives it a template once it has run often. `define` defines the
    /// template.
    ///
    /// # Errors
    /// The sink's own.
    pub(crate) fn ran(
        &mut self,
        (engine, pc): (Engine, u32),
        define: impl FnOnce(&Decoded) -> Result<TemplateId>,
    ) -> Result<()> {
        let Some(Some(decoded)) = self.decoded[engine.index()].get_mut(pc as usize) else { return Ok(()) };
        decoded.runs += 1;
        if decoded.runs == FIRST_OF_TEMPLATE && self.templates < MAX_TEMPLATES {
            self.templates += 1;
            decoded.template = Some(define(decoded)?);
        }
        Ok(())
    }

    /// Whether an instruction is decoded and has run often: nothing more is to be found out of it.
    #[must_use]
    pub fn is_ready(&self, engine: Engine, pc: u32) -> bool {
        self.known(engine, pc).is_some_and(|decoded| decoded.runs == FIRST_OF_TEMPLATE)
    }

    /// An instruction that has been decoded before.
    #[must_use]
    pub fn known(&self, engine: Engine, pc: u32) -> Option<&Decoded> {
        self.decoded[engine.index()].get(pc as usize)?.as_deref()
    }
}

impl Decoded {
    fn new(
        bytes: &[u8; WORD_LEN],
        compiler_pc: Option<u64>,
        names: &SemaphoreNames,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let word = Word(bytes);
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
            fields: Room::new(),
            template: None,
            runs: 0,
        })
    }
}

/// Whether nothing happens but a wait.
fn only_waits(word: &Word<'_>) -> bool {
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

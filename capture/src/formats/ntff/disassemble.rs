//! Operands of an instruction as the vendor's tool prints them.
//!
//! Scripts and readers rely on this text, so its spacing is kept even if it is uneven.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::word::{
    DmaAddress, DmaSide, Dtype, ElementAccess, InstructionWord, Opcode, Update, Wait, at, lanes,
};

/// Names of semaphores by their number, from the NEFF; empty without one.
pub type SemaphoreNames = BTreeMap<u8, String>;

/// Author of an instruction. The runtime's semaphores are marked with a dollar sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The compiler.
    Compiler,
    /// The runtime, while it loaded the program.
    Runtime,
}

/// Text of the operands of an instruction.
#[must_use]
pub fn operands(word: &InstructionWord<'_>, author: Author, names: &SemaphoreNames) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = Disassembly { word, author, names }.write(&mut text);
    text
}

struct Disassembly<'a> {
    word: &'a InstructionWord<'a>,
    author: Author,
    names: &'a SemaphoreNames,
}

impl Disassembly<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        let (wait, update) = (self.word.header_wait(), self.word.header_update());
        if let Some(wait) = wait {
            self.wait(out, wait)?;
        }
        if let Some(update) = update {
            out.push_str(if wait.is_some() { " " } else { "" });
            self.update(out, update)?;
        }
        out.push(' ');
        match self.word.opcode() {
            Opcode::LdWeights | Opcode::MatMul => self.matrix(out),
            Opcode::Activate => self.activate(out),
            Opcode::ActTableLoad => write!(out, "table_sel={} ", self.word.u32(12)),
            Opcode::EventSemaphore => self.event_semaphore(out),
            Opcode::Drain | Opcode::Unknown(_) => Ok(()),
            Opcode::Nop => write!(out, "cycle={} ", self.word.u32(12)),
            Opcode::Write => self.write_memory(out),
            Opcode::Notify => self.notify(out),
            Opcode::CompareBranch => self.branch(out),
            Opcode::TensorLoad | Opcode::TensorStore => self.registers(out),
            Opcode::EventSemaphoreRangeClear => self.range_clear(out),
            Opcode::SetOrderingMode => match self.word.u32(12) {
                0 => out.write_str("ordering_mode=relaxed "),
                1 => out.write_str("ordering_mode=strict "),
                mode => write!(out, "ordering_mode={mode} "),
            },
            Opcode::DmaDirect2d => self.dma(out),
        }
    }

    fn dollar(&self) -> &'static str {
        match self.author {
            Author::Compiler => "",
            Author::Runtime => "$",
        }
    }

    fn semaphore(&self, out: &mut String, id: u8) -> fmt::Result {
        write!(out, "{}S[{id}]", self.dollar())?;
        match self.names.get(&id) {
            Some(name) if self.author == Author::Compiler => write!(out, " ({name})"),
            _ => Ok(()),
        }
    }

    fn wait(&self, out: &mut String, wait: Wait) -> fmt::Result {
        let Wait { mode, id, value } = wait;
        if mode == 7 {
            return write!(out, "{}E[{id}]==1-", self.dollar());
        }
        self.semaphore(out, id)?;
        match mode {
            1 => write!(out, "=={value}"),
            5 => write!(out, ">={value}"),
            _ => write!(out, " wait({mode:#04x}) {value}"),
        }
    }

    fn update(&self, out: &mut String, update: Update) -> fmt::Result {
        let Update { mode, id, value } = update;
        self.semaphore(out, id)?;
        match mode {
            0x13 => out.write_str("++@complete"),
            0x15 => write!(out, "+={value}@complete"),
            0x19 => write!(out, "={value}@complete"),
            _ => write!(out, " update({mode:#04x}) {value}"),
        }
    }

    fn matrix(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        let is_product = word.opcode() == Opcode::MatMul;
        if is_product {
            write!(out, "acc_flags={} ", word.u8(43))?;
        }
        let dtype = Dtype(word.u8(at::SOURCE_DTYPE));
        write!(out, "src={dtype}@")?;
        access(out, &word.access(at::SOURCE))?;
        if is_product {
            out.push_str(" dst=");
            access(out, &word.access(at::DEST))?;
        }
        let (rows, columns) = (lanes(word.u8(at::ROW_GROUPS)), lanes(word.u8(at::COLUMN_GROUPS)));
        write!(out, " {rows}*{columns} ")
    }

    fn activate(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        // The bytes that name the function and the accumulator's command are not known. Names are
        // given only for the one pattern that has been seen.
        let known = word.u32(12) == 0x0100_0001 && word.u8(35) == 0x80;
        let (function, command) = if known { ("COPY", "IDLE") } else { ("UNKNOWN", "UNKNOWN") };
        // The low half of the byte. The high half repeats it.
        let source = Dtype(word.u8(at::SOURCE_DTYPE) & 0x0f);
        write!(out, "{function} bias_imm={:.6} src={source}@", word.f32(40))?;
        access(out, &word.access(at::SOURCE))?;
        write!(out, " dst={}@", Dtype(word.u8(at::ACTIVATE_DEST_DTYPE)))?;
        access(out, &word.access(at::DEST))?;
        let (channels, scale, immediate) = (word.u8(34), word.f32(36), word.u32(44));
        write!(out, " channels={channels} scale={scale:.6} imm=[{immediate:#x}] accumulator_cmd={command}")
    }

    fn event_semaphore(&self, out: &mut String) -> fmt::Result {
        write!(out, "setter={} ", self.word.u8(12))?;
        if let Some(wait) = self.word.wait_at(32, 33, 36) {
            self.wait(out, wait)?;
        }
        out.push(' ');
        if let Some(update) = self.word.update_at(34, 35, 40) {
            self.update(out, update)?;
        }
        out.push(' ');
        Ok(())
    }

    fn write_memory(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        let (first, second) = (word.u8(12), word.u8(13));
        if second == 0 {
            write!(out, "data={:#x} size={first} dst={:#x} ", word.u64(32), word.u64(16))
        } else {
            let (data0, data1) = (word.u64(32), word.u64(40));
            let (address0, address1) = (word.u64(16), word.u64(24));
            write!(out, "data={data0:#x},{data1:#x} size={first},{second} dst={address0:#x},{address1:#x} ")
        }
    }

    fn notify(&self, out: &mut String) -> fmt::Result {
        write!(out, " hint={} notification=", self.word.u8(36))?;
        match self.word.u8(2) {
            9 => out.write_str("EXPLICIT")?,
            other => write!(out, "{other:#x}")?,
        }
        match self.word.u8(39) {
            1 => out.write_str("  trace=START "),
            other => write!(out, "  trace={other} "),
        }
    }

    fn branch(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        match word.u8(12) {
            0 => out.write_str("cmp_op=ALWAYS")?,
            op => {
                match op {
                    3 => out.write_str("cmp_op=EQ")?,
                    other => write!(out, "cmp_op={other}")?,
                }
                let (dtype, register, value) = (Dtype(word.u8(13)), word.u8(16), word.u32(32));
                write!(out, " dtype={dtype} cmp0={}R[{register}] cmp1={value:#x}", self.dollar())?;
            }
        }
        write!(out, " label_id={} debugHint={}", word.u32(48), word.u8(3))
    }

    fn registers(&self, out: &mut String) -> fmt::Result {
        /// Offset of the registers' numbers, a byte each, up to the end of the word.
        const REGISTERS_AT: usize = 32;
        const REGISTERS_MAX: usize = super::program::WORD_LEN - REGISTERS_AT;
        let word = self.word;
        let (dtype, size0, size1) = (Dtype(word.u8(12)), word.u8(14), word.u8(15));
        let (address, step0, step1) = (word.u64(16), word.i16(24), word.i16(26));
        write!(out, "addr={dtype}@{address:#x}[{step0},{step1}][{size0},{size1}] data=")?;
        let count = (usize::from(size0) * usize::from(size1)).min(REGISTERS_MAX);
        for index in 0..count {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{}R[{}]", self.dollar(), word.u8(REGISTERS_AT + index))?;
        }
        out.push(' ');
        Ok(())
    }

    fn range_clear(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        match word.u8(12) {
            1 => out.write_str("mode=SEMAPHORE_ZERO")?,
            other => write!(out, "mode={other}")?,
        }
        write!(out, " first={} last={} ", word.u8(13), word.u8(14))
    }

    fn dma(&self, out: &mut String) -> fmt::Result {
        let word = self.word;
        let (source, dest) = (DmaSide::source(word), DmaSide::dest(word));
        write!(out, "semaphore={} sem_increment={} ", word.u8(13), word.u8(14))?;
        write!(out, " src_elem_size={} dst_elem_size={} ", source.element_bytes, dest.element_bytes)?;
        for (name, side) in [("src", &source), ("dst", &dest)] {
            let ([step0, step1], [size0, size1]) = (side.steps, side.sizes);
            write!(out, "{name}_pattern=[{step0},{step1}][{size0},{size1}] ")?;
        }
        for (name, side) in [("src", &source), ("dst", &dest)] {
            match side.address {
                DmaAddress::Immediate(address) => write!(out, "{name}_addr_imm={address:#x} ")?,
                DmaAddress::Table { offset, index } => {
                    write!(out, "{name}_table_offset_imm={offset:#x} {name}_table_index={index} ")?;
                }
            }
            write!(out, "{name}_shape_reg=0 ")?;
        }
        let (from, to) = (Dtype(word.u8(62)), Dtype(word.u8(63)));
        if from != to {
            write!(out, "in_dtype={from} out_dtype={to} ")?;
        }
        out.write_str("compute_op=NONE ")
    }
}

fn access(out: &mut String, access: &ElementAccess) -> fmt::Result {
    let ElementAccess { address, steps: [a, b, c], sizes: [x, y, z] } = access;
    write!(out, "{address:#x}[{a},{b},{c}][{x},{y},{z}]")
}

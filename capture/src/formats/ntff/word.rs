//! The 64 bytes of an instruction: opcode, types and the parts that many opcodes share.

use nprof_engine::makers::neuron::SEMAPHORE_WAIT;
use std::fmt;

use super::program::WORD_LEN;

/// Opcode of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the vendor's own names are all there is")]
pub enum Opcode {
    LdWeights,
    MatMul,
    Activate,
    ActTableLoad,
    EventSemaphore,
    Drain,
    Nop,
    Write,
    Notify,
    CompareBranch,
    TensorLoad,
    TensorStore,
    EventSemaphoreRangeClear,
    SetOrderingMode,
    DmaDirect2d,
    /// An unknown opcode, or none at all.
    Unknown(u8),
}

impl Opcode {
    /// The opcode of an instruction's first byte.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        match byte {
            0x01 => Self::LdWeights,
            0x02 => Self::MatMul,
            0x21 => Self::Activate,
            0x23 => Self::ActTableLoad,
            0xa0 => Self::EventSemaphore,
            0xa2 => Self::Drain,
            0xa4 => Self::Nop,
            0xa5 => Self::Write,
            0xa6 => Self::Notify,
            0xa9 => Self::CompareBranch,
            0xaa => Self::TensorLoad,
            0xab => Self::TensorStore,
            0xb0 => Self::EventSemaphoreRangeClear,
            0xb1 => Self::SetOrderingMode,
            0xb8 => Self::DmaDirect2d,
            other => Self::Unknown(other),
        }
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LdWeights => "LDWEIGHTS",
            Self::MatMul => "MATMUL",
            Self::Activate => "ACTIVATE",
            Self::ActTableLoad => "ACT_TABLE_LOAD",
            Self::EventSemaphore => SEMAPHORE_WAIT,
            Self::Drain => "DRAIN",
            Self::Nop => "NOP",
            Self::Write => "WRITE",
            Self::Notify => "NOTIFY",
            Self::CompareBranch => "COMPARE_BRANCH",
            Self::TensorLoad => "TENSOR_LOAD",
            Self::TensorStore => "TENSOR_STORE",
            Self::EventSemaphoreRangeClear => "EVENT_SEMAPHORE_RANGE_CLEAR",
            Self::SetOrderingMode => "SET_ORDERING_MODE",
            Self::DmaDirect2d => "DMA_DIRECT2D",
            Self::Unknown(byte) => return write!(f, "Operation({byte:#04x})"),
        })
    }
}

/// The type of an element, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype(pub u8);

impl Dtype {
    /// Bytes of an element, if the type is known.
    #[must_use]
    pub fn size_bytes(self) -> Option<u64> {
        match self.0 {
            0x07 => Some(2),
            0x09 | 0x0a => Some(4),
            _ => None,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0x07 => f.write_str("fp16"),
            0x09 => f.write_str("uint32"),
            0x0a => f.write_str("fp32"),
            other => write!(f, "dtype({other:#04x})"),
        }
    }
}

/// A wait for a semaphore or an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Kind of comparison; never 0.
    pub mode: u8,
    /// Number of the semaphore or event.
    pub id: u8,
    /// Value to compare with.
    pub value: u32,
}

/// A change of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Kind of change; never 0.
    pub mode: u8,
    /// Number of the semaphore.
    pub id: u8,
    /// Amount of the change, or the new value.
    pub value: u32,
}

/// Elements that an engine accesses: an address, three strides and three sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementAccess {
    /// Address of the first element.
    pub address: u32,
    /// Strides in elements.
    pub steps: [i16; 3],
    /// Number of elements along each stride.
    pub sizes: [u16; 3],
}

impl ElementAccess {
    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).product()
    }

    /// The lowest and the highest element, relative to the address. `None` if there are no
    /// elements.
    #[must_use]
    pub fn reach(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (0, 0);
        for (&step, &size) in self.steps.iter().zip(&self.sizes) {
            let last = i64::from(step) * (i64::from(size) - 1);
            if size == 0 {
                return None;
            }
            low += last.min(0);
            high += last.max(0);
        }
        Some((low, high))
    }
}

/// Bytes of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct InstructionWord<'a>(pub &'a [u8; WORD_LEN]);

impl InstructionWord<'_> {
    /// Opcode of the instruction.
    #[must_use]
    pub fn opcode(&self) -> Opcode {
        Opcode::from_byte(self.0[0])
    }

    /// A byte at this offset.
    #[must_use]
    pub fn u8(&self, at: usize) -> u8 {
        self.0[at]
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.0[at..at + N]);
        array
    }

    /// Two bytes at this offset.
    #[must_use]
    pub fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    /// Two bytes at this offset, signed.
    #[must_use]
    pub fn i16(&self, at: usize) -> i16 {
        i16::from_le_bytes(self.array(at))
    }

    /// Four bytes at this offset.
    #[must_use]
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    /// Eight bytes at this offset.
    #[must_use]
    pub fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    /// Four bytes at this offset as a float.
    #[must_use]
    pub fn f32(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.array(at))
    }

    /// A wait, with the offsets of its mode, id and value.
    #[must_use]
    pub fn wait_at(&self, mode: usize, id: usize, value: usize) -> Option<Wait> {
        (self.u8(mode) != 0).then(|| Wait { mode: self.u8(mode), id: self.u8(id), value: self.u32(value) })
    }

    /// An update, with the offsets of its mode, id and value.
    #[must_use]
    pub fn update_at(&self, mode: usize, id: usize, value: usize) -> Option<Update> {
        (self.u8(mode) != 0).then(|| Update { mode: self.u8(mode), id: self.u8(id), value: self.u32(value) })
    }

    /// The wait before the start, which every instruction can have.
    #[must_use]
    pub fn header_wait(&self) -> Option<Wait> {
        self.wait_at(4, 5, 8)
    }

    /// The update at the end, which every instruction can have.
    #[must_use]
    pub fn header_update(&self) -> Option<Update> {
        self.update_at(6, 7, 8)
    }

    /// An access pattern of 16 bytes at this offset.
    #[must_use]
    pub fn access(&self, at: usize) -> ElementAccess {
        ElementAccess {
            address: self.u32(at),
            steps: [self.i16(at + 4), self.i16(at + 6), self.i16(at + 8)],
            sizes: [self.u16(at + 10), self.u16(at + 12), self.u16(at + 14)],
        }
    }
}

/// Offsets of the parts of a MATMUL, LDWEIGHTS or ACTIVATE.
pub mod at {
    /// Access pattern of the source.
    pub const SOURCE: usize = 16;
    /// Type of the source.
    pub const SOURCE_DTYPE: usize = 32;
    /// ACTIVATE: type of the destination.
    pub const ACTIVATE_DEST_DTYPE: usize = 33;
    /// Rows of the array that take part, 32 a bit.
    pub const ROW_GROUPS: usize = 44;
    /// Columns of the array that take part, 32 a bit.
    pub const COLUMN_GROUPS: usize = 45;
    /// Access pattern of the destination.
    pub const DEST: usize = 48;
}

/// Number of rows or columns of the array that a group mask selects.
#[must_use]
pub fn lanes(mask: u8) -> u64 {
    u64::from(mask.count_ones()) * 32
}

/// One side of a DMA_DIRECT2D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaSide {
    /// Address of the elements.
    pub address: DmaAddress,
    /// Strides in bytes.
    pub steps: [u32; 2],
    /// Number of elements along each stride.
    pub sizes: [u16; 2],
    /// Bytes of an element.
    pub element_bytes: u32,
}

/// Address that a DMA reads from or writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DmaAddress {
    /// A device address, in on-chip memory.
    Immediate(u64),
    /// An offset within a tensor that a table names, in device memory.
    Table {
        /// Offset from the tensor's start in bytes.
        offset: u32,
        /// Index of the tensor in the table.
        index: u32,
    },
}

impl DmaSide {
    /// The side that is read.
    #[must_use]
    pub fn source(word: &InstructionWord<'_>) -> Self {
        Self::at(word, 16, word.u32(36))
    }

    /// The side that is written.
    #[must_use]
    pub fn dest(word: &InstructionWord<'_>) -> Self {
        Self::at(word, 40, u32::from(word.u16(60)))
    }

    fn at(word: &InstructionWord<'_>, at: usize, element_bytes: u32) -> Self {
        /// Mark in the address' highest byte: the address is an index into a table.
        const TABLE_FORM: u8 = 0x20;
        let address = if word.u8(at + 7) == TABLE_FORM {
            DmaAddress::Table { offset: word.u32(at), index: word.u32(at + 4) & 0x00ff_ffff }
        } else {
            DmaAddress::Immediate(word.u64(at))
        };
        Self {
            address,
            steps: [word.u32(at + 8), word.u32(at + 12)],
            sizes: [word.u16(at + 16), word.u16(at + 18)],
            element_bytes,
        }
    }

    /// Bytes of all elements.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        // The product has 32 + 16 + 16 bits, which fit.
        u64::from(self.element_bytes) * u64::from(self.sizes[0]) * u64::from(self.sizes[1])
    }
}

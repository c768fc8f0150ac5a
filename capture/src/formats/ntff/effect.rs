//! Reads and writes of an instruction: the byte columns of the table, and the regions that other
//! instructions can depend on.

use std::ops::Range;

use super::word::{DmaAddress, DmaSide, Dtype, ElementAccess, InstructionWord, Opcode, at, lanes};

/// Bit that is set in addresses of the partial-sum buffer.
const PSUM_BIT: u32 = 1 << 25;
/// Bits of an offset within a partition of the state buffer. The higher bits count partitions.
const PARTITION_BITS: u32 = 18;
/// Size of a partial sum, a 32-bit float.
const PSUM_ELEMENT_BYTES: u64 = 4;

/// The byte columns; `None` if the table has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Number of multiply-accumulate operations.
    pub elements: Option<u64>,
    /// Bytes read from device memory.
    pub hbm_read: Option<u64>,
    /// Bytes written to device memory.
    pub hbm_write: Option<u64>,
    /// Bytes read from the state buffer: per partition for compute engines, over all partitions for
    /// DMAs.
    pub sbuf_read: Option<u64>,
    /// Bytes written to the state buffer, counted like the reads.
    pub sbuf_write: Option<u64>,
    /// Bytes read from the partial-sum buffer, per partition.
    pub psum_read: Option<u64>,
    /// Bytes written to the partial-sum buffer, per partition.
    pub psum_write: Option<u64>,
    /// Bytes moved from the partial-sum buffer to the state buffer, per partition.
    pub psum_read_sbuf_write: Option<u64>,
}

/// Range of bytes within each partition of an on-chip memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Region {
    /// Bytes of the state buffer.
    Sbuf(Range<u64>),
    /// Bytes of the partial-sum buffer.
    Psum(Range<u64>),
}

/// Effect of an instruction on on-chip memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Region that the instruction reads.
    pub read: Option<Region>,
    /// Bytes of the state buffer that the vendor's tool counts as read, if they differ. With a
    /// stride downwards the tool leaves out the first element.
    pub counted_read: Option<Range<u64>>,
    /// Region that the instruction writes.
    pub write: Option<Region>,
    /// Values of the table's byte columns.
    pub traffic: Traffic,
}

impl Effect {
    /// The effect of an instruction.
    #[must_use]
    pub fn of(word: &InstructionWord<'_>) -> Self {
        match word.opcode() {
            Opcode::LdWeights | Opcode::MatMul => matrix(word),
            Opcode::Activate => activate(word),
            Opcode::DmaDirect2d => dma(word),
            _ => Self::default(),
        }
    }
}

fn matrix(word: &InstructionWord<'_>) -> Effect {
    let source = word.access(at::SOURCE);
    let dtype = Dtype(word.u8(at::SOURCE_DTYPE)).size_bytes();
    let mut effect = Effect {
        read: dtype.and_then(|size| region(&source, size)),
        counted_read: dtype.and_then(|size| counted(&source, size)),
        traffic: Traffic { sbuf_read: dtype.map(|size| source.count() * size), ..Traffic::default() },
        write: None,
    };
    if word.opcode() == Opcode::MatMul {
        let dest = word.access(at::DEST);
        let array = lanes(word.u8(at::ROW_GROUPS)) * lanes(word.u8(at::COLUMN_GROUPS));
        effect.write = region(&dest, PSUM_ELEMENT_BYTES);
        effect.traffic.elements = source.count().checked_mul(array);
        // The vendor's tool counts the same way: with the size of the elements that are read.
        effect.traffic.psum_write = dtype.map(|size| dest.count() * size);
    }
    effect
}

fn activate(word: &InstructionWord<'_>) -> Effect {
    let (source, dest) = (word.access(at::SOURCE), word.access(at::DEST));
    let source_size = Dtype(word.u8(at::SOURCE_DTYPE) & 0x0f).size_bytes();
    let dest_size = Dtype(word.u8(at::ACTIVATE_DEST_DTYPE)).size_bytes();
    let read = source_size.map(|size| source.count() * size);
    let write = dest_size.map(|size| dest.count() * size);
    let mut traffic = Traffic::default();
    let (from_psum, to_psum) = (is_psum(&source), is_psum(&dest));
    *(if from_psum { &mut traffic.psum_read } else { &mut traffic.sbuf_read }) = read;
    *(if to_psum { &mut traffic.psum_write } else { &mut traffic.sbuf_write }) = write;
    if from_psum && !to_psum {
        traffic.psum_read_sbuf_write = write;
    }
    Effect {
        read: source_size.and_then(|size| region(&source, size)),
        counted_read: source_size.and_then(|size| counted(&source, size)),
        write: dest_size.and_then(|size| region(&dest, size)),
        traffic,
    }
}

fn dma(word: &InstructionWord<'_>) -> Effect {
    let (source, dest) = (DmaSide::source(word), DmaSide::dest(word));
    let mut traffic = Traffic::default();
    let mut sides = [None, None];
    let columns = [
        (&source, &mut traffic.hbm_read, &mut traffic.sbuf_read),
        (&dest, &mut traffic.hbm_write, &mut traffic.sbuf_write),
    ];
    for (region, (side, hbm, sbuf)) in sides.iter_mut().zip(columns) {
        let size = side.size_bytes();
        match side.address {
            DmaAddress::Table { .. } => *hbm = Some(size),
            DmaAddress::Immediate(address) => {
                *sbuf = Some(size);
                let start = address & ((1 << PARTITION_BITS) - 1);
                *region = Some(Region::Sbuf(start..start + within_partition(side)));
            }
        }
    }
    let [read, write] = sides;
    Effect { read, counted_read: None, write, traffic }
}

/// Bytes that one side of a DMA spans within a partition. Strides of a partition or more lead to
/// other partitions.
fn within_partition(side: &DmaSide) -> u64 {
    let strides = side.steps.iter().zip(&side.sizes);
    let inside = strides.filter(|&(&step, &size)| step < 1 << PARTITION_BITS && size > 1);
    // A stride of one byte stands for the elements' own bytes.
    let span =
        inside.filter(|&(&step, _)| step > 1).map(|(&step, &size)| u64::from(step) * u64::from(size - 1));
    span.sum::<u64>() + u64::from(side.element_bytes)
}

fn is_psum(access: &ElementAccess) -> bool {
    access.address & PSUM_BIT != 0
}

fn counted(access: &ElementAccess, element_bytes: u64) -> Option<Range<u64>> {
    match region(access, element_bytes)? {
        Region::Sbuf(range) if access.steps.iter().any(|&step| step < 0) => {
            Some(range.start..range.end.saturating_sub(element_bytes).max(range.start))
        }
        _ => None,
    }
}

fn region(access: &ElementAccess, element_bytes: u64) -> Option<Region> {
    let (low, high) = access.reach()?;
    let size = i64::try_from(element_bytes).ok()?;
    let address = i64::from(access.address & (PSUM_BIT - 1));
    // Bytes below the memory's start are damage. The part above it still counts.
    let start = u64::try_from((address + low * size).max(0)).ok()?;
    let end = u64::try_from(address + high * size + size).ok().filter(|&end| end > start)?;
    Some(if is_psum(access) { Region::Psum(start..end) } else { Region::Sbuf(start..end) })
}

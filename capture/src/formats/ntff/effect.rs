//! What an instruction reads and writes: the byte columns of the table, and the regions that other instructions may
//! depend on.

use std::ops::Range;

use super::word::{Access, DmaAddress, DmaSide, Dtype, Opcode, Word, at, lanes};

/// Set in addresses of the partial-sum buffer.
const PSUM_BIT: u32 = 1 << 25;
/// Bits of an offset within a partition of the state buffer; the higher ones count partitions.
const PARTITION_BITS: u32 = 18;
/// Partial sums are 32-bit floats.
const PSUM_ELEMENT_BYTES: u64 = 4;

/// The byte columns; `None` where the table has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Multiply-accumulate operations.
    pub elements: Option<u64>,
    /// From device memory.
    pub hbm_read: Option<u64>,
    /// To device memory.
    pub hbm_write: Option<u64>,
    /// From the state buffer; per partition for compute engines, over all partitions for DMAs.
    pub sbuf_read: Option<u64>,
    /// To the state buffer, likewise.
    pub sbuf_write: Option<u64>,
    /// From the partial-sum buffer, per partition.
    pub psum_read: Option<u64>,
    /// To the partial-sum buffer, per partition.
    pub psum_write: Option<u64>,
    /// From the partial-sum buffer to the state buffer, per partition.
    pub psum_read_sbuf_write: Option<u64>,
}

/// Where bytes lie within each partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Region {
    /// In the state buffer.
    Sbuf(Range<u64>),
    /// In the partial-sum buffer.
    Psum(Range<u64>),
}

/// What an instruction does to on-chip memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// What it reads.
    pub read: Option<Region>,
    /// What of the state buffer the vendor's tool counts as read, where that differs: with a stride downwards, the
    /// first element is left out.
    pub counted_read: Option<Range<u64>>,
    /// What it writes.
    pub write: Option<Region>,
    /// The table's columns.
    pub traffic: Traffic,
}

impl Effect {
    /// Of an instruction.
    #[must_use]
    pub fn of(word: &Word<'_>) -> Self {
        match word.opcode() {
            Opcode::LdWeights | Opcode::MatMul => matrix(word),
            Opcode::Activate => activate(word),
            Opcode::DmaDirect2d => dma(word),
            _ => Self::default(),
        }
    }
}

fn matrix(word: &Word<'_>) -> Effect {
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
        // As the vendor's tool counts: with the size of the elements that are read.
        effect.traffic.psum_write = dtype.map(|size| dest.count() * size);
    }
    effect
}

fn activate(word: &Word<'_>) -> Effect {
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

fn dma(word: &Word<'_>) -> Effect {
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

/// Bytes that one side of a DMA spans within a partition. Strides of a partition or more lead to other partitions.
fn within_partition(side: &DmaSide) -> u64 {
    let strides = side.steps.iter().zip(&side.sizes);
    let inside = strides.filter(|&(&step, &size)| step < 1 << PARTITION_BITS && size > 1);
    // A stride of one byte stands for the elements' own bytes.
    let span =
        inside.filter(|&(&step, _)| step > 1).map(|(&step, &size)| u64::from(step) * u64::from(size - 1));
    span.sum::<u64>() + u64::from(side.element_bytes)
}

fn is_psum(access: &Access) -> bool {
    access.address & PSUM_BIT != 0
}

fn counted(access: &Access, element_bytes: u64) -> Option<Range<u64>> {
    match region(access, element_bytes)? {
        Region::Sbuf(range) if access.steps.iter().any(|&step| step < 0) => {
            Some(range.start..range.end.saturating_sub(element_bytes).max(range.start))
        }
        _ => None,
    }
}

fn region(access: &Access, element_bytes: u64) -> Option<Region> {
    let (low, high) = access.reach()?;
    let size = i64::try_from(element_bytes).ok()?;
    let address = i64::from(access.address & (PSUM_BIT - 1));
    // What would lie below the memory's start is damage; the part above it still counts.
    let start = u64::try_from((address + low * size).max(0)).ok()?;
    let end = u64::try_from(address + high * size + size).ok().filter(|&end| end > start)?;
    Some(if is_psum(access) { Region::Psum(start..end) } else { Region::Sbuf(start..end) })
}

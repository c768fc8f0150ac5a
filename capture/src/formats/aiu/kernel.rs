//! Kernels and transfers that are needed in the order of time, before or beside their slices.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::makers::aiu::Phase;
use nprof_engine::spill::{NoBytes, Pile, Scratch, Sorter, Space, SpillKey};

use super::clock::CounterClock;
use super::device_slice::DeviceSlice;

/// The job of a kernel, and the device of the rank that it runs on. FLEX has one device for a rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Lot {
    pub(super) job: u32,
    pub(super) device: u16,
}

/// A kernel, ordered by job, device and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kernel {
    pub(super) job: u32,
    /// Device of the rank.
    pub(super) device: u16,
    pub(super) start_ps: i64,
    pub(super) number: u32,
    pub(super) end_ps: i64,
    pub(super) name: u32,
    /// Cycles of the execution; 0 if they are not known.
    pub(super) cycles: u32,
    /// Whether the kernel is of PyTorch's dialect, which has no slice of ours.
    pub(super) is_torch: bool,
}

impl Kernel {
    /// The kernel of a slice, by the clock of the host.
    pub(super) fn of(held: &DeviceSlice) -> Self {
        let DeviceSlice { start_ps, end_ps, number, name, job, .. } = *held;
        let stamps = Phase::Exec.stamps();
        let cycles = if held.has(stamps) { held.cycles(stamps) } else { 0 };
        Self { job, device: 0, start_ps, number, end_ps, name, cycles, is_torch: false }
    }

    pub(super) fn lot(&self) -> Lot {
        Lot { job: self.job, device: self.device }
    }

    /// Duration in picoseconds: that of the cycles, if they are known.
    pub(super) fn duration_ps(&self, clock: &CounterClock) -> i64 {
        match self.cycles {
            0 => self.end_ps.saturating_sub(self.start_ps),
            cycles => clock.ps(f64::from(cycles)),
        }
    }
}

/// The kernels that `is_wanted` wants, in their order.
pub(super) fn listed<'s>(
    kernels: Sorter<Kernel, &'s dyn Scratch>,
    space: Space<'s>,
    is_wanted: impl Fn(&Kernel) -> bool,
) -> Result<Pile<Kernel, &'s dyn Scratch>> {
    let mut list = space.pile();
    let mut sorted = kernels.finish()?;
    while let Some(&kernel) = sorted.next()? {
        if is_wanted(&kernel) {
            list.push(kernel)?;
        }
    }
    Ok(list)
}

impl SpillKey for Kernel {
    type Span = NoBytes;
    const MAX_LEN: usize = 44;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(u64::from(self.job));
        out.put_varint(u64::from(self.device));
        out.put_signed(self.start_ps);
        out.put_varint(u64::from(self.number));
        out.put_signed(self.end_ps);
        out.put_varint(u64::from(self.name));
        out.put_varint(u64::from(self.cycles));
        out.push(u8::from(self.is_torch));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (job, device) = (cursor.varint_u32()?, take_device(cursor)?);
        let (start_ps, number) = (cursor.signed()?, cursor.varint_u32()?);
        let (end_ps, name, cycles) = (cursor.signed()?, cursor.varint_u32()?, cursor.varint_u32()?);
        let is_torch = cursor.u8()? != 0;
        Ok(Self { job, device, start_ps, number, end_ps, name, cycles, is_torch })
    }
}

/// The number of a device, as it was put.
pub(super) fn take_device(cursor: &mut Cursor<'_>) -> Result<u16> {
    Ok(u16::try_from(cursor.varint_u32()?).unwrap_or(u16::MAX))
}

/// A transfer whose rate the trace states, ordered by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RatedTransfer {
    pub(super) start_ps: i64,
    pub(super) number: u32,
    pub(super) end_ps: i64,
    /// Bytes per second.
    pub(super) rate: u64,
    /// Device of the rank.
    pub(super) device: u16,
}

impl SpillKey for RatedTransfer {
    type Span = NoBytes;
    const MAX_LEN: usize = 38;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.start_ps);
        out.put_varint(u64::from(self.number));
        out.put_signed(self.end_ps);
        out.put_varint(self.rate);
        out.put_varint(u64::from(self.device));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (start_ps, number) = (cursor.signed()?, cursor.varint_u32()?);
        let (end_ps, rate) = (cursor.signed()?, cursor.varint()?);
        Ok(Self { start_ps, number, end_ps, rate, device: take_device(cursor)? })
    }
}

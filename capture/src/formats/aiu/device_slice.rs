//! Slices of the device that wait until the clock of the device is known.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::makers::aiu::{PhaseStamps, STAMPS};
use nprof_engine::spill::{ByteSpan, SpillKey};

/// A slice of the device as read, ordered by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeviceSlice {
    /// Start by the clock of the host, in picoseconds.
    pub(super) start_ps: i64,
    /// Position among the slices of the device, in the order of the files.
    pub(super) number: u32,
    /// End by the clock of the host, in picoseconds.
    pub(super) end_ps: i64,
    /// The counters as read. A counter that the slice lacks is zero.
    pub(super) stamps: [u32; STAMPS],
    /// Accumulated charge; zero if the slice states none.
    pub(super) charge: u32,
    /// Bit `n` is set if the slice has counter `n`. [`HAS_CHARGE`] and [`IS_UNFINISHED`] follow.
    pub(super) flags: u8,
    /// Number of the name in [`super::names::SliceNames`].
    pub(super) name: u32,
    /// Number of the thread.
    pub(super) thread: u32,
    /// Number of the file.
    pub(super) job: u32,
}

/// Flag of a slice with a charge.
pub(super) const HAS_CHARGE: u8 = 1 << 5;
/// Flag of a slice whose end is missing.
pub(super) const IS_UNFINISHED: u8 = 1 << 6;
/// Flag of a slice of a collective operation.
pub(super) const HAS_GROUP: u8 = 1 << 7;

impl DeviceSlice {
    /// Whether the slice has the counter at this position.
    pub(super) fn has_stamp(&self, at: usize) -> bool {
        self.is(1 << at)
    }

    /// Whether the slice has both counters.
    pub(super) fn has(&self, stamps: PhaseStamps) -> bool {
        self.has_stamp(stamps.first) && self.has_stamp(stamps.last)
    }

    /// Whether a flag is set.
    pub(super) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Duration by the clock of the host, in picoseconds.
    pub(super) fn host_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }

    /// Cycles from one counter to another, across at most one overflow.
    pub(super) fn cycles(&self, stamps: PhaseStamps) -> u32 {
        self.stamps[stamps.last].wrapping_sub(self.stamps[stamps.first])
    }
}

impl SpillKey for DeviceSlice {
    type Span = ByteSpan;
    const MAX_LEN: usize = 10 + 5 + 10 + 5 * STAMPS + 5 + 1 + 15;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.start_ps);
        out.put_varint(u64::from(self.number));
        out.put_signed(self.end_ps);
        for stamp in self.stamps {
            out.put_varint(u64::from(stamp));
        }
        out.put_varint(u64::from(self.charge));
        out.push(self.flags);
        for number in [self.name, self.thread, self.job] {
            out.put_varint(u64::from(number));
        }
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (start_ps, number, end_ps) = (cursor.signed()?, cursor.varint_u32()?, cursor.signed()?);
        let mut stamps = [0; STAMPS];
        for stamp in &mut stamps {
            *stamp = cursor.varint_u32()?;
        }
        let (charge, flags) = (cursor.varint_u32()?, cursor.u8()?);
        let (name, thread, job) = (cursor.varint_u32()?, cursor.varint_u32()?, cursor.varint_u32()?);
        Ok(Self { start_ps, number, end_ps, stamps, charge, flags, name, thread, job })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_survives_the_scratch_space() {
        let held = DeviceSlice {
            start_ps: -5,
            number: 1 << 31,
            end_ps: i64::MAX,
            stamps: [1, u32::MAX, 3, 4, 5],
            charge: 7,
            flags: 0b1010_0011,
            name: 3,
            thread: u32::MAX,
            job: 2,
        };
        let mut bytes = Vec::new();
        held.put(&mut bytes);
        assert!(bytes.len() <= DeviceSlice::MAX_LEN);
        assert_eq!(DeviceSlice::take(&mut Cursor::new(&bytes, 0, "test")).unwrap(), held);
        let between = |first, last| PhaseStamps { first, last };
        assert!(held.has(between(0, 1)) && !held.has(between(1, 2)));
        assert!(held.is(HAS_CHARGE) && !held.is(IS_UNFINISHED));
        assert_eq!(held.cycles(between(1, 0)), 2, "across an overflow");
    }
}

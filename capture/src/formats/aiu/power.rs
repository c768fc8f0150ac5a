//! Power, from the charge that accumulates in a counter of 32 bits.
//!
//! By the time of the host: `scale · Δcharge / Δt` in watts, with Δt in microseconds. By the
//! counters of the device: `Δcharge / Δcycles`. Each value holds from the earlier reading on.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{NoBytes, Scratch, Sorter, Space, SpillKey};

const PS_PER_US: f64 = 1e6;

/// The unit of the charge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Watts of one step of the charge in a microsecond.
    pub(super) watts: f64,
    /// Highest plausible power in watts. Higher values come from a scale that is not known.
    pub(super) max_watts: f64,
}

/// Kinds of slices that power is shown for, by their counters.
pub(super) const KINDS: [&str; 6] = ["DmaI", "DmaO", "AllGather", "AllReduce", "Cmpt Exec", "Other"];

/// The kind of a slice, by its name.
pub(super) fn kind(name: &str) -> u8 {
    let at = KINDS[..5].iter().position(|kind| name.contains(kind)).unwrap_or(5);
    u8::try_from(at).unwrap_or(5)
}

/// A reading of the charge, ordered by time or by counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ChargeReading {
    /// Picoseconds, or repaired cycles.
    at: i64,
    number: u32,
    charge: u32,
    /// Time of the sample in picoseconds.
    time_ps: i64,
    kind: u8,
}

impl SpillKey for ChargeReading {
    type Span = NoBytes;
    const MAX_LEN: usize = 31;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.at);
        out.put_varint(u64::from(self.number));
        out.put_varint(u64::from(self.charge));
        out.put_signed(self.time_ps);
        out.push(self.kind);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (at, number, charge) = (cursor.signed()?, cursor.varint_u32()?, cursor.varint_u32()?);
        Ok(Self { at, number, charge, time_ps: cursor.signed()?, kind: cursor.u8()? })
    }
}

/// A value that holds from a reading on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PowerSample {
    pub(super) time_ps: i64,
    /// Time of the next reading.
    pub(super) until_ps: i64,
    pub(super) value: f64,
    /// Charge up to the next reading.
    pub(super) charge: u64,
    /// Position in [`KINDS`].
    pub(super) kind: u8,
}

/// All readings of a rank.
pub(super) struct Readings<'s> {
    by_time: Sorter<ChargeReading, &'s dyn Scratch>,
    by_cycles: Sorter<ChargeReading, &'s dyn Scratch>,
    number: u32,
}

impl<'s> Readings<'s> {
    pub(super) fn new(space: Space<'s>) -> Self {
        Self { by_time: space.sorter(8), by_cycles: space.sorter(8), number: 0 }
    }

    /// Takes the charge at the end of an execution. A charge of zero is none.
    pub(super) fn at_time(&mut self, time_ps: i64, charge: u32) -> Result<()> {
        if charge == 0 {
            return Ok(());
        }
        self.number = self.number.saturating_add(1);
        self.by_time.push(ChargeReading { at: time_ps, number: self.number, charge, time_ps, kind: 0 })
    }

    /// Takes the charge at the start of an execution, by the repaired counter.
    pub(super) fn at_cycle(&mut self, cycle: i64, time_ps: i64, charge: u32, kind: u8) -> Result<()> {
        if charge == 0 {
            return Ok(());
        }
        self.number = self.number.saturating_add(1);
        self.by_cycles.push(ChargeReading { at: cycle, number: self.number, charge, time_ps, kind })
    }

    /// Passes the power by time to `take`, then the charge per cycle to `take_per_cycle`. Returns
    /// the number of implausible values, which are passed as 0 W.
    pub(super) fn finish(
        self,
        scale: Scale,
        mut take: impl FnMut(PowerSample) -> Result<()>,
        take_per_cycle: impl FnMut(PowerSample) -> Result<()>,
    ) -> Result<u64> {
        let mut implausible = 0;
        steps(self.by_time, |step| {
            let watts = scale.watts * step.value * PS_PER_US;
            let is_plausible = watts <= scale.max_watts;
            implausible += u64::from(!is_plausible);
            take(PowerSample { value: if is_plausible { watts } else { 0.0 }, ..step })
        })?;
        steps(self.by_cycles, take_per_cycle)?;
        Ok(implausible)
    }
}

/// Passes the charge between neighbouring readings, over their distance.
fn steps(
    readings: Sorter<ChargeReading, &dyn Scratch>,
    mut take: impl FnMut(PowerSample) -> Result<()>,
) -> Result<()> {
    let mut sorted = readings.finish()?;
    let mut before: Option<ChargeReading> = None;
    while let Some(&now) = sorted.next()? {
        let Some(last) = before else {
            before = Some(now);
            continue;
        };
        if now.at == last.at {
            continue;
        }
        // A charge that is not larger than the one before has overflowed.
        let wrap = if now.charge <= last.charge { 1 << 32 } else { 0 };
        let charge = u64::from(now.charge) + wrap - u64::from(last.charge);
        let value = charge as f64 / now.at.abs_diff(last.at) as f64;
        take(PowerSample { time_ps: last.time_ps, until_ps: now.time_ps, value, charge, kind: last.kind })?;
        before = Some(now);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nprof_engine::spill::MemoryScratch;

    use super::*;

    #[test]
    fn charge_becomes_power() {
        let scratch = MemoryScratch::default();
        let mut readings = Readings::new(Space::new(&scratch));
        let us = |us: i64| us * 1_000_000;
        // 5,120 steps in 10 us at 12 V are 12 W; the counter overflows in between.
        readings.at_time(us(10), u32::MAX - 5119 + 10).unwrap();
        readings.at_time(us(20), 10).unwrap();
        readings.at_time(us(20), 11).unwrap();
        readings.at_time(us(30), 0).unwrap();
        readings.at_time(us(40), 10_000_000).unwrap();
        readings.at_cycle(1000, us(1), 50, kind("a Cmpt Exec")).unwrap();
        readings.at_cycle(1100, us(2), 250, kind("b DmaI")).unwrap();
        let (mut watts, mut per_cycle) = (Vec::new(), Vec::new());
        let push = |out: &mut Vec<PowerSample>, sample| {
            out.push(sample);
            Ok(())
        };
        let scale = Scale { watts: 12.0 / 512.0, max_watts: 100.0 };
        let bad =
            readings.finish(scale, |sample| push(&mut watts, sample), |sample| push(&mut per_cycle, sample));
        assert_eq!(bad.unwrap(), 1);
        let first = PowerSample { time_ps: us(10), until_ps: us(20), value: 12.0, charge: 5120, kind: 0 };
        assert_eq!(watts[0], first);
        assert_eq!((watts.len(), watts[1].value), (2, 0.0));
        assert_eq!((per_cycle[0].value, KINDS[usize::from(per_cycle[0].kind)]), (2.0, "Cmpt Exec"));
    }
}

//! Statistics of the power: weighted with time, for the times at which kernels run and for those at
//! which none runs.

use std::collections::BTreeMap;

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{Interval, Result};
use nprof_engine::makers::aiu::schema::AiuPower;
use nprof_engine::makers::aiu::{WITH_KERNELS, WITHOUT_KERNELS};
use nprof_engine::model::{Sink, Value};
use nprof_engine::spill::{NoBytes, Pile, PileReader, Scratch, SpillKey};

/// Steps of a watt in medians. The values of a step count as one, so memory is bounded.
const STEPS: f64 = 1e4;

/// A time from which on kernels run, or none runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ActivityChange {
    pub(super) time_ps: i64,
    pub(super) runs: bool,
}

impl SpillKey for ActivityChange {
    type Span = NoBytes;
    const MAX_LEN: usize = 11;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.time_ps);
        out.push(u8::from(self.runs));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { time_ps: cursor.signed()?, runs: cursor.u8()? != 0 })
    }
}

/// Powers with the times for which they hold.
#[derive(Debug, Clone, Default)]
struct PowerTimes {
    /// Time by power, in steps.
    by_step: BTreeMap<u32, i64>,
    /// Time and energy of powers above zero, in picoseconds and picojoules.
    above_ps: i64,
    energy: f64,
    duration_ps: i64,
    least: Option<f64>,
    most: f64,
}

impl PowerTimes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
    fn add(&mut self, watts: f64, duration_ps: i64) {
        if duration_ps <= 0 {
            return;
        }
        self.duration_ps = self.duration_ps.saturating_add(duration_ps);
        self.most = self.most.max(watts);
        if watts > 0.0 {
            self.above_ps = self.above_ps.saturating_add(duration_ps);
            self.energy += watts * duration_ps as f64;
            self.least = Some(self.least.map_or(watts, |least| least.min(watts)));
            *self.by_step.entry((watts * STEPS).round() as u32).or_default() += duration_ps;
        }
    }

    /// The power that is reached in half of the time above zero.
    fn median(&self) -> f64 {
        let mut passed_ps = 0;
        let half = self.by_step.iter().find(|(_, ps)| {
            passed_ps += **ps;
            passed_ps >= self.above_ps - self.above_ps / 2
        });
        half.map_or(0.0, |(step, _)| f64::from(*step) / STEPS)
    }

    fn mean(&self, of_ps: i64) -> f64 {
        if of_ps > 0 { self.energy / of_ps as f64 } else { 0.0 }
    }
}

/// The statistics of a rank, while its powers come by time.
pub(super) struct Watts<'p, 's> {
    changes: PileReader<'p, ActivityChange, &'s dyn Scratch>,
    next: Option<ActivityChange>,
    runs: bool,
    with: PowerTimes,
    without: PowerTimes,
}

impl<'p, 's> Watts<'p, 's> {
    /// Statistics for the times between these changes, which come by time.
    pub(super) fn new(changes: &'p Pile<ActivityChange, &'s dyn Scratch>) -> Result<Self> {
        let mut changes = changes.read();
        let next = changes.next()?.copied();
        Ok(Self { changes, next, runs: false, with: PowerTimes::default(), without: PowerTimes::default() })
    }

    /// Takes a power. Powers come by time and do not overlap.
    pub(super) fn take(&mut self, watts: f64, during: Interval) -> Result<()> {
        let (mut from_ps, end_ps) = (during.start.0, during.end.0);
        while let Some(change) = self.next.filter(|change| change.time_ps < end_ps) {
            self.add(watts, change.time_ps.saturating_sub(from_ps));
            from_ps = from_ps.max(change.time_ps);
            self.runs = change.runs;
            self.next = self.changes.next()?.copied();
        }
        self.add(watts, end_ps.saturating_sub(from_ps));
        Ok(())
    }

    fn add(&mut self, watts: f64, duration_ps: i64) {
        if self.runs { &mut self.with } else { &mut self.without }.add(watts, duration_ps);
    }

    /// Writes the statistics, if there is any power.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<()> {
        let parts = [(WITH_KERNELS, self.with), (WITHOUT_KERNELS, self.without)];
        if parts.iter().all(|(_, part)| part.duration_ps == 0) {
            return Ok(());
        }
        let fields = AiuPower::define(sink)?;
        for (name, part) in parts {
            let ns = |ps: i64| Value::Float(ps as f64 / 1e3);
            sink.row(
                fields.table,
                &[
                    (fields.part, Value::Text(name)),
                    (fields.min, Value::Float(part.least.unwrap_or(0.0))),
                    (fields.max, Value::Float(part.most)),
                    (fields.mean, Value::Float(part.mean(part.above_ps))),
                    (fields.median, Value::Float(part.median())),
                    (fields.average, Value::Float(part.mean(part.duration_ps))),
                    (fields.duration, ns(part.duration_ps)),
                    (fields.duration_above, ns(part.above_ps)),
                ],
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;
    use nprof_engine::model::OwnedValue;
    use nprof_engine::spill::{MemoryScratch, Space};

    use super::*;

    #[test]
    fn powers_are_cut_where_kernels_begin_and_end() {
        let scratch = MemoryScratch::default();
        let space = Space::new(&scratch);
        let mut changes = space.pile();
        for (time_ps, runs) in [(1_000, true), (3_000, false), (6_000, true), (7_000, false)] {
            changes.push(ActivityChange { time_ps, runs }).unwrap();
        }
        let mut watts = Watts::new(&changes).unwrap();
        watts.take(10.0, Interval::new(0, 2_000)).unwrap();
        watts.take(40.0, Interval::new(2_000, 5_000)).unwrap();
        watts.take(0.0, Interval::new(5_000, 9_000)).unwrap();
        let mut sink = Recorder::default();
        watts.finish(&mut sink).unwrap();
        let rows: Vec<Vec<f64>> = sink
            .rows_of("aiu_power")
            .map(|row| {
                let number = |(_, value): &(String, OwnedValue)| match value {
                    OwnedValue::Float(value) => Some(*value),
                    _ => None,
                };
                row.iter().filter_map(number).collect()
            })
            .collect();
        // Least, most, mean, median, average of all, durations in nanoseconds.
        assert_eq!(rows[0], [10.0, 40.0, 25.0, 10.0, 50.0 / 3.0, 3.0, 2.0]);
        assert_eq!(rows[1], [10.0, 40.0, 30.0, 40.0, 15.0, 6.0, 3.0]);
    }

    #[test]
    fn without_powers_there_are_no_statistics() {
        let scratch = MemoryScratch::default();
        let changes = Space::new(&scratch).pile();
        let mut sink = Recorder::default();
        Watts::new(&changes).unwrap().finish(&mut sink).unwrap();
        assert!(sink.tables.is_empty());
    }
}

//! Steps of a counter, up and down, found in any order and taken in the order of time.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{NoBytes, Scratch, Sorted, SpillKey};

use crate::error::Error;

/// One change of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterStep {
    /// Time since the origin.
    pub time_ps: i64,
    /// Number of the thing that grows or shrinks, if there are several, e.g. a bank.
    pub what: u8,
    /// Amount of the change.
    pub by: i64,
}

impl SpillKey for CounterStep {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 1 + 10;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time_ps.to_le_bytes());
        out.push(self.what);
        out.put_signed(self.by);
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        Ok(Self { time_ps: cursor.u64()?.cast_signed(), what: cursor.u8()?, by: cursor.signed()? })
    }
}

/// Steps grouped by time.
pub struct Moments<'s> {
    steps: Sorted<CounterStep, &'s dyn Scratch>,
    next: Option<CounterStep>,
}

impl<'s> Moments<'s> {
    /// The state before the first step.
    pub fn new(mut steps: Sorted<CounterStep, &'s dyn Scratch>) -> Result<Self, Error> {
        Ok(Self { next: steps.next()?.copied(), steps })
    }

    /// Whether no step is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// The next time with steps. `take` receives each of them before.
    pub fn next(&mut self, mut take: impl FnMut(&CounterStep)) -> Result<Option<i64>, Error> {
        let Some(time_ps) = self.next.map(|step| step.time_ps) else { return Ok(None) };
        while let Some(step) = self.next.take_if(|step| step.time_ps == time_ps) {
            take(&step);
            self.next = self.steps.next()?.copied();
        }
        Ok(Some(time_ps))
    }
}

//! What counters add up: steps up and down, found in any order, taken moment by moment.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{Key, NoBytes, Scratch, Sorted};

use crate::formats::Error;

/// Something grows or shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// When, since the origin.
    pub time_ps: i64,
    /// Which, where there are several.
    pub what: u8,
    /// By how much.
    pub by: i64,
}

impl Key for Step {
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

/// Steps at the same moment come together.
pub struct Moments<'s> {
    steps: Sorted<Step, &'s dyn Scratch>,
    next: Option<Step>,
}

impl<'s> Moments<'s> {
    /// Before the first.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn new(mut steps: Sorted<Step, &'s dyn Scratch>) -> Result<Self, Error> {
        Ok(Self { next: steps.next()?.copied(), steps })
    }

    /// Whether none is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// The next moment, when `take` has been given all its steps.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn next(&mut self, mut take: impl FnMut(&Step)) -> Result<Option<i64>, Error> {
        let Some(time_ps) = self.next.map(|step| step.time_ps) else { return Ok(None) };
        while let Some(step) = self.next.take_if(|step| step.time_ps == time_ps) {
            take(&step);
            self.next = self.steps.next()?.copied();
        }
        Ok(Some(time_ps))
    }
}

//! Steps of collective operations of PyTorch's dialect: slices of the device with `HCOLL` in their
//! names. They name neither ranks nor an instance. The steps of one launch are one operation, and
//! so are steps without a launch until a step comes again.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::makers::aiu::HCOLL;
use nprof_engine::spill::{NoBytes, SpillKey};
use rustc_hash::{FxHashMap, FxHashSet};

/// A step, ordered by file and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Protocol {
    pub(super) job: u32,
    pub(super) start_ps: i64,
    pub(super) number: u32,
    pub(super) end_ps: i64,
    /// Number of the name.
    pub(super) name: u32,
    /// The launch.
    pub(super) correlation: Option<i64>,
    pub(super) bytes: i64,
}

/// Whether a slice of the device is a step.
pub(super) fn is_step(category: &[u8], name: &str) -> bool {
    let has = |word: &str| memchr::memmem::find(category, word.as_bytes()).is_some();
    (has("gpu") || has("kernel")) && name.contains(HCOLL)
}

/// The operations so far.
#[derive(Debug, Default)]
pub(super) struct HcollOperations {
    by_launch: FxHashMap<(u32, i64), u64>,
    count: u64,
    /// The operation of steps without a launch: its file, its number, and its steps so far.
    open: Option<(u32, u64, FxHashSet<u32>)>,
}

impl HcollOperations {
    /// The number of the operation that a step belongs to.
    pub(super) fn of(&mut self, step: &Protocol) -> u64 {
        let Self { by_launch, count, open } = self;
        let mut fresh = || {
            *count += 1;
            *count
        };
        if let Some(correlation) = step.correlation {
            return *by_launch.entry((step.job, correlation)).or_insert_with(fresh);
        }
        if let Some((job, number, seen)) = open
            && *job == step.job
            && seen.insert(step.name)
        {
            return *number;
        }
        let number = fresh();
        *open = Some((step.job, number, FxHashSet::from_iter([step.name])));
        number
    }
}

impl SpillKey for Protocol {
    type Span = NoBytes;
    const MAX_LEN: usize = 15 + 40 + 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(u64::from(self.job));
        out.put_signed(self.start_ps);
        out.put_varint(u64::from(self.number));
        out.put_signed(self.end_ps);
        out.put_varint(u64::from(self.name));
        out.push(u8::from(self.correlation.is_some()));
        out.put_signed(self.correlation.unwrap_or(0));
        out.put_signed(self.bytes);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (job, start_ps, number) = (cursor.varint_u32()?, cursor.signed()?, cursor.varint_u32()?);
        let (end_ps, name, is_launched) = (cursor.signed()?, cursor.varint_u32()?, cursor.u8()? != 0);
        let correlation = Some(cursor.signed()?).filter(|_| is_launched);
        Ok(Self { job, start_ps, number, end_ps, name, correlation, bytes: cursor.signed()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_launch_are_one_operation() {
        let mut operations = HcollOperations::default();
        let mut of = |job: u32, name: u32, correlation: Option<i64>| {
            operations.of(&Protocol { job, start_ps: 0, number: 0, end_ps: 1, name, correlation, bytes: 0 })
        };
        assert_eq!(
            [of(0, 0, Some(7)), of(0, 1, Some(7)), of(0, 0, Some(8)), of(0, 1, Some(7))],
            [1, 1, 2, 1]
        );
        assert_eq!([of(0, 0, None), of(0, 1, None), of(0, 0, None), of(1, 1, None)], [3, 3, 4, 5]);
        assert_eq!(of(1, 0, Some(7)), 6);
    }

    #[test]
    fn a_step_survives_the_scratch_space() {
        for correlation in [None, Some(-3)] {
            let step = Protocol {
                job: u32::MAX,
                start_ps: i64::MIN,
                number: 7,
                end_ps: i64::MAX,
                name: u32::MAX,
                correlation,
                bytes: i64::MAX,
            };
            let mut bytes = Vec::new();
            step.put(&mut bytes);
            assert!(bytes.len() <= Protocol::MAX_LEN);
            assert_eq!(Protocol::take(&mut Cursor::new(&bytes, 0, "test")).unwrap(), step);
        }
    }
}

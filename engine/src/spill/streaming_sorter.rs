//! Sorts keys that come nearly in order, and gives them out while others are still to come.

use super::sorter::sort_nearly;
use super::{NoBytes, Scratch, Sorted, Sorter, SpillKey};
use crate::base::Result;

/// Most keys that wait. If more must wait, the keys are not nearly in order and go to a [`Sorter`].
const MAX_WAITING: usize = 1 << 17;

/// Takes keys and returns them in order. The caller states from time to time which keys can still
/// come. Keys that come before all of those need no further memory and no scratch space.
#[derive(Debug)]
pub struct Ordered<K: SpillKey, S: Scratch> {
    /// Keys in order up to `ready`, of which those before `next` were returned, then others.
    keys: Vec<K>,
    next: usize,
    ready: usize,
    rest: Rest<K, S>,
}

/// Keys that wait for the end.
#[derive(Debug)]
enum Rest<K: SpillKey, S: Scratch> {
    /// None so far, and the sorter that would take them.
    None(Box<Sorter<K, S>>),
    Some(Box<Sorter<K, S>>),
    Ended(Box<Sorted<K, S>>),
    Failed,
}

impl<K: SpillKey<Span = NoBytes>, S: Scratch> Ordered<K, S> {
    /// An empty list. `sorter` takes the keys if they are not nearly in order.
    pub fn new(sorter: Sorter<K, S>) -> Self {
        Self { keys: Vec::new(), next: 0, ready: 0, rest: Rest::None(Box::new(sorter)) }
    }

    /// Takes a key.
    #[inline(always)]
    pub fn push(&mut self, key: K) -> Result<()> {
        match &mut self.rest {
            Rest::Some(sorter) => sorter.push(key),
            _ => {
                self.keys.push(key);
                Ok(())
            }
        }
    }

    /// Makes the keys ready for which `is_final` holds: no key that is still to come precedes them.
    /// It holds for the first keys in order.
    pub fn release(&mut self, is_final: impl Fn(&K) -> bool) -> Result<()> {
        self.keys.drain(..self.next);
        self.next = 0;
        sort_nearly(&mut self.keys, |key| *key);
        self.ready = self.keys.partition_point(is_final);
        if self.keys.len() - self.ready <= MAX_WAITING {
            return Ok(());
        }
        if let Rest::None(mut sorter) = std::mem::replace(&mut self.rest, Rest::Failed) {
            self.keys.drain(self.ready..).try_for_each(|key| sorter.push(key))?;
            self.rest = Rest::Some(sorter);
        }
        Ok(())
    }

    /// Makes all keys ready. No key comes after this.
    pub fn finish(&mut self) -> Result<()> {
        self.release(|_| true)?;
        if let Rest::Some(sorter) = std::mem::replace(&mut self.rest, Rest::Failed) {
            self.rest = Rest::Ended(Box::new(sorter.finish()?));
        }
        Ok(())
    }

    /// Returns the next key that is ready.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&K>> {
        if self.next < self.ready {
            self.next += 1;
            return Ok(Some(&self.keys[self.next - 1]));
        }
        match &mut self.rest {
            Rest::Ended(sorted) => sorted.next(),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::bytes::{Cursor, Put};
    use crate::spill::MemoryScratch;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Moment(u64);

    impl SpillKey for Moment {
        type Span = NoBytes;
        const MAX_LEN: usize = 10;

        fn put(&self, out: &mut Vec<u8>) {
            out.put_varint(self.0);
        }

        fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
            cursor.varint().map(Self)
        }
    }

    /// Pushes the moments in blocks and states the floor after each. Returns what comes out, and
    /// the number of keys that came out before the end.
    fn told(moments: &[u64], block: usize) -> (Vec<u64>, usize) {
        let scratch = MemoryScratch::default();
        let mut ordered = Ordered::new(Sorter::new(&scratch, 1 << 20));
        let mut found = Vec::new();
        for at in (0..moments.len()).step_by(block) {
            let end = moments.len().min(at + block);
            moments[at..end].iter().for_each(|&moment| ordered.push(Moment(moment)).unwrap());
            let floor = moments[end..].iter().min().copied().unwrap_or(u64::MAX);
            ordered.release(|moment| moment.0 < floor).unwrap();
            found.extend(std::iter::from_fn(|| ordered.next().unwrap().map(|moment| moment.0)));
        }
        let early = found.len();
        ordered.finish().unwrap();
        found.extend(std::iter::from_fn(|| ordered.next().unwrap().map(|moment| moment.0)));
        (found, early)
    }

    proptest! {
        #[test]
        fn keys_come_in_order(moments in prop::collection::vec(0_u64..1_000, 0..300), block in 1_usize..50) {
            let mut expected = moments.clone();
            expected.sort_unstable();
            prop_assert_eq!(told(&moments, block).0, expected);
        }
    }

    #[test]
    fn keys_nearly_in_order_come_early_and_others_at_the_end() {
        let count = 4 * MAX_WAITING as u64;
        let (found, early) = told(&(0..count).map(|at| at ^ 7).collect::<Vec<_>>(), 1 << 12);
        assert!(found.is_sorted() && found.len() as u64 == count);
        assert_eq!(early as u64, count);
        let (found, early) = told(&(0..count).rev().collect::<Vec<_>>(), 1 << 12);
        assert!(found.is_sorted() && found.len() as u64 == count);
        assert_eq!(early, 0);
    }
}

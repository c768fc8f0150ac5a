//! Computes items ahead of their consumer, on another thread, in batches. Their order stays.

use nprof_engine::exec::{Exec, conveyor};

use crate::error::Error;

/// Items of a batch. Together with the batches in flight they fit the processor's caches.
const BATCH_ITEMS: usize = if cfg!(test) { 8 } else { 1024 };

/// Most full batches that wait for the consumer.
const MAX_WAITING: usize = 2;

/// Some items, and the reason why no more follow, if there is one.
#[derive(Debug)]
struct ItemBatch<T> {
    items: Vec<T>,
    end: Option<Result<(), Error>>,
}

impl<T> Default for ItemBatch<T> {
    fn default() -> Self {
        Self { items: Vec::with_capacity(BATCH_ITEMS), end: None }
    }
}

impl<T> ItemBatch<T> {
    fn fill(&mut self, next: &mut dyn FnMut() -> Result<Option<T>, Error>) {
        self.items.clear();
        self.end = None;
        while self.items.len() < BATCH_ITEMS && self.end.is_none() {
            match next() {
                Ok(Some(item)) => self.items.push(item),
                Ok(None) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }

    /// Passes the items on. Returns whether more batches follow.
    fn take(&mut self, take: &mut dyn FnMut(&T) -> Result<(), Error>) -> Result<bool, Error> {
        self.items.iter().try_for_each(take)?;
        self.end.take().map_or(Ok(true), |end| end.map(|()| false))
    }
}

/// Passes each item that `next` returns to `take`, until there is none. `next` can be called for
/// later items before `take` has seen the earlier ones.
///
/// # Errors
/// The first error of either. Neither is called again for long after it.
pub fn for_each<T: Send>(
    exec: &dyn Exec,
    next: &mut (dyn FnMut() -> Result<Option<T>, Error> + Send),
    take: &mut dyn FnMut(&T) -> Result<(), Error>,
) -> Result<(), Error> {
    // The first batch is filled on this thread. If there is no more, a second thread would not pay
    // off.
    let mut first = ItemBatch::default();
    first.fill(next);
    let mut goes_on = first.take(take)?;
    if !exec.is_parallel() {
        while goes_on {
            first.fill(next);
            goes_on = first.take(take)?;
        }
    }
    if !goes_on {
        return Ok(());
    }
    let (feeder, taker) = conveyor::<ItemBatch<T>, ItemBatch<T>>(MAX_WAITING);
    // Each thread drops its end when it is done, which ends the other's wait.
    let (mut of_aside, mut of_here) = (Some(feeder), Some(taker));
    let mut result = Ok(());
    let mut aside = || {
        let Some(feeder) = of_aside.take() else { return };
        loop {
            let mut batch = feeder.emptied();
            batch.fill(next);
            let is_last = batch.end.is_some();
            if !feeder.send(batch) || is_last {
                return;
            }
        }
    };
    let mut here = || {
        let Some(taker) = of_here.take() else { return };
        while let Some(mut batch) = taker.take() {
            match batch.take(take) {
                Ok(true) => taker.give_back(batch),
                Ok(false) => return,
                Err(error) => {
                    result = Err(error);
                    return;
                }
            }
        }
    };
    exec.beside(&mut aside, &mut here);
    result
}

#[cfg(test)]
mod tests {
    use nprof_engine::base;
    use nprof_engine::exec::CallerThread;
    use nprof_engine::native::AllCores;

    use super::*;

    const FULL: base::Error = base::Error::Storage { what: "full" };

    /// Passes `count` numbers on. `next` fails at one number, or `take` at another.
    #[track_caller]
    fn check(count: usize, failing: Option<usize>, refused: Option<usize>) {
        for exec in [&CallerThread as &dyn Exec, &AllCores] {
            let (mut at, mut taken) = (0, Vec::new());
            let mut next = || {
                at += 1;
                if failing == Some(at - 1) {
                    return Err(FULL.into());
                }
                Ok((at <= count).then_some(at - 1))
            };
            let mut take = |number: &usize| {
                if refused == Some(*number) {
                    return Err(FULL.into());
                }
                taken.push(*number);
                Ok(())
            };
            let result = for_each(exec, &mut next, &mut take);
            let end = failing.into_iter().chain(refused).min().unwrap_or(count);
            assert_eq!(result.is_err(), end < count);
            assert_eq!(taken, (0..end).collect::<Vec<_>>());
        }
    }

    #[test]
    fn items_come_in_order_up_to_the_end_or_an_error() {
        for count in [0, 1, 7, 8, 9, 16, 100] {
            check(count, None, None);
        }
        for at in [0, 7, 8, 9, 50] {
            check(100, Some(at), None);
            check(100, None, Some(at));
        }
    }
}

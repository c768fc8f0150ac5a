//! A piece of work: its executor, and its cancellation.

use std::fmt;

use super::{CallerThread, Cancel, Exec, gather};
use crate::base::Result;

/// Context that is passed to every long operation.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Runs the tasks.
    pub exec: &'a dyn Exec,
    /// Tells whether the work is cancelled.
    pub cancel: Cancel<'a>,
}

impl<'a> Work<'a> {
    /// Runs in place and is never cancelled.
    pub const IN_PLACE: Work<'static> = Work { exec: &CallerThread, cancel: Cancel::NEVER };

    /// Runs on `exec` and is never cancelled.
    #[must_use]
    pub fn on(exec: &'a dyn Exec) -> Self {
        Self { exec, cancel: Cancel::NEVER }
    }

    /// Results of `count` tasks, in the order of their numbers.
    ///
    /// # Errors
    /// The error of the first task that failed; `Cancelled` if the work is cancelled.
    pub fn gather<T: Send + Sync>(
        self,
        count: usize,
        part: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let results = gather(self.exec, count, |at| self.cancel.check().and_then(|()| part(at)));
        results.into_iter().collect()
    }
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Error;

    #[test]
    fn parts_come_in_order_and_the_first_failure_counts() {
        assert_eq!(Work::IN_PLACE.gather(3, |at| Ok(at * 2)), Ok(vec![0, 2, 4]));
        let failing = |at| if at > 0 { Err(Error::Corrupt { what: "", offset: at as u64 }) } else { Ok(at) };
        assert_eq!(Work::IN_PLACE.gather(3, failing), Err(Error::Corrupt { what: "", offset: 1 }));
    }

    #[test]
    fn no_part_begins_after_the_work_is_cancelled() {
        let work = Work { exec: &CallerThread, cancel: Cancel::when(&|| true) };
        let begun = work.gather(1, |_| -> Result<()> { panic!("it is cancelled") });
        assert_eq!(begun, Err(Error::Cancelled));
    }
}

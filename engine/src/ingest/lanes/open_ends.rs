//! Counts the open slices that end at or after a given time.

use crate::exec::step;

/// Ends of slices, in runs of descending ends. Each run except the last is at least twice as long
/// as the next one.
///
/// Nested calls form one run, a stack. An end that is later than the last end of the last run
/// begins a new run. Short runs are merged before that. Each end is merged O(log n) times, and a
/// count visits O(log n) runs.
#[derive(Debug, Default)]
pub struct OpenEnds {
    runs: Vec<Vec<i64>>,
}

impl OpenEnds {
    /// Number of slices open at `now_ps` that end at or after `end_ps`. `end_ps` is later than
    /// `now_ps`, and `now_ps` never decreases between calls.
    pub fn count_from(&mut self, now_ps: i64, end_ps: i64) -> usize {
        self.forget(now_ps);
        let count = |run: &Vec<i64>| match run.last() {
            // All of them, which is the usual case.
            Some(&last) if last >= end_ps => {
                step(1);
                run.len()
            }
            _ => {
                step(run.len().checked_ilog2().map_or(0, |steps| steps as usize + 1));
                run.partition_point(|&end| end >= end_ps)
            }
        };
        self.runs.iter().map(count).sum()
    }

    /// Number of ends that are kept.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Adds the end of a slice that starts at `now_ps`.
    pub fn push(&mut self, now_ps: i64, end_ps: i64) {
        self.forget(now_ps);
        step(1);
        match self.runs.last_mut() {
            Some(run) if run.last().is_none_or(|&last| last >= end_ps) => run.push(end_ps),
            _ => {
                self.merge(now_ps);
                self.runs.push(vec![end_ps]);
            }
        }
    }

    /// Drops the ends of the last run that have passed.
    fn forget(&mut self, now_ps: i64) {
        while let Some(run) = self.runs.last_mut() {
            let before = run.len();
            while run.last().is_some_and(|&end| end <= now_ps) {
                run.pop();
            }
            let (left, dropped) = (run.len(), before - run.len());
            step(dropped + 1);
            if left > 0 || self.runs.len() == 1 {
                break;
            }
            self.runs.pop();
        }
    }

    /// Merges runs from the last on until each is twice as long as the next one.
    fn merge(&mut self, now_ps: i64) {
        while let [.., earlier, later] = self.runs.as_slice()
            && earlier.len() < 2 * later.len()
        {
            step(earlier.len() + later.len());
            let merged = merged(earlier, later, now_ps);
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
    }
}

/// The ends after `now_ps` of two runs, descending.
fn merged(a: &[i64], b: &[i64], now_ps: i64) -> Vec<i64> {
    let open = |run: &[i64]| run.partition_point(|&end| end > now_ps);
    let (mut a, mut b) = (&a[..open(a)], &b[..open(b)]);
    let mut merged = Vec::with_capacity(a.len() + b.len());
    while let (Some((&first, after)), Some((&second, behind))) = (a.split_first(), b.split_first()) {
        if first >= second {
            merged.push(first);
            a = after;
        } else {
            merged.push(second);
            b = behind;
        }
    }
    merged.extend_from_slice(a);
    merged.extend_from_slice(b);
    merged
}

//! Waiting that no computation hides. Waits of one rank on several streams can overlap, and each
//! moment counts once.

use std::collections::VecDeque;

use crate::base::Interval;

/// Intervals that a later wait can still join. Waits come nearly in the order of their ends.
const KEPT: usize = 64;

/// The waits of a rank so far.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitUnion {
    /// Disjoint ascending intervals with the length of their open parts.
    recent: VecDeque<(Interval, i64)>,
    sum_ps: i64,
}

impl WaitUnion {
    /// Adds a wait. `open` tells how much of a span no computation hides.
    pub(super) fn add(&mut self, mut wait: Interval, open: impl Fn(Interval) -> i64) {
        while let Some(&(before, part)) = self.recent.back()
            && before.end >= wait.start
        {
            // An interval that begins after the end of this wait stays apart.
            if before.start > wait.end {
                break;
            }
            wait = wait.cover(before);
            self.sum_ps -= part;
            self.recent.pop_back();
        }
        let part = open(wait);
        self.sum_ps += part;
        if self.recent.back().is_some_and(|(last, _)| last.start > wait.end) {
            // Too late to be joined: waits that end much later came before.
            return;
        }
        self.recent.push_back((wait, part));
        if self.recent.len() > KEPT {
            self.recent.pop_front();
        }
    }

    /// Sum of the open parts, in picoseconds.
    pub(super) fn sum_ps(&self) -> i64 {
        self.sum_ps
    }
}

/// Length of the part of a span outside of disjoint ascending intervals.
pub(super) fn open_part(covered: &[(i64, i64)], span: Interval) -> i64 {
    let (from, to) = (span.start.0, span.end.0);
    let first = covered.partition_point(|part| part.1 <= from);
    let inside = covered[first..].iter().take_while(|part| part.0 < to);
    let hidden: i64 = inside.map(|part| part.1.min(to) - part.0.max(from)).sum();
    (to - from - hidden).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_waits_count_once_and_computation_not_at_all() {
        let covered = [(5, 10), (30, 40)];
        let mut waits = WaitUnion::default();
        for (start, end) in [(0, 8), (6, 20), (2, 20), (25, 35)] {
            waits.add(Interval::new(start, end), |span| open_part(&covered, span));
        }
        // 0 to 20 without 5 to 10, and 25 to 30.
        assert_eq!(waits.sum_ps(), 20);
        assert_eq!(open_part(&covered, Interval::new(6, 9)), 0);
    }
}

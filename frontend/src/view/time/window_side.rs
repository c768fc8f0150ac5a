//! Windows that show nothing of a trace, because they lie before its start or after its end.

use nprof_engine::base::Interval;

/// The side of the trace on which a window lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Before the first timestamp.
    Before,
    /// After the last timestamp.
    After,
}

impl Outside {
    /// The side of a window that does not overlap the trace. `None` if it overlaps. The last
    /// timestamp belongs to the trace.
    #[must_use]
    pub fn of(window: Interval, whole: Interval) -> Option<Self> {
        if window.end <= whole.start {
            Some(Self::Before)
        } else if window.start > whole.end {
            Some(Self::After)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(window: (i64, i64), expected: Option<Outside>) {
        let whole = Interval::new(100, 200);
        assert_eq!(Outside::of(Interval::new(window.0, window.1), whole), expected, "{window:?}");
    }

    #[test]
    fn windows_beside_the_trace_are_told_from_those_that_touch_it() {
        check((0, 100), Some(Outside::Before));
        check((0, 101), None);
        check((150, 160), None);
        check((199, 900), None);
        check((200, 900), None);
        check((201, 900), Some(Outside::After));
        check((-900, -800), Some(Outside::Before));
    }
}

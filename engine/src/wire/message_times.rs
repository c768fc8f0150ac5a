//! The times of messages, and their conversion between the clock of a rank and the time that all
//! ranks share.

use crate::base::{ClockFit, Time};

/// A message with its times.
pub trait Timed {
    /// Calls `f` with each time on the rank's clock. Times on the shared clock, sums of durations
    /// and times of tiles, which caches keep, are left out.
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>));
}

/// A time of a message, in picoseconds.
#[derive(Debug, PartialEq, Eq)]
pub enum TimeField<'a> {
    /// A time.
    Instant(&'a mut i64),
    /// A start and a duration, which changes with the drift of the clock.
    Span {
        /// The start.
        start_ps: &'a mut i64,
        /// The duration.
        duration_ps: &'a mut i64,
    },
}

/// Converts all times of a message from the clock of its rank to the time that all ranks share.
pub fn move_to_shared(message: &mut impl Timed, clock: ClockFit) {
    let shared = |local_ps: i64| clock.to_shared(Time(local_ps)).0;
    message.each_time(&mut |field| match field {
        TimeField::Instant(time_ps) => *time_ps = shared(*time_ps),
        TimeField::Span { start_ps, duration_ps } => {
            let end_ps = shared(start_ps.saturating_add(*duration_ps));
            *start_ps = shared(*start_ps);
            *duration_ps = end_ps.saturating_sub(*start_ps);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SliceForm;
    use crate::wire::detail::SliceEntry;

    fn slice(start_ps: i64, duration_ps: i64) -> SliceEntry {
        let name = "a".to_owned();
        SliceEntry {
            row: 0,
            track: 0,
            lane: 0,
            depth: 0,
            name,
            start_ps,
            duration_ps,
            form: SliceForm::Complete,
        }
    }

    #[test]
    fn slices_that_touch_still_touch() {
        let clock = ClockFit::new(0, 1_000, -100_000_000, None).unwrap();
        let (mut first, mut second) = (slice(7, 13), slice(20, 5));
        move_to_shared(&mut first, clock);
        move_to_shared(&mut second, clock);
        assert_eq!((first.start_ps, first.duration_ps), (1_006, 12));
        assert_eq!(first.start_ps + first.duration_ps, second.start_ps);
    }
}

//! Overlapping slices of a thread. Viewers of Trace Event JSON draw slices of a thread as a stack,
//! so a slice must end within the one that is open when it starts.

use std::collections::{HashMap, HashSet};

/// Treatment of a slice that ends after the open slice below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// It gets another thread number.
    Tid,
    /// It is left out.
    Drop,
    /// It becomes a pair of asynchronous events.
    Async,
    /// It stays, and counts.
    Warn,
    /// It stays.
    Kept,
    /// It starts later, if it overlaps by less than 5 ns. Otherwise it stays.
    Shift,
}

/// The largest overlap that a shift removes, in picoseconds.
const MAX_SHIFT_PS: i64 = 5_000;
/// A shift ends this far behind the overlap, in picoseconds.
const SHIFT_MARGIN_PS: i64 = 1_500;
/// Shifts are whole multiples, in picoseconds.
const SHIFT_STEP_PS: i64 = 1_000;
/// Ends are compared in steps of this, in picoseconds.
const STEP_PS: i64 = 100;

/// The way in which a slice is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// On this thread.
    On(i128),
    /// On its thread, with a start that is later by this many picoseconds.
    Later(i64),
    /// As a pair of asynchronous events.
    Async,
    /// Not at all.
    Dropped,
}

/// Process and thread, as numbers.
pub type Thread = (i64, i128);

/// The open slices of all threads.
#[derive(Debug)]
pub struct Lanes {
    mode: Overlap,
    max_streams: Option<u32>,
    /// Ends of the open slices by process and thread, the outermost first.
    open: HashMap<Thread, Vec<i64>>,
    /// Threads of the trace, and numbers that overlapping slices of others got.
    used: HashSet<Thread>,
    /// Further numbers of a thread.
    further: HashMap<Thread, Vec<i128>>,
    /// Slices that overlap others.
    pub overlaps: u64,
    /// Slices that needed more thread numbers than allowed.
    pub beyond: u64,
}

impl Lanes {
    /// Lanes with at most this many further numbers for a thread, beside the threads of the trace.
    #[must_use]
    pub fn new(mode: Overlap, max_streams: Option<u32>, threads: HashSet<Thread>) -> Self {
        Self {
            mode,
            max_streams,
            open: HashMap::new(),
            used: threads,
            further: HashMap::new(),
            overlaps: 0,
            beyond: 0,
        }
    }

    /// Places a slice. Slices must come by start, of equal starts the longest first.
    pub fn place(&mut self, thread: Thread, start_ps: i64, end_ps: i64) -> Placed {
        if self.mode == Overlap::Kept {
            return Placed::On(thread.1);
        }
        let Some(overlap_ps) = self.overlap(thread, start_ps, end_ps) else {
            self.push(thread, end_ps);
            return Placed::On(thread.1);
        };
        self.overlaps += 1;
        match self.mode {
            Overlap::Drop => Placed::Dropped,
            Overlap::Async => Placed::Async,
            Overlap::Shift if overlap_ps < MAX_SHIFT_PS => {
                let wanted = overlap_ps + SHIFT_MARGIN_PS + SHIFT_STEP_PS / 2;
                let later_ps = wanted - wanted.rem_euclid(SHIFT_STEP_PS);
                self.overlap(thread, start_ps + later_ps, end_ps);
                self.push(thread, end_ps);
                Placed::Later(later_ps)
            }
            Overlap::Warn | Overlap::Kept | Overlap::Shift => Placed::On(thread.1),
            Overlap::Tid => self.beside(thread, start_ps, end_ps),
        }
    }

    /// Puts a slice on the first further number of its thread on which it crosses no other.
    fn beside(&mut self, thread: Thread, start_ps: i64, end_ps: i64) -> Placed {
        let mut at = 0;
        let number = loop {
            let number = self.further_number(thread, at);
            if self.overlap((thread.0, number), start_ps, end_ps).is_none() {
                break number;
            }
            at += 1;
        };
        self.beyond += u64::from(self.max_streams.is_some_and(|most| at >= most as usize));
        self.push((thread.0, number), end_ps);
        Placed::On(number)
    }

    /// A further number of a thread: those above it that no other thread of the process uses. The
    /// allowed ones are reserved together, as acelyzer does.
    fn further_number(&mut self, thread: Thread, at: usize) -> i128 {
        let allowed = self.max_streams.map_or(1, |most| most as usize).max(1);
        let further = self.further.entry(thread).or_default();
        let mut next = further.last().copied().unwrap_or(thread.1) + 1;
        let wanted = if further.is_empty() { allowed.min(MAX_RESERVED).max(at + 1) } else { at + 1 };
        while further.len() < wanted {
            if self.used.insert((thread.0, next)) {
                further.push(next);
            }
            next += 1;
        }
        further[at]
    }

    /// Time from the start to the end of the open slice, if this slice ends after it.
    fn overlap(&mut self, thread: Thread, start_ps: i64, end_ps: i64) -> Option<i64> {
        let open = self.open.get_mut(&thread)?;
        while open.pop_if(|end| *end - start_ps < STEP_PS).is_some() {}
        let last = *open.last()?;
        (end_ps - last >= STEP_PS).then(|| last - start_ps)
    }

    fn push(&mut self, thread: Thread, end_ps: i64) {
        self.open.entry(thread).or_default().push(end_ps);
    }
}

/// Most numbers that are reserved for a thread before it needs them.
const MAX_RESERVED: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mode: Overlap, slices: &[(i64, i64)], expected: &[Placed]) {
        let mut lanes = Lanes::new(mode, Some(1), HashSet::from([(0, 7), (5, 8)]));
        let ns = |ns: i64| ns * 1_000;
        let placed: Vec<Placed> =
            slices.iter().map(|&(start, end)| lanes.place((0, 7), ns(start), ns(end))).collect();
        assert_eq!(placed, expected, "{mode:?} {slices:?}");
    }

    #[test]
    fn overlapping_slices_are_treated_as_asked() {
        use Placed::*;
        let crossed = [(0, 10), (2, 8), (3, 12), (4, 14), (10, 11)];
        check(Overlap::Tid, &crossed, &[On(7), On(7), On(8), On(9), On(7)]);
        check(Overlap::Drop, &crossed, &[On(7), On(7), Dropped, Dropped, On(7)]);
        check(Overlap::Async, &crossed, &[On(7), On(7), Async, Async, On(7)]);
        check(Overlap::Kept, &crossed, &[On(7), On(7), On(7), On(7), On(7)]);
        check(Overlap::Warn, &crossed, &[On(7), On(7), On(7), On(7), On(7)]);
        check(Overlap::Shift, &[(0, 10), (8, 20), (9, 30)], &[On(7), Later(4_000), On(7)]);
        check(Overlap::Tid, &[(0, 10), (10, 20)], &[On(7), On(7)]);
    }

    #[test]
    fn slices_beyond_the_allowed_numbers_are_counted() {
        let mut lanes = Lanes::new(Overlap::Tid, Some(1), HashSet::new());
        for start in 0..4 {
            lanes.place((0, 0), start * 1_000, 100_000 + start * 1_000);
        }
        assert_eq!((lanes.overlaps, lanes.beyond), (3, 2));
    }

    #[test]
    fn further_numbers_are_those_of_no_other_thread() {
        let threads = HashSet::from([(5, 10), (5, 11), (5, 12), (6, 13)]);
        let mut lanes = Lanes::new(Overlap::Tid, Some(5), threads);
        let mut place = |tid, start: i64, duration: i64| {
            lanes.place((5, tid), start * 1_000_000, (start + duration) * 1_000_000)
        };
        let placed = [
            place(10, 1, 10),
            place(11, 1, 3),
            place(11, 2, 3),
            place(10, 5, 10),
            place(12, 6, 20),
            place(12, 7, 20),
        ];
        assert_eq!(placed, [10, 11, 13, 18, 12, 23].map(Placed::On));
    }
}

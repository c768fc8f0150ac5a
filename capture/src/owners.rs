//! The ranks of the events of a file that holds several ranks. Later passes skip events of other
//! ranks, because the first pass notes the rank of each event.
//!
//! Consecutive events of a rank are one run. Memory is about five bytes a run, and bounded.

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::narrow;

/// Most bytes of the runs of a file. A file with more runs is parsed as a whole for each rank.
const MAX_LEN: usize = 64 << 20;

/// Longest gap in bytes between two events of a run: a comma and white space.
const MAX_GAP: u64 = 16;

/// The runs of a file. Each is the distance from the end of the run before it, its length in bytes,
/// and the position of its rank.
#[derive(Debug, Default)]
pub struct Owners(Vec<u8>);

/// Consecutive events of a rank.
#[derive(Debug, Clone, Copy)]
struct OwnerRun {
    start: u64,
    end: u64,
    owner: u32,
}

/// The runs of a file while it is read.
#[derive(Debug, Default)]
pub(crate) struct Noting {
    packed: Vec<u8>,
    /// End of the last packed run.
    end: u64,
    open: Option<OwnerRun>,
}

impl Noting {
    /// Notes an event with its offset and length in bytes. `owner` is the position of its rank, or
    /// `None` if all ranks need the event.
    pub(crate) fn event(&mut self, offset: u64, len: usize, owner: Option<u32>) {
        let end = offset + len as u64;
        if let Some(open) = &mut self.open {
            if Some(open.owner) == owner && offset.saturating_sub(open.end) <= MAX_GAP {
                open.end = end;
                return;
            }
            self.cut();
        }
        self.open = owner.map(|owner| OwnerRun { start: offset, end, owner });
    }

    /// Ends the run: all ranks need what comes next.
    pub(crate) fn cut(&mut self) {
        let Some(OwnerRun { start, end, owner }) = self.open.take() else { return };
        if self.packed.len() <= MAX_LEN {
            self.packed.put_varint(start.saturating_sub(self.end));
            self.packed.put_varint(end - start);
            self.packed.put_varint(u64::from(owner));
            self.end = end;
        }
    }

    /// The runs of the file; `None` if there are too many.
    pub(crate) fn finish(mut self) -> Option<Owners> {
        self.cut();
        self.packed.shrink_to_fit();
        (self.packed.len() <= MAX_LEN).then_some(Owners(self.packed))
    }
}

/// The runs that the pass of a rank leaves out, in the order of the file.
#[derive(Debug, Clone)]
pub(crate) struct Skips<'a> {
    runs: Cursor<'a>,
    /// Position of the rank that is read.
    nth: u32,
    /// End of the last run that was taken from the cursor.
    end: u64,
    /// Start and end of the next run to leave out.
    next: Option<(u64, u64)>,
}

impl Default for Skips<'_> {
    /// Nothing is left out.
    fn default() -> Self {
        Self { runs: Cursor::new(&[], 0, "runs"), nth: 0, end: 0, next: None }
    }
}

impl<'a> Skips<'a> {
    /// The runs that the pass of the rank at this position leaves out.
    pub(crate) fn of(owners: &'a Owners, nth: usize) -> Self {
        let nth = narrow(nth);
        let mut skips = Self { runs: Cursor::new(&owners.0, 0, "runs"), nth, ..Self::default() };
        skips.advance();
        skips
    }

    fn advance(&mut self) {
        self.next = None;
        while let (Ok(gap), Ok(len), Ok(owner)) =
            (self.runs.varint(), self.runs.varint(), self.runs.varint_u32())
        {
            let start = self.end.saturating_add(gap);
            self.end = start.saturating_add(len);
            if owner != self.nth {
                self.next = Some((start, self.end));
                return;
            }
        }
    }

    /// The end of the run to leave out that starts at this offset, if there is one. Offsets must
    /// rise from call to call.
    #[inline]
    pub(crate) fn end_from(&mut self, offset: u64) -> Option<u64> {
        while let Some((start, end)) = self.next
            && start <= offset
        {
            self.advance();
            if start == offset {
                return Some(end);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_leaves_out_the_runs_of_the_others() {
        let mut noting = Noting::default();
        for (offset, len, owner) in [
            (2, 10, None),
            (13, 10, Some(0)),
            (24, 10, Some(0)),
            (35, 10, Some(1)),
            (46, 10, None),
            (57, 10, Some(1)),
            (90, 10, Some(1)),
            (1_000_000_000_000, 10, Some(2)),
        ] {
            noting.event(offset, len, owner);
        }
        noting.cut();
        noting.event(1_000_000_000_011, 5, Some(2));
        let owners = noting.finish().unwrap();
        let left_out = |nth: usize| {
            let mut skips = Skips::of(&owners, nth);
            let starts = [2, 13, 24, 35, 46, 57, 90, 1_000_000_000_000, 1_000_000_000_011];
            starts.map(|at| skips.end_from(at).map_or(0, |end| end - at))
        };
        assert_eq!(left_out(0), [0, 0, 0, 10, 0, 10, 10, 10, 5]);
        assert_eq!(left_out(1), [0, 21, 0, 0, 0, 0, 0, 10, 5]);
        assert_eq!(left_out(2), [0, 21, 0, 10, 0, 10, 10, 0, 0]);
        assert_eq!(Skips::default().end_from(13), None);
    }

    #[test]
    fn a_run_that_was_passed_is_not_left_out() {
        let mut noting = Noting::default();
        for offset in [10, 30, 50] {
            noting.event(offset, 5, Some(1));
            noting.cut();
        }
        let owners = noting.finish().unwrap();
        let mut skips = Skips::of(&owners, 0);
        assert_eq!([12, 30, 51].map(|at| skips.end_from(at)), [None, Some(35), None]);
    }
}

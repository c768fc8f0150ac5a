//! Lanes: the lines of a track. No lane overlaps itself, so every slice can be seen. The
//! exception is the last lane of a track with [`line_ends::MAX_LINES`] lanes: it takes all slices
//! that find the others busy.
//!
//! A slice takes O(log n) steps if n slices are open at its start. For calls, counting the
//! enclosing slices takes O(log² n) if slices overlap without nesting. Nested calls form a stack.

mod line_ends;
mod open_ends;

#[cfg(test)]
mod tests;

use line_ends::LineEnds;
use open_ends::OpenEnds;

use crate::base::narrow;
use crate::model::Nesting;

/// Position of a slice within its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSlot {
    /// The lane, from 0 at the top.
    pub lane: u32,
    /// Number of enclosing slices if nesting means calls; otherwise 0.
    pub depth: u32,
}

/// Assigns lanes to the slices of one track, which come in order of start, longest first.
#[derive(Debug)]
pub struct LaneAssigner {
    nesting: Nesting,
    /// The end of the last slice of each lane.
    lines: LineEnds,
    /// Ends of the slices that can enclose others if nesting means calls. Each is the last slice of
    /// its lane.
    open: OpenEnds,
    /// Number of slices that share the last lane with others.
    crowded: u64,
}

/// Most slices that can enclose others. Deeper slices have this depth.
const MAX_OPEN: usize = 1 << 20;

impl LaneAssigner {
    /// Lanes for a track with this nesting.
    pub fn new(nesting: Nesting) -> Self {
        Self { nesting, lines: LineEnds::default(), open: OpenEnds::default(), crowded: 0 }
    }

    /// The place of the next slice: the first free lane below the slices that enclose it.
    pub fn place(&mut self, start_ps: i64, end_ps: i64) -> LaneSlot {
        let (depth, lowest) = match self.nesting {
            Nesting::Calls => {
                // A slice that ends at this start is over, even if the new slice takes no time.
                let enclosing_from = end_ps.max(start_ps.saturating_add(1));
                let depth = self.open.count_from(start_ps, enclosing_from);
                let lowest = if depth == 0 { None } else { self.lines.last_reaching(enclosing_from) };
                (depth, lowest.map_or(0, |lane| lane + 1))
            }
            Nesting::Concurrent => (0, 0),
        };
        let (lane, is_shared) = self.lines.take_first_free(lowest, start_ps, end_ps);
        self.crowded += u64::from(is_shared);
        if self.nesting == Nesting::Calls && end_ps > start_ps && self.open.len() < MAX_OPEN {
            self.open.push(start_ps, end_ps);
        }
        LaneSlot { lane: narrow(lane), depth: narrow(depth) }
    }

    /// Frees the memory after the last slice.
    pub fn end(&mut self) {
        (self.lines, self.open) = (LineEnds::default(), OpenEnds::default());
    }

    /// Number of lanes so far.
    pub fn count(&self) -> u32 {
        narrow(self.lines.count())
    }

    /// Number of slices that share the last lane with slices of the same time.
    pub fn crowded(&self) -> u64 {
        self.crowded
    }
}

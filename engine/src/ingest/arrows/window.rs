//! Sorts the arrows between two tracks by one of their ends. The arrows arrived nearly in that
//! order, so a sorted window is enough. A full sort would write most arrows to scratch space and
//! read them back.

use super::link::{FromEnd, Link};
use crate::base::Result;
use crate::model::SliceKey;
use crate::segment::{ArrowEnd, SliceArrow};
use crate::spill::{Pile, PileReader, Scratch, sort_nearly};

/// Arrows that are read at once.
pub const BATCH_ARROWS: usize = 1 << 14;
/// Maximum number of batches in a window.
const MAX_BATCHES: usize = 8;

/// Row ranges of the batches of a pile: the smallest and the largest row of each at one end. Rows
/// are numbered by arrival on their track.
#[derive(Debug, Default)]
pub struct Batches {
    ends: Vec<(u32, u32)>,
    /// Number of arrows in the last batch.
    last: usize,
}

impl Batches {
    /// Counts the next arrow of the pile, whose end is row `arrival`.
    pub fn push(&mut self, arrival: u32) {
        match self.ends.last_mut().filter(|_| self.last < BATCH_ARROWS) {
            Some((min, max)) => {
                (*min, *max) = (arrival.min(*min), arrival.max(*max));
                self.last += 1;
            }
            None => {
                self.ends.push((arrival, arrival));
                self.last = 1;
            }
        }
    }

    /// For each batch, the smallest row of all later batches. `None` if a window would have to hold
    /// too many batches.
    fn floors(&self) -> Option<Vec<u32>> {
        let mut floors = vec![u32::MAX; self.ends.len()];
        for at in (1..floors.len()).rev() {
            floors[at - 1] = floors[at].min(self.ends[at].0);
        }
        let mut highest = Vec::with_capacity(floors.len());
        for (at, floor) in floors.iter().enumerate() {
            highest.push(self.ends[at].1.max(highest.last().copied().unwrap_or_default()));
            // No batch before this one has rows that must wait.
            let first = highest.partition_point(|highest| highest < floor);
            if at - first.min(at) >= MAX_BATCHES {
                return None;
            }
        }
        Some(floors)
    }
}

/// Steps through the arrows of a pile.
pub struct ArrowWindow<'l> {
    links: PileReader<'l, Link, &'l dyn Scratch>,
    end: ArrowEnd,
    /// The smallest row of all later batches, for each batch.
    floors: std::vec::IntoIter<u32>,
    /// Arrows in order. Those from `next` to `ready` are final: no later arrow precedes them.
    arrows: Vec<FromEnd>,
    next: usize,
    ready: usize,
}

impl<'l> ArrowWindow<'l> {
    /// Creates a window over a pile whose arrows connect the same two tracks. At this end, rows
    /// must be numbered in the order of arrival. `None` if the arrows are too far out of order.
    pub fn new(links: &'l Pile<Link, &'l dyn Scratch>, end: ArrowEnd, batches: &Batches) -> Option<Self> {
        let floors = batches.floors()?.into_iter();
        Some(Self { links: links.read(), end, floors, arrows: Vec::new(), next: 0, ready: 0 })
    }

    /// The next arrow. `row` gives the number of a row.
    #[inline]
    pub fn next(&mut self, row: &impl Fn(SliceKey) -> u32) -> Result<Option<FromEnd>> {
        if self.next == self.ready {
            self.refill(row)?;
        }
        let arrow = self.arrows[..self.ready].get(self.next).copied();
        self.next += usize::from(arrow.is_some());
        Ok(arrow)
    }

    #[cold]
    fn refill(&mut self, row: &impl Fn(SliceKey) -> u32) -> Result<()> {
        while self.next == self.ready {
            let Some(floor) = self.floors.next() else { return Ok(()) };
            self.arrows.drain(..self.next);
            (self.next, self.ready) = (0, 0);
            let mut near = None;
            for _ in 0..BATCH_ARROWS {
                let Some(link) = self.links.next()? else { break };
                near = Some(if self.end == ArrowEnd::From { link.from } else { link.to });
                let arrow = SliceArrow { from: row(link.from), to: row(link.to), name: link.name };
                self.arrows.push(FromEnd::of(arrow, self.end));
            }
            sort_nearly(&mut self.arrows, |arrow| *arrow);
            self.ready = match near.filter(|_| floor < u32::MAX) {
                Some(near) => {
                    let floor = row(SliceKey { arrival: floor, ..near });
                    self.arrows.partition_point(|arrow| arrow.near < floor)
                }
                None => self.arrows.len(),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{NameId, TrackId};
    use crate::spill::MemoryScratch;

    const ARROWS: u32 = 12 * BATCH_ARROWS as u32;

    /// Arrows from row `from(to)` to each row. Expects for either end whether a window works.
    #[track_caller]
    fn check(from: impl Fn(u32) -> u32, expected: [bool; 2]) {
        let scratch = MemoryScratch::default();
        let mut pile: Pile<Link, &dyn Scratch> = Pile::new(&scratch);
        let mut batches = [Batches::default(), Batches::default()];
        for to in 0..ARROWS {
            let end = |track, arrival| SliceKey { track: TrackId(track), arrival };
            pile.push(Link { from: end(0, from(to)), to: end(1, to), name: NameId(to % 3) }).unwrap();
            batches[0].push(from(to));
            batches[1].push(to);
        }
        let row = |key: SliceKey| key.track.0 * 1_000_000 + key.arrival;
        for ((end, batches), expected) in
            [ArrowEnd::From, ArrowEnd::To].into_iter().zip(&batches).zip(expected)
        {
            let window = ArrowWindow::new(&pile, end, batches);
            assert_eq!(window.is_some(), expected, "{end:?}");
            let Some(mut window) = window else { continue };
            let found: Vec<FromEnd> = std::iter::from_fn(|| window.next(&row).unwrap()).collect();
            assert_eq!(found.len(), ARROWS as usize);
            assert!(found.is_sorted(), "{end:?}");
        }
    }

    #[test]
    fn arrows_nearly_in_order_come_in_order() {
        check(|to| to, [true, true]);
        check(|to| (to / 7) ^ 5, [true, true]);
        // Some arrows wait for a batch or more.
        check(|to| if to % 100 == 0 { to + 30_000 } else { to }, [true, true]);
        check(|to| to.saturating_sub(to % 1000 * 50), [true, true]);
    }

    #[test]
    fn a_window_over_everything_is_refused() {
        check(|to| ARROWS - to, [false, true]);
        check(|_| 7, [false, true]);
    }
}

//! Binds flow points to slices while the rows of a track pass by, and draws the arrows at the end.

use crate::base::Interval;
use crate::exec::step;
use crate::model::{Bind, FlowPhase, FlowPoint, TrackId};
use crate::segment::SliceArrow;

/// All flow points of a segment.
#[derive(Debug, Default)]
pub struct Binder {
    points: Vec<FlowPoint>,
    /// Row of its track that each point belongs to.
    rows: Vec<Option<u32>>,
}

impl Binder {
    /// Takes all points.
    pub fn new(mut points: Vec<FlowPoint>) -> Self {
        points.sort_by_key(|point| (point.track, point.time_ps));
        Self { rows: vec![None; points.len()], points }
    }

    /// Begins a track.
    pub fn track(&self, track: u32) -> TrackBinder {
        let next = self.points.partition_point(|point| point.track.0 < track);
        let end = self.points.partition_point(|point| point.track.0 <= track);
        let owned = (next..end).filter_map(|at| match self.points[at].bind {
            Bind::Own(arrival) => Some((arrival, at)),
            Bind::Enclosing | Bind::Next => None,
        });
        let mut owned: Vec<(u32, usize)> = owned.collect();
        owned.sort_unstable();
        TrackBinder {
            next,
            end,
            open: Vec::new(),
            crowded: FEW_OPEN,
            later: next,
            waiting: Vec::new(),
            owned,
        }
    }

    /// Returns the arrows of all flows. `row` maps a row of a track to its number in the segment.
    /// `unbound` receives every point that takes part in no arrow, with the reason. The reasons
    /// are: the point lies on no slice, its flow has no start for it, or none of its flow is left
    /// for it.
    pub fn arrows(
        self,
        row: impl Fn(TrackId, u32) -> u32,
        unbound: &mut impl FnMut(&'static str, &FlowPoint),
    ) -> Vec<SliceArrow> {
        // The sort uses copied values: looking up each point costs a cache miss per comparison.
        let points = self.points.iter().enumerate();
        let mut order: Vec<OrderedPoint> = points.map(|(at, point)| OrderedPoint::of(point, at)).collect();
        order.sort_unstable();
        let mut arrows = Vec::new();
        for flow in order.chunk_by(|a, b| a.key == b.key) {
            flow_arrows(flow, &self, &row, unbound, &mut arrows);
        }
        arrows
    }
}

/// A point in the order of flows, and of time within each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderedPoint {
    key: u64,
    time_ps: i64,
    /// Starts come first, then steps.
    phase: u8,
    /// Index of the point.
    at: usize,
}

impl OrderedPoint {
    /// Code of a start.
    const START: u8 = 0;

    fn of(point: &FlowPoint, at: usize) -> Self {
        let phase = match point.phase {
            FlowPhase::Start => Self::START,
            FlowPhase::Step => 1,
            FlowPhase::End => 2,
        };
        Self { key: point.key, time_ps: point.time_ps, phase, at }
    }
}

/// A point that no arrow has reached or left so far, with its row.
#[derive(Clone, Copy)]
struct OpenPoint<'b> {
    point: &'b FlowPoint,
    row: u32,
}

/// Adds the arrows of one flow. The points of the flow are in the order of time.
///
/// A step or an end belongs to the last start before it. The clocks of two tracks differ, so a
/// point can seem to be earlier than its start. If there is only one start, all points belong to
/// it. Otherwise points before the first start take the starts that are left over.
fn flow_arrows(
    flow: &[OrderedPoint],
    binder: &Binder,
    row: &impl Fn(TrackId, u32) -> u32,
    unbound: &mut impl FnMut(&'static str, &FlowPoint),
    arrows: &mut Vec<SliceArrow>,
) {
    let mut starts = flow.iter().filter(|of| of.phase == OrderedPoint::START);
    let (first, second) = (starts.next(), starts.next());
    let only = first.filter(|_| second.is_none());
    let others = flow.iter().filter(|of| only.is_none_or(|only| only.at != of.at));
    let (mut from, mut has_begun) = (None, false);
    // The last start, if no arrow leaves it yet.
    let mut unused: Option<OpenPoint<'_>> = None;
    let (mut starts, mut early) = (Vec::new(), Vec::new());
    for &OrderedPoint { at, .. } in only.into_iter().chain(others) {
        let point = &binder.points[at];
        let row = binder.rows[at].map(|at| row(point.track, at));
        match (point.phase, from, row) {
            (phase, _, None) => {
                unbound("a flow point without a slice at its time", point);
                has_begun |= phase == FlowPhase::Start;
            }
            (FlowPhase::Start, _, Some(row)) => {
                (from, has_begun) = (Some(row), true);
                starts.extend(unused.replace(OpenPoint { point, row }));
            }
            (FlowPhase::Step | FlowPhase::End, None, Some(row)) => {
                if has_begun {
                    unbound(UNBEGUN, point);
                } else {
                    early.push(OpenPoint { point, row });
                }
                from = (point.phase == FlowPhase::Step).then_some(row);
            }
            (FlowPhase::Step | FlowPhase::End, Some(start), Some(row)) => {
                arrows.push(SliceArrow { from: start, to: row, name: point.name });
                unused = None;
                // An end leaves the flow open: a launch can fan out to several kernels.
                if point.phase == FlowPhase::Step {
                    from = Some(row);
                }
            }
        }
    }
    let mut starts = starts.into_iter().chain(unused);
    for OpenPoint { point, row } in early {
        match starts.next() {
            Some(start) => arrows.push(SliceArrow { from: start.row, to: row, name: point.name }),
            None => unbound(UNBEGUN, point),
        }
    }
    starts.for_each(|start| unbound(UNENDED, start.point));
}

/// Reason for a step or an end that no arrow reaches.
const UNBEGUN: &str = "a flow that ends or continues without a beginning; it gets no arrow";
/// Reason for a start that no arrow leaves.
const UNENDED: &str = "a flow that begins and does not end; it gets no arrow";

/// Number of open rows that are worth dropping ended ones.
const FEW_OPEN: usize = 64;

/// Binds the points of one track; its rows come in order.
#[derive(Debug)]
pub struct TrackBinder {
    /// The next point that no row has been compared with.
    next: usize,
    end: usize,
    /// Rows that can still enclose a point: end and row, in order of start. Ended rows are dropped
    /// once they are last, and all at once when the list reaches `crowded` rows.
    open: Vec<(i64, u32)>,
    crowded: usize,
    /// The first point that is later than the start of the last row.
    later: usize,
    /// Points that wait for the next row to start.
    waiting: Vec<usize>,
    /// Points that name their row: arrival number of the row and the point, in order.
    owned: Vec<(u32, usize)>,
}

impl TrackBinder {
    /// Takes the next row, which was the `arrival`-th of its track to arrive. Settles earlier
    /// points first.
    pub fn row(&mut self, binder: &mut Binder, during: Interval, row: u32, arrival: u32) {
        let (start_ps, end_ps) = (during.start.0, during.end.0);
        let first = self.owned.partition_point(|&(of, _)| of < arrival);
        for &(_, at) in self.owned[first..].iter().take_while(|&&(of, _)| of == arrival) {
            binder.rows[at] = Some(row);
        }
        if self.next == self.end && self.waiting.is_empty() {
            return;
        }
        self.settle(binder, start_ps);
        for at in self.waiting.drain(..) {
            binder.rows[at] = Some(row);
        }
        // A point at exactly the start of the row also binds to this row, if the point wants the
        // next.
        let mut at = self.next.max(self.later);
        while at < self.end && binder.points[at].time_ps == start_ps {
            if binder.points[at].bind == Bind::Next && binder.rows[at].is_none() {
                binder.rows[at] = Some(row);
            }
            at += 1;
        }
        // Rows with the same start need not look at these points again.
        self.later = at;
        if self.open.len() >= self.crowded {
            // A slice also encloses a point at its end.
            step(self.open.len());
            self.open.retain(|&(end, _)| end >= start_ps);
            self.crowded = FEW_OPEN.max(2 * self.open.len());
        }
        self.innermost(start_ps);
        self.open.push((end_ps, row));
    }

    /// Whether a point is on the track.
    pub fn has_points(&self) -> bool {
        self.next < self.end || !self.waiting.is_empty() || !self.owned.is_empty()
    }

    /// The last row to start that ends at this time or later. Times never decrease between calls.
    fn innermost(&mut self, time_ps: i64) -> Option<u32> {
        while self.open.pop_if(|&mut (end, _)| end < time_ps).is_some() {}
        self.open.last().map(|&(_, row)| row)
    }

    /// Ends the track.
    pub fn finish(mut self, binder: &mut Binder) {
        self.settle(binder, i64::MAX);
    }

    /// Settles the points before `until`. No further row starts before `until`.
    fn settle(&mut self, binder: &mut Binder, until: i64) {
        while self.next < self.end && binder.points[self.next].time_ps < until {
            let point = binder.points[self.next];
            match point.bind {
                Bind::Enclosing => {
                    binder.rows[self.next] = self.innermost(point.time_ps);
                }
                Bind::Next if binder.rows[self.next].is_none() => self.waiting.push(self.next),
                Bind::Next | Bind::Own(_) => {}
            }
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NameId;

    /// Rows are (start, end), points are (time, phase, bind) of one flow, arrows are (from, to).
    /// Returns the times of the points that take part in no arrow.
    #[track_caller]
    fn check(rows: &[(i64, i64)], points: &[(i64, FlowPhase, Bind)], expected: &[(u32, u32)]) -> Vec<i64> {
        let points = points.iter().map(|&(time_ps, phase, bind)| FlowPoint {
            key: 7,
            track: TrackId(0),
            time_ps,
            phase,
            bind,
            name: NameId(0),
        });
        let mut binder = Binder::new(points.collect());
        let mut track = binder.track(0);
        for (row, &(start, end)) in (0..).zip(rows) {
            // Rows arrive here in reverse order.
            let arrival = u32::try_from(rows.len()).unwrap() - 1 - row;
            track.row(&mut binder, Interval::new(start, end), row, arrival);
        }
        track.finish(&mut binder);
        let mut unbound = Vec::new();
        let arrows = binder.arrows(|_, row| row, &mut |_, point| unbound.push(point.time_ps));
        assert_eq!(arrows.iter().map(|a| (a.from, a.to)).collect::<Vec<_>>(), expected);
        unbound
    }

    #[test]
    fn starts_bind_to_the_innermost_slice_and_ends_to_the_next() {
        use {Bind::*, FlowPhase::*};
        check(&[(0, 10), (2, 4), (20, 30)], &[(3, Start, Enclosing), (15, End, Next)], &[(1, 2)]);
        check(&[(0, 10), (20, 30)], &[(5, Start, Enclosing), (20, End, Next)], &[(0, 1)]);
        check(&[(0, 10), (20, 30)], &[(10, Start, Enclosing), (20, End, Enclosing)], &[(0, 1)]);
    }

    #[test]
    fn steps_chain_and_ends_fan_out() {
        use {Bind::*, FlowPhase::*};
        check(
            &[(0, 1), (2, 3), (4, 5), (6, 7)],
            &[(0, Start, Enclosing), (2, Step, Enclosing), (4, End, Enclosing), (6, End, Enclosing)],
            &[(0, 1), (1, 2), (1, 3)],
        );
    }

    #[test]
    fn an_end_can_be_earlier_than_its_start() {
        use {Bind::*, FlowPhase::*};
        let rows = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)];
        let of = |points: &[(i64, FlowPhase)], expected: &[(u32, u32)], left: &[i64]| {
            let points: Vec<_> = points.iter().map(|&(time, phase)| (time, phase, Enclosing)).collect();
            assert_eq!(check(&rows, &points, expected), left, "{points:?}");
        };
        // One start has all ends and steps of its id, whatever their times.
        of(&[(2, Start), (0, End)], &[(1, 0)], &[]);
        of(&[(4, Start), (0, End), (2, End), (6, End)], &[(2, 0), (2, 1), (2, 3)], &[]);
        of(&[(4, Start), (0, Step), (6, End)], &[(2, 0), (0, 3)], &[]);
        of(&[(4, Start), (2, Step), (0, End)], &[(2, 0), (2, 1)], &[]);
        // If the id is used again, what is left over before the first start takes what is left
        // over.
        of(&[(0, Start), (2, End), (4, Start), (6, End)], &[(0, 1), (2, 3)], &[]);
        of(&[(0, End), (2, Start), (4, End), (6, Start)], &[(1, 2), (3, 0)], &[]);
        of(&[(0, End), (2, End), (4, Start), (6, Start), (8, End)], &[(3, 4), (2, 0)], &[2]);
        of(&[(0, End), (2, Start), (4, End), (6, Start), (8, End)], &[(1, 2), (3, 4)], &[0]);
        of(&[(0, Start), (2, Start), (4, Start), (6, End)], &[(2, 3)], &[0, 2]);
        // A start without a slice is no start of an end before it, and keeps its end from others.
        let lost = [(0, End, Enclosing), (11, Start, Enclosing)];
        assert_eq!(check(&rows, &lost, &[]), [11, 0]);
        let lost = [(-1, Start, Enclosing), (0, End, Enclosing), (2, Start, Enclosing)];
        assert_eq!(check(&rows, &lost, &[]), [-1, 0, 2]);
    }

    #[test]
    fn a_flow_without_a_slice_draws_nothing() {
        use {Bind::*, FlowPhase::*};
        let unbound = check(&[(0, 1)], &[(5, Start, Enclosing), (6, End, Next)], &[]);
        assert_eq!(unbound, [5, 6]);
    }

    #[test]
    fn a_point_without_a_partner_is_counted() {
        use {Bind::*, FlowPhase::*};
        let rows = [(0, 10), (20, 30)];
        assert_eq!(check(&rows, &[(5, Start, Enclosing)], &[]), [5]);
        assert_eq!(check(&rows, &[(25, End, Enclosing)], &[]), [25]);
        assert_eq!(check(&rows, &[(5, Step, Enclosing)], &[]), [5]);
        // The second start replaces the first, which no arrow used.
        let starts = [(1, Start, Enclosing), (2, Start, Enclosing), (25, End, Enclosing)];
        assert_eq!(check(&rows, &starts, &[(0, 1)]), [1]);
        let again = [(1, Start, Enclosing), (25, End, Enclosing), (26, Start, Enclosing)];
        assert_eq!(check(&rows, &again, &[(0, 1)]), [26]);
    }

    #[test]
    fn a_point_may_name_its_slice() {
        use {Bind::*, FlowPhase::*};
        // Parent and child start together; rows 0 to 2 arrived as 2, 1, 0.
        let rows = [(0, 10), (0, 4), (20, 30)];
        assert!(check(&rows, &[(0, Start, Own(2)), (20, End, Own(0))], &[(0, 2)]).is_empty());
        assert!(check(&rows, &[(0, Start, Own(1)), (20, End, Own(0))], &[(1, 2)]).is_empty());
        assert_eq!(check(&rows, &[(0, Start, Own(7)), (20, End, Own(0))], &[]), [0, 20]);
    }
}

//! The parts of a quantity by regions, such as steps or phases.

use std::collections::BTreeSet;

use crate::base::Interval;

/// The quantity of each region within a span, and that of no region. The quantity has grown to
/// `until(t)` at the time `t`. The innermost one of several regions counts: the one that began
/// last, and of those the shortest.
#[must_use]
pub fn by_region(span: Interval, regions: &[Interval], until: impl Fn(i64) -> f64) -> (Vec<f64>, f64) {
    let mut bounds: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * regions.len() + 1);
    for (at, region) in regions.iter().enumerate() {
        let within = region.intersection(span);
        if within.duration_ps() > 0 {
            bounds.push((within.start.0, true, at));
            bounds.push((within.end.0, false, at));
        }
    }
    bounds.sort_unstable();
    let (mut of_region, mut rest) = (vec![0.0; regions.len()], 0.0);
    // The innermost region is the last one.
    let mut open = BTreeSet::new();
    let mut reached = until(span.start.0);
    let mut pass = |open: &BTreeSet<(i64, i64, usize)>, time_ps: i64| {
        let now = until(time_ps);
        match open.last() {
            Some((_, _, at)) => of_region[*at] += now - reached,
            None => rest += now - reached,
        }
        reached = now;
    };
    for (time_ps, begins, at) in bounds {
        pass(&open, time_ps);
        let key = (regions[at].start.0, regions[at].end.0.saturating_neg(), at);
        if begins {
            open.insert(key);
        } else {
            open.remove(&key);
        }
    }
    pass(&open, span.end.0.max(span.start.0));
    (of_region, rest)
}

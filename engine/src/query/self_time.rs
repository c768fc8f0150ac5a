//! Union and self time by name, over the calls of one track in order of start. The cost is linear
//! in the number of calls.

use rustc_hash::FxHashMap;

use crate::base::Interval;

/// A call that can contain later calls.
struct OpenCall {
    name: u32,
    end_ps: i64,
    /// Inner calls cover the call up to this time.
    until_ps: i64,
}

/// The times that a slice adds, in picoseconds inside the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Time in which no earlier slice of the same name ran.
    pub union_ps: u64,
    /// Name of the enclosing call, and the time to subtract from its self time.
    pub caller: Option<(u32, u64)>,
}

/// Takes the calls of a track one after the other.
pub struct Sweep {
    span: Interval,
    /// The calls around the next slice, innermost last. Each ends no later than the one before it.
    open: Vec<OpenCall>,
    /// The latest end of the slices of each name.
    until_ps: FxHashMap<u32, i64>,
}

impl Sweep {
    /// Creates a sweep over a span. Only time inside the span counts.
    pub fn new(span: Interval) -> Self {
        Self { span, open: Vec::new(), until_ps: FxHashMap::default() }
    }

    /// Adds the next call, which overlaps the span.
    ///
    /// If two calls overlap without one inside the other, the one that starts later takes the
    /// calls after it.
    pub fn add(&mut self, name: u32, start_ps: i64, end_ps: i64) -> Added {
        let (from, to) = (start_ps.max(self.span.start.0), end_ps.min(self.span.end.0));
        let until = self.until_ps.entry(name).or_insert(from);
        let union_ps = time(from.max(*until), to);
        *until = to.max(*until);
        while self.open.last().is_some_and(|open| open.end_ps <= start_ps || open.end_ps < end_ps) {
            self.open.pop();
        }
        let caller = self.open.last_mut().map(|caller| {
            let taken_ps = time(from.max(caller.until_ps), to);
            caller.until_ps = to.max(caller.until_ps);
            (caller.name, taken_ps)
        });
        if end_ps > start_ps {
            self.open.push(OpenCall { name, end_ps, until_ps: from });
        }
        Added { union_ps, caller }
    }
}

fn time(from_ps: i64, to_ps: i64) -> u64 {
    to_ps.saturating_sub(from_ps).max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Each letter in a row is a slice from its first to its last column; a column is 1 ps. Expects
    /// `name union self`.
    #[track_caller]
    fn check(span: (i64, i64), rows: &[&str], expected: &str) {
        let mut slices: Vec<(i64, i64, u32)> = rows
            .iter()
            .flat_map(|row| {
                let end = |name: char| row.rfind(name).unwrap() as i64 + 1;
                let mut names: Vec<char> = row.chars().filter(|name| *name != ' ').collect();
                names.dedup();
                names
                    .into_iter()
                    .map(|name| (row.find(name).unwrap() as i64, end(name), u32::from(name)))
                    .collect::<Vec<_>>()
            })
            .collect();
        slices.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
        let span = Interval::new(span.0, span.1);
        let mut sweep = Sweep::new(span);
        let mut times = BTreeMap::<u32, (u64, u64)>::new();
        for (start, end, name) in slices.into_iter().filter(|&(start, end, _)| span.overlaps(start, end)) {
            let added = sweep.add(name, start, end);
            let of = times.entry(name).or_default();
            *of = (of.0 + added.union_ps, of.1 + span.overlap_ps(start, end).unsigned_abs());
            if let Some((caller, taken_ps)) = added.caller {
                times.get_mut(&caller).expect("a caller came before").1 -= taken_ps;
            }
        }
        let text = times.iter().map(|(name, (union, own))| {
            format!("{} {union} {own}", char::from_u32(*name).expect("a letter"))
        });
        assert_eq!(text.collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn calls_take_their_time_from_the_caller() {
        let rows = ["aaaaaaaaaa", " bbb  cc", "  d"];
        check((0, 20), &rows, "a 10 5, b 3 2, c 2 2, d 1 1");
        // Cut at both ends.
        check((2, 7), &rows, "a 5 2, b 2 1, c 1 1, d 1 1");
    }

    #[test]
    fn a_name_that_calls_itself_counts_once() {
        // Slices in one row differ by letter, so a recursion takes several rows.
        check((0, 20), &["aaaaaaaa", " aaaa", "  bb"], "a 8 6, b 2 2");
    }

    #[test]
    fn calls_that_overlap_take_no_time_twice() {
        check((0, 20), &["aaaaaaaaaa", " bbbb", "   cccc", "    d"], "a 10 4, b 4 4, c 4 3, d 1 1");
    }
}

//! Which slices of two programs are the same work.
//!
//! Names that both programs have equally often are anchors: the k-th one is the k-th one. The
//! longest ascending row of them divides both programs, and the gaps between are matched in the
//! same way. So millions of slices are matched in about linear time, where a longest common
//! subsequence takes the square of what differs.

use rustc_hash::FxHashMap;

/// Positions of one piece of work in both programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatchedPair {
    /// In the first program.
    pub(super) a: u32,
    /// In the second program.
    pub(super) b: u32,
}

/// How often gaps between anchors are divided again.
const MOST_DIVISIONS: usize = 4;

/// Positions of two programs that are not matched yet.
#[derive(Debug, Clone, Copy)]
struct Gap {
    a: (usize, usize),
    b: (usize, usize),
}

/// Numbers by which the slices of both programs are compared.
#[derive(Debug, Clone, Copy)]
struct NameNumbers<'n> {
    a: &'n [u32],
    b: &'n [u32],
}

/// The matched work of two programs, given by the numbers of their names, and then by numbers of
/// less: what no name matches is matched by these. Ascending in both. A swapped pair has the
/// swapped matches.
pub(super) fn matched(a: &[&[u32]], b: &[&[u32]]) -> Vec<MatchedPair> {
    if a.cmp(b).is_gt() {
        return matched(b, a).into_iter().map(|pair| MatchedPair { a: pair.b, b: pair.a }).collect();
    }
    let levels: Vec<NameNumbers<'_>> = a.iter().zip(b).map(|(a, b)| NameNumbers { a, b }).collect();
    let mut pairs = Vec::new();
    if let Some(first) = levels.first() {
        let whole = Gap { a: (0, first.a.len()), b: (0, first.b.len()) };
        divide(&levels, whole, MOST_DIVISIONS, &mut pairs);
    }
    pairs
}

fn divide(levels: &[NameNumbers<'_>], mut gap: Gap, divisions: usize, pairs: &mut Vec<MatchedPair>) {
    let Some((NameNumbers { a, b }, less)) = levels.split_first() else { return };
    let pair = |a: usize, b: usize| MatchedPair { a: a as u32, b: b as u32 };
    let is_open = |gap: Gap| gap.a.0 < gap.a.1 && gap.b.0 < gap.b.1;
    while is_open(gap) && a[gap.a.0] == b[gap.b.0] {
        pairs.push(pair(gap.a.0, gap.b.0));
        (gap.a.0, gap.b.0) = (gap.a.0 + 1, gap.b.0 + 1);
    }
    let mut behind = 0;
    while is_open(gap) && a[gap.a.1 - 1] == b[gap.b.1 - 1] {
        behind += 1;
        (gap.a.1, gap.b.1) = (gap.a.1 - 1, gap.b.1 - 1);
    }
    if is_open(gap) {
        let anchors = if divisions > 0 { anchors(a, b, gap) } else { Vec::new() };
        let mut from = (gap.a.0, gap.b.0);
        for anchor in &anchors {
            let (at_a, at_b) = (anchor.a as usize, anchor.b as usize);
            divide(levels, Gap { a: (from.0, at_a), b: (from.1, at_b) }, divisions - 1, pairs);
            pairs.push(*anchor);
            from = (at_a + 1, at_b + 1);
        }
        let rest = Gap { a: (from.0, gap.a.1), b: (from.1, gap.b.1) };
        match anchors.is_empty() {
            true => divide(less, rest, MOST_DIVISIONS, pairs),
            false => divide(levels, rest, divisions - 1, pairs),
        }
    }
    pairs.extend((0..behind).map(|at| pair(gap.a.1 + at, gap.b.1 + at)));
}

/// Pairs of a gap that ascend in both programs: of names that both have equally often, else of the
/// first ones of all names that both have.
fn anchors(a: &[u32], b: &[u32], gap: Gap) -> Vec<MatchedPair> {
    let (own, other) = (&a[gap.a.0..gap.a.1], &b[gap.b.0..gap.b.1]);
    let mut places: FxHashMap<u32, (u32, Vec<u32>)> = FxHashMap::default();
    for (name, at) in other.iter().zip(gap.b.0..) {
        places.entry(*name).or_default().1.push(at as u32);
    }
    for name in own {
        if let Some((count, _)) = places.get_mut(name) {
            *count += 1;
        }
    }
    let of = |is_anchor: &dyn Fn(u32, usize) -> bool| {
        let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
        let pairs = own.iter().zip(gap.a.0..).filter_map(|(name, at)| {
            let (count, places) = places.get(name)?;
            if !is_anchor(*count, places.len()) {
                return None;
            }
            let nth = seen.entry(*name).or_default();
            *nth += 1;
            Some(MatchedPair { a: at as u32, b: *places.get(*nth - 1)? })
        });
        ascending(&pairs.collect::<Vec<_>>())
    };
    let equally_often = of(&|own, other| own as usize == other);
    if equally_often.is_empty() { of(&|_, _| true) } else { equally_often }
}

/// The longest row of pairs that ascend in both programs, of pairs that ascend in the first one.
fn ascending(pairs: &[MatchedPair]) -> Vec<MatchedPair> {
    // For each length the pair with the least end of a row of this length, and what is before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].b < pair.b);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut row: Vec<MatchedPair> = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        row.push(pairs[at]);
        next = before[at];
    }
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: &str) {
        let numbers = |of: &str| of.bytes().map(u32::from).collect::<Vec<u32>>();
        let pairs = matched(&[&numbers(a)], &[&numbers(b)]);
        let named: String = pairs.iter().map(|pair| a.as_bytes()[pair.a as usize] as char).collect();
        assert_eq!(named, expected, "{a} and {b}");
    }

    #[test]
    fn equal_work_is_matched_around_what_came_and_went() {
        check("abcabc", "abcabc", "abcabc");
        check("abcd", "abXcd", "abcd");
        check("abXcd", "abcd", "abcd");
        // An insertion moves no later work of its name.
        check("mamamamb", "mmamamamb", "mamamamb");
        check("abcdef", "defabc", "def");
        check("abc", "xyz", "");
        check("", "abc", "");
        // A loop with more rounds matches from the front and from the end.
        check("abababz", "ababababababz", "abababz");
    }

    #[test]
    fn a_name_with_another_count_does_not_move_the_others() {
        check("lmslmslms", "lmmslmmslmms", "lmslmslms");
    }

    #[test]
    fn what_no_name_matches_is_matched_by_less() {
        // Upper and lower case are one letter.
        let letters = |of: &str| of.bytes().map(|byte| u32::from(byte.to_ascii_lowercase())).collect();
        let both = |of: &str| -> [Vec<u32>; 2] { [of.bytes().map(u32::from).collect(), letters(of)] };
        let (a, b) = (both("xAxB"), both("xaxxb"));
        let pairs = matched(&[&a[0], &a[1]], &[&b[0], &b[1]]);
        let places: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(places, [(0, 0), (1, 1), (2, 2), (3, 4)]);
    }

    proptest! {
        #[test]
        fn matches_ascend_and_are_of_one_name(
            a in proptest::collection::vec(0_u32..5, 0..40),
            b in proptest::collection::vec(0_u32..5, 0..40),
        ) {
            let pairs = matched(&[&a], &[&b]);
            for pair in &pairs {
                prop_assert_eq!(a[pair.a as usize], b[pair.b as usize]);
            }
            for two in pairs.windows(2) {
                prop_assert!(two[0].a < two[1].a && two[0].b < two[1].b);
            }
            let swapped: Vec<(u32, u32)> = matched(&[&b], &[&a]).iter().map(|pair| (pair.b, pair.a)).collect();
            prop_assert_eq!(swapped, pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>());
            prop_assert_eq!(matched(&[&a], &[&a]).len(), a.len());
        }
    }
}

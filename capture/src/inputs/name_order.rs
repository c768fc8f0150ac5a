//! The natural order of names: numbers in names are compared as numbers, so `trace_2.json` comes
//! before `trace_10.json`.

use std::cmp::Ordering;
use std::collections::HashMap;

use nprof_engine::base::order::sort_by;

/// Compares names. Runs of digits are compared as numbers of any length, all else by characters.
#[must_use]
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (runs(a), runs(b));
    loop {
        let order = match (left.next(), right.next()) {
            (Some(a), Some(b)) => compared(a, b),
            // Only leading zeros can differ by now.
            (None, None) => return a.cmp(b),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Compares two runs.
fn compared(a: &str, b: &str) -> Ordering {
    let is_number = |run: &str| run.starts_with(|sign: char| sign.is_ascii_digit());
    if !is_number(a) || !is_number(b) {
        return a.cmp(b);
    }
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A name with each number replaced by one sign. Names that differ by numbers only have the same
/// pattern.
#[must_use]
pub fn pattern(name: &str) -> String {
    let is_number = |run: &str| run.starts_with(|sign: char| sign.is_ascii_digit());
    runs(name).map(|run| if is_number(run) { "#" } else { run }).collect()
}

/// The order of files with these names: the given one, but names that differ by numbers only are in
/// their natural order. A shell lists `trace_10.json` before `trace_2.json`.
#[must_use]
pub fn order(names: &[&str]) -> Vec<usize> {
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        alike.entry(pattern(name)).or_default().push(at);
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    for places in alike.into_values() {
        let mut sorted = places.clone();
        sort_by(&mut sorted, |&a, &b| natural(names[a], names[b]));
        for (place, file) in places.into_iter().zip(sorted) {
            order[place] = file;
        }
    }
    order
}

/// The runs of digits, of letters and of signs of a name, in its order.
pub(super) fn runs(name: &str) -> impl Iterator<Item = &str> {
    let kind = |sign: char| (sign.is_ascii_digit(), sign.is_alphanumeric());
    let mut rest = name;
    std::iter::from_fn(move || {
        let first = kind(rest.chars().next()?);
        let end = rest.find(|sign| kind(sign) != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let sorted = [
            "",
            "1716-TP-2-DP-10.json",
            "1716-TP-10-DP-0.json",
            "trace_0.json",
            "trace_02.json",
            "trace_2.json",
            "trace_10.json",
            "trace_18446744073709551616.json",
            "trace_a.json",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(natural(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn files_stay_in_the_given_order_unless_only_numbers_differ() {
        assert_eq!(order(&["b.json", "t_10.json", "a.json", "t_9.json"]), [0, 3, 2, 1]);
        assert_eq!(order(&["x1_2", "x1_1", "x0_3"]), [2, 1, 0]);
        assert_eq!(pattern("exp-7/rank[10].json"), "exp-#/rank[#].json");
    }

    proptest! {
        #[test]
        fn names_have_one_order(names in prop::collection::vec("[0-2a_ß]{0,6}", 0..8)) {
            let mut sorted = names;
            sorted.sort_by(|a, b| natural(a, b));
            for (at, a) in sorted.iter().enumerate() {
                for b in &sorted[at..] {
                    prop_assert!(natural(a, b).is_le() && natural(b, a).is_ge());
                    prop_assert_eq!(natural(a, b).is_eq(), a == b);
                }
            }
        }
    }
}

//! Medians, quantiles, and the most frequent number.

use std::cmp::Ordering;

/// The median: of an even number of values the upper one of the two in the middle. `None` without
/// values.
#[must_use]
pub fn median(values: Vec<f64>) -> Option<f64> {
    upper_median(values, f64::total_cmp)
}

/// The same for values of any type in this order.
pub fn upper_median<T: Copy>(mut values: Vec<T>, order: impl Fn(&T, &T) -> Ordering) -> Option<T> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, order).1)
}

/// The median of integers: of two middle values the lower; 0 without values.
pub fn lower_median(values: &mut [i64]) -> i64 {
    let middle = values.len().saturating_sub(1) / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

/// The value that so many percent of sorted values lie below, from the first one at 0 % to the last
/// one at 100 %. `None` without values.
pub fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(sorted.len() * percent / 100).min(last)])
}

/// The most frequent value: of equals the smallest. `None` without values.
pub fn most_frequent<T: Ord + Copy>(values: &mut [T]) -> Option<T> {
    values.sort_unstable();
    let run = values.chunk_by(|a, b| a == b).max_by_key(|run| (run.len(), std::cmp::Reverse(run[0])))?;
    Some(run[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        for (values, expected) in [
            (&[][..], None),
            (&[3.0], Some(3.0)),
            (&[9.0, -1.0], Some(9.0)),
            (&[5.0, 1.0, f64::INFINITY, 2.0, 4.0], Some(4.0)),
        ] {
            assert_eq!(median(values.to_vec()), expected, "{values:?}");
        }
    }

    #[test]
    fn quantiles_reach_from_the_first_value_to_the_last_one() {
        let values: Vec<i64> = (1..=100).collect();
        let found = [0, 25, 50, 95, 100].map(|percent| quantile(&values, percent));
        assert_eq!(found, [1, 26, 51, 96, 100].map(Some));
        assert_eq!(quantile::<i64>(&[], 50), None);
    }

    #[test]
    fn integers_have_a_lower_median_and_a_most_frequent_one() {
        let cases: [(&[i64], i64, Option<i64>); 4] =
            [(&[], 0, None), (&[7], 7, Some(7)), (&[4, 1], 1, Some(1)), (&[5, 9, 9, 5, -2], 5, Some(5))];
        for (values, median, frequent) in cases {
            assert_eq!(lower_median(&mut values.to_vec()), median, "{values:?}");
            assert_eq!(most_frequent(&mut values.to_vec()), frequent, "{values:?}");
        }
    }
}

//! The median of numbers.

/// The median: of an even number of values the upper one of the two in the middle. `None` without
/// values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
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
}

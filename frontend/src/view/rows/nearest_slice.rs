//! The slice of a track that is nearest in time to a slice of another track.

use nprof_engine::wire::detail::SliceEntry;

/// The number of the slice whose start is nearest to a timestamp. If two are equally near, it is
/// the first.
#[must_use]
pub fn nearest_slice(slices: &[SliceEntry], time_ps: i64) -> Option<u32> {
    let nearest = slices.iter().min_by_key(|slice| (slice.start_ps.abs_diff(time_ps), slice.row));
    nearest.map(|slice| slice.row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;

    #[track_caller]
    fn check(starts: &[i64], time_ps: i64, expected: Option<u32>) {
        let slice = |(row, &start_ps)| SliceEntry { row, ..fixture::slice(start_ps, 1) };
        let slices: Vec<SliceEntry> = (40..).zip(starts).map(slice).collect();
        assert_eq!(nearest_slice(&slices, time_ps), expected);
    }

    #[test]
    fn the_nearest_start_wins() {
        check(&[], 5, None);
        check(&[100, 200, 300], 0, Some(40));
        check(&[100, 200, 300], 160, Some(41));
        check(&[100, 200, 200], 150, Some(40));
        check(&[i64::MIN, i64::MAX], 1, Some(41));
    }
}

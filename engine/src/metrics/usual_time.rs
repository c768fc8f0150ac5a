//! The usual time of things that are alike, and the multiple from which on one of them is an
//! outlier. Findings, tables and pictures have this one definition.

use crate::base::quantile;

/// The median time of things that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualTime {
    /// The median in picoseconds.
    pub ps: i64,
    /// Number of things that are alike, each of them counted.
    pub like: usize,
}

impl UsualTime {
    /// An outlier takes more than this multiple of the usual time. Equal transfers of generated and
    /// real jobs reach twice the median.
    pub const OUTLIER_MULTIPLE: i64 = 3;
    /// Things that a median needs, so that one of them can be an outlier.
    pub const LEAST_LIKE: usize = 4;

    /// The median of sorted times. `None` without times.
    #[must_use]
    pub fn of_sorted(times_ps: &[i64]) -> Option<Self> {
        Some(Self { ps: quantile(times_ps, 50)?, like: times_ps.len() })
    }

    /// Whether a thing that takes this time is an outlier among those that are alike.
    #[must_use]
    pub fn makes_outlier(self, time_ps: i64) -> bool {
        self.like >= Self::LEAST_LIKE && time_ps > self.ps.saturating_mul(Self::OUTLIER_MULTIPLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_takes_more_than_three_times_the_usual_time() {
        let usual = UsualTime::of_sorted(&[1, 2, 10, 31]).unwrap();
        assert_eq!(usual, UsualTime { ps: 10, like: 4 });
        assert!(usual.makes_outlier(31) && !usual.makes_outlier(30));
        // Three are too few to say which of them is usual.
        assert!(!UsualTime::of_sorted(&[1, 1, 31]).unwrap().makes_outlier(31));
        assert_eq!(UsualTime::of_sorted(&[]), None);
    }
}

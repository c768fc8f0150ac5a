//! A number that is known within bounds.

/// A time in picoseconds between bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    /// The least that is possible.
    pub low_ps: i64,
    /// The most likely value.
    pub middle_ps: i64,
    /// The most that is possible.
    pub high_ps: i64,
}

impl Bracket {
    /// The bracket around some values.
    #[must_use]
    pub fn around(low_ps: i64, middle_ps: i64, high_ps: i64) -> Self {
        let all = [low_ps, middle_ps, high_ps];
        Self {
            low_ps: all.into_iter().fold(i64::MAX, i64::min),
            middle_ps,
            high_ps: all.into_iter().fold(i64::MIN, i64::max),
        }
    }

    /// The bracket without anything below 0.
    #[must_use]
    pub fn not_negative(self) -> Self {
        let Self { low_ps, middle_ps, high_ps } = self;
        Self { low_ps: low_ps.max(0), middle_ps: middle_ps.max(0), high_ps: high_ps.max(0) }
    }

    /// The bracket without anything beyond a bound.
    #[must_use]
    pub fn at_most(self, most_ps: i64) -> Self {
        let Self { low_ps, middle_ps, high_ps } = self;
        Self { low_ps: low_ps.min(most_ps), middle_ps: middle_ps.min(most_ps), high_ps: high_ps.min(most_ps) }
    }

    /// The bracket with bounds that are further apart by this much on both sides. A length is not
    /// negative.
    #[must_use]
    pub fn widened(self, by_ps: i64) -> Self {
        let low_ps = self.low_ps.saturating_sub(by_ps).max(self.low_ps.min(0));
        Self { low_ps, high_ps: self.high_ps.saturating_add(by_ps), ..self }
    }
}

//! Limits of the number of entries in an answer.

/// Default number of slices of a window, hits of a search or rows of a table.
pub(super) const DEFAULT_LIMIT: u32 = 1_000;
/// Maximum number of slices or hits in one answer.
pub(super) const MAX_LIMIT: u32 = 100_000;

/// The limit, clamped to the maximum.
pub(super) fn at_most(limit: u32, most: u32) -> usize {
    limit.min(most) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept() {
        assert_eq!((at_most(7, MAX_LIMIT), at_most(u32::MAX, MAX_LIMIT)), (7, 100_000));
        assert_eq!((at_most(7, 1_000_000), at_most(u32::MAX, 1_000_000)), (7, 1_000_000));
    }
}

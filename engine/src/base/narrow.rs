//! Positions and counts in 32 bits.

/// A position or count in 32 bits. The caller, or a limit of the caller's data, makes sure that the
/// number fits. A larger one is a bug: a build with assertions panics, another one clamps.
#[inline]
#[must_use]
#[track_caller]
pub fn narrow(number: usize) -> u32 {
    let narrowed = u32::try_from(number);
    debug_assert!(narrowed.is_ok(), "{number} does not fit in 32 bits");
    narrowed.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_fit_stay() {
        assert_eq!((narrow(0), narrow(u32::MAX as usize)), (0, u32::MAX));
    }

    #[test]
    #[should_panic(expected = "does not fit in 32 bits")]
    fn a_larger_number_is_a_bug() {
        let _ = narrow(u32::MAX as usize + 1);
    }
}

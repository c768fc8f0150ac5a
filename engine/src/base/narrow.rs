//! Numbers in a type that does not have all of them. [`narrow`] and [`signed`] are for numbers that
//! fit: one that does not is a bug. [`clamped`] and [`in_memory`] are for numbers of an input.

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

/// A position in memory, or a count of things there, with a sign. A program can address fewer than
/// `i64::MAX` bytes.
#[inline]
#[must_use]
pub fn signed(number: usize) -> i64 {
    let signed = i64::try_from(number);
    debug_assert!(signed.is_ok(), "{number} things do not fit in memory");
    signed.unwrap_or(i64::MAX)
}

/// A size, duration or count from an input with a sign, at most `i64::MAX`.
#[inline]
#[must_use]
pub fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// An offset or length from an input, for a comparison with bytes in memory. A number beyond the
/// memory of a 32-bit program becomes `usize::MAX`, which is also beyond it.
#[inline]
#[must_use]
pub fn in_memory(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_input_are_clamped() {
        assert_eq!((clamped(7), clamped(u64::MAX)), (7, i64::MAX));
        assert_eq!((in_memory(7), in_memory(u64::MAX)), (7, usize::MAX));
        assert_eq!(signed(7), 7);
    }

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

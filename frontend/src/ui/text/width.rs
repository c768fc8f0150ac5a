//! Widths of texts, for columns that are laid out before they are drawn.

/// Width of a text in digits. Capitals are a third wider than digits.
#[must_use]
pub fn digits_of(text: &str) -> usize {
    let capitals = text.chars().filter(char::is_ascii_uppercase).count();
    text.chars().count() + capitals.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_need_more_room() {
        assert_eq!((digits_of("compute_exec"), digits_of("COMPUTE_EXEC"), digits_of("12.5 ms")), (12, 16, 7));
    }
}

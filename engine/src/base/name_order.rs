//! The order of names as people expect it: `stream 2` before `stream 10`.

use std::cmp::Ordering;

/// Compares names: digits by their value, all else by its characters. Names that are equal so, such
/// as `a1` and `a01`, are compared by their characters, so that only equal names are equal.
#[must_use]
pub fn natural(a: &str, b: &str) -> Ordering {
    natural_by(a, b, |letter| letter)
}

/// Like [`natural`], but letters are compared as `folded`.
#[must_use]
pub fn natural_by(a: &str, b: &str, folded: impl Fn(char) -> char) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (digits_a, digits_b) = (digits(left), digits(right));
        if digits_a > 0 && digits_b > 0 {
            let order = by_value(&left[..digits_a], &right[..digits_b]);
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (&left[digits_a..], &right[digits_b..]);
            continue;
        }
        let (mut chars_a, mut chars_b) = (left.chars(), right.chars());
        let order = match (chars_a.next(), chars_b.next()) {
            (None, None) => return a.cmp(b),
            (a, b) => a.map(&folded).cmp(&b.map(&folded)),
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (chars_a.as_str(), chars_b.as_str());
    }
}

/// Number of digits at the start.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Compares digits by the value of the number, however long.
fn by_value(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_value() {
        let mut names = ["tp10", "tp2", "dp", "tp02", "10", "2", "stream 84", "stream 203", "é", ""];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "2", "10", "dp", "stream 84", "stream 203", "tp02", "tp2", "tp10", "é"]);
        let huge = ["9".repeat(40), format!("1{}", "0".repeat(40))];
        assert_eq!(natural(&huge[0], &huge[1]), Ordering::Less);
        assert_eq!(natural("a1b", "a1b"), Ordering::Equal);
    }
}

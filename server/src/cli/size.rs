//! Numbers in a readable form.

use indicatif::{BinaryBytes, HumanCount};

/// Bytes in steps of 1024, as on the page.
pub(super) fn bytes(count: u64) -> String {
    BinaryBytes(count).to_string()
}

/// A count with commas.
pub(super) fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A count with its noun, in the plural unless the count is 1.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", self::count(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_steps_of_1024() {
        let sizes = [512, 1_536, 3 << 20].map(bytes);
        assert_eq!(sizes, ["512 B", "1.50 KiB", "3.00 MiB"]);
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        let counts = [0, 1, 2_000].map(|count| counted(count, "event"));
        assert_eq!(counts, ["0 events", "1 event", "2,000 events"]);
    }
}

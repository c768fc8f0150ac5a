//! Numbers of bytes for people.

/// A number of bytes with the largest unit that leaves at least 1.
#[must_use]
pub fn bytes_in_words(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
    format!("{text} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit() {
        let words = [0.0, 1023.0, 1024.0, 1536.0, 1e15].map(bytes_in_words);
        assert_eq!(words, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "909.5 TiB"]);
    }
}

//! The known name that is most similar to a mistyped one.

/// Longer names are compared by their first characters only: the cost of a comparison is the
/// product of both lengths.
const MOST_CHARS: usize = 64;

/// The nearest name in `known`. `None` if more than a third of the name would have to change.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(MOST_CHARS).collect();
    let most = (name.len() / 3).max(1);
    let distances = known.map(|of| {
        let chars: Vec<char> = of.to_lowercase().chars().take(MOST_CHARS).collect();
        (distance(&name, &chars), of)
    });
    distances.filter(|(distance, _)| *distance <= most).min().map(|(_, of)| of)
}

/// Number of characters to add, remove or change (Levenshtein's distance).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, of_a) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, of_b) in b.iter().enumerate() {
            let changed = diagonal + usize::from(of_a != of_b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        let known = ["llama-train-0412", "llama-train-0413", "resnet", "a"];
        assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
    }

    #[test]
    fn small_mistakes_are_seen_through() {
        check("lama-train-0413", Some("llama-train-0413"));
        check("LLAMA-train_0412", Some("llama-train-0412"));
        check("resent", Some("resnet"));
        check("resnets", Some("resnet"));
        check("mixtral", None);
        check("", Some("a"));
        check(&"x".repeat(100_000), None);
    }
}

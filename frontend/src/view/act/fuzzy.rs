//! Fuzzy matching of a typed text with the words of commands.

/// Points of a letter that follows the letter before it in the text.
const FOLLOWS: u32 = 7;
/// Points of a letter at the start of a word.
const STARTS: u32 = 6;
/// Points of any other letter.
const ANYWHERE: u32 = 1;

/// Quality of the match between the typed letters, without spaces, and the text. More is better;
/// `None` if they do not. O(letters × text).
#[must_use]
pub fn score(typed: &str, text: &str) -> Option<u32> {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let starts = |at: usize| at == 0 || !text[at - 1].is_alphanumeric();
    // For each position, the best points of the letters so far if the last one stands there.
    let mut best: Option<Vec<Option<u32>>> = None;
    for letter in typed.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase) {
        // The best points of the letters before, up to the position before this one.
        let mut before: Option<u32> = best.is_none().then_some(0);
        let next = (0..text.len()).map(|at| {
            let last = best.as_ref().filter(|_| at > 0).and_then(|best| best[at - 1]);
            before = before.max(last);
            if text[at] != letter {
                return None;
            }
            let alone = if starts(at) { STARTS } else { ANYWHERE };
            let apart = before.map(|points| points + alone);
            apart.max(last.map(|points| points + alone.max(FOLLOWS)))
        });
        best = Some(next.collect());
    }
    match best {
        None => Some(0),
        Some(best) => best.into_iter().flatten().max(),
    }
}

/// The things whose words have the typed letters, the best match first. Equal ones keep their
/// order.
pub fn best<T>(typed: &str, all: impl IntoIterator<Item = T>, words: impl Fn(&T) -> &str) -> Vec<T> {
    let mut found: Vec<(u32, T)> = Vec::new();
    for one in all {
        if let Some(points) = score(typed, words(&one)) {
            let at = found.partition_point(|(before, _)| *before >= points);
            found.insert(at, (points, one));
        }
    }
    found.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_best(typed: &str, best: &str) {
        let texts =
            ["Zoom in", "Zoom out", "Zoom to the selected slice", "Undo the last step", "Show everything"];
        let found = texts.iter().filter_map(|text| Some((score(typed, text)?, *text))).max_by_key(|at| at.0);
        assert_eq!(found.map(|(_, text)| text), Some(best), "{typed}");
    }

    #[test]
    fn starts_of_words_and_runs_of_letters_count_more() {
        check_best("zi", "Zoom in");
        check_best("zoom o", "Zoom out");
        check_best("ZS", "Zoom to the selected slice");
        check_best("last", "Undo the last step");
        check_best("every", "Show everything");
        // Letters that follow each other count more than starts of words.
        assert!(score("zo", "Zoom in") >= score("zo", "Zoom out"));
    }

    #[test]
    fn letters_keep_their_order() {
        assert_eq!(score("", "Zoom in"), Some(0));
        assert_eq!(score("nz", "Zoom in"), None);
        assert_eq!(score("zoomx", "Zoom in"), None);
        assert_eq!(score("a", ""), None);
        assert_eq!(score("Ä", "ärger"), Some(STARTS));
    }
}

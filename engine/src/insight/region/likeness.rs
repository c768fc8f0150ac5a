//! How far two orders of work differ: insertions and deletions (Myers, "An O(ND) difference
//! algorithm and its variations", 1986).

/// Part of the names of two repetitions that can differ: Greyhound (ATC 2025) calls an order
/// periodic from a correlation of 0.95.
const MOST_DIFFERENT: f64 = 0.05;
/// Further edits of short orders, in which a few lost kernels are more than such a part: one for as
/// many names, up to a number.
const NAMES_OF_CHANCE: usize = 16;
const MOST_BY_CHANCE: usize = 4;
/// Names of a part of an order of which one can differ.
const LEAST_WITH_AN_EDIT: usize = 4;
/// Most insertions and deletions that are searched for. Time grows with the square of it.
const MOST_EDITS: usize = 1_000;

/// The place at which an order ends in another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Likeness {
    /// Values of the other order.
    pub(super) length: usize,
    /// Insertions and deletions.
    pub(super) edits: usize,
}

impl Likeness {
    /// Part of the values that differ, from 0 to 1.
    pub(super) fn difference(self, of: usize) -> f64 {
        self.edits as f64 / (self.length + of).max(1) as f64
    }
}

/// The part at the begin of `values` that is like `word`, with the fewest edits. `None` if all
/// differ too much.
pub(super) fn beginning(values: &[u32], word: &[u32]) -> Option<Likeness> {
    if values.starts_with(word) {
        return Some(Likeness { length: word.len(), edits: 0 });
    }
    let most = most_edits(word.len());
    let values = &values[..values.len().min(word.len() + most)];
    let is_end = |(in_word, _): (usize, usize)| in_word == word.len();
    furthest(word, values, most, is_end).filter(|like| like.edits <= most_edits(like.length))
}

/// Whether all `values` are like the begin of `word`.
pub(super) fn is_beginning_of(values: &[u32], word: &[u32]) -> bool {
    let most = most_edits(values.len()).max(usize::from(values.len() >= LEAST_WITH_AN_EDIT));
    word.starts_with(values)
        || furthest(values, &word[..word.len().min(values.len() + most)], most, |(at, _)| at == values.len())
            .is_some()
}

fn most_edits(length: usize) -> usize {
    // Two orders differ by what either of them lacks.
    let most = (2.0 * MOST_DIFFERENT * length as f64) as usize;
    let by_chance = (length / NAMES_OF_CHANCE).min(MOST_BY_CHANCE);
    (most + by_chance).min(MOST_EDITS)
}

/// Follows the diagonals of fewest edits until an end is reached.
fn furthest(
    word: &[u32],
    values: &[u32],
    most: usize,
    is_end: impl Fn((usize, usize)) -> bool,
) -> Option<Likeness> {
    let middle = most + 1;
    let mut reached = vec![0_usize; 2 * middle + 1];
    for edits in 0..=most {
        // Diagonals `in_word - in_values`, each two apart.
        for at in (middle - edits..=middle + edits).step_by(2) {
            let is_down = at == middle - edits || (at != middle + edits && reached[at - 1] < reached[at + 1]);
            let mut in_word = match (edits, is_down) {
                (0, _) => 0,
                (_, true) => reached[at + 1],
                (_, false) => reached[at - 1] + 1,
            };
            let mut in_values = in_word + middle - at;
            reached[at] = in_word;
            // Behind the end of the values. All paths from here are behind it, too, and no path
            // that ends inside needs a value of this diagonal.
            if in_values > values.len() {
                continue;
            }
            let same = word[in_word..].iter().zip(&values[in_values..]).take_while(|(a, b)| a == b).count();
            (in_word, in_values) = (in_word + same, in_values + same);
            reached[at] = in_word;
            if is_end((in_word, in_values)) {
                return Some(Likeness { length: in_values, edits });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<u32> {
        text.bytes().map(u32::from).collect()
    }

    #[track_caller]
    fn check(values: &str, word: &str, expected: Option<(usize, usize)>) {
        let found = beginning(&numbers(values), &numbers(word));
        assert_eq!(found.map(|like| (like.length, like.edits)), expected, "{values} {word}");
    }

    #[test]
    fn a_repetition_can_lack_or_add_a_few_values() {
        let word = "abcdefghijklmnopqrstuvwxyz";
        check(&format!("{word}abc"), word, Some((26, 0)));
        check(&format!("{}abc", word.replace('k', "")), word, Some((25, 1)));
        check(&format!("{}abc", word.replace('k', "kX")), word, Some((27, 1)));
        check(&format!("{}abc", word.replace('k', "X")), word, Some((26, 2)));
        check(&format!("{}abc", word.replace("klm", "XYZ")), word, None);
        check("abcdefghij", word, None);
        check("", word, None);
    }

    #[test]
    fn short_orders_have_to_be_equal() {
        check("abcabc", "abc", Some((3, 0)));
        check("abXabc", "abc", None);
    }

    #[test]
    fn a_part_is_like_the_begin_of_a_repetition() {
        let word = numbers("abcdefghijklmnopqrstuvwxyz");
        for (part, expected) in
            [("", true), ("abc", true), ("bcd", false), ("abcdefghiXjkl", true), ("XYabcdefghi", false)]
        {
            assert_eq!(is_beginning_of(&numbers(part), &word), expected, "{part}");
        }
    }
}

//! Numbers of ranks: from file names, and one for each rank in the end.

use std::collections::BTreeSet;

/// Words before a rank's number.
const WORDS: [&str; 2] = ["rank", "worker"];

/// The rank that a file's name tells, e.g. 3 of `profile_rank_3.ntff`, 12 of `rank-12.Jul_15.json`,
/// 0 of `resnet50_worker0.1623.pt.trace.json`.
///
/// The rank is the number after the last `rank` or `worker` that begins a word. In the name of an
/// archive's entry, the last part that tells a rank counts. `rank_2/trace.json` is therefore rank
/// 2.
#[must_use]
pub fn rank_of(name: &str) -> Option<u32> {
    name.rsplit('/').find_map(rank_of_part)
}

fn rank_of_part(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let places = WORDS.iter().flat_map(|word| name.match_indices(word).map(|(at, _)| (at, at + word.len())));
    let numbers = places.filter_map(|(at, after)| {
        let starts_word = !name[..at].ends_with(|sign: char| sign.is_ascii_alphanumeric());
        let rest = name[after..].trim_start_matches(['_', '-']);
        let digits = rest.find(|sign: char| !sign.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
        starts_word.then(|| digits.parse().ok().map(|number| (at, number))).flatten()
    });
    numbers.max_by_key(|(at, _)| *at).map(|(_, number)| number)
}

/// Numbers of ranks, all different.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers {
    /// Number of each rank.
    pub ranks: Vec<u32>,
    /// Ranks whose wanted number was taken.
    pub moved: Vec<Moved>,
}

/// A rank whose wanted number was taken by an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Index of the rank in the list.
    pub at: usize,
    /// Number that the rank wanted.
    pub wish: u32,
}

/// A number for each rank: the wanted one, or the next free one in order. If the wanted number is
/// taken, the rank gets the next free one. No rank gets a number of `taken`.
#[must_use]
pub fn numbered(wishes: &[Option<u32>], mut taken: BTreeSet<u32>) -> Numbers {
    let mut numbers: Vec<Option<u32>> =
        wishes.iter().map(|wish| wish.filter(|&number| taken.insert(number))).collect();
    let mut moved = Vec::new();
    let mut next = 0;
    for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| number.is_none()) {
        while !taken.insert(next) {
            next += 1;
        }
        *number = Some(next);
        moved.extend(wishes[at].map(|wish| Moved { at, wish }));
    }
    Numbers { ranks: numbers.into_iter().flatten().collect(), moved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_rank(name: &str, expected: Option<u32>) {
        assert_eq!(rank_of(name), expected, "{name}");
    }

    #[test]
    fn ranks_from_file_names() {
        check_rank("profile_rank_0.ntff", Some(0));
        check_rank("/rank_9/profile_rank_12_exec_2.ntff", Some(12));
        check_rank("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", Some(34));
        check_rank("resnet50_num_workers_0_worker3.1623143089861.pt.trace.json", Some(3));
        check_rank("mtia_inference_RANK_7.json", Some(7));
        check_rank("profile.ntff", None);
        check_rank("frank5.json", None);
        check_rank("rank.json", None);
        check_rank("rank_99999999999.json", None);
        check_rank("rankß1.json", None);
        check_rank("job.zip/rank_2/trace.json", Some(2));
        check_rank("rank_4.tar.gz/a/trace.json", Some(4));
    }

    #[track_caller]
    fn check_numbers(wanted: &[Option<u32>], expected: &[u32], moved: &[(usize, u32)]) {
        let moved = moved.iter().map(|&(at, wish)| Moved { at, wish }).collect();
        let numbers = numbered(wanted, BTreeSet::new());
        assert_eq!(numbers, Numbers { ranks: expected.to_vec(), moved }, "{wanted:?}");
    }

    #[test]
    fn no_rank_gets_a_number_of_other_ranks() {
        let numbers = numbered(&[Some(0), None, Some(9), Some(1)], BTreeSet::from([0, 1, 3]));
        assert_eq!(numbers.ranks, [2, 4, 9, 5]);
        assert_eq!(numbers.moved, [Moved { at: 0, wish: 0 }, Moved { at: 3, wish: 1 }]);
    }

    #[test]
    fn every_rank_has_a_number_of_its_own() {
        check_numbers(&[None, None], &[0, 1], &[]);
        check_numbers(&[Some(1), None, Some(0)], &[1, 2, 0], &[]);
        check_numbers(&[Some(5), Some(5), Some(5)], &[5, 0, 1], &[(1, 5), (2, 5)]);
        check_numbers(&[Some(u32::MAX), Some(u32::MAX)], &[u32::MAX, 0], &[(1, u32::MAX)]);
        check_numbers(&[], &[], &[]);
    }
}

//! Numbers of ranks: from file names, and one for each rank in the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nprof_engine::base::order::gathered;

use super::Candidate;
use super::name_order::{pattern, runs};
use crate::importer::FileRole;

/// Words before a rank's number.
const WORDS: [&str; 2] = ["rank", "worker"];

/// The dimension whose numbers are ranks, if several names have no other dimension.
const ONLY_DIMENSION: &str = "tp";

/// Dimensions of a job. A number after one of them, or after `rank` behind one of them, is a place
/// in the dimension: the names of other ranks can have it too.
const DIMENSIONS: [&str; 14] = [
    ONLY_DIMENSION,
    "dp",
    "pp",
    "ep",
    "cp",
    "sp",
    "dcp",
    "pcp",
    "etp",
    "edp",
    "fsdp",
    "local",
    "node",
    "group",
];

/// Most digits of a rank. Longer numbers are times and dates.
const MAX_DIGITS: usize = 6;

/// The rank that a file's name tells, e.g. 3 of `profile_rank_3.ntff`, 12 of `rank-12.Jul_15.json`,
/// 0 of `resnet50_worker0.1623.pt.trace.json`, 7 of `exp[a]-rank[7].json`.
///
/// The rank is the number after the last `rank` or `worker` that is a word. Any signs but letters
/// and digits can stand between. A number of one dimension, such as that of `tp_rank_1`, is the
/// rank only if the name has no other number of a rank or of a dimension. In the name of an
/// archive's entry, the last part that tells a rank counts. `rank_2/trace.json` is therefore rank
/// 2.
#[must_use]
pub fn rank_of(name: &str) -> Option<u32> {
    name.rsplit('/').find_map(rank_of_part)
}

/// The rank of each file: the rank that its content states, else the rank that its path tells.
/// Names such as `1716-TP-10.json` tell ranks if there are several, with different numbers. `tp4`
/// alone mostly names a size.
///
/// If several traces state one rank and the paths of all of them tell different ranks, the paths
/// are right: each process of such a job counts its ranks from 0.
#[must_use]
pub fn ranks(candidates: &[Candidate]) -> Vec<Option<u32>> {
    let stated = |candidate: &Candidate| {
        candidate.claim(FileRole::Trace)?.importer.facts?;
        candidate.facts.rank
    };
    let places = places(candidates);
    let by_name = |(file, candidate): (usize, &Candidate)| {
        rank_of(&candidate.path).or_else(|| places.get(&file).copied())
    };
    let told: Vec<Option<u32>> = candidates.iter().enumerate().map(by_name).collect();
    let mut stating: HashMap<u32, Vec<usize>> = HashMap::new();
    for (file, candidate) in candidates.iter().enumerate() {
        if let Some(rank) = stated(candidate) {
            stating.entry(rank).or_default().push(file);
        }
    }
    let by_path = |files: &[usize]| {
        let distinct: BTreeSet<u32> = gathered(files.iter().filter_map(|&file| told[file]));
        files.len() > 1 && distinct.len() == files.len()
    };
    let rank = |(file, candidate): (usize, &Candidate)| match stated(candidate) {
        Some(rank) if by_path(&stating[&rank]) => told[file],
        Some(rank) => Some(rank),
        None => told[file].or_else(|| candidate.claim(FileRole::Trace)?.rank),
    };
    candidates.iter().enumerate().map(rank).collect()
}

/// The ranks of traces whose names have one dimension only and are alike.
fn places(candidates: &[Candidate]) -> HashMap<usize, u32> {
    let mut alike: HashMap<String, BTreeMap<u32, Vec<usize>>> = HashMap::new();
    for (file, candidate) in candidates.iter().enumerate() {
        let name = candidate.file_name().to_lowercase();
        if let [RankPosition::Place(ONLY_DIMENSION, rank)] = told_by(&name)[..] {
            alike.entry(pattern(&candidate.path)).or_default().entry(rank).or_default().push(file);
        }
    }
    let are_ranks =
        |files: &BTreeMap<u32, Vec<usize>>| files.len() > 1 && files.values().all(|files| files.len() == 1);
    let ranks = alike.into_values().filter(are_ranks).flatten();
    ranks.flat_map(|(rank, files)| files.into_iter().map(move |file| (file, rank))).collect()
}

/// Position of a process in a job, as a part of a name tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RankPosition<'n> {
    /// Number of the rank.
    Rank(u32),
    /// Position in this dimension, after its name and a sign.
    Place(&'n str, u32),
    /// Position in a dimension, after its name and `rank`.
    RankOf(u32),
}

fn rank_of_part(name: &str) -> Option<u32> {
    let name = name.to_lowercase();
    let told = told_by(&name);
    let rank = told.iter().rev().find_map(|told| match *told {
        RankPosition::Rank(rank) => Some(rank),
        _ => None,
    });
    match told[..] {
        [RankPosition::RankOf(only)] => Some(only),
        _ => rank,
    }
}

/// All positions that a name in lower case tells.
fn told_by(name: &str) -> Vec<RankPosition<'_>> {
    let words: Vec<&str> = runs(name).collect();
    (0..words.len()).filter_map(|at| told_at(&words, at)).collect()
}

/// The position that is told by the word at this place.
fn told_at<'n>(words: &[&'n str], at: usize) -> Option<RankPosition<'n>> {
    let is_word = |at: usize| at == 0 || !words[at - 1].ends_with(char::is_alphanumeric);
    let is_sign = |text: &&str| !text.starts_with(char::is_alphanumeric);
    let (word, signs) = (words[at], usize::from(words.get(at + 1).is_some_and(is_sign)));
    let digits = words.get(at + 1 + signs).filter(|digits| digits.len() <= MAX_DIGITS && is_word(at))?;
    let number = digits.parse().ok()?;
    if DIMENSIONS.contains(&word) {
        return (signs > 0).then_some(RankPosition::Place(word, number));
    }
    let before = at.checked_sub(2).filter(|_| is_word(at)).map(|at| words[at]);
    WORDS.contains(&word).then(|| match before {
        Some(before) if DIMENSIONS.contains(&before) => RankPosition::RankOf(number),
        _ => RankPosition::Rank(number),
    })
}

/// Numbers of ranks, all different.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankNumbers {
    /// Number of each rank.
    pub ranks: Vec<u32>,
    /// Ranks whose wanted number was taken.
    pub moved: Vec<MovedRank>,
}

/// A rank whose wanted number was taken by an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRank {
    /// Index of the rank in the list.
    pub at: usize,
    /// Number that the rank wanted.
    pub wish: u32,
}

/// A number for each rank: the wanted one, or the next free one in order. If the wanted number is
/// taken, the rank gets the next free one. No rank gets a number of `taken`.
#[must_use]
pub fn numbered(wishes: &[Option<u32>], mut taken: BTreeSet<u32>) -> RankNumbers {
    let mut numbers: Vec<Option<u32>> =
        wishes.iter().map(|wish| wish.filter(|&number| taken.insert(number))).collect();
    let mut moved = Vec::new();
    let mut next = 0;
    for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| number.is_none()) {
        while !taken.insert(next) {
            next += 1;
        }
        *number = Some(next);
        moved.extend(wishes[at].map(|wish| MovedRank { at, wish }));
    }
    RankNumbers { ranks: numbers.into_iter().flatten().collect(), moved }
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

    #[test]
    fn signs_can_stand_between_the_word_and_the_number() {
        for between in ["", "_", "-", "=", ".", ":", " ", "[", "(", "#", "__", " - ", "=[", "→"] {
            check_rank(&format!("exp[a2-b]-rank{between}13].json"), Some(13));
        }
        check_rank("RANK[0]-of-[8].json", Some(0));
        check_rank("rank.1623143089861.pt.trace.json", None);
        check_rank("worker.20240131.json", None);
        check_rank("rank_a3.json", None);
        check_rank("crank=5.json", None);
        check_rank("2rank5.json", None);
    }

    #[test]
    fn a_dimension_is_the_rank_only_if_it_is_alone() {
        check_rank("allreduce_tp4.json", None);
        check_rank("1716.25-TP-10.trace.json.gz", None);
        check_rank("1716.25-TP-1-DP-0.trace.json.gz", None);
        check_rank("tp_rank_1.json", Some(1));
        check_rank("tp_rank_1_pp_rank_0.json", None);
        check_rank("dp1_pp0_tp3_dcp0_ep3_rank7.17.pt.trace.json", Some(7));
        check_rank("global_rank9_local_rank1.json", Some(9));
        check_rank("node_rank_1.json", Some(1));
        check_rank("dp-1.json", None);
        check_rank("http3.json", None);
    }

    #[track_caller]
    fn check_numbers(wanted: &[Option<u32>], expected: &[u32], moved: &[(usize, u32)]) {
        let moved = moved.iter().map(|&(at, wish)| MovedRank { at, wish }).collect();
        let numbers = numbered(wanted, BTreeSet::new());
        assert_eq!(numbers, RankNumbers { ranks: expected.to_vec(), moved }, "{wanted:?}");
    }

    #[test]
    fn no_rank_gets_a_number_of_other_ranks() {
        let numbers = numbered(&[Some(0), None, Some(9), Some(1)], BTreeSet::from([0, 1, 3]));
        assert_eq!(numbers.ranks, [2, 4, 9, 5]);
        assert_eq!(numbers.moved, [MovedRank { at: 0, wish: 0 }, MovedRank { at: 3, wish: 1 }]);
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

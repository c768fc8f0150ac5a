//! From the files and directories that a user names to the inputs of each rank.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{IngestError, Result};

/// The files of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankInput {
    /// The trace.
    pub trace: PathBuf,
    /// The program that was traced, where it is at hand.
    pub neff: Option<PathBuf>,
    /// The rank's number, where the trace's file name tells.
    pub rank: Option<u32>,
}

impl RankInput {
    /// Its files; the trace first.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.trace.as_path()).chain(self.neff.as_deref())
    }
}

/// What a user named: `view -n NEFF -s NTFF -d DIR FILES…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The program that was traced.
    pub neff: Option<PathBuf>,
    /// A single trace.
    pub session_file: Option<PathBuf>,
    /// A directory with one trace a rank.
    pub session_dir: Option<PathBuf>,
    /// Files and directories of any supported format.
    pub files: Vec<PathBuf>,
}

impl Named {
    /// Whether nothing was named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The inputs of each rank: those whose names tell their rank first, in order, the others as named.
    ///
    /// # Errors
    /// Where there is no trace among them, a directory cannot be read, or several NEFFs leave open which belongs to
    /// which trace.
    pub fn ranks(&self) -> Result<Vec<RankInput>> {
        let mut traces = Vec::new();
        let mut neffs: Vec<PathBuf> = self.neff.iter().cloned().collect();
        let named = self.session_file.iter().chain(&self.session_dir).chain(&self.files);
        for path in named {
            if path.is_dir() {
                let found = Listing::of(path)?;
                traces.extend(found.traces);
                // The one that the user named goes before what lies around.
                if self.neff.is_none() {
                    neffs.extend(found.neffs);
                }
            } else if is_neff(path) {
                neffs.push(path.clone());
            } else {
                traces.push(path.clone());
            }
        }
        let neff = match (&neffs[..], &traces[..]) {
            ([], []) => return Err(IngestError::NoInput),
            ([neff, ..], []) => return Err(IngestError::NeffAlone { path: neff.clone() }),
            ([], _) => None,
            ([neff], _) => Some(neff.clone()),
            ([first, second, ..], _) => {
                return Err(IngestError::SeveralNeffs { first: first.clone(), second: second.clone() });
            }
        };
        let mut ranks: Vec<RankInput> = traces
            .into_iter()
            .map(|trace| RankInput { rank: rank_from_name(&trace), neff: neff.clone(), trace })
            .collect();
        ranks.sort_by_key(|input| input.rank.map_or(u64::MAX, u64::from));
        Ok(ranks)
    }
}

/// The numbers of the ranks: the one a file name or a trace tells, else the next free one in order. A number that is
/// taken gives way to the next free one; those are returned too, as (index, number wanted).
#[must_use]
pub fn numbered(wanted: &[Option<u32>]) -> (Vec<u32>, Vec<(usize, u32)>) {
    let mut taken = std::collections::BTreeSet::new();
    let mut numbers: Vec<Option<u32>> =
        wanted.iter().map(|wish| wish.filter(|&number| taken.insert(number))).collect();
    let mut moved = Vec::new();
    let mut next = 0;
    for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| number.is_none()) {
        while !taken.insert(next) {
            next += 1;
        }
        *number = Some(next);
        moved.extend(wanted[at].map(|wish| (at, wish)));
    }
    (numbers.into_iter().flatten().collect(), moved)
}

/// What a directory has for us.
struct Listing {
    traces: Vec<PathBuf>,
    neffs: Vec<PathBuf>,
}

impl Listing {
    /// The traces in a directory: `profile_rank_<i>.ntff` where there are such, else all NTFF, else all JSON traces.
    fn of(dir: &Path) -> Result<Self> {
        let open = |source| IngestError::open(dir, source);
        let mut paths: Vec<PathBuf> = fs::read_dir(dir)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map_err(open)?;
        paths.retain(|path| path.is_file());
        paths.sort();
        let with = |wanted: fn(&str) -> bool| -> Vec<PathBuf> {
            paths.iter().filter(|path| wanted(&lower_name(path))).cloned().collect()
        };
        let kinds: [fn(&str) -> bool; 3] = [
            |name| name.starts_with("profile_rank_") && name.ends_with(".ntff"),
            |name| name.ends_with(".ntff"),
            |name| name.ends_with(".json") || name.ends_with(".json.gz"),
        ];
        let traces = kinds.into_iter().map(with).find(|found| !found.is_empty());
        let traces = traces.ok_or_else(|| IngestError::EmptyDirectory { path: dir.to_owned() })?;
        Ok(Self { traces, neffs: with(|name| name.ends_with(".neff")) })
    }
}

fn is_neff(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("neff"))
}

fn lower_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// The number after the last `rank` or `worker` of a file name: `profile_rank_3.ntff`, `rank-12.Jul_15.json`,
/// `resnet50_worker0.1623.pt.trace.json`.
fn rank_from_name(path: &Path) -> Option<u32> {
    let name = lower_name(path);
    let words = ["rank", "worker"].into_iter();
    let places = words.flat_map(|word| name.match_indices(word).map(|(at, _)| (at, at + word.len())));
    let numbers = places.filter_map(|(at, after)| {
        let starts_word = !name[..at].ends_with(|sign: char| sign.is_ascii_alphanumeric());
        let rest = name[after..].trim_start_matches(['_', '-']);
        let digits = rest.find(|sign: char| !sign.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
        starts_word.then(|| digits.parse().ok().map(|number| (at, number))).flatten()
    });
    numbers.max_by_key(|(at, _)| *at).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_rank(name: &str, expected: Option<u32>) {
        assert_eq!(rank_from_name(Path::new(name)), expected, "{name}");
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
    }

    #[track_caller]
    fn check_numbers(wanted: &[Option<u32>], expected: &[u32], moved: &[(usize, u32)]) {
        assert_eq!(numbered(wanted), (expected.to_vec(), moved.to_vec()), "{wanted:?}");
    }

    #[test]
    fn every_rank_has_a_number_of_its_own() {
        check_numbers(&[None, None], &[0, 1], &[]);
        check_numbers(&[Some(1), None, Some(0)], &[1, 2, 0], &[]);
        check_numbers(&[Some(5), Some(5), Some(5)], &[5, 0, 1], &[(1, 5), (2, 5)]);
        check_numbers(&[Some(u32::MAX), Some(u32::MAX)], &[u32::MAX, 0], &[(1, u32::MAX)]);
        check_numbers(&[], &[], &[]);
    }

    fn tree(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        dir
    }

    #[track_caller]
    fn check_dir(names: &[&str], expected: &[(&str, Option<u32>)], neff: Option<&str>) {
        let dir = tree(names);
        let named = Named { session_dir: Some(dir.path().to_owned()), ..Named::default() };
        let expected: Vec<RankInput> = expected
            .iter()
            .map(|(name, rank)| RankInput {
                trace: dir.path().join(name),
                neff: neff.map(|name| dir.path().join(name)),
                rank: *rank,
            })
            .collect();
        assert_eq!(named.ranks().unwrap(), expected, "{names:?}");
    }

    #[test]
    fn a_directory_gives_one_trace_a_rank() {
        let both = ["profile_rank_10.ntff", "profile_rank_2.ntff", "profile.ntff", "file.neff", "a.json"];
        check_dir(
            &both,
            &[("profile_rank_2.ntff", Some(2)), ("profile_rank_10.ntff", Some(10))],
            Some("file.neff"),
        );
        check_dir(&["b.ntff", "a.ntff", "x.json"], &[("a.ntff", None), ("b.ntff", None)], None);
        check_dir(&["t.json.gz", "notes.txt"], &[("t.json.gz", None)], None);
    }

    #[test]
    fn what_cannot_be_a_profile_is_refused() {
        let dir = tree(&["notes.txt"]);
        let path = dir.path().to_owned();
        let refused = |named: &Named| named.ranks().unwrap_err();
        let empty = Named { session_dir: Some(path.clone()), ..Named::default() };
        assert!(matches!(refused(&empty), IngestError::EmptyDirectory { .. }));
        assert!(matches!(refused(&Named::default()), IngestError::NoInput));
        let neff = Named { neff: Some("a.neff".into()), ..Named::default() };
        assert!(matches!(refused(&neff), IngestError::NeffAlone { .. }));
        let files = ["a.neff", "b.NEFF", "c.ntff"].map(PathBuf::from).to_vec();
        assert!(matches!(refused(&Named { files, ..Named::default() }), IngestError::SeveralNeffs { .. }));
    }
}

//! From the files and directories that a user names to the inputs of each rank.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::format::refusal;
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
    /// How the trace was chosen.
    pub chosen: Chosen,
}

/// How a file was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The user named it: a file that is no trace is an error.
    ByName,
    /// The user named its directory: a file that is no trace is left out.
    ByDirectory,
}

/// All that is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// One for each rank, at least one.
    pub ranks: Vec<RankInput>,
    /// A name for several traces together: their directory, or the first file.
    pub title: Option<String>,
    /// Files that look like traces and are not read, each with the reason.
    pub left_out: Vec<String>,
}

impl Inputs {
    /// Does `read`. A file of a directory that turns out to be no trace is left out, and the others
    /// are read again.
    ///
    /// # Errors
    /// Errors of `read` about a file that the user named, or about the last file.
    pub fn reading<T>(mut self, mut read: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        loop {
            match read(&self) {
                Err(IngestError::Format { path, source }) => {
                    let at = self.ranks.iter().position(|input| {
                        input.chosen == Chosen::ByDirectory && input.trace == path && self.ranks.len() > 1
                    });
                    let Some(at) = at else { return Err(IngestError::Format { path, source }) };
                    self.ranks.remove(at);
                    self.left_out.push(format!("{}: {source}", file_name(&path)));
                }
                done => return done,
            }
        }
    }
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
    /// If there is no trace among them, a directory cannot be read, or several NEFFs leave open
    /// which belongs to which trace.
    pub fn inputs(&self) -> Result<Inputs> {
        let mut traces = Vec::new();
        let mut left_out = Vec::new();
        let mut neffs: Vec<PathBuf> = self.neff.iter().cloned().collect();
        let named: Vec<&PathBuf> =
            self.session_file.iter().chain(&self.session_dir).chain(&self.files).collect();
        for &path in &named {
            if path.is_dir() {
                let found = Listing::of(path)?;
                traces.extend(found.traces.into_iter().map(|trace| (trace, Chosen::ByDirectory)));
                left_out.extend(found.left_out);
                // The one that the user named goes before what lies around.
                if self.neff.is_none() {
                    neffs.extend(found.neffs);
                }
            } else if is_neff(path) {
                neffs.push(path.clone());
            } else {
                traces.push((path.clone(), Chosen::ByName));
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
        let title = title(&named, traces.len());
        let mut ranks: Vec<RankInput> = traces
            .into_iter()
            .map(|(trace, chosen)| RankInput {
                rank: rank_from_name(&trace),
                neff: neff.clone(),
                trace,
                chosen,
            })
            .collect();
        ranks.sort_by_key(|input| input.rank.map_or(u64::MAX, u64::from));
        Ok(Inputs { ranks, title, left_out })
    }
}

/// The name of several traces together.
fn title(named: &[&PathBuf], traces: usize) -> Option<String> {
    if traces < 2 {
        return None;
    }
    let directories: Vec<&&PathBuf> = named.iter().filter(|path| path.is_dir()).collect();
    let files: Vec<&&PathBuf> = named.iter().filter(|path| !path.is_dir() && !is_neff(path)).collect();
    match (&directories[..], &files[..]) {
        // `.` and `..` have no name of their own.
        ([only], []) => only.canonicalize().ok().map(|path| file_name(&path)).filter(|name| !name.is_empty()),
        ([], [first, _, ..]) => Some(format!("{} and {} more", file_name(first), traces - 1)),
        _ => None,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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

/// A kind of traces, and whether a file of this name is one.
type Kind = (&'static str, fn(&str) -> bool);

/// What a directory has for us.
struct Listing {
    traces: Vec<PathBuf>,
    neffs: Vec<PathBuf>,
    /// Files that look like traces and are not read, with the reason.
    left_out: Vec<String>,
}

impl Listing {
    /// The traces in a directory: `profile_rank_<i>.ntff` if there are such, else all NTFF, else
    /// all JSON traces. Those of another kind, and files that their first bytes show to be no
    /// trace, are left out.
    fn of(dir: &Path) -> Result<Self> {
        let open = |source| IngestError::open(dir, source);
        let mut paths: Vec<PathBuf> = fs::read_dir(dir)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map_err(open)?;
        paths.retain(|path| path.is_file());
        paths.sort();
        let with = |wanted: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
            paths.iter().filter(|path| wanted(&lower_name(path))).cloned().collect()
        };
        let kinds: [Kind; 3] = [
            ("profile_rank_<i>.ntff", |name| name.starts_with("profile_rank_") && name.ends_with(".ntff")),
            (".ntff", |name| name.ends_with(".ntff")),
            (".json", |name| name.ends_with(".json") || name.ends_with(".json.gz")),
        ];
        let mut left_out = Vec::new();
        let mut traces = Vec::new();
        for (kind, is_kind) in kinds {
            traces = with(&is_kind);
            // A file that cannot be opened stays: reading reports it.
            traces.retain(|path| match refusal(path) {
                Some(reason) => {
                    left_out.push(format!("{}: {reason}", file_name(path)));
                    false
                }
                None => true,
            });
            if !traces.is_empty() {
                let others = with(&|name| kinds.iter().any(|(_, is_trace)| is_trace(name)));
                let others = others.iter().filter(|path| !is_kind(&lower_name(path)));
                left_out
                    .extend(others.map(|path| {
                        format!("{}: not read, because there are {kind} files", file_name(path))
                    }));
                break;
            }
        }
        if traces.is_empty() {
            // Reading the first says what is wrong with it.
            traces = with(&|name| kinds.iter().any(|(_, is_trace)| is_trace(name)));
            left_out.clear();
        }
        if traces.is_empty() {
            return Err(IngestError::EmptyDirectory { path: dir.to_owned() });
        }
        left_out.sort();
        left_out.dedup();
        Ok(Self { traces, neffs: with(&|name| name.ends_with(".neff")), left_out })
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

    /// An empty NTFF and an empty trace.
    const NTFF: &[u8] = b"\x05\x10\0\0\0\0\0\0\0";
    const JSON: &[u8] = b"{\"traceEvents\":[]}";

    #[track_caller]
    fn check_dir(names: &[&str], expected: &[(&str, Option<u32>)], neff: Option<&str>, left_out: &[&str]) {
        let dir = tree(&[]);
        for name in names {
            let bytes = match name.rsplit('.').next() {
                Some("ntff") => NTFF,
                _ if name.starts_with("config") => b"{\"ranks\": 8}",
                _ => JSON,
            };
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        let named = Named { session_dir: Some(dir.path().to_owned()), ..Named::default() };
        let expected: Vec<RankInput> = expected
            .iter()
            .map(|(name, rank)| RankInput {
                trace: dir.path().join(name),
                neff: neff.map(|name| dir.path().join(name)),
                rank: *rank,
                chosen: Chosen::ByDirectory,
            })
            .collect();
        let inputs = named.inputs().unwrap();
        assert_eq!(inputs.ranks, expected, "{names:?}");
        let name = file_name(&dir.path().canonicalize().unwrap());
        assert_eq!(inputs.title, (expected.len() > 1).then_some(name));
        let said: Vec<&str> = inputs.left_out.iter().filter_map(|said| said.split(':').next()).collect();
        assert_eq!(said, left_out, "{names:?}");
    }

    #[test]
    fn a_directory_gives_one_trace_a_rank_and_says_what_it_leaves_out() {
        let both = ["profile_rank_10.ntff", "profile_rank_2.ntff", "profile.ntff", "file.neff", "a.json"];
        check_dir(
            &both,
            &[("profile_rank_2.ntff", Some(2)), ("profile_rank_10.ntff", Some(10))],
            Some("file.neff"),
            &["a.json", "profile.ntff"],
        );
        let mixed = ["b.ntff", "a.ntff", "x.json"];
        check_dir(&mixed, &[("a.ntff", None), ("b.ntff", None)], None, &["x.json"]);
        check_dir(&["t.json", "notes.txt"], &[("t.json", None)], None, &[]);
    }

    #[test]
    fn several_traces_have_a_name_together() {
        let dir = tree(&["a.json", "b.json", "c.neff"]);
        let path = |name: &str| dir.path().join(name);
        let title = |files: &[&str]| {
            let files = files.iter().map(|name| path(name)).collect();
            Named { files, ..Named::default() }.inputs().unwrap().title
        };
        assert_eq!(title(&["a.json", "c.neff"]), None, "one has its own name");
        assert_eq!(title(&["a.json", "b.json"]).as_deref(), Some("a.json and 1 more"));
    }

    #[test]
    fn a_file_of_a_directory_that_is_no_trace_is_left_out_and_one_that_was_named_is_not() {
        let input = |name: &str, chosen| RankInput { trace: name.into(), neff: None, rank: None, chosen };
        let refuse = |inputs: &Inputs| {
            let bad = inputs.ranks.iter().find(|input| input.trace.starts_with("bad"));
            let read = || inputs.clone();
            let what = nprof_capture::formats::Error::format("no trace", "byte 0", "leave it out");
            bad.map_or_else(
                || Ok(read()),
                |bad| Err(IngestError::Format { path: bad.trace.clone(), source: what }),
            )
        };
        let inputs = |ranks| Inputs { ranks, title: None, left_out: Vec::new() };
        let listed = inputs(vec![input("a", Chosen::ByDirectory), input("bad", Chosen::ByDirectory)]);
        let read = listed.reading(refuse).unwrap();
        assert_eq!(read.ranks, [input("a", Chosen::ByDirectory)]);
        assert!(read.left_out[0].starts_with("bad: no trace"), "{:?}", read.left_out);
        let named = inputs(vec![input("a", Chosen::ByDirectory), input("bad", Chosen::ByName)]);
        assert!(matches!(named.reading(refuse), Err(IngestError::Format { .. })));
        let alone = inputs(vec![input("bad", Chosen::ByDirectory)]);
        assert!(matches!(alone.reading(refuse), Err(IngestError::Format { .. })));
    }

    #[test]
    fn what_cannot_be_a_profile_is_refused() {
        let dir = tree(&["notes.txt"]);
        let path = dir.path().to_owned();
        let refused = |named: &Named| named.inputs().unwrap_err();
        let empty = Named { session_dir: Some(path.clone()), ..Named::default() };
        assert!(matches!(refused(&empty), IngestError::EmptyDirectory { .. }));
        assert!(matches!(refused(&Named::default()), IngestError::NoInput));
        let neff = Named { neff: Some("a.neff".into()), ..Named::default() };
        assert!(matches!(refused(&neff), IngestError::NeffAlone { .. }));
        let files = ["a.neff", "b.NEFF", "c.ntff"].map(PathBuf::from).to_vec();
        assert!(matches!(refused(&Named { files, ..Named::default() }), IngestError::SeveralNeffs { .. }));
    }
}

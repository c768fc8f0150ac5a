//! Lines about files that are not read. Many files of one folder with one reason are one line, so
//! that a compiler's folder beside the traces does not hide other warnings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nprof_capture::inputs::{Candidate, Plan};

use super::InputFile;

/// A folder, and the path below the named directory, which begins the names of its files.
pub(super) type Folder = (PathBuf, String);

/// Files of one folder with one reason that have a line each.
const EACH: usize = 4;

/// The lines about files, each with the name and the reason.
pub(super) fn lines(files: Vec<(String, String)>) -> Vec<String> {
    let mut alike: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (name, reason) in files {
        let folder = name.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
        alike.entry((folder, reason)).or_default().push(name);
    }
    let of_folder = |((_, reason), names): ((String, String), Vec<String>)| match &names[..] {
        [first, ..] if names.len() > EACH => vec![format!("{} files like {first}: {reason}", names.len())],
        few => few.iter().map(|name| format!("{name}: {reason}")).collect(),
    };
    alike.into_iter().flat_map(of_folder).collect()
}

/// Reason for leaving out a program or a log.
pub(super) const UNUSED: &str = "not used, because no trace of the profile goes with it";

/// The lines about programs and logs that no trace takes.
pub(super) fn unused(files: &[InputFile], unused: &[usize]) -> Vec<String> {
    let line = |&file: &usize| (files[file].leaf.candidate.name.clone(), UNUSED.to_owned());
    lines(unused.iter().map(line).collect())
}

/// The lines about traces that tell a rank of an earlier trace and are no cycles of it, as their
/// times or other facts show.
pub(super) fn same_rank(files: &[InputFile], plans: &[Plan]) -> Vec<String> {
    let mut earlier: BTreeMap<u32, &Candidate> = BTreeMap::new();
    let mut said = Vec::new();
    for plan in plans {
        let candidate = &files[plan.trace()].leaf.candidate;
        let Some(rank) = plan.rank else { continue };
        let first = *earlier.entry(rank).or_insert(candidate);
        let (Some(own), Some(other)) = (candidate.facts.span, first.facts.span) else { continue };
        if first.path == candidate.path {
            continue;
        }
        let why = match own.is_before(&other) || other.is_before(&own) {
            true => "but its path or its contents tell another process or run",
            false => "and their times overlap",
        };
        let (name, first) = (&candidate.name, &first.name);
        said.push(format!(
            "{name}: tells rank {rank} like {first}, {why}, so it is no further cycle of that rank"
        ));
    }
    said
}

/// The line about folders that are too deep below a directory to be searched.
pub(super) fn too_deep(folders: &[Folder], levels: usize) -> Option<String> {
    let (_, first) = folders.first()?;
    let others = match folders.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Some(format!("{first}{others}: not searched, because more than {levels} levels below the directory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_of_a_folder_are_one_line() {
        let of = |folder: &str, count: usize| {
            (0..count).map(|at| (format!("{folder}{at}.json"), "other".to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(lines(of("", 2)), ["0.json: other", "1.json: other"]);
        assert_eq!(lines(of("a/b/", 5)), ["5 files like a/b/0.json: other"]);
        assert_eq!(lines([of("a/", 4), of("b/", 1)].concat()).len(), 5);
    }

    #[test]
    fn folders_that_are_too_deep_are_named() {
        let folder = |name: &str| ("".into(), name.to_owned());
        assert_eq!(too_deep(&[], 4), None);
        let one = too_deep(&[folder("a/b/")], 4);
        assert_eq!(
            one.as_deref(),
            Some("a/b/: not searched, because more than 4 levels below the directory")
        );
        let two = too_deep(&[folder("a/b/"), folder("c/")], 4).expect("a line");
        assert!(two.starts_with("a/b/ and 1 more: "), "{two}");
    }
}

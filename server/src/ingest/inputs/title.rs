//! The name of a profile of several traces.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nprof_capture::importer::FileRole;
use nprof_capture::inputs::Plan;

use super::{FileOrigin, InputFile, file_name};

/// The common name of several traces.
pub(super) fn title(wholes: &[PathBuf], files: &[InputFile], plans: &[Plan]) -> Option<String> {
    let traces = traces(plans);
    let is_trace = |file: &&InputFile| file.leaf.candidate.claim(FileRole::Trace).is_some();
    let is_named = |file: &&InputFile| file.chosen == FileOrigin::ByName && is_trace(file);
    match (wholes, files.iter().find(is_named)) {
        // A directory is named for what it holds, also if that is one trace. `.` and `..` have no
        // name of their own.
        ([only], None) if traces > 1 || only.is_dir() => {
            only.canonicalize().ok().map(|path| file_name(&path)).filter(|name| !name.is_empty())
        }
        // Some files of a directory are named like files that the user named.
        ([], _) if traces > 1 => {
            let first = files.iter().find(is_trace)?;
            Some(format!("{} and {} more", first.leaf.candidate.name, traces - 1))
        }
        _ => None,
    }
}

/// Number of files with events. A rank can have several.
fn traces(plans: &[Plan]) -> usize {
    let files = plans.iter().flat_map(|plan| &plan.files).filter(|file| file.role == FileRole::Trace);
    files.map(|file| file.file).collect::<BTreeSet<_>>().len()
}

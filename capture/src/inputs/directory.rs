//! The files of a directory or an archive that make a profile.

use nprof_engine::base::order::sort_by_key;

use super::{Candidate, FileKind, settled};
use crate::importer::{FileRole, Importer, TABLE};
use crate::probe::Confidence;
use crate::refusal::{FileRefusal, Gravity};

/// The files of a directory that make a profile, by their index in the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChoice {
    /// Indices of the traces.
    pub traces: Vec<usize>,
    /// Indices of the files that go with traces.
    pub beside: Vec<usize>,
    /// Files that look like traces and are not read.
    pub left_out: Vec<LeftOut>,
}

/// A file that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Index of the file in the list.
    pub file: usize,
    /// Reason for leaving it out.
    pub why: Why,
}

/// Reason why a file of a directory is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The file cannot be read.
    Refused(FileRefusal),
    /// The directory has files of this kind, which are read instead.
    Others(String),
}

/// Chooses the traces of a directory: those of the first format in the table that is present. All
/// other files that are traces, or are named like one, are left out with the reason. Files of other
/// kinds are ignored.
#[must_use]
pub fn choose(candidates: &[Candidate]) -> FileChoice {
    let candidates = &settled(candidates);
    let mut choice = FileChoice::default();
    let mut traces = Vec::new();
    for (file, candidate) in candidates.iter().enumerate() {
        match &candidate.found {
            FileKind::Claimed(claim) if claim.role != FileRole::Trace => choice.beside.push(file),
            FileKind::Claimed(claim) if claim.confidence > Confidence::Possible || candidate.is_hinted() => {
                traces.push((file, claim.importer));
            }
            FileKind::Claimed(_) | FileKind::Packed(_) => {}
            FileKind::Refused(refusal) => {
                if refusal.gravity == Gravity::Damaged || candidate.is_hinted() {
                    choice.left_out.push(LeftOut { file, why: Why::Refused(refusal.clone()) });
                }
            }
        }
    }
    let Some(importer) = TABLE.iter().find(|row| traces.iter().any(|(_, importer)| importer == row)) else {
        return choice;
    };
    let in_session = |file: usize| {
        let name = candidates[file].file_name().to_ascii_lowercase();
        importer.session_prefix.is_some_and(|prefix| name.starts_with(prefix))
    };
    let has_session = traces.iter().any(|&(file, of)| of == importer && in_session(file));
    let kind = match importer.session_prefix {
        Some(prefix) if has_session => format!("{prefix}<i>.{}", extension(importer)),
        _ => importer.title.to_owned(),
    };
    for (file, of) in traces {
        if of == importer && (!has_session || in_session(file)) {
            choice.traces.push(file);
        } else {
            choice.left_out.push(LeftOut { file, why: Why::Others(kind.clone()) });
        }
    }
    sort_by_key(&mut choice.left_out, |left_out| left_out.file);
    choice
}

fn extension(importer: &Importer) -> &'static str {
    importer.takes[0].extensions[0]
}

//! From the first bytes of files to profiles: recognises each file, and groups files into ranks.
//!
//! All of this is pure. The command line, the upload and the page use the same code, so that the
//! same files mean the same everywhere.

#[cfg(any(test, feature = "fixture"))]
pub mod cases;
pub mod cycle;
pub mod directory;
pub mod group;
pub mod host;
mod joins;
pub mod name_order;
pub mod packing;
pub mod plan;
pub mod rank;

pub use self::directory::{FileChoice, choose};
pub use self::group::{Apart, FileGroup, GroupReason, Groups, groups, profiles};
pub use self::host::hosts;
pub use self::packing::PackingKind;
pub use self::plan::{Plan, PlanFile, Plans, Unplanned, plan};
pub use self::rank::{MovedRank, RankNumbers, numbered, rank_of, ranks};
use crate::importer::{Claim, Companion, FileRole, Importer, TABLE, claims};
use crate::probe::known_formats;
use crate::probe::process::ProcessFacts;
use crate::refusal::FileRefusal;

/// The beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHead<'a> {
    /// Name of the file. For an archive's entry, the names of both with `/` between.
    pub name: &'a str,
    /// First unpacked bytes, up to [`crate::probe::HEAD_LEN`].
    pub head: &'a [u8],
}

/// Kind of a file, from its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A format reads the file.
    Claimed(Claim),
    /// The file holds other files, which have not been opened yet.
    Packed(PackingKind),
    /// No format reads the file.
    Refused(FileRefusal),
}

/// A file and its recognised kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Name as in [`FileHead::name`].
    pub name: String,
    /// Kind of the file, from its first bytes.
    pub found: FileKind,
    /// Path below the folder that all files share; the name, if that is not known.
    pub path: String,
    /// The directory or archive that the file came in, by its position among those that the user
    /// named.
    pub whole: Option<usize>,
    /// Facts that the trace states about its process.
    pub facts: ProcessFacts,
}

impl Candidate {
    /// A file of this kind that states no facts.
    #[must_use]
    pub fn new(name: &str, found: FileKind) -> Self {
        Self {
            name: name.to_owned(),
            found,
            path: name.to_owned(),
            whole: None,
            facts: ProcessFacts::default(),
        }
    }

    /// Recognises a file.
    #[must_use]
    pub fn of(file: FileHead<'_>) -> Self {
        let found = recognise(file.head);
        let find = match found {
            FileKind::Claimed(claim) => claim.importer.facts,
            _ => None,
        };
        let facts = find.map(|find| find(file.head)).unwrap_or_default();
        Self { facts, ..Self::new(file.name, found) }
    }

    /// The claim of the format that reads the file in this role.
    #[must_use]
    pub fn claim(&self, role: FileRole) -> Option<Claim> {
        match self.found {
            FileKind::Claimed(claim) if claim.role == role => Some(claim),
            _ => None,
        }
    }

    /// Whether the name is that of a trace. See [`is_named_like_trace`].
    pub(crate) fn is_hinted(&self) -> bool {
        is_named_like_trace(self.file_name())
    }

    /// The last part of the name.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// The files, with traces that go with those of another format claimed by that format.
fn settled(candidates: &[Candidate]) -> Vec<Candidate> {
    let is_present = |importer: &Importer| {
        let is_of = |candidate: &Candidate| {
            candidate.claim(FileRole::Trace).is_some_and(|claim| claim.importer == importer)
        };
        candidates.iter().any(is_of)
    };
    let settle = |candidate: &Candidate| {
        let claim = candidate.claim(FileRole::Trace);
        let companion = claim.and_then(|claim| claim.companion).filter(|with| is_present(with.importer));
        let found = match (claim, companion) {
            (Some(claim), Some(Companion { importer, rank })) => {
                FileKind::Claimed(Claim { importer, rank, companion: None, ..claim })
            }
            _ => candidate.found.clone(),
        };
        Candidate { found, ..candidate.clone() }
    };
    candidates.iter().map(settle).collect()
}

/// Whether a name has an ending of a file that a format reads. A packing's ending can follow.
#[must_use]
pub fn is_named_like_trace(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = packing::without_ending(&name);
    TABLE.iter().any(|importer| importer.is_hinted_by(name))
}

/// Kind of a file with these first bytes, unpacked.
#[must_use]
pub fn recognise(head: &[u8]) -> FileKind {
    // Formats come before the containers, because a NEFF can be a tar.
    if let Some(claim) = claims(head).first() {
        return FileKind::Claimed(*claim);
    }
    match PackingKind::of(head) {
        Some(packing) => FileKind::Packed(packing),
        None => FileKind::Refused(known_formats::refuse(head)),
    }
}

#[cfg(test)]
mod tests;

//! From the first bytes of files to profiles: what each file is, which files make which ranks.
//!
//! All of this is pure. The command line, the upload and the page use the same code, so that the
//! same files mean the same everywhere.

#[cfg(any(test, feature = "fixture"))]
pub mod cases;
pub mod directory;
pub mod group;
pub mod packing;
pub mod plan;
pub mod rank;

use std::borrow::Cow;

pub use self::directory::{Choice, choose};
pub use self::group::profiles;
pub use self::packing::Packing;
pub use self::plan::{Plan, PlanFile, Plans, Unplanned, plan};
pub use self::rank::{Moved, Numbers, numbered, rank_of};
use crate::importer::{Claim, Role, TABLE, claims};
use crate::probe::known;

/// The beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHead<'a> {
    /// The file's name; of an archive's entry the names of both, with `/` between.
    pub name: &'a str,
    /// The first unpacked bytes, up to [`crate::probe::HEAD_LEN`].
    pub head: &'a [u8],
}

/// What the beginning of a file tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A format reads it.
    Claimed(Claim),
    /// It holds other files, which are not looked at yet.
    Packed(Packing),
    /// Nothing reads it.
    Refused(Refusal),
}

/// Why a file is not read, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What the file is, or what is wrong with it.
    pub what: Cow<'static, str>,
    /// The place of the fault in the file.
    pub place: Cow<'static, str>,
    /// What to do.
    pub hint: Cow<'static, str>,
    /// How much it matters.
    pub gravity: Gravity,
}

/// How much a refusal matters in a directory or an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// The file is something else. That is worth a word only if its name is that of a trace.
    Unread,
    /// The file would be read and is damaged.
    Damaged,
}

impl Refusal {
    /// Of a file that is something else.
    #[must_use]
    pub fn unread(what: impl Into<Cow<'static, str>>, hint: &'static str) -> Self {
        let (what, place, hint) = (what.into(), Cow::Borrowed("byte 0"), Cow::Borrowed(hint));
        Self { what, place, hint, gravity: Gravity::Unread }
    }

    /// Of a file that is damaged.
    #[must_use]
    pub fn damaged(what: impl Into<Cow<'static, str>>, place: impl Into<Cow<'static, str>>) -> Self {
        let hint = Cow::Borrowed("the file is damaged or was cut off: copy it again");
        Self { what: what.into(), place: place.into(), hint, gravity: Gravity::Damaged }
    }
}

/// A file, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// As [`FileHead::name`].
    pub name: String,
    /// What the first bytes tell.
    pub found: Found,
}

impl Candidate {
    /// Recognises a file.
    #[must_use]
    pub fn of(file: FileHead<'_>) -> Self {
        Self { name: file.name.to_owned(), found: recognise(file.head) }
    }

    /// The claim of a format that reads it as this.
    #[must_use]
    pub fn claim(&self, role: Role) -> Option<Claim> {
        match self.found {
            Found::Claimed(claim) if claim.role == role => Some(claim),
            _ => None,
        }
    }

    /// As [`is_named_like_trace`].
    pub(crate) fn is_hinted(&self) -> bool {
        is_named_like_trace(self.file_name())
    }

    /// The last part of the name.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// Whether a name ends as those of files that a format reads; a packing's ending may follow.
#[must_use]
pub fn is_named_like_trace(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = packing::without_ending(&name);
    TABLE.iter().any(|importer| importer.is_hinted_by(name))
}

/// What a file is that begins so, unpacked.
#[must_use]
pub fn recognise(head: &[u8]) -> Found {
    // Before the containers: a NEFF can be a tar.
    if let Some(claim) = claims(head).first() {
        return Found::Claimed(*claim);
    }
    match Packing::of(head) {
        Some(packing) => Found::Packed(packing),
        None => Found::Refused(known::refuse(head)),
    }
}

#[cfg(test)]
mod tests;

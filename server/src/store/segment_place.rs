//! The place of a segment, for messages.

use std::fmt;
use std::path::{Path, PathBuf};

use nprof_engine::wire::rank_ref::RankRef;

use super::{Profile, RankFile};

/// A segment that a message is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPlace {
    profile: String,
    rank: RankRef,
    path: PathBuf,
}

impl Profile {
    /// The place of the segment of this rank.
    #[must_use]
    pub fn place_of(&self, rank: &RankFile) -> SegmentPlace {
        let profile = self.manifest.slug().to_owned();
        SegmentPlace { profile, rank: rank.rank.into(), path: self.segment_path(rank) }
    }

    /// The place of the segment of all ranks, in this file.
    #[must_use]
    pub fn place_of_all(&self, path: PathBuf) -> SegmentPlace {
        SegmentPlace { profile: self.manifest.slug().to_owned(), rank: RankRef::All, path }
    }
}

impl SegmentPlace {
    /// The rank.
    #[must_use]
    pub fn rank(&self) -> RankRef {
        self.rank
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The profile, the rank and the name of the file. Clients may not know the path of the store.
    #[must_use]
    pub fn for_clients(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("profile \"{}\" rank {}, {file}", self.profile, self.rank)
    }
}

/// The profile, the rank and the path of the file.
impl fmt::Display for SegmentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { profile, rank, path } = self;
        write!(f, "profile \"{profile}\" rank {rank}, {}", path.display())
    }
}

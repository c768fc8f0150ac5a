//! The place of a segment, for messages.

use std::fmt;
use std::path::PathBuf;

use nprof_engine::wire::catalog::rank_word;

use super::{Profile, RankFile};

/// A segment that a message is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentPlace {
    profile: String,
    rank: u32,
    path: PathBuf,
}

impl Profile {
    /// The place of the segment of this rank.
    #[must_use]
    pub fn place_of(&self, rank: &RankFile) -> SegmentPlace {
        let profile = self.manifest.slug().to_owned();
        SegmentPlace { profile, rank: rank.rank, path: self.segment_path(rank) }
    }
}

impl SegmentPlace {
    /// The profile, the rank and the name of the file. Clients may not know the path of the store.
    #[must_use]
    pub fn for_clients(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("profile \"{}\" rank {}, {file}", self.profile, rank_word(self.rank))
    }
}

/// The profile, the rank and the path of the file.
impl fmt::Display for SegmentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { profile, rank, path } = self;
        write!(f, "profile \"{profile}\" rank {}, {}", rank_word(*rank), path.display())
    }
}

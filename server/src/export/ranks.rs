//! The ranks that an export writes, with their segments.

use nprof_engine::native::{OpenError, SegmentFile};

use super::requested_part::ranges;
use super::{ExportError, RowFailure};
use crate::store::{Profile, RankFile, SegmentPlace};

/// Ranks of a profile.
#[derive(Debug, Clone, Copy)]
pub struct RanksOf<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The ranks, in the profile's order.
    pub ranks: &'a [RankFile],
    /// The stored profile, if `profile` is a part of it.
    pub whole: &'a Profile,
    /// Whether ranks or tracks of the profile are left out. A part has no view of all ranks,
    /// because waits would be shorter, and the rank that is late could be missing.
    pub is_part: bool,
    /// The process that compares ranks which nobody has compared yet.
    pub comparing: Comparing,
}

/// The process that compares ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparing {
    /// In this process.
    Here,
    /// In a process of its own, before the export. If that failed, or if this is a large part of a
    /// profile, the export has no view of all ranks.
    Apart,
}

/// A rank with its segment open.
pub struct OpenedRank<'a> {
    /// The rank's entry in the manifest.
    pub rank: &'a RankFile,
    place: SegmentPlace,
    segment: SegmentFile,
}

impl<'a> RanksOf<'a> {
    /// All ranks of a profile.
    #[must_use]
    pub fn all(profile: &'a Profile) -> Self {
        Self::some(profile, &profile.manifest.ranks)
    }

    /// These ranks of a profile.
    #[must_use]
    pub fn some(profile: &'a Profile, ranks: &'a [RankFile]) -> Self {
        let is_part = ranks.len() < profile.manifest.ranks.len();
        Self { profile, ranks, whole: profile, is_part, comparing: Comparing::Here }
    }

    /// Opens the segments of all ranks, one after the other. A segment keeps its decoded lists and
    /// its file while it is open, so an export of many ranks opens each when it needs it.
    ///
    /// # Errors
    /// Each item is an error if the segment cannot be opened.
    pub fn each(self) -> impl Iterator<Item = Result<OpenedRank<'a>, ExportError>> {
        self.ranks.iter().map(move |rank| {
            let segment = open(self.profile, rank)?;
            Ok(OpenedRank { rank, place: self.profile.place_of(rank), segment })
        })
    }

    /// Checks that all segments can be opened.
    ///
    /// # Errors
    /// `Unreadable` names the ranks whose segments cannot, and the others. If there are no others,
    /// the first error.
    pub(super) fn check(self) -> Result<(), ExportError> {
        let (mut unreadable, mut readable, mut first) = (Vec::new(), Vec::new(), None);
        for rank in self.ranks {
            match open(self.profile, rank) {
                Ok(_) => readable.push(rank.rank),
                Err(error) => {
                    unreadable.push(rank.rank);
                    first.get_or_insert(error);
                }
            }
        }
        let Some(first) = first else { return Ok(()) };
        if readable.is_empty() {
            return Err(first);
        }
        let noun = if unreadable.len() == 1 { "rank" } else { "ranks" };
        let (unreadable, readable) = (format!("{noun} {}", ranges(&unreadable)), ranges(&readable));
        Err(ExportError::Unreadable { first: Box::new(first), unreadable, readable })
    }

    /// Opens the segments of all ranks at once.
    pub fn open(self) -> Result<Vec<OpenedRank<'a>>, ExportError> {
        self.each().collect()
    }
}

impl OpenedRank<'_> {
    /// The place of the segment.
    #[must_use]
    pub fn place(&self) -> &SegmentPlace {
        &self.place
    }

    /// The rank's segment.
    #[must_use]
    pub fn segment(&self) -> &SegmentFile {
        &self.segment
    }

    /// Runs work that reads the segment. An error of reading gets the segment's place.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&SegmentFile) -> Result<T, RowFailure>,
    ) -> Result<T, ExportError> {
        work(&self.segment).map_err(|failure| match failure {
            RowFailure::Engine(source) => ExportError::Segment { place: self.place.clone(), source },
            RowFailure::Io(source) => ExportError::Write(source),
        })
    }
}

/// Opens the segment of a rank for an export.
///
/// # Errors
/// If the segment cannot be read, or is not the one that the manifest names.
pub(super) fn open(profile: &Profile, rank: &RankFile) -> Result<SegmentFile, ExportError> {
    profile.open_rank(rank).map_err(|error| failed(profile.place_of(rank), error))
}

/// The error about a segment that cannot be opened.
pub(super) fn failed(place: SegmentPlace, error: OpenError) -> ExportError {
    match error {
        OpenError::Io(source) => ExportError::Open { place, source },
        OpenError::Segment(source) => ExportError::Segment { place, source },
    }
}

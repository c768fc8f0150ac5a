//! The metrics of a rank, computed once and stored next to its segment in `rank_<n>.summary`, a
//! kept file ([`crate::kept_file`]) whose content is that of the segment.

use std::path::PathBuf;

use nprof_engine::base::Result;
use nprof_engine::exec::Work;
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::SegmentFile;
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use nprof_engine::wire::summary::Summary;

use crate::kept_file::{KeptFile, KeptKind};
use crate::store::SegmentPlace;

/// The version is raised when a metric is added, removed or computed differently. The program's
/// version is part of it.
pub(crate) const KIND: KeptKind =
    KeptKind { subject: "summary", version: concat!("15-", env!("CARGO_PKG_VERSION")), most_bytes: 64 << 20 };

/// The metrics of a rank: the stored ones, else computed now and stored. A failure to store them is
/// not an error.
pub fn summary_of(place: &SegmentPlace, segment: &SegmentFile, work: Work<'_>) -> Result<Summary> {
    if let Some(summary) = stored(place, segment) {
        return Ok(summary);
    }
    let summary = answer::summary(RankView::of(segment), place.rank(), &MetricScope::default(), work)?;
    KIND.keep(&path_of(place), segment.content(), &summary);
    Ok(summary)
}

/// The stored metrics of a rank, if they are those of this segment.
#[must_use]
pub fn stored(place: &SegmentPlace, segment: &SegmentFile) -> Option<Summary> {
    let summary = kept(place, segment.content()).good()?;
    Some(Summary { rank: place.rank(), ..summary })
}

/// The state of the stored summary of a segment with this content, for `nprof verify`.
#[must_use]
pub fn kept(place: &SegmentPlace, content: &str) -> KeptFile<Summary> {
    KIND.read(&path_of(place), content)
}

/// Path of the stored summary of this segment, which can be missing.
#[must_use]
pub fn path_of(place: &SegmentPlace) -> PathBuf {
    place.path().with_extension("summary")
}

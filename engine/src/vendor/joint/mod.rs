//! The joint segment: what all ranks of a job show together, as one segment of its own.
//!
//! Its slices are collective operations and the calls of each rank, on the clock that all ranks
//! share. Its side tables compare ranks, sizes and causes. `crate::analysis::joint` writes it.

use crate::model::{CollectiveKind, TrackId};
use crate::query::SLOTS;
use crate::segment::Footer;

pub mod metrics;
pub mod over_time;
pub mod schema;

/// Value of [`crate::model::RankInfo::source`] for a joint segment.
pub const SOURCE: &str = "joint";

/// The colour numbers of kinds of operations. They are the same in all profiles.
pub fn colours() -> impl Iterator<Item = (&'static str, u8)> {
    let kinds = CollectiveKind::ALL.iter().filter(|kind| **kind != CollectiveKind::Receive);
    kinds.map(|kind| kind.name()).zip((0..SLOTS as u8).cycle())
}

/// The rank whose calls a track of a joint segment shows. `None` for other tracks, and for all
/// tracks of other segments.
#[must_use]
pub fn rank_of(footer: &Footer, track: TrackId) -> Option<u32> {
    let table = footer.tables.get(usize::from(footer.table_of(track)?.0))?;
    let is_call = footer.rank.source == SOURCE && table.spec.name == schema::CALLS.name;
    footer.tracks.get(track.0 as usize)?.spec.identity.number.filter(|_| is_call)
}

//! The joint segment: what all ranks of a job show together, as one segment of its own.
//!
//! Its slices are collective operations and the calls of each rank, on the clock that all ranks
//! share. Its side tables compare ranks, sizes and causes. `crate::analysis::joint` writes it.

use crate::model::CollectiveKind;
use crate::query::SLOTS;

pub mod metrics;
pub mod schema;

/// Value of [`crate::model::RankInfo::source`] for a joint segment.
pub const SOURCE: &str = "joint";

/// The colour numbers of kinds of operations. They are the same in all profiles.
pub fn colours() -> impl Iterator<Item = (&'static str, u8)> {
    let kinds = CollectiveKind::ALL.iter().filter(|kind| **kind != CollectiveKind::Receive);
    kinds.map(|kind| kind.name()).zip((0..SLOTS as u8).cycle())
}

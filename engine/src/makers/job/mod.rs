//! The job segment: what all ranks of a job show together, as one segment of its own.
//!
//! Its slices are collective operations and the calls of each rank, on the clock that all ranks
//! share. Its side tables compare ranks, sizes and causes. `crate::analysis::job_segment` writes
//! it.

use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::{KindColour, Maker, MakerFacts};
use crate::model::{CollectiveKind, TrackId};
use crate::query::SLOTS;
use crate::segment::{Bytes, Footer, Segment, TableMeta};

pub mod activity;
pub mod clocks;
pub mod metrics;
mod operation_points;
pub mod over_time;
pub mod schema;

/// Value of [`crate::model::RankInfo::source`] for a job segment.
pub const SOURCE: &str = "job";

pub(super) const FACTS: MakerFacts = MakerFacts {
    heading: schema::heading_of,
    colours: Some(colours),
    layout: super::summary_layout::JOB,
    ..MakerFacts::any(SOURCE)
};

pub(super) const fn maker<B: Bytes>() -> Maker<B> {
    Maker { metrics: metrics::read, ..Maker::any() }
}

/// Whether a segment is that of a job.
#[must_use]
pub fn is_job(footer: &Footer) -> bool {
    footer.rank.source == SOURCE
}

/// The colour numbers of kinds of operations. They are the same in all profiles.
fn colours() -> Vec<KindColour> {
    let kinds = CollectiveKind::ALL.iter().filter(|kind| **kind != CollectiveKind::Receive);
    let kinds = kinds.map(|kind| kind.name()).zip((0..SLOTS as u8).cycle());
    kinds.map(|(kind, slot)| KindColour { kind, slot }).collect()
}

/// The rank whose calls a track of a job segment shows. `None` for other tracks, and for all
/// tracks of other segments.
#[must_use]
pub fn rank_of(footer: &Footer, track: TrackId) -> Option<u32> {
    number_in(footer, track, &[schema::CALLS.name])
}

/// The rank that a track of a job segment is about: whose calls or whose computation it shows.
#[must_use]
pub fn subject_of(footer: &Footer, track: TrackId) -> Option<u32> {
    number_in(footer, track, &[schema::CALLS.name, schema::COMPUTATION.name])
}

/// Number of rows of a table that are waits. Each operation has a row, and one more if ranks waited
/// in it. 0 for all tables but that of operations, and for all tables of other segments.
pub fn waits_in<B: Bytes>(segment: &Segment<B>, table: &TableMeta) -> Result<u64> {
    if !is_job(segment.footer()) || table.spec.name != schema::OPERATIONS.name {
        return Ok(0);
    }
    let job = schema::JobRow::read(segment, Cancel::NEVER)?;
    let operations: u64 = job.iter().filter_map(|job| u64::try_from(job.operations.int()?).ok()).sum();
    Ok(u64::from(table.rows).saturating_sub(operations))
}

/// The number of a track whose rows are in one of these tables of a job segment.
fn number_in(footer: &Footer, track: TrackId, tables: &[&str]) -> Option<u32> {
    let table = footer.tables.get(usize::from(footer.table_of(track)?.0))?;
    let is_here = is_job(footer) && tables.contains(&table.spec.name.as_str());
    footer.tracks.get(track.0 as usize)?.spec.identity.number.filter(|_| is_here)
}

//! The slices of a profile that a query finds.

use std::collections::BTreeSet;

use nprof_engine::base::{Result, Time};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::makers::SHORT_NAMES;
use nprof_engine::model::TableKind;
use nprof_engine::native::{AllCores, SegmentFile};
use nprof_engine::query::{self, FilterScope, HitPage, PatternError, RegionSpan, ResolvedFilter, WordFilter};

use super::of_segment;
use super::regions::named_on_rank;
use crate::store::{Profile, RankFile};

/// Rows whose times are in memory at once.
const TIMED_ROWS: usize = 1 << 20;

/// The slices that a query finds in ranks of a profile.
#[derive(Debug, Default)]
pub struct FoundSlices {
    /// The first ones: by rank, then by start.
    pub rows: Vec<FoundSlice>,
    /// Number of all that were found.
    pub total: u64,
    /// Sum of their durations.
    pub duration_ps: u64,
    /// Number of slices that were searched.
    pub searched: u64,
}

/// A slice that was found.
#[derive(Debug)]
pub struct FoundSlice {
    /// Number of the rank.
    pub rank: u32,
    /// Row of the slice in the rank.
    pub row: u32,
    /// Name of the slice.
    pub name: String,
    /// Names of the groups and of the track.
    pub track: String,
    /// Start on the clock that all ranks share.
    pub start_ps: i64,
    /// Duration.
    pub duration_ps: i64,
}

/// The slices of these ranks that a query finds, at most `most` of them in detail. A field that
/// only some ranks have finds nothing in the others. A query that is wrong for all ranks is a
/// [`PatternError`].
pub fn found_slices(
    profile: &Profile,
    ranks: &[RankFile],
    query: &str,
    most: usize,
    cancel: Cancel<'_>,
) -> anyhow::Result<FoundSlices> {
    let needs_regions = WordFilter::parse(query)?.needs_regions();
    let mut found = FoundSlices::default();
    let mut faults: Option<Vec<PatternError>> = None;
    for file in ranks {
        let regions = if needs_regions { named_on_rank(profile, file, cancel)? } else { Vec::new() };
        let asked = AskedRank { profile, file, query, regions: &regions, cancel };
        let of_rank = asked.search(&mut found, most)?;
        faults = Some(match faults {
            None => of_rank,
            Some(before) => {
                let places: BTreeSet<Option<usize>> = of_rank.iter().map(|fault| fault.at).collect();
                before.into_iter().filter(|fault| places.contains(&fault.at)).collect()
            }
        });
    }
    match faults.into_iter().flatten().next() {
        Some(fault) => Err(fault.into()),
        None => Ok(found),
    }
}

/// A rank with a query.
struct AskedRank<'a> {
    profile: &'a Profile,
    file: &'a RankFile,
    query: &'a str,
    regions: &'a [RegionSpan],
    cancel: Cancel<'a>,
}

impl AskedRank<'_> {
    /// Adds the slices of the rank. Returns the words of the query that mean nothing on it.
    fn search(&self, found: &mut FoundSlices, most: usize) -> anyhow::Result<Vec<PatternError>> {
        let scope = FilterScope {
            rank: Some(self.file.rank),
            clock: self.file.clock_fit(),
            zero_ps: self.profile.manifest.shared_start().0,
            regions: self.regions,
            short_names: &SHORT_NAMES,
        };
        let mut faults = Ok(Vec::new());
        of_segment(self.profile, self.file, |segment| {
            match ResolvedFilter::of_some_rank(segment, self.query, &scope) {
                Ok((filter, of_rank)) => {
                    faults = Ok(of_rank);
                    self.add(segment, &filter, most, found)
                }
                Err(fault) => {
                    faults = Err(fault);
                    Ok(())
                }
            }
        })?;
        Ok(faults?)
    }

    fn add(
        &self,
        segment: &SegmentFile,
        filter: &ResolvedFilter,
        most: usize,
        found: &mut FoundSlices,
    ) -> Result<()> {
        let work = Work { exec: &AllCores, cancel: self.cancel };
        let hits = filter.find(segment, HitPage::first(most.saturating_sub(found.rows.len())), work)?;
        let rows: Vec<u32> = hits.hits.iter().map(|hit| hit.row).collect();
        let clock = self.file.clock_fit();
        for slice in query::slice::read_all(segment, &rows)? {
            found.rows.push(FoundSlice {
                rank: self.file.rank,
                row: slice.slice.row,
                name: segment.text(slice.name())?.to_owned(),
                track: query::slice::track_path(segment, slice.track),
                start_ps: clock.to_shared(Time(slice.slice.start_ps)).0,
                duration_ps: slice.slice.duration_ps,
            });
        }
        let tables = segment.footer().tables.iter().filter(|table| table.spec.kind == TableKind::Slices);
        found.searched += tables.map(|table| u64::from(table.rows)).sum::<u64>();
        found.total += hits.rows.len();
        // Chunks bound the memory for the times of millions of slices.
        let all: Vec<u32> = hits.rows.iter().collect();
        for rows in all.chunks(TIMED_ROWS) {
            let times = query::row_times(segment, rows, self.cancel)?;
            let durations = times.iter().map(|time| time.duration_ps.unsigned_abs());
            found.duration_ps = durations.fold(found.duration_ps, u64::saturating_add);
        }
        Ok(())
    }
}

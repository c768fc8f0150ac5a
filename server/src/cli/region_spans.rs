//! The region that an argument names: its spans, and the findings in it.

use nprof_engine::base::Interval;
use nprof_engine::makers::CallIds;
use nprof_engine::wire::findings::Findings;

use super::progress::analysing;
use crate::analysis::analyse;
use crate::analysis::regions::spans_on_job;
use crate::store::Profile;

/// The findings with a place in a region; all of them without one.
pub(super) fn within_region(
    found: Findings,
    profile: &Profile,
    region: Option<&str>,
) -> anyhow::Result<Findings> {
    match region {
        Some(name) => Ok(found.within(&spans_named(profile, name)?)),
        None => Ok(found),
    }
}

/// The spans of a region on the clock that all ranks share. A name that no region has is an error.
fn spans_named(profile: &Profile, name: &str) -> anyhow::Result<Vec<Interval>> {
    let spans = analysing(|cancel| {
        let analysed = analyse(profile, CallIds::Skipped, cancel)?;
        spans_on_job(profile, name, &analysed, cancel)
    })?;
    anyhow::ensure!(!spans.is_empty(), "no region is named `{name}`; `nprof regions` shows all");
    Ok(spans)
}

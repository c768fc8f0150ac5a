//! The spans of a region that an argument names.

use nprof_engine::base::Interval;
use nprof_engine::makers::CallIds;

use super::progress::analysing;
use crate::analysis::analyse;
use crate::analysis::regions::spans_on_job;
use crate::store::Profile;

/// The spans of a region on the clock that all ranks share. A name that no region has is an error.
pub(super) fn spans_named(profile: &Profile, name: &str) -> anyhow::Result<Vec<Interval>> {
    let spans = analysing(|cancel| {
        let analysed = analyse(profile, CallIds::Skipped, cancel)?;
        spans_on_job(profile, name, &analysed, cancel)
    })?;
    anyhow::ensure!(!spans.is_empty(), "no region is named `{name}`; `nprof regions` shows all");
    Ok(spans)
}

//! Matching: which calls of different ranks are one operation.
//!
//! Calls with numbers match by number. Others match by the times at which they end: all ranks of an
//! operation that waits for everybody end together. That needs clocks, so a first round finds rough
//! ones ([`votes`]), and a second round uses fitted ones.

mod call_numbers;
mod call_order;
mod candidates;
mod cluster;
mod ends;
mod lockstep;
mod root_calls;
mod shifts;
mod siblings;
mod votes;

use super::clock::line::ClockLine;
use super::islands::Islands;
use super::{Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::WaitingRanks;

pub(super) use votes::rough_clocks;

/// Differences between the ends of one operation: this, and a share of its transfer time.
const SPREAD_PS: f64 = 8e6;
const SPREAD_SHARE: f64 = 0.06;

/// Largest difference between the ends of two calls of one operation, if the shorter one has this
/// duration.
fn tolerance(duration_ps: i64) -> f64 {
    SPREAD_PS + SPREAD_SHARE * duration_ps.max(0) as f64
}

/// Whether some calls have no numbers.
pub(super) fn needs_clocks(job: &Job) -> bool {
    groups(job).any(|group| !job.is_numbered(group))
}

/// Matches the calls with numbers.
pub(super) fn by_number(job: &Job, cancel: Cancel<'_>) -> Result<Instances> {
    let mut found = Instances::default();
    for group in groups(job).filter(|&group| job.is_numbered(group)) {
        call_numbers::matched(job, group, &mut found, cancel)?;
    }
    Ok(found)
}

/// Matches the calls of streams whose groups are not known. The stream with most calls shows best
/// which ranks belong together, and others follow.
fn by_stream(
    job: &Job,
    mut streams: Vec<u32>,
    lines: &[ClockLine],
    islands: &Islands,
    found: &mut Instances,
    cancel: Cancel<'_>,
) -> Result<()> {
    let calls = |stream: u32| -> usize {
        let ranks = job.members[stream as usize].iter();
        ranks.map(|&rank| job.calls_in(rank.into(), stream).len()).sum()
    };
    streams.sort_by_cached_key(|&stream| std::cmp::Reverse(calls(stream)));
    let mut known: Vec<Vec<Vec<u16>>> = Vec::new();
    for stream in streams {
        let mut groups = Vec::new();
        for ranks in islands.parts(&job.members[stream as usize]) {
            groups.extend(siblings::apart(job, stream, &ranks, lines, cancel)?);
        }
        for members in groups {
            let mut together = Instances::default();
            ends::matched(job, stream, &members, lines, &mut together, cancel)?;
            let parts = lockstep::parts(job, &members, &together, lines, &known, cancel)?;
            for part in &parts {
                ends::matched(job, stream, part, lines, found, cancel)?;
            }
            if parts.len() > 1 && !known.contains(&parts) {
                known.push(parts);
            }
        }
    }
    Ok(())
}

/// Matches all calls. `lines` maps the times of each rank to shared times. Calls without numbers
/// meet only on their island.
pub(super) fn by_all(
    job: &Job,
    lines: &[ClockLine],
    islands: &Islands,
    cancel: Cancel<'_>,
) -> Result<Instances> {
    let mut found = Instances::default();
    let mut unknown = Vec::new();
    for group in groups(job) {
        if job.is_numbered(group) {
            call_numbers::matched(job, group, &mut found, cancel)?;
        } else if job.groups[group as usize].is_stated() {
            for members in islands.parts(&job.members[group as usize]) {
                ends::matched(job, group, &members, lines, &mut found, cancel)?;
            }
        } else {
            unknown.push(group);
        }
    }
    by_stream(job, unknown, lines, islands, &mut found, cancel)?;
    Ok(found)
}

fn groups(job: &Job) -> impl Iterator<Item = u32> + '_ {
    (0..).zip(&job.groups).map(|(at, _)| at)
}

/// Whether all ranks of this call end together.
fn is_anchor(job: &Job, rank: usize, call: u32) -> bool {
    job.signature_of(rank, call as usize).kind.waiting() == WaitingRanks::ForAll
}

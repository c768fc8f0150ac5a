//! The waits of several ranks.

use super::super::walk::JobEdges;
use super::WaitRow;
use super::each::{each_wait, parts};
use super::party::RankParties;
use super::sight::{LongestWaits, WaitSight};
use super::sums::{WaitSums, waits};
use crate::base::{Interval, Result};
use crate::exec::Work;

/// The waits that are asked for.
#[derive(Debug, Clone, Copy)]
pub struct AskedWaits<'a> {
    /// Numbers of the ranks that wait. `None` for all.
    pub ranks: Option<&'a [u32]>,
    /// The span of the single waits. `None` for the whole run.
    pub span: Option<Interval>,
    /// Most single waits of a rank.
    pub most: usize,
}

/// The waits of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitsOfRank {
    /// Position of the rank.
    pub at: u32,
    /// Its rows, the longest first.
    pub rows: Vec<WaitRow>,
    /// Its single waits in sight.
    pub sight: WaitSight,
}

impl WaitsOfRank {
    /// The waits of the ranks that are asked for, as far as they are in the job.
    pub fn of_job(edges: &JobEdges<'_>, asked: &AskedWaits<'_>, work: Work<'_>) -> Result<Vec<Self>> {
        let ranks = (0_u32..).zip(&edges.graph().ranks);
        let wanted = ranks.filter(|(_, rank)| asked.ranks.is_none_or(|ranks| ranks.contains(&rank.rank)));
        let wanted: Vec<u32> = wanted.map(|(at, _)| at).collect();
        let of_rank = |place: usize| {
            let at = wanted[place];
            if asked.most == 0 {
                let rows = waits(edges, at, work)?;
                return Ok(Self { at, rows, sight: WaitSight::default() });
            }
            let parties = RankParties::of(edges.graph(), at);
            let mut sums = WaitSums::new(edges, &parties);
            let mut longest = LongestWaits::of(asked.span, asked.most);
            let mut rest_ps = 0_i64;
            for part in parts(edges, &parties, work)? {
                work.cancel.check()?;
                rest_ps = rest_ps.saturating_add(each_wait(edges, &parties, &part, &mut |wait| {
                    sums.add(&wait);
                    longest.add(&wait);
                }));
            }
            Ok(Self { at, rows: sums.finish(rest_ps), sight: longest.finish() })
        };
        work.gather(wanted.len(), of_rank)
    }
}

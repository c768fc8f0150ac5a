//! The waits of several ranks.

use super::super::walk::JobEdges;
use super::WaitRow;
use super::sight::{WaitSight, waits_in_sight};
use super::sums::waits;
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
            let sight = match asked.most {
                0 => WaitSight::default(),
                most => waits_in_sight(edges, at, asked.span, most, work.cancel)?,
            };
            Ok(Self { at, rows: waits(edges, at, work.cancel)?, sight })
        };
        work.gather(wanted.len(), of_rank)
    }
}

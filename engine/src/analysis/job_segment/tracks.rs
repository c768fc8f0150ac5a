//! Tracks of a job segment: a row for each communicator and kind of operation, and one for each
//! rank.

use rustc_hash::FxHashMap;

use crate::analysis::job::JobRank;
use crate::analysis::members::members;
use crate::analysis::{Job, Report};
use crate::base::Result;
use crate::base::name_order::natural;
use crate::model::track::Initially;
use crate::model::{CollectiveKind, Identity, Nesting, Role, Sink, TableId, TrackId, TrackSpec, Unit};

/// More tracks than this of communicators of one name start closed.
const MANY: usize = 8;
/// The tracks by what they show.
#[derive(Debug)]
pub(super) struct SegmentTracks {
    /// For each group and kind.
    pub(super) operations: FxHashMap<(u32, CollectiveKind), TrackId>,
    /// The calls of each rank, by position in the job.
    pub(super) ranks: Vec<TrackId>,
    /// The computation of each rank, by position in the job. `None` for a rank that states none.
    pub(super) computation: Vec<Option<TrackId>>,
}

/// Tables of the tracks of a job segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentTables {
    pub(super) operations: TableId,
    pub(super) calls: TableId,
    pub(super) computation: TableId,
}

impl SegmentTracks {
    /// Defines the tracks.
    pub(super) fn define(
        job: &Job,
        report: &Report,
        tables: SegmentTables,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let mut kinds: Vec<(u32, CollectiveKind)> = Vec::new();
        let mut known = FxHashMap::default();
        for one in &report.operations {
            let kind = job.signatures[one.signature as usize].kind;
            if known.insert((one.group, kind), ()).is_none() {
                kinds.push((one.group, kind));
            }
        }
        let name = |group: u32| job.groups[group as usize].communicator.name.as_str();
        kinds.sort_by(|a, b| natural(name(a.0), name(b.0)).then(a.cmp(b)));
        let all = sink.track(TrackSpec::group("Collectives", None, 0))?;
        let mut of_kinds = FxHashMap::default();
        for named in kinds.chunk_by(|a, b| name(a.0) == name(b.0)) {
            let heading = name(named[0].0);
            // Without a name the members tell the groups apart.
            let parent = match named {
                [_] => all,
                _ if heading.is_empty() && named.len() <= MANY => all,
                _ => {
                    let heading = if heading.is_empty() { "Groups without a name" } else { heading };
                    let heading = TrackSpec::group(heading, Some(all), 0);
                    let initially = if named.len() > MANY { Initially::Closed } else { Initially::Open };
                    sink.track(TrackSpec { initially, ..heading })?
                }
            };
            for &(group, kind) in named {
                let title = format!("{} · {}", kind.name(), members(&job.groups[group as usize]));
                let is_alone = named.len() == 1 && !heading.is_empty();
                let title = if is_alone { format!("{heading} · {title}") } else { title };
                let spec = TrackSpec::slices(&title, Some(parent), tables.operations, Nesting::Concurrent, 0);
                let spec = spec.showing(Identity { number: Some(group), ..Identity::of(Role::Collectives) });
                of_kinds.insert((group, kind), sink.track(spec)?);
            }
        }
        let all = sink.track(TrackSpec::group("Ranks", None, 1))?;
        let mut ranks = Vec::new();
        for rank in &job.ranks {
            let title = format!("Rank {}", rank.rank);
            let spec =
                TrackSpec::slices(&title, Some(all), tables.calls, Nesting::Concurrent, rank.rank.into());
            let spec = spec.showing(Identity { number: Some(rank.rank), ..Identity::of(Role::Collectives) });
            ranks.push(sink.track(spec)?);
        }
        Ok(Self { operations: of_kinds, ranks, computation: loads(job, tables.computation, sink)? })
    }
}

/// Counters under a heading of their own: a view that shows only calls must not read them.
fn loads(job: &Job, table: TableId, sink: &mut dyn Sink) -> Result<Vec<Option<TrackId>>> {
    let computes = |rank: &JobRank| rank.rest.compute_load.changes().next().is_some();
    if !job.ranks.iter().any(computes) {
        return Ok(vec![None; job.ranks.len()]);
    }
    let all = sink.track(TrackSpec::group("Computation", None, 2))?;
    let mut tracks = Vec::new();
    for rank in &job.ranks {
        let title = format!("Rank {}", rank.rank);
        let spec = TrackSpec::counter(&title, Some(all), table, Unit::Ratio, rank.rank.into());
        let spec = spec.showing(Identity { number: Some(rank.rank), ..Identity::default() });
        tracks.push(if computes(rank) { Some(sink.track(spec)?) } else { None });
    }
    Ok(tracks)
}

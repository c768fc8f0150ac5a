//! Builds a profile: first its segments, then the data that is derived from all of them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jiff::Timestamp;
use nprof_capture::inputs::{RankNumbers, numbered};
use nprof_engine::base::{ClockFit, Error};
use nprof_engine::exec::{Cancel, Exec, Work};
use nprof_engine::makers;
use nprof_engine::native::{AllCores, OpenError, SegmentFile, disk};
use nprof_engine::query::{NameUses, active_span};
use nprof_engine::wire::catalog::NameSlot;
use nprof_engine::wire::clock::Clock;

use super::identity::InputIdentity;
use super::passes::{self, RankBuilt};
use super::source::TraceSource;
use super::{IngestError, IngestSettings, Result};
use crate::store::{ClockBy, FORMAT, Manifest, Profile, RankFile, Staging};
use crate::work::Meter;

/// A profile that is complete but not yet in the store.
#[derive(Debug)]
pub struct Staged {
    /// Directory of the profile.
    pub staging: Staging,
    /// Manifest of the profile.
    pub manifest: Manifest,
}

impl Staged {
    /// The profile for exports that need no store. Its files are removed when `self` is dropped.
    #[must_use]
    pub fn profile(&self) -> Profile {
        Profile { manifest: self.manifest.clone().into(), dir: self.staging.profile_dir() }
    }
}

/// Writes the segments of all ranks to a staging directory. `identify` hashes the
/// inputs in parallel until it is cancelled.
///
/// # Errors
/// The error of the first rank that fails. The other ranks are stopped then, and no files are left
/// behind.
pub fn build(
    staging: Staging,
    sources: &[TraceSource<'_>],
    settings: &IngestSettings,
    meter: &Meter,
    identify: impl FnOnce(Cancel<'_>) -> Result<InputIdentity> + Send,
) -> Result<Staged> {
    let failed = AtomicBool::new(false);
    let (built, identity) = thread::scope(|scope| {
        let is_cancelled = || failed.load(Ordering::Relaxed) || meter.is_cancelled();
        let identity = scope.spawn(move || identify(Cancel::when(&is_cancelled)));
        let built = passes::build_all(&staging, sources, meter);
        failed.store(built.is_err(), Ordering::Relaxed);
        (built, identity.join().unwrap_or(Err(IngestError::Died)))
    });
    let (built, identity) = (built?, identity?);
    let wishes: Vec<Option<u32>> = built
        .iter()
        .map(|of| sources[of.trace].rank.filter(|_| of.nth == 0).or(of.built.rank.rank))
        .collect();
    let numbers = numbered(&wishes, settings.taken_ranks.clone());
    let mut ranks = Vec::new();
    for (at, of) in built.iter().enumerate() {
        let file = rank_file(at, &numbers, &identity, &sources[of.trace], of);
        // While ranks are built, their files are named by position. The rank numbers are known only
        // here.
        let dir = staging.profile_dir();
        disk::rename(&dir.join(of.part_name()), &dir.join(&file.file))
            .map_err(|source| IngestError::Write { path: sources[of.trace].place.clone(), source })?;
        ranks.push(file);
    }
    // Sort by number: the order of the files must not change the profile.
    ranks.sort_by_key(|file| file.rank);
    let names = look_through(&staging, &mut ranks, meter)?;
    align_wall_clocks(&mut ranks);
    let manifest = Manifest {
        format: FORMAT,
        id: identity.profile.to_string(),
        name: settings.slug.clone(),
        aliases: Vec::new(),
        took: Vec::new(),
        display_name: settings.display_name.clone(),
        title: None,
        created: Timestamp::now(),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        source: built.first().map(|of| of.built.rank.source.clone()).unwrap_or_default(),
        input_bytes: Some(identity.input_bytes),
        warnings: kinds_of_warnings(&built, &ranks),
        ranks,
        names,
    };
    Ok(Staged { staging, manifest })
}

/// Computes data from the finished segments that a page needs before its first picture: the busy
/// span of each rank, the host that its trace states, and the numbers of names over all ranks.
pub(super) fn look_through(
    staging: &Staging,
    ranks: &mut [RankFile],
    meter: &Meter,
) -> Result<Vec<NameSlot>> {
    let is_cancelled = || meter.is_cancelled();
    let work = Work { cancel: Cancel::when(&is_cancelled), ..Work::IN_PLACE };
    let mut uses = NameUses::default();
    for rank in ranks {
        let path = staging.profile_dir().join(&rank.file);
        let damaged = |source| match source {
            Error::Cancelled => IngestError::Cancelled,
            source => IngestError::Segment { path: path.clone(), source },
        };
        let segment = SegmentFile::open_file(&path).map_err(|error| match error {
            OpenError::Io(source) => IngestError::Write { path: path.clone(), source },
            OpenError::Segment(source) => damaged(source),
        })?;
        let (mut active, mut added) = (Ok(None), Ok(()));
        // Both read all of the rank, one on each of two cores.
        AllCores.beside(&mut || active = active_span(&segment, work.cancel), &mut || {
            added = uses.add_rank(&segment, work);
        });
        rank.active_ps = active.map_err(damaged)?.map(|span| (span.start.0, span.end.0));
        added.map_err(damaged)?;
        if let Some(host) = makers::host(&segment, work.cancel).map_err(damaged)? {
            rank.host = Some(host);
        }
    }
    let slots = uses.into_slots().into_iter();
    Ok(slots.map(|name| NameSlot { kind: name.kind, slot: name.slot }).collect())
}

/// Aligns the ranks of a new profile with its first rank. A trace can state its wall clock at its
/// end, after the origin was chosen.
fn align_wall_clocks(ranks: &mut [RankFile]) {
    let stated = |rank: &RankFile| Some((rank.origin_unix_ns?, format!("of rank {}", rank.rank)));
    let Some((first_ns, of_first)) = ranks.iter().find_map(stated) else { return };
    for rank in ranks {
        align_wall_clock(rank, first_ns, &of_first);
    }
}

/// Gives a rank a clock and a note if the wall clock of its time zero differs from `zero_unix_ns`,
/// the wall clock of the time zero `of` another rank or of the profile.
pub(super) fn align_wall_clock(rank: &mut RankFile, zero_unix_ns: i64, of: &str) {
    let Some(ns) = rank.origin_unix_ns.filter(|&ns| ns != zero_unix_ns) else { return };
    let later_ns = i128::from(ns) - i128::from(zero_unix_ns);
    rank.notes.push(format!("by wall clock, time zero of this rank is {later_ns} ns after time zero {of}"));
    if let Some(offset_ps) = rank.stated_offset_ps(zero_unix_ns) {
        let clock = ClockFit::new(0, offset_ps, 0, None).ok();
        (rank.clock, rank.clock_by) = (clock.map(Clock), clock.map(|_| ClockBy::Trace));
    }
}

/// Warning of a trace whose reader found nothing to show and did not say so.
const NO_EVENT: &str = "the trace has no events";

/// Number of different kinds of warnings. A kind that occurs a thousand times, or in each rank,
/// counts once.
fn kinds_of_warnings(built: &[RankBuilt], ranks: &[RankFile]) -> u64 {
    let of_segments = built.iter().flat_map(|of| &of.built.warnings).map(|w| (Some(w.kind), w.what.as_str()));
    let of_ranks = ranks
        .iter()
        .flat_map(|rank| rank.notes.iter().chain(&rank.left_out))
        .map(|note| (None, note.as_str()));
    of_segments.chain(of_ranks).collect::<HashSet<_>>().len() as u64
}

fn rank_file(
    at: usize,
    numbers: &RankNumbers,
    identity: &InputIdentity,
    source: &TraceSource<'_>,
    RankBuilt { trace, nth, built }: &RankBuilt,
) -> RankFile {
    let rank = numbers.ranks[at];
    let moved = numbers.moved.iter().filter(|moved| moved.at == at);
    let is_said = built.warnings.iter().any(|warning| warning.what == NO_EVENT);
    let is_silent = built.events == 0 && !is_said;
    let note = |wish| format!("rank {wish} is taken by another file; this file became rank {rank}");
    RankFile {
        rank,
        id: identity.of_rank(*trace, *nth).to_string(),
        file: format!("rank_{rank}.nseg"),
        size_bytes: built.bytes,
        content: built.content.clone(),
        inputs: source.inputs.clone(),
        host: source.host.clone(),
        device: built.rank.device,
        core: built.rank.core,
        events: built.events,
        start_ps: built.start_ps,
        end_ps: built.end_ps,
        origin_unix_ns: built.rank.origin_unix_ns,
        clock: None,
        clock_by: None,
        active_ps: None,
        notes: moved.map(|moved| note(moved.wish)).collect(),
        left_out: if is_silent { vec![NO_EVENT.to_owned()] } else { Vec::new() },
    }
}

//! Building the segments of a profile, two ranks at a time.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use jiff::Timestamp;
use nprof_engine::base::ProfileId;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::{BuildOptions, Built};
use nprof_engine::model::Sink;
use nprof_engine::native::{OpenError, SegmentFile, Taking, WriteError, write_segment_while};
use nprof_engine::query::{NameUses, active_span};
use nprof_engine::spill::Space;
use nprof_engine::wire::catalog::NameSlot;

use super::counted::Counted;
use super::identity::Identity;
use super::inputs::numbered;
use super::meter::Meter;
use super::{IngestError, Result, Settings};
use crate::store::{FORMAT, Manifest, Profile, RankFile, Staging, Store};

/// Ranks that are built at the same time. Two of them share the memory that one would take.
const MAX_THREADS: usize = 2;

/// Where the events of a rank come from.
pub struct RankSource<'a> {
    /// Its number, where it is known before it is read.
    pub rank: Option<u32>,
    /// The names of its files, for people.
    pub inputs: Vec<String>,
    /// What an error names.
    pub place: PathBuf,
    /// Hands its events over.
    pub fill: Fill<'a>,
}

/// Hands the events of a rank to a sink. The space is for what must be sorted before.
pub type Fill<'a> = Box<dyn Fn(&mut dyn Sink, Space<'_>) -> Result<()> + Send + Sync + 'a>;

/// A profile that is complete but not yet in the store.
#[derive(Debug)]
pub struct Staged {
    /// Where it lies.
    pub staging: Staging,
    /// What it is.
    pub manifest: Manifest,
}

impl Staged {
    /// As a profile, for exports that need no store. Its files go with `self`.
    #[must_use]
    pub fn profile(&self) -> Profile {
        Profile { manifest: self.manifest.clone().into(), dir: self.staging.profile_dir() }
    }
}

/// Writes the segments of all ranks to a staging directory of the store. `identify` hashes the inputs meanwhile,
/// until it is cancelled.
///
/// # Errors
/// That of the first rank that fails; the others are stopped then. Nothing is left behind.
pub fn build(
    store: &Store,
    sources: &[RankSource<'_>],
    settings: &Settings,
    meter: &Meter,
    identify: impl FnOnce(Cancel<'_>) -> Result<Identity> + Send,
) -> Result<Staged> {
    let staging = store.stage()?;
    let failed = AtomicBool::new(false);
    let (built, identity) = thread::scope(|scope| {
        let is_cancelled = || failed.load(Ordering::Relaxed) || meter.is_cancelled();
        let identity = scope.spawn(move || identify(Cancel::when(&is_cancelled)));
        let built = build_all(&staging, sources, meter);
        failed.store(built.is_err(), Ordering::Relaxed);
        (built, identity.join().unwrap_or(Err(IngestError::Died)))
    });
    let (built, identity) = (built?, identity?);
    let wanted: Vec<Option<u32>> =
        sources.iter().zip(&built).map(|(source, built)| source.rank.or(built.rank.rank)).collect();
    let (numbers, moved) = numbered(&wanted);
    let mut ranks = Vec::new();
    for (at, ((source, built), rank)) in sources.iter().zip(&built).zip(numbers).enumerate() {
        let taken = moved.iter().find(|(of, _)| *of == at).map(|(_, wish)| *wish);
        let file = rank_file((rank, taken), identity.ranks[at], source, built);
        // Ranks are built under their position: their numbers are known only now.
        let dir = staging.profile_dir();
        std::fs::rename(dir.join(part_name(at)), dir.join(&file.file))
            .map_err(|error| IngestError::Write { path: source.place.clone(), source: error })?;
        ranks.push(file);
    }
    // By number from here on: nothing of a profile follows from the order of its files.
    ranks.sort_by_key(|file| file.rank);
    let names = look_through(&staging, &mut ranks)?;
    note_clocks(&mut ranks);
    let manifest = Manifest {
        format: FORMAT,
        id: identity.profile.to_string(),
        name: settings.slug.clone(),
        aliases: Vec::new(),
        display_name: settings.display_name.clone(),
        title: None,
        created: Timestamp::now(),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        source: built.first().map(|built| built.rank.source.clone()).unwrap_or_default(),
        input_bytes: Some(identity.input_bytes),
        warnings: kinds_of_warnings(&built, &ranks),
        ranks,
        names,
    };
    Ok(Staged { staging, manifest })
}

/// Finds out what a page must know of the finished segments before its first picture: where each rank
/// works, and the numbers of the names over all ranks.
fn look_through(staging: &Staging, ranks: &mut [RankFile]) -> Result<Vec<NameSlot>> {
    let mut uses = NameUses::default();
    for rank in ranks {
        let path = staging.profile_dir().join(&rank.file);
        let damaged = |source| IngestError::Segment { path: path.clone(), source };
        let segment = SegmentFile::open_file(&path).map_err(|error| match error {
            OpenError::Io(source) => IngestError::Write { path: path.clone(), source },
            OpenError::Segment(source) => damaged(source),
        })?;
        rank.active_ps = active_span(&segment).map_err(damaged)?.map(|span| (span.start.0, span.end.0));
        uses.add_rank(&segment).map_err(damaged)?;
    }
    let slots = uses.into_slots().into_iter();
    Ok(slots.map(|name| NameSlot { kind: name.kind, slot: name.slot }).collect())
}

/// Notes where the wall clocks of two ranks' time zeros differ: a trace may state its wall clock at
/// its end, which is read after the origin was chosen.
fn note_clocks(ranks: &mut [RankFile]) {
    let stated = |rank: &RankFile| Some((rank.rank, rank.origin_unix_ns?));
    let Some((first, first_ns)) = ranks.iter().find_map(stated) else { return };
    for rank in ranks {
        let Some(ns) = rank.origin_unix_ns.filter(|&ns| ns != first_ns) else { continue };
        let later_ns = i128::from(ns) - i128::from(first_ns);
        rank.notes.push(format!(
            "time zero of this rank is {later_ns} ns after that of rank {first}, by their wall clocks"
        ));
    }
}

/// How many different things went wrong: a kind that comes a thousand times, or in each rank, is one.
fn kinds_of_warnings(built: &[Built], ranks: &[RankFile]) -> u64 {
    let of_segments = built.iter().flat_map(|built| &built.warnings).map(|w| (Some(w.kind), w.what.as_str()));
    let of_ranks = ranks.iter().flat_map(|rank| &rank.notes).map(|note| (None, note.as_str()));
    of_segments.chain(of_ranks).collect::<HashSet<_>>().len() as u64
}

fn part_name(at: usize) -> String {
    format!("part_{at}.nseg")
}

fn rank_file(
    (rank, taken): (u32, Option<u32>),
    id: ProfileId,
    source: &RankSource<'_>,
    built: &Built,
) -> RankFile {
    let note = |wish| format!("rank {wish} is taken by another file; this one became rank {rank}");
    let notes: Vec<String> = taken.map(note).into_iter().collect();
    RankFile {
        rank,
        id: id.to_string(),
        file: format!("rank_{rank}.nseg"),
        size_bytes: built.bytes,
        content: built.content.clone(),
        inputs: source.inputs.clone(),
        device: built.rank.device,
        core: built.rank.core,
        events: built.events,
        start_ps: built.start_ps,
        end_ps: built.end_ps,
        origin_unix_ns: built.rank.origin_unix_ns,
        active_ps: None,
        notes,
        left_out: Vec::new(),
    }
}

/// Builds every rank; the results are in the order of the sources.
fn build_all(staging: &Staging, sources: &[RankSource<'_>], meter: &Meter) -> Result<Vec<Built>> {
    let threads = sources.len().clamp(1, MAX_THREADS);
    let whole = BuildOptions::default();
    let options = BuildOptions {
        sort_bytes: whole.sort_bytes / threads,
        dictionary_bytes: whole.dictionary_bytes / threads,
        group_bytes: whole.group_bytes / threads,
        reader_bytes: whole.reader_bytes / threads,
    };
    // Several ranks keep the cores busy as they are.
    let taking = if threads == 1 { Taking::Beside } else { Taking::Reader };
    let next = AtomicUsize::new(0);
    // The first failure ends the others: a large rank must not delay the report about a small one.
    let failure: Mutex<Option<IngestError>> = Mutex::new(None);
    let failed = AtomicBool::new(false);
    let is_cancelled = || meter.is_cancelled() || failed.load(Ordering::Relaxed);
    let results: Mutex<Vec<Option<Built>>> = Mutex::new(sources.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !is_cancelled() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(at) else { break };
                    match build_one(
                        staging,
                        at,
                        source,
                        (options, taking),
                        (meter, Cancel::when(&is_cancelled)),
                    ) {
                        Ok(built) => {
                            results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(built);
                        }
                        Err(error) => {
                            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            failed.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    if meter.is_cancelled() {
        return Err(IngestError::Cancelled);
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|built| built.ok_or(IngestError::Died)).collect()
}

fn build_one(
    staging: &Staging,
    at: usize,
    source: &RankSource<'_>,
    (options, taking): (BuildOptions, Taking),
    (meter, cancel): (&Meter, Cancel<'_>),
) -> Result<Built> {
    let path = staging.profile_dir().join(part_name(at));
    let fill = |sink: &mut dyn Sink, space: Space<'_>| (source.fill)(&mut Counted::new(sink, meter), space);
    let built = write_segment_while(&path, options, taking, cancel, fill);
    let place = || source.place.clone();
    match built {
        // However it ended: what it complains of is that nobody wanted it to go on.
        _ if meter.is_cancelled() => Err(IngestError::Cancelled),
        Ok(built) => Ok(built),
        Err(WriteError::Read(error)) => Err(error),
        Err(WriteError::Io(source)) => Err(IngestError::Write { path: place(), source }),
        Err(WriteError::Engine(source)) => Err(IngestError::Segment { path: place(), source }),
    }
}

//! Building the segments of a profile, two ranks at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use jiff::Timestamp;
use nprof_engine::ingest::{BuildOptions, Built};
use nprof_engine::native::{WriteError, write_segment};

use super::counted::Counted;
use super::format;
use super::identity::{Identity, size_bytes};
use super::inputs::{RankInput, numbered};
use super::meter::{Meter, Stage};
use super::{IngestError, Result, Settings};
use crate::store::{FORMAT, Manifest, Profile, RankFile, Staging, Store};

/// Ranks that are built at the same time. Two of them share the memory that one would take.
const MAX_THREADS: usize = 2;

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

/// Reads all inputs and writes their segments to a staging directory of the store.
///
/// # Errors
/// The first of a rank's; the others are stopped then. Nothing is left behind.
pub fn build(
    store: &Store,
    inputs: &[RankInput],
    identity: &Identity,
    settings: &Settings,
    meter: &Meter,
) -> Result<Staged> {
    let total = inputs.iter().flat_map(RankInput::files).map(size_bytes).sum::<Result<u64>>()?;
    meter.begin(Stage::Reading, total);
    let staging = store.stage()?;
    let built = build_all(&staging, inputs, meter)?;
    let wanted: Vec<Option<u32>> =
        inputs.iter().zip(&built).map(|(input, built)| input.rank.or(built.rank.rank)).collect();
    let (numbers, moved) = numbered(&wanted);
    let mut ranks = Vec::new();
    for (at, ((input, built), rank)) in inputs.iter().zip(&built).zip(numbers).enumerate() {
        let file = format!("rank_{rank}.nseg");
        // Ranks are built under their position: their numbers are known only now.
        let dir = staging.profile_dir();
        std::fs::rename(dir.join(part_name(at)), dir.join(&file))
            .map_err(|source| IngestError::Write { path: input.trace.clone(), source })?;
        let taken = moved.iter().find(|(of, _)| *of == at);
        let notes = taken.map(|(_, wish)| format!("rank {wish} is taken by another file; this one became rank {rank}"));
        ranks.push(rank_file(rank, file, identity.ranks[at].to_string(), input, built, notes));
    }
    ranks.sort_by_key(|file| file.rank);
    let manifest = Manifest {
        format: FORMAT,
        id: identity.profile.to_string(),
        name: settings.slug.clone(),
        display_name: settings.display_name.clone(),
        created: Timestamp::now(),
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        source: built.first().map(|built| built.rank.source.clone()).unwrap_or_default(),
        ranks,
    };
    Ok(Staged { staging, manifest })
}

fn part_name(at: usize) -> String {
    format!("part_{at}.nseg")
}

fn rank_file(
    rank: u32,
    file: String,
    id: String,
    input: &RankInput,
    built: &Built,
    note: Option<String>,
) -> RankFile {
    let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let notes: Vec<String> = note.into_iter().collect();
    RankFile {
        rank,
        id,
        file,
        size_bytes: built.bytes,
        content: built.content.clone(),
        inputs: input.files().map(name).collect(),
        device: built.rank.device,
        core: built.rank.core,
        events: built.events,
        start_ps: built.start_ps,
        end_ps: built.end_ps,
        origin_unix_ns: built.rank.origin_unix_ns,
        warnings: built.warnings + notes.len() as u64,
        notes,
    }
}

/// Builds every rank; the results are in the order of the inputs.
fn build_all(staging: &Staging, inputs: &[RankInput], meter: &Meter) -> Result<Vec<Built>> {
    let threads = inputs.len().clamp(1, MAX_THREADS);
    let whole = BuildOptions::default();
    let options = BuildOptions {
        sort_bytes: whole.sort_bytes / threads,
        dictionary_bytes: whole.dictionary_bytes / threads,
    };
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Built>>>> = Mutex::new(inputs.iter().map(|_| None).collect());
    let failed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while failed.load(Ordering::Relaxed) == 0 {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(at) else { break };
                    let built = build_one(staging, at, input, options, meter);
                    failed.fetch_add(usize::from(built.is_err()), Ordering::Relaxed);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(built);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A rank that was never begun follows one that failed: that one's error is found first or is all there is.
    let mut built = Vec::new();
    let mut unbegun = 0;
    for result in results {
        match result {
            Some(result) => built.push(result?),
            None => unbegun += 1,
        }
    }
    if unbegun == 0 { Ok(built) } else { Err(IngestError::Died) }
}

fn build_one(
    staging: &Staging,
    at: usize,
    input: &RankInput,
    options: BuildOptions,
    meter: &Meter,
) -> Result<Built> {
    let path = staging.profile_dir().join(part_name(at));
    let built = write_segment(&path, options, |sink| {
        let mut counted = Counted::new(sink, meter);
        format::read(input, &mut counted, meter)
    });
    let trace = || input.trace.clone();
    match built {
        Ok(_) | Err(WriteError::Read(_)) if meter.is_cancelled() => Err(IngestError::Cancelled),
        Ok(built) => Ok(built),
        Err(WriteError::Read(error)) => Err(error),
        Err(WriteError::Io(source)) => Err(IngestError::Write { path: trace(), source }),
        Err(WriteError::Engine(source)) => Err(IngestError::Segment { path: trace(), source }),
    }
}

//! Adds ranks to a profile of the store, such as those of a further node.
//!
//! *Invariant.* The ranks that the profile has keep their numbers, segments and clocks, and the
//! profile keeps its id and names. So every link to it goes on to work. A new directory with all
//! ranks takes the place of the old one in one step. The segments in it are the old files under
//! second names, so adding costs what the new ranks cost.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use nprof_capture::inputs::rank_of;
use nprof_engine::native::disk::{self, DiskFile};

use super::build::{align_wall_clock, look_through};
use super::{
    DiskSpool, IngestError, IngestSettings, Ingested, NamedInputs, Novelty, Result, Staged, compare,
    identify, stage,
};
use crate::store::{Manifest, Profile, RankFile, Store};
use crate::summary;
use crate::warnings;
use crate::work::{Meter, Stage};

/// Ingests the named inputs as further ranks of the profile with this name. Traces that the profile
/// has already are left out.
///
/// # Errors
/// If there is no such profile, it was changed meanwhile, an input cannot be read, the store cannot
/// be written, or the ingest is cancelled. The store is then unchanged.
pub fn add(store: &Store, named: &NamedInputs, to: &str, meter: &Meter) -> Result<Ingested> {
    store.check_writable()?;
    let before = store.find(to)?;
    let taken_ranks = before.manifest.ranks.iter().map(|rank| rank.rank).collect();
    let settings = IngestSettings { taken_ranks, ..IngestSettings::default() };
    named.inputs(&DiskSpool::new(&store.tmp(), meter))?.reading(|inputs| {
        let identity = identify(store, inputs, &settings, meter)?;
        let mut staged = stage(store.stage()?, inputs, identity, &settings, meter)?;
        if let Some(host) = node(named) {
            let unknown = staged.manifest.ranks.iter_mut().filter(|rank| rank.host.is_none());
            unknown.for_each(|rank| rank.host = Some(host.clone()));
        }
        meter.begin(Stage::Publishing, 0);
        let novelty = join(&before, &mut staged, meter)?;
        let profile = match novelty {
            Novelty::AlreadyThere => before.clone(),
            Novelty::New => store.replace(&before, &staged.staging, &staged.manifest)?,
        };
        if novelty == Novelty::New {
            compare(&profile, meter)?;
        }
        Ok(Ingested::new(profile, novelty, &settings))
    })
}

/// The host of further ranks: the one folder that has their traces, unless it tells a rank.
fn node(named: &NamedInputs) -> Option<String> {
    let mut paths = named.paths();
    let (only, None) = (paths.next()?, paths.next()) else { return None };
    let folder = only.canonicalize().ok().filter(|path| path.is_dir())?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    rank_of(&name).is_none().then_some(name)
}

/// Turns a profile of new ranks into the profile of old and new ranks.
fn join(before: &Profile, staged: &mut Staged, meter: &Meter) -> Result<Novelty> {
    let dir = staged.staging.profile_dir();
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| IngestError::Write { path, source }
    };
    let known: HashSet<&str> = before.manifest.ranks.iter().map(|rank| rank.id.as_str()).collect();
    let is_known = |rank: &RankFile| known.contains(rank.id.as_str());
    let (there, mut added): (Vec<_>, Vec<_>) =
        std::mem::take(&mut staged.manifest.ranks).into_iter().partition(is_known);
    if added.is_empty() {
        return Ok(Novelty::AlreadyThere);
    }
    if let Some(first) = added.first_mut() {
        let names = there.iter().flat_map(|rank| rank.inputs.first());
        first.left_out.extend(names.map(|name| format!("{name}: the profile has this trace already")));
    }
    for rank in &there {
        let path = dir.join(&rank.file);
        disk::remove_file(&path).map_err(failed(&path))?;
    }
    if let Some(zero_unix_ns) = before.manifest.shared_origin_unix_ns() {
        for rank in &mut added {
            // Clocks among the new ranks alone are replaced by those of the profile.
            (rank.clock, rank.clock_by) = (None, None);
            align_wall_clock(rank, zero_unix_ns, "of the profile");
        }
    }
    for rank in &before.manifest.ranks {
        let (from, to) = (before.dir.join(&rank.file), dir.join(&rank.file));
        second_name(&from, &to).map_err(failed(&from))?;
        // The summary is not there before somebody has asked for it.
        let summary = summary::path_of(&before.place_of(rank));
        if let Some(name) = summary.file_name().filter(|_| summary.exists()) {
            second_name(&summary, &dir.join(name)).map_err(failed(&summary))?;
        }
    }
    let mut ranks = before.manifest.ranks.clone();
    ranks.append(&mut added);
    ranks.sort_by_key(|rank| rank.rank);
    let names = look_through(&staged.staging, &mut ranks, meter)?;
    let joined =
        Profile { manifest: Manifest { ranks, names, ..Manifest::clone(&before.manifest) }.into(), dir };
    let warnings = warnings::of_profile(&joined).len() as u64;
    staged.manifest = Manifest { warnings, ..Manifest::clone(&joined.manifest) };
    Ok(Novelty::New)
}

/// Gives a file a second name. Copies it where the file system has one name for each file.
fn second_name(from: &Path, to: &Path) -> io::Result<()> {
    disk::second_name(from, to).or_else(|_| {
        let copy = DiskFile::create_new(to)?;
        io::copy(&mut fs::File::open(from)?, &mut &copy)?;
        copy.sync()
    })
}

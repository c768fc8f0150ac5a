//! Writes a profile in any format of the table, for `view --output-format`, `export` and `summary`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context, bail};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::native::{AtomicFile, directory_of};

use super::grouped::GroupingArgs;
use super::progress::{Terminated, watched};
use super::{lost_input, size, warn};
use crate::export::cut::PartOf;
use crate::export::table::{Prepare, of_rank};
use crate::export::{Choices, Export, RanksOf, Scope};
use crate::ingest::{IngestError, Inputs, Named, Settings, Staged, identify, stage};
use crate::store::{Profile, RankFile, Store, StoreError};
use crate::terminal::visible;
use crate::work::{Meter, Metered, Stage};

/// The form and the place of an output.
#[derive(Debug)]
pub(super) struct Output {
    /// The format.
    pub format: &'static Export,
    /// The user's choices about it.
    pub choices: Choices,
    /// The place.
    pub destination: Destination,
}

/// A place for output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl Destination {
    /// The destination that the user named: `-` is standard output.
    pub(super) fn named(path: PathBuf) -> Self {
        if path.as_os_str() == "-" { Self::StandardOutput } else { Self::File(path) }
    }
}

/// Reads a trace and writes it without adding it to the store. A profile that is already in the
/// store is not read again. Its warnings go to standard error.
pub(super) fn write_trace(
    store: &Store,
    named: &Named,
    grouping: GroupingArgs,
    output: &Output,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    lost_input::watch_for(named);
    let meter = Meter::default();
    let mut said = Vec::new();
    let mut put = |profile: &Profile| {
        warn::tell(profile, &mut said)?;
        let of = RanksOf::all(profile);
        write(of, output, &meter, &mut *out)
    };
    let written = watched(&meter, || {
        let settings = Settings::default();
        let read = |inputs: &Inputs| {
            let identity = identify(store, inputs, &settings, &meter)?;
            // A profile that cannot be read in the store is read from its trace.
            if let Some(identity) = &identity
                && let Ok(Some(profile)) = store.by_id(&identity.profile.to_string())
            {
                return Ok(Source::Stored(profile));
            }
            Ok(Source::Staged(Box::new(stage(store.stage_anywhere()?, inputs, identity, &settings, &meter)?)))
        };
        let mut grouped = grouping.profiles(store, named, &meter)?;
        let (Some(only), true) = (grouped.profiles.pop(), grouped.profiles.is_empty()) else {
            bail!(
                "these traces are several profiles, and the output takes one; name the traces of one, or add \
                 --as-ranks to make ranks of one profile of them"
            );
        };
        match only.inputs.reading(read)? {
            Source::Stored(profile) => put(&profile),
            Source::Staged(staged) => put(&staged.profile()),
        }
    });
    finish(written, &meter, &said)
}

/// The profile to write.
enum Source {
    Stored(Profile),
    /// Its files are removed when this value is dropped.
    Staged(Box<Staged>),
}

/// The profile in the store with this name or id. If a file has this name, the error gives advice.
pub(super) fn stored(store: &Store, name: &str) -> anyhow::Result<Profile> {
    match store.find(name) {
        Err(StoreError::Unknown { .. }) if Path::new(name).is_file() => {
            bail!(
                "{name}: a file, not a profile of the store; `nprof view {name} --output-format …` reads it"
            )
        }
        found => Ok(found?),
    }
}

/// A part of a stored profile to write.
pub(super) struct StoredPart<'a> {
    /// The store.
    pub store: &'a Store,
    /// The profile.
    pub profile: &'a Profile,
    /// The ranks to write.
    pub ranks: Vec<RankFile>,
    /// The time span and the tracks to write.
    pub part: PartOf,
}

/// Writes a profile of the store, or a part of it. Its warnings go to standard error.
pub(super) fn write_stored(
    wanted: &StoredPart<'_>,
    output: &Output,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let StoredPart { store, profile, ranks, part } = wanted;
    let meter = Meter::default();
    let mut said = Vec::new();
    warn::tell(profile, &mut said)?;
    let written = watched(&meter, || {
        let is_cancelled = || meter.is_cancelled();
        let stage = || match &output.destination {
            Destination::File(path) if !is_special(path) => store.stage_beside(directory_of(path)),
            _ => store.stage_anywhere(),
        };
        let taken = part.take(stage, RanksOf::some(profile, ranks), Cancel::when(&is_cancelled))?;
        write(taken.ranks(), output, &meter, out)
    });
    finish(written, &meter, &said)
}

/// Prints warnings and file names after the progress bar has been removed.
fn finish(written: anyhow::Result<Vec<Written>>, meter: &Meter, said: &[u8]) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    err.write_all(said)?;
    match written {
        // Any error after a cancellation is caused by the cancellation.
        Err(error) if meter.is_cancelled() && !error.is::<Terminated>() => Err(IngestError::Cancelled.into()),
        Err(error) => Err(error),
        Ok(files) => {
            for Written { path, bytes } in &files {
                let path = path.display().to_string();
                writeln!(err, "wrote {} ({})", visible(&path), size::bytes(*bytes))?;
            }
            Ok(())
        }
    }
}

/// A file that was written.
#[derive(Debug)]
struct Written {
    path: PathBuf,
    bytes: u64,
}

/// Writes these ranks of a profile. Returns the files, in order.
fn write(
    of: RanksOf<'_>,
    output: &Output,
    meter: &Meter,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<Written>> {
    let Output { format, choices, destination } = output;
    if let (Some(why), Destination::StandardOutput) = (format.not_on_terminal, destination)
        && io::stdout().is_terminal()
    {
        bail!("{why}; name a file with --output-file");
    }
    meter.begin(Stage::Exporting, 0);
    let mut one = |of, destination: &Destination, prepare: Prepare| {
        let is_cancelled = || meter.is_cancelled();
        let work = Work { cancel: Cancel::when(&is_cancelled), ..Work::IN_PLACE };
        let prepared = prepare(of, choices, work)?;
        to(destination, meter, out, |out| Ok(prepared.write(out)?))
    };
    let written = match (format.scope, destination) {
        (Scope::Folder(write), Destination::File(dir)) => {
            let bytes = write(of, dir, meter)?;
            vec![Some(Written { path: dir.clone(), bytes })]
        }
        (Scope::Folder(_), Destination::StandardOutput) => {
            bail!("a {} is a folder; name it with --output-file", format.key)
        }
        (Scope::Rank(prepare), Destination::File(path)) if of.ranks.len() > 1 && !is_special(path) => {
            let each = of.ranks.iter().map(|rank| {
                let of = RanksOf { ranks: slice::from_ref(rank), ..of };
                one(of, &Destination::File(of_rank(path, rank.rank)), prepare)
            });
            each.collect::<anyhow::Result<_>>()?
        }
        (Scope::Rank(prepare) | Scope::Profile(prepare), _) => vec![one(of, destination, prepare)?],
    };
    Ok(written.into_iter().flatten().collect())
}

/// Returns true for a pipe or a device. Such a file is written to, not replaced.
fn is_special(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Opens the destination. On failure no partial file is left there.
fn to(
    destination: &Destination,
    meter: &Meter,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<Option<Written>> {
    let Destination::File(path) = destination else {
        let mut out = metered(meter, out);
        write(&mut out)?;
        out.flush()?;
        return Ok(None);
    };
    let refused = || format!("{}: cannot write this file; check the path and the rights", path.display());
    if is_special(path) {
        let mut file = metered(meter, File::options().write(true).open(path).with_context(refused)?);
        write(&mut file)?;
        file.flush()?;
        return Ok(None);
    }
    let file = AtomicFile::create(path).with_context(refused)?;
    let mut out = metered(meter, file.file());
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).with_context(refused)?;
    let bytes = file.commit().with_context(refused)?;
    Ok(Some(Written { path: path.clone(), bytes }))
}

fn metered<W: Write>(meter: &Meter, out: W) -> BufWriter<Metered<'_, W>> {
    BufWriter::new(Metered::new(out, meter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_standard_output() {
        assert_eq!(Destination::named("-".into()), Destination::StandardOutput);
        assert_eq!(Destination::named("-.json".into()), Destination::File("-.json".into()));
    }

    #[test]
    fn a_failed_or_cancelled_export_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        let destination = Destination::File(path.clone());
        let meter = Meter::default();
        let put = |text: &'static str, fails| {
            to(&destination, &meter, &mut Vec::new(), |out| {
                out.write_all(text.as_bytes())?;
                if fails { Err(anyhow::anyhow!("cut off")) } else { Ok(()) }
            })
        };
        put("whole", false).unwrap();
        put("half", true).unwrap_err();
        meter.cancel();
        put("other", false).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

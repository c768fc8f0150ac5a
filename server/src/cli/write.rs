//! Writes a profile in any format of the table, for `view --output-format`, `export` and `summary`.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::bail;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::native::directory_of;

use super::progress::{Terminated, watched};
use super::trace_groups::GroupingArgs;
use super::{lost_input, size, warn};
use crate::export::cut::PartOf;
use crate::export::table::{Prepare, of_rank};
use crate::export::{Export, ExportChoices, RanksOf, Scope};
use crate::ingest::{IngestError, IngestSettings, Inputs, NamedInputs, Staged, identify, stage};
use crate::output::{OutputPlace, Outputs, Written};
use crate::store::{Profile, RankFile, Store, StoreError};
use crate::terminal::visible;
use crate::work::{Meter, Stage};

/// Name of standard output as an output.
pub(super) const STANDARD_OUTPUT: &str = "-";

/// The form and the place of an output.
#[derive(Debug)]
pub(super) struct Output {
    /// The format.
    pub format: &'static Export,
    /// The user's choices about it.
    pub choices: ExportChoices,
    /// The file as the user named it, or [`STANDARD_OUTPUT`].
    pub path: PathBuf,
}

/// Reads a trace and writes it without adding it to the store. A profile that is already in the
/// store is not read again. Its warnings go to standard error.
pub(super) fn write_trace(
    store: &Store,
    named: &NamedInputs,
    grouping: GroupingArgs,
    output: &Output,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    lost_input::watch_for(named);
    let meter = Meter::default();
    let mut said = Vec::new();
    let mut outputs = Outputs::new(out, &meter, store);
    let mut put = |profile: &Profile, outputs: &mut Outputs<'_>| {
        warn::tell(profile, &mut said)?;
        write(RanksOf::all(profile), output, &meter, outputs)
    };
    let written = watched(&meter, || {
        let settings = IngestSettings::default();
        let read = |inputs: &Inputs| {
            let identity = identify(store, inputs, &settings, &meter)?;
            // A profile that cannot be read in the store is read from its trace.
            if let Some(identity) = &identity
                && let Ok(Some(profile)) = store.by_id(&identity.profile.to_string())
            {
                return Ok(WrittenProfile::Stored(profile));
            }
            Ok(WrittenProfile::Staged(Box::new(stage(
                store.stage_anywhere()?,
                inputs,
                identity,
                &settings,
                &meter,
            )?)))
        };
        let mut grouped = grouping.profiles(store, named, &meter)?;
        let (Some(only), true) = (grouped.profiles.pop(), grouped.profiles.is_empty()) else {
            bail!(
                "these traces are several profiles, and the output takes one; name the traces of one, or add \
                 --as-ranks to make ranks of one profile of them"
            );
        };
        outputs.keep(only.inputs.file_ids());
        outputs.place(&output.path)?;
        match only.inputs.reading(read)? {
            WrittenProfile::Stored(profile) => put(&profile, &mut outputs),
            WrittenProfile::Staged(staged) => put(&staged.profile(), &mut outputs),
        }
    });
    finish(written, &meter, &said)
}

/// The profile to write.
enum WrittenProfile {
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
    let mut outputs = Outputs::new(out, &meter, store);
    let written = watched(&meter, || {
        let is_cancelled = || meter.is_cancelled();
        let place = outputs.place(&output.path)?;
        let stage = || match &place {
            OutputPlace::File(path) => store.stage_beside(directory_of(path)),
            OutputPlace::StandardOutput | OutputPlace::InPlace(_) => store.stage_anywhere(),
        };
        let taken = part.take(stage, RanksOf::some(profile, ranks), Cancel::when(&is_cancelled))?;
        write(taken.ranks(), output, &meter, &mut outputs)
    });
    finish(written, &meter, &said)
}

/// Writes an answer about a profile of the store: the text that `answer` makes. The warnings of the
/// profile go to standard error.
pub(super) fn write_answer(
    store: &Store,
    profile: &Profile,
    path: &Path,
    out: &mut dyn Write,
    answer: impl FnOnce(Cancel<'_>) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<()> {
    let meter = Meter::default();
    let mut said = Vec::new();
    warn::tell(profile, &mut said)?;
    let mut outputs = Outputs::new(out, &meter, store);
    let written = watched(&meter, || {
        let is_cancelled = || meter.is_cancelled();
        outputs.place(path)?;
        meter.begin(Stage::Analysing, 0);
        let text = answer(Cancel::when(&is_cancelled))?;
        meter.begin(Stage::Exporting, 0);
        let written = outputs.write(path, |out| Ok::<_, anyhow::Error>(out.write_all(&text)?))?;
        Ok::<_, anyhow::Error>(written.into_iter().collect())
    });
    finish(written, &meter, &said)
}

/// Writes the text of an answer that is known.
pub(super) fn write_text(store: &Store, path: &Path, out: &mut dyn Write, text: &[u8]) -> anyhow::Result<()> {
    let meter = Meter::default();
    let mut outputs = Outputs::new(out, &meter, store);
    let written = outputs.write(path, |out| Ok::<_, anyhow::Error>(out.write_all(text)?));
    finish(written.map(|written| written.into_iter().collect()), &meter, &[])
}

/// Prints warnings and file names after the progress bar has been removed.
fn finish(written: anyhow::Result<Vec<Written>>, meter: &Meter, said: &[u8]) -> anyhow::Result<()> {
    let mut err = io::stderr().lock();
    err.write_all(said)?;
    for Written { path, bytes } in &written.map_err(|error| cause(error, meter))? {
        let path = path.display().to_string();
        writeln!(err, "wrote {} ({})", visible(&path), size::bytes(*bytes))?;
    }
    Ok(())
}

/// The cause of an error of an output: any error after a cancellation comes from it.
pub(super) fn cause(error: anyhow::Error, meter: &Meter) -> anyhow::Error {
    if meter.is_cancelled() && !error.is::<Terminated>() { IngestError::Cancelled.into() } else { error }
}

/// Writes these ranks of a profile. Returns the files, in order.
fn write(
    of: RanksOf<'_>,
    output: &Output,
    meter: &Meter,
    outputs: &mut Outputs<'_>,
) -> anyhow::Result<Vec<Written>> {
    let Output { format, choices, path } = output;
    let place = outputs.place(path)?;
    if let (Some(why), OutputPlace::StandardOutput) = (format.not_on_terminal, &place)
        && io::stdout().is_terminal()
    {
        bail!("{why}; name a file with --output-file");
    }
    meter.begin(Stage::Exporting, 0);
    let mut one = |of, path: &Path, prepare: Prepare| {
        let is_cancelled = || meter.is_cancelled();
        let work = Work { cancel: Cancel::when(&is_cancelled), ..Work::IN_PLACE };
        let prepared = prepare(of, choices, work)?;
        outputs.write(path, |out| Ok::<_, anyhow::Error>(prepared.write(out)?))
    };
    let written = match (format.scope, place) {
        (Scope::Folder(write), OutputPlace::File(dir)) => {
            let bytes = write(of, choices, &dir, meter)?;
            vec![Some(Written { path: path.clone(), bytes })]
        }
        (Scope::Folder(_), OutputPlace::StandardOutput | OutputPlace::InPlace(_)) => {
            bail!("a {} is a folder; name it with --output-file", format.key)
        }
        (Scope::Rank(prepare), OutputPlace::File(_)) if of.ranks.len() > 1 => {
            let each = of.ranks.iter().map(|rank| {
                let of = RanksOf { ranks: slice::from_ref(rank), ..of };
                one(of, &of_rank(path, rank.rank), prepare)
            });
            each.collect::<anyhow::Result<_>>()?
        }
        (Scope::Rank(prepare) | Scope::Profile(prepare), _) => vec![one(of, path, prepare)?],
    };
    Ok(written.into_iter().flatten().collect())
}

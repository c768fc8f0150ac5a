//! Writing a profile in another format, for `view --output-format` and `summary`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::progress::watched;
use crate::export::{neuron_json, summary};
use crate::ingest::{IngestError, Meter, Metered, Named, Settings, Stage, identify, stage};
use crate::store::{Profile, RankFile, Store};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    SummaryText,
    SummaryJson,
    Json,
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    StandardOutput,
    File(PathBuf),
}

/// Reads a trace and writes it, without putting it into the store; one that is already there is not read again.
pub(super) fn export(
    store: &Store,
    named: &Named,
    form: Form,
    destination: &Destination,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let inputs = named.ranks()?;
    let meter = Meter::default();
    let exported = watched(&meter, || {
        let settings = Settings::default();
        let identity = identify(store, &inputs, &settings, &meter)?;
        if let Some(identity) = &identity
            && let Some(profile) = store.by_id(&identity.profile.to_string())?
        {
            return write(&profile, &profile.manifest.ranks, form, destination, &meter, out);
        }
        let staged = stage(store, &inputs, identity, &settings, &meter)?;
        let profile = staged.profile();
        write(&profile, &profile.manifest.ranks, form, destination, &meter, out)
    });
    match exported {
        // Whatever it complains of then, nobody wanted it to go on.
        Err(_) if meter.is_cancelled() => Err(IngestError::Cancelled.into()),
        exported => exported,
    }
}

/// Writes these ranks of a profile.
pub(super) fn write(
    profile: &Profile,
    ranks: &[RankFile],
    form: Form,
    destination: &Destination,
    meter: &Meter,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    meter.begin(Stage::Exporting, 0);
    match form {
        Form::SummaryText => to(destination, meter, out, |out| Ok(summary::write_text(profile, ranks, out)?)),
        Form::SummaryJson => to(destination, meter, out, |out| Ok(summary::write_json(profile, ranks, out)?)),
        Form::Json => {
            for rank in ranks {
                let destination = of_rank(destination, rank.rank, ranks.len());
                let path = profile.dir.join(&rank.file);
                to(&destination, meter, out, |out| Ok(neuron_json::write(&path, rank.rank, out)?))?;
            }
            Ok(())
        }
    }
}

/// neuron-profile's JSON has one rank: several go to files of their own.
fn of_rank(destination: &Destination, rank: u32, ranks: usize) -> Destination {
    match destination {
        Destination::File(path) if ranks > 1 => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
            let name = format!("{stem}_rank_{rank}{}", extension.unwrap_or_default());
            Destination::File(path.with_file_name(name))
        }
        other => other.clone(),
    }
}

/// Opens the destination, and leaves no half of a file there on failure.
fn to(
    destination: &Destination,
    meter: &Meter,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Destination::File(path) = destination else {
        let mut out = metered(meter, out);
        write(&mut out)?;
        return Ok(out.flush()?);
    };
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = || format!("{}: cannot write this file; check the path and the rights", path.display());
    // What is there may be a pipe or a device: those are written to, not replaced.
    if path.exists() && !path.is_file() {
        let mut file = metered(meter, File::options().write(true).open(path).with_context(refused)?);
        write(&mut file)?;
        return Ok(file.flush()?);
    }
    let temporary =
        tempfile::Builder::new().prefix(".nprof-").tempfile_in(directory).with_context(refused)?;
    let mut file = metered(meter, temporary);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error).with_context(refused)?;
    let temporary = file.into_inner();
    readable_by_all(temporary.as_file()).with_context(refused)?;
    temporary.persist(path).map_err(|error| error.error).with_context(refused)?;
    Ok(())
}

fn metered<W: Write>(meter: &Meter, out: W) -> BufWriter<Metered<'_, W>> {
    BufWriter::new(Metered::new(out, meter))
}

/// Temporary files are for their owner alone; an export is like any file that the user makes.
fn readable_by_all(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_ranks_go_to_several_files() {
        let file = |name: &str| Destination::File(PathBuf::from(name));
        assert_eq!(of_rank(&file("a/out.json"), 3, 1), file("a/out.json"));
        assert_eq!(of_rank(&file("a/out.json"), 3, 2), file("a/out_rank_3.json"));
        assert_eq!(of_rank(&file("out"), 3, 2), file("out_rank_3"));
        assert_eq!(of_rank(&Destination::StandardOutput, 3, 2), Destination::StandardOutput);
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

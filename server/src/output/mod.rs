//! Files that a command writes for its user, all through [`Outputs`].
//!
//! *Invariant.* Links are followed. Standard output, pipes and devices are written in place. A file
//! is replaced as a whole or not at all, and never if it is an input of the command or belongs to
//! the store. A signal ends each wait for a reader.

mod in_place;
mod place;
mod protected_files;

use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nprof_engine::native::AtomicFile;
use rustix::fs::{FileType, fstat};

use self::in_place::InPlace;
pub use self::place::OutputPlace;
pub use self::protected_files::FileId;
use self::protected_files::Guarded;
use crate::store::Store;
use crate::work::{Meter, Metered};

/// Name of standard output, through which it is opened a second time.
const STANDARD_OUTPUT: &str = "/dev/fd/1";

/// Errors of outputs.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The output is an input of the same command.
    #[error("{}: this file is an input of the command; name another output", path.display())]
    IsInput {
        /// The output.
        path: PathBuf,
    },
    /// The output would be in the store.
    #[error("{}: this place belongs to the store of nprof; name an output outside of it", path.display())]
    InStore {
        /// The output.
        path: PathBuf,
    },
    /// The output cannot be written.
    #[error("{}: cannot write this file ({source}); check the path and the rights", path.display())]
    File {
        /// The output.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The outputs of a command.
pub struct Outputs<'a> {
    out: &'a mut dyn Write,
    meter: &'a Meter,
    guarded: Guarded,
}

impl<'a> Outputs<'a> {
    /// Outputs of a command that writes to `out` as its standard output. Nothing in `store` may be
    /// an output. Bytes count on the meter, whose cancellation ends each wait.
    pub fn new(out: &'a mut dyn Write, meter: &'a Meter, store: &Store) -> Self {
        let mut guarded = Guarded::default();
        guarded.add_parts(&store.parts());
        Self { out, meter, guarded }
    }

    /// Refuses these files as outputs.
    pub fn keep(&mut self, inputs: impl IntoIterator<Item = FileId>) {
        self.guarded.add_inputs(inputs);
    }

    /// The place of an output that the user named.
    ///
    /// # Errors
    /// If its links form a circle, or it may not be written.
    pub fn place(&self, path: &Path) -> Result<OutputPlace, OutputError> {
        let place = OutputPlace::named(path).map_err(failed(path))?;
        match &place {
            OutputPlace::StandardOutput => {}
            OutputPlace::InPlace(at) | OutputPlace::File(at) => self.guarded.check(at)?,
        }
        Ok(place)
    }

    /// Writes an output. A file is written as a whole or not at all. `None` if no file was written.
    ///
    /// # Errors
    /// If the output may not or cannot be written. Errors of `write`.
    pub fn write<E: From<OutputError>>(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<Option<Written>, E> {
        let meter = self.meter;
        match self.place(path)? {
            OutputPlace::StandardOutput => match second_opening(meter, self.out) {
                Some(mut out) => through(&mut out, meter, path, write)?,
                None => through(&mut *self.out, meter, path, write)?,
            },
            OutputPlace::InPlace(at) => {
                let mut out = InPlace::open(&at, meter).map_err(failed(path))?;
                through(&mut out, meter, path, write)?;
            }
            OutputPlace::File(at) => {
                let file = AtomicFile::create(&at).map_err(failed(path))?;
                through(&mut file.file(), meter, path, write)?;
                let bytes = file.commit().map_err(failed(path))?;
                return Ok(Some(Written { path: path.to_owned(), bytes }));
            }
        }
        Ok(None)
    }
}

/// Standard output as a pipe of its own, if it is a pipe: a wait for its reader can be ended then.
fn second_opening<'a>(meter: &'a Meter, out: &mut dyn Write) -> Option<InPlace<'a>> {
    out.flush().ok()?;
    let of = fstat(io::stdout().as_fd()).ok()?;
    let is_pipe = FileType::from_raw_mode(of.st_mode) == FileType::Fifo;
    is_pipe.then(|| InPlace::open(Path::new(STANDARD_OUTPUT), meter).ok()).flatten()
}

/// Writes through a buffer, and counts.
fn through<E: From<OutputError>>(
    out: &mut dyn Write,
    meter: &Meter,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(1 << 16, Metered::new(out, meter));
    write(&mut out)?;
    Ok(out.flush().map_err(failed(path))?)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> OutputError + use<'_> {
    |source| OutputError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;

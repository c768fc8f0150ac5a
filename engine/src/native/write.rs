//! Writes a segment to a file: under a temporary name, synced, then renamed. A crash at any time
//! leaves the old state or the new.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use super::atomic_file::{AtomicFile, TEMPORARY};
use super::builder_thread::{self, EarlyFailure};
use super::consumer_thread::ThreadPipeline;
use super::cores::AllCores;
use super::disk::directory_of;
use super::disk::{self, DiskFile};
use crate::base::{Error, Result};
use crate::exec::{CallerThread, Cancel, Exec, Work};
use crate::ingest::{BuildOptions, Builder, Built, Consumer, Relay};
use crate::model::Sink;
use crate::segment::{PieceWriter, SegmentOutput};
use crate::spill::{Scratch, Space};

/// Reason why a segment was not written. `E` is the reader's error.
#[derive(Debug)]
pub enum WriteError<E> {
    /// The file system reported an error.
    Io(io::Error),
    /// The engine reported an error.
    Engine(Error),
    /// The trace could not be read.
    Read(E),
}

/// Unnamed file on the disk that disappears with the process.
struct ScratchFile<'a> {
    cancel: Cancel<'a>,
    /// Created only when needed: most traces are sorted in memory.
    file: OnceLock<DiskFile>,
    directory: &'a Path,
    len: AtomicU64,
    cause: &'a Mutex<Option<io::Error>>,
}

impl<'a> ScratchFile<'a> {
    fn new(directory: &'a Path, cause: &'a Mutex<Option<io::Error>>, cancel: Cancel<'a>) -> Self {
        Self { cancel, file: OnceLock::new(), directory, len: AtomicU64::new(0), cause }
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> Error + use<'_, 'a> {
        move |error| {
            keep(self.cause, error);
            Error::Storage { what }
        }
    }
}

impl Scratch for ScratchFile<'_> {
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.cancel.check()?;
        if self.file.get().is_none() {
            let file = scratch_file(self.directory).map_err(self.failed("scratch file"))?;
            // If two threads come here at once, the first file is used.
            let _ = self.file.set(file);
        }
        let offset = self.len.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if let Some(file) = self.file.get() {
            file.write_all_at(bytes, offset).map_err(self.failed("writing the scratch file"))?;
        }
        Ok(offset)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.cancel.check()?;
        let file = self.file.get().ok_or(Error::Storage { what: "empty scratch file" })?;
        file.file().read_exact_at(out, offset).map_err(self.failed("reading the scratch file"))
    }
}

/// A file that disappears with the process. It has no name if the file system allows that.
fn scratch_file(directory: &Path) -> io::Result<DiskFile> {
    match DiskFile::create_unnamed(directory) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let path = disk::fresh_name(directory, TEMPORARY);
            let file = DiskFile::create_new(&path)?;
            disk::remove_file(&path)?;
            Ok(file)
        }
        file => file,
    }
}

/// Keeps the error of the file system, because the engine's errors do not carry it.
fn keep(cause: &Mutex<Option<io::Error>>, error: io::Error) {
    if let Ok(mut cause) = cause.lock() {
        *cause = Some(error);
    }
}

struct FileOutput<'a> {
    file: BufWriter<DiskFile>,
    cause: &'a Mutex<Option<io::Error>>,
    cancel: Cancel<'a>,
}

impl SegmentOutput for FileOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        // Every piece passes here, also while sorted rows are written after the last event.
        self.cancel.check()?;
        self.file.write_all(bytes).map_err(|error| {
            keep(self.cause, error);
            Error::Storage { what: "writing the segment" }
        })
    }
}

/// Thread on which the builder takes events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// The thread that reads the trace.
    Reader,
    /// A separate thread, for traces whose reading and taking are as much work as all the rest.
    Beside,
}

/// Writes the segment at `path` from the calls that `fill` makes to the sink. `fill` sorts in the
/// given space. The directory must exist and also holds the scratch files. A failure leaves nothing
/// behind.
pub fn write_segment<E>(
    path: &Path,
    options: BuildOptions,
    fill: impl FnOnce(&mut dyn Sink, Space<'_>) -> Result<(), E>,
) -> Result<Built, WriteError<E>> {
    write_segment_while(path, options, Taking::Reader, Cancel::NEVER, fill)
}

/// Writes a segment like [`write_segment`]. If it is cancelled, it soon ends with an error, also
/// after the last event of `fill`.
pub fn write_segment_while<E>(
    path: &Path,
    options: BuildOptions,
    taking: Taking,
    cancel: Cancel<'_>,
    fill: impl FnOnce(&mut dyn Sink, Space<'_>) -> Result<(), E>,
) -> Result<Built, WriteError<E>> {
    let directory = directory_of(path);
    let cause = Mutex::new(None);
    let io_cause = || cause.lock().ok().and_then(|mut cause| cause.take());
    let because = |error: Error| io_cause().map_or(WriteError::Engine(error), WriteError::Io);
    let scratch = ScratchFile::new(directory, &cause, cancel);
    // The relay's names, the reader's sorting and the builder use separate scratch files.
    let (of_names, of_builder) =
        (ScratchFile::new(directory, &cause, cancel), ScratchFile::new(directory, &cause, cancel));
    let exec: &dyn Exec = if taking == Taking::Beside { &AllCores } else { &CallerThread };
    let space = Space { scratch: &scratch, sort_bytes: options.reader_bytes, work: Work { exec, cancel } };
    let failure = EarlyFailure::default();
    let file = AtomicFile::create(path).map_err(WriteError::Io)?;
    let writing = file.file().try_clone().map_err(WriteError::Io)?;
    let mut output = FileOutput { file: BufWriter::with_capacity(1 << 20, writing), cause: &cause, cancel };
    let output_of_back = &mut output;
    let built = std::thread::scope(|scope| {
        let writer = PieceWriter::new(output_of_back).map_err(because)?;
        let line = ThreadPipeline::new(scope, Consumer::new(writer, &AllCores), cancel);
        // A full disk appears as an error of the reader, which passes on the sink's error. The real
        // cause is here.
        let unread = |error: E| io_cause().map_or(WriteError::Read(error), WriteError::Io);
        if taking == Taking::Reader {
            let mut builder = Builder::with_line(&of_builder, line, options);
            fill(&mut builder, space).map_err(unread)?;
            return builder.finish().map_err(because);
        }
        let (mut carrier, from_reader) = builder_thread::line(&failure);
        let of_builder = &of_builder;
        let building = scope.spawn(move || from_reader.build(Builder::with_line(of_builder, line, options)));
        let mut relay = Relay::new(&of_names, &mut carrier, options.dictionary_bytes);
        fill(&mut relay, space).map_err(unread)?;
        let ended = relay.end().and_then(|warnings| carrier.end(warnings));
        let built =
            building.join().unwrap_or(Err(Error::Storage { what: "the building thread has stopped" }));
        // The builder's own error says more than the error of the closed pipeline.
        built.and_then(|built| ended.map(|()| built)).map_err(because)
    })?;
    output.file.into_inner().map_err(|error| WriteError::Io(error.into_error()))?;
    file.commit().map_err(WriteError::Io)?;
    Ok(built)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;
    use crate::model::{TableKind, TableSpec, TrackSpec, Unit};

    const SAMPLES: i64 = 200_000;

    fn samples(sink: &mut dyn Sink) -> Result<()> {
        let table = sink.table(TableSpec::new("", TableKind::Samples, ""))?;
        let track = sink.track(TrackSpec::counter("c", None, table, Unit::None, 0))?;
        (0..SAMPLES).try_for_each(|at| sink.sample(track, at * 7_919 % SAMPLES, at as f64, &[]))
    }

    /// Small limits, so that rows come back from the scratch space after the last event.
    const TIGHT: BuildOptions =
        BuildOptions { sort_bytes: 100_000, dictionary_bytes: 1000, group_bytes: 1000, reader_bytes: 1000 };

    #[test]
    fn a_build_that_is_cancelled_after_its_last_event_ends_soon() {
        [Taking::Reader, Taking::Beside].into_iter().for_each(check_it_ends_soon);
    }

    #[track_caller]
    fn check_it_ends_soon(taking: Taking) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.nseg");
        let (all_there, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
        let is_cancelled = || {
            asked.fetch_add(usize::from(all_there.load(Ordering::Relaxed)), Ordering::Relaxed);
            all_there.load(Ordering::Relaxed)
        };
        let cancel = Cancel::when(&is_cancelled);
        let built = write_segment_while(&path, TIGHT, taking, cancel, |sink, _| {
            samples(sink).unwrap();
            all_there.store(true, Ordering::Relaxed);
            Ok::<(), Infallible>(())
        });
        assert!(matches!(built, Err(WriteError::Engine(Error::Cancelled))), "{built:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 1, "it ends at the first yes");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");

        all_there.store(false, Ordering::Relaxed);
        let built = write_segment_while(&path, TIGHT, taking, cancel, |sink, _| samples(sink)).unwrap();
        assert_eq!(built.events, SAMPLES as u64);
    }

    #[test]
    fn no_piece_is_written_after_a_cancellation() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let (cause, is_cancelled) = (Mutex::new(None), AtomicBool::new(false));
        let look = || is_cancelled.load(Ordering::Relaxed);
        let file = BufWriter::new(DiskFile::create_new(&path).unwrap());
        let mut output = FileOutput { file, cause: &cause, cancel: Cancel::when(&look) };
        output.write(b"before").unwrap();
        is_cancelled.store(true, Ordering::Relaxed);
        assert!(matches!(output.write(b"after"), Err(Error::Cancelled)));
        drop(output);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
    }
}
